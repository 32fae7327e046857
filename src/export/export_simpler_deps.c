/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deps.json of the other implementation: tasks with their tensor arguments, the tensors, and the edges,
 * each with the argument that ties the two tasks. Tasks and edges come from our deps.json, arguments from
 * the records. A tensor is what lies at one address with one type; its number is its place in the list.
 */
#define _GNU_SOURCE 1
#include "export/export_simpler.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/numeric.h>
#include <unistd.h>

#include "analysis/deps_read.h"
#include "base/error.h"
#include "base/grow.h"

/* A tensor argument of a task; several records may be of it. */
struct argument {
    uint64_t task, record;
    uint32_t index;
};

struct tensor {
    uint64_t address;
    int64_t elements; /* of the storage, as far as views reach */
    unsigned dtype;
};

struct writer {
    struct tg_export_job *job;
    struct tg_json json;
    struct argument *argument; /* sorted by task and index */
    size_t n_arguments, argument_room;
    struct tensor *tensor; /* sorted by address and type */
    size_t n_tensors, tensor_room;
};

/* --- arguments and tensors ----------------------------------------------------------------------- */

static int by_task(const void *a, const void *b)
{
    const struct argument *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return (x->record > y->record) - (x->record < y->record);
}

static int by_address(const void *a, const void *b)
{
    const struct tensor *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->dtype > y->dtype) - (x->dtype < y->dtype);
}

/* The elements from the address to the end of the view; 0 if the view has none, or leaves 64 bits. */
static int64_t reach_of(const struct tg_record *record)
{
    int64_t end, step;
    if (__builtin_add_overflow(record->start, 1, &end))
        return 0;
    for (int i = 0; i < record->ndim; i++) {
        if (record->shape[i] <= 0)
            return 0;
        if (__builtin_mul_overflow(record->shape[i] - 1, record->strides[i], &step) ||
            (step > 0 && __builtin_add_overflow(end, step, &end)))
            return 0;
    }
    return end > 0 ? end : 0;
}

static bool add_argument(struct writer *writer, uint64_t index, const struct tg_record *record)
{
    if (!tg_grow(&writer->argument, &writer->argument_room, writer->n_arguments + 1,
                 sizeof *writer->argument))
        return false;
    writer->argument[writer->n_arguments++] =
        (struct argument){record->task_id, index, record->arg_index};
    if (record->data_ptr == 0)
        return true;
    if (!tg_grow(&writer->tensor, &writer->tensor_room, writer->n_tensors + 1,
                 sizeof *writer->tensor))
        return false;
    writer->tensor[writer->n_tensors++] =
        (struct tensor){record->data_ptr, reach_of(record), record->dtype};
    return true;
}

/* Keeps one of equal neighbours. */
static void keep_first(struct writer *writer)
{
    size_t kept = 0;
    for (size_t i = 0; i < writer->n_arguments; i++) {
        const struct argument *a = &writer->argument[i], *last = a;
        if (kept > 0)
            last = &writer->argument[kept - 1];
        if (kept == 0 || a->task != last->task || a->index != last->index)
            writer->argument[kept++] = *a;
    }
    writer->n_arguments = kept;
    kept = 0;
    for (size_t i = 0; i < writer->n_tensors; i++) {
        struct tensor tensor = writer->tensor[i];
        if (kept == 0 || by_address(&tensor, &writer->tensor[kept - 1]) != 0)
            writer->tensor[kept++] = tensor;
        else if (tensor.elements > writer->tensor[kept - 1].elements)
            writer->tensor[kept - 1].elements = tensor.elements;
    }
    writer->n_tensors = kept;
}

/* Walks through all records, selected or not: the graph is that of the run. */
static tg_status gather(struct writer *writer)
{
    struct tg_export_job *job = writer->job;
    struct tg_entry entry;
    for (uint64_t i = 0; i < job->info.records; i++) {
        if (i % 4096 == 0 && !tg_export_tell(job))
            return tg_export_end(job, TG_OK);
        if (!tg_recording_get(job->recording, i, &entry) || entry.record.kind != TG_KIND_TENSOR ||
            entry.record.stage == TG_STAGE_ORCHESTRATION)
            continue;
        if (!add_argument(writer, i, &entry.record))
            return tg_export_no_memory(job->error);
    }
    if (writer->n_arguments > 0)
        qsort(writer->argument, writer->n_arguments, sizeof *writer->argument, by_task);
    if (writer->n_tensors > 0)
        qsort(writer->tensor, writer->n_tensors, sizeof *writer->tensor, by_address);
    keep_first(writer);
    return TG_OK;
}

