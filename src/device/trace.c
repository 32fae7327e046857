/* SPDX-License-Identifier: Apache-2.0 */
#include "device/trace.h"
#include "common/stream_word.h"
#include "device/comm.h"
#include "device/core.h"
#include "device/host_wait.h"
#include "device/recorder.h"
#include "device/target.h"

/* ── the stream ────────────────────────────────────────────────────────────────────────── */

TG_FN struct tg_tracer *tg_tracer_of(struct tg_engine *e, const struct tg_worker *worker)
{
    uint32_t orchestrator = tg_engine_orchestrator(e);
    return &e->tracers[worker->index == orchestrator ? e->n_lanes : worker->index];
}

TG_FN void tg_trace_open(struct tg_engine *e, uint32_t worker)
{
    const struct tg_trace_setup *setup = e->trace;
    uint32_t index = worker == tg_engine_orchestrator(e) ? e->n_lanes : worker;
    struct tg_tracer *t = &e->tracers[index];
    if (index > e->n_lanes || index >= setup->n_streams)
        return; /* a scheduler runs nothing */
    t->head = TG_DEVICE_PTR(struct tg_trace_head, setup->streams + index * setup->stream_size);
    t->events = (struct tg_trace_event *)(t->head + 1);
    t->mask = setup->n_events - 1;
    t->next = 0;
    t->limit = setup->n_events;
    t->gave_up = false;
    t->lost = t->wait_ns = 0;
}

/* Looks how far the host has read. A value that cannot be is ignored: the host may be in the middle of
 * writing it. */
TG_FN static bool has_room(struct tg_tracer *t)
{
    uint64_t freed;
    if (tg_word_open(tg_load_acquire_host(&t->head->freed), &freed) && freed <= t->next && /* T2 */
        freed + t->mask + 1 > t->limit)
        t->limit = freed + t->mask + 1;
    return t->next != t->limit;
}

/* Waits, up to the limit, while the host drains. After the first timeout a worker only checks: a host
 * that has stopped must not cost the limit again for every event. */
TG_FN static bool make_room(struct tg_engine *e, struct tg_tracer *t)
{
    const struct tg_trace_setup *setup = e->trace;
    struct tg_host_wait wait;
    bool there;
    tg_store_release_host(&t->head->written, tg_word_seal(t->next)); /* T1: those that were kept */
    there = has_room(t);
    if (there || t->gave_up) {
        t->gave_up = !there;
        return there;
    }
    tg_host_wait_begin(&wait, setup->pulse, setup->pulse_ns, setup->wait_limit_ns);
    while (!there && tg_host_wait_goes_on(e, &wait)) {
        tg_wait_nap();
        there = has_room(t);
        tg_host_wait_count(&wait);
    }
    t->wait_ns += wait.now - wait.began;
    tg_store_relaxed_host(&t->head->wait_ns, t->wait_ns);
    t->gave_up = !there;
    return there;
}

TG_FN struct tg_trace_event *tg_trace_slot(struct tg_engine *e, struct tg_tracer *t)
{
    if (t->next == t->limit && !make_room(e, t)) {
        tg_store_relaxed_host(&t->head->lost, ++t->lost);
        return 0;
    }
    return &t->events[t->next & t->mask];
}

TG_FN void tg_trace_publish(struct tg_tracer *t)
{
    tg_store_release_host(&t->head->written, tg_word_seal(++t->next)); /* T1 */
}

/* ── ready times ───────────────────────────────────────────────────────────────────────── */

TG_FN void tg_trace_raise(struct tg_engine *e, uint32_t task, uint64_t time)
{
    uint64_t *ready = &e->ready[task];
    uint64_t before = tg_load_relaxed(ready); /* T3 */
    while (before < time && !tg_cas_relaxed(ready, &before, time))
        ;
}

TG_FN static void raise_waiting(struct tg_engine *e, const struct tg_task_desc *done, uint64_t end)
{
    /* E1: the entries of the list. They stay until this task has released those that wait for it. */
    for (uint32_t entry = tg_load_acquire(&done->succ); entry != TG_DEP_NONE;
         entry = e->deps[entry].next)
        tg_trace_raise(e, e->deps[entry].task, end);
}

/* ── tasks ─────────────────────────────────────────────────────────────────────────────── */

TG_FN static struct tg_trace_event *begin(struct tg_engine *e, struct tg_tracer *t,
                                          const struct tg_worker *lane, uint32_t task,
                                          uint32_t part)
{
    const struct tg_task_desc *desc = &e->desc[task];
    struct tg_trace_event *event = tg_trace_slot(e, t);
    if (event == 0)
        return 0;
    event->task_id = desc->id;
    event->ready = e->ready ? tg_load_relaxed(&e->ready[task]) : 0; /* T3 */
    event->end = 0; /* tells a host that it has not ended */
    event->kernel = desc->kernel[part];
    event->worker = (uint16_t)lane->index;
    event->part = (uint8_t)part;
    event->type = TG_TRACE_TASK;
    event->begin = tg_target_now();
    return event;
}

TG_FN static uint64_t end(struct tg_tracer *t, struct tg_trace_event *event)
{
    uint64_t now = tg_target_now();
    if (event) {
        event->end = now;
        tg_trace_publish(t);
    }
    return now;
}

/* A call has no kernel: the event of its task is that of its end. */
TG_FN static void call(struct tg_engine *e, struct tg_worker *lane, uint32_t task, uint32_t part)
{
    if (!(e->watch & TG_WATCH_CALLS) || !tg_comm_is_call(e, task))
        tg_core_call(e, lane, task, part);
}

TG_FN void tg_watch_call_part(struct tg_engine *e, struct tg_worker *lane, uint32_t task,
                              uint32_t part)
{
    struct tg_tracer *t = &e->tracers[lane->index];
    struct tg_trace_event *event;
    uint64_t ended;
    if (!tg_trace_is_on(e)) {
        call(e, lane, task, part);
        return;
    }
    event = begin(e, t, lane, task, part);
    call(e, lane, task, part);
    ended = end(t, event);
    if (e->ready)
        raise_waiting(e, &e->desc[task], ended);
}

TG_FN bool tg_watch_call(struct tg_engine *e, struct tg_worker *lane, uint32_t task, uint32_t part)
{
    bool is_call = (e->watch & TG_WATCH_CALLS) && tg_comm_is_call(e, task);
    bool is_new = !is_call || tg_comm_is_new(e, task);
    if (is_new && tg_record_is_on(e))
        tg_record_stage(e, lane, task, TG_BEFORE_DISPATCH);
    if (is_call && is_new) {
        tg_comm_post(e, task);
        return false;
    }
    tg_watch_call_part(e, lane, task, part);
    if (tg_record_is_on(e))
        tg_record_stage(e, lane, task, TG_AFTER_COMPLETION);
    if (is_call)
        tg_comm_close(e, task);
    return true;
}
