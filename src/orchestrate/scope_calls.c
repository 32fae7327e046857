/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes: beginning and ending them, their memory, and their samples. */
#include "orchestrate/calls.h"
#include "orchestrate/feed.h"
#include "orchestrate/flow.h"
#include "orchestrate/trace_log.h"

/* ── peaks and waiting ─────────────────────────────────────────────────────────────────── */

/* Takes the peak after freeing what has completed by now. */
TG_FN static void take_peak(struct tg_orchestrator *self, struct tg_ring *ring,
                            struct tg_open_scope *scope)
{
    const struct tg_ring_cursors *at = ring->at;
    struct tg_scope_peaks *peaks = &scope->peaks;
    /* Reading the tasks' state takes a cache line away from the core that completes them, so it is
     * done only if it could change the peak. */
    if (at->dep_head - at->dep_tail > peaks->dep_pool || at->head - at->tail > peaks->task_window)
        tg_ring_advance(self->e, ring, self->note);
    if (at->heap_head - at->heap_tail > peaks->heap) {
        for (uint32_t r = 0; r < self->n_rings; r++)
            tg_ring_advance(self->e, &self->ring[r], self->note);
        tg_ring_heap_reclaim(self->ring, ring->index);
    }
    tg_scope_peak(peaks, ring, self->finds_edges ? self->map.most : 0);
    self->map.most = self->map.live;
}

/* The innermost open scope on that ring. */
TG_FN static struct tg_open_scope *scope_on(struct tg_orchestrator *self, uint32_t ring)
{
    for (uint32_t i = self->depth; i-- > 0;)
        if (self->scope[i].ring == ring)
            return &self->scope[i];
    return tg_current_scope(self);
}

TG_FN void tg_take_peak(struct tg_orchestrator *self, struct tg_ring *ring)
{
    struct tg_open_scope *scope = scope_on(self, ring->index);
    scope->peaks.rings |= 1u << ring->index;
    take_peak(self, ring, scope);
}

TG_FN void tg_scope_found_full(struct tg_orchestrator *self, enum tg_resource resource,
                               const struct tg_ring *ring)
{
    struct tg_scope_peaks *peaks;
    if (!self->samples)
        return;
    peaks = &scope_on(self, ring->index)->peaks;
    if (resource == TG_RESOURCE_SLOTS)
        peaks->task_window = ring->has.n_slots;
    else if (resource == TG_RESOURCE_HEAP)
        peaks->heap = ring->has.heap_size;
    else if (resource == TG_RESOURCE_DEPS)
        peaks->dep_pool = ring->has.n_deps;
    else
        peaks->tensormap = self->map.size;
}

TG_FN void tg_scope_waited(struct tg_orchestrator *self, enum tg_resource resource,
                           const struct tg_ring *ring, uint64_t nanoseconds)
{
    struct tg_scope_peaks *peaks = &scope_on(self, ring->index)->peaks;
    if (!self->samples)
        return;
    peaks->waits[resource - TG_RESOURCE_SLOTS]++;
    peaks->wait_ns += nanoseconds;
}

/* Fills a piece of heap, which begins and ends at multiples of TG_HEAP_UNIT. The task that gets it is
 * not offered yet, so the release that offers it publishes the fill too. */
TG_FN static void poison(uint64_t address, uint64_t bytes, uint32_t pattern)
{
    uint32_t *word = TG_DEVICE_PTR(uint32_t, address);
    for (uint64_t i = 0, n = tg_heap_round(bytes) / sizeof *word; i < n; i++)
        word[i] = pattern;
}

/* ── memory ────────────────────────────────────────────────────────────────────────────── */

TG_FN bool tg_allocate(struct tg_orchestrator *self, struct tg_tensor *t, const char *site)
{
    struct tg_open_scope *scope = tg_current_scope(self);
    struct tg_ring *ring = &self->ring[scope->ring];
    if (!tg_flow_want_heap(self, ring, t->storage_bytes, &t->addr, site))
        return false;
    if (scope->first_byte == TG_NO_PIN && t->storage_bytes > 0) {
        scope->first_byte = ring->at->heap_head - tg_heap_round(t->storage_bytes);
        if (scope->first_byte < ring->heap_pin)
            ring->heap_pin = scope->first_byte;
    }
    if (self->o->poison && tg_feeds(self->e))
        tg_feed_fill(self->e, t->addr, tg_heap_round(t->storage_bytes), self->o->poison);
    else if (self->o->poison)
        poison(t->addr, t->storage_bytes, self->o->poison);
    t->owner_depth = (uint8_t)self->depth;
    t->owner = scope->serial;
    if (self->samples)
        tg_take_peak(self, ring);
    if (self->logs & TG_LOGGED_GRAPH && t->storage_bytes > 0)
        tg_edge_log_given(&self->log, t->addr, t->storage_bytes);
    if (self->finds_edges && self->user.keep_done)
        tg_map_forget(&self->map, &self->user, t->addr, t->addr + t->storage_bytes);
    return true;
}

