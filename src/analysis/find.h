/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds values that should not be there, and the task they came from.
 *
 *   find.c             the public functions
 *   find_probe.c       the search in one tensor
 *   find_trace.c       the task that made a value, and the tasks that were given it
 *   find_unwritten.c   outputs that their tasks did not write, or not all of them
 *   find_poison.c      the pattern that filled memory when it was handed out
 *   find_stale.c       outputs whose other elements suggest that some were not written
 *   stomp.c            tensors that changed although no task wrote them; stomp.h has who did it
 */
#ifndef TG_ANALYSIS_FIND_H
#define TG_ANALYSIS_FIND_H

#include <taskglass/array.h>

#include "analysis/deps_flow.h"

/* What one record contains of the value that is looked for. */
struct tg_probe {
    uint64_t count; /* number of elements */
    uint64_t first; /* TG_NONE: none */
    bool is_known;  /* all of it was read, or enough of it to find one */
};

/* A task that ran between the two records of a stomp. */
struct tg_find_neighbour {
    uint32_t row, begin; /* `begin` is its first event */
};

/* Answers about a task that are the same for each of its outputs. Working one out reads all records of the
 * task, and a task of a strange recording may have any number of both. */
struct tg_find_task {
    bool knows_arguments, misses_argument; /* of tg_find_misses_argument */
    bool knows_poison, was_given_poison, inputs_are_known;
};

struct tg_find {
    enum tg_find_kind find_kind;
    const struct tg_recording *recording;
    bool is_selective; /* not every argument of every task has a record */
    struct tg_tasks tasks;
    struct tg_flow flow;
    struct tg_probe *probe;    /* one for each record, for kinds that are found in single tensors */
    struct tg_find_task *task; /* one for each row, for UNWRITTEN */
    struct tg_find_finding *finding;
    uint64_t n_findings;
    size_t room;
    uint64_t origins, proved, looked_at, not_stored, only_hashed, unfinished;
    tg_analysis_progress_fn progress; /* one of these, or none */
    tg_analysis_watch_fn watch;
    void *context;
    uint64_t accounts; /* calls of tg_find_account */
    bool is_cancelled; /* the watch asked for that: the search ends at the next record */
    uint64_t done, total;
    /* of the finding whose neighbours were asked for last */
    struct tg_find_neighbour *neighbour;
    uint32_t n_neighbours;
    uint64_t neighbours_of;
};

/* True if an argument of the task has no record at all, although a later one has; or if the recording
 * left out arguments, so that the last ones may be missing too. For UNWRITTEN only. */
bool tg_find_misses_argument(struct tg_find *find, const struct tg_task_row *row);

/* True for a call of communication, whose inputs on other ranks are not in the recording. */
bool tg_find_is_call(const struct tg_find *find, const struct tg_task_row *row);

bool tg_find_add(struct tg_find *find, const struct tg_find_finding *finding);
/* Counts bytes that were read, and reports progress. */
void tg_find_account(struct tg_find *find, uint64_t bytes);

/* For NAN, INF, OVERFLOW and CONSTANT. */
void tg_probe_array(enum tg_find_kind find_kind, const struct tg_array *array,
                    struct tg_probe *probe);

/* Each returns false if memory ran out, or if the search was cancelled. */
bool tg_find_probe_all(struct tg_find *find);
bool tg_find_trace(struct tg_find *find);
bool tg_find_unwritten(struct tg_find *find);
bool tg_find_stomps(struct tg_find *find);

/* --- unwritten -------------------------------------------------------------------------------- */

/* Where a tensor still has the pattern. */
struct tg_poison_traces {
    uint64_t count, first; /* elements; `first` is TG_NONE if there is none */
    bool is_proof;         /* chance cannot explain it */
};

/* `array` is the whole record. Returns false if no element has the pattern. */
bool tg_poison_find(const struct tg_array *array, const struct tg_record *record, uint32_t poison,
                    struct tg_poison_traces *traces);
/* The hash of the record if nothing was written to it; false if computing it would take too long. */
bool tg_poison_hash(const struct tg_record *record, uint32_t poison, uint64_t *hash);

/* True if a range of the output is what another kernel left there, and every other element has
 * changed: sets the range and the record that saw it before. */
bool tg_stale_find(struct tg_find *find, const struct tg_flow_event *event,
                   const struct tg_entry *entry, struct tg_find_finding *finding);
/* True if the task that wrote these bytes before had the same kernels and the same inputs: it is no
 * wonder that the result is the same. */
bool tg_stale_is_repeat(struct tg_find *find, const struct tg_flow_event *event);

/* The recorded hash, or that of a payload that is stored whole. Returns false if there is
 * neither. */
bool tg_find_hash(struct tg_find *find, const struct tg_entry *entry, uint64_t *hash);

/* The tasks that have records between two events, by their first event, except the task of `last`
 * and a task whose own write is `first`. The caller frees the result. Returns NULL with *count 0 if
 * memory ran out. */
struct tg_find_neighbour *tg_stomp_between(const struct tg_find *find, uint32_t first,
                                           uint32_t last, uint32_t *count);
/* Sets find->neighbour for a finding. Done only when it is asked for, because it reads the records of every
 * task. Returns false if memory ran out. */
bool tg_find_neighbours(struct tg_find *find, uint64_t finding);
/* True if an output of the task overlaps the bytes of a record. */
bool tg_stomp_writes(const struct tg_find *find, uint32_t row, uint64_t record);

#endif
