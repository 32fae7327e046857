/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "workbench/tasks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/timing.h>

#include "analysis/deps_sort.h"
#include "analysis/timeline_load.h"
#include "analysis/timeline_tasks.h"
#include "base/error.h"
#include "base/files.h"
#include "recording/reader.h"

/* What an index is made of. */
struct make {
    struct tg_bench_run *run;
    struct tg_bench_tasks *tasks;
    struct tg_seen_tasks seen;   /* of the recording */
    struct tg_sorted *order;     /* the same by id */
    bool has_swimlane;           /* `swimlane` is filled */
    struct tg_timeline swimlane; /* finished: tasks by id, each with its parts */
    uint64_t *id;                /* the tasks of both, by id */
    uint32_t *rank;              /* the task of the index, by seen task */
    uint32_t *by_seen;           /* the seen task, by task of the index; TG_BENCH_NONE: none */
    uint32_t *by_lane;           /* the same for tasks of the swimlane; NULL without one */
};

/* --- what the files have ------------------------------------------------------------------------ */

static tg_status read_recording(struct make *make, struct tg_error *error)
{
    const struct tg_recording *recording = make->run->recording;
    if (!recording)
        return TG_OK;
    tg_status status = tg_seen_tasks_read(recording, &make->tasks->names, true, &make->seen, error);
    if (status == TG_BAD_ARGUMENT)
        return tg_error_set(error, TG_UNSUPPORTED, "the recording has too many records for a page");
    if (status == TG_OK && !tg_timeline_take_facts(recording, &make->tasks->names))
        return tg_file_no_memory(error);
    return status;
}

/* A swimlane that is none leaves a note: the records can be shown all the same. */
static tg_status read_swimlane(struct make *make, struct tg_error *error)
{
    struct tg_error why = {0};
    enum tg_path_kind kind = TG_PATH_NOTHING;
    char *file = tg_path_join(make->run->folder, TG_SWIMLANE_FILE);
    if (!file)
        return tg_file_no_memory(error);
    tg_status status = TG_OK;
    if (tg_path_look(file, &kind) == 0 && kind == TG_PATH_FILE)
        status = tg_timeline_of_swimlane(file, &make->swimlane, &why);
    make->has_swimlane = status == TG_OK && kind == TG_PATH_FILE;
    free(file);
    if (status == TG_NO_MEMORY || status == TG_IO_ERROR)
        return tg_error_set(error, status, "%s", why.text);
    if (status != TG_OK)
        (void)snprintf(make->tasks->note[0], sizeof make->tasks->note[0], "%s", why.text);
    return TG_OK;
}

static tg_status sort_seen(struct make *make, struct tg_error *error)
{
    const size_t count = make->seen.count;
    struct tg_sorted *room = malloc((count + 1) * sizeof *room);
    make->order = malloc((count + 1) * sizeof *make->order);
    if (!room || !make->order) {
        free(room);
        return tg_file_no_memory(error);
    }
    for (size_t i = 0; i < count; i++)
        make->order[i] = (struct tg_sorted){make->seen.task[i].id, (uint32_t)i};
    tg_sort_by_key(make->order, room, count);
    free(room);
    return TG_OK;
}

/* --- tasks -------------------------------------------------------------------------------------- */

/* The smallest id that is left, and in which of the lists it is. False at the end of both. */
struct smallest {
    uint64_t id;
    bool is_seen, is_in_lane;
};

static bool find_smallest(const struct make *make, size_t i, size_t k, struct smallest *next)
{
    const bool has_seen = i < make->seen.count, has_lane = k < make->swimlane.n_tasks;
    const uint64_t a = has_seen ? make->order[i].key : UINT64_MAX;
    const uint64_t b = has_lane ? make->swimlane.task[k].id : UINT64_MAX;
    next->id = a < b ? a : b;
    next->is_seen = has_seen && a == next->id;
    next->is_in_lane = has_lane && b == next->id;
    return has_seen || has_lane;
}

/* The tasks of both lists, each once. */
static size_t count_ids(const struct make *make)
{
    struct smallest next;
    size_t i = 0, k = 0, count = 0;
    for (; find_smallest(make, i, k, &next); count++) {
        i += next.is_seen;
        k += next.is_in_lane;
    }
    return count;
}

static void merge(struct make *make)
{
    struct smallest next;
    size_t i = 0, k = 0;
    for (uint32_t at = 0; find_smallest(make, i, k, &next); at++) {
        make->id[at] = next.id;
        make->by_seen[at] = next.is_seen ? make->order[i].index : TG_BENCH_NONE;
        if (next.is_seen)
            make->rank[make->order[i++].index] = at;
        if (make->by_lane)
            make->by_lane[at] = next.is_in_lane ? (uint32_t)k : TG_BENCH_NONE;
        k += next.is_in_lane;
    }
}

