/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same layers where each rank has some of the tokens and some of the experts. Every expert has
 * `capacity` slots for the tokens of every rank, so that sizes are known before the gate has run.
 * In every layer:
 *
 *   AIC        gate       logits of the rank's tokens for all experts
 *   AIV        route      every token's expert; a count for each expert
 *   all ranks  tg_all_to_all   the counts of each rank's experts go there
 *   AIV        dispatch   slots(expert, slot) = the tokens; free slots are zero
 *   all ranks  tg_all_to_all   the slots of each rank's experts go there
 *     for every rank, every expert of this one, every tile of slots:
 *       AIC      serve      answers = relu(x·w1)·w2, of the slots that are taken
 *   all ranks  tg_all_to_all   the answers go back to where their tokens are
 *   AIV        collect    y = x + weight · answers
 *
 * The capacity is what the largest share of the tokens has, so that no token is ever left out, and
 * results are the same as on one device bit for bit. The number of tasks does not depend on
 * results: this part of the example runs on host_build_graph too.
 *
 * Pieces of tg_all_to_all: before it the first dimension counts experts, which is ranks times the
 * experts of each; after it, the ranks from which the pieces came.
 */
#include "moe.h"

/* Slots of all experts: those that this rank fills, or that it gets its answers in. */
TG_APART TG_FN static struct tg_tensor slots_out(struct tg_rt *rt, const struct moe_layer *l,
                                                 unsigned dtype)
{
    int64_t shape[3];
    shape[0] = l->counts.shape[0];
    shape[1] = l->capacity;
    shape[2] = l->x.shape[1];
    return tg_alloc(rt, dtype, 3, shape);
}

/* Slots of this rank's experts, for the tokens of every rank: ranks, experts, capacity, width. */
TG_APART TG_FN static struct tg_tensor slots_here(struct tg_rt *rt, const struct moe_layer *l,
                                                  unsigned dtype)
{
    int64_t shape[4];
    shape[0] = l->ranks;
    shape[1] = l->w1.shape[0];
    shape[2] = l->capacity;
    shape[3] = l->x.shape[1];
    return tg_alloc(rt, dtype, 4, shape);
}

/* Piece r of `from` goes to rank r. */
TG_APART TG_FN static uint64_t swap(struct tg_rt *rt, struct tg_tensor from, struct tg_tensor to,
                                    const uint64_t *after, uint32_t n)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, from);
    tg_args_out(&task, to);
    tg_args_after_all(&task, after, n);
    return tg_all_to_all(rt, &task);
}

TG_APART TG_FN static uint64_t dispatch(struct tg_rt *rt, const struct moe_layer *l,
                                        struct tg_tensor slots, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, l->x);
    tg_args_in(&task, l->order);
    tg_args_in(&task, l->counts);
    tg_args_out(&task, slots);
    tg_args_after(&task, after);
    return tg_submit(rt, MOE_DISPATCH, &task);
}

/* Where the tokens of one rank for one expert are: their slots, how many are taken, and the
 * answers. */
struct guests {
    struct tg_tensor slots, count, answers; /* capacity by width; one element; capacity by width */
    int64_t expert;
};

TG_APART TG_FN static uint64_t serve(struct tg_rt *rt, const struct moe_layer *l,
                                     const struct guests *g, int64_t from,
                                     const uint64_t arrived[2])
{
    int64_t to = at_most(from + l->tile, l->capacity);
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, tg_tensor_slice(g->slots, 0, from, to, 1));
    tg_args_in(&task, g->count);
    tg_args_in(&task, tg_tensor_index(l->w1, 0, g->expert));
    tg_args_in(&task, tg_tensor_index(l->w2, 0, g->expert));
    tg_args_out(&task,
                moe_matrix(rt, TG_INT8, to - from, l->w1.shape[2])); /* used inside the task */
    tg_args_out(&task, tg_tensor_slice(g->answers, 0, from, to, 1));
    tg_args_i64(&task, from);
    tg_args_i64(&task, l->divisor);
    tg_args_after_all(&task, arrived, 2);
    return tg_submit(rt, MOE_SERVE, &task);
}

TG_APART TG_FN static uint64_t collect(struct tg_rt *rt, const struct moe_layer *l,
                                       struct tg_tensor answers, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, l->x);
    tg_args_in(&task, l->order);
    tg_args_in(&task, l->weight);
    tg_args_in(&task, l->counts);
    tg_args_in(&task, answers);
    tg_args_out(&task, l->y);
    tg_args_i64(&task, l->divisor);
    tg_args_after(&task, after);
    return tg_submit(rt, MOE_COLLECT, &task);
}

/* All tasks of this rank's experts; `tasks` gets them. Returns how
 * many. Each pair of rank and expert is a scope, whose memory is freed when its tasks have
 * finished. */
TG_APART TG_FN static uint32_t serve_all(struct tg_rt *rt, const struct moe_layer *l,
                                         struct tg_tensor slots, struct tg_tensor counts,
                                         struct tg_tensor answers, const uint64_t arrived[2],
                                         uint64_t tasks[MAX_EXPERT_TASKS])
{
    int64_t experts = l->w1.shape[0];
    uint32_t n = 0;
    for (int64_t i = 0; i < l->ranks * experts; i++) {
        struct guests g;
        g.expert = i % experts;
        g.slots = tg_tensor_index(tg_tensor_index(slots, 0, i / experts), 0, g.expert);
        g.count = tg_tensor_index(tg_tensor_index(counts, 0, i / experts), 0, g.expert);
        g.answers = tg_tensor_index(tg_tensor_index(answers, 0, i / experts), 0, g.expert);
        TG_SCOPE(rt) {
            for (int64_t from = 0; from < l->capacity; from += l->tile) {
                uint64_t task = serve(rt, l, &g, from, arrived);
                if (n < MAX_EXPERT_TASKS)
                    tasks[n++] = task;
                else
                    tg_fail(rt, "a layer must have at most 256 expert tasks: raise the tile");
            }
        }
    }
    return n;
}

/*
 * Returns the task after which y can be read. As on one device it is enough that the first task
 * waits for `before`: each task of a layer waits, through others, for all that came before it in
 * its layer, and the last one for all of them.
 */
TG_APART TG_FN uint64_t moe_layer_over_ranks(struct tg_rt *rt, struct moe_layer *l, uint64_t before)
{
    struct tg_tensor sent = slots_out(rt, l, TG_INT8), slots = slots_here(rt, l, TG_INT8);
    struct tg_tensor served = slots_here(rt, l, TG_INT32), answers = slots_out(rt, l, TG_INT32);
    struct tg_tensor logits = moe_matrix(rt, TG_INT32, l->x.shape[0], l->counts.shape[0]);
    struct tg_tensor counts = moe_matrix(rt, TG_INT32, l->ranks, l->w1.shape[0]);
    uint64_t tasks[MAX_EXPERT_TASKS], arrived[2], task;
    uint32_t n;
    l->weight = tg_alloc(rt, TG_INT32, 1, l->x.shape);
    l->order = tg_alloc(rt, TG_INT32, 1, l->x.shape);
    task = moe_submit_route(rt, l, logits, moe_submit_gate(rt, l, logits, before));
    arrived[0] = swap(rt, l->counts, counts, &task, 1);
    task = dispatch(rt, l, sent, task);
    arrived[1] = swap(rt, sent, slots, &task, 1);
    n = serve_all(rt, l, slots, counts, served, arrived, tasks);
    return collect(rt, l, answers, swap(rt, served, answers, tasks, n));
}
