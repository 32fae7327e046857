/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scope stats as text: why the run failed, the peaks nearest to full, and what to set. A site that is
 * too long for its column loses its beginning, because the file name and the line are at its end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/print.h"
#include "cli/scope.h"
#include "cli/table.h"
#include "cli/term.h"

/* OTHERS: lines that the report prints besides the rows of the table; ABOUT_WAITS: further ones of a
 * run that waited. */
enum { PAGE = 20, LEAST_PAGE = 5, OTHERS = 15, MOST_WAITS = 3, ABOUT_WAITS = 9 };

/* The number of the fanin pool, which only another implementation has. */
enum { FANIN = TG_SCOPE_RESOURCES };

/* One resource of one site on one ring. */
struct peak {
    uint32_t number; /* the number of its row */
    struct tg_scope_row row;
    unsigned resource;
    uint64_t used, capacity;
    double share;
};

/* --- numbers ------------------------------------------------------------------------------- */

static const char *format_amount(struct cli_text *text, unsigned resource, uint64_t amount)
{
    if (resource == TG_SCOPE_HEAP)
        return cli_format_bytes(text, amount);
    snprintf(text->text, sizeof text->text, "%" PRIu64, amount);
    return text->text;
}

static void format_use(char *cell, size_t room, unsigned resource, uint64_t used, uint64_t capacity)
{
    struct cli_text a, b;
    snprintf(cell, room, "%s/%s", format_amount(&a, resource, used),
             format_amount(&b, resource, capacity));
}

/* Prints a share in percent with up to three digits. */
static void format_share(char *cell, size_t room, double share)
{
    double percent = share * 100;
    if (percent < 0.005)
        snprintf(cell, room, "<0.01 %%");
    else
        snprintf(cell, room, "%.*f %%", percent < 9.995 ? 2 : percent < 99.95 ? 1 : 0, percent);
}

/* --- the head ------------------------------------------------------------------------------ */

static void print_guilty(const struct tg_scope_fatal *fatal)
{
    struct cli_text wanted;
    char use[80];
    cli_print("%sFAILED%s  %s", cli_color(stdout, CLI_RED), cli_color(stdout, CLI_PLAIN),
              fatal->error ? fatal->error : "the run ended early");
    if (fatal->site)
        cli_print(": the scope at %s", fatal->site);
    if (fatal->resource < TG_SCOPE_RESOURCES) {
        format_use(use, sizeof use, fatal->resource, fatal->used, fatal->capacity);
        cli_print("%s %s of the %s", fatal->site ? " has" : ":", use,
                  scope_resource_label(fatal->resource));
        if (fatal->resource != TG_SCOPE_TENSORMAP)
            cli_print(" of ring %" PRIu32, fatal->ring);
        cli_print(" in use and needs %s more",
                  format_amount(&wanted, fatal->resource, fatal->wanted));
    }
    cli_print("\n");
    if (fatal->advice)
        cli_print("advice  %s\n", fatal->advice);
    cli_print("\n");
}

static void print_failure(const struct scope *scope)
{
    if (scope->info.fatal)
        print_guilty(scope->info.fatal);
    else if (scope->info.failed)
        cli_print("%sFAILED%s  the run ended early; %s, which would name the scope, is "
                  "missing\n\n",
                  cli_color(stdout, CLI_RED), cli_color(stdout, CLI_PLAIN), TG_SCOPE_SUMMARY);
}

/* Source lines that the device could not name, or not tell apart. */
static uint64_t count_unnamed(const struct tg_scope_stats *stats)
{
    uint64_t unnamed = 0;
    const char *site;
    for (uint32_t i = 0; (site = tg_scope_stats_site(stats, i)); i++)
        unnamed += strncmp(site, "(site ", 6) == 0 || strncmp(site, "(other", 6) == 0;
    return unnamed;
}

static void print_notes(const struct scope *scope)
{
    const struct tg_scope_stats_info *info = &scope->info;
    struct cli_text text;
    if (info->dropped > 0)
        cli_print("  LOST %s on the device: peaks may be missing\n",
                  cli_format_count(&text, info->dropped, "sample"));
    if (!info->complete)
        cli_print("  INCOMPLETE: %s\n", info->total == 0
                                            ? "the run has not ended, or its host was killed"
                                            : "the file holds fewer samples than its header says");
    if (info->left_open > 0)
        cli_print("  note  %s had not ended\n", cli_format_count(&text, info->left_open, "scope"));
    if (info->without_begin + info->without_end > 0)
        cli_print("  note  %" PRIu64 " beginnings and %" PRIu64 " ends of scopes are missing\n",
                  info->without_begin, info->without_end);
    if (info->samples > 0 && !info->measured)
        cli_print("  note  no peaks were measured within scopes; the peaks here are those at their "
                  "beginnings and ends\n");
    uint64_t unnamed = count_unnamed(scope->stats);
    if (unnamed > 0)
        cli_print("  note  %s without a name: the device had no room for it\n",
                  cli_format_count(&text, unnamed, "source line"));
    if (*info->summary_problem)
        cli_print("  note  %s cannot be read: %s\n", TG_SCOPE_SUMMARY, info->summary_problem);
}

