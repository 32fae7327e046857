/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers the last writer of each byte of device memory, as ranges that do not overlap; and lists
 * the ranges that a view touches.
 */
#ifndef TG_ANALYSIS_DEPS_MEMORY_H
#define TG_ANALYSIS_DEPS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/wire/record.h>

struct tg_memory_node;
struct tg_memory {
    struct tg_memory_node *node; /* [0] stands for "no node" */
    size_t room;
    uint32_t count, free, root;
    uint32_t random;
};

/* The writer of bytes that no recorded task wrote. */
#define TG_NO_WRITER UINT32_MAX

void tg_memory_init(struct tg_memory *memory);
void tg_memory_free(struct tg_memory *memory);

/* Makes `writer` the last writer of [lo, hi). Returns false if memory ran out. */
bool tg_memory_write(struct tg_memory *memory, uint64_t lo, uint64_t hi, uint32_t writer);

/* Takes one range of [lo, hi), from low to high; ranges that no task wrote have writer
 * TG_NO_WRITER. */
typedef bool (*tg_memory_fn)(void *context, uint64_t lo, uint64_t hi, uint32_t writer);
/* Stops and returns false as soon as `take` returns false. */
bool tg_memory_read(const struct tg_memory *memory, uint64_t lo, uint64_t hi, tg_memory_fn take,
                    void *context);

/* Calls `take` for each contiguous run of bytes that a tensor's view touches, in no particular
 * order. A view with more than TG_MOST_RUNS runs is given as one run from its first byte to its
 * last. A view without an address, without elements, or beyond 64 bits has no runs. Stops and
 * returns false as soon as `take` returns false. */
enum { TG_MOST_RUNS = 4096 };
typedef bool (*tg_run_fn)(void *context, uint64_t lo, uint64_t hi);
bool tg_view_runs(const struct tg_record *record, tg_run_fn take, void *context);

/* True if the view is one run of whole bytes in row-major order, as most are; sets its ends. */
bool tg_view_is_run(const struct tg_record *record, uint64_t *lo, uint64_t *hi);

/* A number for the view: two records that take the same bytes in the same order have the same
 * number, even if their shapes differ. 0 if tg_view_runs has nothing to give. */
uint64_t tg_view_key(const struct tg_record *record);

#endif
