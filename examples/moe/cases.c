/* SPDX-License-Identifier: Apache-2.0 */
#include "moe.h"

#include <stdlib.h>
#include <string.h>
#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[MOE_KERNELS] = {
    [MOE_GATE] = {"moe_gate", moe_gate, TG_AIC, "in:int8 in:int8 in:int32 out:int32"},
    [MOE_ROUTE] = {"moe_route", moe_route, TG_AIV,
                   "in:int32 out:int32 out:int32 out:int32 out:int32 scalar:int64"},
    [MOE_EXPERT] = {"moe_expert", moe_expert, TG_AIC,
                    "in:int8 in:int32 in:int8 in:int8 out:int8 out:int32 scalar:int64"},
    [MOE_COMBINE] = {"moe_combine", moe_combine, TG_AIV,
                     "in:int8 in:int32 in:int32 in:int32 out:int8 scalar:int64"},
    [MOE_DISPATCH] = {"moe_dispatch", moe_dispatch, TG_AIV, "in:int8 in:int32 in:int32 out:int8"},
    [MOE_SERVE] = {"moe_serve", moe_serve, TG_AIC,
                   "in:int8 in:int32 in:int8 in:int8 out:int8 out:int32 scalar:int64 scalar:int64"},
    [MOE_COLLECT] = {"moe_collect", moe_collect, TG_AIV,
                     "in:int8 in:int32 in:int32 in:int32 in:int32 out:int8 scalar:int64"},
};

static const struct tg_case_def cases[] = {
    {"small", "two layers of four experts for 32 tokens",
     "layers=2 n=32 width=16 inner=24 experts=4 tile=8 divisor=150 skew=0"},
    {"medium", "three layers of eight experts for 192 tokens",
     "layers=3 n=192 width=64 inner=96 experts=8 tile=16 divisor=300 skew=0"},
    {"skewed", "the first expert gets most of the tokens, the last one none",
     "layers=3 n=90 width=32 inner=48 experts=6 tile=8 divisor=200 skew=15000"},
    {"expert_parallel", "for 2, 4 or 8 ranks: each has some of eight experts and of 45 tokens",
     "layers=2 n=45 width=16 inner=24 experts=8 tile=8 divisor=150 skew=0"},
};

/* Within these limits a sum of products of two int8 stays below 2^23, and below 2^24 with the
 * bias. */
enum {
    MAX_LAYERS = 16,
    MAX_TOKENS = 4096,
    MAX_WIDTH = 512,
    MAX_EXPERTS = 64,
    MAX_DIVISOR = 1 << 20,
    MAX_SKEW = 1 << 20,
    MAX_WEIGHTS = 1 << 26,
};

struct sizes {
    int64_t layers, n, width, inner, experts, tile, divisor, skew;
};

static struct sizes sizes_of(struct tg_case *c)
{
    return (struct sizes){
        .layers = tg_case_int(c, "layers"),
        .n = tg_case_int(c, "n"),
        .width = tg_case_int(c, "width"),
        .inner = tg_case_int(c, "inner"),
        .experts = tg_case_int(c, "experts"),
        .tile = tg_case_int(c, "tile"),
        .divisor = tg_case_int(c, "divisor"),
        .skew = tg_case_int(c, "skew"),
    };
}

static bool in_range(int64_t size, int64_t most)
{
    return size >= 1 && size <= most;
}

/* What is wrong with the sizes, or NULL. */
static const char *complaint(struct sizes s)
{
    if (!in_range(s.layers, MAX_LAYERS) || !in_range(s.n, MAX_TOKENS))
        return "layers must be from 1 to 16, and n from 1 to 4096";
    if (!in_range(s.width, MAX_WIDTH) || !in_range(s.inner, MAX_WIDTH))
        return "width and inner must each be from 1 to 512";
    if (!in_range(s.experts, MAX_EXPERTS) || s.experts < 2)
        return "experts must be from 2 to 64: there must be a choice";
    if (s.layers * s.experts * s.width * s.inner > MAX_WEIGHTS)
        return "layers * experts * width * inner must be at most 67108864";
    if (!in_range(s.tile, MAX_TOKENS) || s.n / s.tile + s.experts > MAX_EXPERT_TASKS)
        return "tile must be from 1 to 4096, and n / tile + experts at most 256";
    if (!in_range(s.divisor, MAX_DIVISOR))
        return "divisor must be from 1 to 1048576";
    if (s.skew < 0 || s.skew > MAX_SKEW)
        return "skew must be from 0 to 1048576";
    return NULL;
}

/* What this rank has: tokens [token, token + tokens) and as many experts as every other. Alone it
 * has all of both. Tokens may be one more on some ranks; the most is the capacity of each expert
 * for each rank. */
