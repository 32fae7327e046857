/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/deps_flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "analysis/deps_graph.h"
#include "analysis/deps_memory.h"
#include "analysis/deps_sort.h"

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory to follow the data of a recording");
}

/* --- the order -------------------------------------------------------------------------------- */

/* What the replay needs of a record, so that each is read only once. */
struct brief {
    uint64_t time;
    uint64_t lo, hi; /* its bytes, if they are one run; otherwise equal */
    uint64_t view;   /* tg_view_key */
    uint64_t record;
    uint32_t row;
    bool is_write;
};

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

/* The row of each record; TG_NO_ROW for one that cannot be read. The caller frees it. */
static uint32_t *rows_of_records(const struct tg_tasks *tasks)
{
    uint32_t *row_of = malloc((size_t)(tasks->info.records + 1) * sizeof *row_of);
    for (uint64_t i = 0; row_of && i < tasks->info.records; i++)
        row_of[i] = TG_NO_ROW;
    for (uint32_t row = 0; row_of && row < tasks->n_rows; row++)
        for (uint64_t i = 0; i < tasks->row[row].count; i++)
            row_of[tasks->ref[tasks->row[row].first + i].index] = row;
    return row_of;
}

static void take_contents(struct tg_flow_contents *contents, const struct tg_record *record)
{
    if (record->bytes == 0)
        return;
    contents->tensors++;
    contents->payloads += record->stored > 0;
    contents->hashes += (record->flags & TG_RECORD_HASHED) != 0;
    contents->addresses += record->data_ptr != 0;
    contents->stored += record->stored;
}

/* Takes the tensors of tasks in the order of the records. For a tensor that was read after the run had
 * ended (PARTIAL), the time is that end. */
static uint32_t take_events(const struct tg_tasks *tasks, const uint32_t *row_of,
                            struct brief *brief, struct tg_flow *flow, bool *has_times)
{
    const struct tg_record *record;
    struct tg_entry entry;
    uint32_t count = 0;
    *has_times = true;
    for (uint64_t i = 0; i < tasks->info.records; i++) {
        if (row_of[i] == TG_NO_ROW || !tg_recording_get(tasks->recording, i, &entry))
            continue;
        record = &entry.record;
        if (record->stage == TG_STAGE_ORCHESTRATION || record->kind != TG_KIND_TENSOR)
            continue;
        bool is_late = record->flags & TG_RECORD_PARTIAL && record->time == 0;
        *has_times = *has_times && (record->time != 0 || is_late);
        struct brief *now = &brief[count++];
        *now = (struct brief){.time = is_late ? UINT64_MAX : record->time,
                              .view = tg_view_key(record),
                              .record = i,
                              .row = row_of[i],
                              .is_write = record->stage == TG_AFTER_COMPLETION};
        if (!tg_view_is_run(record, &now->lo, &now->hi))
            now->lo = now->hi = 0;
        take_contents(&flow->contents, record);
    }
    return count;
}

/* Numbers to sort by: the time, or the rank of the task and the stage. */
static bool make_keys(const struct tg_tasks *tasks, const struct brief *brief, uint32_t count,
                      bool by_time, struct tg_sorted *sorted)
{
    uint32_t *rank = by_time ? NULL : malloc(((size_t)tasks->n_rows + 1) * sizeof *rank);
    bool good = by_time || (rank && rank_rows(tasks, rank));
    for (uint32_t i = 0; good && i < count; i++)
        sorted[i] = (struct tg_sorted){
            by_time ? brief[i].time : (uint64_t)rank[brief[i].row] << 1 | brief[i].is_write, i};
    free(rank);
    return good;
}

/* Records with equal keys stay in the order of the recording. */
static bool put_in_order(const struct tg_tasks *tasks, const struct brief *brief,
                         struct tg_flow *flow, bool by_time, struct tg_sorted **sorted)
{
    size_t size = (size_t)flow->n_events + 1;
    struct tg_sorted *room = malloc(size * sizeof *room);
    *sorted = malloc(size * sizeof **sorted);
    bool good = room && *sorted && make_keys(tasks, brief, flow->n_events, by_time, *sorted);
    if (good)
        tg_sort_by_key(*sorted, room, flow->n_events);
    free(room);
    return good;
}

