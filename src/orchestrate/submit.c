/* SPDX-License-Identifier: Apache-2.0 */
#include "common/stored_args.h"
#include "common/task_check.h"
#include "orchestrate/calls.h"
#include "orchestrate/feed.h"
#include "orchestrate/flow.h"
#include "orchestrate/trace_log.h"
#include "device/target.h"
#include "device/worker.h"
#include "device/growing_edges.h"

/* If cores have no CPUs of their own, the orchestrator announces new tasks only once in
 * TASKS_AT_ONCE: waking a core for every task would cost more than the tasks. And unless a core
 * sleeps, it does not run more than FAR_AHEAD tasks ahead: the cores need its CPU, and find the
 * newest tasks in that CPU's cache. With one CPU for all threads it runs them itself, a batch at a
 * time, when it is NEAR_AHEAD. */
enum { TASKS_AT_ONCE = 256, FAR_AHEAD = 1024, BATCH = 64, NEAR_AHEAD = 256 };

TG_FN static struct tg_orchestrator *of_user(struct tg_map_user *user)
{
    return (struct tg_orchestrator *)((char *)user - sizeof(struct tg_rt));
}

/* ── offering ──────────────────────────────────────────────────────────────────────────── */

TG_FN void tg_offer(struct tg_orchestrator *self, uint32_t slot)
{
    uint32_t task_class = self->e->desc[slot].task_class;
    if (task_class == TG_CLASS_MIX || self->e->shares ||
        !tg_deque_push(&self->self->deque[task_class], slot))
        tg_worker_share(self->e, slot, task_class);
    self->offered |= TG_TAKES(task_class);
    if (self->eager)
        tg_orchestrator_announce(self);
}

TG_FN static void make_way(struct tg_orchestrator *self, struct tg_ring *ring)
{
    if (self->e->bag)
        return; /* how far ahead it is depends on the time that tasks take, and a schedule must not */
    if (self->alone) {
        tg_ring_advance(self->e, ring, self->note);
        if (ring->at->head - ring->at->done > NEAR_AHEAD && self->n_held == 0)
            tg_flow_await(self, ring->index, ring->at->head - NEAR_AHEAD / 2, TG_RESOURCE_NONE);
        return;
    }
    tg_orchestrator_announce(self);
    tg_ring_advance(self->e, ring, self->note);
    if (ring->at->head - ring->at->done > FAR_AHEAD && self->n_held == 0 &&
        !tg_worker_any_sleeps(self->e))
        tg_flow_await(self, ring->index, ring->at->head - FAR_AHEAD / 2, TG_RESOURCE_NONE);
}

/* ── edges ─────────────────────────────────────────────────────────────────────────────── */

/* Makes the task being submitted wait for `before`. False: that has completed. */
TG_FN static inline bool push(struct tg_orchestrator *self, uint32_t before, uint32_t entry)
{
    if (!tg_feeds(self->e))
        return tg_edge_push(self->e, before, entry, self->task);
    if (tg_slot_closed(self->e, before))
        return false;
    tg_feed_edge(self->e->feed, before, entry);
    return true;
}

/* Adds one edge to the task being submitted. Returns false if the run is over. */
TG_FN static bool link_one(struct tg_orchestrator *self, struct tg_ring *ring, uint32_t before)
{
    bool met = false;
    if (ring->at->dep_head - ring->at->dep_tail >= ring->has.n_deps &&
        !tg_flow_want_dep(self, ring, before, &met))
        return false;
    if (met || !push(self, before, ring->head_dep))
        return true;
    ring->at->dep_head++;
    ring->head_dep = ring->head_dep + 1 == ring->has.first_dep + ring->has.n_deps
                         ? ring->has.first_dep
                         : ring->head_dep + 1;
    self->deps.n_linked++;
    return true;
}

/* From here on the task can get any number of edges, and is not ready before settle(). */
TG_FN static void guard(struct tg_orchestrator *self)
{
    struct tg_task_desc *desc = &self->e->desc[self->task];
    self->deps.guarded = true;
    desc->fanin = 2; /* more than 1, so that edges are counted */
    tg_store_relaxed(&desc->pending, TG_PENDING_GUARD);
}

TG_FN static void link_all(struct tg_orchestrator *self)
{
    struct tg_ring *ring = &self->ring[tg_task_ref_ring(self->task_ref)];
    if (!self->deps.guarded)
        guard(self);
    for (uint32_t i = 0; i < self->deps.n; i++)
        if (!link_one(self, ring, self->deps.slot[i]))
            break;
    self->deps.n = 0;
}

