/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first half of writing a trace: brings together what belongs to a task.
 *
 * Events are sorted by task: its parts, its submission, the edges to tasks before and behind it, its texts.
 * An edge is sorted twice, under both of its tasks, so that each end of the arrow is found where its slice
 * is made. The slices go to the sort by time, already in the form of the file.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/files.h"
#include "trace/out.h"

/* The order of a task's records in the sort; the lower bits of the minor key are free. */
enum { RANK_TASK = 0, RANK_SUBMIT = 1, RANK_BEFORE = 2, RANK_BEHIND = 3, RANK_TEXT = 4 };
#define RANK_SHIFT 56
#define RANK_MASK ((UINT64_C(1) << RANK_SHIFT) - 1)

/* What is known of the task at hand. Its arrays serve all tasks one after the other. */
struct group {
    struct tg_trace_out *out;
    uint64_t id;
    struct tg_spool_event *part;
    size_t n_parts, parts_room;
    struct tg_spool_event submit; /* or SITE; type 0: none */
    struct tg_trace_after *after;
    size_t n_after, after_room;
    uint64_t *leaving;
    size_t n_leaving, leaving_room;
    struct tg_trace_text *text;
    size_t n_texts, text_room;
    struct tg_bytes texts;
    struct tg_bytes item; /* the slice that is being made */
    bool no_memory;
};

/* --- slices and counters --------------------------------------------------------------------- */

/* At the same time: first what has no length, then the longest, so that slices nest in this order. Scopes
 * say themselves which is inside, also if they begin and end together. */
static uint64_t order_of(const struct tg_spool_event *event)
{
    bool is_moment = event->begin == event->end;
    if (event->type == TG_SPOOL_SCOPE)
        return (uint64_t)event->part << 1 | !is_moment;
    return is_moment ? 0 : UINT64_C(1) << 63 | (~event->end & (UINT64_MAX >> 1));
}

static void add_slice(struct tg_trace_out *out, const struct tg_trace_slice *slice,
                      struct tg_bytes *bytes)
{
    const struct tg_spool_event *event = &slice->event;
    struct tg_trace_item item = {.begin = event->begin,
                                 .end = event->end,
                                 .lane = slice->lane,
                                 .type = event->type,
                                 .n_leaving = (uint32_t)slice->n_leaving,
                                 .n_taken = slice->takes ? (uint32_t)slice->n_after : 0};
    bytes->used = 0;
    tg_bytes_put(bytes, &item, sizeof item);
    tg_bytes_put(bytes, slice->leaving, slice->n_leaving * sizeof *slice->leaving);
    for (size_t i = 0; i < item.n_taken; i++)
        tg_bytes_put(bytes, &slice->after[i].flow, sizeof slice->after[i].flow);
    tg_trace_encode(out, slice, bytes);
    if (!bytes->no_memory)
        tg_sort_add(out->by_time, event->begin, order_of(event), bytes->at, bytes->used);
}

static void add_value(struct tg_trace_out *out, uint32_t counter, uint64_t time, uint64_t value)
{
    struct tg_trace_item item = {.begin = time, .end = value, .lane = counter};
    tg_sort_add(out->by_time, time, 0, &item, sizeof item);
}

static void add_rings(struct tg_trace_out *out, const struct tg_spool_event *event)
{
    uint32_t first = TG_COUNTER_RINGS + event->core * TG_RING_COUNTERS;
    add_value(out, first, event->begin, event->id);
    add_value(out, first + 1, event->begin, event->at);
    add_value(out, first + 2, event->begin, event->end);
    add_value(out, TG_COUNTER_MAP, event->begin, event->number);
}

/* --- reading the spool ----------------------------------------------------------------------- */

static bool is_time(uint64_t time)
{
    return time <= INT64_MAX; /* viewers have signed times */
}