static const struct argument *arguments_of(const struct writer *writer, uint64_t task,
                                           size_t *count)
{
    size_t low = 0, high = writer->n_arguments, end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (writer->argument[middle].task < task)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < writer->n_arguments && writer->argument[end].task == task; end++)
        ;
    *count = end - low;
    return writer->argument + low;
}

/* The number of the record's tensor; 0 if its address is not known. */
static uint64_t tensor_of(const struct writer *writer, const struct tg_record *record)
{
    const struct tensor wanted = {.address = record->data_ptr, .dtype = record->dtype};
    const struct tensor *found = NULL;
    if (record->data_ptr != 0 && writer->n_tensors > 0)
        found = bsearch(&wanted, writer->tensor, writer->n_tensors, sizeof wanted, by_address);
    return found ? (uint64_t)(found - writer->tensor) + 1 : 0;
}

/* --- tasks ----------------------------------------------------------------------------------------- */

static void put_quoted(struct tg_json *json, const char *key, uint64_t value)
{
    tg_json_key(json, key);
    tg_json_quoted_uint(json, value);
}

static void put_offset(struct tg_json *json, const char *key, int64_t value)
{
    tg_json_key(json, key);
    tg_json_quoted_int(json, value);
}

static const char *type_of(const struct tg_record *record)
{
    return record->role == TG_IN ? "INPUT" : record->role == TG_OUT ? "OUTPUT_EXISTING" : "INOUT";
}

static void put_argument(struct writer *writer, const struct tg_record *record)
{
    struct tg_json *json = &writer->json;
    uint64_t tensor = tensor_of(writer, record);
    tg_json_begin_line_object(json);
    tg_json_put_uint(json, "idx", record->arg_index);
    tg_json_put_string(json, "type", type_of(record));
    if (tensor != 0)
        put_quoted(json, "tensor_id", tensor);
    tg_simpler_put_dtype(json, "dtype", record->dtype);
    tg_simpler_put_list(json, "shape", record->shape, record->ndim);
    put_offset(json, "start_offset", record->start);
    tg_simpler_put_list(json, "strides", record->strides, record->ndim);
    tg_json_end_object(json);
}

/* The kernels by part. Only a journal, and the other implementation's own file, say which part a kernel
 * is of; else they fill the parts in order. */
static void find_parts(const struct writer *writer, const struct tg_deps_read_task *task,
                       const struct argument *argument, size_t count, int64_t part[TG_PARTS])
{
    struct tg_entry entry;
    for (int i = 0; i < TG_PARTS; i++)
        part[i] = -1;
    if (writer->job->info.from_journal && count > 0 &&
        tg_recording_get(writer->job->recording, argument->record, &entry)) {
        for (int i = 0; i < TG_PARTS; i++)
            if (entry.record.kernel[i] != TG_NO_KERNEL)
                part[i] = entry.record.kernel[i];
        return;
    }
    for (uint32_t i = 0; i < task->n_numbers && i < TG_PARTS; i++)
        part[task->slot[i] < TG_PARTS ? task->slot[i] : i] = task->number[i];
}

static void put_task(struct writer *writer, const struct tg_deps_read_task *task)
{
    struct tg_json *json = &writer->json;
    struct tg_entry entry;
    int64_t part[TG_PARTS];
    size_t count;
    const struct argument *argument = arguments_of(writer, task->id, &count);
    find_parts(writer, task, argument, count, part);
    tg_json_begin_line_object(json);
    put_quoted(json, "task_id", task->id);
    tg_json_put_string(json, "scope", *task->scope ? task->scope : "auto");
    tg_json_put_bool(json, "early_dispatch", false);
    tg_simpler_put_list(json, "kernel_ids", part, TG_PARTS);
    tg_json_put_uint(json, "block_num", 1);
    tg_json_key(json, "args");
    tg_json_begin_line_array(json);
    for (size_t i = 0; i < count; i++)
        if (tg_recording_get(writer->job->recording, argument[i].record, &entry))
            put_argument(writer, &entry.record);
    tg_json_end_array(json);
    tg_json_end_object(json);
}