static tg_status make_ids(struct make *make, struct tg_error *error)
{
    const size_t seen = make->seen.count, count = count_ids(make);
    if (count >= UINT32_MAX)
        return tg_error_set(error, TG_UNSUPPORTED, "the run has too many tasks for a page");
    make->tasks->count = (uint32_t)count;
    make->id = malloc((count + 1) * sizeof *make->id);
    make->rank = malloc((seen + 1) * sizeof *make->rank);
    make->by_seen = malloc((count + 1) * sizeof *make->by_seen);
    make->by_lane = make->has_swimlane ? malloc((count + 1) * sizeof *make->by_lane) : NULL;
    if (!make->id || !make->rank || !make->by_seen || (make->has_swimlane && !make->by_lane))
        return tg_file_no_memory(error);
    merge(make);
    free(make->order);
    make->order = NULL;
    return TG_OK;
}

/* --- records ------------------------------------------------------------------------------------ */

static tg_status make_records(struct make *make, struct tg_error *error)
{
    struct tg_bench_tasks *tasks = make->tasks;
    const uint64_t n = make->run->recording ? make->run->info.records : 0;
    uint32_t sum = 0;
    tasks->first_record = calloc((size_t)tasks->count + 2, sizeof *tasks->first_record);
    if (!tasks->first_record)
        return tg_file_no_memory(error);
    uint32_t *first =
        tasks->first_record + 1; /* moves to the next task's place while it is filled */
    for (uint64_t i = 0; i < n; i++)
        if (make->seen.of_record[i] != TG_TIMELINE_NONE)
            first[make->rank[make->seen.of_record[i]]]++;
    for (uint32_t t = 0; t < tasks->count; t++) {
        uint32_t here = first[t];
        first[t] = sum;
        sum += here;
    }
    tasks->record = malloc(((size_t)sum + 1) * sizeof *tasks->record);
    if (!tasks->record)
        return tg_file_no_memory(error);
    for (uint64_t i = 0; i < n; i++)
        if (make->seen.of_record[i] != TG_TIMELINE_NONE)
            tasks->record[first[make->rank[make->seen.of_record[i]]]++] = (uint32_t)i;
    return TG_OK;
}

static tg_status make_others(struct make *make, struct tg_error *error)
{
    struct tg_bench_tasks *tasks = make->tasks;
    const uint64_t n = make->run->recording ? make->run->info.records : 0;
    tasks->other = malloc(TG_BENCH_OTHERS * sizeof *tasks->other);
    if (!tasks->other)
        return tg_file_no_memory(error);
    for (uint64_t i = 0; i < n && tasks->n_others < TG_BENCH_OTHERS; i++)
        if (make->seen.of_record[i] == TG_TIMELINE_NONE)
            tasks->other[tasks->n_others++] = (uint32_t)i;
    free(make->seen.of_record);
    make->seen.of_record = NULL;
    return TG_OK;
}

/* --- parts -------------------------------------------------------------------------------------- */

/* The parts of a task; -1 if memory ran out. `own` has room for those of a seen task. */
static int64_t parts_of(struct make *make, uint32_t task, struct tg_timeline_part own[TG_PARTS],
                        const struct tg_timeline_part **parts)
{
    *parts = own;
    if (make->has_swimlane) {
        const struct tg_timeline *lanes = &make->swimlane;
        const struct tg_timeline_task *found =
            make->by_lane[task] == TG_BENCH_NONE ? NULL : &lanes->task[make->by_lane[task]];
        *parts = found ? &lanes->part[found->first_part] : NULL;
        return found ? found->n_parts : 0;
    }
    return tg_seen_task_parts(&make->seen, &make->seen.task[make->by_seen[task]], own);
}

/* Counts the parts, and finds the first and the last time. */
static tg_status measure(struct make *make, struct tg_error *error)
{
    struct tg_bench_tasks *tasks = make->tasks;
    struct tg_timeline_part own[TG_PARTS];
    const struct tg_timeline_part *parts;
    uint64_t first = UINT64_MAX, last = 0, count = 0;
    for (uint32_t t = 0; t < tasks->count; t++) {
        int64_t n = parts_of(make, t, own, &parts);
        if (n < 0)
            return tg_file_no_memory(error);
        count += (uint64_t)n;
        for (int64_t i = 0; i < n; i++) {
            const uint64_t times[] = {parts[i].begin, parts[i].end};
            for (int k = 0; k < 2; k++) {
                first = times[k] < first ? times[k] : first;
                last = times[k] != TG_TIME_UNKNOWN && times[k] > last ? times[k] : last;
            }
        }
    }
    if (count >= UINT32_MAX)
        return tg_error_set(error, TG_UNSUPPORTED, "the run has too many parts for a page");
    tasks->n_parts = (uint32_t)count;
    tasks->start = last >= first ? first : 0;
    tasks->span = last >= first ? last - first : 0;
    tasks->is_wide = tasks->span >= TG_BENCH_NO_TIME;
    return TG_OK;
}

