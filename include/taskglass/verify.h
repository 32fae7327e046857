/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether a recording is consistent, as `taskglass verify` does: every hash against its bytes,
 * every counter against the records, every record against the files, and the manifest against the
 * journal.
 */
#ifndef TASKGLASS_VERIFY_H
#define TASKGLASS_VERIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/recording.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What can be wrong. The words are part of `taskglass verify --json`. */
/*      constant   word */
#define TG_PROBLEM_MAP(X)                                                                       \
    X(HASH, "hash")           /* the bytes are not those that the device saw */                 \
    X(RECORD, "record")       /* its fields are impossible, or not in the files */              \
    X(OVERLAP, "overlap")     /* two payloads share bytes */                                    \
    X(COUNTER, "counter")     /* a number in the summary or manifest contradicts the records */ \
    X(MANIFEST, "manifest")   /* damaged, or contradicts the journal */                         \
    X(JOURNAL, "journal")     /* its head or a record in it is damaged */                       \
    X(UNCLAIMED, "unclaimed") /* bytes of the payload file that belong to no record */

#define TG_PROBLEM_ENUM_(constant, word) TG_PROBLEM_##constant,
enum tg_problem { TG_PROBLEM_MAP(TG_PROBLEM_ENUM_) TG_PROBLEMS };
#undef TG_PROBLEM_ENUM_

/* The word of the table above; "unknown" for any other number. Never NULL. */
TG_API const char *tg_problem_name(unsigned problem);

/* One problem of a recording. */
struct tg_verify_finding {
    enum tg_problem problem;
    uint64_t index; /* of the record; TG_NONE: the finding is not about one record */
    char text[200]; /* one line */
};

enum { TG_VERIFY_FINDINGS = 10 };

/* What tg_recording_verify compared and found. */
struct tg_verification {
    uint64_t records;
    uint64_t payloads;  /* records with bytes in the payload file */
    uint64_t bytes;     /* of them */
    uint64_t compared;  /* hashes compared with all of the bytes that they cover */
    uint64_t unhashed;  /* payloads without a hash */
    uint64_t cut;       /* payloads whose hash covers more bytes than are stored */
    uint64_t unread;    /* payloads whose hash was not compared: they have the flag EXCESS */
    uint64_t unclaimed; /* bytes of the payload file that belong to no record */
    bool manifest;      /* there is one beside the journal, and it was compared */
    bool torn;          /* the journal ends within a record, as a killed host leaves it */
    uint64_t problems;
    uint64_t by_problem[TG_PROBLEMS];
    struct tg_verify_finding finding[TG_VERIFY_FINDINGS]; /* the first, in the order of records */
    uint32_t n_findings;
    struct tg_record_summary counted; /* the counts that the records add up to */
};

/* Called now and then on the thread that called tg_recording_verify. */
typedef void (*tg_verify_progress_fn)(void *context, uint64_t bytes, uint64_t total);

/*
 * Uses one thread for each CPU, at most four, all of which have ended when it returns, and 24 bytes
 * of memory for each record. `progress` may be NULL. A problem is not an error: `problems` counts
 * them. Without a problem, but with payloads that are `unread`, it is not known whether the recording is
 * intact: those are holes, which tg_recording_read_holes lets be read. Fails with NO_MEMORY only.
 */
TG_API tg_status tg_recording_verify(const struct tg_recording *recording,
                                     tg_verify_progress_fn progress, void *context,
                                     struct tg_verification *result, struct tg_error *error);

/* The same for work that can be stopped: a return other than 0 cancels it. */
typedef int (*tg_verify_watch_fn)(void *context, uint64_t bytes, uint64_t total);
/* The same as tg_recording_verify, and CANCELLED: `watch`, which may be NULL, asked for that. */
TG_API tg_status tg_recording_verify_watched(const struct tg_recording *recording,
                                             tg_verify_watch_fn watch, void *context,
                                             struct tg_verification *result,
                                             struct tg_error *error);

/* Room for the reason of a result, which has a path. */
struct tg_verify_reason {
    char text[4600];
};
/* "good", "bad", or "not known" if nothing is wrong but not everything was read: `reason`, if it is not NULL,
 * then says what to type. Never NULL. */
TG_API const char *tg_verification_result(const struct tg_recording *recording,
                                          const struct tg_verification *result,
                                          struct tg_verify_reason *reason);

#ifdef __cplusplus
}
#endif
#endif
