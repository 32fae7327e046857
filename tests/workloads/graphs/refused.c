/* SPDX-License-Identifier: Apache-2.0 */
/* Orchestrations that make one mistake each. None of them may reach the device. */
#include "graphs.h"

TG_FN static uint64_t good(struct tg_rt *rt, const struct tg_args *args, int64_t i)
{
    struct tg_args task;
    graphs_node_args(&task, args, i, MASK_AIV);
    return tg_submit(rt, NODE_AIV, &task);
}

/* Mistakes in the edges. */
TG_FN static void edges(struct tg_rt *rt, const struct tg_args *args, int64_t graph)
{
    uint64_t first = good(rt, args, 0), second, third;
    struct tg_args task;
    graphs_node_args(&task, args, 1, MASK_AIV);
    switch (graph) {
    case GRAPH_cycle:
        second = good(rt, args, 1);
        third = good(rt, args, 2);
        good(rt, args, 3); /* not on the cycle */
        tg_depend(rt, second, first);
        tg_depend(rt, third, second);
        tg_depend(rt, first, third);
        break;
    case GRAPH_self_edge:
        tg_depend(rt, first, first);
        break;
    case GRAPH_bad_edge:
        tg_args_after(&task, first + 12345);
        tg_submit(rt, NODE_AIV, &task);
        break;
    default: /* too_many_after */
        for (int i = 0; i < TG_MAX_INLINE_AFTER + 1; i++)
            tg_args_after(&task, first);
        tg_submit(rt, NODE_AIV, &task);
    }
}

/* Mistakes in the kernels of parts. */
TG_FN static void parts(struct tg_rt *rt, const struct tg_args *args, int64_t graph)
{
    struct tg_args task;
    graphs_node_args(&task, args, 0, MASK_AIV);
    switch (graph) {
    case GRAPH_bad_kernel:
        tg_submit(rt, GRAPHS_KERNELS, &task);
        break;
    case GRAPH_wrong_part:
        tg_submit_mix(rt, NODE_AIV, NODE_AIV, TG_NO_KERNEL, &task);
        break;
    default: /* no_part */
        tg_submit_mix(rt, TG_NO_KERNEL, TG_NO_KERNEL, TG_NO_KERNEL, &task);
    }
}

/* As if it lay on a stack that was used before. */
TG_FN static void spoil(struct tg_args *args)
{
    unsigned char *bytes = (unsigned char *)args;
    for (uint32_t i = 0; i < sizeof *args; i++)
        bytes[i] = (unsigned char)(i * 37 + 5);
}

TG_FN static void forgotten(struct tg_rt *rt, const struct tg_args *args, int64_t graph)
{
    struct tg_args task;
    if (graph == GRAPH_again) {
        graphs_node_args(&task, args, 0, MASK_AIV);
        tg_submit(rt, NODE_AIV, &task);
    } else {
        spoil(&task);
    }
    for (int i = 0; i < 3; i++)
        tg_args_in(&task, args->tensor[i]);
    tg_submit(rt, NODE_AIV, &task);
}

/* Mistakes in the arguments: everything is right but one thing. */
TG_FN static void arguments(struct tg_rt *rt, const struct tg_args *args, int64_t graph)
{
    struct tg_tensor value = args->tensor[2];
    int64_t one = 1;
    struct tg_args task;
    graphs_node_args(&task, args, 0, MASK_AIV);
    switch (graph) {
    case GRAPH_wrong_count:
        task.n_tensors--;
        break;
    case GRAPH_too_much:
        tg_args_i64(&task, 1);
        break;
    case GRAPH_local:
        task.tensor[2].addr = (uint64_t)(uintptr_t)&one;
        break;
    case GRAPH_not_given:
        task.tensor[2] = args->tensor[7];
        break;
    case GRAPH_wrong_role:
        task.role[2] = TG_IN;
        break;
    case GRAPH_wrong_dtype:
        task.tensor[2] = tg_alloc(rt, TG_INT32, 1, &one);
        break;
    case GRAPH_wrong_scalar:
        task.n_scalars = 0;
        tg_args_f32(&task, 0.5f);
        tg_args_i64(&task, MASK_AIV);
        break;
    case GRAPH_outside:
        task.tensor[2].start += value.shape[0];
        break;
    case GRAPH_bad_view:
        task.tensor[2] = tg_tensor_slice(value, 0, value.shape[0] - 1, value.shape[0] + 1, 1);
        break;
    case GRAPH_broadcast_out:
        task.tensor[2] = value;
        task.tensor[2].strides[0] = 0;
        break;
    case GRAPH_too_many:
        for (int i = 0; i <= TG_MAX_TENSORS; i++)
            tg_args_in(&task, value);
        break;
    default: /* too_many_scalars */
        for (int i = 0; i <= TG_MAX_SCALARS; i++)
            tg_args_i64(&task, 0);
    }
    tg_submit(rt, NODE_AIV, &task);
}

/* The first error stops the orchestration: later calls must do nothing, and do no harm. */
TG_FN static void memory(struct tg_rt *rt, const struct tg_args *args, int64_t graph)
{
    int64_t shape = graph == GRAPH_huge_alloc ? (int64_t)1 << 50 : -1;
    struct tg_tensor t;
    struct tg_args task;
    if (graph == GRAPH_fail)
        tg_fail(rt, "this graph gives up on purpose");
    TG_SCOPE(rt) {
        t = tg_alloc(rt, TG_UINT64, 1, &shape);
        graphs_node_args(&task, args, 0, MASK_AIV);
        task.tensor[2] = tg_tensor_slice(t, 0, 0, 1, 1);
        tg_depend(rt, tg_submit(rt, NODE_AIV, &task), good(rt, args, 1));
    }
}

TG_FN void graphs_refused(struct tg_rt *rt, const struct tg_args *args, int64_t graph)
{
    switch (graph) {
    case GRAPH_cycle:
    case GRAPH_self_edge:
    case GRAPH_bad_edge:
    case GRAPH_too_many_after:
        edges(rt, args, graph);
        break;
    case GRAPH_bad_kernel:
    case GRAPH_wrong_part:
    case GRAPH_no_part:
        parts(rt, args, graph);
        break;
    case GRAPH_stack:
    case GRAPH_again:
        forgotten(rt, args, graph);
        break;
    case GRAPH_huge_alloc:
    case GRAPH_bad_alloc:
    case GRAPH_fail:
        memory(rt, args, graph);
        break;
    default:
        arguments(rt, args, graph);
    }
}
