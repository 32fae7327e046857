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
    uint64_t truncated; /* those of them whose payload is shorter than it was */
    uint64_t cut_bytes; /* size of the torn end that was cut off the journal */
    uint64_t bad_bytes; /* after a bad record, left alone because good records follow */
    uint64_t payload_bytes; /* of all payloads, without the gaps between them */
    bool was_complete; /* it had its summary, so only the manifest was written again */
};

/*
 * `path`: a run's directory, the recording folder in it, or the journal. Cuts the journal after its
 * last whole record if no good one follows. Adds no summary, because the number of lost records is
 * not known; the manifest says `complete: false`. Truncates payloads that the payload file does not
 * have whole. It may be called again, with the same result.
 *
 * It changes files, so only one process at a time may do it; the journal's lock makes sure. BUSY: a
 * run is still writing the journal. NOT_FOUND: there is no journal. BAD_ARGUMENT: the file is not a
 * journal. IO_ERROR.
 */
TG_API tg_status tg_recording_recover(const char *path, struct tg_recovery *recovered,
                                      struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
