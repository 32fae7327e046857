/* SPDX-License-Identifier: Apache-2.0 */
/* All tensors are contiguous. Sums stay below 2^31 for the sizes that cases.c allows. */
#include "moe.h"

TG_INLINE int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Row `a` times a column of a matrix whose rows lie `down` elements apart. */
TG_INLINE int32_t dot(const int8_t *a, const int8_t *column, int64_t down, int64_t n)
{
    int32_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (int32_t)a[i] * (int32_t)column[i * down];
    return sum;
}

/* logits = x·w + bias. Arguments: x, w, bias, logits (a row for each token, experts wide). */
TG_KERNEL(moe_gate)
{
    const int8_t *x = TG_ARG(ctx, 0, const int8_t);
    const int8_t *w = TG_ARG(ctx, 1, const int8_t);
    const int32_t *bias = TG_ARG(ctx, 2, const int32_t);
    int32_t *logits = TG_ARG(ctx, 3, int32_t);
    int64_t width = ctx->tensor[0].shape[1], experts = ctx->tensor[3].shape[1];
    TG_FOR(i, tg_arg_numel(ctx, 3)) {
        int64_t token = i / experts, expert = i % experts;
        logits[i] = dot(x + token * width, w + expert, experts, width) + bias[expert];
    }
}

/* The expert with the largest logit, the first one in a tie; `lead` is its lead over the second
 * largest. */
TG_INLINE int32_t best_of(const int32_t *logits, int64_t experts, int64_t *lead)
{
    int32_t best = logits[1] > logits[0] ? 1 : 0, next = 1 - best;
    for (int32_t e = 2; e < experts; e++) {
        if (logits[e] > logits[best]) {
            next = best;
            best = e;
        } else if (logits[e] > logits[next]) {
            next = e;
        }
    }
    *lead = (int64_t)logits[best] - logits[next];
    return best;
}

/* Appends to `order` the tokens that chose `expert`, after those of earlier experts. Returns their
 * number. */
TG_FN static int32_t list_tokens(const int32_t *choice, int64_t n, int32_t expert, int32_t *order)
{
    int64_t at = 0;
    int32_t count = 0;
    for (int64_t token = 0; token < n; token++)
        at += choice[token] < expert;
    for (int64_t token = 0; token < n; token++)
        if (choice[token] == expert)
            order[at + count++] = (int32_t)token;
    return count;
}

/*
 * Routes the tokens. Arguments: logits, choice, weight, order, counts; divisor. Writes for each
 * token its expert and the weight of the answer; all tokens in the order of experts; and for each
 * expert the number of its tokens, which the orchestration reads.
 */
TG_KERNEL(moe_route)
{
    const int32_t *logits = TG_ARG(ctx, 0, const int32_t);
    int32_t *choice = TG_ARG(ctx, 1, int32_t);
    int32_t *weight = TG_ARG(ctx, 2, int32_t);
    int32_t *order = TG_ARG(ctx, 3, int32_t);
    int32_t *counts = TG_ARG(ctx, 4, int32_t);
    int64_t n = ctx->tensor[0].shape[0], experts = ctx->tensor[0].shape[1];
    int64_t divisor = tg_arg_i64(ctx, 0);
    TG_FOR(token, n) {
        int64_t lead;
        choice[token] = best_of(logits + token * experts, experts, &lead);
        weight[token] = (int32_t)clamp(GATE_ONE / 2 + lead / divisor, 0, GATE_ONE);
    }
    TG_BARRIER(); /* each expert reads all choices */
    TG_FOR(expert, experts)
        counts[expert] = list_tokens(choice, n, (int32_t)expert, order);
}

/*
 * answer = relu(x·w1)·w2 for the tokens of a list. Arguments: x (all tokens), list, w1, w2, hidden,
 * answer (a row for each token of the list); divisor, which scales sums back to int8.
 */
TG_KERNEL(moe_expert)
{
    const int8_t *x = TG_ARG(ctx, 0, const int8_t);
    const int32_t *list = TG_ARG(ctx, 1, const int32_t);
    const int8_t *w1 = TG_ARG(ctx, 2, const int8_t);
    const int8_t *w2 = TG_ARG(ctx, 3, const int8_t);
    int8_t *hidden = TG_ARG(ctx, 4, int8_t);
    int32_t *answer = TG_ARG(ctx, 5, int32_t);
    int64_t width = ctx->tensor[2].shape[0], inner = ctx->tensor[2].shape[1];
    int64_t divisor = tg_arg_i64(ctx, 0);
    TG_FOR(i, tg_arg_numel(ctx, 4)) {
        int32_t sum = dot(x + list[i / inner] * width, w1 + i % inner, inner, width);
        hidden[i] = (int8_t)clamp(sum / divisor, 0, INT8_LIMIT);
    }
    TG_BARRIER(); /* each sum reads a whole row of hidden */
    TG_FOR(i, tg_arg_numel(ctx, 5))
        answer[i] = dot(hidden + i / width * inner, w2 + i % width, width, inner);
}

/* y = x + weight · answer; each answer goes to its token. Arguments: x, order, weight, answers (in
 * that order), y; divisor. */
