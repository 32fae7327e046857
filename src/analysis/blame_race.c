/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that use the same bytes, one of them writing, without an order between them in deps.json.
 * Without a deps.json two tasks have no order if they ran at the same time.
 *
 * Records are made before a task starts and after it ends. What a task reads or writes in between
 * is not recorded, so a task that overlaps it in time may have changed what it saw.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/blame.h"
#include "analysis/deps_memory.h"
#include "analysis/overlap.h"
#include "base/grow.h"

/* Of an input with more writers only the first are looked at. */
enum { MOST_WRITERS = 64 };

bool tg_blame_waits(struct tg_blame *blame, int number, uint32_t before, uint32_t after)
{
    struct tg_blame_side *side = &blame->side[number];
    uint32_t from = side->tasks->row[before].deps, to = side->tasks->row[after].deps;
    if (!side->tasks->deps || from == TG_NO_ROW || to == TG_NO_ROW)
        return false;
    side->order.deps = side->tasks->deps;
    return tg_order_waits(&side->order, from, to);
}

/* --- later writers, and times ----------------------------------------------------------------- */

struct walk {
    struct tg_blame_later *later;
    struct tg_memory memory;
    uint32_t now, *found;
    uint32_t n_found;
    size_t room;
};

static bool take_writer(void *context, uint64_t lo, uint64_t hi, uint32_t writer)
{
    struct walk *walk = context;
    (void)lo, (void)hi;
    if (writer == TG_NO_WRITER || (walk->n_found > 0 && walk->found[walk->n_found - 1] == writer) ||
        walk->n_found == MOST_WRITERS)
        return true;
    if (!tg_grow(&walk->found, &walk->room, (size_t)walk->n_found + 1, sizeof *walk->found))
        return false;
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
    return tg_memory_write(&walk->memory, lo, hi, walk->now);
}

/* Events are visited from the last to the first, so the lists fill from the end of `first`. */
static bool walk_event(struct walk *walk, const struct tg_blame_side *side)
{
    struct tg_blame_later *later = walk->later;
    const struct tg_flow_event *event = &side->flow->event[walk->now];
    struct tg_entry entry;
    walk->n_found = 0;
    later->first[walk->now] = later->n_writers;
    if (!tg_recording_get(side->tasks->recording, event->record, &entry))
        return true;
    if (!tg_view_runs(&entry.record, read_run, walk) ||
        !tg_grow(&later->writer, &later->room, (size_t)later->n_writers + walk->n_found,
                 sizeof *later->writer))
        return false;
    if (walk->n_found > 0)
        memcpy(later->writer + later->n_writers, walk->found, walk->n_found * sizeof *walk->found);
    later->n_writers += walk->n_found;
    return !event->is_write || tg_view_runs(&entry.record, write_run, walk);
}

static void read_times(struct tg_blame_later *later, const struct tg_blame_side *side)
{
    bool by_time = strcmp(side->flow->order, "time") == 0;
    for (uint32_t i = 0; by_time && i < side->flow->n_events; i++) {
        const struct tg_flow_event *event = &side->flow->event[i];
        uint64_t *begin = &later->begin[event->row];
        if (!event->is_write && (*begin == 0 || event->time < *begin))
            *begin = event->time;
        if (event->time > later->end[event->row])
            later->end[event->row] = event->time;
    }
}

/* later->first[i] is where the list of event i begins; it ends where that of event i - 1 begins. */
static bool find_later(struct tg_blame_side *side)
{
    struct tg_blame_later *later = &side->later;
    struct walk walk = {.later = later};
    size_t rows = side->tasks->n_rows;
    if (later->first)
        return true;
    later->first = malloc(((size_t)side->flow->n_events + 1) * sizeof *later->first);
    later->begin = calloc(rows + 1, sizeof *later->begin);
    later->end = calloc(rows + 1, sizeof *later->end);
    bool good = later->first && later->begin && later->end;
    tg_memory_init(&walk.memory);
    for (uint32_t i = side->flow->n_events; good && i > 0; i--) {
        walk.now = i - 1;
        good = walk_event(&walk, side);
    }
    tg_memory_free(&walk.memory);
    free(walk.found);
    if (good)
        read_times(later, side);
    return good;
}

/* --- two tasks -------------------------------------------------------------------------------- */

/* True if the times show that the two ran at the same time. */
static bool ran_together(const struct tg_blame_side *side, uint32_t row, uint32_t other)
{
    const struct tg_blame_later *later = &side->later;
    return later->begin[row] && later->begin[other] && later->begin[row] < later->end[other] &&
           later->begin[other] < later->end[row];
}

