/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a recording, sorted by the task that they belong to. */
#ifndef TG_HOST_TASK_RECORDS_H
#define TG_HOST_TASK_RECORDS_H

#include "host/recorded_task.h"
#include <taskglass/query.h>

/* One record: which task it belongs to. */
struct tg_task_record {
    uint64_t task;
    uint64_t index;
    uint64_t bytes; /* of its payload */
};

struct tg_task_records {
    struct tg_task_record *record; /* by task, then by index */
    uint64_t count;
    uint64_t tasks;
};

/* All records of the tasks of which the query selects a record; NULL: of all tasks. NO_MEMORY. */
tg_status tg_task_records_sort(const struct tg_recording *recording, const struct tg_query *query,
                               struct tg_task_records *records, struct tg_error *error);
/* Leaves out tasks that are communication: what they left came from other ranks too, and cannot be computed
 * again. Returns how many they were. */
uint64_t tg_task_records_drop_calls(const struct tg_recording *recording,
                                    struct tg_task_records *records);
/* The name of such a task's kernel: "tg_send", "tg_recv" and so on; NULL for a record of any other task. */
const char *tg_entry_call(const struct tg_entry *entry);
void tg_task_records_free(struct tg_task_records *records);

/* Reads and checks the task that these records are of; recorded_task_check.h has all that then holds. Its
 * memory is not laid out. `limit`: as in struct tg_task_reading. Messages name the argument alone. */
tg_status tg_task_records_read(const struct tg_recording *recording,
                               const struct tg_task_record *record, uint64_t count, uint64_t limit,
                               struct tg_recorded_task *task, struct tg_error *error);

#endif
