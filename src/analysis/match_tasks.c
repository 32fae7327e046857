/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "analysis/deps_sort.h"
#include "analysis/match.h"
#include "recording/reader.h"

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory for the tasks of a recording");
}

/* --- records ---------------------------------------------------------------------------------- */

static int compare_refs(const void *a, const void *b)
{
    const struct tg_record_ref *left = a, *right = b;
    if (left->task_id != right->task_id)
        return left->task_id < right->task_id ? -1 : 1;
    if (left->place != right->place)
        return left->place < right->place ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

/* Sorts by task, then by place, then by index: a stable sort by place of what is in the order of the
 * indices, then one by task. The orchestration, whose id is all ones, comes right after the largest
 * other id, so that the ids differ in few bits. */
static bool sort_refs(struct tg_tasks *tasks)
{
    size_t count = (size_t)tasks->n_refs;
    struct tg_sorted *item = malloc(2 * (count + 1) * sizeof *item), *room = item + count;
    struct tg_record_ref *sorted = malloc((count + 1) * sizeof *sorted);
    uint64_t most = 0;
    bool good = item && sorted && count <= UINT32_MAX;
    for (size_t i = 0; good && i < count; i++) {
        item[i] = (struct tg_sorted){tasks->ref[i].place, (uint32_t)i};
        if (tasks->ref[i].task_id != TG_TASK_NONE && tasks->ref[i].task_id > most)
            most = tasks->ref[i].task_id;
    }
    if (good)
        tg_sort_by_key(item, room, count);
    for (size_t i = 0; good && i < count; i++) {
        uint64_t id = tasks->ref[item[i].index].task_id;
        item[i].key = id == TG_TASK_NONE && most < id ? most + 1 : id;
    }
    if (good)
        tg_sort_by_key(item, room, count);
    for (size_t i = 0; good && i < count; i++)
        sorted[i] = tasks->ref[item[i].index];
    free(item);
    free(good ? tasks->ref : sorted);
    if (good)
        tasks->ref = sorted;
    return good;
}

static bool has_name(const struct tg_recording *recording, uint64_t index)
{
    const char *kernel[TG_PARTS];
    tg_recording_kernels(recording, index, kernel);
    for (int part = 0; part < TG_PARTS; part++)
        if (kernel[part] && *kernel[part])
            return true;
    return false;
}

static tg_status take_records(struct tg_tasks *tasks, struct tg_error *error)
{
    bool is_sorted = true;
    size_t room = 0;
    tasks->damaged = tasks->info.damaged;
    tasks->ref = calloc((size_t)tasks->info.records + 1, sizeof *tasks->ref);
    if (!tasks->ref)
        return no_memory(error);
    for (uint64_t i = 0; i < tasks->info.records; i++) {
        struct tg_record_ref *ref = &tasks->ref[tasks->n_refs];
        const struct tg_record *record = tg_recording_at(tasks->recording, i);
        if (record->flags & TG_RECORD_READ) {
            if (!tg_grow(&tasks->read, &room, (size_t)tasks->n_reads + 1, sizeof *tasks->read))
                return no_memory(error);
            tasks->read[tasks->n_reads++] = i; /* not an argument of the task */
            continue;
        }
        /* As tg_record_confine does it: a stage that does not exist is the first one. */
        uint32_t stage =
            record->stage > TG_STAGE_ORCHESTRATION ? TG_BEFORE_DISPATCH : record->stage;
        *ref = (struct tg_record_ref){record->task_id, i, stage << 8 | record->arg_index};
        tasks->has_names = tasks->has_names || has_name(tasks->recording, i);
        is_sorted = is_sorted && (tasks->n_refs == 0 || compare_refs(ref - 1, ref) <= 0);
        tasks->n_refs++;
    }
    return is_sorted || sort_refs(tasks) ? TG_OK : no_memory(error);
}

static uint64_t count_tasks(const struct tg_tasks *tasks)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < tasks->n_refs; i++)
        count += i == 0 || tasks->ref[i].task_id != tasks->ref[i - 1].task_id;
    return count;
}

/* --- rows ------------------------------------------------------------------------------------- */

struct id_row {
    uint64_t id;
    uint32_t row;
};

