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

/* ── find stomp: who did it ────────────────────────────────────────────────────────────────── */

/* Where the changed bytes lie, seen from that output of a task that is nearest to them. */
/*      constant   word, meaning */
#define TG_FIND_PLACE_MAP(X)                            \
    X(UNKNOWN, "", "no output of the task is known")    \
    X(INSIDE, "inside", "in the output")                \
    X(GAP, "gap", "between the elements of the output") \
    X(BEHIND, "behind", "behind the output")            \
    X(BEFORE, "before", "before the output")

#define TG_FIND_PLACE_ENUM_(constant, word, meaning) TG_FIND_PLACE_##constant,
enum tg_find_place { TG_FIND_PLACE_MAP(TG_FIND_PLACE_ENUM_) TG_FIND_PLACES };
#undef TG_FIND_PLACE_ENUM_
/* The word of a place; "?" for a number that is none. */
TG_API const char *tg_find_place_name(unsigned place);

/* What a replay of a suspect with guards (taskglass/guard.h) showed. */
/*      constant   word, meaning */
#define TG_FIND_REPLAYED_MAP(X)                                                         \
    X(NOT, "", "it was not replayed")                                                   \
    X(CONVICTS, "convicts", "it writes bytes that changed and are none of its outputs") \
    X(STRAYS, "strays", "it writes outside of its outputs, but not seen to write here") \
    X(CLEARS, "clears", "it writes nothing outside of its outputs that guards can see") \
    X(FAILED, "failed", "it could not be judged")

#define TG_FIND_REPLAYED_ENUM_(constant, word, meaning) TG_FIND_REPLAYED_##constant,
enum tg_find_replayed { TG_FIND_REPLAYED_MAP(TG_FIND_REPLAYED_ENUM_) TG_FIND_REPLAYEDS };
#undef TG_FIND_REPLAYED_ENUM_
/* The word of what a replay showed; "?" for a number that is none. */
TG_API const char *tg_find_replayed_name(unsigned replayed);

/* Why a suspect is the one that did it. */
/*      constant  word, meaning */
#define TG_FIND_EVIDENCE_MAP(X)                                                                     \
    X(NONE, "", "nothing proves which suspect did it")                                              \
    X(GUARDS, "guards", "replayed between guards, it writes these bytes")                           \
    X(RACE, "race",                                                                                 \
      "it writes this memory, nothing keeps it and the reader in order, and what the reader found " \
      "is what it wrote")                                                                           \
    X(ALONE, "alone", "no other task can have run between the two records")

#define TG_FIND_EVIDENCE_ENUM_(constant, word, meaning) TG_FIND_EVIDENCE_##constant,
enum tg_find_evidence { TG_FIND_EVIDENCE_MAP(TG_FIND_EVIDENCE_ENUM_) TG_FIND_EVIDENCES };
#undef TG_FIND_EVIDENCE_ENUM_
/* The word and the meaning of evidence; "?" for a number that is none. */
TG_API const char *tg_find_evidence_name(unsigned evidence);
TG_API const char *tg_find_evidence_text(unsigned evidence);

/* A task that can have changed the bytes of a stomp, and what speaks for it. */
struct tg_find_suspect {
    uint64_t task_id;
    uint64_t record;              /* one of its records; TG_NONE: it has none */
    const char *kernel[TG_PARTS]; /* names; NULL after the last, and for a part without one */
    bool writes;                  /* an output of it overlaps the memory of the finding */
    bool races;    /* nothing keeps it in order with the task of the finding (taskglass/race.h) */
    bool is_given; /* bytes that changed are in an input of it */
    bool is_late; /* its kernel began at the earliest while the changed bytes were being recorded */
    bool has_place;     /* `argument` and `distance` are known */
    uint32_t argument;  /* the output nearest to the changed bytes, */
    uint32_t place;     /* enum tg_find_place: where they lie seen from it, */
    uint64_t distance;  /* and the bytes in between: 0 if they touch */
    uint32_t replayed;  /* enum tg_find_replayed */
    const char *misuse; /* what guards saw, or why it could not be judged: a sentence; or "" */
};

/* How to replay suspects. Zero means the default everywhere. */
struct tg_find_replay_config {
    const char *module; /* as in tg_replay_all_config, as are the others */
    uint32_t workers;
    uint64_t most; /* tasks to replay, the most suspicious first; default 256 */
    int (*progress)(void *context, uint64_t done, uint64_t tasks);
    void *progress_context;
    tg_trust_fn ask;
    void *ask_context;
    tg_guard_fn guard;
    void *guard_context;
};

/* Replays the suspects of the findings that the answer selects, with guards, on the devices that the settings
 * describe; it does nothing for other kinds than STOMP, and where there is no finding. OK: the suspects that
 * could be replayed are judged. NOT_TRUSTED, NOT_FOUND: there is no module that may be loaded, and everything
 * stays as it was; UNSUPPORTED: the recording has no payload; the other errors are those of tg_replay_all. */
TG_API tg_status tg_find_answer_replay(struct tg_find_answer *answer,
                                       const struct tg_settings *settings,
                                       const struct tg_find_replay_config *config,
                                       struct tg_error *error);

/* Ranks the suspects of a STOMP finding, which the functions below and tg_find_get_between do by themselves,
 * but without saying that memory ran out. NO_MEMORY. */
TG_API tg_status tg_find_answer_rank(struct tg_find_answer *answer, uint64_t finding,
                                     struct tg_error *error);
/* Suspect `number`, from 0, of a STOMP finding, the most suspicious first; false past the last one, and for
 * other kinds. Its texts live until another finding is asked about. The handle keeps the suspects of one
 * finding at a time. */
TG_API bool tg_find_answer_suspect(struct tg_find_answer *answer, uint64_t finding, uint64_t number,
                                   struct tg_find_suspect *suspect);
/* Why suspect 0 of the finding is the one that did it; NONE: it is not known who did it. */
TG_API enum tg_find_evidence tg_find_answer_evidence(struct tg_find_answer *answer,
                                                     uint64_t finding);

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
