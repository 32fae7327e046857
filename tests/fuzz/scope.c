/* SPDX-License-Identifier: Apache-2.0 */
/* Scope stats of any bytes, as samples and as a summary: what is read must be within its limits. */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

#include <math.h>

#include "base/names.h"
#include "scope/scope_advice.h"
#include "scope/scope_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool check_sample(void *context, uint64_t index, uint32_t site,
                         const struct tg_scope_sample *sample)
{
    const struct tg_scope_stats *stats = context;
    HOLDS(index + 1 == stats->tally.samples && site < stats->tally.n_sites);
    HOLDS(sample->ring < TG_SCOPE_RINGS && strlen(sample->site) <= TG_NAME_MAX);
    for (unsigned i = 0; i < TG_SCOPE_RESOURCES; i++)
        HOLDS(sample->peak[i] >= tg_scope_used(sample, i));
    return true;
}

static void check_rows(const struct tg_scope_tally *tally)
{
    double last = INFINITY;
    uint64_t scopes = 0;
    for (uint32_t i = 0; i < tally->n_rows; i++) {
        const struct tg_scope_row *row = &tally->row[i];
        unsigned nearest = tg_scope_nearest(&tally->limits, row);
        double share = tg_scope_share(row->peak[nearest],
                                      tg_scope_capacity(&tally->limits, nearest, row->ring));
        HOLDS(row->site < tally->n_sites && row->ring < TG_SCOPE_RINGS);
        HOLDS(row->depth_min <= row->depth_max && share <= last);
        for (unsigned r = 0; r < TG_SCOPE_RING_RESOURCES; r++)
            HOLDS(row->peak[r] <= tally->ring_peak[row->ring].of[r]);
        last = share;
        scopes += row->count;
    }
    /* Every scope has one or two samples. */
    HOLDS(scopes <= tally->samples && tally->samples <= 2 * scopes);
    HOLDS(tally->samples ==
          2 * scopes - tally->left_open - tally->without_begin - tally->without_end);
}

static void check_advice(const struct tg_scope_stats *stats)
{
    struct tg_scope_advice advice;
    struct tg_scope_option option;
    tg_scope_advise(stats, &advice);
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
        HOLDS(strlen(tg_scope_option(&advice, resource, &option)) < sizeof option.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tg_scope_stats stats;
    struct tg_error error = {0};
    tg_status status =
        tg_scope_stats_parse("fuzz", data, size, check_sample, &stats, &stats, &error);
    HOLDS(status == TG_OK || (status == TG_BAD_ARGUMENT && error.text[0]));
    check_rows(&stats.tally);
    const char *problem = tg_scope_guilty_parse(data, size, &stats.guilty);
    HOLDS(!problem || !stats.guilty.known);
    check_advice(&stats);
    tg_scope_stats_free(&stats);
    return 0;
}
