/* SPDX-License-Identifier: Apache-2.0 */
#include "ring_attention.h"

#include <math.h>
#include <stdlib.h>
#include <taskglass/math.h>
#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[RING_KERNELS] = {
    [RING_START] = {"ring_start", ring_start, TG_AIV, "out:float32 out:float32 out:float32"},
    [RING_SCORES] = {"ring_scores", ring_scores, TG_AIC,
                     "in:float32 in:float32 out:float32 scalar:int64 scalar:float32"},
    [RING_SOFTMAX] = {"ring_softmax", ring_softmax, TG_AIV,
                      "in:float32 inout:float32 inout:float32 out:float32 out:float32"},
    [RING_VALUES] = {"ring_values", ring_values, TG_AIC,
                     "in:float32 in:float32 in:float32 inout:float32"},
    [RING_FINISH] = {"ring_finish", ring_finish, TG_AIV, "in:float32 in:float32 out:float32"},
};

static const struct tg_case_def cases[] = {
    {"small", "48 tokens, each of which sees all", "tokens=48 heads=2 head_dim=16 tile=8 causal=0"},
    {"causal", "a token sees those before it only",
     "tokens=48 heads=2 head_dim=16 tile=8 causal=1"},
    {"medium", "some hundred tasks, heads of a usual width",
     "tokens=256 heads=4 head_dim=64 tile=32 causal=1"},
    {"ragged", "tokens divide by neither the tile nor the ranks",
     "tokens=53 heads=3 head_dim=10 tile=6 causal=1"},
    {"one", "a single tile", "tokens=8 heads=1 head_dim=8 tile=8 causal=0"},
};

enum { MAX_TOKENS = 65536, MAX_HEADS = 64, MAX_HEAD_DIM = 256, MAX_ELEMENTS = 1 << 26 };

struct sizes {
    int64_t tokens, heads, head_dim, tile, causal;
    int64_t rank, ranks;
    int64_t first, own; /* this rank's tokens */
};

static struct sizes sizes_of(struct tg_case *c)
{
    struct sizes s = {
        .tokens = tg_case_int(c, "tokens"),
        .heads = tg_case_int(c, "heads"),
        .head_dim = tg_case_int(c, "head_dim"),
        .tile = tg_case_int(c, "tile"),
        .causal = tg_case_int(c, "causal"),
        .rank = tg_case_rank(c),
        .ranks = tg_case_ranks(c),
    };
    return s;
}

static bool in_range(int64_t size, int64_t most)
{
    return size >= 1 && size <= most;
}

static int64_t tiles_along(int64_t size, int64_t tile)
{
    return (size + tile - 1) / tile;
}

/* What is wrong with the sizes, or NULL. */
static const char *complaint(struct sizes s)
{
    if (!in_range(s.tokens, MAX_TOKENS) || !in_range(s.tile, MAX_TOKENS))
        return "tokens and tile must each be from 1 to 65536";
    if (!in_range(s.heads, MAX_HEADS) || !in_range(s.head_dim, MAX_HEAD_DIM))
        return "heads must be from 1 to 64, and head_dim from 1 to 256";
    if (s.tokens * s.heads * s.head_dim > MAX_ELEMENTS)
        return "tokens * heads * head_dim must be at most 67108864";
    if (s.causal < 0 || s.causal > 1)
        return "causal must be 0 or 1";
    if (s.tokens < s.ranks)
        return "tokens must be at least the number of ranks: each has some of them";
    if (s.heads * tiles_along(tiles_along(s.tokens, s.ranks), s.tile) > RING_MAX_TILES)
        return "heads * tokens / ranks / tile must be at most 256: raise the tile";
    return NULL;
}

/* Tokens [first, first + n) of every head, with numbers from -1 to 1. The number at a place depends
 * on the whole sequence, so that all ranks together have what one device has. */
