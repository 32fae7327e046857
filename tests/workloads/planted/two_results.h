/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of one input and two outputs, b and c. */
#ifndef TWO_RESULTS_H
#define TWO_RESULTS_H

#include "planted.h"

#define TWO_RESULTS(name, first, second)                              \
    TG_KERNEL(name)                                                   \
    {                                                                 \
        const float *a = TG_ARG(ctx, 0, const float);                 \
        float *b = TG_ARG(ctx, 1, float), *c = TG_ARG(ctx, 2, float); \
        TG_FOR(i, N) {                                                \
            b[i] = (first);                                           \
            c[i] = (second);                                          \
        }                                                             \
    }

#define TWO_OUT "in:float32 out:float32 out:float32"

static inline uint64_t split_at(struct tg_rt *rt, uint32_t kernel, struct tg_tensor in,
                                struct tg_tensor first, struct tg_tensor second, uint64_t after,
                                const char *site)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, in);
    tg_args_out(&task, first);
    tg_args_out(&task, second);
    tg_args_after(&task, after);
    return tg_submit_one_at(rt, kernel, &task, site);
}

#define split(rt, kernel, in, first, second, after) \
    split_at(rt, kernel, in, first, second, after, TG_SITE)

#endif
