/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"

/* Indices have 32 bits. */
#define MOST (UINT32_MAX - 1)
enum { FIRST_SLOTS = 64 };

void tg_timeline_start(struct tg_timeline *timeline)
{
    *timeline = (struct tg_timeline){.facts = {.source = "",
                                               .workload = "",
                                               .case_name = "",
                                               .platform = "",
                                               .runtime = "",
                                               .version = "",
                                               .result = "",
                                               .start = TG_TIME_UNKNOWN,
                                               .end = TG_TIME_UNKNOWN}};
}

void tg_timeline_free(struct tg_timeline *timeline)
{
    free(timeline->core);
    free(timeline->kernel);
    free(timeline->part);
    free(timeline->task);
    free(timeline->edge);
    free(timeline->wait);
    free(timeline->before);
    free(timeline->call);
    free(timeline->core_slot);
    free(timeline->kernel_slot);
    tg_names_free(&timeline->names);
    tg_timeline_start(timeline);
}

const char *tg_timeline_name(struct tg_timeline *timeline, const char *text, size_t length)
{
    return length > 0 ? tg_names_add(&timeline->names, text, length) : "";
}

struct tg_timeline_task tg_timeline_task_of(uint64_t id)
{
    return (struct tg_timeline_task){.id = id,
                                     .submit_begin = TG_TIME_UNKNOWN,
                                     .submit = TG_TIME_UNKNOWN,
                                     .ready = TG_TIME_UNKNOWN,
                                     .scope = ""};
}

struct tg_timeline_part tg_timeline_part_of(uint64_t id)
{
    return (struct tg_timeline_part){.task = id,
                                     .begin = TG_TIME_UNKNOWN,
                                     .end = TG_TIME_UNKNOWN,
                                     .dispatch = TG_TIME_UNKNOWN,
                                     .done = TG_TIME_UNKNOWN,
                                     .core = TG_TIMELINE_NONE,
                                     .kernel = TG_TIMELINE_NONE};
}

/* --- cores and kernels: tables with open addressing, at most half full ------------------------- */

static size_t hash_of(uint64_t number, const char *name)
{
    /* A name is kept once, so its address says which it is. */
    uint64_t key = number * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)(uintptr_t)name;
    return (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 24);
}

static size_t core_place(const struct tg_timeline *timeline, uint32_t number)
{
    size_t at = hash_of(number, NULL) & (timeline->n_core_slots - 1);
    for (uint32_t i; (i = timeline->core_slot[at]) && timeline->core[i - 1].number != number;)
        at = (at + 1) & (timeline->n_core_slots - 1);
    return at;
}

static size_t kernel_place(const struct tg_timeline *timeline, uint32_t number, const char *name)
{
    size_t at = hash_of(number, name) & (timeline->n_kernel_slots - 1);
    for (uint32_t i; (i = timeline->kernel_slot[at]) && (timeline->kernel[i - 1].number != number ||
                                                         timeline->kernel[i - 1].name != name);)
        at = (at + 1) & (timeline->n_kernel_slots - 1);
    return at;
}

/* Doubles a table that is half full; *fresh says that its entries have to be put in again. */
static bool grow_slots(uint32_t **slot, size_t *n_slots, size_t count, bool *fresh)
{
    *fresh = false;
    if (2 * (count + 1) <= *n_slots)
        return true;
    size_t larger = *n_slots > 0 ? 2 * *n_slots : FIRST_SLOTS;
    uint32_t *grown = count < MOST ? calloc(larger, sizeof *grown) : NULL;
    if (!grown)
        return false;
    free(*slot);
    *slot = grown;
    *n_slots = larger;
    *fresh = true;
    return true;
}