/* A task that the one being submitted waits for, or that tg_read waits for. */
TG_FN static void log_found(struct tg_orchestrator *self, uint64_t before, enum tg_edge_kind kind)
{
    if (!self->reading)
        tg_edge_log_add(&self->log, before, kind);
    else if (self->logs & TG_LOGGED_GRAPH)
        tg_edge_log_seen(&self->log, before);
}

TG_FN void tg_submit_found(struct tg_map_user *user, uint64_t ref, enum tg_edge_kind kind)
{
    struct tg_orchestrator *self = of_user(user);
    uint32_t slot = tg_task_ref_slot(ref);
    if (self->logs)
        log_found(self, tg_task_ref_id(ref), kind);
    if (self->samples && kind != TG_EDGE_EXPLICIT && !self->reading)
        self->ring[tg_task_ref_ring(self->task_ref)].asked_deps++;
    if (tg_task_ref_index(ref) < self->ring[tg_task_ref_ring(ref)].at->done ||
        self->note[slot].seen == self->order)
        return;
    self->note[slot].seen = self->order;
    if (tg_slot_closed(self->e, slot))
        return;
    if (self->deps.n == TG_DEPS_AT_ONCE) {
        if (self->reading)
            return; /* tg_read searches again when these have completed */
        link_all(self);
    }
    self->deps.slot[self->deps.n++] = slot;
}

TG_FN bool tg_submit_wait_for_entries(struct tg_map_user *user)
{
    return tg_flow_wait_for_any(of_user(user), TG_RESOURCE_MAP);
}

TG_FN void tg_submit_forgot(struct tg_map_user *user, uint64_t ref)
{
    struct tg_orchestrator *self = of_user(user);
    uint32_t r = tg_task_ref_ring(ref);
    if (!(self->logs & TG_LOGGED_GRAPH))
        return;
    if (tg_task_ref_index(ref) < self->ring[r].at->done)
        tg_edge_log_done(&self->log, r, self->ring[r].at->done);
    else
        tg_edge_log_seen(&self->log, tg_task_ref_id(ref));
}

TG_FN bool tg_find_task(const struct tg_orchestrator *self, uint64_t id, uint64_t *ref)
{
    uint32_t r = (uint32_t)(id >> 32);
    const struct tg_ring *ring = &self->ring[r];
    uint32_t age;
    *ref = 0;
    if (id >> 32 >= self->n_rings)
        return false;
    age = (uint32_t)ring->at->head - (uint32_t)id; /* modulo 2^32: 1 is the newest */
    if (age == 0 || age > ring->at->head)
        return false;
    if (ring->at->head - age >= ring->at->done)
        *ref = tg_task_ref(r, tg_slot_of(ring, ring->at->head - age), ring->at->head - age);
    return true;
}

TG_FN static bool add_named(struct tg_orchestrator *self, const uint64_t *after, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t ref;
        if (after[i] == TG_TASK_NONE)
            continue;
        if (!tg_find_task(self, after[i], &ref)) {
            self->report->wanted = after[i];
            return false;
        }
        if (ref != 0)
            tg_submit_found(&self->user, ref, TG_EDGE_EXPLICIT);
        else if (self->logs)
            tg_edge_log_add(&self->log, after[i], TG_EDGE_EXPLICIT);
    }
    return true;
}

/* Called when all edges are known. Returns true if the task waits for nothing and no scope holds it
 * back. */
TG_FN static bool settle(struct tg_orchestrator *self, bool held)
{
    struct tg_task_desc *desc = &self->e->desc[self->task];
    struct tg_deps *deps = &self->deps;
    uint32_t taken;
    if (tg_feeds(self->e)) {
        link_all(self);
        desc->pending = deps->n_linked + held;
        desc->fanin = held || deps->n_linked > 1 ? 2 : deps->n_linked;
        return false; /* whoever drains it offers it */
    }
    if (!deps->guarded && !held && deps->n <= 1) {
        desc->fanin = deps->n;
        if (deps->n == 0)
            return true;
        return !link_one(self, &self->ring[tg_task_ref_ring(self->task_ref)], deps->slot[0]) ||
               deps->n_linked == 0;
    }
    link_all(self);
    taken = TG_PENDING_GUARD - deps->n_linked - held;
    return tg_sub_acq_rel(&desc->pending, taken) == taken && !held; /* E2 */
}

/* Logs the task while nothing lets it start yet. The trace needs all its edges made: see
 * device/trace.h. False if the run is over. */
