/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the files of this workload share. The network is quantised, as inference often
 * is: tokens and weights are int8, sums int32. Integers do not round, so the gate sends every token
 * to the same expert on any device and in the golden values, and outputs are the same bit for bit.
 */
#ifndef MOE_H
#define MOE_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum {
    MOE_GATE,
    MOE_ROUTE,
    MOE_EXPERT,
    MOE_COMBINE,
    MOE_DISPATCH, /* this one and those after it: of several ranks */
    MOE_SERVE,
    MOE_COLLECT,
    MOE_KERNELS
};

/* Expert tasks of one layer, at most: the orchestration keeps the id of each. */
enum { MAX_EXPERT_TASKS = 256 };

/* Values of tokens and of the hidden layer are from -INT8_LIMIT to INT8_LIMIT. */
enum { INT8_LIMIT = 127 };

/* The weight of an expert's answer, in units of 1/GATE_ONE: half if another expert was equally
 * good, and all if its lead, divided like all sums, is at least GATE_ONE / 2. This is a hard
 * sigmoid of the lead. */
enum { GATE_ONE = 256 };

/* One layer's weights, and the tensors that one layer's tasks share. On several ranks x and y are
 * the tokens of this one, w1 and w2 its experts; the others are of all experts. */
struct moe_layer {
    struct tg_tensor gate; /* width, experts */
    struct tg_tensor bias; /* experts */
    struct tg_tensor w1;   /* experts, width, inner */
    struct tg_tensor w2;   /* experts, inner, width */
    struct tg_tensor counts;
    struct tg_tensor x, y; /* n, width */
    struct tg_tensor weight, order;
    struct tg_tensor answers; /* n, width; on one rank only */
    int64_t tile, divisor;
    int64_t ranks, capacity; /* capacity: slots of an expert for each rank, on several ranks */
};

TG_INLINE int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

TG_KERNEL(moe_gate);
TG_KERNEL(moe_route);
TG_KERNEL(moe_expert);
TG_KERNEL(moe_combine);
TG_KERNEL(moe_dispatch);
TG_KERNEL(moe_serve);
TG_KERNEL(moe_collect);
TG_ORCHESTRATION(moe);
/* Tasks that one rank and several submit alike (orchestrate.c). */
TG_FN struct tg_tensor moe_matrix(struct tg_rt *rt, unsigned dtype, int64_t rows, int64_t cols);
TG_FN uint64_t moe_submit_gate(struct tg_rt *rt, const struct moe_layer *l, struct tg_tensor logits,
                               uint64_t after);
TG_FN uint64_t moe_submit_route(struct tg_rt *rt, const struct moe_layer *l,
                                struct tg_tensor logits, uint64_t after);
/* One layer on several ranks; returns the task after which y can be read (ranks.c). */
TG_FN uint64_t moe_layer_over_ranks(struct tg_rt *rt, struct moe_layer *l, uint64_t before);

#endif
