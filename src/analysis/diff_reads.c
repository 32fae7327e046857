/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the values that the two orchestrations read back, the n-th with the n-th. They are not
 * arguments of a task, so they are no pairs; but recordings whose reads differ are not equal, even where
 * the tensors that the values came from were not recorded.
 */
#include <math.h>

#include "analysis/diff.h"

static enum tg_verdict compare(struct tg_diff *diff, uint64_t a, uint64_t b)
{
    struct tg_entry left, right;
    struct tg_diff_result result;
    if (!tg_recording_get(diff->a.recording, a, &left) ||
        !tg_recording_get(diff->b.recording, b, &right))
        return TG_VERDICT_UNKNOWN;
    tg_diff_compare_entries(diff, &left, &right, (double)NAN, &result);
    return result.verdict;
}

void tg_diff_compare_reads(struct tg_diff *diff)
{
    uint64_t common = diff->a.n_reads < diff->b.n_reads ? diff->a.n_reads : diff->b.n_reads;
    for (uint64_t i = 0; i < common; i++)
        diff->reads[compare(diff, diff->a.read[i], diff->b.read[i])]++;
    /* A run that read less may have submitted something else, or may not have got that far. */
    diff->reads[TG_VERDICT_UNKNOWN] += diff->a.n_reads + diff->b.n_reads - 2 * common;
}
