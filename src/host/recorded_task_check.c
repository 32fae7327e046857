/* SPDX-License-Identifier: Apache-2.0 */
#include "host/recorded_task_check.h"
#include "base/error.h"
#include "common/select.h"
#include "recording/extents.h"
#include "recording/reader.h"
#include "recording/record.h"
#include <inttypes.h>
#include <string.h>
#include <taskglass/dtype.h>

static const char not_recorded[] =
    "its content was not recorded; record the run with --dump-tensor=full";

#define REFUSE(error, ...) tg_error_set(error, TG_BAD_ARGUMENT, __VA_ARGS__)

/* ── one record by itself ──────────────────────────────────────────────────────────────── */

/* A value that the orchestration read from the task's memory; it is not one of its arguments. */
static bool is_read(const struct tg_record *raw)
{
    return raw->stage == TG_STAGE_ORCHESTRATION && raw->kind == TG_KIND_SCALAR &&
           (raw->flags & TG_RECORD_READ);
}

static tg_status check_words(const struct tg_record *raw, struct tg_error *error)
{
    unsigned argument = raw->arg_index;
    bool is_scalar = raw->kind == TG_KIND_SCALAR;
    if (argument >= TG_TASK_ARGUMENTS)
        return REFUSE(error, "argument %u: a task has at most %d arguments", argument,
                      TG_TASK_ARGUMENTS);
    if (raw->kind >= TG_KINDS)
        return REFUSE(error, "argument %u: its kind is unknown", argument);
    if (raw->stage > TG_AFTER_COMPLETION)
        return REFUSE(error, "argument %u: stage '%s' is not one of a task's argument", argument,
                      tg_stage_name(raw->stage));
    if ((raw->role < TG_IN || raw->role > TG_INOUT) && !(is_scalar && raw->role == 0))
        return REFUSE(error, "argument %u: its role is unknown", argument);
    if (tg_bits_of(raw->dtype) == 0 && !(is_scalar && raw->dtype == TG_DTYPE_NONE))
        return REFUSE(error, "argument %u: its type is unknown", argument);
    if (is_scalar && (raw->role > TG_IN || raw->stage != TG_BEFORE_DISPATCH || raw->ndim > 0))
        return REFUSE(
            error, "argument %u: a scalar is an input without dimensions, recorded before the task",
            argument);
    if (!is_scalar && !tg_role_has_stage(raw->role, (enum tg_stage)raw->stage))
        return REFUSE(error, "argument %u: role '%s' contradicts stage '%s'", argument,
                      tg_record_role_name(raw->role), tg_stage_name(raw->stage));
    return TG_OK;
}

/* Sets up the view so that its address is the first byte that it touches. False if it leaves its
 * storage, which begins at the recorded address, or the address space. */
static bool set_geometry(struct tg_tensor *view, const struct tg_record *r)
{
    int64_t lo, hi, first;
    unsigned bits = tg_bits_of(r->dtype);
    tg_tensor_clear(view);
    view->dtype = r->dtype;
    view->ndim = r->ndim;
    view->start = r->start;
    memcpy(view->shape, r->shape, sizeof view->shape);
    memcpy(view->strides, r->strides, sizeof view->strides);
    view->addr = r->data_ptr;
    if (tg_tensor_numel(view) == 0) {
        view->start = 0;
        return true;
    }
    if (!tg_tensor_footprint(view, &lo, &hi) || lo < 0 ||
        tg_bytes_of(r->dtype, hi + 1) > UINT64_MAX - r->data_ptr)
        return false;
    first = bits < 8 ? lo / 2 * 2 : lo; /* 4-bit elements: start at a whole byte */
    view->addr += (uint64_t)first * bits / 8;
    view->start -= first;
    view->storage_bytes = tg_bytes_of(r->dtype, hi - first + 1);
    return tg_tensor_valid(view);
}

