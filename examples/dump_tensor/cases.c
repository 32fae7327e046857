/* SPDX-License-Identifier: Apache-2.0 */
#include "dump_tensor.h"

#include <math.h>
#include <taskglass/workload.h>

#define SCALAR_TYPES                                                                     \
    "scalar:float64 scalar:float32 scalar:float16 scalar:bfloat16 scalar:float8_e4m3fn " \
    "scalar:float8_e5m2 scalar:float8_e8m0fnu scalar:int64 scalar:int32 scalar:int16 "   \
    "scalar:int8 scalar:uint64 scalar:uint32 scalar:uint16 scalar:uint8 scalar:bool"
#define MIX_ARGS "in:float32 out:float32 out:float32 scalar:float64 scalar:float32"

static const struct tg_kernel_def kernels[DUMP_KERNELS] = {
    [DUMP_ADD] = {"dump_add", dump_add, TG_AIV, "in in out"},
    [DUMP_ADD_SCALAR] = {"dump_add_scalar", dump_add_scalar, TG_AIV,
                         "inout:float32 scalar:float32"},
    [DUMP_ACCUMULATE] = {"dump_accumulate", dump_accumulate, TG_AIV, "in:float32 inout:float32"},
    [DUMP_COPY] = {"dump_copy", dump_copy, TG_AIV, "in out"},
    [DUMP_TRANSPOSE] = {"dump_transpose", dump_transpose, TG_AIC, "in out"},
    [DUMP_SCALARS] = {"dump_scalars", dump_scalars, TG_AIV, "out:uint64 " SCALAR_TYPES},
    [DUMP_SCALE] = {"dump_scale", dump_scale, TG_AIC, MIX_ARGS},
    [DUMP_FOLD] = {"dump_fold", dump_fold, TG_AIV, MIX_ARGS},
};

/* An odd n leaves half of the last byte of a 4-bit tensor unused. */
static const struct tg_case_def cases[] = {
    {"small", "tensors that fit on a screen", "n=13"},
    {"large", "the same tasks with tensors of up to 8 MiB", "n=262144"},
};

enum { ROWS = 4, CUBE_DIMS = 8 };
static const int64_t cube_shape[CUBE_DIMS] = {2, 1, 3, 1, 2, 1, 2, 2};
static const int64_t turned_shape[CUBE_DIMS] = {2, 2, 1, 2, 1, 3, 1, 2};
enum { CUBE_ELEMENTS = 48 };

/* Whole numbers from -500 to 500, the same on every machine. */
static int64_t number(int64_t i, int64_t start)
{
    return (i * 7919 + start) % 1001 - 500;
}

/* Quarters: their sums and products with 2 are exact in float32. */
static void fill_floats(float *x, int64_t n, int64_t start)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)number(i, start) / 4;
}

static void fill_nibbles(uint8_t *x, int64_t n, int64_t start)
{
    for (int64_t i = 0; i < n; i++)
        x[i / 2] |= (uint8_t)((number(i, start) + 500) % 16 << (i % 2 * 4));
}

static void prepare_inputs(struct tg_case *c, int64_t n)
{
    fill_floats(tg_case_tensor(c, "a", TG_IN, TG_FLOAT32, 1, &n), n, 1);
    fill_floats(tg_case_tensor(c, "b", TG_IN, TG_FLOAT32, 1, &n), n, 2);
    fill_floats(tg_case_tensor(c, "total", TG_INOUT, TG_FLOAT32, 1, &n), n, 3);
    int32_t *matrix = tg_case_tensor(c, "matrix", TG_IN, TG_INT32, 2, ((int64_t[]){ROWS, 2 * n}));
    for (int64_t i = 0; i < ROWS * 2 * n; i++)
        matrix[i] = (int32_t)number(i, 4);
    fill_nibbles(tg_case_tensor(c, "nibbles", TG_INOUT, TG_INT4, 1, &n), n, 5);
    fill_nibbles(tg_case_tensor(c, "codes", TG_IN, TG_FLOAT4_E2M1FN, 1, &n), n, 6);
    int16_t *cube = tg_case_tensor(c, "cube", TG_IN, TG_INT16, CUBE_DIMS, cube_shape);
    for (int64_t i = 0; i < CUBE_ELEMENTS; i++)
        cube[i] = (int16_t)(60 * number(i, 7));
    tg_case_tensor(c, "empty", TG_IN, TG_UINT8, 2, ((int64_t[]){0, 4}));
    *(double *)tg_case_tensor(c, "point", TG_IN, TG_FLOAT64, 0, NULL) = 42;
}

