/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of one run to compare it with others: how it ended, its tasks, the order in which they
 * started, and the hashes of what they read and wrote. The files of the run are not needed any more. */
#ifndef TG_SHAKE_OUTCOME_H
#define TG_SHAKE_OUTCOME_H

#include <taskglass/execute.h>
#include <taskglass/shake.h>

#include "shake/orders.h"

struct tg_deps;

/* One argument of a task before it began or after it completed. */
struct tg_outcome_record {
    uint64_t task; /* id */
    uint64_t hash; /* of the bytes; a scalar's value */
    uint8_t stage; /* TG_BEFORE_DISPATCH comes before TG_AFTER_COMPLETION */
    uint8_t argument;
};

struct tg_outcome_output {
    char name[64];
    uint64_t hash;
    uint64_t size;
    bool is_golden;
};

/* Where a task stands in the order of submission. */
struct tg_outcome_place {
    uint64_t id;
    uint32_t place;
};

struct tg_outcome {
    tg_status status;
    char text[400]; /* the run's error; "" if there was none */
    double seconds;
    char *case_name;
    struct tg_deps *deps; /* tasks in the order of submission; NULL: the run has no deps.json */
    struct tg_outcome_place *by_id; /* the tasks of deps, sorted by id */
    uint64_t *start;                /* ids of tasks in the order in which they started */
    uint64_t n_starts;
    struct tg_outcome_record *record; /* sorted by task, stage, argument */
    uint64_t n_records;
    uint64_t lost; /* records that the recording lacks */
    struct tg_outcome_output *output;
    uint32_t n_outputs;
};

/* Reads the run's files and outputs. The caller calls tg_outcome_clear, also after a failure. */
tg_status tg_outcome_read(const struct tg_execution *execution, struct tg_outcome *outcome,
                          struct tg_error *error);
void tg_outcome_clear(struct tg_outcome *outcome);

/* The place of a task in the order of submission; UINT32_MAX: the run did not have it. */
uint32_t tg_outcome_find(const struct tg_outcome *outcome, uint64_t task);
/* The task's id, kernels and line. */
void tg_outcome_describe(const struct tg_outcome *outcome, uint64_t task,
                         struct tg_shake_task *text);
/* The order in which the tasks of `base` started in this run. Tasks that did not start come last, in the
 * order of submission. `order` has room for all tasks of `base`. False if memory ran out. */
bool tg_outcome_order(const struct tg_outcome *outcome, const struct tg_outcome *base,
                      uint32_t *order);

/* compare.c: how the run differs from the other, which did not fail. */
void tg_outcome_compare(const struct tg_outcome *base, const struct tg_outcome *run,
                        struct tg_shake_difference *difference);
/* Whether two runs of the same schedule gave the same: they ended alike and with the same outputs and, if
 * `strict`, each task with the same bytes. If not, `difference` says what differs, and names the first task
 * that wrote other bytes although it read the same. */
bool tg_outcome_repeats(const struct tg_outcome *first, const struct tg_outcome *again, bool strict,
                        struct tg_shake_difference *difference);

#endif
