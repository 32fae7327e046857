/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers of experts, one after the other. In every layer, with x from the layer before:
 *
 *   AIC  gate      logits = x·w + bias
 *   AIV  route     every token's expert; tokens in the order of experts; a count for each expert
 *     read back: the counts. For every expert that was chosen, for every tile of its tokens:
 *       AIC  expert    answers = relu(x·w1)·w2
 *   AIV  combine   y = x + weight · answers
 *
 * The number of tasks depends on what the gate computed, so this needs a runtime that builds the
 * graph on the device. On several ranks a layer is another one (ranks.c).
 *
 * Why the experts do not add their answers to y themselves: only a tile's list says which rows it
 * would write, so a runtime that finds dependencies would have to assume all of y and run one tile
 * after the other. In the order of experts each tile has its own rows, and tiles run at the same
 * time.
 */
#include "moe.h"

/* The expert tasks of one layer; combine waits for them. */
struct experts {
    uint64_t task[MAX_EXPERT_TASKS];
    uint32_t n;
};

TG_APART TG_FN struct tg_tensor moe_matrix(struct tg_rt *rt, unsigned dtype, int64_t rows,
                                           int64_t cols)
{
    int64_t shape[2];
    shape[0] = rows;
    shape[1] = cols;
    return tg_alloc(rt, dtype, 2, shape);
}

TG_APART TG_FN uint64_t moe_submit_gate(struct tg_rt *rt, const struct moe_layer *l,
                                        struct tg_tensor logits, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, l->x);
    tg_args_in(&task, l->gate);
    tg_args_in(&task, l->bias);
    tg_args_out(&task, logits);
    tg_args_after(&task, after);
    return tg_submit(rt, MOE_GATE, &task);
}

TG_APART TG_FN uint64_t moe_submit_route(struct tg_rt *rt, const struct moe_layer *l,
                                         struct tg_tensor logits, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, logits);
    tg_args_out(&task, tg_alloc(rt, TG_INT32, 1, l->order.shape)); /* used inside the task */
    tg_args_out(&task, l->weight);
    tg_args_out(&task, l->order);
    tg_args_out(&task, l->counts);
    tg_args_i64(&task, l->divisor);
    tg_args_after(&task, after);
    return tg_submit(rt, MOE_ROUTE, &task);
}

/* Submits tokens [from, to) of the order, all of which chose `expert`. */
TG_APART TG_FN static uint64_t expert_tile(struct tg_rt *rt, const struct moe_layer *l,
                                           int64_t expert, int64_t from, int64_t to, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, l->x);
    tg_args_in(&task, tg_tensor_slice(l->order, 0, from, to, 1));
    tg_args_in(&task, tg_tensor_index(l->w1, 0, expert));
    tg_args_in(&task, tg_tensor_index(l->w2, 0, expert));
    tg_args_out(&task,
                moe_matrix(rt, TG_INT8, to - from, l->w1.shape[2])); /* used inside the task */
    tg_args_out(&task, tg_tensor_slice(l->answers, 0, from, to, 1));
    tg_args_i64(&task, l->divisor);
    tg_args_after(&task, after);
    return tg_submit(rt, MOE_EXPERT, &task);
}

TG_APART TG_FN static uint64_t combine(struct tg_rt *rt, const struct moe_layer *l,
                                       const struct experts *ready, uint64_t routed)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, l->x);
    tg_args_in(&task, l->order);
    tg_args_in(&task, l->weight);
    tg_args_in(&task, l->answers);
    tg_args_out(&task, l->y);
    tg_args_i64(&task, l->divisor);
    tg_args_after(&task, routed);
    tg_args_after_all(&task, ready->task, ready->n);
    return tg_submit(rt, MOE_COMBINE, &task);
}

/* Here the orchestration waits for the gate; tasks that were submitted before go on. Returns the
 * first token of the next expert. */
