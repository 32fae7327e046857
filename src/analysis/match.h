/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks of a recording in the order of submission, with their records; and which task and which
 * record of one recording is which of another.
 *
 *   match_tasks.c   the tasks of one recording
 *   match.c         two of them
 *   match_align.c   two orders in which the numbers of tasks differ
 */
#ifndef TG_ANALYSIS_MATCH_H
#define TG_ANALYSIS_MATCH_H

#include <taskglass/analysis.h>

#include "analysis/deps.h"
#include "base/names.h"

/* A record, where its task, stage and argument put it. */
struct tg_record_ref {
    uint64_t task_id;
    uint64_t index;
    uint32_t place; /* stage << 8 | argument */
};

static inline unsigned tg_record_ref_stage(const struct tg_record_ref *ref)
{
    return ref->place >> 8;
}

#define TG_NO_ROW UINT32_MAX

/* A task, with records or without. */
struct tg_task_row {
    uint64_t id;
    const char *kernel; /* its kernels; the same pointer for the same ones, once they are named */
    uint64_t first, count; /* its records, in `ref` */
    uint32_t deps;         /* its place in deps.json; TG_NO_ROW */
};

struct tg_tasks {
    const struct tg_recording *recording;
    struct tg_recording_info info;
    struct tg_deps *deps; /* NULL: none, or not to be read */
    struct tg_error deps_error;
    struct tg_record_ref *ref; /* by task, then by place, then by index */
    uint64_t n_refs;
    uint64_t damaged;
    bool has_names; /* of kernels */
    /* What the orchestration was given comes first (id TG_TASK_NONE), then the tasks of deps.json,
     * then those that are only in the records, by id. */
    struct tg_task_row *row;
    uint32_t n_rows;
    uint32_t *by_id;   /* rows, by id */
    uint32_t *of_deps; /* row of each task of deps.json */
};

/* A deps.json that cannot be read is none: `deps_error` says why. NO_MEMORY. */
tg_status tg_tasks_open(const struct tg_recording *recording, struct tg_tasks *tasks,
                        struct tg_error *error);
/* Names the kernels of each task: "add", "mat+add", or "#3" where numbers are asked for or names
 * are missing. False where memory ran out. */
bool tg_tasks_name(struct tg_tasks *tasks, bool by_number, struct tg_names *names);
void tg_tasks_close(struct tg_tasks *tasks);
/* TG_NO_ROW where no task has it. */
uint32_t tg_tasks_find(const struct tg_tasks *tasks, uint64_t id);

/* --- two recordings --------------------------------------------------------------------------- */

/* A task of one or of both. */
struct tg_matched_task {
    uint32_t a, b; /* rows; TG_NO_ROW: not there */
    uint64_t first_pair, n_pairs;
};

struct tg_matched_pair {
    uint64_t a, b; /* records; TG_NONE: not there */
    uint32_t task;
};

struct tg_match {
    const char *how; /* "id", "position", "alignment" */
    struct tg_matched_task *task;
    uint32_t n_tasks;
    uint32_t matched, only_a, only_b; /* without what the orchestration was given */
    struct tg_matched_pair *pair;     /* task by task, in the order of stages and arguments */
    uint64_t n_pairs;
};

/* Both must be named, by the same names. NO_MEMORY. */
tg_status tg_match_make(const struct tg_tasks *a, const struct tg_tasks *b, struct tg_match *match,
                        struct tg_error *error);
void tg_match_free(struct tg_match *match);

/* partner[i]: what item i of `a` is in `b`, in an alignment of the two with the fewest items left
 * over; TG_NO_ROW for those. Where more than TG_ALIGN_MOST are left over nothing is aligned behind
 * what the two begin and end with alike. False where memory ran out. */
enum { TG_ALIGN_MOST = 2000 };
bool tg_align(const char *const *a, uint32_t n_a, const char *const *b, uint32_t n_b,
              uint32_t *partner);

#endif
