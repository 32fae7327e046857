/* SPDX-License-Identifier: Apache-2.0 */
/* Empty tasks to time, tasks that check their order, and one that copies a tile to be recorded. */
#include "kernels.h"

TG_KERNEL(gpu_empty)
{
    (void)ctx;
}

TG_KERNEL(gpu_empty_aic)
{
    (void)ctx;
}

TG_KERNEL(gpu_first)
{
    (void)ctx;
}

TG_KERNEL(gpu_next)
{
    (void)ctx;
}

/* A cell holds the last round in which its task ran. All predecessors must be in this round
 * already, and the task itself still in the round before. */
TG_INLINE uint64_t mark(const uint64_t *before, int64_t n, uint64_t own, uint64_t round)
{
    int good = own == round - 1;
    for (int64_t k = 0; k < n; k++)
        good &= before[k] == round;
    return good ? round : CELL_FAULT;
}

TG_KERNEL(gpu_mark_first)
{
    uint64_t *cell = TG_ARG(ctx, 0, uint64_t);
    TG_FOR(once, 1)
        *cell = mark(cell, 0, *cell, tg_arg_bits(ctx, 0));
}

TG_KERNEL(gpu_mark_next)
{
    const uint64_t *before = TG_ARG(ctx, 0, const uint64_t);
    uint64_t *cell = TG_ARG(ctx, 1, uint64_t);
    TG_FOR(once, 1)
        *cell = mark(before, tg_arg_numel(ctx, 0), *cell, tg_arg_bits(ctx, 0));
}

/* 16 bytes: the most that a GPU thread moves at once. */
struct __attribute__((aligned(16))) quad {
    uint32_t word[4];
};

/* Copies tensor 0 to tensor 1; both are contiguous and consist of whole quads. Each thread starts
 * four loads before it stores the first: one load at a time would leave most of the memory
 * bandwidth idle. */
TG_INLINE void copy(const struct tg_ctx *ctx)
{
    const struct quad *from = TG_ARG(ctx, 0, const struct quad);
    struct quad *to = TG_ARG(ctx, 1, struct quad);
    int64_t quads = tg_arg_numel(ctx, 0) / 4, step = TG_THREAD_COUNT, i = TG_THREAD_ID;
    for (; i + 3 * step < quads; i += 4 * step) {
        struct quad a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
        to[i] = a;
        to[i + step] = b;
        to[i + 2 * step] = c;
        to[i + 3 * step] = d;
    }
    for (; i < quads; i += step)
        to[i] = from[i];
}

TG_KERNEL(gpu_copy)
{
    copy(ctx);
}

TG_KERNEL(gpu_copy_aic)
{
    copy(ctx);
}
