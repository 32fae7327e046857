/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes of the payload file the records claim, and how much work that may make.
 *
 * No two records of a writer share bytes, so all payloads together are at most as large as the payload
 * file. A stranger's records may all claim the same bytes, or a hole of terabytes: a file of some
 * kilobytes would then make a verb read, or an export write, without end. The limits on that are here.
 */
#ifndef TG_RECORDING_EXTENTS_H
#define TG_RECORDING_EXTENTS_H

#include <stdint.h>
#include <taskglass/recording.h>

struct tg_extent {
    uint64_t position, size;
    uint64_t record;
};
/* Leaves out those without bytes and sorts the others by position, then by record. Returns how many are
 * left. */
uint64_t tg_extents_sort(struct tg_extent *extent, uint64_t count);

/* The sum, or UINT64_MAX if it is larger. */
static inline uint64_t tg_claims_add(uint64_t sum, uint64_t more)
{
    return more < UINT64_MAX - sum ? sum + more : UINT64_MAX;
}

/*
 * At most so many bytes may all records together claim; each is read then. Twice the payload file, because
 * a foreign writer could store a tensor once for the task that wrote it and the task that read it; and
 * small recordings may claim what they like.
 *
 * Of holes, at most 16 GiB count: they take minutes to read, and a stranger's file has terabytes for nothing.
 *
 * If the records claim more, the reader gives some of them the flag EXCESS. Those without it share no bytes
 * and have at most that much of holes.
 */
uint64_t tg_recording_claims_limit(const struct tg_recording *recording);
/* At the end of opening: sets those flags, which tg_recording_get gives out. */
tg_status tg_recording_judge_claims(struct tg_recording *recording, struct tg_error *error);

/* Sizes that do no harm, whatever the files have. */
#define TG_CLAIMS_SMALL (UINT64_C(64) << 20)

/* What a task's memory may take: TG_CLAIMS_SMALL, or the data that the payload file has on the disk,
 * without holes. */
uint64_t tg_recording_memory_limit(const struct tg_recording *recording);
/* What an export may write without being told so: as tg_recording_claims_limit, but holes count only up to
 * 1 GiB. So a sparse copy of a recording with large tensors of zeros can be exported. */
uint64_t tg_recording_export_limit(const struct tg_recording *recording);

#endif