uint32_t tg_timeline_add_core(struct tg_timeline *timeline, uint32_t number, uint32_t kind,
                              const char *name)
{
    bool fresh;
    const char *kept = tg_timeline_name(timeline, name ? name : "", name ? strlen(name) : 0);
    if (!kept ||
        !grow_slots(&timeline->core_slot, &timeline->n_core_slots, timeline->n_cores, &fresh))
        return TG_TIMELINE_NONE;
    for (size_t i = 0; fresh && i < timeline->n_cores; i++)
        timeline->core_slot[core_place(timeline, timeline->core[i].number)] = (uint32_t)i + 1;
    size_t at = core_place(timeline, number);
    if (!timeline->core_slot[at]) {
        if (!tg_grow(&timeline->core, &timeline->core_room, timeline->n_cores + 1,
                     sizeof *timeline->core))
            return TG_TIMELINE_NONE;
        timeline->core[timeline->n_cores++] =
            (struct tg_timeline_core){.name = "", .number = number, .kind = TG_CORE_KINDS};
        timeline->core_slot[at] = (uint32_t)timeline->n_cores;
    }
    struct tg_timeline_core *core = &timeline->core[timeline->core_slot[at] - 1];
    if (core->kind == TG_CORE_KINDS && (kind == TG_AIC || kind == TG_AIV))
        core->kind = kind;
    if (!*core->name)
        core->name = kept;
    return timeline->core_slot[at] - 1;
}

uint32_t tg_timeline_add_kernel(struct tg_timeline *timeline, uint32_t number, uint32_t kind,
                                const char *name)
{
    bool fresh;
    const char *kept = tg_timeline_name(timeline, name ? name : "", name ? strlen(name) : 0);
    if (!kept ||
        !grow_slots(&timeline->kernel_slot, &timeline->n_kernel_slots, timeline->n_kernels, &fresh))
        return TG_TIMELINE_NONE;
    for (size_t i = 0; fresh && i < timeline->n_kernels; i++) {
        const struct tg_timeline_kernel *kernel = &timeline->kernel[i];
        timeline->kernel_slot[kernel_place(timeline, kernel->number, kernel->name)] =
            (uint32_t)i + 1;
    }
    size_t at = kernel_place(timeline, number, kept);
    if (!timeline->kernel_slot[at]) {
        if (!tg_grow(&timeline->kernel, &timeline->kernel_room, timeline->n_kernels + 1,
                     sizeof *timeline->kernel))
            return TG_TIMELINE_NONE;
        timeline->kernel[timeline->n_kernels++] =
            (struct tg_timeline_kernel){.name = kept, .number = number, .kind = TG_CORE_KINDS};
        timeline->kernel_slot[at] = (uint32_t)timeline->n_kernels;
    }
    struct tg_timeline_kernel *kernel = &timeline->kernel[timeline->kernel_slot[at] - 1];
    if (kernel->kind == TG_CORE_KINDS && kind < TG_CORE_KINDS)
        kernel->kind = kind;
    return timeline->kernel_slot[at] - 1;
}

/* --- adding the rest --------------------------------------------------------------------------- */

bool tg_timeline_add_task(struct tg_timeline *timeline, const struct tg_timeline_task *task)
{
    if (!tg_grow(&timeline->task, &timeline->task_room, timeline->n_tasks + 1, sizeof *task))
        return false;
    timeline->task[timeline->n_tasks++] = *task;
    return true;
}

bool tg_timeline_add_part(struct tg_timeline *timeline, const struct tg_timeline_part *part)
{
    if (!tg_grow(&timeline->part, &timeline->part_room, timeline->n_parts + 1, sizeof *part))
        return false;
    timeline->part[timeline->n_parts++] = *part;
    return true;
}

bool tg_timeline_add_edge(struct tg_timeline *timeline, uint64_t before, uint64_t after)
{
    if (!tg_grow(&timeline->edge, &timeline->edge_room, timeline->n_edges + 1,
                 sizeof *timeline->edge))
        return false;
    timeline->edge[timeline->n_edges++] = (struct tg_timeline_edge){before, after};
    return true;
}

bool tg_timeline_add_wait(struct tg_timeline *timeline, const struct tg_timeline_wait *wait)
{
    if (!tg_grow(&timeline->wait, &timeline->wait_room, timeline->n_waits + 1, sizeof *wait))
        return false;
    timeline->wait[timeline->n_waits++] = *wait;
    return true;
}

