/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks behind the records of a recording, each once, in the order of their first record. */
#ifndef TG_EXPORT_EXPORT_TASKS_H
#define TG_EXPORT_EXPORT_TASKS_H

#include "export/export_job.h"

struct tg_export_task {
    uint64_t id;
    uint64_t first;   /* index of its first record, which has its kernels */
    uint64_t records; /* of it, selected or not */
    uint64_t begin,
        end;       /* nanoseconds: its first record before dispatch, its last after completion;
                            one of them where the other is missing */
    uint32_t core; /* that of its last record: of a mix, the part that finished last */
    bool has_begin, has_end;
    bool is_selected; /* a record of it is */
    bool is_partial;  /* a record of it was read before it had finished */
};

struct tg_export_tasks {
    struct tg_export_task *at;
    size_t count, room;
    uint32_t *slot; /* number + 1 by id; open addressing */
    size_t n_slots;
};

/* A walk through all records, whatever is selected. What the orchestration was given is no task. */
tg_status tg_export_tasks_gather(struct tg_export_job *job, struct tg_export_tasks *tasks);
void tg_export_tasks_free(struct tg_export_tasks *tasks);

/* NULL where the recording has no such task. */
struct tg_export_task *tg_export_tasks_find(const struct tg_export_tasks *tasks, uint64_t id);

#endif
