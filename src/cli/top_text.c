/* SPDX-License-Identifier: Apache-2.0 */
/* What `top` shows: a header, then one subject a line. No line is longer than the terminal. */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/recording.h"
#include "cli/term.h"
#include "cli/top.h"

/* ── rates ─────────────────────────────────────────────────────────────────────────────── */

/* The newest interval counts for this share, so that a rate follows the run and does not jump. */
#define NEWEST 0.4
/* Two answers that are closer than this say nothing about a rate. */
#define LEAST_SECONDS 0.02

static double mix(const struct cli_top_past *past, double old, double new)
{
    return past->has_rates ? old + NEWEST * (new - old) : new;
}

static double per_second(uint64_t before, uint64_t now, double seconds)
{
    return now > before ? (double)(now - before) / seconds : 0;
}

static void note_cores(struct cli_top_past *past, const struct tg_live_status *s)
{
    for (uint32_t i = 0; i < s->n_cores; i++) {
        const struct tg_live_core *core = &s->cores[i];
        if (core->core >= TG_LIVE_MAX_CORES)
            continue;
        struct cli_top_core *seen = &past->core[core->core];
        if (core->busy && seen->busy && core->task == seen->task)
            continue;
        *seen = (struct cli_top_core){core->task, core->busy, s->run_seconds};
    }
}

void cli_top_note(struct cli_top_past *past, const struct tg_live_status *s)
{
    bool is_later = s->run_seconds > past->at + LEAST_SECONDS && s->finished >= past->finished;
    if (past->at > 0 && is_later) {
        double seconds = s->run_seconds - past->at;
        past->task_rate =
            mix(past, past->task_rate, per_second(past->finished, s->finished, seconds));
        past->record_rate =
            mix(past, past->record_rate, per_second(past->records, s->records, seconds));
        past->byte_rate =
            mix(past, past->byte_rate, per_second(past->bytes, s->bytes_recorded, seconds));
        past->has_rates = true;
    } else if (past->at <= 0 &&
               s->run_seconds > LEAST_SECONDS) { /* the first answer: since the launch */
        past->task_rate = (double)s->finished / s->run_seconds;
        past->record_rate = (double)s->records / s->run_seconds;
        past->byte_rate = (double)s->bytes_recorded / s->run_seconds;
    }
    if (past->at <= 0 || is_later) {
        past->at = s->run_seconds;
        past->finished = s->finished;
        past->records = s->records;
        past->bytes = s->bytes_recorded;
    }
    note_cores(past, s);
}

/* ── lines ─────────────────────────────────────────────────────────────────────────────── */

/* Columns of a line in a pipe or a file, where nothing breaks it. */
enum { NO_WIDTH = 400 };

struct page {
    int width, height; /* height 0: no limit */
    int lines;
};

/* Prints one line, cut to the width of the terminal. */
__attribute__((format(printf, 3, 4))) static void put(struct page *page, enum cli_color color,
                                                      const char *format, ...)
{
    char text[600], cut[600];
    va_list values;
    if (page->height > 0 && page->lines >= page->height)
        return;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    cli_format_cut(cut, sizeof cut, text, page->width, CLI_CUT_END);
    if (color == CLI_PLAIN)
        puts(cut);
    else
        printf("%s%s%s\n", cli_color(stdout, color), cut, cli_color(stdout, CLI_PLAIN));
    page->lines++;
}

/* "41.2" of 41.23, "1.20 k", "3.00 M". */
static const char *format_rate(struct cli_text *buffer, double rate)
{
    const char *unit = rate >= 1e6 ? " M" : rate >= 1e3 ? " k" : "";
    double shown = rate >= 1e6 ? rate / 1e6 : rate >= 1e3 ? rate / 1e3 : rate;
    int digits = shown >= 100 || rate <= 0 ? 0 : shown >= 10 ? 1 : 2;
    snprintf(buffer->text, sizeof buffer->text, "%.*f%s", digits, shown, unit);
    return buffer->text;
}

/* "12.4 s", "3 min", "2 h 5 min". */
static const char *format_left(struct cli_text *buffer, double seconds)
{
    if (seconds < 100)
        return cli_format_seconds(buffer, seconds);
    uint64_t minutes = (uint64_t)(seconds / 60);
    if (minutes < 60)
        snprintf(buffer->text, sizeof buffer->text, "%" PRIu64 " min", minutes);
    else
        snprintf(buffer->text, sizeof buffer->text, "%" PRIu64 " h %" PRIu64 " min", minutes / 60,
                 minutes % 60);
    return buffer->text;
}

