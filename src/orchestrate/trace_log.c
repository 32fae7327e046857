/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/trace_log.h"
#include "device/target.h"

/* Besides scopes and waits, every so many submits show what the rings hold. */
enum { SUBMITS_PER_SAMPLE = 64 };

TG_FN void tg_trace_log_open(struct tg_orchestrator *self)
{
    self->tracer = tg_tracer_of(self->e, self->self);
    self->traced_until = tg_target_now();
}

/* An event that begins and ends then, with the members that not every type has at 0. */
TG_FN static struct tg_trace_event *event_at(struct tg_orchestrator *self, uint32_t type,
                                             uint64_t begin, uint64_t end)
{
    struct tg_trace_event *event = tg_trace_slot(self->e, self->tracer);
    if (event == 0)
        return 0;
    event->task_id = event->ready = 0;
    event->begin = begin;
    event->end = end;
    event->kernel = 0;
    event->worker = 0;
    event->part = 0;
    event->type = (uint8_t)type;
    return event;
}

TG_FN static void sample(struct tg_orchestrator *self, uint32_t r, uint64_t now)
{
    const struct tg_ring_cursors *at = self->ring[r].at;
    struct tg_trace_event *event = event_at(self, TG_TRACE_RINGS, now, at->dep_head - at->dep_tail);
    if (event == 0)
        return;
    event->task_id = at->head - at->tail;
    event->ready = at->heap_head - at->heap_tail;
    event->kernel = self->finds_edges ? self->map.live : 0;
    event->part = (uint8_t)r;
    tg_trace_publish(self->tracer);
}

TG_FN void tg_trace_log_submit(struct tg_orchestrator *self)
{
    const struct tg_task_desc *desc = &self->e->desc[self->task];
    uint64_t now = tg_target_now();
    struct tg_trace_event *event = event_at(self, TG_TRACE_SUBMIT, self->traced_until, now);
    if (self->deps.n_linked > 0)
        tg_trace_raise(self->e, self->task, now);
    else                                                    /* no lane knows the task */
        tg_store_relaxed(&self->e->ready[self->task], now); /* T3 */
    self->traced_until = now;
    if (event) {
        event->task_id = desc->id;
        event->worker = (uint16_t)desc->site;
        tg_trace_publish(self->tracer);
    }
    if (self->submitted % SUBMITS_PER_SAMPLE == 0)
        sample(self, tg_current_scope(self)->ring, now);
}

TG_FN void tg_trace_log_wait(struct tg_orchestrator *self, enum tg_resource resource, uint64_t task,
                             uint64_t began, uint64_t ended)
{
    struct tg_trace_event *event = event_at(self, TG_TRACE_WAIT, began, ended);
    if (event) {
        event->task_id = task;
        event->kernel = self->want_ring;
        event->worker = (uint16_t)tg_current_scope(self)->site;
        event->part = (uint8_t)resource;
        tg_trace_publish(self->tracer);
    }
    self->traced_until = ended;
    sample(self, self->want_ring, ended);
}

TG_FN static void put_scope(struct tg_orchestrator *self, const struct tg_open_scope *scope,
                            uint64_t end)
{
    struct tg_trace_event *event = event_at(self, TG_TRACE_SCOPE, scope->began, end);
    if (event == 0)
        return;
    event->task_id = scope->n_tasks;
    event->kernel = scope->ring;
    event->worker = (uint16_t)scope->site;
    event->part = (uint8_t)(self->depth - 1);
    tg_trace_publish(self->tracer);
}

TG_FN void tg_trace_log_scope_begin(struct tg_orchestrator *self, struct tg_open_scope *scope)
{
    scope->began = self->traced_until = tg_target_now();
    put_scope(self, scope, 0);
    sample(self, scope->ring, scope->began);
}

TG_FN void tg_trace_log_scope_end(struct tg_orchestrator *self, const struct tg_open_scope *scope)
{
    uint64_t now = tg_target_now();
    for (uint32_t at = scope->first_held; at != 0;) {
        const struct tg_slot_note *note = &self->note[at - 2];
        tg_trace_raise(self->e, at - 2, now);
        at = note->held == 1 ? 0 : note->held;
    }
    put_scope(self, scope, now);
    sample(self, scope->ring, now);
    self->traced_until = now;
}
