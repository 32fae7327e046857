/* SPDX-License-Identifier: Apache-2.0 */
#include "vector_add.h"

/*
 * One task's work: c = a + b for one tile. A simulated core runs TG_FOR as a plain loop, a GPU
 * spreads it over the threads of a block: iterations must not depend on one another.
 *
 * The pointers are those of the tile, not of the whole vector: the orchestration passed views.
 * They are used as plain arrays because a slice of a vector with step 1 has no gaps; `views`
 * shows kernels that follow strides.
 */
TG_KERNEL(vector_add_tile)
{
    const float *a = TG_ARG(ctx, 0, const float);
    const float *b = TG_ARG(ctx, 1, const float);
    float *c = TG_ARG(ctx, 2, float);
    TG_FOR(i, tg_arg_numel(ctx, 2))
        c[i] = a[i] + b[i];
}
