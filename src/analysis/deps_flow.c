/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/deps_flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "analysis/deps_graph.h"
#include "analysis/deps_memory.h"

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory to follow the data of a recording");
}

/* --- the order -------------------------------------------------------------------------------- */

/* An event while the events are being sorted. */
struct placed {
    uint64_t key, second; /* time and record; or rank of the task, and stage */
    uint64_t record;
    uint64_t time;
    uint32_t row;
    bool is_write;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    if (left->second != right->second)
        return left->second < right->second ? -1 : 1;
    return (left->record > right->record) - (left->record < right->record);
}

static bool link_rows(const struct tg_tasks *tasks, struct tg_links *links)
{
    const struct tg_deps *deps = tasks->deps;
    uint64_t count = deps ? deps->n_edges : 0, at = 0;
    struct tg_link *link = malloc((size_t)(count + 1) * sizeof *link);
    if (!link)
        return false;
    for (uint32_t i = 0; deps && i < deps->n_tasks; i++)
        for (uint64_t k = 0; k < deps->task[i].n_edges; k++)
            link[at++] = (struct tg_link){
                tasks->of_deps[deps->before[deps->task[i].first_edge + k]], tasks->of_deps[i]};
    bool good = tg_links_make(tasks->n_rows, link, at, links);
    free(link);
    return good;
}

static bool rank_rows(const struct tg_tasks *tasks, uint32_t *rank)
{
    struct tg_links links;
    bool good = link_rows(tasks, &links) && tg_links_rank(&links, rank, NULL);
    tg_links_free(&links);
    return good;
}

/* Takes the tensors of tasks with their times. For a tensor that was read after the run had ended
 * (PARTIAL), the time is that end. */
static uint32_t take_events(const struct tg_tasks *tasks, struct placed *placed, bool *has_times)
{
    struct tg_entry entry;
    uint32_t count = 0;
    *has_times = true;
    for (uint32_t row = 0; row < tasks->n_rows; row++) {
        const struct tg_task_row *task = &tasks->row[row];
        for (uint64_t i = task->first; i < task->first + task->count; i++) {
            const struct tg_record *record = &entry.record;
            if (!tg_recording_get(tasks->recording, tasks->ref[i].index, &entry) ||
                record->stage == TG_STAGE_ORCHESTRATION || record->kind != TG_KIND_TENSOR)
                continue;
            bool is_late = record->flags & TG_RECORD_PARTIAL && record->time == 0;
            *has_times = *has_times && (record->time != 0 || is_late);
            placed[count++] = (struct placed){.record = tasks->ref[i].index,
                                              .time = is_late ? UINT64_MAX : record->time,
                                              .row = row,
                                              .is_write = record->stage == TG_AFTER_COMPLETION};
        }
    }
    return count;
}

static bool put_in_order(const struct tg_tasks *tasks, struct placed *placed, uint32_t count,
                         bool by_time)
{
    uint32_t *rank = by_time ? NULL : malloc(((size_t)tasks->n_rows + 1) * sizeof *rank);
    if (!by_time && (!rank || !rank_rows(tasks, rank))) {
        free(rank);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        placed[i].key = by_time ? placed[i].time : rank[placed[i].row];
        placed[i].second = by_time ? placed[i].record : placed[i].is_write;
    }
    qsort(placed, count, sizeof *placed, compare_placed);
    free(rank);
    return true;
}

static bool make_events(const struct tg_tasks *tasks, struct tg_flow *flow)
{
    struct placed *placed = malloc((size_t)(tasks->n_refs + 1) * sizeof *placed);
    bool by_time, good = placed && tasks->n_refs < TG_NO_EVENT;
    flow->event = calloc((size_t)tasks->n_refs + 1, sizeof *flow->event);
    flow->of_record = malloc((size_t)(tasks->info.records + 1) * sizeof *flow->of_record);
    good = good && flow->event && flow->of_record;
    if (good) {
        flow->n_events = take_events(tasks, placed, &by_time);
        flow->order = by_time ? "time" : tasks->deps ? "dependencies" : "task id";
        good = put_in_order(tasks, placed, flow->n_events, by_time);
    }
    for (uint64_t i = 0; good && i < tasks->info.records; i++)
        flow->of_record[i] = TG_NO_EVENT;
    for (uint32_t i = 0; good && i < flow->n_events; i++) {
        flow->event[i] = (struct tg_flow_event){.record = placed[i].record,
                                                .time = placed[i].time,
                                                .row = placed[i].row,
                                                .is_write = placed[i].is_write,
                                                .seen = TG_NO_EVENT};
        flow->of_record[placed[i].record] = i;
    }
    free(placed);
    return good;
}

/* --- the last event at the same bytes --------------------------------------------------------- */

struct sight {
    uint64_t key; /* of the view; 0: an empty slot */
    uint32_t event;
};

struct sights {
    struct sight *slot;
    uint64_t n_slots; /* a power of two, more than twice the number of events */
};

static bool make_sights(struct sights *sights, uint64_t events)
{
    sights->n_slots = 64;
    while (sights->n_slots < 2 * events)
        sights->n_slots *= 2;
    sights->slot = calloc((size_t)sights->n_slots, sizeof *sights->slot);
    return sights->slot != NULL;
}