static uint16_t index_of(uint32_t index)
{
    return index < UINT16_MAX ? (uint16_t)index : UINT16_MAX;
}

static void set_time(const struct tg_bench_tasks *tasks, void *times, uint32_t at, uint64_t time)
{
    bool is_known = time != TG_TIME_UNKNOWN;
    if (tasks->is_wide)
        ((double *)times)[at] = is_known ? (double)(time - tasks->start) : NAN;
    else
        ((uint32_t *)times)[at] = is_known ? (uint32_t)(time - tasks->start) : TG_BENCH_NO_TIME;
}

static void fill_parts(struct make *make)
{
    struct tg_bench_tasks *tasks = make->tasks;
    struct tg_timeline_part own[TG_PARTS];
    const struct tg_timeline_part *parts;
    uint32_t at = 0;
    for (uint32_t t = 0; t < tasks->count; t++) {
        int64_t n = parts_of(make, t, own, &parts);
        tasks->first_part[t] = at;
        for (int64_t i = 0; i < n; i++, at++) {
            tasks->core[at] = index_of(parts[i].core);
            tasks->kernel[at] = index_of(parts[i].kernel);
            tasks->flags[at] = parts[i].flags;
            set_time(tasks, tasks->begin, at, parts[i].begin);
            set_time(tasks, tasks->end, at, parts[i].end);
        }
    }
    tasks->first_part[tasks->count] = at;
}

/* The columns, in the order in which the answer has them. */
enum { ID, FIRST_PART, RECORDS, CORE, KERNEL, BEGIN, END, FLAGS, COLUMNS };

static tg_status add_columns(struct tg_bench_tasks *tasks, struct tg_error *error)
{
    const enum tg_column_type time = tasks->is_wide ? TG_COLUMN_F64 : TG_COLUMN_U32;
    const uint64_t n = tasks->count, parts = tasks->n_parts;
    const struct {
        const char *name;
        enum tg_column_type type;
        uint64_t count;
    } column[COLUMNS] = {
        [ID] = {"id", TG_COLUMN_U64, n},
        [FIRST_PART] = {"first_part", TG_COLUMN_U32, n + 1},
        [RECORDS] = {"records", TG_COLUMN_U32, n},
        [CORE] = {"part_core", TG_COLUMN_U16, parts},
        [KERNEL] = {"part_kernel", TG_COLUMN_U16, parts},
        [BEGIN] = {"part_begin", time, parts},
        [END] = {"part_end", time, parts},
        [FLAGS] = {"part_flags", TG_COLUMN_U8, parts},
    };
    tg_status status = TG_OK;
    for (int i = 0; status == TG_OK && i < COLUMNS; i++)
        status =
            tg_columns_add(&tasks->columns, column[i].name, column[i].type, column[i].count, error);
    return status;
}

static void point_into_columns(struct tg_bench_tasks *tasks)
{
    tasks->id = tg_columns_at(&tasks->columns, ID);
    tasks->first_part = tg_columns_at(&tasks->columns, FIRST_PART);
    tasks->core = tg_columns_at(&tasks->columns, CORE);
    tasks->kernel = tg_columns_at(&tasks->columns, KERNEL);
    tasks->begin = tg_columns_at(&tasks->columns, BEGIN);
    tasks->end = tg_columns_at(&tasks->columns, END);
    tasks->flags = tg_columns_at(&tasks->columns, FLAGS);
}

static tg_status make_columns(struct make *make, struct tg_error *error)
{
    struct tg_bench_tasks *tasks = make->tasks;
    tg_status status = measure(make, error);
    if (status == TG_OK)
        status = add_columns(tasks, error);
    if (status != TG_OK)
        return status;
    point_into_columns(tasks);
    memcpy(tasks->id, make->id, tasks->count * sizeof *tasks->id);
    uint32_t *records = tg_columns_at(&tasks->columns, RECORDS);
    for (uint32_t t = 0; t < tasks->count; t++)
        records[t] = tasks->first_record[t + 1] - tasks->first_record[t];
    fill_parts(make);
    return TG_OK;
}

/* --- the whole ---------------------------------------------------------------------------------- */