TG_KERNEL(moe_combine)
{
    const int8_t *x = TG_ARG(ctx, 0, const int8_t);
    const int32_t *order = TG_ARG(ctx, 1, const int32_t);
    const int32_t *weight = TG_ARG(ctx, 2, const int32_t);
    const int32_t *answers = TG_ARG(ctx, 3, const int32_t);
    int8_t *y = TG_ARG(ctx, 4, int8_t);
    int64_t width = ctx->tensor[0].shape[1], divisor = tg_arg_i64(ctx, 0) * GATE_ONE;
    TG_FOR(i, tg_arg_numel(ctx, 3)) {
        int64_t token = order[i / width], at = token * width + i % width;
        int64_t add = (int64_t)weight[token] * answers[i] / divisor;
        y[at] = (int8_t)clamp(x[at] + add, -INT8_LIMIT, INT8_LIMIT);
    }
}

/* The place in the order of experts where the tokens of `expert` begin. */
TG_INLINE int64_t first_of(const int32_t *counts, int64_t expert)
{
    int64_t first = 0;
    for (int64_t e = 0; e < expert; e++)
        first += counts[e];
    return first;
}

/*
 * Copies every token to a slot of its expert; slots that stay free become zero, so that what is
 * sent does not depend on what the memory held. Arguments: x, order, counts, slots (experts,
 * capacity, width).
 */
TG_KERNEL(moe_dispatch)
{
    const int8_t *x = TG_ARG(ctx, 0, const int8_t);
    const int32_t *order = TG_ARG(ctx, 1, const int32_t);
    const int32_t *counts = TG_ARG(ctx, 2, const int32_t);
    int8_t *slots = TG_ARG(ctx, 3, int8_t);
    int64_t capacity = ctx->tensor[3].shape[1], width = ctx->tensor[3].shape[2];
    TG_FOR(i, ctx->tensor[3].shape[0] * capacity) {
        int64_t expert = i / capacity, slot = i % capacity;
        const int8_t *from = 0;
        if (slot < counts[expert])
            from = x + order[first_of(counts, expert) + slot] * width;
        for (int64_t k = 0; k < width; k++)
            slots[i * width + k] = (int8_t)(from ? from[k] : 0);
    }
}

/*
 * answers = relu(x·w1)·w2 for some slots of one expert and one rank, and zero for free ones.
 * Arguments: slots (a row each), how many of the expert's slots are taken, w1, w2, hidden, answers;
 * the number of the first slot, divisor.
 */
TG_KERNEL(moe_serve)
{
    const int8_t *slots = TG_ARG(ctx, 0, const int8_t);
    const int8_t *w1 = TG_ARG(ctx, 2, const int8_t);
    const int8_t *w2 = TG_ARG(ctx, 3, const int8_t);
    int8_t *hidden = TG_ARG(ctx, 4, int8_t);
    int32_t *answers = TG_ARG(ctx, 5, int32_t);
    int64_t width = ctx->tensor[2].shape[0], inner = ctx->tensor[2].shape[1];
    int64_t taken = *TG_ARG(ctx, 1, const int32_t) - tg_arg_i64(ctx, 0);
    int64_t divisor = tg_arg_i64(ctx, 1);
    TG_FOR(i, tg_arg_numel(ctx, 4)) {
        int32_t sum = 0;
        if (i / inner < taken)
            sum = dot(slots + i / inner * width, w1 + i % inner, inner, width);
        hidden[i] = (int8_t)clamp(sum / divisor, 0, INT8_LIMIT);
    }
    TG_BARRIER(); /* each sum reads a whole row of hidden */
    TG_FOR(i, tg_arg_numel(ctx, 5))
        answers[i] = dot(hidden + i / width * inner, w2 + i % width, width, inner);
}

/* As moe_combine, with the answers in slots. Arguments: x, order, weight, counts, answers (experts,
 * capacity, width), y; divisor. */
TG_KERNEL(moe_collect)
{
    const int8_t *x = TG_ARG(ctx, 0, const int8_t);
    const int32_t *order = TG_ARG(ctx, 1, const int32_t);
    const int32_t *weight = TG_ARG(ctx, 2, const int32_t);
    const int32_t *counts = TG_ARG(ctx, 3, const int32_t);
    const int32_t *answers = TG_ARG(ctx, 4, const int32_t);
    int8_t *y = TG_ARG(ctx, 5, int8_t);
    int64_t width = ctx->tensor[0].shape[1], divisor = tg_arg_i64(ctx, 0) * GATE_ONE;
    int64_t capacity = ctx->tensor[4].shape[1];
    TG_FOR(i, tg_arg_numel(ctx, 0)) {
        int64_t slot = i / width, expert = 0, token = order[slot], at = token * width + i % width;
        int64_t add;
        while (slot >= counts[expert])
            slot -= counts[expert++];
        add = (int64_t)weight[token] * answers[(expert * capacity + slot) * width + i % width];
        y[at] = (int8_t)clamp(x[at] + add / divisor, -INT8_LIMIT, INT8_LIMIT);
    }
}