TG_FN static bool log_submit(struct tg_orchestrator *self)
{
    link_all(self);
    if (!tg_runs(self))
        return false;
    tg_edge_log_end(&self->log);
    if (self->logs & TG_LOGGED_TRACE)
        tg_trace_log_submit(self);
    return true;
}

/* ── checking ──────────────────────────────────────────────────────────────────────────── */

/* Refuses an invalid submit: stores what it was given, so that the host can say why. */
TG_FN static uint64_t refuse(struct tg_orchestrator *self, const uint32_t kernel[TG_PARTS],
                             const struct tg_args *args, enum tg_orchestration_fault fault,
                             const char *site)
{
    struct tg_ring *ring = &self->ring[tg_current_scope(self)->ring];
    for (uint32_t part = 0; part < TG_PARTS; part++)
        self->report->kernel[part] = kernel[part];
    if (args)
        *TG_DEVICE_PTR(struct tg_args, self->o->refused) = *args;
    else
        tg_args_init(TG_DEVICE_PTR(struct tg_args, self->o->refused));
    self->report->task = (uint64_t)ring->index << 32 | (uint32_t)ring->at->head;
    tg_orchestrator_fail(self, TG_BAD_ARGUMENT, fault, site);
    return TG_TASK_NONE;
}

/* Checks the tensors for every possible error, and finds their regions. */
TG_FN static enum tg_orchestration_fault look_at(struct tg_orchestrator *self,
                                                 const struct tg_args *args)
{
    for (uint32_t i = 0; i < args->n_tensors; i++) {
        const struct tg_tensor *t = &args->tensor[i];
        if (t->owner_depth == TG_TENSOR_NEW) {
            if (!tg_tensor_valid(t) || args->role[i] != TG_OUT)
                return TG_FAULT_ARGUMENTS;
            continue;
        }
        self->report->argument = i;
        if (!tg_is_in_memory(self, t))
            return TG_FAULT_MEMORY;
        if (!tg_is_alive(self, t))
            return TG_FAULT_OUT_OF_SCOPE;
        if (!tg_role_fits(args, i) || !tg_region_of(t, &self->region[i]))
            return TG_FAULT_ARGUMENTS;
    }
    return TG_FAULT_NONE;
}

TG_FN static enum tg_orchestration_fault check(struct tg_orchestrator *self,
                                               struct tg_task_desc *desc,
                                               const uint32_t kernel[TG_PARTS],
                                               const struct tg_args *args)
{
    uint32_t first = self->o->first_kernel;
    uint32_t n_kernels = self->calls ? self->o->n_kernels : self->o->n_own_kernels;
    if (!tg_args_within_limits(args) ||
        !tg_task_set_kernels(desc, kernel, self->kernel, n_kernels, first))
        return TG_FAULT_ARGUMENTS;
    if (self->calls)
        self->e->comm_note[self->task].line = self->call_line;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (kernel[part] != TG_NO_KERNEL && !tg_signature_fits(&self->kernel[kernel[part]], args))
            return TG_FAULT_ARGUMENTS;
    return look_at(self, args);
}

/* ── submit ────────────────────────────────────────────────────────────────────────────── */

/* Finding the region has shown already what most tensors are like. */
TG_FN static inline uint64_t *put_tensor(uint64_t *to, const struct tg_tensor *t,
                                         const struct tg_region *region)
{
    const uint32_t plain = TG_STORED_NARROW | TG_STORED_ROW_MAJOR, tile = TG_STORED_NARROW;
    uint32_t form = t->storage_bytes >> 32 == 0 ? region->form : 0;
    if (form == plain && t->ndim == 2)
        return tg_stored_put_as(to, t, 2, plain);
    if (form == plain && t->ndim == 1)
        return tg_stored_put_as(to, t, 1, plain);
    if (form == tile && t->ndim == 2)
        return tg_stored_put_as(to, t, 2, tile);
    return tg_stored_put(to, t);
}

