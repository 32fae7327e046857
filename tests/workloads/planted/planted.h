/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small graphs with a planted bug. Each scene is one source file and becomes two modules:
 * planted_SCENE_good.so, built with BAD 0, and planted_SCENE_bad.so, built with BAD 1. Scenes whose bad
 * variant is another correct way to do the same (another order, another name, a fused kernel) are there
 * too, because tools must accuse nobody in them. tests/bugs/planted.py says who is guilty in each.
 *
 * All scenes share their inputs and outputs (host.c): x and y of N floats, and `out` of ROWS × N.
 */
#ifndef PLANTED_H
#define PLANTED_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>
#include <taskglass/workload.h>

#ifndef BAD
#define BAD 0
#endif

enum { N = 64, ROWS = 8 };
enum { X, Y, OUT }; /* the arguments of the orchestration */

extern const struct tg_case_def planted_cases[1];
void planted_prepare(struct tg_case *c);
void planted_golden(struct tg_case *c);
TG_ORCHESTRATION(planted);

/* Ends a scene: the module, with the kernels in the order of their numbers. */
#define PLANTED(...)                                               \
    static const struct tg_kernel_def kernels[] = {__VA_ARGS__};   \
    TG_WORKLOAD = {                                                \
        TG_WORKLOAD_HEAD,                                          \
        .name = "planted",                                         \
        .summary = "a small graph, with a planted bug or without", \
        .kernels = kernels,                                        \
        .n_kernels = sizeof kernels / sizeof kernels[0],           \
        .cases = planted_cases,                                    \
        .n_cases = 1,                                              \
        .orchestrate = planted,                                    \
        .orchestrate_site = TG_SITE,                               \
        .prepare = planted_prepare,                                \
        .golden = planted_golden,                                  \
    }

/* Kernels that compute each element of their output b (c, a) from the same element of their input a (a
 * and b, a). */
#define FROM_ONE(name, value)                         \
    TG_KERNEL(name)                                   \
    {                                                 \
        const float *a = TG_ARG(ctx, 0, const float); \
        float *b = TG_ARG(ctx, 1, float);             \
        TG_FOR(i, tg_arg_numel(ctx, 1))               \
            b[i] = (value);                           \
    }
#define FROM_TWO(name, value)                                                           \
    TG_KERNEL(name)                                                                     \
    {                                                                                   \
        const float *a = TG_ARG(ctx, 0, const float), *b = TG_ARG(ctx, 1, const float); \
        float *c = TG_ARG(ctx, 2, float);                                               \
        TG_FOR(i, tg_arg_numel(ctx, 2))                                                 \
            c[i] = (value);                                                             \
    }
#define IN_PLACE(name, value)             \
    TG_KERNEL(name)                       \
    {                                     \
        float *a = TG_ARG(ctx, 0, float); \
        TG_FOR(i, tg_arg_numel(ctx, 0))   \
            a[i] = (value);               \
    }

#define ONE_IN "in:float32 out:float32"
#define TWO_IN "in:float32 in:float32 out:float32"

static inline struct tg_tensor vector(struct tg_rt *rt)
{
    int64_t n = N;
    return tg_alloc(rt, TG_FLOAT32, 1, &n);
}

static inline struct tg_tensor row_of(const struct tg_args *args, int64_t row)
{
    return tg_tensor_index(args->tensor[OUT], 0, row);
}

/* Submit a task of one or two inputs and an output; it waits for the tasks `after` and `also`. */
static inline uint64_t one_at(struct tg_rt *rt, uint32_t kernel, struct tg_tensor in,
                              struct tg_tensor out, uint64_t after, uint64_t also, const char *site)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, in);
    tg_args_out(&task, out);
    tg_args_after(&task, after);
    tg_args_after(&task, also);
    return tg_submit_one_at(rt, kernel, &task, site);
}

static inline uint64_t two_at(struct tg_rt *rt, uint32_t kernel, struct tg_tensor a,
                              struct tg_tensor b, struct tg_tensor out, uint64_t after,
                              uint64_t also, const char *site)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, a);
    tg_args_in(&task, b);
    tg_args_out(&task, out);
    tg_args_after(&task, after);
    tg_args_after(&task, also);
    return tg_submit_one_at(rt, kernel, &task, site);
}

/* A task that changes a tensor in place. */
static inline uint64_t change_at(struct tg_rt *rt, uint32_t kernel, struct tg_tensor inout,
                                 uint64_t after, const char *site)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_inout(&task, inout);
    tg_args_after(&task, after);
    return tg_submit_one_at(rt, kernel, &task, site);
}

#define one(rt, kernel, in, out, after, also) one_at(rt, kernel, in, out, after, also, TG_SITE)
#define two(rt, kernel, a, b, out, after, also) two_at(rt, kernel, a, b, out, after, also, TG_SITE)
#define change(rt, kernel, inout, after) change_at(rt, kernel, inout, after, TG_SITE)

/* Spins for some milliseconds, so that a task that does not wait for this one comes first. */
static inline void linger(void)
{
    for (volatile int spin = 0; spin < 20000000; spin = spin + 1)
        ;
}

#endif