static bool make_events(const struct tg_tasks *tasks, struct tg_flow *flow, struct brief *brief)
{
    uint32_t *row_of = rows_of_records(tasks);
    struct tg_sorted *sorted = NULL;
    bool by_time = true, good = row_of != NULL;
    if (good) {
        flow->n_events = take_events(tasks, row_of, brief, flow, &by_time);
        flow->order = by_time ? "time" : tasks->deps ? "dependencies" : "task id";
    }
    free(row_of);
    good = good && put_in_order(tasks, brief, flow, by_time, &sorted);
    flow->event = good ? calloc((size_t)flow->n_events + 1, sizeof *flow->event) : NULL;
    flow->of_record = malloc((size_t)(tasks->info.records + 1) * sizeof *flow->of_record);
    good = flow->event && flow->of_record;
    for (uint64_t i = 0; good && i < tasks->info.records; i++)
        flow->of_record[i] = TG_NO_EVENT;
    for (uint32_t i = 0; good && i < flow->n_events; i++) {
        const struct brief *from = &brief[sorted[i].index];
        flow->event[i] = (struct tg_flow_event){.record = from->record,
                                                .time = from->time,
                                                .row = from->row,
                                                .is_write = from->is_write,
                                                .brief = sorted[i].index,
                                                .seen = TG_NO_EVENT};
        flow->of_record[from->record] = i;
    }
    free(sorted);
    return good;
}

/* --- the last event at the same bytes --------------------------------------------------------- */

/* A hash table by view. A slot has the number of the last event + 1; its view is in `brief`. */
struct sights {
    uint32_t *slot;
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

/* --- replaying the events --------------------------------------------------------------------- */

struct walk {
    struct tg_flow *flow;
    const struct brief *brief;
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

/* Enters the event as the last one of its view, and returns the one before it; TG_NO_EVENT. */
static uint32_t swap_sight(struct walk *walk, uint64_t view)
{
    struct sights *sights = &walk->sights;
    uint64_t at = view & (sights->n_slots - 1);
    for (; sights->slot[at] != 0; at = (at + 1) & (sights->n_slots - 1)) {
        uint32_t before = sights->slot[at] - 1;
        if (walk->brief[walk->flow->event[before].brief].view == view) {
            sights->slot[at] = walk->now + 1;
            return before;
        }
    }
    sights->slot[at] = walk->now + 1;
    return TG_NO_EVENT;
}

static void look_back(struct walk *walk, uint64_t view)
{
    struct tg_flow_event *event = &walk->flow->event[walk->now];
    event->seen = swap_sight(walk, view);
    uint32_t last =
        event->n_writers > 0 ? walk->flow->writer[event->first_writer + event->n_writers - 1] : 0;
    event->is_unchanged =
        event->seen != TG_NO_EVENT && (event->n_writers == 0 || last <= event->seen);
}

/* Calls `take` for the runs of the event's view; most have one, which is known. */
static bool take_runs(struct walk *walk, const struct tg_recording *recording,
                      const struct brief *brief, tg_run_fn take)
{
    struct tg_entry entry;
    if (brief->lo < brief->hi)
        return take(walk, brief->lo, brief->hi);
    return !tg_recording_get(recording, brief->record, &entry) ||
           tg_view_runs(&entry.record, take, walk);
}

static bool walk_event(struct walk *walk, const struct tg_recording *recording)
{
    struct tg_flow_event *event = &walk->flow->event[walk->now];
    const struct brief *brief = &walk->brief[event->brief];
    walk->n_found = 0;
    if (brief->view == 0) {
        event->is_outside = true; /* without an address the origin is unknown */
        return true;
    }
    if (!take_runs(walk, recording, brief, read_run) || !keep_writers(walk))
        return false;
    look_back(walk, brief->view);
    return !event->is_write || take_runs(walk, recording, brief, write_run);
}

/* Looks from time to time only. */
static bool is_enough(const bool *enough, uint32_t now)
{
    return enough && now % 4096 == 0 && __atomic_load_n(enough, __ATOMIC_RELAXED);
}

static bool walk_events(const struct tg_recording *recording, const bool *enough,
                        struct tg_flow *flow, const struct brief *brief)
{
    struct walk walk = {.flow = flow, .brief = brief};
    bool good = make_sights(&walk.sights, flow->n_events);
    tg_memory_init(&walk.memory);
    for (; good && walk.now < flow->n_events && !is_enough(enough, walk.now); walk.now++)
        good = walk_event(&walk, recording);
    tg_memory_free(&walk.memory);
    free(walk.sights.slot);
    free(walk.found);
    return good && !walk.no_memory;
}

tg_status tg_flow_make(const struct tg_tasks *tasks, struct tg_flow *flow, struct tg_error *error)
{
    return tg_flow_make_until(tasks, NULL, flow, error);
}

tg_status tg_flow_make_until(const struct tg_tasks *tasks, const bool *enough, struct tg_flow *flow,
                             struct tg_error *error)
{
    struct brief *brief = malloc((size_t)(tasks->n_refs + 1) * sizeof *brief);
    *flow = (struct tg_flow){.order = "time"};
    bool good = brief && tasks->n_refs < TG_NO_EVENT && make_events(tasks, flow, brief) &&
                walk_events(tasks->recording, enough, flow, brief);
    free(brief);
    if (good)
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
