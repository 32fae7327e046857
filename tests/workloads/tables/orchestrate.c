/* SPDX-License-Identifier: Apache-2.0 */
#include "tables.h"

/* What the calls below share. */
struct tables {
    struct tg_rt *rt;
    struct tg_tensor table, reals, integers, missing;
    int64_t stored; /* elements so far */
};

TG_APART TG_FN static void store(struct tables *t, double real, int64_t integer)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out(&task, tg_tensor_slice(t->reals, 0, t->stored, t->stored + 1, 1));
    tg_args_out(&task, tg_tensor_slice(t->integers, 0, t->stored, t->stored + 1, 1));
    tg_args_f64(&task, real);
    tg_args_i64(&task, integer);
    tg_submit(t->rt, TABLES_STORE, &task);
    t->stored++;
}

/* Element `i` in row-major order of a tensor with 1, 2, 3 or 8 dimensions. */
TG_APART TG_FN static void read_at(struct tables *t, struct tg_tensor from, int64_t i)
{
    int64_t at[TG_MAX_DIMS];
    for (int d = from.ndim - 1; d >= 0; d--) {
        at[d] = i % from.shape[d];
        i /= from.shape[d];
    }
    switch (from.ndim) {
    case 1:
        store(t, tg_table_real(t->rt, from, at[0]), tg_table_i64(t->rt, from, at[0]));
        break;
    case 2:
        store(t, tg_table_real(t->rt, from, at[0], at[1]), tg_table_i64(t->rt, from, at[0], at[1]));
        break;
    case 3:
        store(t, tg_table_real(t->rt, from, at[0], at[1], at[2]),
              tg_table_i64(t->rt, from, at[0], at[1], at[2]));
        break;
    default:
        store(t, tg_table_real(t->rt, from, at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]),
              tg_table_i64(t->rt, from, at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]));
    }
}

TG_APART TG_FN static void read_all(struct tables *t, struct tg_tensor from)
{
    for (int64_t i = 0; i < tg_tensor_numel(&from) && t->stored < t->reals.shape[0]; i++)
        read_at(t, from, i);
}

TG_APART TG_FN static void read_ends(struct tables *t)
{
    int64_t n = t->reals.shape[0], all = tg_tensor_numel(&t->table);
    for (int64_t i = 0; i < n; i++)
        read_at(t, t->table, i < n / 2 ? i : all - n + i);
}

TG_APART TG_FN static void read_alone(struct tables *t)
{
    struct tg_tensor one = t->table;
    while (one.ndim > 0)
        one = tg_tensor_index(one, 0, one.shape[0] - 1);
    store(t, tg_table_real(t->rt, one), tg_table_i64(t->rt, one));
    if (tg_bits_of(one.dtype) >= 8)
        store(t, tg_read_real(t->rt, one, TG_TASK_NONE), tg_read_i64(t->rt, one, TG_TASK_NONE));
    else
        store(t, tg_table_real(t->rt, one), tg_table_i64(t->rt, one));
}

/* Submits a task that writes the first half of the table. */
TG_APART TG_FN static void touch(struct tables *t)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_inout(&task, t->table);
    tg_submit(t->rt, TABLES_TOUCH, &task);
}

/* Mistakes with a table of two dimensions. */
TG_APART TG_FN static void mistake(struct tables *t, int64_t what)
{
    struct tg_rt *rt = t->rt;
    struct tg_tensor table = t->table;
    int64_t rows = table.shape[0], cols = table.shape[1];
    switch (what) {
    case TABLES_outside:
        tg_table_i64(rt, table, 1, cols); /* line: outside */
        break;
    case TABLES_negative:
        tg_table_i64(rt, table, -1, 0); /* line: negative */
        break;
    case TABLES_in_view:
        table = tg_tensor_slice(table, 1, 0, cols - 1, 1);
        tg_table_real(rt, table, 0, cols - 1); /* line: in_view */
        break;
    case TABLES_few:
        tg_table_i64(rt, table, 0); /* line: few */
        break;
    case TABLES_many:
        tg_table_i64(rt, table, 0, 0, 0); /* line: many */
        break;
    case TABLES_output:
        tg_table_i64(rt, t->integers, 0); /* line: output */
        break;
    case TABLES_written:
        touch(t);
        tg_table_i64(rt, table, 0, 0); /* line: written */
        break;
    case TABLES_late:
        touch(t);
        tg_table_i64(rt, tg_tensor_index(table, 0, rows - 1), 0); /* line: late */
        break;
    case TABLES_own:
        tg_table_i64(rt, tg_alloc(rt, TG_INT64, 1, &cols), 0); /* line: own */
        break;
    case TABLES_invalid:
        tg_table_i64(rt, tg_tensor_slice(table, 0, 0, rows + 1, 1), 0, 0); /* line: invalid */
        break;
    case TABLES_missing:
        tg_table_i64(rt, t->missing, 0, 0); /* line: missing */
        break;
    default:
        table.strides[0] = INT64_MAX / 2;
        tg_table_i64(rt, table, 1, 0); /* line: crafted */
    }
    tg_table_i64(rt, t->table, 0, 0); /* calls after an error must do no harm */
}

/* Arguments: table, doubles, whole numbers; what to do. */
TG_ORCHESTRATION(tables)
{
    struct tables t;
    int64_t what = tg_args_get_i64(args, 0);
    t.rt = rt;
    t.table = args->tensor[0];
    t.reals = args->tensor[1];
    t.integers = args->tensor[2];
    t.missing = args->tensor[3];
    t.stored = 0;
    if (what == TABLES_whole || what == TABLES_early)
        read_all(&t, t.table);
    else if (what == TABLES_view)
        read_all(&t, tables_view(t.table));
    else if (what == TABLES_alone)
        read_alone(&t);
    else if (what == TABLES_far)
        read_ends(&t);
    else
        mistake(&t, what);
    if (what == TABLES_early)
        touch(&t);
}