TG_FN static bool put_args(struct tg_orchestrator *self, struct tg_ring *ring,
                           struct tg_task_desc *desc, const struct tg_args *args, const char *site)
{
    uint64_t *to;
    desc->args = tg_ring_take_args(ring, tg_stored_most_bytes(args->n_tensors, args->n_scalars));
    to = (uint64_t *)(self->payload + desc->args);
    for (uint32_t i = 0; i < args->n_scalars; i++)
        to = tg_stored_put_scalar(to, &args->scalar[i]);
    for (uint32_t i = 0; i < args->n_tensors; i++) {
        struct tg_tensor made;
        if (args->tensor[i].owner_depth != TG_TENSOR_NEW) {
            to = put_tensor(to, &args->tensor[i], &self->region[i]);
            if (args->role[i] != TG_IN && args->tensor[i].owner_depth == 0)
                tg_given_note(&self->given, &args->tensor[i], desc->id);
            continue;
        }
        tg_tensor_copy(&made, &args->tensor[i]);
        if (!tg_allocate(self, &made, site))
            return false;
        tg_region_of(&made, &self->region[i]);
        to = put_tensor(to, &made, &self->region[i]);
    }
    self->args_bytes = (uint32_t)((char *)to - (self->payload + desc->args));
    tg_ring_keep_args(ring, args, self->args_bytes);
    return true;
}

/* Gives the slot to the new task, which no worker knows yet. */
TG_FN static struct tg_task_desc *take_slot(struct tg_orchestrator *self, struct tg_ring *ring)
{
    uint32_t slot = tg_ring_take_slot(ring, self->note);
    struct tg_task_desc *desc = &self->e->desc[slot];
    self->task = slot;
    self->task_ref = tg_task_ref(ring->index, slot, ring->at->head);
    self->order++;
    self->note[slot].seen = 0;
    self->note[slot].order =
        self->order; /* here, because the bag needs it once the task is ready */
    tg_store_relaxed(&desc->succ, TG_DEP_NONE);
    if (tg_feeds(self->e))
        desc->n_succ = tg_load_acquire_host(&self->e->done_words[slot]) + 1; /* K3 */
    desc->id = (uint64_t)ring->index << 32 | (uint32_t)ring->at->head;
    desc->site = tg_current_scope(self)->site;
    return desc;
}

TG_FN static bool find_edges(struct tg_orchestrator *self, const struct tg_args *args)
{
    for (uint32_t i = 0; i < args->n_tensors; i++) {
        if (self->region[i].hi == self->region[i].lo)
            continue;
        if (self->samples)
            self->asked_map += args->role[i] == TG_IN ? 2 : 1; /* a region, and a reader of it */
        if (!tg_map_access(&self->map, &self->user, &self->region[i], (enum tg_role)args->role[i],
                           self->task_ref))
            return false;
    }
    return true;
}

TG_FN static void hold(struct tg_orchestrator *self, struct tg_open_scope *scope)
{
    struct tg_slot_note *note = &self->note[self->task];
    note->held = 1;
    if (scope->first_held)
        self->note[scope->last_held].held = self->task + 2;
    else
        scope->first_held = self->task + 2;
    scope->last_held = self->task;
    self->n_held++;
}

/* Enters the new task in its ring, its scope and its notes. */
TG_FN static void enter_task(struct tg_orchestrator *self, struct tg_ring *ring,
                             struct tg_open_scope *scope)
{
    struct tg_slot_note *note = &self->note[self->task];
    note->dep_end = (uint32_t)ring->at->dep_head;
    note->held = 0;
    if (scope->first_task == TG_NO_PIN) {
        scope->first_task = ring->at->head;
        if (self->scopes_own_slots && scope->first_task < ring->pin)
            ring->pin = scope->first_task;
    }
    scope->n_tasks++;
    tg_ring_enter(ring);
    if (self->samples)
        tg_take_peak(self, ring);
    self->submitted++;
    tg_store_relaxed(&self->report->submitted, self->submitted);
    tg_target_say_submitted(self->self->status, self->submitted);
}

/* The task is not created, but the dry run still counts the slot it would have used. */
TG_FN static uint64_t give_up(struct tg_orchestrator *self, const struct tg_args *args)
{
    if (self->mode == TG_MODE_COUNTS)
        tg_count_submit(self, args);
    return TG_TASK_NONE;
}

