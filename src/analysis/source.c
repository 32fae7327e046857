/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/source.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/tensor.h>

#include "analysis/match_mix.h"

tg_status tg_sources_follow(struct tg_sources *sources, struct tg_error *error)
{
    if (sources->has_flow)
        return TG_OK;
    tg_status status = tg_flow_make(sources->tasks, &sources->flow, error);
    sources->has_flow = status == TG_OK;
    return status;
}

struct follow_job {
    struct tg_sources *sources;
    tg_status status;
    struct tg_error error;
};

static void *follow_one(void *context)
{
    struct follow_job *job = context;
    job->status = tg_sources_follow(job->sources, &job->error);
    return NULL;
}

tg_status tg_sources_follow_both(struct tg_sources *a, struct tg_sources *b, struct tg_error *error)
{
    enum { WORTH_A_THREAD = 10000 };
    struct follow_job job = {.sources = b};
    pthread_t thread;
    bool is_apart = !a->has_flow && !b->has_flow && b->tasks->n_refs > WORTH_A_THREAD &&
                    pthread_create(&thread, NULL, follow_one, &job) == 0;
    tg_status status = tg_sources_follow(a, error);
    if (is_apart)
        (void)pthread_join(thread, NULL);
    else
        (void)follow_one(&job);
    if (status == TG_OK && job.status != TG_OK && error)
        *error = job.error;
    return status == TG_OK ? job.status : status;
}

void tg_sources_close(struct tg_sources *sources)
{
    if (sources->has_flow)
        tg_flow_free(&sources->flow);
    free(sources->object);
    tg_names_free(&sources->names);
    *sources = (struct tg_sources){0};
}

/* --- objects ---------------------------------------------------------------------------------- */

const struct tg_object *tg_sources_object(const struct tg_sources *sources, uint64_t address)
{
    uint32_t low = 0, high = sources->n_objects;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sources->object[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    /* A tensor that was given twice has the number of its first argument. */
    while (low > 1 && sources->object[low - 2].address == sources->object[low - 1].address)
        low--;
    const struct tg_object *object = low > 0 ? &sources->object[low - 1] : NULL;
    return object && address - object->address < object->bytes ? object : NULL;
}

bool tg_object_is(const struct tg_object *a, const struct tg_object *b)
{
    if (!a || !b)
        return false;
    if (*a->name && *b->name)
        return strcmp(a->name, b->name) == 0;
    return a->arg == b->arg && a->arg != TG_NO_ARGUMENT;
}

static bool has_names(const struct tg_sources *sources)
{
    for (uint32_t i = 0; i < sources->n_objects; i++)
        if (!*sources->object[i].name)
            return false;
    return true;
}

void tg_object_rule_make(const struct tg_sources *a, const struct tg_sources *b,
                         struct tg_object_rule *rule)
{
    rule->is_known = a->n_objects > 0 && b->n_objects > 0;
    rule->by_name = has_names(a) && has_names(b);
}

uint64_t tg_object_key(const struct tg_object_rule *rule, const struct tg_object *object)
{
    uint64_t key = 1;
    if (!object || !rule->is_known)
        return 0;
    if (!rule->by_name)
        return tg_mix(key, object->arg);
    for (const char *c = object->name; *c; c++)
        key = tg_mix(key, (unsigned char)*c);
    return key;
}

uint64_t tg_object_place(const struct tg_sources *sources, const struct tg_object_rule *rule,
                         const struct tg_record *record)
{
    const struct tg_object *object = rule->is_known && record->data_ptr != 0
                                         ? tg_sources_object(sources, record->data_ptr)
                                         : NULL;
    uint64_t bits = tg_bits_of(record->dtype);
    uint64_t inside = object ? (record->data_ptr - object->address) * 8 : 0;
    return tg_mix(tg_object_key(rule, object), inside + (uint64_t)record->start * bits);
}

/* --- one record ------------------------------------------------------------------------------- */

static void find_writers(const struct tg_sources *sources, uint64_t record,
                         struct tg_source *source)
{
    const struct tg_flow *flow = &sources->flow;
    uint32_t number = sources->has_flow ? flow->of_record[record] : TG_NO_EVENT;
    if (number == TG_NO_EVENT)
        return;
    const struct tg_flow_event *event = &flow->event[number];
    source->n_writers = event->n_writers;
    if (event->n_writers > 0) {
        source->writer = flow->writer + event->first_writer;
        const struct tg_flow_event *last = &flow->event[source->writer[event->n_writers - 1]];
        source->row = last->row;
        source->record = last->record;
        source->kind = event->is_outside ? TG_SOURCE_MIXED : TG_SOURCE_TASKS;
    } else if (event->is_outside) {
        source->kind = TG_SOURCE_OUTSIDE;
    }
}

/* Elements from the beginning of the object to the record's storage. */
static int64_t distance(const struct tg_object *object, const struct tg_record *record)
{
    unsigned bits = tg_bits_of(record->dtype);
    uint64_t bytes = object ? record->data_ptr - object->address : 0;
    return bits == 0 ? 0 : (int64_t)(bits < 8 ? bytes * (8 / bits) : bytes / (bits / 8));
}

bool tg_source_of(const struct tg_sources *sources, uint64_t record, struct tg_source *source)
{
    struct tg_entry entry;
    *source = (struct tg_source){.row = TG_NO_ROW, .record = TG_NONE};
    if (record == TG_NONE || !tg_recording_get(sources->tasks->recording, record, &entry) ||
        entry.record.kind != TG_KIND_TENSOR)
        return false;
    struct tg_tensor view = {.start = entry.record.start, .ndim = entry.record.ndim};
    memcpy(view.shape, entry.record.shape, sizeof view.shape);
    memcpy(view.strides, entry.record.strides, sizeof view.strides);
    if (entry.record.data_ptr != 0) {
        source->object = tg_sources_object(sources, entry.record.data_ptr);
        find_writers(sources, record, source);
    }
    int64_t before = distance(source->object, &entry.record);
    if (!tg_tensor_footprint(&view, &source->low, &source->high))
        source->low = source->high = view.start; /* empty, or beyond 64 bits */
    source->offset = (int64_t)((uint64_t)before + (uint64_t)view.start);
    source->low = (int64_t)((uint64_t)before + (uint64_t)source->low);
    source->high = (int64_t)((uint64_t)before + (uint64_t)source->high);
    return true;
}

bool tg_source_same_view(const struct tg_sources *a, uint64_t record_a, const struct tg_sources *b,
                         uint64_t record_b)
{
    struct tg_source x, y;
    struct tg_entry p, q;
    if (!tg_source_of(a, record_a, &x) || !tg_source_of(b, record_b, &y) ||
        !tg_recording_get(a->tasks->recording, record_a, &p) ||
        !tg_recording_get(b->tasks->recording, record_b, &q))
        return false;
    if (x.object || y.object ? !tg_object_is(x.object, y.object)
                             : !p.record.data_ptr || !q.record.data_ptr)
        return false;
    return x.offset == y.offset && p.record.dtype == q.record.dtype &&
           p.record.ndim == q.record.ndim &&
           memcmp(p.record.shape, q.record.shape, p.record.ndim * sizeof p.record.shape[0]) == 0 &&
           memcmp(p.record.strides, q.record.strides, p.record.ndim * sizeof p.record.strides[0]) ==
               0;
}
