/* SPDX-License-Identifier: Apache-2.0 */
#include "tables.h"

#include <string.h>
#include <taskglass/workload.h>

static const struct tg_kernel_def kernels[TABLES_KERNELS] = {
    [TABLES_STORE] = {"store", tables_store, TG_AIV,
                      "out:float64 out:int64 scalar:float64 scalar:int64"},
    [TABLES_TOUCH] = {"touch", tables_touch, TG_AIV, "inout"},
};

static const struct tg_case_def cases[TABLES_WHATS] = {
#define CASE(name, summary) {#name, summary, "what=" #name " rows=3 cols=5 dtype=int32"},
    TABLES_MAP(CASE)
#undef CASE
};

static int64_t what_of(struct tg_case *c)
{
    const char *name = tg_case_text(c, "what");
    for (int64_t i = 0; i < TABLES_WHATS; i++)
        if (strcmp(name, cases[i].name) == 0)
            return i;
    tg_case_fail(c, "what must be the name of a case of this workload");
    return 0;
}

static unsigned dtype_of(struct tg_case *c)
{
    const char *wanted = tg_case_text(c, "dtype");
#define SAME(constant, number, bits, name, kind) \
    if (strcmp(wanted, name) == 0)               \
        return number;
    TG_DTYPE_MAP(SAME)
#undef SAME
    return TG_DTYPE_NONE;
}

/* How many elements the orchestration stores. */
static int64_t stored(struct tg_case *c, int64_t what)
{
    int64_t rows = tg_case_int(c, "rows"), cols = tg_case_int(c, "cols");
    return what == TABLES_view    ? (rows + 1) / 2 * cols
           : what == TABLES_alone ? 2
           : what == TABLES_far   ? 8
                                  : rows * cols;
}

static void prepare(struct tg_case *c)
{
    unsigned dtype = dtype_of(c);
    int64_t what = what_of(c), n = stored(c, what), shape[2];
    shape[0] = tg_case_int(c, "rows");
    shape[1] = tg_case_int(c, "cols");
    if (shape[0] < 1 || shape[1] < 1 || shape[0] * shape[1] < 8 || dtype == TG_DTYPE_NONE) {
        tg_case_fail(c, "the table must have a type and at least 8 elements");
        return;
    }
    /* Every case of a table that a task writes writes back what it holds. */
    void *table = tg_case_tensor(c, "block_table", TG_IN, dtype, 2, shape);
    for (int64_t i = 0; i < shape[0] * shape[1]; i++)
        tg_store(dtype, table, i, (double)(i % 23 - 3));
    tg_case_tensor(c, "reals", TG_OUT, TG_FLOAT64, 1, &n);
    tg_case_tensor(c, "integers", TG_OUT, TG_INT64, 1, &n);
    tg_case_scalar(c, "what", TG_INT64, (uint64_t)what);
}

static void golden(struct tg_case *c)
{
    unsigned dtype = dtype_of(c);
    int64_t what = what_of(c), n = stored(c, what), shape[2];
    shape[0] = tg_case_int(c, "rows");
    shape[1] = tg_case_int(c, "cols");
    struct tg_tensor table = tg_tensor_make(0, dtype, 2, shape);
    if (what == TABLES_view)
        table = tables_view(table);
    double *reals = tg_case_expect_exact(c, "reals");
    int64_t *integers = tg_case_expect_exact(c, "integers"), all = tg_tensor_numel(&table);
    for (int64_t i = 0; i < n; i++) {
        int64_t element = what == TABLES_alone               ? all - 1
                          : what == TABLES_far && i >= n / 2 ? all - n + i
                                                             : i;
        reals[i] =
            tg_load(dtype, tg_case_input(c, "block_table"), tg_tensor_offset(&table, element));
        integers[i] = tg_to_signed(64, reals[i]);
    }
}

TG_WORKLOAD = {
    TG_WORKLOAD_HEAD,
    .name = "tables",
    .summary = "orchestrations that read their input",
    .kernels = kernels,
    .n_kernels = TABLES_KERNELS,
    .cases = cases,
    .n_cases = TABLES_WHATS,
    .orchestrate = tables,
    .orchestrate_site = TG_SITE,
    .prepare = prepare,
    .golden = golden,
};
