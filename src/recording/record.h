/* SPDX-License-Identifier: Apache-2.0 */
/* Records as files have them: their check, what a hostile one may not claim, counting them. */
#ifndef TG_RECORDING_RECORD_H
#define TG_RECORDING_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/wire/record.h>

/* Of the folder a recording is in, and its files. */
#define TG_DUMP_FOLDER "tensor_dump"
#define TG_DUMP_JOURNAL "tensor_dump.rec"
#define TG_DUMP_PAYLOAD "tensor_dump.bin"
#define TG_DUMP_MANIFEST "tensor_dump.json"

/*
 * The check of any of the three types: the content hash of its 256 bytes with `check` zero, its
 * upper half folded onto the lower one. A record of zeros, as a crashed file system may leave it,
 * has none.
 */
uint32_t tg_record_check(const void *record);
void tg_record_seal(void *record);
bool tg_record_intact(const void *record);

/*
 * Makes a record safe to use, whoever wrote it, for a payload file of that size. After it:
 *   - stage, role, kind are of their enums; dtype is one or TG_DTYPE_NONE; ndim <= TG_MAX_DIMS;
 *   - no dimension is negative, and the elements are at most TG_MAX_ELEMENTS;
 *   - bytes is the size that dtype and shape give; stored <= bytes; [position, position + stored)
 *     lies in the file; a record with less than was asked for is TRUNCATED (or OVERWRITTEN);
 *   - a scalar has no dimensions, nothing stored, and no bits beyond its type.
 * What makes no sense loses its payload (stored 0, TRUNCATED); what the file does not have whole is
 * cut to what is there.
 */
void tg_record_confine(struct tg_record *record, uint64_t payload_size);

/* Elements of a confined record: 1 for scalars. */
int64_t tg_record_numel(const struct tg_record *record);

/* Adds the record to the counters of the summary that follow from records, or takes it out. */
void tg_record_count(struct tg_record_summary *summary, const struct tg_record *record);
void tg_record_uncount(struct tg_record_summary *summary, const struct tg_record *record);

/* "block" … of enum tg_record_policy. */
const char *tg_policy_name(unsigned policy);

#endif
