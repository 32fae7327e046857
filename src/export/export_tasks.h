/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks behind the records of a recording, each once, in the order of their first record. */
#ifndef TG_EXPORT_EXPORT_TASKS_H
#define TG_EXPORT_EXPORT_TASKS_H

#include "export/export_job.h"

struct tg_export_task {
    uint64_t id;
    uint64_t first;   /* index of its first record, which has its kernels */
    uint64_t records; /* how many records it has, selected or not */
    /* Nanoseconds: its first record before dispatch, and its last after completion. If one is
     * missing, both are the other. */
    uint64_t begin, end;
    uint32_t core; /* of its last record; for a mix, the part that finished last */
    bool has_begin, has_end;
    bool is_selected; /* at least one record of it is selected */
    bool is_partial;  /* at least one record of it was read before the task had finished */
    bool is_written;  /* for the format: it has written the task */
};

struct tg_export_tasks {
    struct tg_export_task *at;
    size_t count, room;
    uint32_t *slot; /* number + 1 by id; open addressing */
    size_t n_slots;
};

/* Walks through all records, selected or not. Inputs of the orchestration do not count as a
 * task. */
tg_status tg_export_tasks_gather(struct tg_export_job *job, struct tg_export_tasks *tasks);
void tg_export_tasks_free(struct tg_export_tasks *tasks);

/* Returns NULL if the recording has no such task. */
struct tg_export_task *tg_export_tasks_find(const struct tg_export_tasks *tasks, uint64_t id);

#endif