TG_FN struct tg_tensor tg_call_alloc(struct tg_rt *rt, unsigned dtype, int ndim,
                                     const int64_t *shape, const char *site)
{
    struct tg_orchestrator *self = tg_of_rt(rt);
    struct tg_tensor t = tg_tensor_make(0, dtype, ndim, shape);
    if (self->mode == TG_MODE_COUNTS)
        tg_count_alloc(self, t.storage_bytes);
    if (!tg_runs(self))
        return tg_tensor_none();
    self->line = site;
    if (!tg_tensor_valid(&t)) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_ALLOC, site);
        return tg_tensor_none();
    }
    if (!tg_allocate(self, &t, site)) {
        if (self->mode == TG_MODE_COUNTS)
            tg_count_alloc(self, t.storage_bytes);
        return tg_tensor_none();
    }
    return t;
}

/* ── stats ─────────────────────────────────────────────────────────────────────────────── */

TG_FN static void sample(struct tg_orchestrator *self, const struct tg_open_scope *scope,
                         uint32_t depth, const struct tg_scope_peaks *peaks)
{
    tg_scope_log_sample(&self->scopes, &self->ring[scope->ring], scope->site, depth,
                        self->finds_edges ? self->map.live : 0, peaks);
}

TG_FN static void sample_begin(struct tg_orchestrator *self, struct tg_open_scope *scope)
{
    struct tg_scope_peaks *peaks = &scope->peaks;
    peaks->heap = peaks->wait_ns = 0;
    peaks->task_window = peaks->dep_pool = peaks->tensormap = peaks->rings = 0;
    for (uint32_t i = 0; i < TG_WAITED_RESOURCES; i++)
        peaks->waits[i] = 0;
    self->map.most = self->map.live;
    tg_ring_advance(self->e, &self->ring[scope->ring], self->note);
    tg_ring_heap_reclaim(self->ring, scope->ring);
    take_peak(self, &self->ring[scope->ring], scope);
    sample(self, scope, self->depth - 1, 0);
}

/* Samples the end of the innermost scope, or its last state if it will never end. */
TG_FN static void sample_end(struct tg_orchestrator *self, uint32_t depth)
{
    struct tg_open_scope *scope = &self->scope[depth];
    take_peak(self, &self->ring[scope->ring], scope);
    if (scope->peaks.wait_ns > 0 || depth == 0)
        tg_scope_log_waits(&self->scopes, scope->site, depth, self->ring, self->asked_map,
                           &scope->peaks);
    sample(self, scope, depth, &scope->peaks);
    if (depth > 0)
        tg_scope_peaks_join(&self->scope[depth - 1].peaks, &scope->peaks,
                            self->scope[depth - 1].ring == scope->ring);
}

TG_FN void tg_orchestrator_end_samples(struct tg_orchestrator *self)
{
    for (uint32_t depth = self->depth; self->samples && depth > 0; depth--)
        sample_end(self, depth - 1);
    if (self->samples)
        tg_scope_log_flush(&self->scopes);
    self->samples = false;
    self->watches = 0; /* to the trace, scopes that are still open end with the run */
}

/* ── watched scopes ────────────────────────────────────────────────────────────────────── */

TG_FN static void watch_begin(struct tg_orchestrator *self, struct tg_open_scope *scope)
{
    if (self->samples)
        sample_begin(self, scope);
    if (self->watches & TG_LOGGED_TRACE)
        tg_trace_log_scope_begin(self, scope);
}

TG_FN static void let_go(struct tg_orchestrator *self, struct tg_open_scope *scope);

TG_FN static void watch_end(struct tg_orchestrator *self, struct tg_open_scope *scope)
{
    if (self->watches & TG_LOGGED_TRACE)
        tg_trace_log_scope_end(self, scope);
    if (self->mode == TG_MODE_RUNS)
        let_go(self, scope);
    if (self->samples)
        sample_end(self, self->depth - 1);
}

