/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a verification share. */
#ifndef TG_RECORDING_VERIFY_STATE_H
#define TG_RECORDING_VERIFY_STATE_H

#include <pthread.h>
#include <taskglass/verify.h>

/* Bytes of the payload file that a record says are its own. */
struct tg_claim {
    uint64_t position, size;
};

struct tg_verifier {
    const struct tg_recording *recording;
    struct tg_recording_info info;
    struct tg_verification *result; /* under the lock while there are threads */
    struct tg_claim *claim;         /* one for each record; size 0: none */
    uint64_t total;                 /* bytes there are to look at, about */
    uint64_t next;                  /* the next record that nobody has taken; atomic */
    uint64_t done;                  /* bytes looked at; atomic */
    pthread_mutex_t lock;
};

__attribute__((format(printf, 4, 5))) void tg_verify_found(struct tg_verifier *verifier,
                                                           enum tg_problem problem, uint64_t index,
                                                           const char *format, ...);

/* Every record and its payload; several threads. */
void tg_verify_records(struct tg_verifier *verifier, tg_verify_progress_fn progress, void *context);
/* The journal as it lies there against what the reader makes of it. */
void tg_verify_journal(struct tg_verifier *verifier);
/* What a summary or manifest says against what the records add up to. */
void tg_verify_counters(struct tg_verifier *verifier, const struct tg_recording_info *info);
/* The manifest beside a journal. */
void tg_verify_manifest(struct tg_verifier *verifier);

#endif
