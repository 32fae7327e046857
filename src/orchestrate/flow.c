/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/flow.h"
#include "orchestrate/calls.h"
#include "orchestrate/feed.h"
#include "orchestrate/trace_log.h"
#include "orchestrate/waits.h"
#include "device/core.h"
#include "device/park.h"
#include "device/role.h"
#include "device/target.h"
#include "device/wait.h"
#include "device/worker.h"

/* ── waiting ───────────────────────────────────────────────────────────────────────────── */

TG_FN static bool over(const struct tg_orchestrator *self)
{
    return !tg_engine_running(self->e);
}

/*
 * True if no task will ever complete again. While no task is held back, one always can. Otherwise it
 * is true if all workers sleep and no task is ready anywhere: only the orchestrator could make one
 * ready.
 */
TG_FN static bool is_stuck(struct tg_orchestrator *self)
{
    if (self->n_held == 0)
        return false;
    if (tg_feeds(self->e))
        return tg_feed_is_still(self->e);
    return self->e->bag ? tg_bag_is_still(self->e) : tg_worker_all_still(self->e);
}

/* Sleeps until the slot's task has completed, or another event wakes the orchestrator. */
TG_FN static void sleep_for(struct tg_orchestrator *self, uint32_t slot)
{
    struct tg_engine *e = self->e;
    tg_store_seq(&e->awaited, slot); /* F1, S4: say */
    tg_park_say(&self->self->park);
    if (tg_load_seq(&e->desc[slot].succ) == TG_DEP_CLOSED || tg_load_seq(&e->phase) != TG_RUNNING)
        tg_park_cancel(&self->self->park);
    else
        tg_park_sleep(&self->self->park);
    tg_store_seq(&e->awaited, TG_NO_TASK);
}

/* While a scope holds tasks back there may be no task left that would wake the orchestrator when it
 * completes, so it naps and looks again. Beside the device no task can wake it. True if it is time to
 * look whether anything still moves, which costs a round trip there. */
TG_FN static bool wait_a_little(struct tg_orchestrator *self, uint32_t slot, uint32_t *round)
{
    if (tg_feeds(self->e))
        return tg_feed_wait(self->e, round);
    if (tg_wait_round(&self->e->patience, round))
        return true;
    if (self->n_held > 0)
        tg_wait_nap();
    else
        sleep_for(self, slot);
    return true;
}

/* Runs other tasks, or that task, instead of waiting. Returns false if there was none to run. */
TG_FN static bool help_until_closed(struct tg_orchestrator *self, uint32_t slot)
{
    return self->alone &&
           tg_core_help(self->e, self->self, &self->e->desc[slot].succ, TG_DEP_CLOSED);
}

/* `ring` and `index`: the task whose end would make room. */
TG_FN static void say_waiting(struct tg_orchestrator *self, enum tg_resource resource,
                              uint32_t ring, uint64_t index)
{
    self->report->waits_ring = resource == TG_RESOURCE_RESULT ? ring : self->want_ring;
    self->report->waits_task = (uint64_t)ring << 32 | (uint32_t)index;
    if (resource != TG_RESOURCE_NONE)
        self->report->waits_line = tg_orchestrator_site(self, self->line);
    tg_store_relaxed(&self->report->waits_for, (uint32_t)resource);
}

TG_FN bool tg_flow_await(struct tg_orchestrator *self, uint32_t ring, uint64_t index,
                         enum tg_resource resource)
{
    struct tg_ring *book = &self->ring[ring];
    uint64_t began, ended;
    uint32_t slot, round = 0;
    bool stuck = false;
    if (index < book->at->done)
        return true;
    slot = tg_slot_of(book, index);
    if (tg_slot_closed(self->e, slot))
        return true;
    if (!self->alone)
        tg_orchestrator_announce(self);
    began = tg_target_now();
    say_waiting(self, resource, ring, index);
    if (self->e->bag)
        tg_bag_await(self->e, slot);
    while (!tg_slot_closed(self->e, slot) && !over(self) && !stuck) {
        if (help_until_closed(self, slot))
            continue;
        tg_orchestrator_announce(self);
        stuck =
            wait_a_little(self, slot, &round) && is_stuck(self) && !tg_slot_closed(self->e, slot);
    }
    if (self->e->bag)
        tg_bag_go_on(self->e);
    say_waiting(self, TG_RESOURCE_NONE, ring, index);
    ended = tg_target_now();
    tg_waited(self, resource, ended - began);
    if (self->logs & TG_LOGGED_TRACE)
        tg_trace_log_wait(self, resource, (uint64_t)ring << 32 | (uint32_t)index, began, ended);
    return !stuck && !over(self);
}

