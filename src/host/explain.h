/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a run does not end: gathered from the memory of its device, when the run has failed, or through a view
 * of a run that goes on.
 *
 *   explain_tasks.c   which tasks have not finished, and which of them waits for which
 *   explain.c         the chain, the root, the cores, and the words for them
 *   explain_json.c    writes an explanation, into run.json and into an answer of a run
 *   explain_read.c    reads both again: taskglass/explain.h
 *
 * A device that went wrong wrote all that is read here, and one that goes on writes meanwhile. So memory is
 * copied once, indices are checked before use, each list entry is followed at most once, and a chain never
 * comes to a task twice.
 */
#ifndef TG_HOST_EXPLAIN_H
#define TG_HOST_EXPLAIN_H

#include <taskglass/explain.h>

#include "host/run.h"

#define TG_WAITER_NONE UINT32_MAX

/* Why a task has not finished. */
enum tg_waiter_state { TG_WAITER_WAITS, TG_WAITER_READY, TG_WAITER_HELD, TG_WAITER_RUNS };

/* A task that has not finished. */
struct tg_waiter {
    uint64_t id;
    uint32_t
        index; /* its slot, or its number in the host's graph: as a worker reports it, less 1 */
    uint32_t unmet; /* how many of the tasks below it waits for */
    uint32_t via;   /* the one on the longest way to a root; TG_WAITER_NONE: it is a root */
    uint32_t depth; /* tasks on that way */
    uint8_t state;  /* enum tg_waiter_state */
    uint64_t pair;  /* READY: the schedule holds it back until this task has completed;
                       TG_TASK_NONE: it does not */
    bool reached;   /* it runs, or waits for a task that runs, at any distance */
    struct tg_task_desc desc;
};

struct tg_waiters {
    uint32_t n;
    struct tg_waiter *at;
    uint64_t n_edges;
    uint32_t (*edge)[2];         /* at[edge[i][1]] waits for at[edge[i][0]] */
    uint64_t ready, held, waits; /* how many are in that state */
    uint64_t paired;             /* how many of those that are ready the schedule holds back */
    bool complete; /* all tasks that have not finished are here; else those that run, and what waits
                            for these */
    const char *problem; /* why they could not be looked at; NULL: they were */
};

/* explain_tasks.c. The run has read its report and its workers' status. */
void tg_waiters_gather(const struct tg_run *run, struct tg_waiters *waiters);
void tg_waiters_free(struct tg_waiters *waiters);
/* TG_WAITER_NONE: that task is not among them, for example because it has finished. */
uint32_t tg_waiters_find(const struct tg_waiters *waiters, uint64_t id);

/* In a full block a core takes tasks of its own kind, in a short one of both; a mix needs a whole block. */
bool tg_core_could_take(const struct tg_run *run, uint32_t core, uint32_t task_class);
/* True if a core, or for a mix a block, is free for a task of the class. */
bool tg_cores_have_idle(const struct tg_run *run, uint32_t task_class);

/* explain.c: describes a run that has failed, or a view of one that goes on. It fills all that it knows; the
 * caller knows workload, case and runtime. The run has listed what runs (tg_run_list_running). */
void tg_run_explain(const struct tg_run *run, struct tg_explanation *explanation);

/* explain_json.c: writes "root", "chain", "cores" and what follows them into the object that was begun. */
void tg_explanation_put(const struct tg_explanation *explanation, struct tg_json *json);
/* explain_read.c: reads what that wrote from the text of a run.json; or, *late aside, only "explanation" from
 * an answer of a run. *explanation is zero before. False: it is no JSON of that kind. */
bool tg_explanation_take_run(const char *text, size_t size, struct tg_explanation *explanation);
bool tg_explanation_take_answer(const char *text, size_t size, struct tg_explanation *explanation,
                                bool *late);

#endif
