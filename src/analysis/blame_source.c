/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs that differ although no recorded task made them differ: data given to the run from
 * outside, data that changed after its producer wrote it, and inputs taken from another tensor than
 * in the other run. Device addresses decide which it is; without addresses the graph does.
 */
#include <stdlib.h>

#include "analysis/blame.h"

/* A report names only the first of them. */
enum { MOST_SOURCES = 1000 };

static bool map_records(struct tg_blame *blame)
{
    const struct tg_diff *diff = blame->diff;
    blame->pair_of_a = malloc((size_t)(diff->a.info.records + 1) * sizeof *blame->pair_of_a);
    if (!blame->pair_of_a)
        return false;
    for (uint64_t i = 0; i < diff->a.info.records; i++)
        blame->pair_of_a[i] = TG_NONE;
    for (uint64_t i = 0; i < diff->match.n_pairs; i++)
        if (diff->match.pair[i].a != TG_NONE)
            blame->pair_of_a[diff->match.pair[i].a] = i;
    return true;
}

/* True if these bytes changed since the last record of them, although no task wrote them in
 * between. */
static bool has_changed(const struct tg_recording *recording, const struct tg_flow *flow,
                        uint64_t record)
{
    uint32_t number = record == TG_NONE ? TG_NO_EVENT : flow->of_record[record];
    const struct tg_flow_event *event = number == TG_NO_EVENT ? NULL : &flow->event[number];
    struct tg_entry now, before;
    if (!event || event->seen == TG_NO_EVENT || !event->is_unchanged)
        return false;
    return tg_recording_get(recording, record, &now) &&
           tg_recording_get(recording, flow->event[event->seen].record, &before) &&
           (now.record.flags & before.record.flags & TG_RECORD_HASHED) &&
           now.record.hash != before.record.hash;
}

/* True if no direct predecessor can have caused it: all their outputs are known to agree. */
static bool has_no_writer_before(const struct tg_blame *blame, uint32_t task)
{
    const struct tg_links *before = &blame->before;
    for (uint64_t k = before->first[task]; k < before->first[task + 1]; k++)
        if (blame->task[before->before[k]].output != TG_STATE_AGREES)
            return false;
    return true;
}

/* True if every writer of these bytes left the same values in both runs. */
static bool writers_agree(const struct tg_blame *blame, const struct tg_flow_event *event)
{
    for (uint32_t k = 0; k < event->n_writers; k++) {
        const struct tg_flow *flow = &blame->flow_a;
        uint64_t record = flow->event[flow->writer[event->first_writer + k]].record;
        uint64_t pair = blame->pair_of_a[record];
        if (pair == TG_NONE || tg_blame_pair_state(blame->diff, pair) != TG_STATE_AGREES)
            return false;
    }
    return true;
}

/* For an input whose bytes did not change after they were written. If all its writers agree, the
 * difference came from outside for the parts that no recorded task wrote; if there are no such
 * parts, the task was given another tensor than in the other run. */
static enum tg_guilt guilt_of_event(const struct tg_blame *blame, const struct tg_flow_event *event)
{
    if (!writers_agree(blame, event))
        return TG_GUILT_INHERITED;
    return event->is_outside ? TG_GUILT_GIVEN : TG_GUILT_REWIRED;
}

/* Returns TG_GUILT_INHERITED if an earlier task is to blame, or may be. */
static enum tg_guilt guilt_of_input(const struct tg_blame *blame, uint32_t task, uint64_t pair)
{
    const struct tg_diff *diff = blame->diff;
    uint64_t record = diff->match.pair[pair].a;
    struct tg_entry entry;
    if (record == TG_NONE || !tg_recording_get(diff->a.recording, record, &entry))
        return TG_GUILT_INHERITED;
    if (entry.record.kind == TG_KIND_SCALAR)
        return TG_GUILT_GIVEN;
    if (has_changed(diff->a.recording, &blame->flow_a, record) ||
        has_changed(diff->b.recording, &blame->flow_b, diff->match.pair[pair].b))
        return TG_GUILT_CHANGED;
    uint32_t event = blame->flow_a.of_record[record];
    if (entry.record.data_ptr != 0 && event != TG_NO_EVENT)
        return guilt_of_event(blame, &blame->flow_a.event[event]);
    return has_no_writer_before(blame, task) ? TG_GUILT_GIVEN : TG_GUILT_INHERITED;
}

static bool same_memory(const struct tg_diff *diff, uint64_t pair, uint64_t other)
{
    struct tg_entry a, b;
    return tg_recording_get(diff->a.recording, diff->match.pair[pair].a, &a) &&
           tg_recording_get(diff->a.recording, diff->match.pair[other].a, &b) &&
           a.record.kind == TG_KIND_TENSOR && b.record.kind == TG_KIND_TENSOR &&
           a.record.data_ptr == b.record.data_ptr && a.record.data_ptr != 0;
}

/* A tensor that many tasks read is reported once. */
static bool is_named(const struct tg_blame *blame, enum tg_guilt guilt, uint64_t pair)
{
    for (uint64_t i = 0; i < blame->n_suspects; i++)
        if (blame->suspect[i].guilt == guilt &&
            same_memory(blame->diff, pair, blame->suspect[i].pair))
            return true;
    return false;
}

static bool is_input(const struct tg_diff *diff, uint64_t pair)
{
    struct tg_entry entry;
    uint64_t record = diff->match.pair[pair].a;
    return record != TG_NONE && tg_recording_get(diff->a.recording, record, &entry) &&
           entry.record.stage == TG_BEFORE_DISPATCH;
}

static bool look_at_input(struct tg_blame *blame, uint32_t task, uint64_t pair)
{
    const struct tg_diff *diff = blame->diff;
    if (tg_blame_pair_state(diff, pair) != TG_STATE_DIFFERS || !is_input(diff, pair))
        return true;
    enum tg_guilt guilt = guilt_of_input(blame, task, pair);
    if (guilt == TG_GUILT_INHERITED || is_named(blame, guilt, pair))
        return true;
    struct tg_suspect suspect = {.guilt = guilt,
                                 .task = task,
                                 .pair = pair,
                                 .depth = blame->depth[task],
                                 .error = (double)diff->state[pair].error};
    return tg_blame_accuse(blame, &suspect);
}

bool tg_blame_find_sources(struct tg_blame *blame)
{
    const struct tg_match *match = &blame->diff->match;
    if (!map_records(blame))
        return false;
    for (uint32_t i = 0; i < match->n_tasks && blame->n_suspects < MOST_SOURCES; i++) {
        const struct tg_matched_task *task = &match->task[i];
        for (uint64_t k = 0; k < task->n_pairs && blame->task[i].input == TG_STATE_DIFFERS; k++)
            if (!look_at_input(blame, i, task->first_pair + k))
                return false;
    }
    return true;
}