TG_FN static void advance(struct tg_orchestrator *self, struct tg_ring *ring)
{
    tg_ring_advance(self->e, ring, self->note);
}

TG_FN static void advance_all(struct tg_orchestrator *self)
{
    for (uint32_t r = 0; r < self->n_rings; r++)
        advance(self, &self->ring[r]);
}

/* ── slots ─────────────────────────────────────────────────────────────────────────────── */

TG_FN static bool has_slot(const struct tg_ring *ring)
{
    return ring->at->head - ring->at->tail < ring->has.n_slots;
}

/* A quarter of the ring at a time, so that the orchestrator does not wake for every single slot. */
TG_FN static uint64_t worth_waking_for(const struct tg_ring *ring)
{
    uint64_t end = ring->pin < ring->at->head ? ring->pin : ring->at->head;
    uint64_t target = ring->at->done + ring->has.n_slots / 4;
    return target < end ? target : end - 1;
}

TG_FN bool tg_flow_want_slot(struct tg_orchestrator *self, struct tg_ring *ring, const char *site)
{
    bool first = true;
    self->want_ring = ring->index;
    advance(self, ring);
    if (!has_slot(ring))
        tg_scope_found_full(self, TG_RESOURCE_SLOTS, ring);
    while (!has_slot(ring)) {
        uint64_t target = first ? worth_waking_for(ring) : ring->at->done;
        if (ring->at->tail >= ring->pin || self->note[tg_slot_of(ring, ring->at->done)].held)
            return tg_flow_fail(self, TG_SCOPE_DEADLOCK, TG_RESOURCE_SLOTS, ring->index, 1, site);
        /* A later task may be held back for good. It is a deadlock only if the first one cannot
         * complete either. */
        if (!tg_flow_await(self, ring->index, target, TG_RESOURCE_SLOTS) &&
            (over(self) || target == ring->at->done))
            return !over(self) && tg_flow_fail(self, TG_FLOW_CONTROL_DEADLOCK, TG_RESOURCE_SLOTS,
                                               ring->index, 1, site);
        first = false;
        advance(self, ring);
    }
    return true;
}

/* ── heap ──────────────────────────────────────────────────────────────────────────────── */

/* Waits for the tasks of the oldest ended scope of the ring. */
TG_FN static bool await_scope(struct tg_orchestrator *self, const struct tg_ring *ring)
{
    const struct tg_ended_scope *oldest = &ring->ended[ring->ended_first];
    for (uint32_t r = 0; r < self->n_rings; r++) {
        while (self->ring[r].at->done < oldest->mark[r]) {
            if (!tg_flow_await(self, r, oldest->mark[r] - 1, TG_RESOURCE_HEAP) ||
                !tg_flow_await(self, r, self->ring[r].at->done, TG_RESOURCE_HEAP))
                return false;
            advance(self, &self->ring[r]);
        }
    }
    return true;
}

TG_FN bool tg_flow_want_heap(struct tg_orchestrator *self, struct tg_ring *ring, uint64_t bytes,
                             uint64_t *address, const char *site)
{
    *address = tg_ring_heap_take(ring, bytes);
    if (*address != 0)
        return true;
    if (!tg_ring_heap_could_take(ring, bytes))
        return tg_flow_fail(self, TG_HEAP_RING_DEADLOCK, TG_RESOURCE_HEAP, ring->index, bytes,
                            site);
    self->want_ring = ring->index;
    advance_all(self);
    for (;;) {
        tg_ring_heap_reclaim(self->ring, ring->index);
        *address = tg_ring_heap_take(ring, bytes);
        if (*address != 0)
            return true;
        /* What the heap holds and what is asked for are together more than it has. */
        tg_scope_found_full(self, TG_RESOURCE_HEAP, ring);
        if (!await_scope(self, ring))
            return !over(self) && tg_flow_fail(self, TG_FLOW_CONTROL_DEADLOCK, TG_RESOURCE_HEAP,
                                               ring->index, bytes, site);
    }
}

