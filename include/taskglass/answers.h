/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers about recordings in the words of the command line, for programs: what `taskglass find` found among
 * the records that filters select, which tensors `taskglass stats` measures, and how recorded tensors compare
 * with values that NumPy saved (`taskglass check --against`).
 *
 *     tg_find_open(recording, TG_FIND_NAN, NULL, NULL, &find, &error)
 *     tg_find_answer_open(find, query, NULL, &answer, &error)
 *     tg_find_answer_get(answer, &info)                      info.result: "found", "nothing found" …
 *     for (i = 0; tg_find_answer_next(answer, &i, &finding, &entry); i++)
 *         …
 *
 * A handle belongs to one thread at a time. What it was made from must outlive it.
 */
#ifndef TASKGLASS_ANSWERS_H
#define TASKGLASS_ANSWERS_H

#include <taskglass/analysis.h>
#include <taskglass/check.h>
#include <taskglass/query.h>
#include <taskglass/replay.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ── find ──────────────────────────────────────────────────────────────────────────────────── */

struct tg_find_answer;

/* What a search means. */
struct tg_find_answer_info {
    /* "found"; "nothing found", with "in what was searched" behind it if something was left out; "listed"
     * for findings of CONSTANT, which accuse nobody; "possible" for findings of UNWRITTEN of which none is
     * proved; "not known" if nothing could be judged. */
    const char *result;
    const char *reason;       /* why it is not known or not proved, and what would tell; or "" */
    const char *no_reference; /* UNWRITTEN: why no reference was asked (NOT_TRUSTED); or "" */
    int exit_code;            /* that of the command: 0, 1 found, 2 possible or not known */
    uint64_t found;           /* findings that the filters select */
    uint64_t proved;          /* UNWRITTEN: those that accuse a task, */
    uint64_t possible;        /* those that may, */
    uint64_t passed_on;       /* and those that a task was given */
    uint64_t looked_at;       /* records searched */
    uint64_t not_stored;      /* records that could not be searched */
};

/* Selects the findings of records that the query selects (NULL: all), and says what they mean. Of UNWRITTEN
 * it asks the references of the kernels first, with this config (NULL: it does not ask): one that computes the
 * recorded values clears a task that is not accused by proof, one that computes others accuses it. Texts live
 * as long as the answer. NOT_FOUND: there are records, but the query selects none; CANCELLED: the config's
 * progress asked for that; NO_MEMORY; IO_ERROR: the recording's files changed. */
TG_API tg_status tg_find_answer_open(struct tg_find *find, const struct tg_query *query,
                                     const struct tg_reference_config *references,
                                     struct tg_find_answer **answer, struct tg_error *error);
/* NULL is allowed. Close it before its find. */
TG_API void tg_find_answer_close(struct tg_find_answer *answer);
TG_API void tg_find_answer_get(const struct tg_find_answer *answer,
                               struct tg_find_answer_info *info);
/* Moves *number to the next finding, from *number on, that counts. False past the last. Its number is also
 * that of tg_find_get_feed and tg_find_get_between. */
TG_API bool tg_find_answer_next(const struct tg_find_answer *answer, uint64_t *number,
                                struct tg_find_finding *finding, struct tg_entry *entry);
/* What the search left out, and why: note `number`, from 0; false past the last. What the recording itself
 * lacks (tg_recording_note) comes besides. */
TG_API bool tg_find_answer_note(const struct tg_find_answer *answer, unsigned number,
                                struct tg_note *note);

/* ── stats ─────────────────────────────────────────────────────────────────────────────────── */

/* A walk through the records that `taskglass stats` shows. */
struct tg_stats_walk {
    const struct tg_recording *recording;
    const struct tg_query *query; /* NULL: every tensor of a task */
    uint64_t next;                /* the record to look at next */
    uint64_t used;                /* of tg_entry_allow */
};

/* Begins a walk. Scalars, and arguments of the orchestration, of which no values are stored, are left out
 * unless the query names them. NOT_FOUND: the query names a record past the last, or there is nothing to show
 * although the run may have had something; the text says why. */
TG_API tg_status tg_stats_walk_begin(const struct tg_recording *recording,
                                     const struct tg_query *query, struct tg_stats_walk *walk,
                                     struct tg_error *error);
/* The next record, for tg_entry_measure. False past the last. */
TG_API bool tg_stats_walk_next(struct tg_stats_walk *walk, uint64_t *index, struct tg_entry *entry);

/* ── check --against ───────────────────────────────────────────────────────────────────────── */

/* How recorded tensors are compared with values that NumPy saved. Zeros are the defaults. */
struct tg_against_config {
    const char *file;             /* .npy or .npz */
    const struct tg_query *query; /* of .npy: selects the one tensor to compare */
    bool has_atol, has_rtol;      /* default: the tolerance of diff for the type */
    double atol, rtol;            /* |recorded - golden| <= atol + rtol * |golden| */
};

/* A recorded tensor and the array that it was compared with. */
struct tg_against_pair {
    const char *name; /* of the array in an .npz; "" of an .npy */
    uint64_t index;   /* of the record */
    struct tg_entry entry;
    struct tg_output_check check; /* name is NULL */
};
/* Called for each pair, in the order of the file, on the caller's thread. A return other than 0 cancels. */
typedef int (*tg_against_fn)(void *context, const struct tg_against_pair *pair);

/*
 * Compares an .npy with the one tensor that the query selects, or each array of an .npz with the record from
 * which `taskglass export --to npz` would make its name (task_RING_INDEX_before|after_argN). BAD_ARGUMENT: the
 * query selects no tensor or several, no record has that name, shapes differ, or a tensor is not stored in
 * full; IO_ERROR, NO_MEMORY, CANCELLED, and what tg_npy_open returns.
 */
TG_API tg_status tg_check_against(const struct tg_recording *recording,
                                  const struct tg_against_config *config, tg_against_fn tell,
                                  void *context, struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