/* Says what the picture lacks. */
static void set_notes(struct make *make)
{
    struct tg_bench_tasks *tasks = make->tasks;
    char *note = tasks->note[1];
    const size_t room = sizeof tasks->note[1];
    const char *why = make->run->recording ? tg_recording_why_empty(make->run->recording) : NULL;
    if (!make->run->recording && !make->has_swimlane)
        (void)snprintf(note, room, "%s", make->run->why);
    else if (tasks->count == 0)
        (void)snprintf(note, room, "no record of a task: %s",
                       why ? why : "the run had no tasks with arguments");
    else if (tasks->n_parts == 0)
        (void)snprintf(note, room, "there are no times in this recording: they are in the journal");
}

/* Takes the cores and kernels of the swimlane; the rest of it is not needed any more. */
static void take_names(struct make *make)
{
    struct tg_bench_tasks *tasks = make->tasks;
    tasks->source = make->has_swimlane ? "swimlane" : "recording";
    if (!make->has_swimlane)
        return;
    tg_timeline_free(&tasks->names);
    tasks->names = make->swimlane;
    struct tg_timeline *names = &tasks->names;
    free(names->part);
    free(names->task);
    free(names->wait);
    free(names->before);
    names->part = NULL;
    names->task = NULL;
    names->wait = NULL;
    names->before = NULL;
    names->n_parts = names->n_tasks = names->n_waits = 0;
    make->has_swimlane = false;
}

static tg_status make_all(struct make *make, struct tg_error *error)
{
    tg_status status = read_recording(make, error);
    if (status == TG_OK)
        status = read_swimlane(make, error);
    if (status == TG_OK)
        status = sort_seen(make, error);
    if (status == TG_OK)
        status = make_ids(make, error);
    if (status == TG_OK)
        status = make_records(make, error);
    if (status == TG_OK)
        status = make_others(make, error);
    if (status == TG_OK)
        status = make_columns(make, error);
    if (status == TG_OK) {
        set_notes(make);
        take_names(make);
    }
    return make->run->recording ? tg_recording_conclude(make->run->recording, status, error)
                                : status;
}

static tg_status make_tasks(struct tg_bench_run *run, struct tg_error *error)
{
    struct tg_bench_tasks *tasks = calloc(1, sizeof *tasks);
    struct make make = {.run = run, .tasks = tasks};
    if (!tasks)
        return tg_file_no_memory(error);
    tg_timeline_start(&tasks->names);
    tg_status status = make_all(&make, error);
    tg_seen_tasks_free(&make.seen);
    if (make.has_swimlane)
        tg_timeline_free(&make.swimlane);
    free(make.order);
    free(make.id);
    free(make.rank);
    free(make.by_seen);
    free(make.by_lane);
    if (status == TG_OK) {
        const size_t records = tasks->first_record[tasks->count];
        tg_bench_weigh(run, tasks->columns.room + 4 * ((size_t)tasks->count + records));
        run->tasks = tasks;
    } else {
        tg_bench_tasks_free(tasks);
    }
    return status;
}

tg_status tg_bench_tasks_of(struct tg_bench_run *run, const struct tg_bench_tasks **tasks,
                            struct tg_error *error)
{
    pthread_mutex_lock(&run->lock);
    tg_status status = run->tasks ? TG_OK : make_tasks(run, error);
    *tasks = run->tasks;
    pthread_mutex_unlock(&run->lock);
    return status;
}

void tg_bench_tasks_free(struct tg_bench_tasks *tasks)
{
    if (!tasks)
        return;
    tg_columns_free(&tasks->columns);
    free(tasks->first_record);
    free(tasks->record);
    free(tasks->other);
    tg_timeline_free(&tasks->names);
    free(tasks);
}

uint32_t tg_bench_task_find(const struct tg_bench_tasks *tasks, uint64_t id)
{
    /* The ids of most runs have no gaps. */
    const uint64_t guess = tasks->count > 0 ? id - tasks->id[0] : 0;
    if (guess < tasks->count && tasks->id[guess] == id)
        return (uint32_t)guess;
    uint32_t low = 0, high = tasks->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (tasks->id[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tasks->count && tasks->id[low] == id ? low : TG_BENCH_NONE;
}

const char *tg_bench_kernel_name(const struct tg_bench_tasks *tasks, size_t kernel,
                                 char room[TG_BENCH_KERNEL])
{
    const struct tg_timeline_kernel *found = &tasks->names.kernel[kernel];
    if (*found->name || found->number == TG_TIMELINE_NONE)
        return found->name;
    (void)snprintf(room, TG_BENCH_KERNEL, "#%u", found->number);
    return room;
}

double tg_bench_time_at(const struct tg_bench_tasks *tasks, const void *times, uint32_t part)
{
    if (tasks->is_wide)
        return ((const double *)times)[part];
    uint32_t time = ((const uint32_t *)times)[part];
    return time == TG_BENCH_NO_TIME ? NAN : (double)time;
}
