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
    size_t task_room, edge_room, seen_room, seen_task_room;
    uint64_t submitted[TG_RINGS]; /* of each ring, 1 + the largest index so far */
    uint32_t list;                /* the number of the task list being read */
    const char *last_scope, *last_line, *last_kernel[TG_PARTS];
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

/* Adds what the task says to what is known. Returns false if memory ran out. */
static bool keep_seen(struct reading *r, const struct tg_deps_read_task *task)
{
    struct tg_deps *deps = r->deps;
    const struct tg_deps_read_seen *seen = &task->seen;
    struct tg_deps_seen kept = {0};
    if (!seen->is_there)
        return true;
    if (!tg_grow(&deps->seen, &r->seen_room, (size_t)deps->n_seen + 1, sizeof kept) ||
        !tg_grow(&deps->seen_id, &r->seen_task_room, (size_t)deps->n_seen_tasks + seen->n_tasks,
                 sizeof *deps->seen_id))
        return false;
    if (deps->n_seen > 0)
        kept = deps->seen[deps->n_seen - 1];
    kept.at = deps->n_tasks;
    for (uint32_t ring = 0; ring < TG_RINGS; ring++)
        if (seen->done[ring] > kept.done[ring])
            kept.done[ring] = seen->done[ring];
    for (size_t i = 0; i < seen->n_tasks; i++)
        deps->seen_id[deps->n_seen_tasks++] = seen->task[i];
    kept.n_tasks = deps->n_seen_tasks;
    deps->seen[deps->n_seen++] = kept;
    return true;
}

/* False if the task claims that tasks had completed which were not submitted before it. The tasks that a
 * run has lost do not count. */
static bool is_past(const struct reading *r, const struct tg_deps_read_task *task)
{
    for (uint32_t ring = 0; ring < TG_RINGS; ring++)
        if (task->seen.done[ring] > r->submitted[ring] && r->reader.lost == 0)
            return false;
    return true;
}

static void count_task(struct reading *r, uint64_t id)
{
    uint64_t ring = id >> 32, index = id & UINT32_MAX;
    if (ring < TG_RINGS && index >= r->submitted[ring])
        r->submitted[ring] = index + 1;
}

/* Forgets the tasks of a list that another one replaces. */
static void forget_tasks(struct reading *r)
{
    struct tg_deps *deps = r->deps;
    deps->n_tasks = deps->n_seen = 0;
    deps->n_edges = deps->n_seen_tasks = 0;
    memset(r->submitted, 0, sizeof r->submitted);
}

/* Returns false if memory ran out. */
static bool keep_task(struct reading *r, const struct tg_deps_read_task *task)
{
    struct tg_deps *deps = r->deps;
    struct tg_deps_task kept = {.id = task->id,
                                .submitted = task->submitted,
                                .func = {TG_NO_KERNEL, TG_NO_KERNEL, TG_NO_KERNEL},
                                .scope = keep_name(deps, task->scope, &r->last_scope),
                                .line = keep_name(deps, task->line, &r->last_line),
                                .first_edge = deps->n_edges,
                                .n_edges = task->n_edges};
    bool good = kept.scope && kept.line && keep_edges(r, task) && keep_seen(r, task);
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
            forget_tasks(r);
        r->list = r->reader.lists;
        if (deps->n_tasks == MOST_TASKS)
            return tg_deps_reader_refuse(&r->reader, "more tasks than 32 bits can count", error);
        if (!is_past(r, &r->reader.task))
            return tg_deps_reader_refuse(
                &r->reader, "\"seen\" counts tasks that were not submitted before this one", error);
        if (!keep_task(r, &r->reader.task))
            return tg_file_no_memory(error);
        count_task(r, r->reader.task.id);
    }
    if (status == TG_OK && r->reader.lists != r->list)
        forget_tasks(r); /* the last list was empty */
    deps->lost = r->reader.lost;
    deps->is_peer = r->reader.has_peer;
    deps->knows_memory = r->reader.allocations.is_there;
    deps->n_allocations = r->reader.allocations.count;
    deps->allocation = r->reader.allocations.at;
    r->reader.allocations.at = NULL;
    deps->n_releases = r->reader.releases.count;
    deps->release = r->reader.releases.at;
    r->reader.releases.at = NULL;
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

