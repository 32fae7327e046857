/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the recording of a killed host readable: cuts the torn end of its journal, and writes the
 * manifest. */
#ifndef TASKGLASS_RECOVER_H
#define TASKGLASS_RECOVER_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tg_recovery {
    uint64_t records;   /* in the manifest now */
    uint64_t truncated; /* of them: payload shorter than it was */
    uint64_t cut_bytes; /* torn end that was cut off the journal */
    uint64_t bad_bytes; /* behind a bad record, left alone: good records follow it */
    uint64_t payload_bytes;
    bool was_complete; /* it had its summary: the manifest was written again, nothing else */
};

/*
 * `path`: a run's directory, the recording folder in it, or the journal. The journal is cut after
 * its last whole record where no good one follows. No summary is added, since what was lost is not
 * known; the manifest says `complete: false`. Payloads that the file does not have whole are
 * truncated to what is there. It may be run again, with the same result.
 *
 * Changes files: one process at a time, which the journal's lock sees to. BUSY: the run still writes
 * it. NOT_FOUND: no journal there. BAD_ARGUMENT: the file is no journal. IO_ERROR.
 */
TG_API tg_status tg_recording_recover(const char *path, struct tg_recovery *recovered,
                                      struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