static bool has_no_order(struct tg_blame *blame, int number, uint32_t row, uint32_t other)
{
    const struct tg_blame_side *side = &blame->side[number];
    if (row == other)
        return false;
    if (!side->tasks->deps)
        return ran_together(side, row, other);
    if (side->tasks->deps->lost > 0 || side->tasks->row[row].deps == TG_NO_ROW ||
        side->tasks->row[other].deps == TG_NO_ROW)
        return false;
    return !tg_blame_waits(blame, number, row, other) && !tg_blame_waits(blame, number, other, row);
}

static bool share_bytes(const struct tg_blame *blame, int number, uint32_t event, uint32_t other)
{
    const struct tg_blame_side *side = &blame->side[number];
    struct tg_entry a, b;
    return tg_recording_get(side->tasks->recording, side->flow->event[event].record, &a) &&
           tg_recording_get(side->tasks->recording, side->flow->event[other].record, &b) &&
           tg_records_overlap(&a.record, &b.record);
}

/* Of two tasks without an order, the one that waits in the other run should have waited. If neither
 * does there, it is the one that was submitted later. */
static struct tg_blame_race make_race(struct tg_blame *blame, int number, uint32_t row,
                                      uint32_t other)
{
    const struct tg_blame_side *side = &blame->side[number];
    uint32_t task = side->task_of[row], first = side->task_of[other];
    uint32_t there = tg_blame_row(blame, task, 1 - number);
    uint32_t first_there = tg_blame_row(blame, first, 1 - number);
    bool both = there != TG_NO_ROW && first_there != TG_NO_ROW;
    bool is_turned = row < other;
    if (both && tg_blame_waits(blame, 1 - number, there, first_there))
        is_turned = true;
    else if (both && tg_blame_waits(blame, 1 - number, first_there, there))
        is_turned = false;
    return is_turned ? (struct tg_blame_race){first, task} : (struct tg_blame_race){task, first};
}

/* Looks whether two events of one side race. */
static bool is_race(struct tg_blame *blame, int number, uint32_t event, uint32_t other,
                    struct tg_blame_race *race)
{
    const struct tg_flow *flow = blame->side[number].flow;
    uint32_t row = flow->event[event].row, row_other = flow->event[other].row;
    if (!has_no_order(blame, number, row, row_other) || !share_bytes(blame, number, event, other))
        return false;
    *race = make_race(blame, number, row, row_other);
    return true;
}

/* --- an input --------------------------------------------------------------------------------- */

/* Events of one side, of which the first MOST_WRITERS are kept. */
struct events {
    uint32_t item[MOST_WRITERS];
    uint32_t count;
};

static void add_event(struct events *events, uint32_t event)
{
    for (uint32_t i = 0; i < events->count; i++)
        if (events->item[i] == event)
            return;
    if (events->count < MOST_WRITERS && event != TG_NO_EVENT)
        events->item[events->count++] = event;
}

static bool is_in(const struct events *events, uint32_t event)
{
    for (uint32_t i = 0; i < events->count; i++)
        if (events->item[i] == event)
            return true;
    return false;
}

struct wanted {
    const struct tg_blame *blame;
    int side; /* to which the writers are carried over */
    struct events events;
};

static bool take_own(void *context, uint32_t task, uint64_t pair, uint32_t event)
{
    struct wanted *wanted = context;
    (void)task, (void)pair;
    add_event(&wanted->events, event);
    return true;
}

/* The event that the partner of a writer is on the other side. */
static bool take_partner(void *context, uint32_t task, uint64_t pair, uint32_t event)
{
    struct wanted *wanted = context;
    (void)task, (void)event;
    uint64_t record =
        pair == TG_NONE ? TG_NONE : tg_blame_record(wanted->blame, pair, wanted->side);
    if (record != TG_NONE)
        add_event(&wanted->events, wanted->blame->side[wanted->side].flow->of_record[record]);
    return true;
}

/* What an input of one side consists of, and what it should consist of according to the other. */
struct supply {
    uint32_t reader; /* its event */
    struct events is, should_be;
};

static bool find_supply(const struct tg_blame *blame, int side, uint64_t pair,
                        struct supply *supply)
{
    uint64_t record = tg_blame_record(blame, pair, side);
    struct wanted own = {.blame = blame, .side = side}, other = own;
    if (!tg_blame_event(blame, side, record))
        return false;
    tg_blame_writers(blame, side, record, take_own, &own);
    tg_blame_writers(blame, 1 - side, tg_blame_record(blame, pair, 1 - side), take_partner, &other);
    *supply = (struct supply){blame->side[side].flow->of_record[record], own.events, other.events};
    return true;
}

