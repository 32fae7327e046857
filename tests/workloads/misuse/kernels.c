/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels with a misuse, and those around them. clean.c has the others. */
#include "misuse.h"

/* ── what every case has ───────────────────────────────────────────────────────────────── */

TG_FN static int64_t bytes_of(const struct tg_tensor *t)
{
    return (int64_t)tg_bytes_of(t->dtype, tg_tensor_numel(t));
}

/* Floats between 1 and 2, whatever the type of the arena is. */
TG_KERNEL(fill)
{
    const struct tg_tensor *t = tg_arg_tensor(ctx, 0);
    float *word = TG_DEVICE_PTR(float, t->addr);
    TG_FOR(i, bytes_of(t) / 4)
        word[i] = 1 + (float)(i * 37 % 101) / 101;
}

/* Stores the size of each tensor before the last, and a number of the task. */
TG_KERNEL(look)
{
    int64_t *sizes = TG_ARG(ctx, ctx->n_tensors - 1, int64_t);
    TG_FOR(i, ctx->n_tensors - 1)
        sizes[i] = tg_arg_numel(ctx, (uint32_t)i) + tg_arg_i64(ctx, 0);
}

TG_KERNEL(bystander)
{
    TG_FOR(pair, tg_arg_numel(ctx, 0) / 2)
        for (int64_t i = 2 * pair; i < 2 * pair + 2; i++)
            tg_arg_store(ctx, 0, i, 3);
}

/* ── stray writes ──────────────────────────────────────────────────────────────────────── */

TG_KERNEL(write_behind)
{
    HALVE_ALL(ctx, 0, 1);
    poke(ctx, 1, N, 5);
}

TG_KERNEL(write_before)
{
    HALVE_ALL(ctx, 0, 1);
    poke(ctx, 1, -1, 5);
}

TG_KERNEL(write_page_behind)
{
    HALVE_ALL(ctx, 0, 1);
    poke(ctx, 1, N - 1 + FLOATS_PER_PAGE, 5);
}

TG_KERNEL(write_page_before)
{
    HALVE_ALL(ctx, 0, 1);
    poke(ctx, 1, -FLOATS_PER_PAGE, 5);
}

TG_KERNEL(write_both_sides)
{
    HALVE_ALL(ctx, 0, 1);
    poke(ctx, 1, -1, 5);
    poke(ctx, 1, N, 5);
}

TG_KERNEL(rewrite_behind)
{
    HALVE_ALL(ctx, 0, 1);
    TG_FOR(once, 1) {
        volatile float *y = TG_ARG(ctx, 1, float);
        y[N] = y[N];
    }
}

TG_KERNEL(write_gap)
{
    HALVE_ALL(ctx, 0, 1);
    poke(ctx, 1, 1, 5);
}

TG_KERNEL(write_tile_column)
{
    const float *x = TG_ARG(ctx, 0, const float);
    float *y = TG_ARG(ctx, 1, float);
    TG_FOR(row, ROWS)
        for (int64_t column = 0; column <= COLUMNS; column++)
            y[row * WIDTH + column] = x[row * WIDTH + column % COLUMNS] / 2 + 5;
}

TG_KERNEL(write_tile_row)
{
    const float *x = TG_ARG(ctx, 0, const float);
    float *y = TG_ARG(ctx, 1, float);
    TG_FOR(row, ROWS + 1)
        for (int64_t column = 0; column < COLUMNS; column++)
            y[row * WIDTH + column] = x[row % ROWS * WIDTH + column] / 2 + 5;
}

TG_KERNEL(write_input)
{
    HALVE_ALL(ctx, 0, 1);
    poke(ctx, 0, 3, 5);
}

TG_KERNEL(rewrite_input)
{
    HALVE_ALL(ctx, 0, 1);
    TG_FOR(once, 1) {
        volatile float *x = TG_ARG(ctx, 0, float);
        x[3] = x[3];
    }
}

TG_KERNEL(write_other_output)
{
    HALVE_ALL(ctx, 0, 2);
    HALVE_ALL(ctx, 0, 1);
    poke(ctx, 1, N, 5);
}

/* The result is right, because the second output is written afterwards. */
TG_KERNEL(write_hidden)
{
    HALVE_ALL(ctx, 0, 1);
    poke(ctx, 1, N, 5);
    TG_BARRIER();
    HALVE_ALL(ctx, 0, 2);
}

TG_KERNEL(write_inout_behind)
{
    HALVE_ALL(ctx, 0, 0);
    poke(ctx, 0, N, 5);
}

TG_KERNEL(write_int8_behind)
{
    HALVE_ALL(ctx, 0, 1);
    poke(ctx, 1, ODD, 5);
}

TG_KERNEL(write_int4_behind)
{
    HALVE_ALL(ctx, 0, 1);
    TG_FOR(once, 1) /* the whole byte, so that nothing is read */
        TG_DEVICE_PTR(uint8_t, tg_arg_tensor(ctx, 1)->addr)
    [(tg_arg_tensor(ctx, 1)->start + N) / 2] = 0x55;
}

TG_KERNEL(write_int4_half)
{
    HALVE_ALL(ctx, 0, 1);
    TG_BARRIER();
    TG_FOR(once, 1) {
        const struct tg_tensor *t = tg_arg_tensor(ctx, 1);
        uint8_t *last = TG_DEVICE_PTR(uint8_t, t->addr) + (t->start + ODD) / 2;
        *last = (uint8_t)((*last & 15) | 0x50);
    }
}

