/* SPDX-License-Identifier: Apache-2.0 */
/* A workload whose orchestration makes a view that does not fit; the parameter `view` says which. The
 * tests compile it themselves. */
#include "table.h"

#include <string.h>

enum { ROWS = 8, COLUMNS = 4 };

TG_KERNEL(views_copy)
{
    float *to = TG_ARG(ctx, 1, float);
    TG_FOR(i, tg_arg_numel(ctx, 1))
        to[i] = 1;
}

TG_KERNEL(views_index)
{
    TG_ARG(ctx, 2, float)[0] = 1; /* line: argument */
}

enum view {
    GOOD,
    SLICE,
    LONG,
    BACKWARDS,
    STEP,
    INDEX,
    NEGATIVE,
    DIMENSION,
    TRANSPOSE,
    FLIP,
    BROADCAST,
    GAPS,
    RESHAPE,
    TILE,
    CHAIN,
    UNSET,
    ARGUMENT,
    VIEWS
};
static const char *const words[VIEWS] = {
    "good", "slice",     "long", "backwards", "step", "index", "negative", "dimension", "transpose",
    "flip", "broadcast", "gaps", "reshape",   "tile", "chain", "unset",    "argument"};

static struct tg_tensor make(struct tg_tensor x, enum view view)
{
    static const int64_t other[] = {3, 5}, flat[] = {8};
    struct tg_tensor half = tg_tensor_slice(x, 1, 0, 2, 1);
    switch (view) {
    case SLICE:
        return tg_tensor_slice(x, 0, 6, 10, 1);
    case LONG:
        return tg_tensor_slice(x, 1, 0, INT64_MAX, 1);
    case BACKWARDS:
        return tg_tensor_slice(x, 0, 5, 3, 1);
    case STEP:
        return tg_tensor_slice(x, 0, 0, 4, 0);
    case INDEX:
        return tg_tensor_index(x, 1, COLUMNS);
    case NEGATIVE:
        return tg_tensor_index(x, 0, -1);
    case DIMENSION:
        return tg_tensor_slice(x, 2, 0, 1, 1);
    case TRANSPOSE:
        return tg_tensor_transpose(x, 0, 7);
    case FLIP:
        return tg_tensor_flip(x, -2);
    case BROADCAST:
        return tg_tensor_broadcast(x, 0, 16);
    case GAPS:
        return tg_tensor_reshape(half, 1, flat);
    case RESHAPE:
        return tg_tensor_reshape(x, 2, other);
    case TILE:
        return tg_tensor_tile(x, 0, 4, 2, 4);
    case CHAIN: /* the first view is wrong, and the next ones make it no better */
        return tg_tensor_flip(tg_tensor_index(tg_tensor_slice(x, 0, 7, 9, 1), 0, 0), 0);
    case UNSET:
        return tg_tensor_none();
    default:
        return x;
    }
}

/* Arguments: x[8][4], y[1]; scalars: which view. */
TG_ORCHESTRATION(orchestrate)
{
    enum view view = (enum view)args->scalar[0].bits;
    struct tg_args a;
    tg_args_init(&a);
    tg_args_in(&a, make(args->tensor[0], view));
    tg_args_out(&a, args->tensor[1]);
    tg_submit(rt, view == ARGUMENT, &a); /* line: submit */
}

static void prepare(struct tg_case *c)
{
    static const int64_t shape[] = {ROWS, COLUMNS}, one = 1;
    tg_case_tensor(c, "x", TG_IN, TG_FLOAT32, 2, shape);
    tg_case_tensor(c, "y", TG_OUT, TG_FLOAT32, 1, &one);
    for (uint64_t i = 0; i < VIEWS; i++)
        if (strcmp(tg_case_text(c, "view"), words[i]) == 0) {
            tg_case_scalar(c, "view", TG_INT64, i);
            return;
        }
    tg_case_fail(c, "unknown view");
}

static void golden(struct tg_case *c)
{
    tg_case_expect(c, "y", 0, 0)[0] = 1;
}

static const struct tg_kernel_def kernels[] = {
    {"copy", views_copy, TG_EITHER, "in:float32 out:float32"},
    {"index", views_index, TG_EITHER, "in:float32 out:float32"},
};
static const struct tg_case_def cases[] = {{"views", "one view does not fit", "view=good"}};

TG_WORKLOAD = {TABLE("views", "an orchestration that makes a view")};
