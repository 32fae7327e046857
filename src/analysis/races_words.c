/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/races.h"

enum { TEXT = 300 };

/* --- the region ------------------------------------------------------------------------------- */

/* Where a view lies in a tensor of the case: an index, or a range of one, for each dimension. */
struct slice {
    int ndim;
    int64_t at[TG_MAX_DIMS], count[TG_MAX_DIMS], step[TG_MAX_DIMS], length[TG_MAX_DIMS];
};

/* The dimension of the tensor that a dimension of the view goes along: the widest that its stride is a whole
 * number of steps of, and whose end it does not pass. -1: none, as after a reshape. */
static int dimension_along(const struct slice *slice, const int64_t *strides, int64_t count,
                           int64_t stride)
{
    int found = -1;
    for (int k = 0; k < slice->ndim; k++)
        if (strides[k] > 0 && stride > 0 && stride % strides[k] == 0 && slice->count[k] == 1 &&
            (found < 0 || strides[k] > strides[found]) && slice->length[k] > 1 &&
            count - 1 <= (slice->length[k] - 1 - slice->at[k]) / (stride / strides[k]))
            found = k;
    return found;
}

/* `record` is that of the whole tensor, which is row-major and has elements. False if the view is no slice of
 * it. */
static bool find_slice(const struct tg_record *record, const struct tg_tensor *view,
                       struct slice *slice)
{
    const int64_t size = tg_bits_of(view->dtype) / 8;
    *slice = (struct slice){.ndim = record->ndim};
    if (record->dtype != view->dtype || size == 0 || view->addr < record->data_ptr ||
        (view->addr - record->data_ptr) % (uint64_t)size != 0)
        return false;
    int64_t offset = (int64_t)((view->addr - record->data_ptr) / (uint64_t)size) + view->start;
    offset -= record->start;
    for (int i = 0; i < record->ndim; i++) {
        if (offset < 0 || record->strides[i] <= 0 || record->shape[i] <= 0)
            return false;
        slice->length[i] = record->shape[i];
        slice->count[i] = slice->step[i] = 1;
        slice->at[i] = record->shape[i] > 1 ? offset / record->strides[i] : 0;
        offset -= slice->at[i] * record->strides[i];
        if (slice->at[i] >= record->shape[i])
            return false;
    }
    for (int i = 0; i < view->ndim; i++) {
        if (view->shape[i] == 1)
            continue;
        int along = dimension_along(slice, record->strides, view->shape[i], view->strides[i]);
        if (along < 0)
            return false;
        slice->count[along] = view->shape[i];
        slice->step[along] = view->strides[i] / record->strides[along];
    }
    return offset == 0;
}