/* The second half of the output, for mixes. */
TG_KERNEL(other_half)
{
    TG_FOR(i, N / 2)
        tg_arg_store(ctx, 1, N / 2 + i, tg_arg_load(ctx, 0, N / 2 + i) / 2 + 1);
}

TG_KERNEL(write_mix_behind)
{
    halve(ctx, 0, 1, N / 2, N);
    poke(ctx, 1, N, 5);
}

/* ── stray reads ───────────────────────────────────────────────────────────────────────── */

/* The last element is the sum of an element and its neighbour, which is not the task's. */
TG_FN static void add_stray(const struct tg_ctx *ctx, int64_t stray)
{
    HALVE_ALL(ctx, 0, 1);
    poke(ctx, 1, 0, peek(ctx, 0, 0) / 2 + peek(ctx, 0, stray));
}

TG_KERNEL(read_behind)
{
    add_stray(ctx, N);
}

TG_KERNEL(read_before)
{
    add_stray(ctx, -1);
}

TG_KERNEL(read_page_behind)
{
    add_stray(ctx, N - 1 + FLOATS_PER_PAGE);
}

TG_KERNEL(read_page_before)
{
    add_stray(ctx, -FLOATS_PER_PAGE);
}

TG_KERNEL(read_far_behind)
{
    add_stray(ctx, N - 1 + FAR);
}

TG_KERNEL(read_gap)
{
    add_stray(ctx, 1);
}

TG_KERNEL(read_tile_column)
{
    const float *x = TG_ARG(ctx, 0, const float);
    float *y = TG_ARG(ctx, 1, float);
    TG_FOR(row, ROWS)
        for (int64_t column = 0; column < COLUMNS; column++)
            y[row * WIDTH + column] = x[row * WIDTH + column] + x[row * WIDTH + column + 1];
}

TG_KERNEL(read_unused)
{
    HALVE_ALL(ctx, 0, 1);
    TG_FOR(once, 1) {
        const volatile float *x = TG_ARG(ctx, 0, const float);
        (void)x[N];
    }
}

TG_KERNEL(read_both_unused)
{
    TG_FOR(i, N)
        tg_arg_store(ctx, 2, i, tg_arg_load(ctx, 0, i) + tg_arg_load(ctx, 1, i));
    TG_FOR(once, 1) {
        const volatile float *x = TG_ARG(ctx, 0, const float), *y = TG_ARG(ctx, 1, const float);
        (void)x[N];
        (void)y[N];
    }
}

TG_KERNEL(read_gap_times_zero)
{
    HALVE_ALL(ctx, 0, 1);
    poke(ctx, 1, 0, peek(ctx, 0, 0) / 2 + peek(ctx, 0, 1) * 0);
}

TG_KERNEL(read_other_input)
{
    TG_FOR(i, N)
        tg_arg_store(ctx, 2, i, peek(ctx, 0, i + 1) + tg_arg_load(ctx, 1, i));
}

TG_KERNEL(read_inout_behind)
{
    HALVE_ALL(ctx, 0, 0);
    poke(ctx, 0, 0, peek(ctx, 0, N) + 1);
}

TG_KERNEL(read_int8_behind)
{
    add_stray(ctx, ODD);
}

/* ── what is not written ───────────────────────────────────────────────────────────────── */

TG_KERNEL(unwritten_tail)
{
    halve(ctx, 0, 1, N - FORGOTTEN, N);
}

TG_KERNEL(unwritten_middle)
{
    halve(ctx, 0, 1, 57, 58);
}

TG_KERNEL(unwritten_all)
{
    (void)ctx;
}

TG_KERNEL(unwritten_strided)
{
    halve(ctx, 0, 1, 57, 58);
}

TG_KERNEL(unwritten_int8)
{
    halve(ctx, 0, 1, ODD - 1, ODD);
}

TG_KERNEL(unwritten_int4)
{
    halve(ctx, 0, 1, 57, 58);
}

/* ── old contents of an output ─────────────────────────────────────────────────────────── */

TG_KERNEL(old_contents)
{
    TG_FOR(i, N)
        tg_arg_store(ctx, 1, i, tg_arg_load(ctx, 1, i) / 2 + tg_arg_load(ctx, 0, i));
}

TG_KERNEL(old_some)
{
    TG_FOR(i, N)
        tg_arg_store(ctx, 1, i,
                     tg_arg_load(ctx, 0, i) + (i % 16 == 5 ? tg_arg_load(ctx, 1, i) : 0));
}

TG_KERNEL(old_maximum)
{
    TG_FOR(i, N) {
        double old = tg_arg_load(ctx, 1, i), given = tg_arg_load(ctx, 0, i);
        tg_arg_store(ctx, 1, i, old > given ? old : given);
    }
}

TG_KERNEL(old_element)
{
    double old = tg_arg_load(ctx, 1, 7);
    TG_BARRIER();
    TG_FOR(i, N)
        tg_arg_store(ctx, 1, i, tg_arg_load(ctx, 0, i) + (i == 7 ? 0 : old));
}

TG_KERNEL(old_is_zero)
{
    TG_FOR(i, N) {
        double old = tg_arg_load(ctx, 1, i);
        tg_arg_store(ctx, 1, i, tg_arg_load(ctx, 0, i) + (old == 0));
    }
}

TG_KERNEL(read_is_zero)
{
    double gap = peek(ctx, 0, 1);
    HALVE_ALL(ctx, 0, 1);
    TG_BARRIER();
    poke(ctx, 1, 0, gap == 0 ? 2 : 1);
}
