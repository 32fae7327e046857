/* SPDX-License-Identifier: Apache-2.0 */
/* A module with kernels only: the benchmarks build their graphs through graph.h and do not use
 * `taskglass run`. Include it once, in the file with the kernels. */
#ifndef BENCH_KERNELS_ONLY_H
#define BENCH_KERNELS_ONLY_H

#include <taskglass/workload.h>

static const struct tg_case_def no_cases[] = {{"none", "no task at all", ""}};

__attribute__((unused)) static void no_tasks(struct tg_rt *rt, const struct tg_args *args)
{
    (void)rt;
    (void)args;
}

static void no_tensors(struct tg_case *c)
{
    (void)c;
}

/* BENCH_KERNELS_ONLY("name", "summary", table); */
#define BENCH_KERNELS_ONLY(name_, summary_, table) BENCH_KERNELS(name_, summary_, table, no_tasks)
/* The same with an orchestration. */
#define BENCH_KERNELS(name_, summary_, table, orchestrate_)      \
    TG_WORKLOAD = {TG_WORKLOAD_HEAD,                             \
                   .name = (name_),                              \
                   .summary = (summary_),                        \
                   .kernels = (table),                           \
                   .n_kernels = sizeof(table) / sizeof *(table), \
                   .cases = no_cases,                            \
                   .n_cases = 1,                                 \
                   .orchestrate = (orchestrate_),                \
                   .orchestrate_site = TG_SITE,                  \
                   .prepare = no_tensors,                        \
                   .golden = no_tensors}

#endif