struct share {
    int64_t token, tokens, expert, experts, capacity;
};

static struct share share_of(struct tg_case *c, struct sizes s)
{
    int64_t rank = tg_case_rank(c), ranks = tg_case_ranks(c);
    return (struct share){
        .token = s.n * rank / ranks,
        .tokens = s.n * (rank + 1) / ranks - s.n * rank / ranks,
        .expert = s.experts / ranks * rank,
        .experts = s.experts / ranks,
        .capacity = (s.n + ranks - 1) / ranks,
    };
}

/* What is wrong with the sizes for this number of ranks, or NULL. */
static const char *complaint_of_ranks(struct sizes s, int64_t ranks)
{
    int64_t capacity = (s.n + ranks - 1) / ranks;
    if (s.experts % ranks || s.n < ranks)
        return "experts must be a multiple of the number of ranks, and n at least that number";
    if (ranks > 1 && s.experts * ((capacity + s.tile - 1) / s.tile) > MAX_EXPERT_TASKS)
        return "on several ranks experts * n / ranks / tile must be at most 256: raise the tile";
    return NULL;
}

/* Blocks [from, from + n) of each of `rows` rows of `blocks`. */
struct part {
    int64_t rows, blocks, size; /* size: elements of a block */
    int64_t from, n;
};

/* A part of whole numbers from -64 to 64. The number at a place depends on the whole, so that all
 * ranks together have what one device has. */
static void fill(int8_t *x, struct part p, uint32_t seed)
{
    for (int64_t i = 0; i < p.rows * p.blocks; i++) {
        int64_t block = i % p.blocks;
        bool is_in = block >= p.from && block < p.from + p.n;
        for (int64_t k = 0; k < p.size; k++) {
            seed = seed * 1664525u + 1013904223u;
            if (is_in)
                *x++ = (int8_t)((int)((seed >> 16) % 129) - 64);
        }
    }
}

/* The weights of experts [from, from + n) in all layers. */
static struct part experts_of(struct sizes s, int64_t from, int64_t n)
{
    return (struct part){s.layers, s.experts, s.width * s.inner, from, n};
}

/* In every layer the first expert gets a bias of `skew`, and the last one minus four times that. */
static void fill_biases(int32_t *bias, struct sizes s)
{
    for (int64_t i = 0; i < s.layers; i++) {
        bias[i * s.experts] = (int32_t)s.skew;
        bias[(i + 1) * s.experts - 1] = (int32_t)(-4 * s.skew);
    }
}

static void prepare(struct tg_case *c)
{
    struct sizes s = sizes_of(c);
    const char *wrong = complaint(s);
    if (!wrong)
        wrong = complaint_of_ranks(s, tg_case_ranks(c));
    if (wrong) {
        tg_case_fail(c, wrong);
        return;
    }
    struct share own = share_of(c, s);
    const int64_t tokens[2] = {own.tokens, s.width};
    const int64_t gates[3] = {s.layers, s.width, s.experts};
    const int64_t loads[2] = {s.layers, s.experts};
    const int64_t up[4] = {s.layers, own.experts, s.width, s.inner};
    const int64_t down[4] = {s.layers, own.experts, s.inner, s.width};
    struct part of_tokens = {1, s.n, s.width, own.token, own.tokens};
    struct part of_gates = {1, 1, s.layers * s.width * s.experts, 0, 1};
    struct part of_experts = experts_of(s, own.expert, own.experts);

    fill(tg_case_tensor(c, "x", TG_IN, TG_INT8, 2, tokens), of_tokens, 1);
    fill(tg_case_tensor(c, "gate", TG_IN, TG_INT8, 3, gates), of_gates, 2);
    fill_biases(tg_case_tensor(c, "bias", TG_IN, TG_INT32, 2, loads), s);
    fill(tg_case_tensor(c, "w1", TG_IN, TG_INT8, 4, up), of_experts, 3);
    fill(tg_case_tensor(c, "w2", TG_IN, TG_INT8, 4, down), of_experts, 4);
    tg_case_tensor(c, "counts", TG_OUT, TG_INT32, 2, loads);
    tg_case_tensor(c, "y", TG_OUT, TG_INT8, 2, tokens);
    tg_case_scalar(c, "tile", TG_INT64, (uint64_t)s.tile);
    tg_case_scalar(c, "divisor", TG_INT64, (uint64_t)s.divisor);
    if (tg_case_ranks(c) > 1)
        tg_case_scalar(c, "capacity", TG_INT64, (uint64_t)own.capacity);
}

