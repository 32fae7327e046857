/* SPDX-License-Identifier: Apache-2.0 */
/* Two independent chains. The bad graph submits them in another order; a scene says whether one of its tasks is
 * wrong, too, and includes this. */
#ifndef REORDERED_H
#define REORDERED_H

#include "planted.h"

enum { LINK };

TG_KERNEL(link_one)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    int64_t place = tg_arg_i64(ctx, 0);
    TG_FOR(i, N)
        b[i] = a[i] * 1.25f - 0.125f + (BAD && LINK_IS_WRONG && place == 11 && i == 9 ? 0.5f : 0);
}

/* The task of chain `chain`, step `step`: the chains differ in their input only. */
static uint64_t link_of(struct tg_rt *rt, struct tg_tensor in, struct tg_tensor out, int64_t chain,
                        uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, in);
    tg_args_out(&task, out);
    tg_args_i64(&task, chain);
    tg_args_after(&task, after);
    return tg_submit(rt, LINK, &task);
}

TG_ORCHESTRATION(planted)
{
    struct tg_tensor at[2], to[2];
    uint64_t last[2] = {TG_TASK_NONE, TG_TASK_NONE};
    at[0] = args->tensor[X];
    at[1] = args->tensor[Y];
    for (int64_t k = 0; k < 8; k++) {
        /* Good: one chain after the other. Bad: in turns, the second chain first. */
        int64_t chain = BAD ? (k + 1) % 2 : k / 4, step = BAD ? k / 2 : k % 4;
        to[chain] = step == 3 ? row_of(args, chain) : vector(rt);
        last[chain] = link_of(rt, at[chain], to[chain], chain * 10 + step, last[chain]);
        at[chain] = to[chain];
    }
}

PLANTED({"link_one", link_one, TG_AIV, "in:float32 out:float32 scalar:int64"});

#endif
