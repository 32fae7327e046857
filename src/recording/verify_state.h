/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a verification share. */
#ifndef TG_RECORDING_VERIFY_STATE_H
#define TG_RECORDING_VERIFY_STATE_H

#include <pthread.h>
#include <taskglass/verify.h>

#include "base/files.h"
#include "recording/extents.h"

struct tg_verifier {
    const struct tg_recording *recording;
    struct tg_recording_info info;
    struct tg_verification *result; /* guarded by the lock while there are threads */
    struct tg_extent *extent;       /* one for each record; size 0: none */
    uint64_t zeros_from;    /* of the payload file: from here on it has only zeros; under the lock;
                          * UINT64_MAX: nobody has looked yet */
    uint64_t short_records; /* whose payload reaches past the end of the payload file; atomic */
    uint64_t total;         /* about how many bytes there are to check */
    uint64_t next;          /* the next record that no thread has taken; atomic */
    uint64_t done;          /* bytes checked so far; atomic */
    tg_verify_progress_fn progress; /* one of these, or none */
    tg_verify_watch_fn watch;
    void *context;
    uint64_t cancelled;   /* not 0: the watch asked for that, and the threads end; atomic */
    struct tg_error loss; /* why the manifest could not be compared; status TG_OK: it was */
    pthread_mutex_t lock;
};

__attribute__((format(printf, 4, 5))) void tg_verify_found(struct tg_verifier *verifier,
                                                           enum tg_problem problem, uint64_t index,
                                                           const char *format, ...);

/* Checks every record and its payload, on several threads. */
void tg_verify_records(struct tg_verifier *verifier);
/* Reports what the reader found damaged in the journal. */
void tg_verify_journal(struct tg_verifier *verifier);
/* The same for a manifest. */
void tg_verify_damage(struct tg_verifier *verifier, const struct tg_recording *manifest);
/* Checks the counters of a summary or manifest against the sums over the records. */
void tg_verify_counters(struct tg_verifier *verifier, const struct tg_recording_info *info);
/* Checks the manifest beside a journal; sets `loss` if it cannot. */
void tg_verify_manifest(struct tg_verifier *verifier);
/* Compares the lines of the manifest's entries with the records; sets `loss` if it cannot. False, and
 * nothing was reported: the list has other lines than one for each record. `list`: the text behind the
 * opening bracket. */
bool tg_verify_lines(struct tg_verifier *verifier, const struct tg_map *map, const char *list);
/* Compares the members before the list; sets `loss` if it cannot. */
void tg_verify_head(struct tg_verifier *verifier, const struct tg_map *map, const char *list);

#endif