static size_t put_dimension(const struct slice *slice, int i, char *text, size_t room)
{
    int64_t end = slice->at[i] + (slice->count[i] - 1) * slice->step[i] + 1;
    int n;
    if (slice->count[i] == 1 && slice->length[i] > 1)
        n = snprintf(text, room, "%" PRId64, slice->at[i]);
    else if (slice->count[i] == slice->length[i])
        n = snprintf(text, room, ":");
    else if (slice->step[i] == 1)
        n = snprintf(text, room, "%" PRId64 ":%" PRId64, slice->at[i], end);
    else
        n = snprintf(text, room, "%" PRId64 ":%" PRId64 ":%" PRId64, slice->at[i], end,
                     slice->step[i]);
    return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

/* "x[0:16, 3]"; "x" for all of it. */
static void put_slice(const char *name, const struct slice *slice, char *text, size_t room)
{
    bool is_all = true;
    size_t at = (size_t)snprintf(text, room, "%.*s", TEXT / 2, name);
    for (int i = 0; i < slice->ndim; i++)
        is_all = is_all && slice->count[i] == slice->length[i];
    for (int i = 0; !is_all && i < slice->ndim && at + 64 < room; i++) {
        at += (size_t)snprintf(text + at, room - at, "%s", i == 0 ? "[" : ", ");
        at += put_dimension(slice, i, text + at, room - at);
    }
    if (!is_all)
        snprintf(text + at, room - at, "]");
}

/* Bytes from the object's first to the first and behind the last of the view. */
static bool hull_of(const struct tg_tensor *view, int64_t *lo, int64_t *hi)
{
    int64_t first, last;
    unsigned bits = tg_bits_of(view->dtype);
    if (bits == 0 || !tg_tensor_footprint(view, &first, &last) || last > INT64_MAX / 256 ||
        first < INT64_MIN / 256)
        return false;
    *lo = first * (int64_t)bits / 8;
    *hi = ((last + 1) * (int64_t)bits + 7) / 8;
    return true;
}

/* Memory that the case does not name. */
static void put_addresses(const struct tg_races *races, const struct tg_tensor *view, char *text,
                          size_t room)
{
    int64_t lo = 0, hi = 0;
    if (!hull_of(view, &lo, &hi))
        snprintf(text, room, "a view at 0x%" PRIx64, view->addr);
    else
        snprintf(text, room, "0x%" PRIx64 " to 0x%" PRIx64 "%s", view->addr + (uint64_t)lo,
                 view->addr + (uint64_t)hi, races->peer.is_peer ? "" : ", memory of the runtime");
}

static void put_region(const struct tg_races *races, const struct tg_tensor *view, char *text,
                       size_t room)
{
    const struct tg_object *object = tg_sources_object(&races->sources, view->addr);
    struct tg_entry entry;
    struct slice slice;
    char name[TEXT / 2];
    int64_t lo, hi;
    if (!object || races->peer.is_peer) {
        put_addresses(races, view, text, room);
        return;
    }
    if (*object->name || object->arg == TG_NO_ARGUMENT)
        snprintf(name, sizeof name, "%s", *object->name ? object->name : "a tensor of the case");
    else
        snprintf(name, sizeof name, "argument %" PRIu32 " of the orchestration", object->arg);
    if (object->record != TG_NONE && tg_recording_get(races->recording, object->record, &entry) &&
        find_slice(&entry.record, view, &slice))
        put_slice(name, &slice, text, room);
    else if (hull_of(view, &lo, &hi))
        snprintf(text, room, "%s, bytes %" PRIu64 " to %" PRIu64, name,
                 view->addr - object->address + (uint64_t)lo,
                 view->addr - object->address + (uint64_t)hi);
    else
        snprintf(text, room, "%s", name);
}

/* --- one side --------------------------------------------------------------------------------- */

/* The view of an argument, as the recording or the other implementation's deps.json has it. */
static void find_view(const struct tg_races *races, const struct tg_race_end *end,
                      struct tg_tensor *view)
{
    const struct tg_task_row *row = &races->tasks.row[races->tasks.of_deps[end->task]];
    struct tg_entry entry;
    tg_tensor_clear(view);
    size_t low = 0, high = races->peer.n_args;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (races->peer.arg[middle].task < end->task)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < races->peer.n_args && races->peer.arg[low].task == end->task; low++)
        if (races->peer.arg[low].argument == end->argument) {
            *view = races->peer.arg[low].tensor;
            return;
        }
    for (uint64_t i = 0; !races->peer.is_peer && i < row->count; i++)
        if (tg_recording_get(races->recording, races->tasks.ref[row->first + i].index, &entry) &&
            entry.record.arg_index == end->argument && entry.record.kind == TG_KIND_TENSOR) {
            tg_races_view(&entry.record, view);
            return;
        }
}

static void fill_side(const struct tg_races *races, const struct tg_race_end *end,
                      struct tg_race_side *side, char *region, size_t room)
{
    const struct tg_deps_task *task = &races->tasks.deps->task[end->task];
    const char *kernel = races->tasks.row[races->tasks.of_deps[end->task]].kernel;
    *side = (struct tg_race_side){.task_id = task->id,
                                  .position = end->task,
                                  .kernels = kernel ? kernel : "",
                                  .line = task->line ? task->line : "",
                                  .scope = races->peer.is_peer ? "" : task->scope,
                                  .argument = end->argument,
                                  .reads = end->reads,
                                  .writes = end->writes,
                                  .region = region};
    find_view(races, end, &side->tensor);
    put_region(races, &side->tensor, region, room);
}

/* "12", or "1:12" in other rings than 0, as the command line takes it. */
static void put_task(uint64_t id, const char *between, char *text, size_t room)
{
    if (id >> 32 == 0)
        snprintf(text, room, "%" PRIu64, id);
    else
        snprintf(text, room, "%" PRIu64 "%s%" PRIu64, id >> 32, between, id & UINT32_MAX);
}

static void put_fix(const struct tg_race *race, char *text, size_t room)
{
    char first[48], second[48], name[48];
    put_task(race->first.task_id, ":", first, sizeof first);
    put_task(race->second.task_id, ":", second, sizeof second);
    put_task(race->first.task_id, "_", name, sizeof name);
    snprintf(
        text, room,
        "tg_args_after(&args, task_%s); /* in task %s%s%.100s: task_%s is what the submit of task "
        "%s%s%.100s returned */",
        name, second, *race->second.line ? " at " : "", race->second.line, name, first,
        *race->first.line ? " at " : "", race->first.line);
}

int tg_races_tell(void *context, const struct tg_race_group *group)
{
    struct tg_races *races = context;
    char first[TEXT], second[TEXT], fix[2 * TEXT];
    struct tg_race race = {.pairs = group->pairs,
                           .bytes = group->bytes == UINT64_MAX ? TG_NONE : group->bytes,
                           .fix = fix};
    races->summary->groups++;
    if (!races->tell)
        return 0;
    fill_side(races, &group->first, &race.first, first, sizeof first);
    fill_side(races, &group->second, &race.second, second, sizeof second);
    put_fix(&race, fix, sizeof fix);
    races->was_cancelled = races->tell(races->context, &race) != 0;
    return races->was_cancelled;
}
