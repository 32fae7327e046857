/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks of a recording in the order of submission, with their records; and which task and
 * record of one recording corresponds to which of another.
 *
 *   match_tasks.c   the tasks of one recording
 *   match.c         which task and record of two recordings go together
 *   match_flow.h    how they are found
 *   match_align.c   aligning two sequences of different length
 */
#ifndef TG_ANALYSIS_MATCH_H
#define TG_ANALYSIS_MATCH_H

#include <taskglass/analysis.h>

#include "analysis/deps.h"
#include "base/names.h"

/* A record with its task, stage and argument, to sort by. */
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
    const char *kernel;    /* its kernels; tg_tasks_name gives equal names the same pointer */
    uint64_t first, count; /* its records, in `ref` */
    uint32_t deps;         /* its index in deps.json; TG_NO_ROW */
};

struct tg_tasks {
    const struct tg_recording *recording;
    struct tg_recording_info info;
    struct tg_deps *deps; /* NULL: there is none, or it cannot be read */
    struct tg_error deps_error;
    struct tg_record_ref *ref; /* by task, then by place, then by index */
    uint64_t n_refs;
    uint64_t *read; /* records of the values that the orchestration read, in its order */
    uint64_t n_reads;
    uint64_t damaged;
    bool has_names; /* the kernels have names */
    /* The input of the orchestration comes first (id TG_TASK_NONE), then the tasks of deps.json,
     * then those that only the records have, by id. */
    struct tg_task_row *row;
    uint32_t n_rows;
    uint32_t *by_id;   /* rows, by id */
    uint32_t *of_deps; /* the row of each task of deps.json */
};

/* Treats a deps.json that is none as missing: `deps_error` says why. Fails with NO_MEMORY, and with
 * IO_ERROR if the system does not let it read the file. */
tg_status tg_tasks_open(const struct tg_recording *recording, struct tg_tasks *tasks,
                        struct tg_error *error);
/* Names the kernels of each task: "add", "mat+add", or "#3" if the caller asks for numbers or names
 * are missing. Returns false if memory ran out. */
bool tg_tasks_name(struct tg_tasks *tasks, bool by_number, struct tg_names *names);
void tg_tasks_close(struct tg_tasks *tasks);
/* Returns TG_NO_ROW if no task has this id. */
uint32_t tg_tasks_find(const struct tg_tasks *tasks, uint64_t id);

/* --- two recordings --------------------------------------------------------------------------- */

/* A task of one recording or of both. */
struct tg_matched_task {
    uint32_t a, b; /* rows; TG_NO_ROW: not there */
    uint64_t first_pair, n_pairs;
    uint32_t part_of; /* the fused task that this one is part of, by number; TG_NO_ROW */
    bool is_fused;    /* stands for several tasks of one side; its pairs may name their records */
};

struct tg_matched_pair {
    uint64_t a, b; /* records; TG_NONE: not there */
    uint32_t task;
};

struct tg_match {
    const char *how; /* "id", "dataflow", "position", "alignment" */
    struct tg_matched_task *task;
    uint32_t n_tasks;
    /* Not counting the input of the orchestration; only_a and only_b without parts_a and parts_b. */
    uint32_t matched, only_a, only_b;
    uint32_t parts_a, parts_b; /* parts of a fusion */
    uint32_t fused, renamed;
    struct tg_matched_pair *pair; /* sorted by task, stage and argument */
    uint64_t n_pairs;
};

struct tg_sources;
/* The sources belong to sides that were named with the same `names`. Follows their data only where
 * the tasks' own records do not decide. Fails with NO_MEMORY only. */
tg_status tg_match_make(struct tg_sources *a, struct tg_sources *b, struct tg_match *match,
                        struct tg_error *error);
void tg_match_free(struct tg_match *match);

/* Sets partner[i] to the item of `b` that item i of `a` corresponds to, in an alignment that leaves
 * the fewest items over; TG_NO_ROW for items left over. If more than TG_ALIGN_MOST items are left
 * over, only the common beginning and end are aligned. Returns false if memory ran out. */
enum { TG_ALIGN_MOST = 2000 };
bool tg_align(const char *const *a, uint32_t n_a, const char *const *b, uint32_t n_b,
              uint32_t *partner);

#endif