static void fill(float *x, struct sizes s, int64_t first, int64_t n, uint32_t seed)
{
    for (int64_t i = 0; i < s.heads * s.tokens; i++) {
        int64_t token = i % s.tokens - first;
        for (int64_t e = 0; e < s.head_dim; e++) {
            seed = seed * 1664525u + 1013904223u;
            if (token >= 0 && token < n)
                *x++ = (float)(seed >> 8) / 8388608.0f - 1.0f;
        }
    }
}

enum { Q_SEED = 1, K_SEED, V_SEED };

static struct sizes with_own(struct sizes s)
{
    s.first = ring_first(s.tokens, s.rank, s.ranks);
    s.own = ring_first(s.tokens, s.rank + 1, s.ranks) - s.first;
    return s;
}

static float scale_of(struct sizes s)
{
    return (float)(1 / sqrt((double)s.head_dim));
}

static void prepare(struct tg_case *c)
{
    struct sizes s = sizes_of(c);
    const char *wrong = complaint(s);
    if (wrong) {
        tg_case_fail(c, wrong);
        return;
    }
    s = with_own(s);
    const int64_t shape[3] = {s.heads, s.own, s.head_dim};
    fill(tg_case_tensor(c, "q", TG_IN, TG_FLOAT32, 3, shape), s, s.first, s.own, Q_SEED);
    fill(tg_case_tensor(c, "k", TG_IN, TG_FLOAT32, 3, shape), s, s.first, s.own, K_SEED);
    fill(tg_case_tensor(c, "v", TG_IN, TG_FLOAT32, 3, shape), s, s.first, s.own, V_SEED);
    tg_case_tensor(c, "out", TG_OUT, TG_FLOAT32, 3, shape);
    tg_case_scalar(c, "scale", TG_FLOAT32, tg_encode(TG_FLOAT32, (double)scale_of(s)));
    tg_case_scalar(c, "tokens", TG_INT64, (uint64_t)s.tokens);
    tg_case_scalar(c, "tile", TG_INT64, (uint64_t)s.tile);
    tg_case_scalar(c, "causal", TG_INT64, (uint64_t)s.causal);
}

/* The keys and values of all ranks, and one query. */
struct query {
    struct sizes s;
    const float *q;     /* head_dim */
    const float *k, *v; /* of its head: tokens, head_dim */
    int64_t seen;       /* it sees the tokens before this one */
};

/* Query `i` of this rank, counted over all heads. */
static struct query query_of(struct sizes s, const float *q, const float *k, const float *v,
                             int64_t i)
{
    int64_t of_head = i / s.own * s.tokens * s.head_dim;
    return (struct query){s, q + i * s.head_dim, k + of_head, v + of_head,
                          s.causal ? s.first + i % s.own + 1 : s.tokens};
}