static bool is_sane(const struct tg_trace_out *out, const struct tg_spool_event *event)
{
    bool is_span = is_time(event->end) && event->begin <= event->end;
    switch (event->type) {
    case TG_SPOOL_TASK:
        return is_span && event->core < out->run->n_cores && event->id != TG_TASK_NONE;
    case TG_SPOOL_SUBMIT:
        return is_span && event->id != TG_TASK_NONE;
    case TG_SPOOL_SITE:
        return event->id != TG_TASK_NONE;
    case TG_SPOOL_WAIT:
    case TG_SPOOL_SCOPE:
        return is_span;
    case TG_SPOOL_EDGE:
        return event->id != event->at && event->id != TG_TASK_NONE && event->at != TG_TASK_NONE;
    case TG_SPOOL_RINGS:
        return is_time(event->begin) && event->core < TG_RINGS && is_time(event->id) &&
               is_time(event->at) && is_time(event->end);
    default:
        return is_time(event->begin) && is_time(event->at);
    }
}

static void note_times(struct tg_trace_out *out, const struct tg_spool_event *event)
{
    bool has_end = event->type != TG_SPOOL_RINGS && event->type != TG_SPOOL_RECORDER;
    if (event->type == TG_SPOOL_EDGE || event->type == TG_SPOOL_TEXT ||
        event->type == TG_SPOOL_SITE)
        return;
    uint64_t end = has_end ? event->end : event->begin;
    if (event->begin < out->begin)
        out->begin = event->begin;
    if (out->end == TG_SPOOL_NO_TIME || end > out->end)
        out->end = end;
}

static void add_for_task(struct tg_trace_out *out, unsigned rank, uint64_t task, uint64_t order,
                         const void *bytes, size_t size)
{
    tg_sort_add(out->by_task, task, (uint64_t)rank << RANK_SHIFT | (order & RANK_MASK), bytes,
                size);
}

static void add_lane_slice(struct group *group, const struct tg_spool_event *event)
{
    bool is_scope = event->type == TG_SPOOL_SCOPE;
    struct tg_trace_slice slice = {.event = *event,
                                   .lane = is_scope ? TG_LANE_SCOPES : TG_LANE_ORCHESTRATOR,
                                   .site = event->number};
    add_slice(group->out, &slice, &group->item);
}

static void take_event(struct group *group, const struct tg_spool_reader *reader)
{
    struct tg_trace_out *out = group->out;
    const struct tg_spool_event *event = &reader->event;
    struct tg_trace_after before = {.id = event->at, .kind = event->part};
    switch (event->type) {
    case TG_SPOOL_TASK:
        add_for_task(out, RANK_TASK, event->id, event->part, event, sizeof *event);
        break;
    case TG_SPOOL_SUBMIT:
    case TG_SPOOL_SITE:
        add_for_task(out, RANK_SUBMIT, event->id, 0, event, sizeof *event);
        break;
    case TG_SPOOL_EDGE:
        before.flow = ++out->result.edges;
        add_for_task(out, RANK_BEFORE, event->id, before.flow, &before, sizeof before);
        add_for_task(out, RANK_BEHIND, event->at, before.flow, &before.flow, sizeof before.flow);
        break;
    case TG_SPOOL_TEXT:
        add_for_task(out, RANK_TEXT, event->id, 0, reader->key, event->size);
        break;
    case TG_SPOOL_RINGS:
        add_rings(out, event);
        break;
    case TG_SPOOL_RECORDER:
        add_value(out, TG_COUNTER_RECORDER, event->begin, event->at);
        break;
    default:
        add_lane_slice(group, event);
        break;
    }
}

static tg_status read_spool(struct group *group, struct tg_error *error)
{
    struct tg_trace_out *out = group->out;
    struct tg_spool_reader reader;
    bool more = true;
    tg_status status = tg_spool_read(out->spool, &reader, error);
    while (status == TG_OK && tg_trace_goes_on(out)) {
        status = tg_spool_next(&reader, &more, error);
        if (status != TG_OK || !more)
            break;
        if (reader.event.type != TG_SPOOL_TEXT && !is_sane(out, &reader.event)) {
            out->result.left_out++;
            continue;
        }
        note_times(out, &reader.event);
        take_event(group, &reader);
    }
    tg_spool_reader_end(&reader);
    return status;
}

