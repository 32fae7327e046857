/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses of the other implementation's tensors. Its manifest has none; its deps.json has them in
 * two steps: a task's arguments name their tensors, and each tensor names its buffer.
 *
 *   "tasks":   [{"task_id": "4294967296", "args": [{"idx": 0, "tensor_id": "40200…"}, …]}, …]
 *   "tensors": [{"tensor_id": "40200…", "buffer_addr": "93989983099984"}, …]
 *
 * Addresses show which tasks share memory. A deps.json that is missing or broken leaves the records
 * without them; whoever needs the edges in it reports what is wrong.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "recording/reader.h"

enum { MOST_ARGS = 64 };

struct tensor {
    uint64_t id, address;
};

struct addressing {
    struct tg_recording *recording;
    struct tensor *tensor; /* sorted by id */
    size_t n_tensors, room;
    uint64_t *order; /* the entries, sorted by task and argument */
    bool no_memory;
};

/* Gives the members of each object of a list: `member` at each value, `end` after the last. */
struct walk {
    void (*member)(const struct tg_pull *pull, const char *key, void *context);
    bool (*end)(void *context);
    const char *const *keys; /* the members that are given; ends in NULL */
};

static const char *known_key(const struct tg_pull *pull, const char *const *keys)
{
    for (; *keys; keys++)
        if (tg_pull_is(pull, *keys))
            return *keys;
    return NULL;
}

/* At a value: walks through it if it is a list of objects. False: broken, or out of memory. */
static bool walk_list(struct tg_pull *pull, const struct walk *walk, void *context,
                      bool (*inner)(struct tg_pull *pull, void *context))
{
    if (pull->token != TG_PULL_BEGIN_ARRAY)
        return tg_pull_skip(pull);
    while (tg_pull_next(pull) == TG_PULL_BEGIN_OBJECT) {
        while (tg_pull_next(pull) == TG_PULL_KEY) {
            const char *key = known_key(pull, walk->keys);
            bool is_inner = inner && tg_pull_is(pull, "args");
            if (tg_pull_next(pull) == TG_PULL_ERROR)
                return false;
            if (key)
                walk->member(pull, key, context);
            if (is_inner ? !inner(pull, context) : !tg_pull_skip(pull))
                return false;
        }
        if (pull->token != TG_PULL_END_OBJECT || !walk->end(context))
            return false;
    }
    return pull->token == TG_PULL_END_ARRAY;
}

/* Walks through the list of this name in the document. */
static bool walk_document(const struct tg_map *map, const char *name, const struct walk *walk,
                          void *context, bool (*inner)(struct tg_pull *pull, void *context))
{
    struct tg_pull pull;
    tg_pull_start_map(&pull, map);
    if (tg_pull_next(&pull) != TG_PULL_BEGIN_OBJECT)
        return false;
    while (tg_pull_next(&pull) == TG_PULL_KEY) {
        bool is_list = tg_pull_is(&pull, name);
        if (tg_pull_next(&pull) == TG_PULL_ERROR)
            return false;
        if (is_list ? !walk_list(&pull, walk, context, inner) : !tg_pull_skip(&pull))
            return false;
    }
    return pull.token == TG_PULL_END_OBJECT;
}

/* --- tensors --------------------------------------------------------------------------------------- */

struct tensors {
    struct addressing *a;
    struct tensor tensor;
    bool has_id, has_address;
};

static void take_tensor_member(const struct tg_pull *pull, const char *key, void *context)
{
    struct tensors *t = context;
    if (strcmp(key, "tensor_id") == 0)
        t->has_id = tg_pull_u64(pull, &t->tensor.id);
    else
        t->has_address = tg_pull_u64(pull, &t->tensor.address);
}

static bool keep_tensor(void *context)
{
    struct tensors *t = context;
    struct addressing *a = t->a;
    if (t->has_id && t->has_address) {
        a->no_memory = !tg_grow(&a->tensor, &a->room, a->n_tensors + 1, sizeof *a->tensor);
        if (a->no_memory)
            return false;
        a->tensor[a->n_tensors++] = t->tensor;
    }
    t->has_id = t->has_address = false;
    return true;
}

