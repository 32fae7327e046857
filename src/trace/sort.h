/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts any number of records in bounded memory. A record is a key of two numbers and some bytes; records with
 * the same key keep the order in which they were added.
 *
 *     tg_sort_create(folder, memory, &sort)
 *         tg_sort_add(sort, key, minor, bytes, size) …
 *     tg_sort_start(sort)
 *         while (tg_sort_next(sort, &record)) …
 *     tg_sort_check(sort, error)                        whether all of that worked
 *     tg_sort_destroy(sort)
 *
 * When the memory is full it is sorted and written to a file without a name as a run; reading merges the
 * runs. What fits in memory is never written. A record larger than the memory gets room of its own.
 */
#ifndef TG_TRACE_SORT_H
#define TG_TRACE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/status.h>

struct tg_sort;

struct tg_sort_record {
    uint64_t key, minor;
    const unsigned char *bytes; /* aligned to 8; valid until the next record */
    size_t size;
};

/* NULL if memory ran out. */
struct tg_sort *tg_sort_create(const char *folder, size_t memory);
/* NULL is fine. */
void tg_sort_destroy(struct tg_sort *sort);

/* After a failure these do nothing; tg_sort_next then returns false. */
void tg_sort_add(struct tg_sort *sort, uint64_t key, uint64_t minor, const void *bytes,
                 size_t size);
void tg_sort_start(struct tg_sort *sort);
bool tg_sort_next(struct tg_sort *sort, struct tg_sort_record *record);

/* The first failure: IO_ERROR names the folder and the cause; NO_MEMORY. */
tg_status tg_sort_check(const struct tg_sort *sort, struct tg_error *error);

/* How many runs were written to files; for tests. */
uint64_t tg_sort_runs(const struct tg_sort *sort);

#endif