/* --- tasks ----------------------------------------------------------------------------------- */

static bool grow_group(struct group *group, void *array, size_t *room, size_t count, size_t size)
{
    if (!tg_grow(array, room, count + 1, size))
        group->no_memory = true;
    return !group->no_memory;
}

static void clear(struct group *group, uint64_t id)
{
    group->id = id;
    group->n_parts = group->n_after = group->n_leaving = group->n_texts = 0;
    group->texts.used = 0;
    group->submit.type = 0;
}

static void take_text(struct group *group, const struct tg_sort_record *record)
{
    const char *key = (const char *)record->bytes;
    size_t length = strlen(key) + 1;
    if (!grow_group(group, &group->text, &group->text_room, group->n_texts, sizeof *group->text))
        return;
    group->text[group->n_texts++] =
        (struct tg_trace_text){group->texts.used, group->texts.used + length};
    tg_bytes_put(&group->texts, key, record->size);
    group->no_memory |= group->texts.no_memory;
}

static void take_record(struct group *group, const struct tg_sort_record *record)
{
    const void *bytes = record->bytes;
    switch (record->minor >> RANK_SHIFT) {
    case RANK_TASK:
        if (grow_group(group, &group->part, &group->parts_room, group->n_parts,
                       sizeof *group->part))
            memcpy(&group->part[group->n_parts++], bytes, sizeof *group->part);
        break;
    case RANK_SUBMIT:
        memcpy(&group->submit, bytes, sizeof group->submit);
        break;
    case RANK_BEFORE:
        if (grow_group(group, &group->after, &group->after_room, group->n_after,
                       sizeof *group->after))
            memcpy(&group->after[group->n_after++], bytes, sizeof *group->after);
        break;
    case RANK_BEHIND:
        if (grow_group(group, &group->leaving, &group->leaving_room, group->n_leaving,
                       sizeof *group->leaving))
            memcpy(&group->leaving[group->n_leaving++], bytes, sizeof *group->leaving);
        break;
    default:
        take_text(group, record);
        break;
    }
}

/* The time at which the task became ready; TG_SPOOL_NO_TIME. A task that waited for nothing says 0. */
static uint64_t ready_of(const struct tg_trace_out *out, const struct tg_spool_event *part)
{
    uint64_t ready = part->at;
    if (ready == TG_SPOOL_NO_TIME || ready > part->begin)
        return TG_SPOOL_NO_TIME;
    return ready < out->begin ? out->begin : ready;
}

static void count_task(struct group *group, const struct tg_spool_event *first,
                       const struct tg_spool_event *last)
{
    struct tg_trace_out *out = group->out;
    uint64_t ready = ready_of(out, first);
    tg_steps_add(&out->running, first->begin, 1);
    tg_steps_add(&out->running, last->end, -1);
    if (ready != TG_SPOOL_NO_TIME) {
        tg_steps_add(&out->ready, ready, 1);
        tg_steps_add(&out->ready, first->begin, -1);
    }
    out->result.tasks++;
}

static void add_part(struct group *group, const struct tg_spool_event *part, bool takes,
                     bool leaves)
{
    struct tg_trace_out *out = group->out;
    struct tg_trace_slice slice = {.event = *part,
                                   .lane = TG_LANE_CORES + part->core,
                                   .site =
                                       group->submit.type ? group->submit.number : TG_SPOOL_NO_NAME,
                                   .after = group->after,
                                   .n_after = group->n_after,
                                   .takes = takes,
                                   .leaving = group->leaving,
                                   .n_leaving = leaves ? group->n_leaving : 0,
                                   .text = group->text,
                                   .n_texts = group->n_texts,
                                   .texts = (const char *)group->texts.at};
    slice.event.at = ready_of(out, part);
    add_slice(out, &slice, &group->item);
}

