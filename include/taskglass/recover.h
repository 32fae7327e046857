/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the recording of a killed host readable, and saves what damage has left of one: cuts the
 * unfinished end of the journal, and writes the manifest. */
#ifndef TASKGLASS_RECOVER_H
#define TASKGLASS_RECOVER_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What tg_recording_recover found and did. */
struct tg_recovery {
    uint64_t records;       /* in the manifest now */
    uint64_t lost;          /* records that the run counted as lost, for example on a full disk; if
                               was_complete is false, their number is not known, and this is 0 */
    uint64_t truncated;     /* those of them whose payload is shorter than it was */
    uint64_t damaged;       /* records that neither file has any more; they are left out */
    uint64_t from_manifest; /* records that only the old manifest had; they are kept */
    uint64_t cut_bytes;     /* size of the unfinished end that was cut off the journal */
    uint64_t zero_bytes;    /* the part of it that was zeros, as a power loss leaves them */
    uint64_t bad_bytes;     /* damaged records in the journal; they were left as they are */
    uint64_t payload_bytes; /* of all payloads, without the gaps between them */
    bool was_complete;      /* a summary or the old manifest says that the recording ends here */
    bool kept_manifest;     /* the manifest was good already, and was left as it is */
    bool lacks_payload; /* so it was, because the payload file is missing or shorter than it says */
    uint32_t put_aside; /* the old manifest is now tensor_dump.json.damaged (1), .damaged.2 (2) and
                               so on; 0: none was replaced */
};

/*
 * `path`: a run's directory, the recording folder in it, or the journal. Skips damaged records, takes
 * from the old manifest what the journal lacks, and writes the manifest anew unless it is good
 * already: afterwards no record is missing that could be read before. The manifest stays as it is if its
 * checks are right and the payload file lacks payloads that it has. A manifest that is replaced is kept
 * as tensor_dump.json.damaged, with a number if that exists. Then cuts zeros and an unfinished record
 * off the journal's end. Adds no summary, because the number of lost records is not known; the
 * manifest of an incomplete recording says `complete: false`. Truncates payloads that the payload
 * file does not have whole. It may be called again, with the same result.
 *
 * Removes temporary files that a killed run left in its folder.
 *
 * It changes files, so only one process at a time may do it; the locks of the run's folder and of the
 * journal make sure. BUSY: a run is still writing there. NOT_FOUND: there is no journal. BAD_ARGUMENT: neither the journal
 * nor the manifest can be read, or the checks of the manifest are right and the journal contradicts it, as
 * that of another run does; nothing was changed. IO_ERROR.
 */
TG_API tg_status tg_recording_recover(const char *path, struct tg_recovery *recovered,
                                      struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
