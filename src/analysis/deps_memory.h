/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who wrote each byte of device memory last: ranges without overlap, each with the number of its
 * writer. And the ranges that a view touches.
 */
#ifndef TG_ANALYSIS_DEPS_MEMORY_H
#define TG_ANALYSIS_DEPS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/wire/record.h>

struct tg_memory_node;
struct tg_memory {
    struct tg_memory_node *node; /* [0] stands for none */
    size_t room;
    uint32_t count, free, root;
    uint32_t random;
};

/* Nobody wrote it. */
#define TG_NOBODY UINT32_MAX

void tg_memory_init(struct tg_memory *memory);
void tg_memory_free(struct tg_memory *memory);

/* [lo, hi) belongs to `writer` from now on. False where memory ran out. */
bool tg_memory_write(struct tg_memory *memory, uint64_t lo, uint64_t hi, uint32_t writer);

/* The ranges of [lo, hi), from low to high; what nobody wrote comes as TG_NOBODY. */
typedef bool (*tg_memory_fn)(void *context, uint64_t lo, uint64_t hi, uint32_t writer);
/* False as soon as `take` says so. */
bool tg_memory_read(const struct tg_memory *memory, uint64_t lo, uint64_t hi, tg_memory_fn take,
                    void *context);

/* The straight runs of bytes that a tensor's view touches, in no order; a view with more than
 * TG_MOST_RUNS comes as one, from its first byte to its last. Nothing for what has no address, no
 * elements, or leaves 64 bits. False as soon as `take` says so. */
enum { TG_MOST_RUNS = 4096 };
typedef bool (*tg_run_fn)(void *context, uint64_t lo, uint64_t hi);
bool tg_view_runs(const struct tg_record *record, tg_run_fn take, void *context);

/* A number for the view: the same for two records that take the same bytes in the same order, however
 * their shapes say it. 0 where tg_view_runs gives nothing. */
uint64_t tg_view_key(const struct tg_record *record);

#endif
