/* SPDX-License-Identifier: Apache-2.0 */
/* Each step: add one, send the values to the next rank, take those of the rank before, and sum those of
 * all. Tensors: x, got, sum. Scalars: steps, nanoseconds, what the last kernel crashes with, or 0, and in how
 * many calls the values are sent. More than one needs a runtime that finds dependencies from tensors. */
#include "ranks_ring.h"

TG_FN static uint64_t work(struct tg_rt *rt, const struct tg_args *given, int64_t crash,
                           uint64_t last)
{
    struct tg_args args;
    tg_args_init(&args);
    tg_args_after(&args, last);
    tg_args_inout(&args, given->tensor[0]);
    tg_args_i64(&args, (int64_t)given->scalar[1].bits);
    tg_args_i64(&args, crash);
    return tg_submit(rt, RING_WORK, &args);
}

/* Sends one piece of the values, or receives one. */
TG_FN static uint64_t move(struct tg_rt *rt, const struct tg_args *given, bool sends, int64_t piece,
                           uint64_t worked)
{
    int32_t rank = tg_rank(rt), ranks = tg_ranks(rt);
    struct tg_tensor all = given->tensor[sends ? 0 : 1];
    int64_t n = tg_tensor_numel(&all), pieces = (int64_t)given->scalar[3].bits;
    struct tg_tensor part =
        tg_tensor_slice(all, 0, n * piece / pieces, n * (piece + 1) / pieces, 1);
    struct tg_args args;
    tg_args_init(&args);
    tg_args_after(&args, worked);
    if (sends) {
        tg_args_in(&args, part);
        return tg_send(rt, (rank + 1) % ranks, 7, &args);
    }
    tg_args_out(&args, part);
    return tg_recv(rt, (rank + ranks - 1) % ranks, 7, &args);
}

TG_FN static uint64_t pass_on(struct tg_rt *rt, const struct tg_args *given, uint64_t worked)
{
    int64_t pieces = (int64_t)given->scalar[3].bits;
    uint64_t sent = TG_TASK_NONE, received = TG_TASK_NONE;
    struct tg_args sum, take;
    for (int64_t piece = 0; piece < pieces; piece++) {
        sent = move(rt, given, true, piece, worked);
        received = move(rt, given, false, piece, worked);
    }
    tg_args_init(&sum);
    tg_args_after(&sum, worked);
    tg_args_in(&sum, given->tensor[0]);
    tg_args_out(&sum, given->tensor[2]);
    uint64_t summed = tg_all_reduce(rt, TG_SUM, &sum);
    tg_args_init(&take);
    tg_args_after(&take, sent);
    tg_args_after(&take, received);
    tg_args_after(&take, summed);
    tg_args_inout(&take, given->tensor[0]);
    tg_args_in(&take, given->tensor[1]);
    return tg_submit(rt, RING_TAKE, &take);
}

TG_ORCHESTRATION(ring)
{
    int64_t steps = (int64_t)args->scalar[0].bits;
    uint64_t last = TG_TASK_NONE;
    for (int64_t i = 0; i < steps; i++) {
        int64_t crash = i == steps - 1 ? (int64_t)args->scalar[2].bits : 0;
        last = pass_on(rt, args, work(rt, args, crash, last));
    }
}
