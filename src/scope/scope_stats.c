/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions: they show what the reader, the tally and the advice found. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/scope_stats.h>
#include <taskglass/text.h>

#include "base/error.h"
#include "base/files.h"
#include "scope/scope_advice.h"
#include "scope/scope_reader.h"

/* The directory around the file's folder has the name of the run. */
static tg_status find_run(struct tg_scope_stats *stats, struct tg_error *error)
{
    char path[PATH_MAX];
    if (!realpath(stats->file, path))
        return tg_file_error(error, "find", stats->file, errno);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    slash = strrchr(path, '/');
    if (slash && strcmp(slash + 1, TG_SCOPE_FOLDER) == 0) {
        *slash = '\0';
        slash = strrchr(path, '/');
    }
    tg_text_clean(slash ? slash + 1 : path, stats->run, sizeof stats->run);
    return TG_OK;
}

tg_status tg_scope_stats_open(const char *path, tg_scope_sample_fn each, void *context,
                              struct tg_scope_stats **stats, struct tg_error *error)
{
    TG_REFUSE_NULL(error, path);
    TG_REFUSE_NULL(error, stats);
    struct tg_scope_stats *made = malloc(sizeof *made);
    *stats = NULL;
    if (!made)
        return tg_error_set(error, TG_NO_MEMORY, "no memory for the scope stats");
    char *file;
    tg_status status = tg_scope_stats_read(path, each, context, made, &file, error);
    made->file = file;
    made->run[0] = '\0';
    if (status == TG_OK)
        status = find_run(made, error);
    if (status == TG_OK)
        *stats = made;
    else
        tg_scope_stats_close(made);
    return status;
}

void tg_scope_stats_close(struct tg_scope_stats *stats)
{
    if (!stats)
        return;
    tg_scope_stats_free(stats);
    free(stats->file);
    free(stats);
}

static uint64_t count_scopes(const struct tg_scope_tally *tally)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < tally->n_rows; i++)
        count += tally->row[i].count;
    return count;
}

void tg_scope_stats_get_info(const struct tg_scope_stats *stats, struct tg_scope_stats_info *info)
{
    if (stats == NULL || info == NULL)
        return;
    const struct tg_scope_tally *tally = &stats->tally;
    *info = (struct tg_scope_stats_info){
        .file = stats->file,
        .complete = tg_scope_stats_complete(stats),
        .failed = stats->fatal || stats->guilty.known,
        .fatal = stats->guilty.known ? &stats->guilty.fatal : NULL,
        .measured = stats->ends_with_peak > 0,
        .waits_known = tally->ends_with_waits > 0,
        .has_fanin = stats->has_fanin,
        .no_rings = tally->limits.no_rings,
        .dropped = stats->dropped,
        .total = stats->total,
        .samples = tally->samples,
        .scopes = count_scopes(tally),
        .sites = tally->n_sites,
        .rows = tally->n_rows,
        .left_open = tally->left_open,
        .without_begin = tally->without_begin,
        .without_end = tally->without_end,
        .summary_problem = stats->summary_problem,
        .run = stats->run,
    };
}

const char *tg_scope_stats_site(const struct tg_scope_stats *stats, uint32_t number)
{
    if (stats == NULL)
        return "";
    return number < stats->tally.n_sites ? stats->tally.site[number].name : NULL;
}

uint64_t tg_scope_stats_capacity(const struct tg_scope_stats *stats, unsigned resource,
                                 uint32_t ring)
{
    if (stats == NULL)
        return 0;
    if (resource >= TG_SCOPE_RESOURCES || ring >= TG_SCOPE_RINGS)
        return 0;
    return tg_scope_capacity(&stats->tally.limits, resource, ring);
}

uint64_t tg_scope_stats_fanin(const struct tg_scope_stats *stats, uint32_t ring)
{
    if (stats == NULL)
        return 0;
    return ring < TG_SCOPE_RINGS ? stats->tally.limits.fanin[ring] : 0;
}

bool tg_scope_stats_get_row(const struct tg_scope_stats *stats, uint32_t number,
                            struct tg_scope_row *row)
{
    if (stats == NULL || row == NULL)
        return false;
    if (number >= stats->tally.n_rows)
        return false;
    *row = stats->tally.row[number];
    return true;
}

unsigned tg_scope_stats_nearest(const struct tg_scope_stats *stats, const struct tg_scope_row *row)
{
    if (stats == NULL || row == NULL)
        return 0;
    return tg_scope_nearest(&stats->tally.limits, row);
}

void tg_scope_stats_get_need(const struct tg_scope_stats *stats, unsigned resource, uint32_t ring,
                             struct tg_scope_need *need)
{
    if (stats == NULL || need == NULL)
        return;
    struct tg_scope_advice advice;
    *need = (struct tg_scope_need){.verdict = TG_SCOPE_ABSENT};
    if (resource >= TG_SCOPE_RESOURCES || ring >= TG_SCOPE_RINGS)
        return;
    tg_scope_advise(stats, &advice);
    *need = advice.need[resource][ring];
}

void tg_scope_stats_get_setting(const struct tg_scope_stats *stats, unsigned resource,
                                struct tg_scope_setting *setting)
{
    if (stats == NULL || setting == NULL)
        return;
    struct tg_scope_advice advice;
    struct tg_scope_option text;
    *setting = (struct tg_scope_setting){.verdict = TG_SCOPE_ABSENT};
    if (resource >= TG_SCOPE_RESOURCES)
        return;
    tg_scope_advise(stats, &advice);
    setting->verdict = tg_scope_overall(&advice, resource);
    snprintf(setting->present, sizeof setting->present, "%s",
             tg_scope_present(&advice, resource, &text));
    snprintf(setting->option, sizeof setting->option, "%s",
             tg_scope_option(&advice, resource, &text));
    bool grows = false, enough = true;
    for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++) {
        const struct tg_scope_need *need = &advice.need[resource][ring];
        setting->waits_known |= need->waits_known;
        setting->waits += need->waits;
        grows |= need->larger > 0;
        enough &= need->larger == 0 || need->never;
    }
    setting->never = grows && enough && *setting->option;
}

void tg_scope_stats_get_memory(const struct tg_scope_stats *stats, struct tg_scope_setting *setting)
{
    if (stats == NULL || setting == NULL)
        return;
    struct tg_scope_advice advice;
    struct tg_scope_option text;
    tg_scope_advise(stats, &advice);
    *setting = (struct tg_scope_setting){.verdict = TG_SCOPE_ABSENT};
    if (advice.memory == 0)
        return;
    setting->verdict = advice.more_memory > 0 ? TG_SCOPE_TOO_SMALL : TG_SCOPE_FITS;
    tg_scope_bytes(advice.memory, &text);
    snprintf(setting->present, sizeof setting->present, "%s", text.text);
    snprintf(setting->option, sizeof setting->option, "%s", tg_scope_memory_option(&advice, &text));
}
