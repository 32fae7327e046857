/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "analysis/deps_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/names.h"
#include "recording/reader.h"
#include "recording/record.h"

tg_status tg_deps_reader_refuse(const struct tg_deps_reader *reader, const char *why,
                                struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "'%s', line %lu: %s; this is not the deps.json of a run", reader->path,
                        tg_pull_line(&reader->pull), why);
}

/* --- opening -------------------------------------------------------------------------------- */

/* Looks in the run's directory first, then among the recording's files. Returns 0 or a cause;
 * reader->path may be NULL if it failed. */
static int open_file(const struct tg_recording_info *info, struct tg_deps_reader *reader)
{
    int cause = tg_run_file(info->dir, TG_DEPS_FILE, &reader->path);
    if (cause == 0)
        cause = tg_map_text(reader->path, &reader->map);
    if (cause != ENOENT && cause != ENOTDIR)
        return cause;
    free(reader->path);
    reader->path = tg_path_join(info->dir, TG_DEPS_FILE);
    return reader->path ? tg_map_text(reader->path, &reader->map) : ENOMEM;
}

static void start(struct tg_deps_reader *reader)
{
    tg_pull_start_map(&reader->pull, &reader->map);
}

tg_status tg_deps_reader_open(const struct tg_recording_info *info, struct tg_deps_reader *reader,
                              bool *found, struct tg_error *error)
{
    tg_status status = TG_OK;
    *reader = (struct tg_deps_reader){0};
    int cause = open_file(info, reader);
    *found = cause == 0;
    if (*found) {
        start(reader);
        return TG_OK;
    }
    if (tg_cause_is_fault(cause))
        status = tg_file_error(error, "read", reader->path ? reader->path : TG_DEPS_FILE, cause);
    else if (cause != ENOENT && cause != ENOTDIR)
        status = tg_error_set(error, TG_BAD_ARGUMENT, "cannot read '%s': %s", reader->path,
                              tg_cause_text(cause));
    tg_deps_reader_close(reader);
    return status;
}

tg_status tg_deps_reader_start(const void *text, size_t size, const char *name,
                               struct tg_deps_reader *reader, struct tg_error *error)
{
    *reader = (struct tg_deps_reader){.path = strdup(name)};
    reader->map = (struct tg_map){.bytes = text, .size = size};
    if (!reader->path)
        return tg_file_no_memory(error);
    start(reader);
    return TG_OK;
}

void tg_deps_reader_close(struct tg_deps_reader *reader)
{
    tg_map_close(&reader->map);
    free(reader->path);
    free(reader->task.edge);
    free(reader->task.seen.task);
    free(reader->allocations.at);
    free(reader->releases.at);
    free(reader->releases.id);
    tg_deps_peer_free(&reader->peer);
    *reader = (struct tg_deps_reader){0};
}

/* --- one task ------------------------------------------------------------------------------- */

/* The task being read. Its edges and their kinds come in two lists, in either order. */
struct reading {
    struct tg_deps_reader *reader;
    size_t n_after, n_kinds;
    uint8_t n_slots; /* of "kernel_ids" */
    bool has_id, has_scope, has_line;
    bool has_after; /* it names the tasks that it waited for */
    const char *problem;
};

/* Returns false with a problem that is not one of the JSON itself. */
static bool wrong(struct reading *reading, const char *problem)
{
    reading->problem = problem;
    return false;
}

/* Returns NULL if memory ran out. */
static struct tg_deps_read_edge *edge_at(struct tg_deps_reader *reader, size_t i)
{
    struct tg_deps_read_task *task = &reader->task;
    if (!tg_grow(&task->edge, &reader->room, i + 1, sizeof *task->edge))
        return NULL;
    for (; task->n_edges <= i; task->n_edges++)
        task->edge[task->n_edges] = (struct tg_deps_read_edge){0};
    return &task->edge[i];
}

static bool take_after(struct reading *reading)
{
    struct tg_deps_read_edge *edge = edge_at(reading->reader, reading->n_after);
    if (!edge)
        return false;
    if (!tg_pull_u64(&reading->reader->pull, &edge->before))
        return wrong(reading, "\"after\" has a value of the wrong kind; it takes task ids");
    reading->n_after++;
    return true;
}

static void take_text(const struct tg_pull *pull, char *text, size_t room)
{
    char raw[TG_DEPS_TEXT];
    size_t length = tg_pull_text(pull, raw, sizeof raw);
    tg_name_clean(raw, length, text, room);
}

