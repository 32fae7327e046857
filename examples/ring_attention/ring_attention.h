/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef RING_ATTENTION_H
#define RING_ATTENTION_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { RING_START, RING_SCORES, RING_SOFTMAX, RING_VALUES, RING_FINISH, RING_KERNELS };

/* Tiles of queries of one rank, in all heads, at most: the orchestration keeps two task ids for
 * each. */
enum { RING_MAX_TILES = 256 };

/* Tokens [first, next rank's first) of `tokens` belong to a rank; some have one more than others.
 * */
TG_INLINE int64_t ring_first(int64_t tokens, int64_t rank, int64_t ranks)
{
    return tokens * rank / ranks;
}

TG_KERNEL(ring_start);
TG_KERNEL(ring_scores);
TG_KERNEL(ring_softmax);
TG_KERNEL(ring_values);
TG_KERNEL(ring_finish);
TG_ORCHESTRATION(ring_attention);

#endif
