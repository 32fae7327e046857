/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side: the kernels, the inputs, and the expected outputs. This file is ordinary C; only
 * kernels.c and orchestrate.c are compiled for devices as well.
 */
#include "vector_add.h"

#include <taskglass/workload.h>

/* The signature lets Taskglass refuse a task whose arguments do not fit before anything runs. */
static const struct tg_kernel_def kernels[VECTOR_ADD_KERNELS] = {
    [VECTOR_ADD_TILE] = {"vector_add_tile", vector_add_tile, TG_AIV,
                         "in:float32 in:float32 out:float32"},
};

/* The first case is the default. `--set n=…` and `--set tile=…` change the values given here. */
static const struct tg_case_def cases[] = {
    {"small", "four tiles", "n=1024 tile=256"},
    {"large", "256 tiles", "n=1048576 tile=4096"},
    {"odd", "n is no multiple of the tile: the last one is shorter", "n=1000 tile=96"},
    {"empty", "nothing to add: a graph with no task at all", "n=0 tile=256"},
};

/* Numbers in [-1/3, 1/3) that are the same on every machine. Divided by 3 they use every bit a
 * float has, so that their sums must be rounded. */
static float pseudo_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return ((float)(*state >> 8) / 8388608.0f - 1.0f) / 3.0f;
}

/* Declares the orchestration's arguments in the order it takes them, and fills the inputs. */
static void prepare(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n");
    int64_t tile = tg_case_int(c, "tile");
    uint32_t state = 1;

    if (n < 0 || n > (1 << 28)) {
        tg_case_fail(c, "n must be from 0 to 268435456");
        return;
    }
    if (tile < 1) {
        tg_case_fail(c, "tile must be at least 1");
        return;
    }
    float *a = tg_case_tensor(c, "a", TG_IN, TG_FLOAT32, 1, &n);
    float *b = tg_case_tensor(c, "b", TG_IN, TG_FLOAT32, 1, &n);
    tg_case_tensor(c, "c", TG_OUT, TG_FLOAT32, 1, &n);
    tg_case_scalar(c, "tile", TG_INT64, (uint64_t)tile);
    for (int64_t i = 0; i < n; i++) {
        a[i] = pseudo_random(&state);
        b[i] = pseudo_random(&state);
    }
}

/*
 * What c must be, computed without the kernels. The sum of two floats is exact in double; the
 * kernel rounds it once to float32, which changes it by at most 2^-24 of its value.
 */
static void golden(struct tg_case *c)
{
    int64_t n = tg_case_int(c, "n");
    const float *a = tg_case_input(c, "a");
    const float *b = tg_case_input(c, "b");
    double *expected = tg_case_expect(c, "c", 0, 0x1p-24);
    for (int64_t i = 0; i < n; i++)
        expected[i] = (double)a[i] + (double)b[i];
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "vector_add",
    .summary = "c = a + b in tiles: the smallest complete workload",
    .kernels = kernels,
    .n_kernels = VECTOR_ADD_KERNELS,
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .orchestrate = vector_add,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