static void put_tensors(struct writer *writer)
{
    struct tg_json *json = &writer->json;
    tg_json_key(json, "tensors");
    tg_json_begin_array(json);
    for (size_t i = 0; i < writer->n_tensors; i++) {
        tg_json_begin_line_object(json);
        put_quoted(json, "tensor_id", i + 1);
        put_quoted(json, "buffer_addr", writer->tensor[i].address);
        tg_json_put_uint(json, "version", 0);
        tg_simpler_put_dtype(json, "dtype", writer->tensor[i].dtype);
        put_offset(json, "buffer_numel", writer->tensor[i].elements);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

/* --- edges ----------------------------------------------------------------------------------------- */

/* The bytes from the first to the last of a view. False if it has none, or no address. */
static bool range_of(const struct tg_record *record, uint64_t *lo, uint64_t *hi)
{
    int64_t first = record->start, last = record->start, step;
    uint64_t bits = tg_bits_of(record->dtype);
    if (record->data_ptr == 0 || bits == 0 || record->bytes == 0)
        return false;
    for (int i = 0; i < record->ndim; i++)
        if (__builtin_mul_overflow(record->shape[i] - 1, record->strides[i], &step) ||
            __builtin_add_overflow(step < 0 ? first : last, step, step < 0 ? &first : &last))
            return false;
    if (first < 0 || (uint64_t)last > UINT64_MAX / 64 - 1)
        return false;
    *lo = record->data_ptr + (uint64_t)first * bits / 8;
    *hi = record->data_ptr + (((uint64_t)last + 1) * bits + 7) / 8;
    return *lo < *hi;
}

/* "covered": the producer's view contains the consumer's. NULL: they have no byte in common. */
static const char *overlap_of(const struct tg_record *producer, const struct tg_record *consumer)
{
    uint64_t lo_p, hi_p, lo_c, hi_c;
    if (!range_of(producer, &lo_p, &hi_p) || !range_of(consumer, &lo_c, &hi_c) || lo_p >= hi_c ||
        lo_c >= hi_p)
        return NULL;
    bool is_covered = lo_p <= lo_c && hi_c <= hi_p && (producer->flags & TG_RECORD_CONTIGUOUS);
    bool is_same = lo_p == lo_c && hi_p == hi_c && producer->ndim == consumer->ndim &&
                   memcmp(producer->strides, consumer->strides, sizeof producer->strides) == 0;
    return is_covered || is_same ? "covered" : "other";
}

static const char *source_of(const char *kind)
{
    bool is_found =
        strcmp(kind, "raw") == 0 || strcmp(kind, "war") == 0 || strcmp(kind, "waw") == 0;
    return is_found ? "tensormap" : *kind ? kind : "explicit";
}

/* One row of an edge: the argument of the consumer that ties it to the producer. NULL: none does. */
static void put_row(struct writer *writer, uint64_t before, uint64_t after, const char *kind,
                    const struct tg_record *producer, const struct tg_record *consumer,
                    const char *overlap)
{
    static const struct tg_record none;
    struct tg_json *json = &writer->json;
    const struct tg_record *p = producer ? producer : &none, *c = consumer ? consumer : &none;
    tg_json_begin_line_object(json);
    put_quoted(json, "pred", before);
    put_quoted(json, "succ", after);
    tg_json_key(json, "arg");
    tg_json_int(json, consumer ? consumer->arg_index : -1);
    tg_json_put_string(json, "source", source_of(kind));
    tg_json_key(json, "flags");
    tg_json_begin_line_array(json);
    tg_json_string(json, "wait");
    tg_json_end_array(json);
    tg_json_put_string(json, "overlap", overlap);
    put_quoted(json, "tensor_id", consumer ? tensor_of(writer, c) : 0);
    tg_simpler_put_dtype(json, "consumer_dtype", c->dtype);
    tg_simpler_put_list(json, "consumer_shape", c->shape, c->ndim);
    put_offset(json, "consumer_start_offset", c->start);
    tg_simpler_put_list(json, "consumer_strides", c->strides, c->ndim);
    tg_simpler_put_list(json, "producer_shape", p->shape, p->ndim);
    put_offset(json, "producer_start_offset", p->start);
    tg_simpler_put_list(json, "producer_strides", p->strides, p->ndim);
    tg_json_end_object(json);
}

struct ends {
    const struct argument *argument;
    size_t count;
};

/* Writes a row for each argument of the consumer that has bytes in common with one of the producer.
 * `written` tells whether the producer must write them, or the consumer. */
static unsigned put_ties(struct writer *writer, const struct tg_deps_read_edge *edge,
                         uint64_t after, const struct ends *producer, const struct ends *consumer,
                         bool by_producer)
{
    const struct tg_recording *recording = writer->job->recording;
    struct tg_entry p, c;
    unsigned rows = 0;
    for (size_t i = 0; i < consumer->count; i++) {
        const char *overlap = NULL;
        if (!tg_recording_get(recording, consumer->argument[i].record, &c))
            continue;
        for (size_t k = 0; !overlap && k < producer->count; k++)
            if (tg_recording_get(recording, producer->argument[k].record, &p) &&
                (by_producer ? p.record.role : c.record.role) != TG_IN)
                overlap = overlap_of(&p.record, &c.record);
        if (!overlap)
            continue;
        put_row(writer, edge->before, after, edge->kind, &p.record, &c.record, overlap);
        rows++;
    }
    return rows;
}

static void put_edges(struct writer *writer, const struct tg_deps_read_task *task)
{
    struct ends consumer;
    consumer.argument = arguments_of(writer, task->id, &consumer.count);
    for (size_t i = 0; i < task->n_edges; i++) {
        const struct tg_deps_read_edge *edge = &task->edge[i];
        struct ends producer;
        producer.argument = arguments_of(writer, edge->before, &producer.count);
        if (put_ties(writer, edge, task->id, &producer, &consumer, true) == 0 &&
            put_ties(writer, edge, task->id, &producer, &consumer, false) == 0)
            put_row(writer, edge->before, task->id, edge->kind, NULL, NULL, "none");
    }
}

/* --- the document ---------------------------------------------------------------------------------- */

/* Reads our deps.json and gives its tasks, one after the other. */
static tg_status each_task(struct writer *writer, const char *key,
                           void (*put)(struct writer *writer, const struct tg_deps_read_task *task))
{
    struct tg_export_job *job = writer->job;
    struct tg_deps_reader deps;
    bool more;
    tg_status status = tg_deps_reader_open(&job->info, &deps, &more, job->error);
    if (!more)
        return status;
    tg_json_key(&writer->json, key);
    tg_json_begin_array(&writer->json);
    while ((status = tg_deps_reader_next(&deps, &more, job->error)) == TG_OK && more) {
        put(writer, &deps.task);
        if (!tg_export_tell(job))
            break;
    }
    tg_deps_reader_close(&deps);
    tg_json_end_array(&writer->json);
    return tg_export_end(job, status);
}

static tg_status put_document(struct writer *writer, FILE *file)
{
    tg_json_start(&writer->json, file);
    tg_json_begin_object(&writer->json);
    tg_status status = each_task(writer, "tasks", put_task);
    if (status != TG_OK)
        return status;
    put_tensors(writer);
    status = each_task(writer, "edges", put_edges);
    if (status != TG_OK)
        return status;
    tg_json_end_object(&writer->json);
    return tg_simpler_json_status(&writer->json, writer->job->error);
}

static tg_status write_document(struct tg_export_job *job, const char *path)
{
    struct writer writer = {.job = job};
    struct tg_export_file file;
    tg_status status = gather(&writer);
    if (status == TG_OK)
        status = tg_export_file_open(job, path, &file);
    if (status == TG_OK)
        status = tg_export_file_close(job, &file, put_document(&writer, file.file));
    free(writer.argument);
    free(writer.tensor);
    return status;
}

/* Removes the file of an earlier export, which a viewer would take for this one's. */
tg_status tg_simpler_put_deps(struct tg_export_job *job, const char *path, bool *written)
{
    struct tg_deps_reader deps;
    tg_status status = tg_deps_reader_open(&job->info, &deps, written, job->error);
    if (*written) {
        tg_deps_reader_close(&deps);
        return write_document(job, path);
    }
    if (status == TG_OK && job->config->overwrite && unlink(path) != 0 && errno != ENOENT)
        return tg_file_error(job->error, "remove", path, errno);
    return status;
}