static tg_status check_tensor(const struct tg_record *raw, struct tg_error *error)
{
    unsigned argument = raw->arg_index, size = tg_bits_of(raw->dtype) / 8;
    int64_t numel = tg_record_numel(raw);
    uint64_t bytes;
    struct tg_tensor view;
    if (numel < 0)
        return REFUSE(error,
                      "argument %u: its shape is not one of a tensor (at most %d dimensions, none "
                      "negative, at most 2^58 elements)",
                      argument, TG_MAX_DIMS);
    bytes = tg_bytes_of(raw->dtype, numel);
    if (raw->bytes != bytes)
        return REFUSE(
            error, "argument %u: its record says %" PRIu64 " bytes, but its shape takes %" PRIu64,
            argument, raw->bytes, bytes);
    if (raw->stored > bytes)
        return REFUSE(error,
                      "argument %u: its record says that %" PRIu64 " of its %" PRIu64
                      " bytes are stored",
                      argument, raw->stored, bytes);
    if (!set_geometry(&view, raw))
        return REFUSE(
            error,
            "argument %u: its start and strides leave its memory, which begins at 0x%" PRIx64,
            argument, raw->data_ptr);
    if (numel > 0 && size > 1 && raw->data_ptr % size != 0)
        return REFUSE(
            error, "argument %u: its address 0x%" PRIx64 " is not aligned for elements of %u bytes",
            argument, raw->data_ptr, size);
    if (raw->role != TG_IN && tg_tensor_repeats(&view))
        return REFUSE(error, "argument %u: an output cannot have a stride of 0", argument);
    return TG_OK;
}

/* Before anybody reads or hashes the content: it may be a hole of terabytes. Small tasks, which most are,
 * never ask for the limit. */
static tg_status check_size_of(struct tg_task_reading *reading, uint32_t argument, uint64_t bytes,
                               struct tg_error *error)
{
    if (bytes <= TG_CLAIMS_SMALL)
        return TG_OK;
    if (reading->limit == 0)
        reading->limit = tg_recording_memory_limit(reading->recording);
    if (bytes <= reading->limit)
        return TG_OK;
    return REFUSE(error,
                  "argument %u: with it the arguments take at least %" PRIu64
                  " bytes, more than the %" PRIu64 " that a task of this recording may take",
                  argument, bytes, reading->limit);
}

/* ── records of the same argument ──────────────────────────────────────────────────────── */

/* The first field in which two records of an argument contradict each other; NULL if none. */
static const char *disagreement(const struct tg_record *a, const struct tg_record *b)
{
    size_t dims = a->ndim * sizeof a->shape[0];
    if (a->kind != b->kind)
        return "kind";
    if (a->role != b->role)
        return "role";
    if (a->dtype != b->dtype)
        return "type";
    if (a->kind == TG_KIND_SCALAR)
        return NULL;
    if (a->ndim != b->ndim || memcmp(a->shape, b->shape, dims) != 0)
        return "shape";
    if (memcmp(a->strides, b->strides, dims) != 0 || a->start != b->start)
        return "strides";
    return a->data_ptr != b->data_ptr ? "address" : NULL;
}

/* The content that a record has; NULL, with the reason, if it is not there in full. */
static const void *content_of(const struct tg_recording *recording, const struct tg_entry *entry,
                              const struct tg_record *raw, const char **lacks)
{
    static const char nothing[1];
    const struct tg_record *r = &entry->record;
    if (r->flags & TG_RECORD_PARTIAL)
        *lacks = "its content is of a task that had not finished";
    else if (r->bytes == 0)
        return nothing;
    else if (r->flags & TG_RECORD_OVERWRITTEN)
        *lacks = "its content was overwritten before it was stored; record the run with "
                 "--dump-policy=block";
    else if (r->stored < r->bytes)
        *lacks =
            raw->stored == raw->bytes ? "its content is not in the payload file" : not_recorded;
    else if (r->flags & TG_RECORD_TRUNCATED)
        *lacks = "its content was cut short";
    else if (r->flags & TG_RECORD_EXCESS)
        *lacks = "its content was not read: its bytes belong to another record, or are a hole";
    else if (!tg_recording_intact(recording, entry))
        *lacks = "its content is damaged: it does not have its recorded hash";
    else
        return tg_recording_payload(recording, entry);
    return NULL;
}

/* A content that an argument has at this stage already. False if the two cannot both be true. */
static bool same_content(const struct tg_seen_argument *seen, const struct tg_record *r)
{
    unsigned stage = r->stage;
    if (seen->content[stage].is_hashed && (r->flags & TG_RECORD_HASHED))
        return seen->content[stage].hash == r->hash;
    return true;
}