/* Enters the event as the last one for this key, and returns the one before it; TG_NO_EVENT. */
static uint32_t swap_sight(struct sights *sights, uint64_t key, uint32_t event)
{
    uint64_t at = key & (sights->n_slots - 1);
    while (sights->slot[at].key != 0 && sights->slot[at].key != key)
        at = (at + 1) & (sights->n_slots - 1);
    struct sight *sight = &sights->slot[at];
    uint32_t before = sight->key == 0 ? TG_NO_EVENT : sight->event;
    *sight = (struct sight){key, event};
    return before;
}

/* --- replaying the events --------------------------------------------------------------------- */

struct walk {
    struct tg_flow *flow;
    struct tg_memory memory;
    struct sights sights;
    uint32_t now;    /* the event being replayed */
    uint32_t *found; /* the writers found for it so far */
    uint32_t n_found;
    size_t found_room, writer_room;
    bool no_memory;
};

static bool take_writer(void *context, uint64_t lo, uint64_t hi, uint32_t writer)
{
    struct walk *walk = context;
    (void)lo, (void)hi;
    if (writer == TG_NO_WRITER) {
        walk->flow->event[walk->now].is_outside = true;
        return true;
    }
    if (walk->n_found > 0 && walk->found[walk->n_found - 1] == writer)
        return true;
    if (!tg_grow(&walk->found, &walk->found_room, (size_t)walk->n_found + 1, sizeof *walk->found)) {
        walk->no_memory = true;
        return false;
    }
    walk->found[walk->n_found++] = writer;
    return true;
}

static bool read_run(void *context, uint64_t lo, uint64_t hi)
{
    struct walk *walk = context;
    return tg_memory_read(&walk->memory, lo, hi, take_writer, walk);
}

static bool write_run(void *context, uint64_t lo, uint64_t hi)
{
    struct walk *walk = context;
    walk->no_memory = !tg_memory_write(&walk->memory, lo, hi, walk->now);
    return !walk->no_memory;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static bool make_writer_room(struct walk *walk)
{
    struct tg_flow *flow = walk->flow;
    return tg_grow(&flow->writer, &walk->writer_room, (size_t)(flow->n_writers + walk->n_found),
                   sizeof *flow->writer);
}

static bool keep_writers(struct walk *walk)
{
    struct tg_flow *flow = walk->flow;
    struct tg_flow_event *event = &flow->event[walk->now];
    if (!make_writer_room(walk))
        return false;
    if (walk->n_found > 1)
        qsort(walk->found, walk->n_found, sizeof *walk->found, compare_numbers);
    event->first_writer = flow->n_writers;
    for (uint32_t i = 0; i < walk->n_found; i++)
        if (i == 0 || walk->found[i] != walk->found[i - 1])
            flow->writer[flow->n_writers++] = walk->found[i];
    event->n_writers = (uint32_t)(flow->n_writers - event->first_writer);
    return true;
}

static void look_back(struct walk *walk, uint64_t key)
{
    struct tg_flow_event *event = &walk->flow->event[walk->now];
    event->seen = swap_sight(&walk->sights, key, walk->now);
    uint32_t last =
        event->n_writers > 0 ? walk->flow->writer[event->first_writer + event->n_writers - 1] : 0;
    event->is_unchanged =
        event->seen != TG_NO_EVENT && (event->n_writers == 0 || last <= event->seen);
}

static bool walk_event(struct walk *walk, const struct tg_recording *recording)
{
    struct tg_flow_event *event = &walk->flow->event[walk->now];
    struct tg_entry entry;
    walk->n_found = 0;
    if (!tg_recording_get(recording, event->record, &entry))
        return true;
    uint64_t key = tg_view_key(&entry.record);
    if (key == 0) {
        event->is_outside = true; /* without an address the origin is unknown */
        return true;
    }
    if (!tg_view_runs(&entry.record, read_run, walk) || !keep_writers(walk))
        return false;
    look_back(walk, key);
    return !event->is_write || tg_view_runs(&entry.record, write_run, walk);
}

static bool walk_events(const struct tg_recording *recording, struct tg_flow *flow)
{
    struct walk walk = {.flow = flow};
    bool good = make_sights(&walk.sights, flow->n_events);
    tg_memory_init(&walk.memory);
    for (; good && walk.now < flow->n_events; walk.now++)
        good = walk_event(&walk, recording);
    tg_memory_free(&walk.memory);
    free(walk.sights.slot);
    free(walk.found);
    return good && !walk.no_memory;
}

tg_status tg_flow_make(const struct tg_tasks *tasks, struct tg_flow *flow, struct tg_error *error)
{
    *flow = (struct tg_flow){.order = "time"};
    if (make_events(tasks, flow) && walk_events(tasks->recording, flow))
        return TG_OK;
    tg_flow_free(flow);
    return no_memory(error);
}

void tg_flow_free(struct tg_flow *flow)
{
    free(flow->event);
    free(flow->writer);
    free(flow->of_record);
    *flow = (struct tg_flow){0};
}
