/* SPDX-License-Identifier: Apache-2.0 */
#include "paged_attention.h"

#include <math.h>
#include <string.h>
#include <taskglass/math.h>
#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[PAGED_KERNELS] = {
    [PAGED_START] = {"paged_start", paged_start, TG_AIV, "out:float32 out:float32 out:float32"},
    [PAGED_QK] = {"paged_qk", paged_qk, TG_AIC,
                  "in:float32 in in:int32 in:int32 out:float32 scalar:int64 scalar:float32"},
    [PAGED_SOFTMAX] = {"paged_softmax", paged_softmax, TG_AIV,
                       "in:float32 inout:float32 inout:float32 out:float32 out:float32"},
    [PAGED_PV] = {"paged_pv", paged_pv, TG_AIC, "in:float32 in in:int32 out:float32"},
    [PAGED_UPDATE] = {"paged_update", paged_update, TG_AIV, "in:float32 in:float32 inout:float32"},
    [PAGED_FINISH] = {"paged_finish", paged_finish, TG_AIV, "in:float32 in:float32 out:float32"},
};

static const struct tg_case_def cases[] = {
    {"small", "two sequences, two query heads for each head of the cache",
     "batch=2 heads=4 kv_heads=2 head_dim=16 block=8 context=32 shorter=8 blocks=20 dtype=float32"},
    {"medium", "six sequences of 80 to 160 tokens, some hundred tasks",
     "batch=6 heads=8 kv_heads=4 head_dim=32 block=16 context=160 shorter=16 blocks=60 "
     "dtype=float32"},
    {"ragged", "last blocks that are not full, and a context of one token",
     "batch=5 heads=3 kv_heads=1 head_dim=24 block=16 context=77 shorter=19 blocks=25 "
     "dtype=float32"},
    {"bfloat16", "a cache of half the size",
     "batch=4 heads=8 kv_heads=2 head_dim=32 block=16 context=100 shorter=7 blocks=30 "
     "dtype=bfloat16"},
    {"large", "heads and blocks of a usual size, in float16",
     "batch=2 heads=16 kv_heads=2 head_dim=128 block=64 context=500 shorter=100 blocks=20 "
     "dtype=float16"},
    {"scopes", "8192 scopes of four tiny tasks; sequences share blocks",
     "batch=32 heads=2 kv_heads=1 head_dim=4 block=2 context=512 shorter=0 blocks=16 "
     "dtype=float32"},
};

enum {
    MAX_BATCH = 256,
    MAX_HEADS = 64,
    MAX_HEAD_DIM = 256,
    MAX_BLOCK = 256,
    MAX_CONTEXT = 65536,
    MAX_BLOCKS = 65536,
    MAX_CACHE = 1 << 26,
};

struct sizes {
    int64_t batch, heads, kv_heads, head_dim, block, context, shorter, blocks;
    int64_t entries; /* entries of the block table for each sequence */
    enum tg_dtype dtype;
};

/* Types that a float32 holds without rounding. */
static enum tg_dtype cache_type(const char *name)
{
    return strcmp(name, "float32") == 0    ? TG_FLOAT32
           : strcmp(name, "float16") == 0  ? TG_FLOAT16
           : strcmp(name, "bfloat16") == 0 ? TG_BFLOAT16
                                           : TG_DTYPE_NONE;
}

static struct sizes sizes_of(struct tg_case *c)
{
    struct sizes s = {
        .batch = tg_case_int(c, "batch"),
        .heads = tg_case_int(c, "heads"),
        .kv_heads = tg_case_int(c, "kv_heads"),
        .head_dim = tg_case_int(c, "head_dim"),
        .block = tg_case_int(c, "block"),
        .context = tg_case_int(c, "context"),
        .shorter = tg_case_int(c, "shorter"),
        .blocks = tg_case_int(c, "blocks"),
        .dtype = cache_type(tg_case_text(c, "dtype")),
    };
    s.entries = s.block > 0 ? (s.context - 1) / s.block + 1 : 0;
    return s;
}

static bool in_range(int64_t size, int64_t most)
{
    return size >= 1 && size <= most;
}

