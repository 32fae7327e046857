/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "analysis/deps.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/deps_read.h"
#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "recording/record.h"

struct reading {
    struct tg_deps_reader reader;
    struct tg_deps *deps;
    size_t task_room, edge_room;
    uint32_t list; /* the number of the task list being read */
    const char *last_scope, *last_kernel[TG_PARTS];
};

/* Task numbers have 32 bits. */
#define MOST_TASKS (UINT32_MAX - 1)

/* --- keeping what is read --------------------------------------------------------------------- */

/* Most tasks have the names of the task before. *last: what was kept there; NULL: nothing yet. */
static const char *keep_name(struct tg_deps *deps, const char *text, const char **last)
{
    if (!*last || strcmp(*last, text) != 0)
        *last = tg_names_add(&deps->names, text, strlen(text));
    return *last;
}

static bool keep_edges(struct reading *r, const struct tg_deps_read_task *task)
{
    struct tg_deps *deps = r->deps;
    if (!tg_grow(&deps->edge_id, &r->edge_room, (size_t)deps->n_edges + task->n_edges,
                 sizeof *deps->edge_id))
        return false;
    for (size_t i = 0; i < task->n_edges; i++)
        deps->edge_id[deps->n_edges++] = task->edge[i].before;
    return true;
}

/* Returns false if memory ran out. */
static bool keep_task(struct reading *r, const struct tg_deps_read_task *task)
{
    struct tg_deps *deps = r->deps;
    struct tg_deps_task kept = {.id = task->id,
                                .submitted = task->submitted,
                                .func = {TG_NO_KERNEL, TG_NO_KERNEL, TG_NO_KERNEL},
                                .scope = keep_name(deps, task->scope, &r->last_scope),
                                .first_edge = deps->n_edges,
                                .n_edges = task->n_edges};
    bool good = kept.scope && keep_edges(r, task);
    for (uint32_t i = 0; i < task->n_numbers; i++)
        kept.func[i] = task->number[i], kept.slot[i] = task->slot[i];
    for (uint32_t i = 0; i < task->n_names; i++) {
        kept.kernel[i] = keep_name(deps, task->kernel[i], &r->last_kernel[i]);
        good = good && kept.kernel[i];
    }
    if (!good || !tg_grow(&deps->task, &r->task_room, (size_t)deps->n_tasks + 1, sizeof kept))
        return false;
    deps->task[deps->n_tasks++] = kept;
    return true;
}

static tg_status read_tasks(struct reading *r, struct tg_error *error)
{
    struct tg_deps *deps = r->deps;
    tg_status status;
    bool more;
    while ((status = tg_deps_reader_next(&r->reader, &more, error)) == TG_OK && more) {
        if (r->reader.lists != r->list)
            deps->n_tasks = 0, deps->n_edges = 0;
        r->list = r->reader.lists;
        if (deps->n_tasks == MOST_TASKS)
            return tg_deps_reader_refuse(&r->reader, "more tasks than 32 bits can count", error);
        if (!keep_task(r, &r->reader.task))
            return tg_file_no_memory(error);
    }
    if (status == TG_OK && r->reader.lists != r->list)
        deps->n_tasks = 0, deps->n_edges = 0; /* the last list was empty */
    deps->lost = r->reader.lost;
    deps->runtime = tg_names_add(&deps->names, r->reader.runtime, strlen(r->reader.runtime));
    return status == TG_OK && !deps->runtime ? tg_file_no_memory(error) : status;
}

/* --- edges from ids to places ----------------------------------------------------------------- */

struct place {
    uint64_t id;
    uint32_t at;
};

static int by_id(const void *a, const void *b)
{
    const struct place *left = a, *right = b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (left->at > right->at) - (left->at < right->at);
}

static const struct place *find_place(const struct place *place, uint32_t count, uint64_t id)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (place[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && place[low].id == id ? &place[low] : NULL;
}

/* Removes the edges to ids that no task has. */
static void resolve(struct tg_deps *deps, const struct place *place)
{
    uint64_t kept = 0;
    for (uint32_t i = 0; i < deps->n_tasks; i++) {
        struct tg_deps_task *task = &deps->task[i];
        uint64_t first = kept;
        for (uint64_t k = 0; k < task->n_edges; k++) {
            const struct place *before =
                find_place(place, deps->n_tasks, deps->edge_id[task->first_edge + k]);
            if (before && before->at != i)
                deps->before[kept++] = before->at;
            else
                deps->unknown++;
        }
        task->first_edge = first;
        task->n_edges = kept - first;
    }
    deps->n_edges = kept;
}

/* True if two tasks have the same id. */
static bool has_twins(const struct place *place, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (place[i].id == place[i - 1].id)
            return true;
    return false;
}

static tg_status resolve_with(struct reading *r, struct place *place, struct tg_error *error)
{
    struct tg_deps *deps = r->deps;
    bool is_sorted = true;
    for (uint32_t i = 0; i < deps->n_tasks; i++) {
        place[i] = (struct place){deps->task[i].id, i};
        is_sorted = is_sorted && (i == 0 || place[i - 1].id <= place[i].id);
    }
    if (!is_sorted)
        qsort(place, deps->n_tasks, sizeof *place, by_id);
    if (has_twins(place, deps->n_tasks))
        return tg_deps_reader_refuse(&r->reader, "two tasks with the same task_id", error);
    resolve(deps, place);
    return TG_OK;
}

static tg_status resolve_edges(struct reading *r, struct tg_error *error)
{
    struct tg_deps *deps = r->deps;
    deps->before = calloc((size_t)deps->n_edges + 1, sizeof *deps->before);
    struct place *place = calloc((size_t)deps->n_tasks + 1, sizeof *place);
    tg_status status =
        deps->before && place ? resolve_with(r, place, error) : tg_file_no_memory(error);
    free(place);
    free(deps->edge_id);
    deps->edge_id = NULL;
    return status;
}

/* Takes over r->reader, which must be open. */
static tg_status read_all(struct reading *r, struct tg_deps **deps, struct tg_error *error)
{
    r->deps = calloc(1, sizeof *r->deps);
    tg_status status = r->deps ? read_tasks(r, error) : tg_file_no_memory(error);
    if (status == TG_OK)
        status = resolve_edges(r, error);
    if (status == TG_OK)
        *deps = r->deps;
    else
        tg_deps_free(r->deps);
    tg_deps_reader_close(&r->reader);
    return status;
}

tg_status tg_deps_parse(const char *text, size_t size, const char *name, struct tg_deps **deps,
                        struct tg_error *error)
{
    struct reading r = {0};
    *deps = NULL;
    tg_status status = tg_deps_reader_start(text, size, name, &r.reader, error);
    return status == TG_OK ? read_all(&r, deps, error) : status;
}

tg_status tg_deps_find(const struct tg_recording *recording, struct tg_deps **deps,
                       struct tg_error *error)
{
    struct tg_recording_info info;
    struct reading r = {0};
    bool found;
    tg_recording_get_info(recording, &info);
    *deps = NULL;
    tg_status status = tg_deps_reader_open(&info, &r.reader, &found, error);
    return found ? read_all(&r, deps, error) : status;
}

void tg_deps_free(struct tg_deps *deps)
{
    if (!deps)
        return;
    free(deps->task);
    free(deps->before);
    free(deps->edge_id);
    tg_names_free(&deps->names);
    free(deps);
}