/* ── dependencies and the tensor map ───────────────────────────────────────────────────── */

TG_FN static bool deps_overflow(struct tg_orchestrator *self, const struct tg_ring *ring)
{
    return tg_flow_fail(self, TG_DEP_POOL_OVERFLOW, TG_RESOURCE_DEPS, ring->index, 1, 0);
}

TG_FN bool tg_flow_want_dep(struct tg_orchestrator *self, struct tg_ring *ring, uint32_t before,
                            bool *met)
{
    struct tg_ring_cursors *at = ring->at;
    uint64_t id;
    *met = false;
    self->want_ring = ring->index;
    advance(self, ring);
    if (at->dep_head - at->dep_tail < ring->has.n_deps)
        return true;
    tg_scope_found_full(self, TG_RESOURCE_DEPS, ring);
    /* Entries of earlier tasks of this ring become free when those tasks complete, but the entries
     * of the task being submitted do not. So the last resort is to wait here for the predecessor
     * itself. */
    while (at->done < at->head && at->dep_head - at->dep_tail >= ring->has.n_deps) {
        if (self->note[tg_slot_of(ring, at->done)].held ||
            !tg_flow_await(self, ring->index, at->done, TG_RESOURCE_DEPS))
            break;
        advance(self, ring);
    }
    if (over(self))
        return false;
    if (at->dep_head - at->dep_tail < ring->has.n_deps)
        return true;
    id = self->e->desc[before].id;
    *met = true;
    for (uint32_t r = 0; r < self->n_rings; r++) {
        const struct tg_ring *of = &self->ring[r];
        if (r != (uint32_t)(id >> 32))
            continue;
        /* Restores the index's upper bits: the task is one of the ring's last n_slots tasks. */
        uint64_t index = of->at->head - (uint32_t)((uint32_t)of->at->head - (uint32_t)id);
        if (!tg_flow_await(self, r, index, TG_RESOURCE_DEPS))
            return !over(self) && deps_overflow(self, ring);
    }
    return true;
}

TG_FN bool tg_flow_wait_for_any(struct tg_orchestrator *self, enum tg_resource resource)
{
    self->want_ring = tg_current_scope(self)->ring;
    tg_scope_found_full(self, resource, &self->ring[self->want_ring]);
    advance_all(self);
    for (uint32_t r = 0; r < self->n_rings; r++) {
        struct tg_ring *ring = &self->ring[r];
        if (ring->at->done == ring->at->head)
            continue;
        if (!tg_flow_await(self, r, (ring->at->done + ring->at->head) / 2, resource) ||
            !tg_flow_await(self, r, ring->at->done, resource))
            return false;
        advance_all(self);
        return true;
    }
    return false;
}

/* ── what can never drain ──────────────────────────────────────────────────────────────── */

TG_FN static uint64_t used(const struct tg_orchestrator *self, enum tg_resource resource,
                           const struct tg_ring *ring)
{
    switch (resource) {
    case TG_RESOURCE_SLOTS:
        return ring->at->head - ring->at->tail;
    case TG_RESOURCE_HEAP:
        return ring->at->heap_head - ring->at->heap_tail;
    case TG_RESOURCE_DEPS:
        return ring->at->dep_head - ring->at->dep_tail;
    default:
        return self->map.live;
    }
}

TG_FN static uint64_t capacity(const struct tg_orchestrator *self, enum tg_resource resource,
                               const struct tg_ring *ring)
{
    switch (resource) {
    case TG_RESOURCE_SLOTS:
        return ring->has.n_slots;
    case TG_RESOURCE_HEAP:
        return ring->has.heap_size;
    case TG_RESOURCE_DEPS:
        return ring->has.n_deps;
    default:
        return self->map.size;
    }
}