/* What is wrong with the sizes, or NULL. */
static const char *complaint(struct sizes s)
{
    if (!in_range(s.batch, MAX_BATCH) || !in_range(s.head_dim, MAX_HEAD_DIM) ||
        !in_range(s.block, MAX_BLOCK))
        return "batch, head_dim and block must each be from 1 to 256";
    if (!in_range(s.heads, MAX_HEADS) || !in_range(s.kv_heads, s.heads) || s.heads % s.kv_heads)
        return "heads must be from 1 to 64, and a multiple of kv_heads";
    if (!in_range(s.context, MAX_CONTEXT) || s.shorter < 0 || s.shorter > s.context)
        return "context must be from 1 to 65536, and shorter from 0 to context";
    if (!in_range(s.blocks, MAX_BLOCKS) || s.blocks * s.block * s.kv_heads * s.head_dim > MAX_CACHE)
        return "blocks must be from 1 to 65536, and a cache at most 67108864 elements";
    if (s.dtype == TG_DTYPE_NONE)
        return "dtype must be float32, float16 or bfloat16";
    return NULL;
}

/* Numbers from -1 to 1, rounded to the type. */
static void fill(void *x, enum tg_dtype dtype, int64_t n, uint32_t seed)
{
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        tg_store(dtype, x, i, (double)(seed >> 8) / 8388608.0 - 1.0);
    }
}

/* Tokens in the context of a sequence: the first sequence has the longest context, each further one
 * has `shorter` tokens less, and each has at least one token. */
static int64_t context_length(struct sizes s, int64_t sequence)
{
    int64_t length = s.context - sequence * s.shorter;
    return length > 1 ? length : 1;
}

/*
 * Scatters the blocks, as in a cache where sequences have come and gone; table entries past the
 * context are -1. If there are enough blocks none is used twice, because the factor is prime. If
 * not, contexts share some, like sequences with a common beginning.
 */
static void fill_table(struct sizes s, int32_t *table, int32_t *lengths)
{
    const int64_t prime = 1000003;
    for (int64_t b = 0; b < s.batch; b++) {
        lengths[b] = (int32_t)context_length(s, b);
        for (int64_t j = 0; j < s.entries; j++) {
            int64_t number = (b * s.entries + j) * prime % s.blocks;
            table[b * s.entries + j] = j * s.block < lengths[b] ? (int32_t)number : -1;
        }
    }
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
    const int64_t heads[3] = {s.batch, s.heads, s.head_dim};
    const int64_t cache[4] = {s.blocks, s.block, s.kv_heads, s.head_dim};
    const int64_t table[2] = {s.batch, s.entries};
    int64_t in_cache = s.blocks * s.block * s.kv_heads * s.head_dim;

    fill(tg_case_tensor(c, "q", TG_IN, TG_FLOAT32, 3, heads), TG_FLOAT32,
         s.batch * s.heads * s.head_dim, 1);
    fill(tg_case_tensor(c, "k_cache", TG_IN, s.dtype, 4, cache), s.dtype, in_cache, 2);
    fill(tg_case_tensor(c, "v_cache", TG_IN, s.dtype, 4, cache), s.dtype, in_cache, 3);
    int32_t *entries = tg_case_tensor(c, "block_table", TG_IN, TG_INT32, 2, table);
    fill_table(s, entries, tg_case_tensor(c, "lengths", TG_IN, TG_INT32, 1, &s.batch));
    tg_case_tensor(c, "out", TG_OUT, TG_FLOAT32, 3, heads);
    tg_case_scalar(c, "scale", TG_FLOAT32, tg_encode(TG_FLOAT32, (double)scale_of(s)));
}

/* The inputs, and which query head of which sequence asks. */
struct query {
    struct sizes s;
    const float *q; /* head_dim */
    const void *k, *v;
    const int32_t *table; /* of the sequence */
    int64_t length, kv_head;
};

static struct query query_of(struct tg_case *c, struct sizes s, int64_t sequence, int64_t head)
{
    return (struct query){
        .s = s,
        .q = (const float *)tg_case_input(c, "q") + (sequence * s.heads + head) * s.head_dim,
        .k = tg_case_input(c, "k_cache"),
        .v = tg_case_input(c, "v_cache"),
        .table = (const int32_t *)tg_case_input(c, "block_table") + sequence * s.entries,
        .length = ((const int32_t *)tg_case_input(c, "lengths"))[sequence],
        .kv_head = head / (s.heads / s.kv_heads),
    };
}