static void print_head(const struct scope *scope)
{
    struct cli_text scopes, sites, samples;
    struct cli_shown file;
    cli_print("%s: %s at %s, %s\n",
              *scope->info.run ? scope->info.run : cli_show(&file, scope->info.file),
              cli_format_count(&scopes, scope->info.scopes, "scope"),
              cli_format_count(&sites, scope->info.sites, "site"),
              cli_format_count(&samples, scope->info.samples, "sample"));
    print_notes(scope);
}

/* --- the table ----------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct peak *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    if ((x->row.count == 0) != (y->row.count == 0))
        return x->row.count == 0 ? 1 : -1; /* the scope that used it, then those around it */
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (int)x->resource - (int)y->resource;
}

/* Collects every resource that was used, the nearest to full first. */
static struct peak *collect(const struct scope *scope, size_t *count)
{
    struct peak *peaks = malloc(((size_t)scope->info.rows * (FANIN + 1) + 1) * sizeof *peaks);
    struct tg_scope_row row;
    *count = 0;
    for (uint32_t i = 0; peaks && tg_scope_stats_get_row(scope->stats, i, &row); i++)
        for (unsigned resource = 0; resource <= FANIN; resource++) {
            struct peak peak = {.number = i, .row = row, .resource = resource};
            peak.used = resource == FANIN ? row.fanin : row.peak[resource];
            peak.capacity = resource == FANIN
                                ? tg_scope_stats_fanin(scope->stats, row.ring)
                                : tg_scope_stats_capacity(scope->stats, resource, row.ring);
            peak.share = tg_scope_share(peak.used, peak.capacity);
            /* The tensor map is the same for all rings: the scope's own row has it. */
            if (peak.used > 0 &&
                (row.count > 0 || row.touched == 0 || resource != TG_SCOPE_TENSORMAP))
                peaks[(*count)++] = peak;
        }
    if (!peaks)
        cli_fault("show the table", ENOMEM);
    else
        qsort(peaks, *count, sizeof *peaks, compare);
    return peaks;
}

enum { SITE, RING, RESOURCE, PEAK, SHARE, COLUMNS };

static const struct cli_column columns[COLUMNS] = {
    [SITE] = {"site", .least = 16, .cut = CLI_CUT_BEGIN, .fills = true},
    [RING] = {"ring", .rank = 1, .right = true},
    [RESOURCE] = {"resource", .rank = 2},
    [PEAK] = {"peak/capacity", .rank = 3},
    [SHARE] = {"share", .right = true},
};

static void print_rows(const struct tg_scope_stats *stats, const struct peak *peaks, size_t rows)
{
    struct cli_table table;
    char cell[80];
    cli_table_begin(&table, stdout, columns, COLUMNS, 0);
    for (size_t i = 0; i < rows; i++) {
        const struct peak *peak = &peaks[i];
        cli_table_cell(&table, SITE, "%s", tg_scope_stats_site(stats, peak->row.site));
        cli_table_cell(&table, RING, "%" PRIu32, peak->row.ring);
        cli_table_cell(&table, RESOURCE, "%s",
                       peak->resource == FANIN ? "fanin pool"
                                               : scope_resource_label(peak->resource));
        format_use(cell, sizeof cell, peak->resource, peak->used, peak->capacity);
        cli_table_cell(&table, PEAK, "%s", cell);
        format_share(cell, sizeof cell, peak->share);
        cli_table_cell(&table, SHARE, "%s", cell);
        cli_table_end_row(&table);
    }
    cli_table_end(&table);
}

static bool has_waited(const struct tg_scope_stats *stats)
{
    struct tg_scope_setting setting = {.waits = 0};
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES && setting.waits == 0; resource++)
        tg_scope_stats_get_setting(stats, resource, &setting);
    return setting.waits > 0;
}

static size_t rows_to_show(const struct scope *scope)
{
    int height = cli_term_height();
    if (scope->top.given)
        return (size_t)scope->top.number;
    if (height == 0)
        return PAGE;
    int left = height - OTHERS - (has_waited(scope->stats) ? ABOUT_WAITS : 0);
    return left > LEAST_PAGE ? (size_t)left : LEAST_PAGE;
}

static void print_table(const struct scope *scope)
{
    size_t count, most = rows_to_show(scope);
    struct peak *peaks = collect(scope, &count);
    size_t rows = count < most ? count : most;
    if (!peaks)
        return;
    if (count == 0)
        cli_print("\nNothing was used.\n");
    else if (rows > 0) {
        cli_print("\n");
        print_rows(scope->stats, peaks, rows);
    }
    if (rows < count)
        cli_print("and %zu more; --limit %zu shows all, --output FILE draws them\n", count - rows,
                  count);
    free(peaks);
}

/* --- advice -------------------------------------------------------------------------------- */