/* PARTIAL records have no content that counts, so another one of the same stage wins. */
static tg_status take_content(const struct tg_recording *recording, struct tg_seen_argument *seen,
                              const struct tg_entry *entry, const struct tg_record *raw,
                              struct tg_error *error)
{
    const struct tg_record *r = &entry->record;
    unsigned stage = r->stage;
    const char *lacks = NULL;
    const void *bytes, *old = seen->content[stage].bytes;
    bool is_partial = r->flags & TG_RECORD_PARTIAL;
    if (old != NULL && (is_partial || (r->stored == r->bytes && r->stored > 0 &&
                                       r->position == seen->content[stage].position)))
        return TG_OK;
    bytes = content_of(recording, entry, raw, &lacks);
    if ((!is_partial && seen->content[stage].is_there && !same_content(seen, r)) ||
        (old != NULL && bytes != NULL && memcmp(old, bytes, r->bytes) != 0))
        return REFUSE(error,
                      "argument %u: it was recorded twice at stage '%s', with different contents",
                      r->arg_index, tg_stage_name(stage));
    if (old != NULL)
        return TG_OK;
    seen->content[stage].bytes = bytes;
    seen->content[stage].lacks = lacks;
    seen->content[stage].position = r->position;
    if (!is_partial) {
        seen->content[stage].is_there = true;
        seen->content[stage].is_hashed = r->flags & TG_RECORD_HASHED;
        seen->content[stage].hash = r->hash;
    }
    return TG_OK;
}

static tg_status take_value(struct tg_seen_argument *seen, const struct tg_record *r,
                            struct tg_error *error)
{
    if (r->flags & TG_RECORD_NO_VALUE)
        return TG_OK;
    if (seen->has_value && seen->record.value != r->value)
        return REFUSE(error, "argument %u: it was recorded twice, with different values",
                      r->arg_index);
    seen->record.value = r->value;
    seen->has_value = true;
    return TG_OK;
}

static tg_status take_argument(struct tg_task_reading *reading, const struct tg_entry *entry,
                               const struct tg_record *raw, struct tg_error *error)
{
    const struct tg_record *r = &entry->record;
    struct tg_seen_argument *seen = &reading->argument[r->arg_index];
    const char *what;
    if (!seen->is_there)
        seen->record = *r;
    seen->is_there = true;
    what = disagreement(&seen->record, r);
    if (what != NULL)
        return REFUSE(error, "argument %u: its records disagree on its %s", r->arg_index, what);
    return r->kind == TG_KIND_SCALAR ? take_value(seen, r, error)
                                     : take_content(reading->recording, seen, entry, raw, error);
}

/* ── the task's kernels ────────────────────────────────────────────────────────────────── */

/* A part has a number, a name or both; a number whose name is unknown is "". */
static const char *kernel_of(const struct tg_entry *entry, uint32_t part)
{
    const char *name = entry->kernel[part];
    return name == NULL && entry->record.kernel[part] != TG_NO_KERNEL ? "" : name;
}

static tg_status take_kernels(struct tg_task_reading *reading, const struct tg_entry *entry,
                              struct tg_error *error)
{
    struct tg_recorded_task *task = reading->task;
    bool is_first = !reading->has_kernels;
    reading->has_kernels = true;
    for (uint32_t part = 0; part < TG_PARTS; part++) {
        const char *name = kernel_of(entry, part);
        if (is_first) {
            task->kernel[part] = name ? name : "";
            task->n_parts += name != NULL;
            task->n_unnamed += name != NULL && *name == '\0';
        } else if (strcmp(task->kernel[part], name ? name : "") != 0) {
            return REFUSE(error, "its records name different kernels");
        }
    }
    return TG_OK;
}

/* ── reading ───────────────────────────────────────────────────────────────────────────── */

void tg_task_reading_begin(struct tg_task_reading *reading, const struct tg_recording *recording,
                           uint64_t id, struct tg_recorded_task *task)
{
    memset(reading, 0, sizeof *reading);
    memset(task, 0, sizeof *task);
    reading->recording = recording;
    reading->task = task;
    task->id = id;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        task->kernel[part] = "";
}

tg_status tg_task_reading_add(struct tg_task_reading *reading, uint64_t index,
                              struct tg_error *error)
{
    struct tg_entry entry;
    struct tg_record raw;
    tg_status status;
    if (!tg_recording_get(reading->recording, index, &entry))
        return TG_OK;
    memcpy(&raw, tg_recording_at(reading->recording, index), sizeof raw);
    status = take_kernels(reading, &entry, error);
    if (status != TG_OK || is_read(&raw))
        return status;
    status = check_words(&raw, error);
    if (status == TG_OK && raw.kind == TG_KIND_TENSOR)
        status = check_tensor(&raw, error);
    if (status == TG_OK && raw.kind == TG_KIND_TENSOR)
        status = check_size_of(reading, raw.arg_index, raw.bytes, error);
    return status == TG_OK ? take_argument(reading, &entry, &raw, error) : status;
}

