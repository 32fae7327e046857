/* SPDX-License-Identifier: Apache-2.0 */
/* The workload of bench/comm: chains of calls. Scalars: what, how many. Tensor 0 is sent or reduced. */
#include <taskglass/workload.h>

enum { PING = 0, REDUCE = 1 };

TG_ORCHESTRATION(bench_comm_orchestrate)
{
    int64_t what = tg_args_get_i64(args, 0), n = tg_args_get_i64(args, 1);
    int32_t rank = tg_rank(rt), peer = 1 - rank;
    uint64_t last = TG_TASK_NONE;
    for (int64_t i = 0; i < (what == PING ? 2 * n : n); i++) {
        struct tg_args call;
        tg_args_init(&call);
        tg_args_after(&call, last);
        if (what == REDUCE) {
            tg_args_inout(&call, args->tensor[0]);
            last = tg_all_reduce(rt, TG_SUM, &call);
        } else if ((i + rank) % 2 == 0) {
            tg_args_in(&call, args->tensor[0]);
            last = tg_send(rt, peer, 0, &call);
        } else {
            tg_args_out(&call, args->tensor[0]);
            last = tg_recv(rt, peer, 0, &call);
        }
    }
}

TG_KERNEL(bench_comm_nothing)
{
    (void)ctx;
}

static const struct tg_kernel_def kernels[] = {{"nothing", bench_comm_nothing, TG_EITHER, 0}};

static const struct tg_case_def cases[] = {
    {"none", "the benchmark calls the orchestration itself", ""}};

static void nothing(struct tg_case *c)
{
    (void)c;
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "bench_comm_calls",
    .summary = "chains of calls",
    .kernels = kernels,
    .n_kernels = 1,
    .cases = cases,
    .n_cases = 1,
    .prepare = nothing,
    .golden = nothing,
    .orchestrate = bench_comm_orchestrate,
    .orchestrate_site = TG_SITE,
    .communicates = 1,
};
