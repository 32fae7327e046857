/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "analysis/deps.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json_pull.h"
#include "recording/record.h"

struct reading {
    struct tg_pull pull;
    struct tg_deps *deps;
    uint64_t task_room, edge_room;
    bool has_tasks;
    bool no_memory;
};

/* More tasks than that have no place in 32 bits. */
#define MOST_TASKS (UINT32_MAX - 1)

static bool wrong_kind(struct reading *r)
{
    return tg_pull_fail(&r->pull, "a value of the wrong kind");
}

static bool no_memory(struct reading *r)
{
    r->no_memory = true;
    return tg_pull_fail(&r->pull, "no memory");
}

/* Room for one more. False: no memory. */
static bool make_room(void **array, uint64_t count, uint64_t *room, size_t size)
{
    uint64_t wanted = *room ? 2 * *room : 64;
    if (count < *room)
        return true;
    void *larger = reallocarray(*array, (size_t)wanted, size);
    if (!larger)
        return false;
    *array = larger;
    *room = wanted;
    return true;
}

static const char *read_string(struct reading *r)
{
    char text[TG_NAME_MAX + 1];
    size_t length = tg_pull_text(&r->pull, text, sizeof text);
    const char *name = tg_names_add(&r->deps->names, text, length);
    if (!name)
        no_memory(r);
    return name;
}

/* --- a task ----------------------------------------------------------------------------------- */

static bool read_func(struct reading *r, struct tg_deps_task *task, size_t place)
{
    uint64_t number;
    if (!tg_pull_u64(&r->pull, &number))
        return wrong_kind(r);
    if (place < TG_PARTS && number < TG_NO_KERNEL)
        task->func[place] = (uint32_t)number;
    return true;
}

static bool read_kernel(struct reading *r, struct tg_deps_task *task, size_t place)
{
    if (r->pull.token != TG_PULL_STRING)
        return wrong_kind(r);
    if (place >= TG_PARTS)
        return true;
    task->kernel[place] = read_string(r);
    return task->kernel[place] != NULL;
}

static bool read_edge(struct reading *r, struct tg_deps_task *task, size_t place)
{
    struct tg_deps *deps = r->deps;
    (void)place;
    if (!make_room((void **)&deps->edge_id, deps->n_edges, &r->edge_room, sizeof *deps->edge_id))
        return no_memory(r);
    if (!tg_pull_u64(&r->pull, &deps->edge_id[deps->n_edges]))
        return wrong_kind(r);
    deps->n_edges++;
    task->n_edges++;
    return true;
}

typedef bool (*read_fn)(struct reading *r, struct tg_deps_task *task, size_t place);

static bool read_list(struct reading *r, struct tg_deps_task *task, read_fn read)
{
    if (r->pull.token != TG_PULL_BEGIN_ARRAY)
        return wrong_kind(r);
    for (size_t place = 0;; place++) {
        enum tg_pull_token token = tg_pull_next(&r->pull);
        if (token == TG_PULL_ERROR || token == TG_PULL_END_ARRAY)
            return token != TG_PULL_ERROR;
        if (!read(r, task, place))
            return false;
    }
}

/* A key that comes twice: the last one counts, and nothing is left of the first. */
static bool read_edges(struct reading *r, struct tg_deps_task *task)
{
    r->deps->n_edges = task->first_edge;
    task->n_edges = 0;
    return read_list(r, task, read_edge);
}

static bool read_scope(struct reading *r, struct tg_deps_task *task)
{
    if (r->pull.token != TG_PULL_STRING)
        return tg_pull_skip(&r->pull); /* null, where the scope has no site */
    task->scope = read_string(r);
    return task->scope != NULL;
}

static bool read_member(struct reading *r, struct tg_deps_task *task, bool *has_id)
{
    bool is_id = tg_pull_is(&r->pull, "task_id"), is_func = tg_pull_is(&r->pull, "func_id");
    bool is_kernel = tg_pull_is(&r->pull, "kernel"), is_scope = tg_pull_is(&r->pull, "scope");
    bool is_after = tg_pull_is(&r->pull, "after");
    if (tg_pull_next(&r->pull) == TG_PULL_ERROR)
        return false;
    if (is_id) {
        *has_id = true;
        return tg_pull_u64(&r->pull, &task->id) ? true : wrong_kind(r);
    }
    if (is_func)
        return read_list(r, task, read_func);
    if (is_kernel)
        return read_list(r, task, read_kernel);
    if (is_scope)
        return read_scope(r, task);
    return is_after ? read_edges(r, task) : tg_pull_skip(&r->pull);
}

static bool read_task(struct reading *r)
{
    struct tg_deps *deps = r->deps;
    struct tg_deps_task task = {.func = {TG_NO_KERNEL, TG_NO_KERNEL, TG_NO_KERNEL},
                                .scope = "",
                                .first_edge = deps->n_edges};
    bool has_id = false;
    if (r->pull.token != TG_PULL_BEGIN_OBJECT)
        return wrong_kind(r);
    while (tg_pull_next(&r->pull) == TG_PULL_KEY)
        if (!read_member(r, &task, &has_id))
            return false;
    if (r->pull.token != TG_PULL_END_OBJECT)
        return false;
    if (!has_id || task.id == TG_TASK_NONE)
        return tg_pull_fail(&r->pull, "a task without a task_id");
    if (deps->n_tasks == MOST_TASKS)
        return tg_pull_fail(&r->pull, "more tasks than 32 bits can count");
    if (!make_room((void **)&deps->task, deps->n_tasks, &r->task_room, sizeof *deps->task))
        return no_memory(r);
    deps->task[deps->n_tasks++] = task;
    return true;
}