/* The weights of all experts. A rank that has some of them makes the others' again. */
struct weights {
    const int8_t *w1, *w2;
    int8_t *made; /* of several ranks: memory of both */
};

static struct weights weights_of(struct tg_case *c, struct sizes s)
{
    int64_t n = s.layers * s.experts * s.width * s.inner;
    struct weights w = {tg_case_input(c, "w1"), tg_case_input(c, "w2"), NULL};
    if (tg_case_ranks(c) == 1)
        return w;
    w.made = calloc((size_t)(2 * n), 1);
    if (!w.made) {
        tg_case_fail(c, "no memory for the experts of all ranks: make width or inner smaller");
        return w;
    }
    fill(w.made, experts_of(s, 0, s.experts), 3);
    fill(w.made + n, experts_of(s, 0, s.experts), 4);
    w.w1 = w.made;
    w.w2 = w.made + n;
    return w;
}

/* One layer's weights. */
struct layer {
    struct sizes s;
    const int8_t *gate, *w1, *w2;
    const int32_t *bias;
};

static struct layer layer_of(struct tg_case *c, struct sizes s, const struct weights *w, int64_t i)
{
    int64_t in_experts = s.experts * s.width * s.inner;
    return (struct layer){
        .s = s,
        .gate = (const int8_t *)tg_case_input(c, "gate") + i * s.width * s.experts,
        .w1 = w->w1 + i * in_experts,
        .w2 = w->w2 + i * in_experts,
        .bias = (const int32_t *)tg_case_input(c, "bias") + i * s.experts,
    };
}

static int64_t within(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static int64_t logit(const struct layer *l, const int8_t *x, int64_t expert)
{
    int64_t sum = l->bias[expert];
    for (int64_t k = 0; k < l->s.width; k++)
        sum += (int64_t)x[k] * l->gate[k * l->s.experts + expert];
    return sum;
}

/* The expert that one token goes to, and how much its answer counts. */
static int64_t choose(const struct layer *l, const int8_t *x, int64_t *weight)
{
    int64_t best = 0, next = INT64_MIN;
    for (int64_t e = 1; e < l->s.experts; e++)
        if (logit(l, x, e) > logit(l, x, best))
            best = e;
    for (int64_t e = 0; e < l->s.experts; e++)
        if (e != best && logit(l, x, e) > next)
            next = logit(l, x, e);
    *weight = within(GATE_ONE / 2 + (logit(l, x, best) - next) / l->s.divisor, 0, GATE_ONE);
    return best;
}

/* Sends one token through one layer, in place. Returns its expert. */
static int64_t one_token(const struct layer *l, int8_t *x)
{
    int64_t width = l->s.width, inner = l->s.inner, divisor = l->s.divisor, weight;
    int64_t expert = choose(l, x, &weight);
    const int8_t *w1 = l->w1 + expert * width * inner, *w2 = l->w2 + expert * inner * width;
    int64_t hidden[MAX_WIDTH] = {0};
    for (int64_t j = 0; j < inner; j++) {
        for (int64_t k = 0; k < width; k++)
            hidden[j] += (int64_t)x[k] * w1[k * inner + j];
        hidden[j] = within(hidden[j] / divisor, 0, INT8_LIMIT);
    }
    for (int64_t k = 0; k < width; k++) {
        int64_t sum = 0;
        for (int64_t j = 0; j < inner; j++)
            sum += hidden[j] * w2[j * width + k];
        x[k] = (int8_t)within(x[k] + weight * sum / (divisor * GATE_ONE), -INT8_LIMIT, INT8_LIMIT);
    }
    return expert;
}

/* Computes token by token instead of expert by expert; with whole numbers the outputs are the
 * same. A token needs no other, so that each rank computes its own, with the experts of all. */
static void golden(struct tg_case *c)
{
    struct sizes s = sizes_of(c);
    int64_t tokens = share_of(c, s).tokens;
    int8_t *y = tg_case_expect_exact(c, "y");
    int32_t *counts = tg_case_expect_exact(c, "counts");
    const int8_t *x = tg_case_input(c, "x");
    struct weights w = weights_of(c, s);
    memcpy(y, x, (size_t)(tokens * s.width));
    memset(counts, 0, (size_t)(s.layers * s.experts) * sizeof *counts);
    for (int64_t i = 0; i < s.layers; i++) {
        struct layer l = layer_of(c, s, &w, i);
        for (int64_t token = 0; token < tokens; token++)
            counts[i * s.experts + one_token(&l, y + token * s.width)]++;
    }
    free(w.made);
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "moe",
    .summary = "mixture of experts: the device reads how many tokens chose each and submits tasks",
    .kernels = kernels,
    .n_kernels = MOE_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = moe,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
    .communicates = 1,
};
