/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analysis/deps_read.h"
#include "analysis/deps_space.h"
#include "analysis/races.h"
#include "base/error.h"

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory to search for races");
}

/* --- the order -------------------------------------------------------------------------------- */

static bool put_edges(struct tg_races *races)
{
    const struct tg_deps *deps = races->tasks.deps;
    for (uint32_t i = 0; i < deps->n_tasks; i++)
        for (uint64_t k = 0; k < deps->task[i].n_edges; k++)
            if (!tg_race_add_edge(races->search, deps->before[deps->task[i].first_edge + k], i))
                return false;
    return true;
}

/* Where the tasks of each ring begin among all tasks by id; they go on in the order of their numbers. */
struct rings {
    uint32_t at[TG_RINGS];
};

static void find_rings(const struct tg_tasks *tasks, struct rings *rings)
{
    for (uint32_t ring = 0; ring < TG_RINGS; ring++) {
        uint32_t low = 0, high = tasks->n_rows;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (tasks->row[tasks->by_id[middle]].id < (uint64_t)ring << 32)
                low = middle + 1;
            else
                high = middle;
        }
        rings->at[ring] = low;
    }
}

/* What the orchestrator knew, in the order of time: before it submitted a task, or when it let held tasks go. */
struct knowing {
    struct tg_races *races;
    struct rings rings;
    uint64_t known;      /* tasks of deps->seen_task that have been put in */
    const uint32_t *ids; /* deps->release_task from here on belongs to the next release */
    uint32_t news_at;    /* the task before which something new was known last */
    bool has_news;
};

struct moment {
    bool is_gate;
    uint32_t number; /* of a task, or of a gate */
    uint32_t at;     /* the task that it is before */
};

static bool put_known(struct knowing *k, uint32_t before, const struct moment *moment)
{
    k->has_news = true;
    k->news_at = moment->at;
    return moment->is_gate ? tg_race_gate_seen(k->races->search, moment->number, before)
                           : tg_race_add_seen(k->races->search, before, moment->number);
}

/* Puts in the tasks of the rings that were not known to be complete before. */
static bool put_rings(struct knowing *k, const uint64_t done[TG_RINGS], const struct moment *moment)
{
    const struct tg_tasks *tasks = &k->races->tasks;
    for (uint32_t ring = 0; ring < TG_RINGS; ring++)
        for (uint32_t *at = &k->rings.at[ring]; *at < tasks->n_rows; ++*at) {
            const struct tg_task_row *row = &tasks->row[tasks->by_id[*at]];
            if (row->id >> 32 != ring || (uint32_t)row->id >= done[ring])
                break;
            if (row->deps != TG_NO_ROW && !put_known(k, row->deps, moment))
                return false;
        }
    return true;
}

static bool put_one_seen(struct knowing *k, const struct tg_deps_seen *seen)
{
    const struct moment moment = {.number = seen->at, .at = seen->at};
    if (!put_rings(k, seen->done, &moment))
        return false;
    for (; k->known < seen->n_tasks; k->known++)
        if (!put_known(k, k->races->tasks.deps->seen_task[k->known], &moment))
            return false;
    return true;
}

/* A gate is needed only if something new was known after the first of the tasks was submitted. */
static bool put_release(struct knowing *k, const struct tg_deps_release *release)
{
    struct tg_race_search *search = k->races->search;
    const uint32_t *seen = k->ids, *held = seen + release->n_seen;
    const uint32_t most = k->races->tasks.deps->n_tasks;
    struct moment moment = {.is_gate = true,
                            .at = release->at < most ? (uint32_t)release->at : most};
    k->ids = held + release->n_held;
    if (!tg_race_add_gate(search, moment.at, &moment.number) ||
        !put_rings(k, release->done, &moment))
        return false;
    for (size_t i = 0; i < release->n_seen; i++)
        if (!put_known(k, seen[i], &moment))
            return false;
    for (size_t i = 0; i < release->n_held; i++)
        if (k->has_news && k->news_at > held[i] &&
            !tg_race_gate_opens(search, moment.number, held[i]))
            return false;
    return true;
}

static bool put_seen(struct tg_races *races)
{
    const struct tg_deps *deps = races->tasks.deps;
    struct knowing k = {.races = races, .ids = deps->release_task};
    size_t next = 0;
    find_rings(&races->tasks, &k.rings);
    for (uint32_t i = 0; i < deps->n_seen; i++) {
        for (; next < deps->n_releases && deps->release[next].at <= deps->seen[i].at; next++)
            if (!put_release(&k, &deps->release[next]))
                return false;
        if (!put_one_seen(&k, &deps->seen[i]))
            return false;
    }
    for (; next < deps->n_releases; next++)
        if (!put_release(&k, &deps->release[next]))
            return false;
    return true;
}

tg_status tg_races_put_order(struct tg_races *races, struct tg_error *error)
{
    return put_edges(races) && put_seen(races) ? TG_OK : no_memory(error);
}

/* --- accesses of the other implementation ----------------------------------------------------- */

