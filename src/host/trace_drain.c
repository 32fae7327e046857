/* SPDX-License-Identifier: Apache-2.0 */
#include "host/trace_drain.h"
#include "common/atomic.h"
#include "common/stream_word.h"
#include <stddef.h>
#include <string.h>

/* How often to read a word that is not whole. */
enum { TRIES = 4 };

void tg_trace_drain_init(struct tg_trace_drain *d, const struct tg_trace_area *area, uint32_t index,
                         struct tg_spool *spool, struct tg_trace_room *room)
{
    *d = (struct tg_trace_drain){.area = area,
                                 .spool = spool,
                                 .room = room,
                                 .address = tg_trace_area_stream(area, index),
                                 .index = index};
}

/* ── memory shared with the device ─────────────────────────────────────────────────────── */

/* The host's address of the memory; NULL if the host copies it instead. */
static void *mapping(const struct tg_trace_drain *d, uint64_t address, uint64_t size)
{
    return d->area->copied ? NULL : tg_device_map(d->area->device, address, size);
}

static bool load(struct tg_trace_drain *d, uint64_t address, uint64_t *word)
{
    const uint64_t *mapped = mapping(d, address, sizeof *mapped);
    if (mapped != NULL) {
        *word = tg_load_acquire(mapped);
        return true;
    }
    if (tg_device_copy_out(d->area->device, word, address, sizeof *word, NULL) != TG_OK)
        return false;
    tg_fence_host(); /* the copy acquires nothing */
    return true;
}

/* How many events the device has written (T1). What cannot be is ignored, and the next pass looks again. */
static uint64_t read_written(struct tg_trace_drain *d)
{
    uint64_t word, value;
    for (int i = 0; i < TRIES; i++) {
        if (!load(d, d->address + offsetof(struct tg_trace_head, written), &word)) {
            d->gone = true;
            return d->read;
        }
        if (tg_word_open(word, &value))
            return value >= d->read && value - d->read <= d->area->setup.n_events ? value : d->read;
    }
    return d->read;
}

/* Gives the room of the events that were read back to the device (T2). */
static void write_freed(struct tg_trace_drain *d)
{
    uint64_t address = d->address + offsetof(struct tg_trace_head, freed);
    uint64_t word = tg_word_seal(d->read), *mapped = mapping(d, address, sizeof word);
    if (mapped != NULL) {
        tg_store_release(mapped, word);
        return;
    }
    tg_fence_host(); /* the copy releases nothing */
    tg_device_copy_in(d->area->device, address, &word, sizeof word, NULL);
}

/* Copies the next `n` events, which do not cross the end of the circle. */
static bool copy_events(struct tg_trace_drain *d, uint64_t n)
{
    uint64_t size = n * sizeof(struct tg_trace_event);
    uint64_t address = d->address + sizeof(struct tg_trace_head) +
                       d->read % d->area->setup.n_events * sizeof(struct tg_trace_event);
    const void *mapped = mapping(d, address, size);
    if (mapped != NULL) {
        memcpy(d->room->from, mapped, size);
        return true;
    }
    return tg_device_copy_out(d->area->device, d->room->from, address, size, NULL) == TG_OK;
}

/* ── what events mean ──────────────────────────────────────────────────────────────────── */

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void look_at_clock(struct tg_trace_room *room, const struct tg_trace_event *e)
{
    if (e->end > room->latest)
        room->latest = e->end;
    if (room->step != 1 && e->end > e->begin)
        room->step = gcd(e->end - e->begin, room->step);
}

static bool take_task(struct tg_trace_drain *d, const struct tg_trace_event *e,
                      struct tg_spool_event *to)
{
    if (e->worker != d->index || e->part >= TG_PARTS || e->end < e->begin)
        return false;
    to->at = e->ready < e->begin ? e->ready : e->begin;
    if (e->ready == 0)
        to->at = TG_SPOOL_NO_TIME;
    if (e->task_id < d->room->n_ended && d->room->ended[e->task_id] < e->end)
        d->room->ended[e->task_id] = e->end;
    to->core = e->worker;
    to->number = e->kernel;
    to->part = e->part;
    d->any = true;
    d->room->tasks++;
    look_at_clock(d->room, e);
    return true;
}