TG_APART TG_FN static int64_t one_expert(struct tg_rt *rt, const struct moe_layer *l,
                                         int64_t expert, int64_t first, uint64_t routed,
                                         struct experts *tasks)
{
    int64_t end = first + tg_read_i64(rt, tg_tensor_index(l->counts, 0, expert), routed);
    TG_SCOPE(rt) { /* memory that the tiles use internally is freed when this scope ends */
        for (int64_t from = first; from < end; from += l->tile) {
            uint64_t task = expert_tile(rt, l, expert, from, at_most(from + l->tile, end), routed);
            if (tasks->n < MAX_EXPERT_TASKS)
                tasks->task[tasks->n++] = task;
            else
                tg_fail(rt, "a layer must have at most 256 expert tasks: raise the tile");
        }
    }
    return end;
}

/*
 * Returns the task after which y can be read. It is enough that the first task waits for `before`,
 * which wrote x: `before` has waited for all tasks that read or wrote this layer's tensors in
 * earlier layers (combine waits for every expert, each expert for route, route for gate).
 */
TG_APART TG_FN static uint64_t one_layer(struct tg_rt *rt, struct moe_layer *l, uint64_t before)
{
    int64_t n = l->x.shape[0], experts = l->w1.shape[0], first = 0;
    struct tg_tensor logits = moe_matrix(rt, TG_INT32, n, experts);
    struct experts tasks;
    uint64_t routed;
    l->weight = tg_alloc(rt, TG_INT32, 1, &n);
    l->order = tg_alloc(rt, TG_INT32, 1, &n);
    l->answers = moe_matrix(rt, TG_INT32, n, l->x.shape[1]);
    routed = moe_submit_route(rt, l, logits, moe_submit_gate(rt, l, logits, before));
    tasks.n = 0;
    for (int64_t expert = 0; expert < experts; expert++)
        first = one_expert(rt, l, expert, first, routed, &tasks);
    return combine(rt, l, &tasks, routed);
}

TG_ORCHESTRATION(moe)
{
    struct tg_tensor x = args->tensor[0];      /* n, width */
    struct tg_tensor gates = args->tensor[1];  /* layers, width, experts */
    struct tg_tensor biases = args->tensor[2]; /* layers, experts */
    struct tg_tensor w1 = args->tensor[3];     /* layers, experts, width, inner */
    struct tg_tensor w2 = args->tensor[4];     /* layers, experts, inner, width */
    struct tg_tensor counts = args->tensor[5]; /* layers, experts */
    struct tg_tensor y = args->tensor[6];      /* n, width */
    int64_t layers = gates.shape[0];
    /* Activations between layers: each layer reads one of these and writes the other. */
    struct tg_tensor between[2];
    struct moe_layer l;
    uint64_t last = TG_TASK_NONE;

    l.tile = tg_args_get_i64(args, 0);
    l.divisor = tg_args_get_i64(args, 1);
    l.ranks = tg_ranks(rt);
    l.capacity = l.ranks > 1 ? tg_args_get_i64(args, 2) : 0;
    if (l.tile < 1 || l.divisor < 1) {
        tg_fail(rt, "tile and divisor must be at least 1");
        return;
    }
    between[0] = tg_alloc(rt, TG_INT8, 2, x.shape);
    between[1] = tg_alloc(rt, TG_INT8, 2, x.shape);
    l.y = x;
    for (int64_t i = 0; i < layers; i++) {
        l.x = l.y;
        l.y = i + 1 < layers ? between[i % 2] : y;
        l.gate = tg_tensor_index(gates, 0, i);
        l.bias = tg_tensor_index(biases, 0, i);
        l.w1 = tg_tensor_index(w1, 0, i);
        l.w2 = tg_tensor_index(w2, 0, i);
        l.counts = tg_tensor_index(counts, 0, i);
        TG_SCOPE(rt) { /* one layer; its lists, logits and answers are freed at its end */
            last = l.ranks > 1 ? moe_layer_over_ranks(rt, &l, last) : one_layer(rt, &l, last);
        }
    }
}