/* ── the task as a whole ───────────────────────────────────────────────────────────────── */

static tg_status missing(uint32_t argument, struct tg_error *error)
{
    return tg_error_set(error, TG_NOT_FOUND,
                        "argument %u was not recorded; record the run with --dump-tensor=full",
                        argument);
}

static tg_status make_tensor(const struct tg_task_reading *reading, uint32_t argument,
                             struct tg_error *error)
{
    const struct tg_seen_argument *seen = &reading->argument[argument];
    struct tg_recorded_tensor *t = &reading->task->tensor[argument];
    const char *lacks = seen->content[TG_BEFORE_DISPATCH].lacks;
    if (!seen->is_there)
        return missing(argument, error);
    (void)set_geometry(&t->tensor, &seen->record); /* check_tensor has found it good */
    t->role = seen->record.role;
    t->has_address = seen->record.data_ptr != 0;
    t->bytes = seen->record.bytes;
    t->before = seen->content[TG_BEFORE_DISPATCH].bytes;
    t->after = seen->content[TG_AFTER_COMPLETION].bytes;
    t->lacks = seen->content[TG_AFTER_COMPLETION].lacks;
    if (t->lacks == NULL)
        t->lacks = not_recorded;
    if (t->role == TG_OUT || t->before != NULL)
        return TG_OK;
    return tg_error_set(error, TG_NOT_FOUND, "argument %u: %s", argument,
                        lacks ? lacks : not_recorded);
}

static tg_status make_scalar(const struct tg_task_reading *reading, uint32_t argument,
                             struct tg_error *error)
{
    const struct tg_seen_argument *seen = &reading->argument[argument];
    if (!seen->is_there)
        return missing(argument, error);
    if (!seen->has_value)
        return tg_error_set(error, TG_NOT_FOUND, "argument %u: its value was not recorded",
                            argument);
    reading->task->scalar[argument - reading->task->n_tensors] =
        (struct tg_scalar){.bits = seen->record.value, .dtype = seen->record.dtype};
    return TG_OK;
}

/* Counts the arguments; tensors have the first numbers. */
static tg_status count_arguments(const struct tg_task_reading *reading, struct tg_error *error)
{
    struct tg_recorded_task *task = reading->task;
    uint32_t tensors = 0, end = 0, first_scalar = TG_TASK_ARGUMENTS;
    for (uint32_t i = 0; i < TG_TASK_ARGUMENTS; i++) {
        const struct tg_seen_argument *seen = &reading->argument[i];
        if (!seen->is_there)
            continue;
        end = i + 1;
        if (seen->record.kind == TG_KIND_TENSOR)
            tensors = i + 1;
        else if (first_scalar == TG_TASK_ARGUMENTS)
            first_scalar = i;
    }
    if (first_scalar < tensors)
        return REFUSE(error, "argument %u is a scalar, but a tensor comes after it", first_scalar);
    if (tensors > TG_MAX_TENSORS || end - tensors > TG_MAX_SCALARS)
        return REFUSE(error, "argument %u: a task has at most %d tensors and %d scalars", end - 1,
                      TG_MAX_TENSORS, TG_MAX_SCALARS);
    task->n_tensors = tensors;
    task->n_scalars = end - tensors;
    return TG_OK;
}

static tg_status check_size(struct tg_task_reading *reading, struct tg_error *error)
{
    const struct tg_recorded_task *task = reading->task;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < task->n_tensors; i++) {
        tg_status status;
        bytes += task->tensor[i].bytes; /* 16 times what check_size_of allowed do not overflow */
        status = check_size_of(reading, i, bytes, error);
        if (status != TG_OK)
            return status;
    }
    return TG_OK;
}

tg_status tg_task_reading_end(struct tg_task_reading *reading, struct tg_error *error)
{
    struct tg_recorded_task *task = reading->task;
    tg_status status = TG_OK;
    if (task->n_parts == 0 || task->n_unnamed > 0)
        return tg_error_set(error, TG_NOT_FOUND, "its kernels have no names in the recording");
    status = count_arguments(reading, error);
    for (uint32_t i = 0; i < task->n_tensors && status == TG_OK; i++)
        status = make_tensor(reading, i, error);
    for (uint32_t i = 0; i < task->n_scalars && status == TG_OK; i++)
        status = make_scalar(reading, task->n_tensors + i, error);
    return status == TG_OK ? check_size(reading, error) : status;
}
