/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "analysis/deps_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/names.h"
#include "recording/record.h"

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory for deps.json");
}

static tg_status broken(struct tg_deps_reader *deps, const char *what, struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT, "'%s', line %lu: %s", deps->path,
                        tg_pull_line(&deps->pull), what);
}

/* --- opening -------------------------------------------------------------------------------- */

/* A folder of another name is a recording that lies alone: what is beside it is somebody else's. */
static bool is_in_run(const char *dir)
{
    char *path = realpath(dir, NULL), last[TG_NAME_MAX + 1] = "";
    if (path)
        tg_path_last(path, last, sizeof last);
    free(path);
    return strcmp(last, TG_DUMP_FOLDER) == 0 || strcmp(last, "args_dump") == 0;
}

char *tg_export_run_file(const struct tg_recording_info *info, const char *name)
{
    if (!is_in_run(info->dir))
        return tg_path_join(info->dir, name);
    char *run = tg_path_join(info->dir, "..");
    char *path = run ? tg_path_join(run, name) : NULL;
    free(run);
    return path;
}

/* Passes over everything up to the array "tasks". */
static bool find_tasks(struct tg_pull *pull)
{
    if (tg_pull_next(pull) != TG_PULL_BEGIN_OBJECT)
        return false;
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        bool is_tasks = tg_pull_is(pull, "tasks");
        enum tg_pull_token token = tg_pull_next(pull);
        if (is_tasks)
            return token == TG_PULL_BEGIN_ARRAY;
        if (token == TG_PULL_ERROR || !tg_pull_skip(pull))
            return false;
    }
    return false;
}

/* Takes deps->map; closes it where it makes no sense. */
static tg_status begin(struct tg_deps_reader *deps, struct tg_error *error)
{
    tg_pull_start(&deps->pull, (const char *)deps->map.bytes, deps->map.size);
    deps->in_tasks = find_tasks(&deps->pull);
    if (deps->in_tasks)
        return TG_OK;
    tg_status status =
        broken(deps, deps->pull.problem ? deps->pull.problem : "there are no tasks", error);
    tg_deps_reader_close(deps);
    return status;
}

tg_status tg_deps_reader_open(const struct tg_recording_info *info, struct tg_deps_reader *deps,
                              bool *found, struct tg_error *error)
{
    *deps = (struct tg_deps_reader){.path = tg_export_run_file(info, "deps.json")};
    *found = false;
    int cause = deps->path ? tg_map_open(deps->path, true, &deps->map) : ENOMEM;
    if (cause == 0) {
        tg_status status = begin(deps, error);
        *found = status == TG_OK;
        return status;
    }
    tg_status status = TG_OK;
    if (cause != ENOENT)
        status = deps->path ? tg_file_error(error, "read", deps->path, cause) : no_memory(error);
    tg_deps_reader_close(deps);
    return status;
}

tg_status tg_deps_reader_start(const void *text, size_t size, struct tg_deps_reader *deps,
                               struct tg_error *error)
{
    *deps = (struct tg_deps_reader){.path = strdup("memory")};
    deps->map = (struct tg_map){.bytes = text, .size = size};
    return begin(deps, error);
}

void tg_deps_reader_close(struct tg_deps_reader *deps)
{
    tg_map_close(&deps->map);
    free(deps->path);
    free(deps->task.edge);
    *deps = (struct tg_deps_reader){0};
}

/* --- one task ------------------------------------------------------------------------------- */

/* What is being read of it. Its edges and their kinds come in two lists, in either order. */
struct reading {
    struct tg_deps_reader *deps;
    size_t n_after, n_kinds, n_numbers, n_names;
    bool has_id;
    const char *problem;
};

static struct tg_deps_read_edge *edge_at(struct tg_deps_reader *deps, size_t i)
{
    struct tg_deps_read_task *task = &deps->task;
    if (i >= deps->room) {
        size_t room = deps->room > 0 ? 2 * deps->room : 16;
        struct tg_deps_read_edge *edge = realloc(task->edge, room * sizeof *edge);
        if (!edge)
            return NULL;
        task->edge = edge;
        deps->room = room;
    }
    for (; task->n_edges <= i; task->n_edges++)
        task->edge[task->n_edges] = (struct tg_deps_read_edge){0};
    return &task->edge[i];
}

/* These give false with reading->problem, or without for lack of memory. */
static bool wrong(struct reading *reading, const char *problem)
{
    reading->problem = problem;
    return false;
}

static bool take_after(struct reading *reading)
{
    struct tg_deps_read_edge *edge = edge_at(reading->deps, reading->n_after);
    if (!edge)
        return false;
    if (!tg_pull_u64(&reading->deps->pull, &edge->before))
        return wrong(reading, "\"after\" wants task ids");
    reading->n_after++;
    return true;
}