static const char *verdict_text(const struct tg_scope_setting *setting)
{
    static const char *const texts[] = {"not there",
                                        "enough so far",
                                        "larger than needed",
                                        "just right",
                                        "enough, without a margin",
                                        "was full, may wait",
                                        "TOO SMALL"};
    if (setting->verdict == TG_SCOPE_FULL && setting->waits_known)
        return setting->waits > 0 ? "was full, waited" : "was full, never waited";
    return texts[setting->verdict];
}

/* What the larger setting of a resource that was waited for will do. */
static void print_promise(const struct tg_scope_setting *setting, unsigned resource)
{
    if (setting->verdict == TG_SCOPE_SO_FAR && *setting->option)
        cli_print("note  %s: it would be full next\n", scope_resource_label(resource));
    if (setting->verdict != TG_SCOPE_FULL || setting->waits == 0 || !*setting->option)
        return;
    cli_print("note  %s: with this size %s\n", scope_resource_label(resource),
              setting->never ? "a run like this one never waits for it"
                             : "it waits less often; it may still wait");
}

static void print_memory(const struct tg_scope_stats *stats)
{
    struct tg_scope_setting memory;
    tg_scope_stats_get_memory(stats, &memory);
    if (*memory.option)
        cli_print("note  these sizes do not fit into the %s of the device: add %s\n",
                  memory.present, memory.option);
}

enum { ADVISED, NOW, VERDICT, OPTION, ADVICE_COLUMNS };

/* The option is shown whole: it is there to be copied. */
static const struct cli_column advice_columns[ADVICE_COLUMNS] = {
    [ADVISED] = {"resource", .least = 8},
    [NOW] = {"now", .rank = 2},
    [VERDICT] = {"which is", .rank = 1},
    [OPTION] = {.head = "set it to"},
};

static void print_advice(const struct tg_scope_stats *stats)
{
    struct tg_scope_setting settings[TG_SCOPE_RESOURCES];
    struct cli_table table;
    bool has_rows = false;
    cli_table_begin(&table, stdout, advice_columns, ADVICE_COLUMNS, 0);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++) {
        const struct tg_scope_setting *setting = &settings[resource];
        tg_scope_stats_get_setting(stats, resource, &settings[resource]);
        if (setting->verdict == TG_SCOPE_ABSENT)
            continue;
        cli_table_cell(&table, ADVISED, "%s", scope_resource_label(resource));
        cli_table_cell(&table, NOW, "%s", setting->present);
        cli_table_cell(&table, VERDICT, "%s", verdict_text(setting));
        if (setting->verdict == TG_SCOPE_TOO_SMALL)
            cli_table_color(&table, VERDICT, CLI_RED);
        cli_table_cell(&table, OPTION, "%s", *setting->option ? setting->option : "-");
        cli_table_end_row(&table);
        has_rows = true;
    }
    cli_print("%s", has_rows ? "\n" : "");
    cli_table_end(&table);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
        print_promise(&settings[resource], resource);
    print_memory(stats);
}

static void print_fanin(const struct scope *scope)
{
    if (scope->info.samples > 0 && !scope->info.has_fanin)
        cli_print("fanin pool   none in this run\n");
}

/* The sites where the orchestration waited longest. */
static void print_waits(const struct scope *scope)
{
    struct tg_scope_row row, worst[MOST_WAITS];
    struct cli_text time;
    int n = 0;
    for (uint32_t i = 0; tg_scope_stats_get_row(scope->stats, i, &row); i++) {
        int at = n < MOST_WAITS ? n : MOST_WAITS - 1;
        if (row.wait_ns == 0 || (n == MOST_WAITS && row.wait_ns <= worst[at].wait_ns))
            continue;
        n += n < MOST_WAITS;
        for (; at > 0 && worst[at - 1].wait_ns < row.wait_ns; at--)
            worst[at] = worst[at - 1];
        worst[at] = row;
    }
    for (int i = 0; i < n; i++) {
        cli_print("%swaited %s on ring %" PRIu32 " in scopes at %s:", i == 0 ? "\n" : "",
                  cli_format_seconds(&time, (double)worst[i].wait_ns * 1e-9), worst[i].ring,
                  tg_scope_stats_site(scope->stats, worst[i].site));
        for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
            if (worst[i].waits[resource] > 0)
                cli_print(" %" PRIu64 " times for the %s", worst[i].waits[resource],
                          scope_resource_label(resource));
        cli_print("\n");
    }
}

void scope_print_report(const struct scope *scope)
{
    if (scope->info.no_rings) {
        cli_print("%s: no rings: with host_build_graph the host builds the whole graph first; "
                  "aicpu_build_graph and tensormap_and_ringbuffer have rings\n",
                  *scope->info.run ? scope->info.run : scope->info.file);
        return;
    }
    print_failure(scope);
    print_head(scope);
    print_table(scope);
    print_advice(scope->stats);
    print_fanin(scope);
    print_waits(scope);
}