static void put_head(struct page *page, const struct tg_live_status *s)
{
    struct cli_text elapsed;
    char what[400] = "a run";
    if (s->workload[0])
        snprintf(what, sizeof what, "%s, case %s", s->workload, s->case_name);
    put(page, CLI_BOLD, "%s for %s: %s, on %s%s%s", tg_live_phase_name(s->phase),
        cli_format_seconds(&elapsed, s->elapsed), what, s->platform, s->runtime[0] ? ", by " : "",
        s->runtime);
}

/* From two seconds or half of the no-progress limit on, it is worth a line that nothing happens. */
static bool is_idle(const struct tg_live_status *s)
{
    return s->phase == TG_LIVE_RUNNING && s->hang_seconds > 0 &&
           (s->idle_seconds >= 2 || s->idle_seconds >= s->hang_seconds / 2);
}

static void put_tasks(struct page *page, const struct cli_top_past *past,
                      const struct tg_live_status *s)
{
    struct cli_text rate, left;
    char line[200];
    size_t used;
    if (s->phase < TG_LIVE_RUNNING)
        return;
    if (s->total_known)
        used = (size_t)snprintf(line, sizeof line, "%" PRIu64 " of %" PRIu64 " (%.0f %%)",
                                s->finished, s->total,
                                s->total ? 100.0 * (double)s->finished / (double)s->total : 100);
    else
        used = (size_t)snprintf(line, sizeof line, "%" PRIu64 " of %" PRIu64 " submitted so far",
                                s->finished, s->submitted);
    if (s->phase == TG_LIVE_RUNNING)
        used += (size_t)snprintf(line + used, sizeof line - used, ", %s/s",
                                 format_rate(&rate, past->task_rate));
    if (s->phase == TG_LIVE_RUNNING && s->total_known && s->total > s->finished &&
        past->task_rate > 0 && !is_idle(s))
        snprintf(line + used, sizeof line - used, ", %s left",
                 format_left(&left, (double)(s->total - s->finished) / past->task_rate));
    put(page, CLI_PLAIN, "  tasks    %s", line);
}

static void put_idle(struct page *page, const struct tg_live_status *s)
{
    struct cli_text idle, limit;
    if (!is_idle(s))
        return;
    put(page, CLI_RED, "  idle     no task has finished for %s; a hang is reported at %s",
        cli_format_seconds(&idle, s->idle_seconds), cli_format_seconds(&limit, s->hang_seconds));
}

static void put_recorder(struct page *page, const struct cli_top_past *past,
                         const struct tg_live_status *s)
{
    struct cli_text bytes, rate, behind, records;
    uint64_t waiting =
        s->bytes_recorded > s->bytes_written ? s->bytes_recorded - s->bytes_written : 0;
    if (!s->recorded)
        return;
    put(page, CLI_PLAIN, "  record   %s, %s; %s records/s, %s/s",
        cli_format_count(&records, s->records, "record"),
        cli_format_bytes(&bytes, s->bytes_recorded), format_rate(&rate, past->record_rate),
        cli_format_bytes(&behind, (uint64_t)past->byte_rate));
    if (waiting > s->arena / 2)
        put(page, CLI_RED, "           the disk falls behind: %s of %s wait to be written",
            cli_format_bytes(&bytes, waiting), cli_format_bytes(&behind, s->arena));
    if (s->lost_full + s->lost_gave_up + s->truncated > 0)
        put(page, CLI_RED,
            "           lost: %" PRIu64 " for want of room, %" PRIu64 " given up, %" PRIu64
            " truncated",
            s->lost_full, s->lost_gave_up, s->truncated);
}

/* A resource of a ring, and how full it is. */
struct use {
    const char *name, *option;
    uint32_t ring;
    uint64_t used, capacity;
};

static double share(const struct use *use)
{
    return use->capacity ? (double)use->used / (double)use->capacity : 0;
}

static struct use fullest(const struct tg_live_status *s)
{
    struct use best = {0};
    for (uint32_t r = 0; r < s->n_rings; r++) {
        const struct tg_live_ring *ring = &s->ring[r];
        struct use uses[] = {
            {"task slots", "ring-task-window", r, ring->task_window_used, ring->task_window},
            {"heap", "ring-heap", r, ring->heap_used, ring->heap},
            {"dependencies", "ring-dep-pool", r, ring->dep_pool_used, ring->dep_pool}};
        for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++)
            if (!best.name || share(&uses[i]) > share(&best))
                best = uses[i];
    }
    return best;
}