/* --- finishing --------------------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_id(const void *a, const void *b)
{
    return compare(((const struct tg_timeline_task *)a)->id,
                   ((const struct tg_timeline_task *)b)->id);
}

/* All members count, so that the order of twins does not depend on the order of the file. */
static int by_task_and_part(const void *a, const void *b)
{
    const struct tg_timeline_part *left = a, *right = b;
    int order = compare(left->task, right->task);
    order = order ? order : compare(left->part, right->part);
    order = order ? order : compare(left->begin, right->begin);
    return order ? order : compare(left->end, right->end);
}

static int by_end(const void *a, const void *b)
{
    const struct tg_timeline_wait *left = a, *right = b;
    int order = compare(left->end, right->end);
    return order ? order : compare(left->begin, right->begin);
}

/* Most files have their tasks in order already. */
static void sort(void *array, size_t count, size_t size, int (*order)(const void *, const void *))
{
    const char *bytes = array;
    for (size_t i = 1; i < count; i++)
        if (order(bytes + (i - 1) * size, bytes + i * size) > 0) {
            qsort(array, count, size, order);
            return;
        }
}

/* The index of a task; TG_TIMELINE_NONE if there is none with that id. */
static uint32_t find_task(const struct tg_timeline *timeline, uint64_t id)
{
    size_t low = 0, high = timeline->n_tasks;
    /* Nearly always tasks are numbered without gaps. */
    if (high > 0 && id >= timeline->task[0].id && id - timeline->task[0].id < high &&
        timeline->task[id - timeline->task[0].id].id == id)
        return (uint32_t)(id - timeline->task[0].id);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (timeline->task[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < timeline->n_tasks && timeline->task[low].id == id ? (uint32_t)low
                                                                   : TG_TIMELINE_NONE;
}

static void take_earlier(uint64_t *time, uint64_t other)
{
    if (other < *time) /* an unknown time is larger than any other */
        *time = other;
}

/* Several files may describe one task, and each part of a mix says when the mix was ready; only if they say
 * the same thing twice it is a twin. */
static bool is_twin(const struct tg_timeline_task *a, const struct tg_timeline_task *b)
{
    return (a->submit != TG_TIME_UNKNOWN && b->submit != TG_TIME_UNKNOWN) ||
           (a->ready != TG_TIME_UNKNOWN && b->ready != TG_TIME_UNKNOWN && a->ready != b->ready);
}

/* A task that came twice becomes one, with what either says. */
static void join_tasks(struct tg_timeline *timeline)
{
    size_t kept = 0;
    sort(timeline->task, timeline->n_tasks, sizeof *timeline->task, by_id);
    for (size_t i = 0; i < timeline->n_tasks; i++) {
        struct tg_timeline_task *task = &timeline->task[i], *last = NULL;
        if (kept > 0 && timeline->task[kept - 1].id == task->id)
            last = &timeline->task[kept - 1];
        if (!last) {
            timeline->task[kept++] = *task;
            continue;
        }
        timeline->twins += is_twin(last, task);
        take_earlier(&last->submit_begin, task->submit_begin);
        take_earlier(&last->submit, task->submit);
        take_earlier(&last->ready, task->ready);
        last->is_listed |= task->is_listed;
        if (!*last->scope)
            last->scope = task->scope;
    }
    timeline->n_tasks = kept;
}

/* A task that only parts name gets an entry. */
static bool name_tasks_of_parts(struct tg_timeline *timeline)
{
    size_t known = timeline->n_tasks, at = 0;
    uint64_t last = TG_TASK_NONE;
    for (size_t i = 0; i < timeline->n_parts; i++) {
        uint64_t id = timeline->part[i].task;
        while (at < known && timeline->task[at].id < id)
            at++;
        bool is_known = (at < known && timeline->task[at].id == id) || (i > 0 && id == last);
        struct tg_timeline_task task = tg_timeline_task_of(id);
        if (!is_known && !tg_timeline_add_task(timeline, &task))
            return false;
        last = id;
    }
    if (timeline->n_tasks > known)
        sort(timeline->task, timeline->n_tasks, sizeof *timeline->task, by_id);
    return true;
}

/* Gives the parts to their tasks; the later of two that are the same part of a task is left out. */
static void join_parts(struct tg_timeline *timeline)
{
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < timeline->n_parts; i++) {
        struct tg_timeline_part part = timeline->part[i];
        while (timeline->task[at].id != part.task)
            at++;
        struct tg_timeline_task *task = &timeline->task[at];
        part.task = at;
        if (task->n_parts > 0 && timeline->part[kept - 1].part == part.part) {
            timeline->twins++;
            continue;
        }
        if (part.begin != TG_TIME_UNKNOWN && part.end != TG_TIME_UNKNOWN && part.end < part.begin) {
            timeline->backward++;
            part.end = part.begin;
        }
        if (task->n_parts++ == 0)
            task->first_part = (uint32_t)kept;
        timeline->part[kept++] = part;
    }
    timeline->n_parts = kept;
}

static int by_index(const void *a, const void *b)
{
    return compare(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Each part of a mix names the tasks that the mix waits for; each of them counts once. */
static void join_twin_edges(struct tg_timeline *timeline)
{
    uint64_t kept = 0;
    for (size_t i = 0; i < timeline->n_tasks; i++) {
        struct tg_timeline_task *task = &timeline->task[i];
        uint32_t *before = &timeline->before[task->first_edge];
        uint64_t first = kept;
        sort(before, task->n_edges, sizeof *before, by_index);
        for (uint64_t k = 0; k < task->n_edges; k++)
            if (kept == first || timeline->before[kept - 1] != before[k])
                timeline->before[kept++] = before[k];
        task->first_edge = first;
        task->n_edges = kept - first;
    }
    timeline->n_edges = kept;
}

/* A counting sort of the edges by the task that waits. */
static bool join_edges(struct tg_timeline *timeline)
{
    size_t n = timeline->n_edges, kept = 0;
    struct {
        uint32_t before, after;
    } *link = malloc((n + 1) * sizeof *link);
    timeline->before = malloc((n + 1) * sizeof *timeline->before);
    if (!link || !timeline->before) {
        free(link);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t before = find_task(timeline, timeline->edge[i].before);
        uint32_t after = find_task(timeline, timeline->edge[i].after);
        if (before == TG_TIMELINE_NONE || after == TG_TIMELINE_NONE || before == after) {
            timeline->unknown_edges++;
            continue;
        }
        link[kept].before = before;
        link[kept++].after = after;
        timeline->task[after].n_edges++;
    }
    uint64_t next = 0;
    for (size_t i = 0; i < timeline->n_tasks; i++) {
        timeline->task[i].first_edge = next;
        next += timeline->task[i].n_edges;
        timeline->task[i].n_edges = 0;
    }
    for (size_t i = 0; i < kept; i++) {
        struct tg_timeline_task *task = &timeline->task[link[i].after];
        timeline->before[task->first_edge + task->n_edges++] = link[i].before;
    }
    join_twin_edges(timeline);
    free(link);
    free(timeline->edge);
    timeline->edge = NULL;
    timeline->edge_room = 0;
    return true;
}

static void join_waits(struct tg_timeline *timeline)
{
    size_t kept = 0;
    for (size_t i = 0; i < timeline->n_waits; i++) {
        struct tg_timeline_wait wait = timeline->wait[i];
        if (wait.end == TG_TIME_UNKNOWN || wait.begin > wait.end) {
            timeline->backward++;
            continue;
        }
        uint32_t task = find_task(timeline, wait.task);
        wait.task = task == TG_TIMELINE_NONE ? UINT64_MAX : task;
        timeline->wait[kept++] = wait;
    }
    timeline->n_waits = kept;
    sort(timeline->wait, timeline->n_waits, sizeof *timeline->wait, by_end);
}

tg_status tg_timeline_finish(struct tg_timeline *timeline, struct tg_error *error)
{
    join_tasks(timeline);
    sort(timeline->part, timeline->n_parts, sizeof *timeline->part, by_task_and_part);
    if (!name_tasks_of_parts(timeline))
        return tg_file_no_memory(error);
    if (timeline->n_tasks > MOST || timeline->n_parts > MOST)
        return tg_error_set(error, TG_BAD_ARGUMENT, "more tasks than 32 bits can count");
    join_parts(timeline);
    if (!join_edges(timeline))
        return tg_file_no_memory(error);
    join_waits(timeline);
    return TG_OK;
}