static tg_status read_peer(struct tg_races *races, struct tg_error *error)
{
    struct tg_deps_reader reader;
    const char *problem = NULL;
    bool found;
    tg_status status = tg_deps_reader_open(&races->tasks.info, &reader, &found, error);
    if (status != TG_OK || !found)
        return status;
    bool good =
        tg_peer_args_read((const char *)reader.map.bytes, reader.map.size, &races->peer, &problem);
    status = tg_map_report(&reader.map, reader.path, error);
    if (status == TG_OK && !good)
        status = problem ? tg_error_set(error, TG_BAD_ARGUMENT, "'%s': %s", reader.path, problem)
                         : no_memory(error);
    tg_deps_reader_close(&reader);
    return status;
}

static bool put_peer(struct tg_races *races)
{
    for (size_t i = 0; i < races->peer.n_args; i++) {
        struct tg_peer_arg *arg = &races->peer.arg[i];
        const struct tg_peer_tensor *memory = tg_peer_args_tensor(&races->peer, arg->tensor_id);
        arg->tensor.addr = memory ? memory->address : 0;
        const struct tg_race_access access = {.task = arg->task,
                                              .argument = arg->argument,
                                              .reads = arg->reads,
                                              .writes = arg->writes,
                                              .space = arg->tensor_id,
                                              .tensor = &arg->tensor};
        if (!tg_race_add_access(races->search, &access))
            return false;
        races->summary->accesses++;
    }
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct tg_peer_tensor *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* Counts tensors with different ids that lie in each other's memory. The file does not say whether they were
 * there at the same time. */
static bool count_crossing(struct tg_races *races)
{
    size_t count = races->peer.n_tensors;
    struct tg_peer_tensor *tensor = calloc(count + 1, sizeof *tensor);
    uint64_t end = 0;
    if (!tensor)
        return false;
    for (size_t i = 0; i < count; i++)
        tensor[i] = races->peer.tensor[i];
    qsort(tensor, count, sizeof *tensor, by_address);
    for (size_t i = 0; i < count; i++) {
        races->crossing += tensor[i].bytes > 0 && tensor[i].address < end;
        if (tensor[i].address + tensor[i].bytes > end)
            end = tensor[i].address + tensor[i].bytes;
    }
    free(tensor);
    return true;
}

/* --- accesses of Taskglass -------------------------------------------------------------------- */

void tg_races_view(const struct tg_record *record, struct tg_tensor *tensor)
{
    *tensor = (struct tg_tensor){.addr = record->data_ptr,
                                 .start = record->start,
                                 .dtype = record->dtype,
                                 .ndim = record->ndim};
    for (int i = 0; i < record->ndim && i < TG_MAX_DIMS; i++) {
        tensor->shape[i] = record->shape[i];
        tensor->strides[i] = record->strides[i];
    }
}

/* The allocation that the tensor lies in. False if that is not known: an older deps.json does not say which
 * memory of the device was given out again. */
static bool space_of(struct tg_races *races, struct tg_deps_spaces *spaces, uint64_t address,
                     uint32_t task, uint64_t *space)
{
    *space = 0;
    if (races->tasks.deps->knows_memory)
        *space = tg_deps_space_of(spaces, address, task);
    else if (!tg_sources_object(&races->sources, address))
        return false;
    return true;
}

static bool put_record(struct tg_races *races, struct tg_deps_spaces *spaces, uint32_t task,
                       const struct tg_record *record)
{
    struct tg_tensor tensor;
    struct tg_race_access access = {.task = task,
                                    .argument = record->arg_index,
                                    .reads = record->role == TG_IN || record->role == TG_INOUT,
                                    .writes = record->role == TG_OUT || record->role == TG_INOUT,
                                    .tensor = &tensor};
    if (record->kind != TG_KIND_TENSOR ||
        (record->stage != TG_BEFORE_DISPATCH && record->stage != TG_AFTER_COMPLETION))
        return true;
    /* An inout has two records. */
    races->summary->accesses += record->role != TG_INOUT || record->stage == TG_BEFORE_DISPATCH;
    tg_races_view(record, &tensor);
    if (record->data_ptr == 0 && tg_tensor_numel(&tensor) != 0) {
        races->no_address++;
        return true;
    }
    if (!space_of(races, spaces, record->data_ptr, task, &access.space)) {
        races->unsure++;
        return true;
    }
    return tg_race_add_access(races->search, &access);
}

static bool put_records(struct tg_races *races, struct tg_deps_spaces *spaces)
{
    const struct tg_tasks *tasks = &races->tasks;
    struct tg_entry entry;
    for (uint32_t i = 0; i < tasks->deps->n_tasks; i++) {
        const struct tg_task_row *row = &tasks->row[tasks->of_deps[i]];
        for (uint64_t k = 0; k < row->count; k++)
            if (tg_recording_get(races->recording, tasks->ref[row->first + k].index, &entry) &&
                !put_record(races, spaces, i, &entry.record))
                return false;
    }
    return true;
}

static bool put_own(struct tg_races *races)
{
    struct tg_deps_spaces spaces;
    if (!tg_deps_spaces_open(races->tasks.deps, &spaces))
        return false;
    bool good = put_records(races, &spaces);
    tg_deps_spaces_close(&spaces);
    return good;
}

tg_status tg_races_put_accesses(struct tg_races *races, struct tg_error *error)
{
    tg_status status = races->tasks.deps->is_peer ? read_peer(races, error) : TG_OK;
    if (status != TG_OK)
        return status;
    bool good = races->peer.is_peer ? put_peer(races) && count_crossing(races) : put_own(races);
    return good ? TG_OK : no_memory(error);
}