/* Of the open scopes that use the ring, returns the one with the most tasks: the others may have
 * only a task or two that are older. */
TG_FN static const struct tg_open_scope *guilty(const struct tg_orchestrator *self, uint32_t ring)
{
    const struct tg_open_scope *most = &self->scope[self->depth - 1];
    for (uint32_t i = self->depth; i-- > 0;)
        if (self->scope[i].ring == ring && self->scope[i].n_tasks > most->n_tasks)
            most = &self->scope[i];
    return most;
}

/* While a scope holds tasks back, the tasks that wait for them keep their places too, at any depth.
 * So until that scope ends, nothing that is in the rings now has to leave them. */
TG_FN static void hold_all(struct tg_orchestrator *self)
{
    self->count_held = 0;
    for (uint32_t depth = self->depth; depth > 0; depth--)
        if (self->scope[depth - 1].first_held != 0)
            self->count_held = depth;
    for (uint32_t r = 0; self->count_held != 0 && r < self->n_rings; r++) {
        struct tg_ring *ring = &self->ring[r];
        if (ring->at->done < ring->pin && ring->at->done < ring->at->head)
            ring->pin = ring->at->done;
        if (ring->at->heap_tail < ring->heap_pin && ring->at->heap_tail < ring->at->heap_head)
            ring->heap_pin = ring->at->heap_tail;
    }
}

TG_FN bool tg_flow_fail(struct tg_orchestrator *self, tg_status status, enum tg_resource resource,
                        uint32_t ring, uint64_t wanted, const char *site)
{
    struct tg_orchestrator_report *report = self->report;
    struct tg_ring *book = &self->ring[ring];
    const struct tg_open_scope *scope =
        resource == TG_RESOURCE_SLOTS ? guilty(self, ring) : tg_current_scope(self);
    if (self->mode != TG_MODE_RUNS)
        return false;
    report->resource = resource;
    report->ring = ring;
    report->used = used(self, resource, book);
    report->capacity = capacity(self, resource, book);
    report->wanted = wanted;
    report->fault = TG_FAULT_FULL;
    tg_copy_site(report->site, sizeof report->site, site ? site : scope->line);
    tg_copy_site(report->owner, sizeof report->owner, scope->line);
    for (uint32_t r = 0; r < TG_RINGS; r++) {
        self->count_head[r] = self->ring[r].at->head;
        self->count_heap[r] = self->ring[r].at->heap_head;
    }
    self->count_deps = resource == TG_RESOURCE_DEPS ? report->used : 0;
    self->count_map = self->finds_edges ? self->map.live : 0;
    hold_all(self);
    self->count_looked = tg_target_now();
    self->count_ns = 0;
    self->count_calls = 0;
    tg_orchestrator_end_samples(self);
    self->mode = TG_MODE_COUNTS;
    tg_orchestrator_announce(self);
    tg_store_release(&report->status, (int32_t)status);
    return false;
}

/* ── counting on ───────────────────────────────────────────────────────────────────────── */

/* The limit for counting, because the user waits for the answer. A part of it counts for one look at the
 * clock: if more time has passed, the device was stopped. */
#define MOST_NANOSECONDS UINT64_C(300000000)
#define MOST_PER_LOOK (MOST_NANOSECONDS / 8)

TG_FN void tg_count_end(struct tg_orchestrator *self, bool complete)
{
    if (self->mode != TG_MODE_COUNTS)
        return;
    self->mode = TG_MODE_ENDED;
    self->report->counted = complete;
    tg_store_release(&self->report->state, (uint32_t)TG_ORCHESTRATOR_FAILED);
    tg_orchestrator_stop(self);
}

TG_FN static void look_at_the_clock(struct tg_orchestrator *self)
{
    uint64_t now, passed;
    if (++self->count_calls % 1024 != 0)
        return;
    now = tg_target_now();
    passed = now - self->count_looked;
    self->count_looked = now;
    self->count_ns += passed < MOST_PER_LOOK ? passed : MOST_PER_LOOK;
    if (self->count_ns > MOST_NANOSECONDS)
        tg_count_end(self, false);
}

