/* SPDX-License-Identifier: Apache-2.0 */
#include "host/recorded_task.h"
#include "base/error.h"
#include "base/json_pull.h"
#include "host/text.h"
#include "recording/reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/numeric.h>

/* ── records ───────────────────────────────────────────────────────────────────────────── */

static bool is_whole(const struct tg_record *r)
{
    return r->stored == r->bytes &&
           (r->flags & (TG_RECORD_TRUNCATED | TG_RECORD_OVERWRITTEN | TG_RECORD_PARTIAL)) == 0;
}

/* Sets up the view so that its address is the first byte that it touches. */
static void set_geometry(struct tg_recorded_tensor *t, const struct tg_record *r)
{
    int64_t lo, hi, first;
    unsigned bits = tg_bits_of(r->dtype);
    struct tg_tensor *view = &t->tensor;
    tg_tensor_clear(view);
    view->dtype = r->dtype;
    view->ndim = r->ndim;
    view->start = r->start;
    memcpy(view->shape, r->shape, sizeof view->shape);
    memcpy(view->strides, r->strides, sizeof view->strides);
    view->addr = r->data_ptr;
    t->bytes = r->bytes;
    if (!tg_tensor_footprint(view, &lo, &hi)) {
        view->start = 0; /* no elements, or nonsense that check_complete finds */
        return;
    }
    first = bits < 8 ? lo / 2 * 2 : lo; /* 4-bit elements: start at a whole byte */
    view->addr += (uint64_t)first * bits / 8;
    view->start -= first;
    view->storage_bytes = tg_bytes_of(r->dtype, hi - first + 1);
}

static void take_tensor(const struct tg_recording *recording, const struct tg_entry *entry,
                        struct tg_recorded_task *task)
{
    const struct tg_record *r = &entry->record;
    struct tg_recorded_tensor *t;
    static const char nothing[1];
    const void *payload = is_whole(r) && tg_recording_intact(recording, entry)
                              ? tg_recording_payload(recording, entry)
                              : NULL;
    if (r->arg_index >= TG_MAX_TENSORS)
        return;
    if (r->bytes == 0)
        payload = nothing;
    t = &task->tensor[r->arg_index];
    t->role = r->role;
    set_geometry(t, r);
    if (r->stage == TG_BEFORE_DISPATCH)
        t->before = payload;
    else
        t->after = payload;
    if (r->arg_index >= task->n_tensors)
        task->n_tensors = r->arg_index + 1u;
}

static void take_kernels(const struct tg_entry *entry, struct tg_recorded_task *task)
{
    task->n_parts = 0;
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        const char *name = entry->kernel[part] ? entry->kernel[part] : "";
        snprintf(task->kernel[part], sizeof task->kernel[part], "%s", name);
        task->n_parts += *name != '\0';
    }
}

/* Scalars have the argument numbers after the tensors, so all tensors must be counted first. */
static void take_scalar(const struct tg_entry *entry, struct tg_recorded_task *task, uint32_t *seen)
{
    uint32_t i = entry->record.arg_index - task->n_tensors;
    if (i >= TG_MAX_SCALARS)
        return;
    task->scalar[i] = (struct tg_scalar){.bits = entry->record.value, .dtype = entry->record.dtype};
    *seen |= 1u << i;
    if (i >= task->n_scalars)
        task->n_scalars = i + 1;
}

static tg_status missing(const struct tg_recorded_task *task, uint32_t argument, const char *what,
                         struct tg_error *error)
{
    char name[32];
    return tg_error_set(error, TG_NOT_FOUND,
                        "task %s: argument %u %s; record the run with --dump-tensor=full",
                        tg_task_text(task->id, name), argument, what);
}

static tg_status check_complete(const struct tg_recorded_task *task, uint32_t scalars,
                                struct tg_error *error)
{
    char name[32];
    if (task->n_parts == 0)
        return tg_error_set(error, TG_NOT_FOUND,
                            "task %s: its kernels have no names in the recording",
                            tg_task_text(task->id, name));
    for (uint32_t i = 0; i < task->n_tensors; i++) {
        const struct tg_recorded_tensor *t = &task->tensor[i];
        if (t->role == 0)
            return missing(task, i, "was not recorded", error);
        if (!tg_tensor_valid(&t->tensor))
            return missing(task, i, "is not a valid tensor", error);
        if (t->role != TG_OUT && t->before == NULL)
            return missing(task, i, "has no recorded content", error);
    }
    if (scalars != (1u << task->n_scalars) - 1)
        return missing(task, task->n_tensors, "or a later scalar was not recorded", error);
    return TG_OK;
}

/* ── memory ────────────────────────────────────────────────────────────────────────────── */

static uint64_t end_of(const struct tg_recorded_tensor *t)
{
    return t->tensor.addr + t->tensor.storage_bytes;
}

/* Makes one block of each set of overlapping tensors. */
static void find_blocks(struct tg_recorded_task *task)
{
    for (uint32_t i = 0; i < task->n_tensors; i++) {
        struct tg_recorded_block block = {task->tensor[i].tensor.addr,
                                          task->tensor[i].tensor.storage_bytes, NULL};
        for (uint32_t b = 0; b < task->n_blocks;) {
            struct tg_recorded_block *other = &task->block[b];
            uint64_t end = block.address + block.size, other_end = other->address + other->size;
            if (block.size == 0 || other->size == 0 || block.address >= other_end ||
                other->address >= end) {
                b++;
                continue;
            }
            block.address = block.address < other->address ? block.address : other->address;
            block.size = (end > other_end ? end : other_end) - block.address;
            *other = task->block[--task->n_blocks];
            b = 0;
        }
        task->block[task->n_blocks++] = block;
    }
}