TG_FN uint64_t tg_call_submit(struct tg_rt *rt, const uint32_t kernel[TG_PARTS],
                              const struct tg_args *args, const char *site)
{
    struct tg_orchestrator *self = tg_of_rt(rt);
    struct tg_open_scope *scope = tg_current_scope(self);
    struct tg_ring *ring = &self->ring[scope->ring];
    struct tg_task_desc *desc;
    enum tg_orchestration_fault fault;
    struct tg_args none;
    bool held = scope->kind == TG_SCOPE_HOLDS, ready;
    uint64_t id;
    if (!tg_runs(self))
        return give_up(self, args);
    self->line = site;
    if (!args) {
        tg_args_init(&none);
        args = &none;
    }
    if (ring->at->head - ring->at->tail >= ring->has.n_slots &&
        !tg_flow_want_slot(self, ring, site)) {
        return give_up(self, args);
    }
    desc = take_slot(self, ring);
    fault = check(self, desc, kernel, args);
    if (fault != TG_FAULT_NONE)
        return refuse(self, kernel, args, fault, site);
    desc->n_tensors = args->n_tensors;
    desc->n_scalars = args->n_scalars;
    desc->roles = tg_args_roles(args);
    desc->marks = args->tensor_marks | args->scalar_marks ? tg_args_marks(args) : 0;
    self->deps.n = self->deps.n_linked = 0;
    self->deps.guarded = false;
    if (tg_feeds(self->e))
        tg_feed_begin(self->e->feed);
    if (self->logs)
        tg_edge_log_begin(&self->log, desc, tg_orchestrator_line(self, site));
    if (!put_args(self, ring, desc, args, site))
        return give_up(self, args);
    ring->asked_deps += (uint64_t)args->n_after + args->n_more_after;
    if (!add_named(self, args->after, args->n_after) ||
        !add_named(self, args->more_after, args->n_more_after))
        return refuse(self, kernel, args, TG_FAULT_PREDECESSOR, site);
    if (self->finds_edges && !find_edges(self, args)) {
        if (tg_runs(self))
            tg_flow_fail(self, TG_TENSORMAP_OVERFLOW, TG_RESOURCE_MAP, ring->index, 1, site);
        return give_up(self, args);
    }
    if (self->logs && !log_submit(self))
        return give_up(self, args);
    ready = settle(self, held);
    if (!tg_runs(self))
        return give_up(self, args);
    id = desc->id;
    self->report->edges += self->deps.n_linked;
    enter_task(self, ring, scope);
    if (held)
        hold(self, scope);
    if (tg_feeds(self->e))
        tg_feed_task(self->e, self->task, self->args_bytes, self->calls ? self->call_line : 0);
    if (ready)
        tg_offer(self, self->task);
    if (!self->eager && self->submitted % (self->alone ? BATCH : TASKS_AT_ONCE) == 0)
        make_way(self, ring);
    return id;
}

TG_FN void tg_call_depend(struct tg_rt *rt, uint64_t task, uint64_t after, const char *site)
{
    struct tg_orchestrator *self = tg_of_rt(rt);
    struct tg_task_desc *desc;
    struct tg_ring *ring;
    uint64_t ref, before;
    if (self->mode == TG_MODE_COUNTS)
        tg_count_edge(self);
    if (after == TG_TASK_NONE || !tg_runs(self))
        return;
    self->line = site;
    self->report->task = task;
    self->report->wanted = after;
    if (!tg_find_task(self, task, &ref) || !tg_find_task(self, after, &before)) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_PREDECESSOR, site);
        return;
    }
    if (ref == 0 || self->note[tg_task_ref_slot(ref)].held == 0) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_DEPEND, site);
        return;
    }
    if (before != 0 &&
        self->note[tg_task_ref_slot(ref)].order <= self->note[tg_task_ref_slot(before)].order) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_ORDER, site);
        return;
    }
    if (self->logs)
        tg_edge_log_late(&self->log, &self->e->desc[tg_task_ref_slot(ref)], after);
    if (before == 0)
        return;
    /* A held task counts its edges and is above zero, so an edge can be subtracted again. */
    self->task = tg_task_ref_slot(ref);
    self->deps.n_linked = 0;
    if (tg_feeds(self->e))
        tg_feed_begin(self->e->feed);
    self->ring[tg_task_ref_ring(ref)].asked_deps++;
    desc = &self->e->desc[self->task];
    tg_add_acq_rel(&desc->pending, 1u); /* E2 */
    if (!link_one(self, &self->ring[tg_task_ref_ring(ref)], tg_task_ref_slot(before))) {
        if (self->mode == TG_MODE_COUNTS)
            tg_count_edge(self);
        return;
    }
    if (self->deps.n_linked == 0)
        tg_sub_acq_rel(&desc->pending, 1u); /* E2 */
    else if (tg_feeds(self->e))
        tg_feed_late(self->e, self->task);
    self->report->edges += self->deps.n_linked;
    /* The dependency was taken at the ring's head, so it is freed with the ring's newest task. */
    ring = &self->ring[tg_task_ref_ring(ref)];
    self->note[tg_slot_of(ring, ring->at->head - 1)].dep_end = (uint32_t)ring->at->dep_head;
    if (self->samples)
        tg_take_peak(self, ring);
}
