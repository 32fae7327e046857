/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who stomped: the tasks that may have changed the bytes of a stomp, with the evidence against each.
 *
 *   stomp.c          finds tensors that changed although no recorded task wrote them
 *   stomp_when.c     which tasks can have run while the bytes changed, by times and edges
 *   stomp_bytes.c    which bytes changed
 *   stomp_near.c     evidence from the views of a task: how far from the changed bytes they are
 *   stomp_race.c     evidence from races (taskglass/race.h)
 *   stomp_replay.c   evidence from replays with guards (taskglass/guard.h)
 *   stomp_rank.c     the order of the suspects, and whether one of them is the culprit
 */
#ifndef TG_ANALYSIS_STOMP_H
#define TG_ANALYSIS_STOMP_H

#include <taskglass/answers.h>
#include <taskglass/guard.h>

#include "analysis/find.h"

/* --- when ------------------------------------------------------------------------------------- */

/* The kernels of a task began at `began` or later and had ended at `ended` or earlier: 0 and UINT64_MAX if
 * nothing is known. */
struct tg_stomp_time {
    uint64_t began, ended;
    uint64_t dispatched; /* its first input was recorded then; UINT64_MAX: it has none */
};

/* False if the records have no times, so that nothing is known about when a task ran. */
bool tg_stomp_has_times(const struct tg_find *find);
/* One for each row; NULL if memory ran out. The caller frees it. */
struct tg_stomp_time *tg_stomp_times(const struct tg_find *find);

/* The two events of a finding, and the time in which the bytes changed: after `from` and before `to`. */
struct tg_stomp_window {
    uint32_t first, last; /* events */
    uint64_t from, to;
    uint64_t read; /* the record of `last` was begun at this time, and was made by `to` */
};
struct tg_stomp_window tg_stomp_window_of(const struct tg_find *find,
                                          const struct tg_stomp_time *times,
                                          const struct tg_find_finding *finding);
/* True if the task of the row can have run in the window. */
bool tg_stomp_may_have_run(const struct tg_find *find, const struct tg_stomp_time *times,
                           const struct tg_stomp_window *window, uint32_t row);

/* --- which bytes ------------------------------------------------------------------------------ */

struct tg_stomp_range {
    uint64_t lo, hi;
};

/* The bytes of memory that changed; if that is not known, all bytes of the record. */
struct tg_stomp_bytes {
    struct tg_stomp_range *range; /* sorted, not empty, with gaps between them */
    size_t count, room;
    bool is_exact;
};

/* The view of a record; false for one that no device makes, or that has no elements or no address. */
bool tg_stomp_tensor_of(const struct tg_record *record, struct tg_tensor *tensor);
/* Returns false if memory ran out. The caller frees the bytes in both cases. */
bool tg_stomp_bytes_of(const struct tg_find *find, const struct tg_find_finding *finding,
                       struct tg_stomp_bytes *bytes);
/* The same with all bytes of a record. */
bool tg_stomp_bytes_whole(const struct tg_find *find, uint64_t record,
                          struct tg_stomp_bytes *bytes);
void tg_stomp_bytes_free(struct tg_stomp_bytes *bytes);
/* True if a byte of [lo, hi) is among them. */
bool tg_stomp_bytes_meet(const struct tg_stomp_bytes *bytes, uint64_t lo, uint64_t hi);
/* The number of bytes between [lo, hi) and the nearest changed byte: 0 if they touch or overlap. Sets
 * *is_behind if that byte is behind `hi`. There must be a range. */
uint64_t tg_stomp_bytes_distance(const struct tg_stomp_bytes *bytes, uint64_t lo, uint64_t hi,
                                 bool *is_behind);

/* --- the evidence ----------------------------------------------------------------------------- */

/* Two tasks that race, by their ids; the smaller one first. */
struct tg_stomp_race {
    uint64_t a, b;
};

/* A write outside of an argument that guards saw, at its place in the memory of the recorded run. */
struct tg_stomp_stray {
    struct tg_stomp_range first, row; /* the first element, and all of them */
};
enum { TG_STOMP_STRAYS = 16 };

/* What a replay with guards said of a task. */
struct tg_stomp_verdict {
    uint64_t task;
    uint32_t replayed; /* enum tg_find_replayed, as far as it does not depend on the finding */
    uint32_t n_strays;
    struct tg_stomp_stray stray[TG_STOMP_STRAYS];
    char text[sizeof((struct tg_guard_finding *)0)->text];
};

/* What the answer about stomps keeps. */
struct tg_stomp {
    struct tg_stomp_time *times;
    struct tg_stomp_race *race; /* sorted */
    size_t n_races, race_room;
    bool knows_races, no_memory;
    struct tg_stomp_verdict *verdict; /* sorted by task */
    size_t n_verdicts, verdict_room;
    /* The suspects of the finding that was asked for last. */
    struct tg_find_suspect *suspect;
    uint64_t n_suspects, suspects_of;
    enum tg_find_evidence evidence;
};

/* Sets what the views of the task say: writes, is_given, argument, place and distance. `whole` has all bytes
 * of the finding's record, `bytes` those that changed. */
void tg_stomp_near(const struct tg_find *find, uint32_t row, const struct tg_stomp_bytes *whole,
                   const struct tg_stomp_bytes *bytes, struct tg_find_suspect *suspect);
/* True if one output of the task has all bytes that changed, and the values that `record` saw there. */
bool tg_stomp_wrote_values(const struct tg_find *find, uint32_t row, uint64_t record,
                           const struct tg_stomp_bytes *bytes);
/* Finds the races of the run once. Where they cannot be judged, nobody races. Returns false if memory ran
 * out. */
bool tg_stomp_find_races(struct tg_stomp *stomp, const struct tg_recording *recording);
bool tg_stomp_do_race(const struct tg_stomp *stomp, uint64_t a, uint64_t b);
/* Sets `replayed` and `misuse` of the suspect. */
void tg_stomp_judge(const struct tg_stomp *stomp, const struct tg_stomp_bytes *bytes,
                    struct tg_find_suspect *suspect);

/* --- the answer ------------------------------------------------------------------------------- */

/* Sets up stomp->suspect for a finding, the most suspicious first. Returns false if memory ran out. */
bool tg_stomp_rank(struct tg_find *find, struct tg_stomp *stomp, uint64_t number);

/* NULL: no memory. */
struct tg_stomp *tg_stomp_open(const struct tg_find *find);
/* NULL is allowed. */
void tg_stomp_close(struct tg_stomp *stomp);

#endif
