/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task is where it began if an output has it and no input had. Inputs that have it without a
 * recorded task having written it came from outside.
 */
#include "analysis/find.h"

#include <stdlib.h>

struct inputs {
    bool have_it, unknown, any;
    uint32_t seen; /* arguments, at any stage */
};

static void look_at_inputs(const struct tg_hunt *hunt, const struct tg_task_row *row,
                           struct inputs *inputs)
{
    *inputs = (struct inputs){0};
    for (uint64_t i = row->first; i < row->first + row->count; i++) {
        const struct tg_record_ref *ref = &hunt->tasks.ref[i];
        const struct tg_probe *probe = &hunt->probe[ref->index];
        unsigned arg = ref->place & 0xff;
        inputs->seen |= arg < 32 ? UINT32_C(1) << arg : 0;
        if (tg_record_ref_stage(ref) != TG_BEFORE_DISPATCH)
            continue;
        inputs->any = true;
        inputs->have_it = inputs->have_it || probe->count > 0;
        inputs->unknown = inputs->unknown || !probe->is_known;
    }
}

/* Arguments that nothing was recorded of, or a task that waited for others without inputs: something
 * was left out. */
static bool misses_some(const struct tg_hunt *hunt, const struct tg_task_row *row,
                        const struct inputs *inputs)
{
    const struct tg_deps *deps = hunt->tasks.deps;
    if (inputs->seen & (inputs->seen + 1))
        return true;
    return !inputs->any && deps && row->deps != TG_NO_ROW && deps->task[row->deps].n_edges > 0;
}

static enum tg_trace trace_of_output(const struct tg_hunt *hunt, uint32_t number)
{
    const struct tg_task_row *row = &hunt->tasks.row[number];
    struct inputs inputs;
    look_at_inputs(hunt, row, &inputs);
    if (inputs.have_it)
        return TG_TRACE_INHERITED;
    return inputs.unknown || misses_some(hunt, row, &inputs) ? TG_TRACE_UNCLEAR : TG_TRACE_ORIGIN;
}

static bool add_record(struct tg_hunt *hunt, uint64_t record, enum tg_trace trace)
{
    struct tg_hunt_finding finding = {.record = record,
                                      .trace = trace,
                                      .count = hunt->probe[record].count,
                                      .first = hunt->probe[record].first,
                                      .before = TG_NONE,
                                      .writer = TG_NONE};
    return tg_hunt_add(hunt, &finding);
}

/* Whether a writer of the input had it, or may have had it. */
static bool comes_from_a_task(const struct tg_hunt *hunt, const struct tg_flow_event *event)
{
    const struct tg_flow *flow = &hunt->flow;
    for (uint32_t k = 0; k < event->n_writers; k++) {
        uint64_t record = flow->event[flow->writer[event->first_writer + k]].record;
        const struct tg_probe *probe = &hunt->probe[record];
        if (probe->count > 0 || !probe->is_known)
            return true;
    }
    return false;
}

/* Without addresses nobody knows who wrote it: only what is there before any output has it. */
static bool is_given(const struct tg_hunt *hunt, const struct tg_flow_event *event,
                     bool output_had_it)
{
    struct tg_entry entry;
    bool has_address =
        tg_recording_get(hunt->recording, event->record, &entry) && entry.record.data_ptr != 0;
    if (event->seen != TG_NO_EVENT && event->is_unchanged)
        return false; /* said already, of the one that saw it first */
    return has_address ? !comes_from_a_task(hunt, event) : !output_had_it;
}

static bool trace_event(struct tg_hunt *hunt, const struct tg_flow_event *event,
                        bool *output_had_it)
{
    if (hunt->probe[event->record].count == 0)
        return true;
    if (event->is_write) {
        *output_had_it = true;
        return add_record(hunt, event->record, trace_of_output(hunt, event->row));
    }
    if (hunt->quarry == TG_QUARRY_CONSTANT || !is_given(hunt, event, *output_had_it))
        return true;
    return add_record(hunt, event->record, event->is_outside ? TG_TRACE_GIVEN : TG_TRACE_UNCLEAR);
}

/* Scalars are nobody's outputs. */
static bool trace_scalars(struct tg_hunt *hunt)
{
    struct tg_entry entry;
    for (uint64_t i = 0; i < hunt->tasks.info.records; i++)
        if (hunt->probe[i].count > 0 && hunt->flow.of_record[i] == TG_NO_EVENT &&
            tg_recording_get(hunt->recording, i, &entry) && entry.record.kind == TG_KIND_SCALAR &&
            !add_record(hunt, i, TG_TRACE_GIVEN))
            return false;
    return true;
}

bool tg_hunt_trace(struct tg_hunt *hunt)
{
    bool output_had_it = false;
    if (hunt->quarry != TG_QUARRY_CONSTANT && !trace_scalars(hunt))
        return false;
    for (uint32_t i = 0; i < hunt->flow.n_events; i++)
        if (!trace_event(hunt, &hunt->flow.event[i], &output_had_it))
            return false;
    return true;
}