/* --- the document ----------------------------------------------------------------------------- */

static bool read_tasks(struct reading *r)
{
    if (r->pull.token != TG_PULL_BEGIN_ARRAY)
        return wrong_kind(r);
    r->has_tasks = true;
    r->deps->n_tasks = 0;
    r->deps->n_edges = 0;
    for (;;) {
        enum tg_pull_token token = tg_pull_next(&r->pull);
        if (token == TG_PULL_ERROR || token == TG_PULL_END_ARRAY)
            return token != TG_PULL_ERROR;
        if (!read_task(r))
            return false;
    }
}

static bool read_document(struct reading *r)
{
    if (tg_pull_next(&r->pull) != TG_PULL_BEGIN_OBJECT)
        return r->pull.token == TG_PULL_ERROR ? false : wrong_kind(r);
    while (tg_pull_next(&r->pull) == TG_PULL_KEY) {
        bool is_tasks = tg_pull_is(&r->pull, "tasks"), is_lost = tg_pull_is(&r->pull, "lost");
        if (tg_pull_next(&r->pull) == TG_PULL_ERROR)
            return false;
        if (is_lost && !tg_pull_u64(&r->pull, &r->deps->lost))
            return wrong_kind(r);
        if (is_tasks ? !read_tasks(r) : !tg_pull_skip(&r->pull))
            return false;
    }
    if (r->pull.token != TG_PULL_END_OBJECT || tg_pull_next(&r->pull) != TG_PULL_END)
        return false;
    return r->has_tasks ? true : tg_pull_fail(&r->pull, "no tasks");
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

/* Takes out of each task's edges those that lead nowhere. */
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

/* An id names one task, or it names none. */
static bool has_twins(const struct place *place, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (place[i].id == place[i - 1].id)
            return true;
    return false;
}

static bool resolve_with(struct reading *r, struct place *place)
{
    struct tg_deps *deps = r->deps;
    for (uint32_t i = 0; i < deps->n_tasks; i++)
        place[i] = (struct place){deps->task[i].id, i};
    qsort(place, deps->n_tasks, sizeof *place, by_id);
    if (has_twins(place, deps->n_tasks))
        return tg_pull_fail(&r->pull, "two tasks with the same task_id");
    resolve(deps, place);
    return true;
}

static bool resolve_edges(struct reading *r)
{
    struct tg_deps *deps = r->deps;
    deps->before = calloc((size_t)deps->n_edges + 1, sizeof *deps->before);
    if (!deps->before)
        return no_memory(r);
    struct place *place = calloc((size_t)deps->n_tasks + 1, sizeof *place);
    if (!place)
        return no_memory(r);
    bool good = resolve_with(r, place);
    free(place);
    free(deps->edge_id);
    deps->edge_id = NULL;
    return good;
}

tg_status tg_deps_parse(const char *text, size_t size, const char *name, struct tg_deps **deps,
                        struct tg_error *error)
{
    struct reading r = {.deps = calloc(1, sizeof *r.deps)};
    *deps = NULL;
    if (!r.deps)
        return tg_file_no_memory(error);
    tg_pull_start(&r.pull, text, size);
    if (read_document(&r) && resolve_edges(&r)) {
        *deps = r.deps;
        return TG_OK;
    }
    tg_deps_free(r.deps);
    if (r.no_memory)
        return tg_file_no_memory(error);
    return tg_error_set(error, TG_BAD_ARGUMENT, "%s, line %lu: %s; not what a run leaves", name,
                        tg_pull_line(&r.pull), r.pull.problem ? r.pull.problem : "it ends early");
}

/* --- which file ------------------------------------------------------------------------------- */

/* Of a recording in DIR/tensor_dump, what is in DIR. */
static bool is_in_run_folder(const char *dir)
{
    char last[64], *real = realpath(dir, NULL);
    tg_path_last(real ? real : dir, last, sizeof last);
    free(real);
    return strcmp(last, TG_DUMP_FOLDER) == 0 || strcmp(last, "args_dump") == 0;
}

static tg_status read_file(const char *dir, const char *name, struct tg_deps **deps,
                           struct tg_error *error)
{
    struct tg_map map = {0};
    char *path = tg_path_join(dir, name);
    if (!path)
        return tg_file_no_memory(error);
    int cause = tg_map_open(path, true, &map);
    tg_status status = TG_OK;
    if (cause == 0)
        status = tg_deps_parse((const char *)map.bytes, map.size, path, deps, error);
    else if (cause != ENOENT && cause != ENOTDIR)
        status = tg_file_error(error, "read", path, cause);
    tg_map_close(&map);
    free(path);
    return status;
}

tg_status tg_deps_find(const struct tg_recording *recording, struct tg_deps **deps,
                       struct tg_error *error)
{
    struct tg_recording_info info;
    tg_recording_get_info(recording, &info);
    *deps = NULL;
    tg_status status = read_file(info.dir, TG_DEPS_FILE, deps, error);
    if (status == TG_OK && !*deps && is_in_run_folder(info.dir))
        status = read_file(info.dir, "../" TG_DEPS_FILE, deps, error);
    return status;
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
