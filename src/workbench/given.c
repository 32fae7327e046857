/* SPDX-License-Identifier: Apache-2.0 */
#include "workbench/given.h"

#include <stdlib.h>

#include "analysis/races.h"
#include "analysis/source.h"
#include "analysis/view_name.h"
#include "workbench/tasks.h"

struct tg_bench_given {
    struct tg_sources sources;
    /* What the sources are found with: the arguments of the orchestration, as the records of a task without an id. */
    struct tg_tasks tasks;
    struct tg_task_row row;
};

void tg_bench_given_free(struct tg_bench_given *given)
{
    if (!given)
        return;
    tg_sources_close(&given->sources);
    free(given->tasks.ref);
    free(given);
}

/* Values that the orchestration read back have no task either, but are no tensors of the case. */
static void take_arguments(struct tg_bench_given *given, const struct tg_bench_tasks *tasks)
{
    struct tg_entry entry;
    for (uint32_t i = 0; i < tasks->n_others; i++)
        if (tg_recording_get(given->tasks.recording, tasks->other[i], &entry) &&
            entry.record.task_id == TG_TASK_NONE && !(entry.record.flags & TG_RECORD_READ))
            given->tasks.ref[given->row.count++] =
                (struct tg_record_ref){.task_id = TG_TASK_NONE, .index = tasks->other[i]};
}

static struct tg_bench_given *make_given(const struct tg_bench_run *run,
                                         const struct tg_bench_tasks *tasks)
{
    struct tg_bench_given *given = calloc(1, sizeof *given);
    if (!given)
        return NULL;
    given->tasks.recording = run->recording;
    given->tasks.ref = calloc((size_t)tasks->n_others + 1, sizeof *given->tasks.ref);
    given->tasks.row = &given->row;
    given->tasks.n_rows = 1;
    given->row.id = TG_TASK_NONE;
    if (given->tasks.ref)
        take_arguments(given, tasks);
    if (given->tasks.ref && tg_sources_open(&given->tasks, &given->sources, NULL) == TG_OK)
        return given;
    free(given->tasks.ref);
    free(given);
    return NULL;
}

void tg_bench_name(struct tg_bench_run *run, const struct tg_record *record,
                   char name[TG_BENCH_NAME])
{
    const struct tg_bench_tasks *tasks;
    struct tg_tensor view;
    name[0] = '\0';
    if (!run->recording || record->kind != TG_KIND_TENSOR || record->data_ptr == 0 ||
        tg_bench_tasks_of(run, &tasks, NULL) != TG_OK)
        return;
    pthread_mutex_lock(&run->lock);
    if (!run->given)
        run->given = make_given(run, tasks);
    const struct tg_bench_given *given = run->given;
    pthread_mutex_unlock(&run->lock);
    if (!given)
        return;
    tg_races_view(record, &view);
    (void)tg_view_name(run->recording, &given->sources, &view, name, TG_BENCH_NAME);
}