static void put_rings(struct page *page, const struct tg_live_status *s)
{
    struct use best = fullest(s);
    if (s->n_rings == 0)
        return;
    if (s->rings_old) {
        put(page, CLI_PLAIN, "  rings    the orchestration has returned: no more room is needed");
        return;
    }
    if (best.used == 0) {
        put(page, CLI_PLAIN, "  rings    nothing in use");
        return;
    }
    put(page, CLI_PLAIN, "  rings    fullest: %s of ring %u, %.3g %% of --%s", best.name, best.ring,
        100 * share(&best), best.option);
    for (uint32_t r = 0; r < s->n_rings; r++) {
        const struct tg_live_ring *ring = &s->ring[r];
        struct cli_text heap, room;
        if (ring->tasks == 0 && ring->heap_used == 0)
            continue;
        put(page, CLI_PLAIN,
            "    %u      slots %" PRIu64 "/%" PRIu64 ", heap %s/%s, deps %" PRIu64 "/%" PRIu64, r,
            ring->task_window_used, ring->task_window, cli_format_bytes(&heap, ring->heap_used),
            cli_format_bytes(&room, ring->heap), ring->dep_pool_used, ring->dep_pool);
    }
}

static void put_orchestrator(struct page *page, const struct tg_live_status *s)
{
    char scope[200], ring[24] = "";
    if (!s->orchestrated || strcmp(s->state, "returned") == 0)
        return;
    cli_format_cut(scope, sizeof scope, s->scope, page->width - 46, CLI_CUT_BEGIN);
    if (strcmp(s->waits_for, "a result") != 0 && strcmp(s->waits_for, "tensor map entries") != 0)
        snprintf(ring, sizeof ring, " of ring %u", s->waits_ring);
    if (s->waits_for[0])
        put(page, CLI_PLAIN, "  building waits for %s%s, in %s", s->waits_for, ring, scope);
    else
        put(page, CLI_PLAIN, "  building %s, in %s", s->state, scope);
}

static void put_waits(struct page *page, const struct tg_live_status *s)
{
    enum { SHOWN = 3 };
    char line[300] = "";
    for (uint32_t i = 0; i < s->n_waits && i < SHOWN; i++) {
        struct cli_words task, other;
        size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, "%s%.24s for %.24s", i ? ", " : "",
                 cli_record_task(&task, s->waits[i].task),
                 cli_record_task(&other, s->waits[i].waits_for));
    }
    if (s->waiting > 0)
        put(page, CLI_PLAIN, "  waiting  %" PRIu64 "%s%s%s", s->waiting,
            s->n_waits ? "; among them " : "", line,
            s->n_waits > SHOWN || (s->n_waits && s->more_waits) ? ", …" : "");
}

static void put_core(struct page *page, const struct cli_top_past *past,
                     const struct tg_live_status *s, const struct tg_live_core *core)
{
    struct cli_words task;
    struct cli_text time;
    char kernel[100];
    double since =
        core->core < TG_LIVE_MAX_CORES ? s->run_seconds - past->core[core->core].since : 0;
    cli_format_cut(kernel, sizeof kernel, core->kernel, page->width - 52, CLI_CUT_MIDDLE);
    if (since > 0)
        put(page, CLI_PLAIN, "    %-5u  %-4s  %s, task %.24s, for at least %s", core->core,
            core->kind, kernel, cli_record_task(&task, core->task),
            cli_format_seconds(&time, since));
    else
        put(page, CLI_PLAIN, "    %-5u  %-4s  %s, task %.24s", core->core, core->kind, kernel,
            cli_record_task(&task, core->task));
}

static void put_cores(struct page *page, const struct cli_top_past *past,
                      const struct tg_live_status *s)
{
    uint64_t left = s->running;
    if (s->n_cores == 0)
        return;
    put(page, CLI_PLAIN, "  cores    %" PRIu64 " of %u busy", s->running, s->n_cores);
    for (uint32_t i = 0; i < s->n_cores; i++) {
        if (!s->cores[i].busy)
            continue;
        if (page->height > 0 && page->lines + 1 >= page->height && left > 1)
            break;
        put_core(page, past, s, &s->cores[i]);
        left--;
    }
    if (left > 0)
        put(page, CLI_PLAIN, "    and %" PRIu64 " more", left);
}

int cli_top_print(const struct cli_top_past *past, const struct tg_live_status *s, int height)
{
    bool is_fixed;
    struct page page = {.width = cli_table_width(stdout, &is_fixed), .height = height};
    page.width = is_fixed ? page.width : NO_WIDTH;
    put_head(&page, s);
    put_tasks(&page, past, s);
    put_idle(&page, s);
    put_recorder(&page, past, s);
    put_rings(&page, s);
    put_orchestrator(&page, s);
    put_waits(&page, s);
    put_cores(&page, past, s);
    return page.lines;
}
