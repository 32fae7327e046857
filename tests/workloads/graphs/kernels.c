/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs.h"

/*
 * Arguments: count[3], partial[3], value[1], then a vector of values for each predecessor; scalars:
 * the node's number, the parts it runs on. Each part hashes what the node reads; after the barrier
 * the first part computes the value from all hashes. A plain task is a mix of one part.
 */
TG_KERNEL(graphs_node)
{
    uint64_t *count = TG_ARG(ctx, 0, uint64_t);
    uint64_t *partial = TG_ARG(ctx, 1, uint64_t);
    uint64_t *value = TG_ARG(ctx, 2, uint64_t);
    uint64_t mask = tg_arg_bits(ctx, 1), part = ctx->part;
    int is_first = (mask & (((uint64_t)1 << part) - 1)) == 0; /* no part before this one */

    TG_FOR(once, 1) {
        uint64_t hash = graph_hash(tg_arg_bits(ctx, 0), part);
        for (uint32_t t = 3; t < ctx->n_tensors; t++) {
            const uint64_t *before = TG_ARG(ctx, t, const uint64_t);
            for (int64_t i = 0; i < tg_arg_numel(ctx, t); i++)
                hash = graph_hash(hash, before[i]);
        }
        count[part] += 1;
        partial[part] = hash;
    }
    tg_mix_barrier(ctx);
    TG_FOR(once, is_first) {
        uint64_t hash = 0;
        for (int p = 0; p < TG_PARTS; p++)
            if (mask >> p & 1)
                hash = graph_hash(hash, partial[p]);
        *value = hash;
    }
}