static void take_text(const struct tg_pull *pull, char *text, size_t room)
{
    char raw[TG_DEPS_TEXT];
    size_t length = tg_pull_text(pull, raw, sizeof raw);
    tg_name_clean(raw, length, text, room);
}

static bool take_kind(struct reading *reading)
{
    struct tg_deps_read_edge *edge = edge_at(reading->deps, reading->n_kinds);
    if (!edge)
        return false;
    if (reading->deps->pull.token != TG_PULL_STRING)
        return wrong(reading, "\"kind\" wants words");
    take_text(&reading->deps->pull, edge->kind, sizeof edge->kind);
    reading->n_kinds++;
    return true;
}

static bool take_number(struct reading *reading)
{
    uint64_t number;
    if (reading->n_numbers == TG_DEPS_KERNELS || !tg_pull_u64(&reading->deps->pull, &number) ||
        number > UINT32_MAX)
        return wrong(reading, "\"func_id\" wants up to three numbers");
    reading->deps->task.number[reading->n_numbers++] = (uint32_t)number;
    return true;
}

static bool take_kernel(struct reading *reading)
{
    if (reading->n_names == TG_DEPS_KERNELS || reading->deps->pull.token != TG_PULL_STRING)
        return wrong(reading, "\"kernel\" wants up to three names");
    take_text(&reading->deps->pull, reading->deps->task.kernel[reading->n_names++], TG_DEPS_TEXT);
    return true;
}

static bool take_list(struct reading *reading, bool (*take)(struct reading *reading))
{
    struct tg_pull *pull = &reading->deps->pull;
    if (tg_pull_next(pull) != TG_PULL_BEGIN_ARRAY)
        return wrong(reading, "a list is missing");
    while (tg_pull_next(pull) != TG_PULL_END_ARRAY)
        if (pull->token == TG_PULL_ERROR || !take(reading))
            return false;
    return true;
}

static bool take_scope(struct reading *reading)
{
    struct tg_pull *pull = &reading->deps->pull;
    enum tg_pull_token token = tg_pull_next(pull);
    if (token == TG_PULL_STRING)
        take_text(pull, reading->deps->task.scope, TG_DEPS_TEXT);
    return token == TG_PULL_STRING || token == TG_PULL_NULL ||
           wrong(reading, "\"scope\" wants a text");
}

static bool take_member(struct reading *reading)
{
    struct tg_pull *pull = &reading->deps->pull;
    if (tg_pull_is(pull, "after"))
        return take_list(reading, take_after);
    if (tg_pull_is(pull, "kind"))
        return take_list(reading, take_kind);
    if (tg_pull_is(pull, "func_id"))
        return take_list(reading, take_number);
    if (tg_pull_is(pull, "kernel"))
        return take_list(reading, take_kernel);
    if (tg_pull_is(pull, "scope"))
        return take_scope(reading);
    if (!tg_pull_is(pull, "task_id"))
        return tg_pull_next(pull) != TG_PULL_ERROR && tg_pull_skip(pull);
    (void)tg_pull_next(pull);
    reading->has_id = tg_pull_u64(pull, &reading->deps->task.id);
    return reading->has_id || wrong(reading, "\"task_id\" wants an id");
}

static bool is_whole(struct reading *reading)
{
    struct tg_deps_read_task *task = &reading->deps->task;
    if (!reading->has_id)
        return wrong(reading, "a task has no \"task_id\"");
    if (reading->n_kinds > reading->n_after)
        return wrong(reading, "there are more kinds than edges");
    task->n_kernels =
        (uint32_t)(reading->n_names > reading->n_numbers ? reading->n_numbers : reading->n_names);
    return true;
}

static bool read_task(struct reading *reading)
{
    struct tg_deps_reader *deps = reading->deps;
    struct tg_deps_read_edge *edge = deps->task.edge;
    deps->task = (struct tg_deps_read_task){.edge = edge};
    while (tg_pull_next(&deps->pull) == TG_PULL_KEY)
        if (!take_member(reading))
            return false;
    return deps->pull.token == TG_PULL_END_OBJECT && is_whole(reading);
}

tg_status tg_deps_reader_next(struct tg_deps_reader *deps, bool *more, struct tg_error *error)
{
    struct reading reading = {.deps = deps};
    *more = false;
    enum tg_pull_token token = deps->in_tasks ? tg_pull_next(&deps->pull) : TG_PULL_END_ARRAY;
    if (token == TG_PULL_END_ARRAY) {
        deps->in_tasks = false;
        return TG_OK;
    }
    *more = token == TG_PULL_BEGIN_OBJECT && read_task(&reading);
    if (*more)
        return TG_OK;
    const char *problem = deps->pull.problem ? deps->pull.problem : reading.problem;
    if (!problem && token == TG_PULL_BEGIN_OBJECT)
        return no_memory(error);
    return broken(deps, problem ? problem : "a task is no object", error);
}
