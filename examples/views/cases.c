/* SPDX-License-Identifier: Apache-2.0 */
#include "views.h"

#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[VIEWS_KERNELS] = {
    [VIEWS_COPY] = {"views_copy", views_copy, TG_AIV, "in:int32 out:int32"},
    [VIEWS_ADD] = {"views_add", views_add, TG_AIV, "in:int32 in:int32 out:int32"},
    [VIEWS_SUM] = {"views_sum", views_sum, TG_AIV, "in:int32 out:int32"},
};

static const struct tg_case_def cases[] = {
    {"small", "a matrix of 12 by 20", "rows=12 cols=20 depth=3 tile=8"},
    {"large", "a matrix of 256 by 384", "rows=256 cols=384 depth=5 tile=64"},
    {"thin", "few rows, many columns, the smallest tile", "rows=2 cols=30 depth=1 tile=1"},
};

static void fill(int32_t *x, int64_t n, uint32_t seed)
{
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (int32_t)(seed >> 16) - 32768;
    }
}

static int32_t *matrix(struct tg_case *c, const char *name, enum tg_role role, int64_t rows,
                       int64_t cols)
{
    return tg_case_tensor(c, name, role, TG_INT32, 2, ((int64_t[]){rows, cols}));
}

static void prepare(struct tg_case *c)
{
    int64_t rows = tg_case_int(c, "rows"), cols = tg_case_int(c, "cols");
    int64_t depth = tg_case_int(c, "depth"), tile = tg_case_int(c, "tile");

    if (rows < 2 || rows > 4096 || rows % 2 || cols < 2 || cols > 4096 || cols % 2) {
        tg_case_fail(c, "rows and cols must be even numbers from 2 to 4096");
        return;
    }
    if (depth < 1 || depth > 16) {
        tg_case_fail(c, "depth must be from 1 to 16");
        return;
    }
    if (tile < 1) {
        tg_case_fail(c, "tile must be at least 1");
        return;
    }
    fill(matrix(c, "a", TG_IN, rows, cols), rows * cols, 1);
    fill(tg_case_tensor(c, "row", TG_IN, TG_INT32, 1, &cols), cols, 2);
    fill(tg_case_tensor(c, "cube", TG_IN, TG_INT32, 3, ((int64_t[]){depth, rows, cols})),
         depth * rows * cols, 3);
    matrix(c, "transposed", TG_OUT, cols, rows);
    matrix(c, "turned", TG_OUT, rows, cols);
    tg_case_tensor(c, "even_sums", TG_OUT, TG_INT32, 1, &rows);
    tg_case_tensor(c, "plane_sums", TG_OUT, TG_INT32, 1, &rows);
    matrix(c, "pooled", TG_OUT, rows / 2, cols / 2);
    tg_case_tensor(c, "permuted", TG_OUT, TG_INT32, 3, ((int64_t[]){cols, rows, depth}));
    matrix(c, "shifted", TG_OUT, rows, cols);
    matrix(c, "woven", TG_OUT, 2 * rows, cols);
    tg_case_scalar(c, "tile", TG_INT64, (uint64_t)tile);
}

/* The same results by plain indexing. They are whole numbers, so they must be equal bit for bit. */
static void golden(struct tg_case *c)
{
    int64_t rows = tg_case_int(c, "rows"), cols = tg_case_int(c, "cols");
    int64_t depth = tg_case_int(c, "depth");
    const int32_t *a = tg_case_input(c, "a"), *row = tg_case_input(c, "row");
    const int32_t *cube = tg_case_input(c, "cube");
    int32_t *transposed = tg_case_expect_exact(c, "transposed");
    int32_t *turned = tg_case_expect_exact(c, "turned");
    int32_t *even_sums = tg_case_expect_exact(c, "even_sums");
    int32_t *plane_sums = tg_case_expect_exact(c, "plane_sums");
    int32_t *pooled = tg_case_expect_exact(c, "pooled");
    int32_t *permuted = tg_case_expect_exact(c, "permuted");
    int32_t *shifted = tg_case_expect_exact(c, "shifted");
    int32_t *woven = tg_case_expect_exact(c, "woven");

    for (int64_t i = 0; i < rows / 2; i++)
        for (int64_t j = 0; j < cols / 2; j++)
            pooled[i * (cols / 2) + j] = a[2 * i * cols + 2 * j] + a[2 * i * cols + 2 * j + 1] +
                                         a[(2 * i + 1) * cols + 2 * j] +
                                         a[(2 * i + 1) * cols + 2 * j + 1];
    for (int64_t i = 0; i < rows; i++) {
        even_sums[i] = plane_sums[i] = 0;
        for (int64_t j = 0; j < cols; j++) {
            int32_t value = a[i * cols + j];
            transposed[j * rows + i] = value;
            turned[(rows - 1 - i) * cols + cols - 1 - j] = value;
            shifted[i * cols + j] = value + row[j];
            woven[2 * i * cols + j] = value;
            woven[(2 * i + 1) * cols + j] = value + row[j];
            even_sums[i] += j % 2 == 0 ? value : 0;
            plane_sums[i] += cube[(depth / 2 * rows + i) * cols + j];
            for (int64_t k = 0; k < depth; k++)
                permuted[(j * rows + i) * depth + k] = cube[(k * rows + i) * cols + j];
        }
    }
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "views",
    .summary = "slices, tiles, transposes, reversals and broadcasts without moving a byte",
    .kernels = kernels,
    .n_kernels = VIEWS_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = views,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
