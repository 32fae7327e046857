/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value began at a task if one of its outputs has the value and no input had it. An input that
 * has the value although no recorded task wrote it came from outside. A call of communication has
 * inputs on other ranks, which this recording does not have.
 */
#include "analysis/find.h"

#include <stdlib.h>

#include "analysis/timeline_calls.h"
#include "recording/reader.h"

struct inputs {
    bool have_it, unknown, any;
    uint32_t seen; /* arguments seen at any stage */
};

static void look_at_inputs(const struct tg_find *find, const struct tg_task_row *row,
                           struct inputs *inputs)
{
    *inputs = (struct inputs){0};
    for (uint64_t i = row->first; i < row->first + row->count; i++) {
        const struct tg_record_ref *ref = &find->tasks.ref[i];
        const struct tg_probe *probe = &find->probe[ref->index];
        unsigned arg = ref->place & 0xff;
        inputs->seen |= arg < 32 ? UINT32_C(1) << arg : 0;
        if (tg_record_ref_stage(ref) != TG_BEFORE_DISPATCH)
            continue;
        inputs->any = true;
        inputs->have_it = inputs->have_it || probe->count > 0;
        inputs->unknown = inputs->unknown || !probe->is_known;
    }
}

/* True if an argument has no record, or if a task that waited for others has no inputs: the
 * recording left something out. */
static bool misses_some(const struct tg_find *find, const struct tg_task_row *row,
                        const struct inputs *inputs)
{
    const struct tg_deps *deps = find->tasks.deps;
    if (inputs->seen & (inputs->seen + 1) || (!inputs->any && find->is_selective))
        return true;
    return !inputs->any && deps && row->deps != TG_NO_ROW && deps->task[row->deps].n_edges > 0;
}

bool tg_find_is_call(const struct tg_find *find, const struct tg_task_row *row)
{
    const char *kernel[TG_PARTS];
    uint32_t kind;
    tg_recording_kernels(find->recording, find->tasks.ref[row->first].index, kernel);
    for (int part = 0; part < TG_PARTS; part++)
        if (kernel[part] && tg_is_call_name(kernel[part], &kind))
            return true;
    return false;
}

static enum tg_trace trace_of_output(const struct tg_find *find, uint32_t number)
{
    const struct tg_task_row *row = &find->tasks.row[number];
    struct inputs inputs;
    look_at_inputs(find, row, &inputs);
    if (inputs.have_it)
        return TG_TRACE_INHERITED;
    return inputs.unknown || misses_some(find, row, &inputs) || tg_find_is_call(find, row)
               ? TG_TRACE_UNCLEAR
               : TG_TRACE_ORIGIN;
}

static bool add_record(struct tg_find *find, uint64_t record, enum tg_trace trace)
{
    struct tg_find_finding finding = {.record = record,
                                      .trace = trace,
                                      .count = find->probe[record].count,
                                      .first = find->probe[record].first,
                                      .before = TG_NONE,
                                      .writer = TG_NONE};
    return tg_find_add(find, &finding);
}

/* True if a writer of the input had the value, or may have had it. */
static bool comes_from_a_task(const struct tg_find *find, const struct tg_flow_event *event)
{
    const struct tg_flow *flow = &find->flow;
    for (uint32_t k = 0; k < event->n_writers; k++) {
        uint64_t record = flow->event[flow->writer[event->first_writer + k]].record;
        const struct tg_probe *probe = &find->probe[record];
        if (probe->count > 0 || !probe->is_known)
            return true;
    }
    return false;
}

/* Without addresses the writer is unknown, so only a value that appears before any output has it
 * counts. */
static bool is_given(const struct tg_find *find, const struct tg_flow_event *event,
                     bool output_had_it)
{
    struct tg_entry entry;
    bool has_address =
        tg_recording_get(find->recording, event->record, &entry) && entry.record.data_ptr != 0;
    if (event->seen != TG_NO_EVENT && event->is_unchanged)
        return false; /* reported already, for the record that saw it first */
    return has_address ? !comes_from_a_task(find, event) : !output_had_it;
}

static bool trace_event(struct tg_find *find, const struct tg_flow_event *event,
                        bool *output_had_it)
{
    if (find->probe[event->record].count == 0)
        return true;
    if (event->is_write) {
        *output_had_it = true;
        return add_record(find, event->record, trace_of_output(find, event->row));
    }
    if (find->find_kind == TG_FIND_CONSTANT || !is_given(find, event, *output_had_it))
        return true;
    return add_record(find, event->record, event->is_outside ? TG_TRACE_GIVEN : TG_TRACE_UNCLEAR);
}

/* A scalar is never an output, so it always came from outside. */
static bool trace_scalars(struct tg_find *find)
{
    struct tg_entry entry;
    for (uint64_t i = 0; i < find->tasks.info.records; i++)
        if (find->probe[i].count > 0 && find->flow.of_record[i] == TG_NO_EVENT &&
            tg_recording_get(find->recording, i, &entry) && entry.record.kind == TG_KIND_SCALAR &&
            !add_record(find, i, TG_TRACE_GIVEN))
            return false;
    return true;
}

bool tg_find_trace(struct tg_find *find)
{
    bool output_had_it = false;
    if (find->find_kind != TG_FIND_CONSTANT && !trace_scalars(find))
        return false;
    for (uint32_t i = 0; i < find->flow.n_events; i++)
        if (!trace_event(find, &find->flow.event[i], &output_had_it))
            return false;
    return true;
}