/* The score of one token, and in `size` the same sum with every term made positive. */
static double score(const struct query *a, int64_t token, double *size)
{
    double scale = (double)scale_of(a->s), sum = 0;
    *size = 0;
    for (int64_t e = 0; e < a->s.head_dim; e++) {
        double term = scale * (double)a->q[e] * (double)a->k[token * a->s.head_dim + e];
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

/* Plain softmax: all scores, their maximum, and the weighted mean of the values. Returns the
 * largest sum of magnitudes of a score; the error of a score is relative to it. */
static double attend(const struct query *a, double *out)
{
    double largest = -INFINITY, sum = 0, size, largest_size = 0;
    for (int64_t token = 0; token < a->seen; token++) {
        largest = fmax(largest, score(a, token, &size));
        largest_size = fmax(largest_size, size);
    }
    for (int64_t e = 0; e < a->s.head_dim; e++)
        out[e] = 0;
    for (int64_t token = 0; token < a->seen; token++) {
        double weight = exp(score(a, token, &size) - largest);
        sum += weight;
        for (int64_t e = 0; e < a->s.head_dim; e++)
            out[e] += weight * (double)a->v[token * a->s.head_dim + e];
    }
    for (int64_t e = 0; e < a->s.head_dim; e++)
        out[e] /= sum;
    return largest_size;
}

/* The largest possible error of a sum, relative to the sum of its terms' magnitudes, if no term
 * goes through more than n roundings. */
static double rounding(int64_t n)
{
    const double u = 0x1p-24;
    return (double)n * u / (1 - (double)n * u);
}

/*
 * The tolerance is float32's error bound for this algorithm, in whatever order blocks come around
 * the ring. u is 2^-24 and g(n), above, the bound of a sum (Higham, Accuracy and Stability of
 * Numerical Algorithms, chapter 3); T is the largest scale·|q|·|k|ᵀ, and B the number of tiles of
 * keys on all ranks. A token's weight, as it ends up in total and sum, differs from what it should
 * be by a factor that comes from
 *   - its score, off by g(head_dim + 1)·T, in the exponent;
 *   - the differences with which e^x is called, each rounded: they go from the score down to the
 *     last maximum without overlap, so that together they are off by u·2T, in the exponent;
 *   - e^x itself, called once for its tile and once for each tile after it: B·e, where e is what
 *     taskglass/math.h states, in ulp, and an ulp is at most 2u of the value;
 *   - being multiplied by a value and added up in its tile, corrected and added to in each of
 *     the others: g(tile + 1 + 2B).
 * If that factor is within 1 ± h for all, then so are total (of the sum of magnitudes) and sum, and
 * the quotient is off by (2h / (1 - h) + u)·max|v|, for the mean of magnitudes is at most their
 * maximum, 1. A block that is left out or taken twice causes an error far beyond it.
 */
static double tolerance(struct sizes s, double largest)
{
    const double u = 0x1p-24;
    int64_t tiles = 0;
    for (int64_t rank = 0; rank < s.ranks; rank++)
        tiles += tiles_along(
            ring_first(s.tokens, rank + 1, s.ranks) - ring_first(s.tokens, rank, s.ranks), s.tile);
    double exponent = (rounding(s.head_dim + 1) + 2 * u) * largest;
    double h = exp(exponent + (double)tiles * tg_exp_f32_ulp() * 2 * u) *
                   (1 + rounding(s.tile + 1 + 2 * tiles)) -
               1;
    return 2 * h / (1 - h) + u;
}

/* This rank's outputs, from its queries and the keys and values of all ranks, which it makes again.
 * */
static void golden(struct tg_case *c)
{
    struct sizes s = with_own(sizes_of(c));
    int64_t all = s.heads * s.tokens * s.head_dim, queries = s.heads * s.own;
    const float *q = tg_case_input(c, "q"), *k = tg_case_input(c, "k"), *v = tg_case_input(c, "v");
    float *made = calloc((size_t)(2 * all), sizeof *made);
    double *out = calloc((size_t)(queries * s.head_dim), sizeof *out), largest = 0;

    if (!made || !out) {
        free(made);
        free(out);
        tg_case_fail(c, "no memory for the golden values: make tokens or heads smaller");
        return;
    }
    if (s.ranks > 1) {
        fill(made, s, 0, s.tokens, K_SEED);
        fill(made + all, s, 0, s.tokens, V_SEED);
        k = made;
        v = made + all;
    }
    for (int64_t i = 0; i < queries; i++) {
        struct query a = query_of(s, q, k, v, i);
        largest = fmax(largest, attend(&a, out + i * s.head_dim));
    }
    double *expected = tg_case_expect(c, "out", tolerance(s, largest), 0);
    for (int64_t i = 0; i < queries * s.head_dim; i++)
        expected[i] = out[i];
    free(made);
    free(out);
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "ring_attention",
    .summary = "attention over ranks: keys and values go around a ring while blocks are computed",
    .kernels = kernels,
    .n_kernels = RING_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = ring_attention,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
    .communicates = 1,
};