/* Leaves `text` as it is if it was made of the same string. */
static void take_text_once(const struct tg_pull *pull, struct tg_deps_raw *raw, char *text)
{
    bool is_same = raw->text && raw->length == pull->length &&
                   memcmp(raw->text, pull->value, pull->length) == 0;
    if (!is_same)
        take_text(pull, text, TG_DEPS_TEXT);
    *raw = (struct tg_deps_raw){pull->value, pull->length};
}

static bool take_kind(struct reading *reading)
{
    struct tg_deps_read_edge *edge = edge_at(reading->reader, reading->n_kinds);
    if (!edge)
        return false;
    if (reading->reader->pull.token != TG_PULL_STRING)
        return wrong(reading, "\"kind\" has a value of the wrong kind; it takes words");
    take_text(&reading->reader->pull, edge->kind, sizeof edge->kind);
    reading->n_kinds++;
    return true;
}

static bool take_number(struct reading *reading)
{
    struct tg_deps_read_task *task = &reading->reader->task;
    uint64_t number;
    if (task->n_numbers == TG_PARTS || !tg_pull_u64(&reading->reader->pull, &number) ||
        number >= TG_NO_KERNEL)
        return wrong(reading,
                     "\"func_id\" has a value of the wrong kind; it takes up to three numbers");
    task->slot[task->n_numbers] = TG_PARTS;
    task->number[task->n_numbers++] = (uint32_t)number;
    return true;
}

/* The other implementation names the kernels of the parts by number, -1 for a part without one. */
static bool take_slot(struct reading *reading)
{
    struct tg_deps_read_task *task = &reading->reader->task;
    int64_t number;
    if (!tg_pull_i64(&reading->reader->pull, &number) || number >= TG_NO_KERNEL ||
        reading->n_slots == TG_PARTS)
        return wrong(reading,
                     "\"kernel_ids\" has a value of the wrong kind; it takes up to three numbers");
    if (number >= 0) {
        task->kernel[task->n_numbers][0] = '\0';
        reading->reader->raw_kernel[task->n_numbers].text = NULL;
        task->slot[task->n_numbers] = reading->n_slots;
        task->number[task->n_numbers++] = (uint32_t)number;
        task->n_names = task->n_numbers;
    }
    reading->n_slots++;
    return true;
}

static bool take_kernel(struct reading *reading)
{
    struct tg_deps_read_task *task = &reading->reader->task;
    if (task->n_names == TG_PARTS || reading->reader->pull.token != TG_PULL_STRING)
        return wrong(reading,
                     "\"kernel\" has a value of the wrong kind; it takes up to three names");
    uint32_t name = task->n_names++;
    take_text_once(&reading->reader->pull, &reading->reader->raw_kernel[name], task->kernel[name]);
    return true;
}

static bool take_list(struct reading *reading, bool (*take)(struct reading *reading))
{
    struct tg_pull *pull = &reading->reader->pull;
    if (tg_pull_next(pull) != TG_PULL_BEGIN_ARRAY)
        return wrong(reading, "a value of the wrong kind where a list belongs");
    while (tg_pull_next(pull) != TG_PULL_END_ARRAY)
        if (pull->token == TG_PULL_ERROR || !take(reading))
            return false;
    return true;
}

/* Takes the text of a source line, which is null if it is not known. */
static bool take_site(struct reading *reading, struct tg_deps_raw *raw, char *text, bool *has)
{
    struct tg_pull *pull = &reading->reader->pull;
    if (tg_pull_next(pull) == TG_PULL_STRING) {
        take_text_once(pull, raw, text);
        *has = true;
    }
    return pull->token != TG_PULL_ERROR && tg_pull_skip(pull);
}

static bool take_scope(struct reading *reading)
{
    struct tg_deps_reader *reader = reading->reader;
    return take_site(reading, &reader->raw_scope, reader->task.scope, &reading->has_scope);
}

static bool take_line(struct reading *reading)
{
    struct tg_deps_reader *reader = reading->reader;
    return take_site(reading, &reader->raw_line, reader->task.line, &reading->has_line);
}

static bool take_id(struct reading *reading)
{
    struct tg_pull *pull = &reading->reader->pull;
    (void)tg_pull_next(pull);
    reading->has_id = tg_pull_u64(pull, &reading->reader->task.id);
    return reading->has_id || wrong(reading, "\"task_id\" has a value of the wrong kind");
}