static void prepare(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n");
    if (n < 3 || n > 1 << 22) {
        tg_case_fail(c, "n must be from 3 to 4194304");
        return;
    }
    prepare_inputs(c, n);
    tg_case_tensor(c, "pairs", TG_OUT, TG_INT32, 2, ((int64_t[]){2 * ROWS, n}));
    tg_case_tensor(c, "turned", TG_OUT, TG_INT32, 2, ((int64_t[]){2 * n, ROWS}));
    tg_case_tensor(c, "wide", TG_OUT, TG_FLOAT32, 2, ((int64_t[]){2, n - 1}));
    tg_case_tensor(c, "mixed", TG_OUT, TG_FLOAT32, 1, &n);
    tg_case_tensor(c, "bits", TG_OUT, TG_UINT64, 2, ((int64_t[]){SCALAR_SETS, TYPED_SCALARS}));
    tg_case_tensor(c, "turned_cube", TG_OUT, TG_INT16, CUBE_DIMS, turned_shape);
    tg_case_tensor(c, "count", TG_OUT, TG_INT64, 0, NULL);
    tg_case_scalar(c, "step", TG_FLOAT32, 0x3f000000); /* 0.5 */
    /* No task gets these two; they only appear among the arguments of the orchestration. */
    tg_case_scalar(c, "most", TG_UINT64, UINT64_MAX);
    tg_case_scalar(c, "nothing", TG_FLOAT64, 0x7ff8000000000000); /* NaN */
}

static unsigned nibble(const uint8_t *x, int64_t i)
{
    return x[i / 2] >> (i % 2 * 4) & 15u;
}

static void expect_sums(struct tg_case *c, int64_t n)
{
    const float *a = tg_case_input(c, "a"), *b = tg_case_input(c, "b");
    const float *before = tg_case_input(c, "total");
    float *total = tg_case_expect_exact(c, "total"), *mixed = tg_case_expect_exact(c, "mixed");
    for (int64_t i = 0; i < n; i++) {
        total[i] = before[i] + 0.5f + (a[i] + b[i]);
        mixed[i] = 2 * a[i] - 2 * a[n - 1 - i];
    }
}

static void expect_views(struct tg_case *c, int64_t n)
{
    const int32_t *matrix = tg_case_input(c, "matrix");
    const int16_t *cube = tg_case_input(c, "cube");
    int32_t *pairs = tg_case_expect_exact(c, "pairs"), *turned = tg_case_expect_exact(c, "turned");
    int16_t *turned_cube = tg_case_expect_exact(c, "turned_cube");
    for (int64_t row = 0; row < ROWS; row++)
        for (int64_t col = 0; col < 2 * n; col++) {
            turned[col * ROWS + row] = matrix[row * 2 * n + col];
            if (col % 2 == 1)
                continue;
            const int32_t *pair = matrix + row * 2 * n + col;
            pairs[2 * row * n + col / 2] = pair[0] + pair[1];
            pairs[(2 * row + 1) * n + col / 2] = matrix[col];
        }
    for (int64_t i = 0; i < CUBE_ELEMENTS; i++) {
        int64_t rest = i, to = 0;
        for (int d = CUBE_DIMS - 1; d >= 0; d--) { /* the last digit becomes the first */
            to = to * cube_shape[d] + rest % cube_shape[d];
            rest /= cube_shape[d];
        }
        turned_cube[to] = cube[i];
    }
}

static void expect_nibbles(struct tg_case *c, int64_t n)
{
    static const float values[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6}; /* float4_e2m1fn */
    const uint8_t *before = tg_case_input(c, "nibbles"), *codes = tg_case_input(c, "codes");
    uint8_t *after = tg_case_expect_exact(c, "nibbles");
    float *wide = tg_case_expect_exact(c, "wide");
    for (int64_t i = 0; i < (n + 1) / 2; i++)
        after[i] = 0;
    after[0] = (uint8_t)nibble(before, 0);
    for (int64_t i = 1; i < n; i++) {
        unsigned value = nibble(before, i);
        after[(n - i) / 2] |= (uint8_t)(value << ((n - i) % 2 * 4));
        wide[i - 1] = (float)(value < 8 ? (int)value : (int)value - 16);
    }
    for (int64_t i = 0; i < n - 2; i++) {
        unsigned code = nibble(codes, i);
        wide[n - 1 + i] = copysignf(values[code % 8], code < 8 ? 1 : -1);
    }
    wide[2 * (n - 1) - 1] = 0; /* no task writes it */
}

/* The same results by plain indexing; all must be equal bit for bit. */
static void golden(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n");
    uint64_t *bits = tg_case_expect_exact(c, "bits");
    expect_sums(c, n);
    expect_views(c, n);
    expect_nibbles(c, n);
    for (int i = 0; i < SCALAR_SETS * TYPED_SCALARS; i++)
        bits[i] = typed_scalar(i / TYPED_SCALARS, i % TYPED_SCALARS).bits;
    *(int64_t *)tg_case_expect_exact(c, "count") = 42;
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "dump_tensor",
    .summary = "one task for each thing that a recording can show",
    .kernels = kernels,
    .n_kernels = DUMP_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = dump_tensor,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