static int by_id(const void *a, const void *b)
{
    const struct tensor *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static bool read_tensors(struct addressing *a, const struct tg_map *map)
{
    static const char *const keys[] = {"tensor_id", "buffer_addr", NULL};
    static const struct walk walk = {take_tensor_member, keep_tensor, keys};
    struct tensors t = {.a = a};
    if (!walk_document(map, "tensors", &walk, &t, NULL) || a->n_tensors == 0)
        return false;
    qsort(a->tensor, a->n_tensors, sizeof *a->tensor, by_id);
    return true;
}

/* --- tasks ----------------------------------------------------------------------------------------- */

struct arg {
    uint64_t index, tensor;
    bool has_index, has_tensor;
};

struct tasks {
    struct addressing *a;
    uint64_t id;
    bool has_id;
    struct arg arg[MOST_ARGS + 1]; /* the last one is being read */
    unsigned n_args;
};

static void take_arg_member(const struct tg_pull *pull, const char *key, void *context)
{
    struct tasks *t = context;
    struct arg *arg = &t->arg[t->n_args];
    if (strcmp(key, "idx") == 0)
        arg->has_index = tg_pull_u64(pull, &arg->index);
    else
        arg->has_tensor = tg_pull_u64(pull, &arg->tensor);
}

static bool keep_arg(void *context)
{
    struct tasks *t = context;
    if (t->arg[t->n_args].has_index && t->arg[t->n_args].has_tensor && t->n_args < MOST_ARGS)
        t->n_args++;
    t->arg[t->n_args] = (struct arg){0};
    return true;
}

static bool read_args(struct tg_pull *pull, void *context)
{
    static const char *const keys[] = {"idx", "tensor_id", NULL};
    static const struct walk walk = {take_arg_member, keep_arg, keys};
    struct tasks *t = context;
    t->n_args = 0;
    t->arg[0] = (struct arg){0};
    return walk_list(pull, &walk, t, NULL);
}

static void take_task_member(const struct tg_pull *pull, const char *key, void *context)
{
    struct tasks *t = context;
    (void)key;
    t->has_id = tg_pull_u64(pull, &t->id);
}

/* Compares an entry with a task's argument, in the order of the entries. */
static int compare(const struct tg_record *record, uint64_t task, uint64_t arg)
{
    if (record->task_id != task)
        return record->task_id < task ? -1 : 1;
    return (record->arg_index > arg) - (record->arg_index < arg);
}

static void set_address(const struct addressing *a, uint64_t task, const struct arg *arg)
{
    struct tg_read_entry *entry = a->recording->entry;
    const struct tensor wanted = {.id = arg->tensor};
    const struct tensor *found = bsearch(&wanted, a->tensor, a->n_tensors, sizeof wanted, by_id);
    uint64_t low = 0, high = a->recording->info.records;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (compare(&entry[a->order[middle]].record, task, arg->index) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; found && low < a->recording->info.records; low++) {
        struct tg_record *record = &entry[a->order[low]].record;
        if (compare(record, task, arg->index) != 0)
            break;
        if (record->kind == TG_KIND_TENSOR)
            record->data_ptr = found->address;
    }
}

static bool keep_task(void *context)
{
    struct tasks *t = context;
    for (unsigned i = 0; t->has_id && i < t->n_args; i++)
        set_address(t->a, t->id, &t->arg[i]);
    t->has_id = false;
    t->n_args = 0;
    return true;
}

/* --- the recording --------------------------------------------------------------------------------- */

static int by_argument(const void *a, const void *b, void *context)
{
    const struct tg_read_entry *entry = context;
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return compare(&entry[x].record, entry[y].record.task_id, entry[y].record.arg_index);
}

static bool sort_entries(struct addressing *a)
{
    uint64_t n = a->recording->info.records;
    a->order = calloc((size_t)n + 1, sizeof *a->order);
    a->no_memory = !a->order;
    if (!a->order)
        return false;
    for (uint64_t i = 0; i < n; i++)
        a->order[i] = i;
    qsort_r(a->order, (size_t)n, sizeof *a->order, by_argument, a->recording->entry);
    return true;
}

static bool has_addresses(const struct tg_recording *recording)
{
    for (uint64_t i = 0; i < recording->info.records; i++)
        if (recording->entry[i].record.data_ptr != 0)
            return true;
    return false;
}

/* False if memory ran out. */
static bool read_addresses(struct tg_recording *recording, const struct tg_map *map)
{
    static const char *const keys[] = {"task_id", NULL};
    static const struct walk walk = {take_task_member, keep_task, keys};
    struct addressing a = {.recording = recording};
    struct tasks tasks = {.a = &a};
    if (read_tensors(&a, map) && sort_entries(&a))
        (void)walk_document(map, "tasks", &walk, &tasks, read_args);
    free(a.tensor);
    free(a.order);
    return !a.no_memory;
}

tg_status tg_manifest_add_addresses(struct tg_recording *recording, struct tg_error *error)
{
    struct tg_map map = {0};
    if (!recording->info.foreign || recording->info.records == 0 || has_addresses(recording))
        return TG_OK;
    char *path;
    int cause = tg_run_file(recording->dir, "deps.json", &path);
    if (cause == 0)
        cause = tg_map_text(path, &map);
    tg_status status = TG_OK;
    if (tg_cause_is_fault(cause))
        status = tg_file_error(error, "read", path ? path : "deps.json", cause);
    else if (cause == 0 && !read_addresses(recording, &map))
        status = tg_file_no_memory(error);
    if (cause == 0)
        tg_recording_note_loss(recording, &map, path);
    tg_map_close(&map);
    free(path);
    return status;
}
