/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tensors that a run was given. The recording has the orchestration's arguments, without names;
 * run.json has the names. A filter may leave the arguments out of the recording, and a run that was
 * killed has no run.json, so either may be missing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/tensor.h>

#include "analysis/source.h"
#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/json_pull.h"
#include "recording/reader.h"

/* A run has at most this many; the bound keeps a run.json of a stranger from taking all memory. */
enum { MOST_OBJECTS = 4096 };

static bool add_object(struct tg_sources *sources, size_t *room, const struct tg_object *object)
{
    if (object->address == 0 || object->bytes == 0 ||
        object->bytes > UINT64_MAX - object->address || sources->n_objects == MOST_OBJECTS)
        return true;
    if (!tg_grow(&sources->object, room, (size_t)sources->n_objects + 1, sizeof *object))
        return false;
    sources->object[sources->n_objects++] = *object;
    return true;
}

/* The records of the orchestration's arguments are those of row 0. */
static bool take_arguments(struct tg_sources *sources, size_t *room)
{
    const struct tg_tasks *tasks = sources->tasks;
    const struct tg_task_row *row = tasks->n_rows > 0 ? &tasks->row[0] : NULL;
    struct tg_entry entry;
    for (uint64_t i = 0; row && row->id == TG_TASK_NONE && i < row->count; i++) {
        uint64_t index = tasks->ref[row->first + i].index;
        if (!tg_recording_get(tasks->recording, index, &entry) ||
            entry.record.kind != TG_KIND_TENSOR)
            continue;
        struct tg_object object = {.address = entry.record.data_ptr,
                                   .bytes = entry.record.bytes,
                                   .arg = entry.record.arg_index,
                                   .dtype = entry.record.dtype,
                                   .record = index,
                                   .name = ""};
        if (!add_object(sources, room, &object))
            return false;
    }
    return true;
}

/* --- run.json --------------------------------------------------------------------------------- */

struct named {
    struct tg_object object;
    char name[TG_NAME_MAX + 1];
};

/* One member of "tensors". Members of other kinds are passed over. */
static bool read_named(struct tg_pull *pull, struct named *named)
{
    char text[TG_NAME_MAX + 1];
    uint64_t number;
    *named = (struct named){
        .object = {.arg = TG_NO_ARGUMENT, .dtype = TG_DTYPE_NONE, .record = TG_NONE, .name = ""}};
    if (pull->token != TG_PULL_BEGIN_OBJECT)
        return tg_pull_skip(pull);
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        struct tg_pull key = *pull;
        (void)tg_pull_next(pull);
        if (tg_pull_is(&key, "name") && pull->token == TG_PULL_STRING) {
            tg_name_clean(text, tg_pull_text(pull, text, sizeof text), named->name,
                          sizeof named->name);
        } else if (tg_pull_is(&key, "dtype") && pull->token == TG_PULL_STRING) {
            tg_pull_text(pull, text, sizeof text);
            named->object.dtype = tg_dtype_from_name(text);
        } else if (tg_pull_is(&key, "address") && tg_pull_u64(pull, &number)) {
            named->object.address = number;
        } else if (tg_pull_is(&key, "bytes") && tg_pull_u64(pull, &number)) {
            named->object.bytes = number;
        } else if (tg_pull_is(&key, "arg") && tg_pull_u64(pull, &number)) {
            named->object.arg = number < UINT8_MAX ? (uint32_t)number : TG_NO_ARGUMENT;
        }
        if (!tg_pull_skip(pull))
            return false;
    }
    return pull->token == TG_PULL_END_OBJECT;
}

/* Names the argument at that address, or adds the tensor if the recording does not have it. */
static bool take_named(struct tg_sources *sources, size_t *room, const struct named *named)
{
    struct tg_object object = named->object;
    object.name = tg_names_add(&sources->names, named->name, strlen(named->name));
    if (!object.name)
        return false;
    for (uint32_t i = 0; i < sources->n_objects; i++)
        if (sources->object[i].arg == object.arg && sources->object[i].address == object.address) {
            sources->object[i].name = object.name;
            return true;
        }
    return add_object(sources, room, &object);
}

static bool take_tensors(struct tg_sources *sources, size_t *room, struct tg_pull *pull)
{
    struct named named;
    if (tg_pull_next(pull) != TG_PULL_BEGIN_ARRAY)
        return true;
    while (tg_pull_next(pull) != TG_PULL_END_ARRAY)
        if (pull->token == TG_PULL_ERROR || !read_named(pull, &named))
            return true;
        else if (!take_named(sources, room, &named))
            return false;
    return true;
}

static bool read_run(struct tg_sources *sources, size_t *room, const struct tg_map *map)
{
    struct tg_pull pull;
    tg_pull_start(&pull, (const char *)map->bytes, map->size);
    if (tg_pull_next(&pull) != TG_PULL_BEGIN_OBJECT)
        return true;
    while (tg_pull_next(&pull) == TG_PULL_KEY) {
        if (tg_pull_is(&pull, "tensors"))
            return take_tensors(sources, room, &pull);
        if (tg_pull_next(&pull) == TG_PULL_ERROR || !tg_pull_skip(&pull))
            return true;
    }
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct tg_object *left = a, *right = b;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return (left->arg > right->arg) - (left->arg < right->arg);
}

tg_status tg_sources_open(const struct tg_tasks *tasks, struct tg_sources *sources,
                          struct tg_error *error)
{
    size_t room = 0;
    *sources = (struct tg_sources){.tasks = tasks};
    if (!take_arguments(sources, &room) || !read_run(sources, &room, &tasks->recording->run_json)) {
        tg_sources_close(sources);
        return tg_error_set(error, TG_NO_MEMORY, "no memory for the arguments of a recording");
    }
    if (sources->n_objects > 1)
        qsort(sources->object, sources->n_objects, sizeof *sources->object, by_address);
    return TG_OK;
}
