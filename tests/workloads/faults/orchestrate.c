/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `before` good tasks in a chain, then `width` bad ones in parallel, then `after` good ones that
 * must never run.
 */
#include "faults.h"

TG_FN static uint64_t good(struct tg_rt *rt, struct tg_tensor count, const uint64_t *after,
                           uint32_t n_after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_inout(&task, count);
    tg_args_after_all(&task, after, n_after);
    return tg_submit(rt, FAULT_NONE, &task);
}

TG_FN static uint64_t bad(struct tg_rt *rt, uint32_t kernel, struct tg_tensor count, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_inout(&task, count);
    tg_args_after(&task, after);
    if (kernel == FAULT_MIX_NULL || kernel == FAULT_MIX_SKIP)
        return tg_submit_mix(rt, kernel, FAULT_MIX_MEET, FAULT_MIX_MEET, &task);
    return tg_submit(rt, kernel, &task);
}

TG_ORCHESTRATION(faults)
{
    struct tg_tensor count = args->tensor[0];
    uint32_t kernel = (uint32_t)args->scalar[0].bits;
    int64_t before = (int64_t)args->scalar[1].bits;
    uint32_t width = (uint32_t)args->scalar[2].bits;
    int64_t after = (int64_t)args->scalar[3].bits;
    uint64_t last = TG_TASK_NONE;
    uint64_t wrong[MAX_WIDTH];

    for (int64_t i = 0; i < before; i++)
        last = good(rt, count, &last, i > 0);
    for (uint32_t i = 0; i < width; i++)
        wrong[i] = bad(rt, kernel, count, last);
    for (int64_t i = 0; i < after; i++)
        last = i == 0 ? good(rt, count, wrong, width) : good(rt, count, &last, 1);
}