/* A writer that came before the reader on one side only, in no order with it. */
static bool races_with_reader(struct tg_blame *blame, int side, const struct supply *supply,
                              struct tg_blame_race *race)
{
    const struct tg_blame_later *later = &blame->side[side].later;
    const struct tg_flow *flow = blame->side[side].flow;
    for (uint32_t i = 0; i < supply->is.count; i++)
        if (!is_in(&supply->should_be, supply->is.item[i]) &&
            is_race(blame, side, supply->reader, supply->is.item[i], race))
            return true;
    for (uint32_t i = 0; i < supply->should_be.count; i++)
        if (!is_in(&supply->is, supply->should_be.item[i]) &&
            is_race(blame, side, supply->reader, supply->should_be.item[i], race))
            return true;
    /* A task that began to write before the input was recorded, and ended later. */
    uint64_t end = supply->reader > 0 ? later->first[supply->reader - 1] : later->n_writers;
    for (uint64_t k = later->first[supply->reader]; k < end; k++) {
        uint64_t begin = later->begin[flow->event[later->writer[k]].row];
        if (begin && begin < flow->event[supply->reader].time &&
            is_race(blame, side, supply->reader, later->writer[k], race))
            return true;
    }
    return false;
}

/* Two writers, of which another one came last on each side. */
static bool writers_race(struct tg_blame *blame, int side, const struct supply *supply,
                         struct tg_blame_race *race)
{
    for (uint32_t i = 0; i < supply->is.count; i++)
        for (uint32_t k = 0; k < supply->should_be.count; k++)
            if (!is_in(&supply->should_be, supply->is.item[i]) &&
                !is_in(&supply->is, supply->should_be.item[k]) &&
                is_race(blame, side, supply->is.item[i], supply->should_be.item[k], race))
                return true;
    return false;
}

bool tg_blame_input_race(struct tg_blame *blame, uint32_t task, uint64_t pair,
                         struct tg_blame_race *race, bool *found)
{
    struct supply supply;
    (void)task;
    *found = false;
    for (int side = 0; side < 2 && !*found; side++) {
        if (!find_later(&blame->side[side]))
            return false;
        *found = find_supply(blame, side, pair, &supply) &&
                 (races_with_reader(blame, side, &supply, race) ||
                  writers_race(blame, side, &supply, race));
    }
    return true;
}

/* --- a task ----------------------------------------------------------------------------------- */

/* An event of a task, and a write of the same bytes by another one: a race if the other task may
 * have written while this one ran. */
static bool disturbs(struct tg_blame *blame, int side, uint32_t event, uint32_t write,
                     struct tg_blame_race *race)
{
    const struct tg_blame_side *of = &blame->side[side];
    uint32_t row = of->flow->event[event].row, other = of->flow->event[write].row;
    return ran_together(of, row, other) && is_race(blame, side, event, write, race);
}

static bool event_races(struct tg_blame *blame, int side, uint32_t event,
                        struct tg_blame_race *race)
{
    const struct tg_flow *flow = blame->side[side].flow;
    const struct tg_blame_later *later = &blame->side[side].later;
    const struct tg_flow_event *at = &flow->event[event];
    uint64_t end = event > 0 ? later->first[event - 1] : later->n_writers;
    for (uint64_t k = later->first[event]; k < end; k++)
        if (disturbs(blame, side, event, later->writer[k], race))
            return true;
    for (uint32_t k = 0; k < at->n_writers && k < MOST_WRITERS; k++)
        if (disturbs(blame, side, event, flow->writer[at->first_writer + k], race))
            return true;
    return false;
}

bool tg_blame_task_race(struct tg_blame *blame, uint32_t task, struct tg_blame_race *race,
                        bool *found)
{
    const struct tg_matched_task *matched = &blame->diff->match.task[task];
    *found = false;
    for (int side = 0; side < 2; side++) {
        if (!find_later(&blame->side[side]))
            return false;
        for (uint64_t i = 0; i < matched->n_pairs && !*found; i++) {
            uint64_t record = tg_blame_record(blame, matched->first_pair + i, side);
            if (tg_blame_event(blame, side, record))
                *found = event_races(blame, side, blame->side[side].flow->of_record[record], race);
        }
    }
    return true;
}