/* ── begin and end ─────────────────────────────────────────────────────────────────────── */

TG_FN void tg_begin_scope(struct tg_orchestrator *self, enum tg_scope_kind kind, const char *site)
{
    struct tg_open_scope *scope = &self->scope[self->depth];
    scope->serial = ++self->serial;
    scope->site = tg_orchestrator_site(self, site);
    scope->line = site;
    scope->ring = self->depth < self->n_rings ? self->depth : self->n_rings - 1;
    scope->kind = kind;
    scope->first_task = scope->first_byte = TG_NO_PIN;
    scope->n_tasks = 0;
    scope->first_held = scope->last_held = 0;
    self->depth++;
    self->report->scopes++;
    if (self->watches)
        watch_begin(self, scope);
    tg_store_relaxed(&self->report->scope_site, scope->site);
}

TG_FN void tg_call_scope_begin(struct tg_rt *rt, enum tg_scope_kind kind, const char *site)
{
    struct tg_orchestrator *self = tg_of_rt(rt);
    if (self->mode != TG_MODE_COUNTS && !tg_runs(self))
        return;
    if (self->depth == TG_MAX_DEPTH) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_DEPTH, site);
        return;
    }
    if (self->mode == TG_MODE_COUNTS)
        tg_count_scope(self);
    tg_begin_scope(self, kind, site);
}

/* Lets the tasks that the scope held back start. */
TG_FN static void let_go(struct tg_orchestrator *self, struct tg_open_scope *scope)
{
    uint32_t at = scope->first_held;
    while (at) {
        struct tg_slot_note *note = &self->note[at - 2];
        uint32_t slot = at - 2;
        at = note->held == 1 ? 0 : note->held;
        note->held = 0;
        self->n_held--;
        if (self->logs & TG_LOGGED_GRAPH)
            tg_edge_log_let_go(&self->log, self->e->desc[slot].id);
        if (tg_feeds(self->e))
            tg_feed_let_go(self->e, slot);
        else if (tg_sub_acq_rel(&self->e->desc[slot].pending, 1u) == 1) /* E2 */
            tg_offer(self, slot);
    }
    if (tg_feeds(self->e))
        tg_feed_have_let_go(self->e);
}

/* Computes the pins of the ring again, from the scopes that are still open. */
TG_FN static void pin_again(struct tg_orchestrator *self, struct tg_ring *ring)
{
    ring->pin = ring->heap_pin = TG_NO_PIN;
    for (uint32_t i = ring->index; i < self->depth; i++) {
        const struct tg_open_scope *scope = &self->scope[i];
        if (scope->ring != ring->index)
            continue;
        if (self->scopes_own_slots && scope->first_task < ring->pin)
            ring->pin = scope->first_task;
        if (scope->first_byte < ring->heap_pin)
            ring->heap_pin = scope->first_byte;
    }
}

/* A scope with memory of the ring has ended. */
TG_FN static void end_heap(struct tg_orchestrator *self, const struct tg_ring *ring)
{
    tg_ring_heap_scope_ended(self->ring, ring->index);
    if (self->logs & TG_LOGGED_GRAPH && ring->heap_pin == TG_NO_PIN)
        tg_edge_log_ended(&self->log, ring->index);
}

TG_FN void tg_end_scope(struct tg_orchestrator *self)
{
    struct tg_open_scope *scope = tg_current_scope(self);
    struct tg_ring *ring = &self->ring[scope->ring];
    if (self->watches)
        watch_end(self, scope);
    else if (self->mode == TG_MODE_RUNS)
        let_go(self, scope);
    self->depth--;
    if ((scope->first_task != TG_NO_PIN || scope->first_byte != TG_NO_PIN) && !tg_count_keeps(self))
        pin_again(self, ring);
    if (scope->first_byte != TG_NO_PIN && self->mode == TG_MODE_RUNS)
        end_heap(self, ring);
    if (self->depth > 0)
        tg_store_relaxed(&self->report->scope_site, tg_current_scope(self)->site);
}

TG_FN void tg_call_scope_end(struct tg_rt *rt)
{
    struct tg_orchestrator *self = tg_of_rt(rt);
    if (self->mode != TG_MODE_COUNTS && !tg_runs(self))
        return;
    if (self->depth <= 1) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_SCOPE_END, self->root_site);
        return;
    }
    if (self->mode == TG_MODE_COUNTS)
        tg_count_scope(self);
    tg_end_scope(self);
}