/* Where a token's vector begins in a cache, counted in elements. */
static int64_t place(const struct query *a, int64_t token)
{
    int64_t block = a->table[token / a->s.block];
    return ((block * a->s.block + token % a->s.block) * a->s.kv_heads + a->kv_head) * a->s.head_dim;
}

/* The score of one token, and in `size` the same sum with every term made positive. */
static double score(const struct query *a, int64_t token, double *size)
{
    int64_t at = place(a, token);
    double scale = (double)scale_of(a->s), sum = 0;
    *size = 0;
    for (int64_t e = 0; e < a->s.head_dim; e++) {
        double term = scale * (double)a->q[e] * tg_load(a->s.dtype, a->k, at + e);
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

/* Plain softmax: all scores, their maximum, and the weighted mean of the values. */
static void attend(const struct query *a, double *out)
{
    double largest = -INFINITY, sum = 0, size;
    for (int64_t token = 0; token < a->length; token++)
        largest = fmax(largest, score(a, token, &size));
    for (int64_t e = 0; e < a->s.head_dim; e++)
        out[e] = 0;
    for (int64_t token = 0; token < a->length; token++) {
        double weight = exp(score(a, token, &size) - largest);
        sum += weight;
        for (int64_t e = 0; e < a->s.head_dim; e++)
            out[e] += weight * tg_load(a->s.dtype, a->v, place(a, token) + e);
    }
    for (int64_t e = 0; e < a->s.head_dim; e++)
        out[e] /= sum;
}

/* The largest sum of magnitudes of a score; the error of a score is relative to it. */
static double largest_score(struct tg_case *c, struct sizes s)
{
    double largest = 0, size;
    for (int64_t i = 0; i < s.batch * s.heads; i++) {
        struct query a = query_of(c, s, i / s.heads, i % s.heads);
        for (int64_t token = 0; token < a.length; token++) {
            score(&a, token, &size);
            largest = fmax(largest, size);
        }
    }
    return largest;
}

/* The largest possible error of a sum, relative to the sum of its terms' magnitudes, if no term
 * goes through more than n roundings. */
static double rounding(int64_t n)
{
    const double u = 0x1p-24;
    return (double)n * u / (1 - (double)n * u);
}

/*
 * The tolerance is float32's error bound for this algorithm. u is 2^-24 and g(n), above, the bound
 * of a sum (Higham, Accuracy and Stability of Numerical Algorithms, chapter 3); T is the largest
 * scale·|q|·|k|ᵀ, and B the number of blocks. A token's weight, as it ends up in total and sum,
 * differs from what it should be by a factor that comes from
 *   - its score, off by g(head_dim + 1)·T, in the exponent;
 *   - the differences with which e^x is called, each rounded: they go from the score down to the
 *     last maximum without overlap, so that together they are off by u·2T, in the exponent;
 *   - e^x itself, called once for its block and once for each block after it: B·e, where e is what
 *     taskglass/math.h states, in ulp, and an ulp is at most 2u of the value;
 *   - being multiplied by a value and added up in its block, corrected and added to in each of
 *     the others: g(block + 1 + 2B).
 * If that factor is within 1 ± h for all, then so are total (of the sum of magnitudes) and sum, and
 * the quotient is off by (2h / (1 - h) + u)·max|v|, for the mean of magnitudes is at most their
 * maximum, 1. For many blocks the bound is far above the errors that occur, because it assumes that
 * all roundings err in the same direction. But a block that is left out, taken twice or not masked
 * causes an error beyond it.
 */
static double tolerance(struct sizes s, double largest)
{
    const double u = 0x1p-24;
    double exponent = (rounding(s.head_dim + 1) + 2 * u) * largest;
    double h = exp(exponent + (double)s.entries * tg_exp_f32_ulp() * 2 * u) *
                   (1 + rounding(s.block + 1 + 2 * s.entries)) -
               1;
    return 2 * h / (1 - h) + u;
}

static void golden(struct tg_case *c)
{
    struct sizes s = sizes_of(c);
    double *out = tg_case_expect(c, "out", tolerance(s, largest_score(c, s)), 0);
    for (int64_t i = 0; i < s.batch * s.heads; i++) {
        struct query a = query_of(c, s, i / s.heads, i % s.heads);
        attend(&a, out + i * s.head_dim);
    }
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "paged_attention",
    .summary = "attention over a cache in blocks, with online softmax and a scope for each block",
    .kernels = kernels,
    .n_kernels = PAGED_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = paged_attention,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
