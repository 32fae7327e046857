/* SPDX-License-Identifier: Apache-2.0 */
/* Records as they are stored in files: their checksum, the limits that a hostile one cannot exceed,
 * and counting them. */
#ifndef TG_RECORDING_RECORD_H
#define TG_RECORDING_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/wire/journal.h>
#include <taskglass/wire/record.h>

/* Names of the recording's folder and of the files in it. */
#define TG_DUMP_FOLDER "tensor_dump"
#define TG_DUMP_JOURNAL "tensor_dump.rec"
#define TG_DUMP_PAYLOAD "tensor_dump.bin"
#define TG_DUMP_MANIFEST "tensor_dump.json"

/*
 * The check of a record: the content hash of its bytes (256, or 128 of a slot) with `check` zero, its upper
 * half folded onto the lower one. A record of zeros, as a crashed file system may leave it, has no valid
 * check. tg_record_check takes the bytes as they are, with whatever `check` has.
 */
uint32_t tg_record_check(const void *record, size_t size);
void tg_record_seal(void *record, size_t size);
bool tg_record_intact(const void *record, size_t size);
/* The same for the 256 bytes of a journal's head. */
uint32_t tg_journal_head_check(const struct tg_journal_head *head);

/*
 * Makes a record from any source safe to use with a payload file of that size. Afterwards:
 *   - stage, role, kind are of their enums; dtype is one or TG_DTYPE_NONE; ndim <= TG_MAX_DIMS;
 *   - no dimension is negative, and the elements are at most TG_MAX_ELEMENTS;
 *   - bytes is the size that dtype and shape give; stored <= bytes; [position, position + stored)
 *     lies in the file; a record with less than was asked for is TRUNCATED (or OVERWRITTEN);
 *   - a scalar has no dimensions, nothing stored, and no bits beyond its type; one without a value
 *     (NO_VALUE) has no bits at all.
 * A record with invalid fields loses its payload (stored 0, TRUNCATED); a payload that reaches past
 * the end of the file is cut to what the file has.
 */
void tg_record_confine(struct tg_record *record, uint64_t payload_size);

/* The record with only what a manifest has too, confined to a payload file of that size: two records
 * are the same if all bytes of the results are. */
void tg_record_reduce(const struct tg_record *record, uint64_t payload_size,
                      struct tg_record *reduced);
/* The first field in which two reduced records differ: "task", "shape" …; NULL if none does. */
const char *tg_record_difference(const struct tg_record *a, const struct tg_record *b);
/* True if both are about the same argument of the same task at the same stage. */
bool tg_record_same_place(const struct tg_record *a, const struct tg_record *b);

/* Elements of a confined record: 1 for scalars. */
int64_t tg_record_numel(const struct tg_record *record);

/* Adds the record to those counters of the summary that follow from records, or subtracts it. */
void tg_record_count(struct tg_record_summary *summary, const struct tg_record *record);
void tg_record_uncount(struct tg_record_summary *summary, const struct tg_record *record);
/* The records that the run lost, of all causes. */
uint64_t tg_record_lost(const struct tg_record_summary *summary);

/* "explicit", "raw" …: why one task waits for another (enum tg_edge_kind). */
const char *tg_edge_name(unsigned kind);

#endif
