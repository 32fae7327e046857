/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tensors that an orchestration was given, for tg_table: where they lie, and which task was the
 * first to write one. The builder of the graph, on the host or on the device, owns it and alone uses
 * it. Both sides find and refuse the same elements; src/host/table_text.c finds the words.
 */
#ifndef TG_COMMON_GIVEN_H
#define TG_COMMON_GIVEN_H

#include <taskglass/args.h>
#include <taskglass/wire/orchestration.h>

struct tg_given {
    const struct tg_args *args;      /* of the orchestration */
    uint64_t lo, end;                /* all of them lie in [lo, end) */
    uint64_t writer[TG_MAX_TENSORS]; /* the first task that writes it; TG_TASK_NONE: none does */
    uint64_t noted, noted_end; /* the storage that was noted last: most tasks write it again */
    uint32_t found; /* the tensor that was found last: the next look is often at the same one */
};

TG_INLINE void tg_given_init(struct tg_given *g, const struct tg_args *args)
{
    g->args = args;
    g->lo = UINT64_MAX;
    g->end = g->noted = g->noted_end = 0;
    g->found = 0;
    for (uint32_t i = 0; i < TG_MAX_TENSORS; i++)
        g->writer[i] = TG_TASK_NONE;
    for (uint32_t i = 0; i < args->n_tensors && i < TG_MAX_TENSORS; i++) {
        const struct tg_tensor *t = &args->tensor[i];
        if (t->addr < g->lo)
            g->lo = t->addr;
        if (t->addr + t->storage_bytes > g->end)
            g->end = t->addr + t->storage_bytes;
    }
}

TG_INLINE void tg_given_note_all(struct tg_given *g, const struct tg_tensor *t, uint64_t task)
{
    for (uint32_t i = 0; i < g->args->n_tensors && i < TG_MAX_TENSORS; i++) {
        const struct tg_tensor *of = &g->args->tensor[i];
        if (g->writer[i] == TG_TASK_NONE && t->addr < of->addr + of->storage_bytes &&
            of->addr < t->addr + t->storage_bytes)
            g->writer[i] = task;
    }
    g->noted = t->addr;
    g->noted_end = t->addr + t->storage_bytes;
}

/* Notes that the task writes the tensor. The whole storage counts, whatever the view is. */
TG_INLINE void tg_given_note(struct tg_given *g, const struct tg_tensor *t, uint64_t task)
{
    uint64_t end = t->addr + t->storage_bytes;
    if (t->addr < g->end && end > g->lo && (t->addr != g->noted || end != g->noted_end))
        tg_given_note_all(g, t, task);
}

/* Whether the tensor is in the memory of argument `i`. An empty one takes no memory, so it may have the
 * address of its neighbour, or begin where that ends. */
TG_INLINE bool tg_given_has(const struct tg_given *g, uint32_t i, const struct tg_tensor *t)
{
    const struct tg_tensor *of = &g->args->tensor[i];
    if (i >= g->args->n_tensors || (t->storage_bytes == 0) != (of->storage_bytes == 0))
        return false;
    return t->storage_bytes <= of->storage_bytes && t->addr >= of->addr &&
           t->addr - of->addr <= of->storage_bytes - t->storage_bytes;
}

/* Finds the argument whose memory the tensor is in. */
TG_INLINE bool tg_given_find(struct tg_given *g, const struct tg_tensor *t)
{
    if (tg_given_has(g, g->found, t))
        return true;
    for (g->found = 0; g->found < TG_MAX_TENSORS; g->found++)
        if (tg_given_has(g, g->found, t))
            return true;
    g->found = 0;
    return false;
}

/* Checks the index, and computes how many elements after `addr` the element lies. The tensor may be
 * anything: an offset that is not in its storage is refused. */
TG_INLINE enum tg_table_fault tg_table_offset(const struct tg_tensor *t, const int64_t *index,
                                              uint32_t n, int64_t *offset)
{
    uint64_t at = (uint64_t)t->start;
    unsigned bits = tg_bits_of(t->dtype);
    if (bits == 0 || t->ndim > TG_MAX_DIMS)
        return TG_TABLE_NO_TENSOR;
    if (n != t->ndim)
        return TG_TABLE_RANK;
    for (uint32_t i = 0; i < n; i++) {
        if ((uint64_t)index[i] >= (uint64_t)t->shape[i] || t->shape[i] < 0)
            return TG_TABLE_RANGE;
        at += (uint64_t)index[i] * (uint64_t)t->strides[i];
    }
    if (at >= (uint64_t)TG_MAX_ELEMENTS ||
        tg_bytes_of(t->dtype, (int64_t)at + 1) > t->storage_bytes)
        return TG_TABLE_NO_TENSOR;
    *offset = (int64_t)at;
    return TG_TABLE_GOOD;
}

/* Checks that tg_table may read the element: it has the value that the run was given. Argument
 * g->found is the one that the tensor is part of, except after TG_TABLE_NOT_GIVEN. */
TG_INLINE enum tg_table_fault tg_given_look(struct tg_given *g, const struct tg_tensor *t,
                                            const int64_t *index, uint32_t n, int64_t *offset)
{
    if (tg_bits_of(t->dtype) == 0)
        return TG_TABLE_NO_TENSOR;
    if (t->owner_depth != 0 || !tg_given_find(g, t))
        return TG_TABLE_NOT_GIVEN;
    if (g->args->role[g->found] == TG_OUT)
        return TG_TABLE_OUTPUT;
    if (g->writer[g->found] != TG_TASK_NONE)
        return TG_TABLE_WRITTEN;
    return tg_table_offset(t, index, n, offset);
}

#endif