static void assign_blocks(struct tg_recorded_task *task)
{
    for (uint32_t i = 0; i < task->n_tensors; i++) {
        struct tg_recorded_tensor *t = &task->tensor[i];
        for (uint32_t b = 0; b < task->n_blocks; b++) {
            const struct tg_recorded_block *block = &task->block[b];
            if (t->tensor.addr >= block->address && end_of(t) <= block->address + block->size) {
                t->block = b;
                t->offset = t->tensor.addr - block->address;
                break;
            }
        }
    }
}

/* Writes logical bytes to the places of the view's elements. */
static void scatter(const struct tg_recorded_tensor *t, const void *bytes, char *block)
{
    int64_t n = tg_tensor_numel(&t->tensor);
    for (int64_t i = 0; i < n; i++)
        tg_store_bits(t->tensor.dtype, block + t->offset, tg_tensor_offset(&t->tensor, i),
                      tg_load_bits(t->tensor.dtype, bytes, i));
}

static tg_status fill_blocks(struct tg_recorded_task *task, struct tg_error *error)
{
    for (uint32_t b = 0; b < task->n_blocks; b++) {
        task->block[b].image = calloc(1, task->block[b].size + 1);
        if (task->block[b].image == NULL)
            return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the task's arguments");
    }
    for (uint32_t i = 0; i < task->n_tensors; i++)
        if (task->tensor[i].before != NULL)
            scatter(&task->tensor[i], task->tensor[i].before,
                    task->block[task->tensor[i].block].image);
    return TG_OK;
}

/* ── reading ───────────────────────────────────────────────────────────────────────────── */

tg_status tg_recorded_task_look(const struct tg_recording *recording, uint64_t id,
                                const struct tg_task_records *records,
                                struct tg_recorded_task *task, struct tg_error *error)
{
    struct tg_entry entry;
    uint32_t scalars = 0;
    memset(task, 0, sizeof *task);
    task->id = id;
    for (uint64_t i = 0; i < records->count; i++) {
        if (!tg_recording_get(recording, records->index[i], &entry))
            continue;
        take_kernels(&entry, task);
        if (entry.record.kind == TG_KIND_TENSOR)
            take_tensor(recording, &entry, task);
    }
    for (uint64_t i = 0; i < records->count; i++)
        if (tg_recording_get(recording, records->index[i], &entry) &&
            entry.record.kind == TG_KIND_SCALAR && !(entry.record.flags & TG_RECORD_NO_VALUE))
            take_scalar(&entry, task, &scalars);
    return check_complete(task, scalars, error);
}

static tg_status take(const struct tg_recording *recording, uint64_t id,
                      const struct tg_task_records *records, struct tg_recorded_task *task,
                      struct tg_error *error)
{
    tg_status status = tg_recorded_task_look(recording, id, records, task, error);
    if (status != TG_OK)
        return status;
    find_blocks(task);
    assign_blocks(task);
    status = fill_blocks(task, error);
    if (status != TG_OK)
        tg_recorded_task_free(task);
    return status;
}

tg_status tg_recorded_task_read(const struct tg_recording *recording, uint64_t id,
                                struct tg_recorded_task *task, struct tg_error *error)
{
    uint64_t index[4 * (TG_MAX_TENSORS + TG_MAX_SCALARS)], count = 0;
    struct tg_recording_info info;
    struct tg_entry entry;
    char name[32];
    tg_recording_get_info(recording, &info);
    for (uint64_t i = 0; i < info.records && count < sizeof index / sizeof index[0]; i++)
        if (tg_recording_get(recording, i, &entry) && entry.record.task_id == id)
            index[count++] = i;
    if (count == 0)
        return tg_error_set(error, TG_NOT_FOUND,
                            "the recording has no task %s; `taskglass view` lists them",
                            tg_task_text(id, name));
    return take(recording, id, &(struct tg_task_records){index, count}, task, error);
}

void tg_recorded_task_free(struct tg_recorded_task *task)
{
    for (uint32_t b = 0; b < task->n_blocks; b++) {
        free(task->block[b].image);
        task->block[b].image = NULL;
    }
}

/* ── run.json of the recorded run ──────────────────────────────────────────────────────── */

void tg_recorded_run_value(const struct tg_recording *recording, const char *key, char *text,
                           size_t size)
{
    struct tg_recording_info info;
    struct tg_pull pull;
    enum tg_pull_token token;
    struct tg_map json;
    text[0] = '\0';
    tg_recording_get_info(recording, &info);
    if (tg_run_json_load(info.dir, &json) != 0)
        return;
    tg_pull_start(&pull, (const char *)json.bytes, json.size);
    while ((token = tg_pull_next(&pull)) > TG_PULL_END) {
        if (token != TG_PULL_KEY || pull.depth != 1)
            continue;
        bool wanted = tg_pull_is(&pull, key);
        if (tg_pull_next(&pull) == TG_PULL_STRING && wanted) {
            tg_pull_text(&pull, text, size);
            break;
        }
        if (!tg_pull_skip(&pull))
            break;
    }
    tg_map_close(&json);
}