/* A scope begins and is kept here until it ends. False: there is nothing to add to the spool. */
static bool take_scope(struct tg_trace_drain *d, const struct tg_trace_event *e,
                       struct tg_spool_event *to)
{
    if (e->part >= TG_TRACE_DEPTH || e->part > d->depth || (e->end != 0 && e->end < e->begin)) {
        d->room->corrupt++;
        return false;
    }
    to->core = e->kernel;
    to->number = e->worker;
    to->part = e->part;
    d->depth = e->part;
    if (e->end != 0)
        return true;
    d->scope[d->depth++] = *to;
    return false;
}

/* Turns an event into one of the spool. False if it is not one for the spool. */
static bool take(struct tg_trace_drain *d, const struct tg_trace_event *e,
                 struct tg_spool_event *to)
{
    bool is_lane = d->index < d->area->device->head.n_lanes;
    *to = (struct tg_spool_event){
        .id = e->task_id, .begin = e->begin, .end = e->end, .type = e->type};
    if (is_lane != (e->type == TG_TRACE_TASK)) {
        d->room->corrupt++;
        return false;
    }
    switch (e->type) {
    case TG_TRACE_TASK:
        if (take_task(d, e, to))
            return true;
        break;
    case TG_TRACE_SUBMIT:
        to->number = e->worker;
        return true;
    case TG_TRACE_EDGE:
        to->at = e->ready;
        to->part = e->part;
        return true;
    case TG_TRACE_WAIT:
        to->core = e->kernel;
        to->number = e->worker;
        to->part = e->part;
        return true;
    case TG_TRACE_SCOPE:
        return take_scope(d, e, to);
    case TG_TRACE_RINGS:
        to->at = e->ready;
        to->core = e->part;
        to->number = e->kernel;
        return true;
    }
    d->room->corrupt++;
    return false;
}

TG_WIRE_ASSERT((int)TG_TRACE_TASK == (int)TG_SPOOL_TASK);
TG_WIRE_ASSERT((int)TG_TRACE_SUBMIT == (int)TG_SPOOL_SUBMIT);
TG_WIRE_ASSERT((int)TG_TRACE_EDGE == (int)TG_SPOOL_EDGE);
TG_WIRE_ASSERT((int)TG_TRACE_WAIT == (int)TG_SPOOL_WAIT);
TG_WIRE_ASSERT((int)TG_TRACE_SCOPE == (int)TG_SPOOL_SCOPE);
TG_WIRE_ASSERT((int)TG_TRACE_RINGS == (int)TG_SPOOL_RINGS);
TG_WIRE_ASSERT((int)TG_TRACE_RECORDER == (int)TG_SPOOL_RECORDER);

/* ── draining ──────────────────────────────────────────────────────────────────────────── */

uint64_t tg_trace_drain_run(struct tg_trace_drain *d)
{
    uint64_t written = read_written(d), before = d->read;
    while (d->read < written) {
        uint64_t n = written - d->read;
        uint64_t to_end = d->area->setup.n_events - d->read % d->area->setup.n_events;
        size_t taken = 0;
        n = n < to_end ? n : to_end;
        n = n < TG_TRACE_BATCH ? n : TG_TRACE_BATCH;
        if (!copy_events(d, n)) {
            d->gone = true;
            break;
        }
        d->read += n;
        write_freed(d);
        for (uint64_t i = 0; i < n; i++)
            taken += take(d, &d->room->from[i], &d->room->to[taken]);
        tg_spool_add_many(d->spool, d->room->to, taken);
        d->room->events += taken;
    }
    return d->read - before;
}

/* ── a device that died ────────────────────────────────────────────────────────────────── */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void tg_trace_drain_add_running(struct tg_trace_drain *d, const struct tg_worker_status *status,
                                uint64_t now)
{
    struct tg_spool_event to;
    struct tg_trace_event *e = &d->room->from[0];
    if (status->running == 0 || !copy_events(d, 1))
        return;
    /* The lane fills in the event that it will publish: it has no end, and is the task in question.
     * Otherwise the task has not begun, has ended, or there was no room for it. */
    if (e->end != 0 || e->type != TG_TRACE_TASK || e->task_id != status->task_id)
        return;
    e->end = later(now, e->begin);
    if (!take(d, e, &to))
        return;
    to.flags = TG_SPOOL_PARTIAL;
    tg_spool_add(d->spool, &to);
    d->room->events++;
}

void tg_trace_drain_end_scopes(struct tg_trace_drain *d, uint64_t now)
{
    while (d->depth > 0) {
        struct tg_spool_event *scope = &d->scope[--d->depth];
        scope->end = later(now, scope->begin);
        scope->flags = TG_SPOOL_PARTIAL;
        tg_spool_add(d->spool, scope);
        d->room->events++;
    }
}