static int compare_ids(const void *a, const void *b)
{
    const struct id_row *left = a, *right = b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

uint32_t tg_tasks_find(const struct tg_tasks *tasks, uint64_t id)
{
    uint32_t low = 0, high = tasks->n_rows;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (tasks->row[tasks->by_id[middle]].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tasks->n_rows && tasks->row[tasks->by_id[low]].id == id ? tasks->by_id[low]
                                                                         : TG_NO_ROW;
}

static uint32_t add_row(struct tg_tasks *tasks, uint64_t id, uint32_t deps)
{
    tasks->row[tasks->n_rows] = (struct tg_task_row){.id = id, .deps = deps};
    return tasks->n_rows++;
}

/* True if the rows are in the order of their ids already, apart from the input of the orchestration,
 * which is row 0 and has the largest id. Then `by_id` is set. */
static bool index_sorted_rows(struct tg_tasks *tasks)
{
    uint32_t first = tasks->n_rows > 0 && tasks->row[0].id == TG_TASK_NONE;
    for (uint32_t i = first; i < tasks->n_rows; i++) {
        if (i > first && tasks->row[i - 1].id > tasks->row[i].id)
            return false;
        tasks->by_id[i - first] = i;
    }
    if (first)
        tasks->by_id[tasks->n_rows - 1] = 0;
    return !first || tasks->n_rows == 1 || tasks->row[tasks->n_rows - 1].id != TG_TASK_NONE;
}

/* Sorts the rows by id; of several rows with one id the first stays. */
static bool index_rows(struct tg_tasks *tasks)
{
    if (index_sorted_rows(tasks))
        return true;
    struct id_row *order = malloc(((size_t)tasks->n_rows + 1) * sizeof *order);
    if (!order)
        return false;
    for (uint32_t i = 0; i < tasks->n_rows; i++)
        order[i] = (struct id_row){tasks->row[i].id, i};
    qsort(order, tasks->n_rows, sizeof *order, compare_ids);
    for (uint32_t i = 0; i < tasks->n_rows; i++)
        tasks->by_id[i] = order[i].row;
    free(order);
    return true;
}

static void add_deps_rows(struct tg_tasks *tasks)
{
    const struct tg_deps *deps = tasks->deps;
    for (uint32_t i = 0; deps && i < deps->n_tasks; i++)
        tasks->of_deps[i] = add_row(tasks, deps->task[i].id, i);
}

/* Gives each run of records to the row of its task. Tasks that have no row yet get one at the end,
 * in the order of their ids. */
static void give_records(struct tg_tasks *tasks)
{
    uint32_t known = tasks->n_rows, at = 0, row;
    for (uint64_t first = 0, end; first < tasks->n_refs; first = end) {
        uint64_t id = tasks->ref[first].task_id;
        for (end = first; end < tasks->n_refs && tasks->ref[end].task_id == id; end++)
            ;
        /* Both are in the order of the ids. */
        while (at < known && tasks->row[tasks->by_id[at]].id < id)
            at++;
        row = at < known && tasks->row[tasks->by_id[at]].id == id ? tasks->by_id[at]
                                                                  : add_row(tasks, id, TG_NO_ROW);
        tasks->row[row].first = first;
        tasks->row[row].count = end - first;
    }
}

static tg_status make_rows(struct tg_tasks *tasks, struct tg_error *error)
{
    uint64_t n_deps = tasks->deps ? tasks->deps->n_tasks : 0;
    uint64_t most = count_tasks(tasks) + n_deps;
    if (most >= TG_NO_ROW)
        return no_memory(error);
    tasks->row = malloc((size_t)(most + 1) * sizeof *tasks->row);
    tasks->by_id = malloc((size_t)(most + 1) * sizeof *tasks->by_id);
    tasks->of_deps = malloc((size_t)(n_deps + 1) * sizeof *tasks->of_deps);
    if (!tasks->row || !tasks->by_id || !tasks->of_deps)
        return no_memory(error);
    /* The refs are sorted by id, so the input of the orchestration is the last. */
    if (tasks->n_refs > 0 && tasks->ref[tasks->n_refs - 1].task_id == TG_TASK_NONE)
        add_row(tasks, TG_TASK_NONE, TG_NO_ROW);
    add_deps_rows(tasks);
    if (!index_rows(tasks))
        return no_memory(error);
    give_records(tasks);
    return index_rows(tasks) ? TG_OK : no_memory(error);
}

/* deps.json, read on a thread of its own: parsing it takes as long as reading the records. */
struct deps_job {
    struct tg_tasks *tasks;
    tg_status status;
};

static void *read_deps(void *context)
{
    struct deps_job *job = context;
    job->status = tg_deps_find(job->tasks->recording, &job->tasks->deps, &job->tasks->deps_error);
    return NULL;
}

static tg_status read_deps_and_records(struct tg_tasks *tasks, struct tg_error *error)
{
    enum { WORTH_A_THREAD = 10000 };
    struct deps_job job = {.tasks = tasks};
    pthread_t thread;
    bool is_apart =
        tasks->info.records > WORTH_A_THREAD && pthread_create(&thread, NULL, read_deps, &job) == 0;
    tg_status status = take_records(tasks, error);
    if (is_apart)
        (void)pthread_join(thread, NULL);
    else
        (void)read_deps(&job);
    if (status != TG_OK || (job.status != TG_NO_MEMORY && job.status != TG_IO_ERROR))
        return status;
    return tg_error_set(error, job.status, "%s", tasks->deps_error.text);
}

tg_status tg_tasks_open(const struct tg_recording *recording, struct tg_tasks *tasks,
                        struct tg_error *error)
{
    *tasks = (struct tg_tasks){.recording = recording};
    tg_recording_get_info(recording, &tasks->info);
    tg_status status = read_deps_and_records(tasks, error);
    if (status == TG_OK)
        status = make_rows(tasks, error);
    if (status != TG_OK)
        tg_tasks_close(tasks);
    return status;
}

void tg_tasks_close(struct tg_tasks *tasks)
{
    tg_deps_free(tasks->deps);
    free(tasks->ref);
    free(tasks->read);
    free(tasks->row);
    free(tasks->by_id);
    free(tasks->of_deps);
    *tasks = (struct tg_tasks){0};
}

/* --- names ------------------------------------------------------------------------------------ */

struct kernels {
    uint32_t func[TG_PARTS];
    const char *name[TG_PARTS];
};

/* Takes the kernels from the records, and from deps.json only for a task without records. */
static void kernels_of(const struct tg_tasks *tasks, const struct tg_task_row *row,
                       struct kernels *kernels)
{
    *kernels = (struct kernels){.func = {TG_NO_KERNEL, TG_NO_KERNEL, TG_NO_KERNEL}};
    if (row->count > 0) {
        uint64_t index = tasks->ref[row->first].index;
        const struct tg_record *record = tg_recording_at(tasks->recording, index);
        memcpy(kernels->func, record->kernel, sizeof kernels->func);
        tg_recording_kernels(tasks->recording, index, kernels->name);
    } else if (row->deps != TG_NO_ROW) {
        const struct tg_deps_task *task = &tasks->deps->task[row->deps];
        memcpy(kernels->func, task->func, sizeof kernels->func);
        memcpy(kernels->name, task->kernel, sizeof kernels->name);
    }
}

static bool have_same_kernels(const struct kernels *a, const struct kernels *b)
{
    for (int part = 0; part < TG_PARTS; part++)
        if (a->func[part] != b->func[part] || a->name[part] != b->name[part])
            return false;
    return true;
}

static const char *name_of(const struct kernels *kernels, bool by_number, struct tg_names *names)
{
    char text[TG_NAME_MAX + 1] = "";
    size_t at = 0;
    for (int part = 0; part < TG_PARTS && at < sizeof text; part++) {
        const char *name = kernels->name[part], *plus = at > 0 ? "+" : "";
        int length = 0;
        if (!by_number && name && *name)
            length = snprintf(text + at, sizeof text - at, "%s%.80s", plus, name);
        else if (kernels->func[part] != TG_NO_KERNEL)
            length =
                snprintf(text + at, sizeof text - at, "%s#%" PRIu32, plus, kernels->func[part]);
        at += (size_t)length;
    }
    return tg_names_add(names, text, strlen(text));
}

/* Most tasks have the kernels of the task before them. */
bool tg_tasks_name(struct tg_tasks *tasks, bool by_number, struct tg_names *names)
{
    struct kernels kernels, last = {.func = {0}};
    for (uint32_t i = 0; i < tasks->n_rows; i++) {
        struct tg_task_row *row = &tasks->row[i];
        kernels_of(tasks, row, &kernels);
        row->kernel = i > 0 && have_same_kernels(&kernels, &last)
                          ? tasks->row[i - 1].kernel
                          : name_of(&kernels, by_number, names);
        if (!row->kernel)
            return false;
        last = kernels;
    }
    return true;
}