/* Finds the tasks that were seen to have completed, and leaves out those that no task is. Returns false if
 * a task is not one that was submitted before. */
static bool resolve_seen(struct tg_deps *deps, const struct place *place)
{
    uint64_t next = 0, kept = 0;
    for (uint32_t i = 0; i < deps->n_seen; i++) {
        struct tg_deps_seen *seen = &deps->seen[i];
        for (; next < seen->n_tasks; next++) {
            const struct place *before = find_place(place, deps->n_tasks, deps->seen_id[next]);
            if (before && before->at >= seen->at)
                return false;
            if (before)
                deps->seen_task[kept++] = before->at;
            else
                deps->unknown++;
        }
        seen->n_tasks = kept;
    }
    deps->n_seen_tasks = kept;
    return true;
}

/* Finds `count` tasks that were submitted before task `at`. Returns false if one was submitted later. */
static bool resolve_list(struct tg_deps *deps, const struct place *place, const uint64_t *id,
                         uint64_t at, size_t *count, uint32_t **to)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        const struct place *found = find_place(place, deps->n_tasks, id[i]);
        if (found && found->at >= at)
            return false;
        if (found)
            (*to)[kept++] = found->at;
        else
            deps->unknown++;
    }
    *to += kept;
    *count = kept;
    return true;
}

/* The same for the tasks that scopes held back. */
static bool resolve_releases(struct reading *r, const struct place *place)
{
    struct tg_deps *deps = r->deps;
    const uint64_t *id = r->reader.releases.id;
    uint32_t *to = deps->release_task, task = 0;
    memset(r->submitted, 0, sizeof r->submitted);
    for (size_t i = 0; i < deps->n_releases; i++) {
        struct tg_deps_release *release = &deps->release[i];
        const uint64_t *held = id + release->n_seen, *end = held + release->n_held;
        for (; task < deps->n_tasks && task < release->at; task++)
            count_task(r, deps->task[task].id);
        for (uint32_t ring = 0; ring < TG_RINGS; ring++)
            if (release->done[ring] > r->submitted[ring] && deps->lost == 0)
                return false;
        if (!resolve_list(deps, place, id, release->at, &release->n_seen, &to) ||
            !resolve_list(deps, place, held, release->at, &release->n_held, &to))
            return false;
        id = end;
    }
    return true;
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
    if (!resolve_seen(deps, place))
        return tg_deps_reader_refuse(
            &r->reader, "\"seen\" names a task that was not submitted before the task that has it",
            error);
    if (!resolve_releases(r, place))
        return tg_deps_reader_refuse(
            &r->reader, "\"released\" names a task that was not submitted before", error);
    return TG_OK;
}

static tg_status resolve_edges(struct reading *r, struct tg_error *error)
{
    struct tg_deps *deps = r->deps;
    deps->before = calloc((size_t)deps->n_edges + 1, sizeof *deps->before);
    deps->seen_task = calloc((size_t)deps->n_seen_tasks + 1, sizeof *deps->seen_task);
    deps->release_task = calloc(r->reader.releases.n_ids + 1, sizeof *deps->release_task);
    struct place *place = calloc((size_t)deps->n_tasks + 1, sizeof *place);
    tg_status status = deps->before && deps->seen_task && deps->release_task && place
                           ? resolve_with(r, place, error)
                           : tg_file_no_memory(error);
    free(place);
    free(deps->edge_id);
    free(deps->seen_id);
    deps->edge_id = deps->seen_id = NULL;
    return status;
}

/* Takes over r->reader, which must be open. */
static tg_status read_all(struct reading *r, struct tg_deps **deps, struct tg_error *error)
{
    r->reader.keeps_allocations = true;
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

const struct tg_deps_seen *tg_deps_seen_by(const struct tg_deps *deps, uint32_t task)
{
    uint32_t low = 0, high = deps->n_seen; /* entries before low are at the task or before it */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (deps->seen[middle].at <= task)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &deps->seen[low - 1] : NULL;
}

void tg_deps_free(struct tg_deps *deps)
{
    if (!deps)
        return;
    free(deps->task);
    free(deps->before);
    free(deps->edge_id);
    free(deps->seen_id);
    free(deps->seen);
    free(deps->seen_task);
    free(deps->allocation);
    free(deps->release);
    free(deps->release_task);
    tg_names_free(&deps->names);
    free(deps);
}
