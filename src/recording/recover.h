/* SPDX-License-Identifier: Apache-2.0 */
/* What a killed host left, made whole: the journal without its torn end, and a manifest. */
#ifndef TG_RECORDING_RECOVER_H
#define TG_RECORDING_RECOVER_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/status.h>

struct tg_dump_recovered {
    uint64_t records;   /* in the manifest now */
    uint64_t truncated; /* of them: payload shorter than it was */
    uint64_t cut_bytes; /* torn end that was cut off the journal */
    uint64_t bad_bytes; /* behind a bad record, left alone: good records follow it */
    uint64_t payload_bytes;
    bool was_complete; /* it had its summary: the manifest was written again, nothing else */
};

/*
 * `path`: a run's directory, the recording folder in it, or the journal. The journal is cut after
 * its last whole record where no good one follows; no summary is added, since nobody knows what was
 * lost; the manifest says `complete: false`. Payloads that the file does not have whole are
 * truncated to what is there. May be run again, with the same result.
 *
 * BUSY: it is still being written. NOT_FOUND: no journal there. BAD_ARGUMENT: it is none.
 */
TG_API tg_status tg_dump_recover(const char *path, struct tg_dump_recovered *recovered,
                                 struct tg_error *error);

#endif