static bool take_submitted(struct reading *reading)
{
    struct tg_pull *pull = &reading->reader->pull;
    (void)tg_pull_next(pull);
    return tg_pull_u64(pull, &reading->reader->task.submitted) ||
           wrong(reading, "\"submitted\" has a value of the wrong kind; it takes nanoseconds");
}

/* If a key comes twice, the last one counts and replaces all of the first. */
static bool take_member(struct reading *reading)
{
    struct tg_deps_read_task *task = &reading->reader->task;
    struct tg_pull *pull = &reading->reader->pull;
    if (tg_pull_is(pull, "after")) {
        reading->n_after = 0;
        reading->has_after = true;
        return take_list(reading, take_after);
    }
    if (tg_pull_is(pull, "kind")) {
        for (reading->n_kinds = 0; reading->n_kinds < task->n_edges; reading->n_kinds++)
            task->edge[reading->n_kinds].kind[0] = '\0';
        reading->n_kinds = 0;
        return take_list(reading, take_kind);
    }
    if (tg_pull_is(pull, "func_id")) {
        task->n_numbers = 0;
        return take_list(reading, take_number);
    }
    if (tg_pull_is(pull, "kernel_ids")) {
        task->n_numbers = task->n_names = 0;
        reading->n_slots = 0;
        return take_list(reading, take_slot);
    }
    if (tg_pull_is(pull, "kernel")) {
        task->n_names = 0;
        return take_list(reading, take_kernel);
    }
    if (tg_pull_is(pull, "scope"))
        return take_scope(reading);
    if (tg_pull_is(pull, "line"))
        return take_line(reading);
    if (tg_pull_is(pull, "seen"))
        return tg_deps_facts_seen(pull, &task->seen, &reading->problem);
    if (tg_pull_is(pull, "task_id"))
        return take_id(reading);
    if (tg_pull_is(pull, "submitted"))
        return take_submitted(reading);
    return tg_pull_next(pull) != TG_PULL_ERROR && tg_pull_skip(pull);
}

/* Gives the task its edges out of the list behind the tasks. */
static bool take_peer_edges(struct reading *reading)
{
    struct tg_deps_reader *reader = reading->reader;
    const struct tg_deps_peer_edge *edge;
    size_t count;
    if (!reader->has_peer &&
        !tg_deps_peer_read(reader->pull.text, reader->pull.size, &reader->peer, &reading->problem))
        return false;
    reader->has_peer = true;
    edge = tg_deps_peer_of(&reader->peer, reader->task.id, &count);
    for (size_t i = 0; i < count; i++) {
        struct tg_deps_read_edge *kept = edge_at(reader, i);
        if (!kept)
            return false;
        *kept = edge[i].edge;
    }
    reading->n_after = count;
    return true;
}

static bool is_whole(struct reading *reading)
{
    struct tg_deps_read_task *task = &reading->reader->task;
    if (!reading->has_id || task->id == TG_TASK_NONE)
        return wrong(reading, "a task without a task_id");
    if (!reading->has_after && !take_peer_edges(reading))
        return false;
    if (reading->n_kinds > reading->n_after)
        return wrong(reading, "a task with more kinds than edges");
    task->n_edges = reading->n_after;
    task->n_kernels = task->n_names > task->n_numbers ? task->n_numbers : task->n_names;
    return true;
}

/* Clears all but the texts, which the next task probably has too. */
static void begin_task(struct tg_deps_reader *reader)
{
    struct tg_deps_read_task *task = &reader->task;
    task->id = 0;
    task->submitted = TG_NONE;
    task->n_numbers = task->n_names = task->n_kernels = 0;
    memset(task->number, 0, sizeof task->number);
    memset(task->slot, 0, sizeof task->slot);
    task->n_edges = 0;
    memset(task->seen.done, 0, sizeof task->seen.done);
    task->seen.n_tasks = 0;
    task->seen.is_there = false;
}

static bool read_task(struct reading *reading)
{
    struct tg_deps_reader *reader = reading->reader;
    begin_task(reader);
    if (reader->pull.token != TG_PULL_BEGIN_OBJECT)
        return wrong(reading, "a value of the wrong kind where a task belongs");
    while (tg_pull_next(&reader->pull) == TG_PULL_KEY)
        if (!take_member(reading))
            return false;
    if (!reading->has_scope) {
        reader->task.scope[0] = '\0';
        reader->raw_scope.text = NULL;
    }
    if (!reading->has_line) {
        reader->task.line[0] = '\0';
        reader->raw_line.text = NULL;
    }
    return reader->pull.token == TG_PULL_END_OBJECT && is_whole(reading);
}