static void finish_task(struct group *group)
{
    size_t first = 0, last = 0;
    if (group->no_memory)
        return;
    for (size_t i = 1; i < group->n_parts; i++) {
        if (group->part[i].begin < group->part[first].begin)
            first = i;
        if (group->part[i].end > group->part[last].end)
            last = i;
    }
    for (size_t i = 0; group->submit.type == TG_SPOOL_SITE && i < group->n_parts; i++)
        if (group->part[i].at == TG_SPOOL_NO_TIME)
            group->part[i].at = group->submit.at;
    if (group->n_parts > 0)
        count_task(group, &group->part[first], &group->part[last]);
    for (size_t i = 0; i < group->n_parts; i++)
        add_part(group, &group->part[i], i == first, i == last);
    if (group->submit.type == TG_SPOOL_SUBMIT) {
        struct tg_trace_slice slice = {
            .event = group->submit, .lane = TG_LANE_ORCHESTRATOR, .site = group->submit.number};
        add_slice(group->out, &slice, &group->item);
    }
}

static void join_tasks(struct group *group)
{
    struct tg_trace_out *out = group->out;
    struct tg_sort_record record;
    bool is_open = false;
    tg_sort_start(out->by_task);
    while (tg_trace_goes_on(out) && !group->no_memory && tg_sort_next(out->by_task, &record)) {
        if (is_open && record.key != group->id)
            finish_task(group);
        if (!is_open || record.key != group->id)
            clear(group, record.key);
        is_open = true;
        take_record(group, &record);
    }
    if (is_open)
        finish_task(group);
}

static void add_steps(struct tg_trace_out *out, uint32_t counter, struct tg_steps *steps)
{
    tg_steps_finish(steps);
    if (steps->count == 0)
        return;
    add_value(out, counter, out->begin, 0); /* a step at the same time comes behind it */
    for (size_t i = 0; i < steps->count; i++)
        add_value(out, counter, steps->step[i].time,
                  steps->step[i].change > 0 ? (uint64_t)steps->step[i].change : 0);
}

static void release(struct group *group)
{
    free(group->part);
    free(group->after);
    free(group->leaving);
    free(group->text);
    free(group->texts.at);
    free(group->item.at);
}

static tg_status check(const struct group *group, struct tg_error *error)
{
    if (group->no_memory || group->item.no_memory)
        return tg_file_no_memory(error);
    tg_status status = tg_sort_check(group->out->by_task, error);
    return status == TG_OK ? tg_sort_check(group->out->by_time, error) : status;
}

tg_status tg_trace_join(struct tg_trace_out *out, struct tg_error *error)
{
    struct group group = {.out = out};
    uint64_t changes = 2 * tg_spool_count(out->spool, TG_SPOOL_TASK);
    out->begin = out->run->begin;
    out->end = out->run->end;
    tg_status status = read_spool(&group, error);
    if (out->begin == TG_SPOOL_NO_TIME)
        out->begin = out->end = 0; /* there are no events */
    if (out->end == TG_SPOOL_NO_TIME || out->end < out->begin)
        out->end = out->begin;
    if (status == TG_OK && (!tg_steps_start(&out->ready, out->begin, out->end, changes) ||
                            !tg_steps_start(&out->running, out->begin, out->end, changes)))
        status = tg_file_no_memory(error);
    if (status == TG_OK) {
        join_tasks(&group);
        add_steps(out, TG_COUNTER_READY, &out->ready);
        add_steps(out, TG_COUNTER_RUNNING, &out->running);
        tg_steps_free(&out->ready);
        tg_steps_free(&out->running);
        status = check(&group, error);
    }
    release(&group);
    return status;
}