TG_FN static void keep_largest(uint64_t *largest, uint64_t value)
{
    if (value > *largest)
        *largest = value;
}

/* Counts dependencies and tensor-map entries of tasks that are held back, which keep them. The dry
 * run does not search the tensor map; it counts the most edges there can be, one to each task that
 * is held with this one. */
TG_FN static void count_held_task(struct tg_orchestrator *self, const struct tg_open_scope *scope,
                                  const struct tg_args *args)
{
    uint64_t held = self->ring[scope->ring].pin == TG_NO_PIN
                        ? 0
                        : self->count_head[scope->ring] - self->ring[scope->ring].pin;
    if (self->count_held == 0 || !args)
        return;
    self->count_deps += (uint64_t)args->n_after + args->n_more_after;
    if (self->finds_edges)
        self->count_deps += held;
    self->count_map += 2 * (uint64_t)args->n_tensors;
    keep_largest(&self->report->need_deps[scope->ring], self->count_deps);
    keep_largest(&self->report->need_map, self->count_map);
}

TG_FN void tg_count_submit(struct tg_orchestrator *self, const struct tg_args *args)
{
    struct tg_open_scope *scope = tg_current_scope(self);
    struct tg_ring *ring = &self->ring[scope->ring];
    look_at_the_clock(self);
    if (self->mode != TG_MODE_COUNTS)
        return;
    if (scope->first_task == TG_NO_PIN) {
        scope->first_task = self->count_head[scope->ring];
        if (scope->first_task < ring->pin && (self->scopes_own_slots || self->count_held != 0))
            ring->pin = scope->first_task;
    }
    self->count_head[scope->ring]++;
    if (ring->pin != TG_NO_PIN)
        keep_largest(&self->report->need_slots[scope->ring],
                     self->count_head[scope->ring] - ring->pin);
    count_held_task(self, scope, args);
    for (uint32_t i = 0; args && i < args->n_tensors && i < TG_MAX_TENSORS; i++)
        if (args->tensor[i].owner_depth == TG_TENSOR_NEW)
            tg_count_alloc(self, args->tensor[i].storage_bytes);
}

TG_FN void tg_count_edge(struct tg_orchestrator *self)
{
    look_at_the_clock(self);
    if (self->mode == TG_MODE_COUNTS)
        keep_largest(&self->report->need_deps[tg_current_scope(self)->ring], ++self->count_deps);
}

TG_FN void tg_count_alloc(struct tg_orchestrator *self, uint64_t bytes)
{
    struct tg_open_scope *scope = tg_current_scope(self);
    struct tg_ring *ring = &self->ring[scope->ring];
    uint64_t size = tg_heap_round(bytes);
    look_at_the_clock(self);
    if (self->mode != TG_MODE_COUNTS)
        return;
    if (scope->first_byte == TG_NO_PIN && size > 0) {
        scope->first_byte = self->count_heap[scope->ring];
        if (scope->first_byte < ring->heap_pin)
            ring->heap_pin = scope->first_byte;
    }
    keep_largest(&ring->heap_largest, size);
    self->count_heap[scope->ring] += size;
    /* If a piece would cross the heap's end, up to the size of the largest piece is skipped. */
    if (ring->heap_pin != TG_NO_PIN)
        keep_largest(&self->report->need_heap[scope->ring],
                     self->count_heap[scope->ring] - ring->heap_pin + ring->heap_largest);
}

TG_FN void tg_count_scope(struct tg_orchestrator *self)
{
    look_at_the_clock(self);
}

TG_FN bool tg_count_keeps(struct tg_orchestrator *self)
{
    if (self->mode != TG_MODE_COUNTS || self->count_held == 0)
        return false;
    if (self->depth >= self->count_held)
        return true; /* the scope that holds tasks back is still open */
    self->count_held = 0;
    self->count_deps = self->count_map = 0;
    return false;
}