/* --- the document --------------------------------------------------------------------------- */

static bool take_lost(struct reading *reading)
{
    (void)tg_pull_next(&reading->reader->pull);
    return tg_pull_u64(&reading->reader->pull, &reading->reader->lost) ||
           wrong(reading, "\"lost\" has a value of the wrong kind");
}

static bool take_runtime(struct reading *reading)
{
    struct tg_pull *pull = &reading->reader->pull;
    if (tg_pull_next(pull) == TG_PULL_STRING)
        take_text(pull, reading->reader->runtime, TG_DEPS_TEXT);
    return pull->token != TG_PULL_ERROR && tg_pull_skip(pull);
}

/* A member of the document that is not its list of tasks. */
static bool take_fact(struct reading *reading)
{
    struct tg_pull *pull = &reading->reader->pull;
    if (tg_pull_is(pull, "lost"))
        return take_lost(reading);
    if (tg_pull_is(pull, "runtime"))
        return take_runtime(reading);
    if (tg_pull_is(pull, "allocations") && reading->reader->keeps_allocations)
        return tg_deps_facts_allocations(pull, &reading->reader->allocations, &reading->problem);
    if (tg_pull_is(pull, "released") && reading->reader->keeps_allocations)
        return tg_deps_facts_releases(pull, &reading->reader->releases, &reading->problem);
    return tg_pull_next(pull) != TG_PULL_ERROR && tg_pull_skip(pull);
}

/* Inside the document's object: goes to the next list of tasks, or to the end of the document. */
static bool find_list(struct reading *reading)
{
    struct tg_deps_reader *reader = reading->reader;
    struct tg_pull *pull = &reader->pull;
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        if (tg_pull_is(pull, "tasks")) {
            reader->lists++;
            reader->state = TG_DEPS_TASKS;
            return tg_pull_next(pull) == TG_PULL_BEGIN_ARRAY ||
                   wrong(reading, "a value of the wrong kind where the tasks belong");
        }
        if (!take_fact(reading))
            return false;
    }
    reader->state = TG_DEPS_OVER;
    if (pull->token != TG_PULL_END_OBJECT || tg_pull_next(pull) != TG_PULL_END)
        return false;
    return reader->lists > 0 || wrong(reading, "no tasks");
}

/* Goes to the first token of the next task and sets *more, or goes to the end of the document. */
static bool find_task(struct reading *reading, bool *more)
{
    struct tg_deps_reader *reader = reading->reader;
    struct tg_pull *pull = &reader->pull;
    if (reader->state == TG_DEPS_BEGIN && tg_pull_next(pull) != TG_PULL_BEGIN_OBJECT)
        return wrong(reading, "a value of the wrong kind where an object belongs");
    if (reader->state == TG_DEPS_BEGIN)
        reader->state = TG_DEPS_OBJECT;
    while (reader->state != TG_DEPS_OVER) {
        if (reader->state == TG_DEPS_OBJECT && !find_list(reading))
            return false;
        *more = reader->state == TG_DEPS_TASKS && tg_pull_next(pull) != TG_PULL_END_ARRAY;
        if (*more)
            return pull->token != TG_PULL_ERROR;
        if (reader->state == TG_DEPS_TASKS)
            reader->state = TG_DEPS_OBJECT;
    }
    return true;
}

tg_status tg_deps_reader_next(struct tg_deps_reader *reader, bool *more, struct tg_error *error)
{
    struct reading reading = {.reader = reader};
    *more = false;
    bool good = find_task(&reading, more) && (!*more || read_task(&reading));
    if (good && *more)
        return TG_OK; /* the end tells whether all of it was the file's */
    *more = false;
    tg_status status = tg_map_report(&reader->map, reader->path, error);
    if (good || status != TG_OK)
        return status;
    if (reader->pull.token == TG_PULL_ERROR)
        reading.problem = reader->pull.problem ? reader->pull.problem : "the file ends too early";
    return reading.problem ? tg_deps_reader_refuse(reader, reading.problem, error)
                           : tg_file_no_memory(error);
}
