/* SPDX-License-Identifier: Apache-2.0 */
#include "device/orchestrator.h"
#include "base/task_check.h"
#include "device/flow.h"
#include "device/worker.h"
#include "runtime/aicpu_build_graph/device/edges.h"

/* Where cores have no CPUs to themselves they hear of new tasks only every so many: waking one for
 * every task would cost more than the tasks. And unless one of them sleeps we do not run far
 * ahead: they need the CPU that we would run on, and find what we did last in its cache. */
enum { TASKS_AT_ONCE = 256, FAR_AHEAD = 1024 };

TG_FN static struct tg_orchestrator *of_rt(struct tg_rt *rt)
{
    return (struct tg_orchestrator *)rt;
}

TG_FN static struct tg_orchestrator *of_user(struct tg_map_user *user)
{
    return (struct tg_orchestrator *)((char *)user - sizeof(struct tg_rt));
}

/* ── texts and errors ──────────────────────────────────────────────────────────────────── */

TG_FN void tg_copy_text(char *to, uint32_t size, const char *from)
{
    uint32_t i = 0;
    for (; from && from[i] && i + 1 < size; i++)
        to[i] = from[i];
    to[i] = '\0';
}

TG_FN uint32_t tg_orchestrator_site(struct tg_orchestrator *self, const char *site)
{
    uint32_t cached = (uint32_t)((uintptr_t)site / 8 % TG_SITE_CACHE), i = 0;
    struct tg_site *sites = TG_DEVICE_PTR(struct tg_site, self->o->sites);
    if (self->site_cache[cached].text == site)
        return self->site_cache[cached].site;
    while (i < self->report->n_sites && self->known_site[i] != site)
        i++;
    if (i == self->report->n_sites) {
        if (i == TG_MAX_SITES)
            return 0;
        self->known_site[i] = site;
        tg_copy_text(sites[i].text, sizeof sites[i].text, site);
        self->report->n_sites++;
    }
    self->site_cache[cached].text = site;
    self->site_cache[cached].site = i;
    return i;
}

TG_FN bool tg_orchestrator_fail(struct tg_orchestrator *self, tg_status status,
                                enum tg_orchestration_fault fault, const char *site)
{
    struct tg_orchestrator_report *report = self->report;
    if (self->mode != TG_MODE_RUNS)
        return false;
    self->mode = TG_MODE_ENDED;
    report->fault = fault;
    tg_copy_text(report->site, sizeof report->site, site);
    report->status = (int32_t)status;
    tg_store_release(&report->state, (uint32_t)TG_ORCHESTRATOR_FAILED);
    tg_engine_stop(self->e);
    return false;
}

/* A submit that makes no sense: the host says why, from what it was given. */
TG_FN static uint64_t refuse(struct tg_orchestrator *self, const uint32_t kernel[TG_PARTS],
                             const struct tg_args *args, enum tg_orchestration_fault fault,
                             const char *site)
{
    struct tg_ring_book *ring = &self->ring[tg_current_scope(self)->ring];
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

/* May the call do anything? */
TG_FN static bool runs(struct tg_orchestrator *self)
{
    if (self->mode == TG_MODE_RUNS && !tg_engine_running(self->e))
        self->mode = TG_MODE_ENDED; /* stopped from outside */
    return self->mode == TG_MODE_RUNS;
}

/* ── offering ──────────────────────────────────────────────────────────────────────────── */

TG_FN void tg_orchestrator_announce(struct tg_orchestrator *self)
{
    uint32_t classes = self->offered;
    self->offered = 0;
    if (classes)
        tg_worker_announce(self->e, self->self, classes);
}

TG_FN static void offer(struct tg_orchestrator *self, uint32_t slot)
{
    uint32_t task_class = self->e->desc[slot].task_class;
    if (task_class == TG_CLASS_MIX || !tg_ring_push(&self->self->ring[task_class], slot))
        tg_queue_push(&self->e->queue[task_class], slot);
    self->offered |= TG_TAKES(task_class);
    if (self->eager)
        tg_orchestrator_announce(self);
}

/* ── edges ─────────────────────────────────────────────────────────────────────────────── */

/* One edge to the task being submitted. False where the run is over. */
TG_FN static bool link_one(struct tg_orchestrator *self, struct tg_ring_book *ring, uint32_t before)
{
    bool met = false;
    if (ring->at->dep_head - ring->at->dep_tail >= ring->has.n_deps &&
        !tg_flow_want_dep(self, ring, before, &met))
        return false;
    if (met || !tg_edge_push(self->e, before, ring->head_dep, self->task))
        return true;
    ring->at->dep_head++;
    ring->head_dep = ring->head_dep + 1 == ring->has.first_dep + ring->has.n_deps
                         ? ring->has.first_dep
                         : ring->head_dep + 1;
    self->deps.n_linked++;
    return true;
}

/* From here on the task can have any number of edges, and waits until settle(). */
TG_FN static void guard(struct tg_orchestrator *self)
{
    struct tg_task_desc *desc = &self->e->desc[self->task];
    self->deps.guarded = true;
    desc->fanin = 2; /* counted */
    tg_store_relaxed(&desc->pending, TG_PENDING_GUARD);
}

TG_FN static void link_all(struct tg_orchestrator *self)
{
    struct tg_ring_book *ring = &self->ring[tg_ref_ring(self->task_ref)];
    if (!self->deps.guarded)
        guard(self);
    for (uint32_t i = 0; i < self->deps.n; i++)
        if (!link_one(self, ring, self->deps.slot[i]))
            break;
    self->deps.n = 0;
}

TG_FN static void found(struct tg_map_user *user, uint64_t ref, enum tg_edge_kind kind)
{
    struct tg_orchestrator *self = of_user(user);
    uint32_t slot = tg_ref_slot(ref);
    if (self->logs && !self->reading)
        tg_edge_log_add(&self->log, tg_ref_id(ref), kind);
    if (tg_ref_index(ref) < self->ring[tg_ref_ring(ref)].at->done ||
        self->note[slot].seen == self->order)
        return;
    self->note[slot].seen = self->order;
    if (tg_slot_closed(self->e, slot))
        return;
    if (self->deps.n == TG_DEPS_AT_ONCE) {
        if (self->reading)
            return; /* it will look again */
        link_all(self);
    }
    self->deps.slot[self->deps.n++] = slot;
}

TG_FN static bool wait_for_entries(struct tg_map_user *user)
{
    return tg_flow_wait_for_any(of_user(user), TG_RESOURCE_MAP);
}

/* The task that an id names; false where there is none, true with *ref 0 where it is long done. */
TG_FN static bool find_task(const struct tg_orchestrator *self, uint64_t id, uint64_t *ref)
{
    uint32_t r = (uint32_t)(id >> 32);
    const struct tg_ring_book *ring = &self->ring[r];
    uint32_t age;
    *ref = 0;
    if (id >> 32 >= self->n_rings)
        return false;
    age = (uint32_t)ring->at->head - (uint32_t)id; /* modulo 2^32: 1 is the newest */
    if (age == 0 || age > ring->at->head)
        return false;
    if (ring->at->head - age >= ring->at->done)
        *ref = tg_ref(r, tg_slot_of(ring, ring->at->head - age), ring->at->head - age);
    return true;
}

TG_FN static bool add_named(struct tg_orchestrator *self, const uint64_t *after, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t ref;
        if (after[i] == TG_TASK_NONE)
            continue;
        if (!find_task(self, after[i], &ref)) {
            self->report->wanted = after[i];
            return false;
        }
        if (ref != 0)
            found(&self->user, ref, TG_EDGE_EXPLICIT);
        else if (self->logs)
            tg_edge_log_add(&self->log, after[i], TG_EDGE_EXPLICIT);
    }
    return true;
}

/* All edges are known: true where the task waits for nothing and nobody holds it back. */
TG_FN static bool settle(struct tg_orchestrator *self, bool held)
{
    struct tg_task_desc *desc = &self->e->desc[self->task];
    struct tg_deps *deps = &self->deps;
    uint32_t taken;
    if (!deps->guarded && !held && deps->n <= 1) {
        desc->fanin = deps->n;
        if (deps->n == 0)
            return true;
        return !link_one(self, &self->ring[tg_ref_ring(self->task_ref)], deps->slot[0]) ||
               deps->n_linked == 0;
    }
    link_all(self);
    taken = TG_PENDING_GUARD - deps->n_linked - held;
    return tg_sub_acq_rel(&desc->pending, taken) == taken && !held; /* E2 */
}

/* ── submit ────────────────────────────────────────────────────────────────────────────── */

TG_FN static bool is_in_memory(const struct tg_orchestrator *self, const struct tg_tensor *t)
{
    return t->storage_bytes == 0 ||
           (t->addr >= self->o->memory_start && t->addr <= self->o->memory_end &&
            t->storage_bytes <= self->o->memory_end - t->addr);
}

/* Memory of a scope that has ended is somebody else's by now, or soon. */
TG_FN static bool is_alive(const struct tg_orchestrator *self, const struct tg_tensor *t)
{
    return t->owner_depth == 0 ||
           (t->owner_depth <= self->depth && self->scope[t->owner_depth - 1].serial == t->owner);
}

/* Everything that can be wrong with the tensors, and where they are. */
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
        if (!is_in_memory(self, t))
            return TG_FAULT_MEMORY;
        if (!is_alive(self, t))
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
    if (!tg_args_within_limits(args) ||
        !tg_task_set_kernels(desc, kernel, self->kernel, self->o->n_kernels, first))
        return TG_FAULT_ARGUMENTS;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (kernel[part] != TG_NO_KERNEL && !tg_signature_fits(&self->kernel[kernel[part]], args))
            return TG_FAULT_ARGUMENTS;
    return look_at(self, args);
}

TG_FN static bool allocate(struct tg_orchestrator *self, struct tg_tensor *t, const char *site)
{
    struct tg_open_scope *scope = tg_current_scope(self);
    struct tg_ring_book *ring = &self->ring[scope->ring];
    if (!tg_flow_want_heap(self, ring, t->storage_bytes, &t->addr, site))
        return false;
    if (scope->first_byte == TG_NO_PIN) {
        scope->first_byte = ring->at->heap_head - tg_heap_round(t->storage_bytes);
        if (scope->first_byte < ring->heap_pin)
            ring->heap_pin = scope->first_byte;
    }
    t->owner_depth = (uint8_t)self->depth;
    t->owner = scope->serial;
    if (self->user.keep_done)
        tg_map_forget(&self->map, &self->user, t->addr, t->addr + t->storage_bytes);
    return true;
}

TG_FN static bool put_args(struct tg_orchestrator *self, struct tg_task_desc *desc,
                           const struct tg_args *args, const char *site)
{
    struct tg_tensor *tensor = (struct tg_tensor *)(self->payload + desc->args);
    struct tg_scalar *scalar = (struct tg_scalar *)(tensor + args->n_tensors);
    for (uint32_t i = 0; i < args->n_tensors; i++) {
        tg_tensor_copy(&tensor[i], &args->tensor[i]);
        if (args->tensor[i].owner_depth != TG_TENSOR_NEW)
            continue;
        if (!allocate(self, &tensor[i], site))
            return false;
        tg_region_of(&tensor[i], &self->region[i]);
    }
    for (uint32_t i = 0; i < args->n_scalars; i++)
        scalar[i] = args->scalar[i];
    return true;
}

/* The slot becomes this task's: nobody else knows it yet. */
TG_FN static struct tg_task_desc *take_slot(struct tg_orchestrator *self, struct tg_ring_book *ring)
{
    struct tg_task_desc *desc = &self->e->desc[ring->head_slot];
    self->task = ring->head_slot;
    self->task_ref = tg_ref(ring->index, ring->head_slot, ring->at->head);
    self->order++;
    self->note[ring->head_slot].seen = 0;
    tg_store_relaxed(&desc->succ, TG_DEP_NONE);
    desc->id = (uint64_t)ring->index << 32 | (uint32_t)ring->at->head;
    desc->args = ring->head_slot * self->o->payload_stride;
    desc->site = tg_current_scope(self)->site;
    return desc;
}

TG_FN static bool find_edges(struct tg_orchestrator *self, const struct tg_args *args)
{
    for (uint32_t i = 0; i < args->n_tensors; i++)
        if (self->region[i].hi != self->region[i].lo &&
            !tg_map_access(&self->map, &self->user, &self->region[i], (enum tg_role)args->role[i],
                           self->task_ref))
            return false;
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

/* The task is there: its ring, its scope and its notes know of it. */
TG_FN static void enter_task(struct tg_orchestrator *self, struct tg_ring_book *ring,
                             struct tg_open_scope *scope)
{
    struct tg_slot_note *note = &self->note[self->task];
    note->order = self->order;
    note->dep_end = (uint32_t)ring->at->dep_head;
    note->held = 0;
    if (scope->first_task == TG_NO_PIN) {
        scope->first_task = ring->at->head;
        if (self->scopes_own_slots && scope->first_task < ring->pin)
            ring->pin = scope->first_task;
    }
    scope->n_tasks++;
    ring->head_slot = tg_next_slot(ring, ring->head_slot);
    ring->at->head++;
    self->submitted++;
    tg_store_relaxed(&self->report->submitted, self->submitted);
}

TG_FN static void make_way(struct tg_orchestrator *self, struct tg_ring_book *ring)
{
    tg_orchestrator_announce(self);
    tg_ring_advance(self->e, ring, self->note);
    if (ring->at->head - ring->at->done > FAR_AHEAD && self->n_held == 0 &&
        !tg_worker_any_sleeps(self->e))
        tg_flow_await(self, ring->index, ring->at->head - FAR_AHEAD / 2, TG_RESOURCE_NONE);
}

TG_FN static uint64_t submit(struct tg_rt *rt, const uint32_t kernel[TG_PARTS],
                             const struct tg_args *args, const char *site)
{
    struct tg_orchestrator *self = of_rt(rt);
    struct tg_open_scope *scope = tg_current_scope(self);
    struct tg_ring_book *ring = &self->ring[scope->ring];
    struct tg_task_desc *desc;
    enum tg_orchestration_fault fault;
    struct tg_args none;
    bool held = scope->kind == TG_SCOPE_HOLDS, ready;
    uint64_t id;
    if (!runs(self)) {
        if (self->mode == TG_MODE_COUNTS)
            tg_count_submit(self, args);
        return TG_TASK_NONE;
    }
    if (!args) {
        tg_args_init(&none);
        args = &none;
    }
    if (ring->at->head - ring->at->tail >= ring->has.n_slots &&
        !tg_flow_want_slot(self, ring, site)) {
        if (self->mode == TG_MODE_COUNTS)
            tg_count_submit(self, args);
        return TG_TASK_NONE;
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
    if (self->logs)
        tg_edge_log_begin(&self->log, desc);
    if (!put_args(self, desc, args, site))
        return TG_TASK_NONE;
    if (!add_named(self, args->after, args->n_after) ||
        !add_named(self, args->more_after, args->n_more_after))
        return refuse(self, kernel, args, TG_FAULT_PREDECESSOR, site);
    if (self->finds_edges && !find_edges(self, args)) {
        if (runs(self))
            tg_flow_fail(self, TG_TENSORMAP_OVERFLOW, TG_RESOURCE_MAP, ring->index, 1, site);
        return TG_TASK_NONE;
    }
    ready = settle(self, held);
    if (!runs(self))
        return TG_TASK_NONE;
    id = desc->id;
    if (self->logs)
        tg_edge_log_end(&self->log);
    self->report->edges += self->deps.n_linked;
    enter_task(self, ring, scope);
    if (held)
        hold(self, scope);
    if (ready)
        offer(self, self->task);
    if (!self->eager && self->submitted % TASKS_AT_ONCE == 0)
        make_way(self, ring);
    return id;
}

/* ── the other calls ───────────────────────────────────────────────────────────────────── */

TG_FN static void depend(struct tg_rt *rt, uint64_t task, uint64_t after, const char *site)
{
    struct tg_orchestrator *self = of_rt(rt);
    struct tg_task_desc *desc;
    struct tg_ring_book *ring;
    uint64_t ref, before;
    if (after == TG_TASK_NONE || !runs(self))
        return;
    self->report->task = task;
    self->report->wanted = after;
    if (!find_task(self, task, &ref) || !find_task(self, after, &before)) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_PREDECESSOR, site);
        return;
    }
    if (ref == 0 || self->note[tg_ref_slot(ref)].held == 0) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_DEPEND, site);
        return;
    }
    if (before != 0 && (int32_t)(self->note[tg_ref_slot(ref)].order -
                                 self->note[tg_ref_slot(before)].order) <= 0) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_ORDER, site);
        return;
    }
    if (self->logs)
        tg_edge_log_late(&self->log, &self->e->desc[tg_ref_slot(ref)], after);
    if (before == 0)
        return;
    /* A held task is counted and above zero, so an edge can be taken back. */
    self->task = tg_ref_slot(ref);
    self->deps.n_linked = 0;
    desc = &self->e->desc[self->task];
    tg_add_acq_rel(&desc->pending, 1u); /* E2 */
    if (!link_one(self, &self->ring[tg_ref_ring(ref)], tg_ref_slot(before)))
        return;
    if (self->deps.n_linked == 0)
        tg_sub_acq_rel(&desc->pending, 1u); /* E2 */
    self->report->edges += self->deps.n_linked;
    /* It came from the ring's end, so it goes with the ring's newest task. */
    ring = &self->ring[tg_ref_ring(ref)];
    self->note[tg_slot_of(ring, ring->at->head - 1)].dep_end = (uint32_t)ring->at->dep_head;
}

TG_FN static struct tg_tensor alloc(struct tg_rt *rt, unsigned dtype, int ndim,
                                    const int64_t *shape, const char *site)
{
    struct tg_orchestrator *self = of_rt(rt);
    struct tg_tensor t = tg_tensor_make(0, dtype, ndim, shape);
    if (self->mode == TG_MODE_COUNTS)
        tg_count_alloc(self, t.storage_bytes);
    if (!runs(self))
        return tg_tensor_none();
    if (!tg_tensor_valid(&t)) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_ALLOC, site);
        return tg_tensor_none();
    }
    if (!allocate(self, &t, site)) {
        if (self->mode == TG_MODE_COUNTS)
            tg_count_alloc(self, t.storage_bytes);
        return tg_tensor_none();
    }
    return t;
}

TG_FN static void scope_begin(struct tg_rt *rt, enum tg_scope_kind kind, const char *site)
{
    struct tg_orchestrator *self = of_rt(rt);
    struct tg_open_scope *scope;
    if (self->mode != TG_MODE_COUNTS && !runs(self))
        return;
    if (self->depth == TG_MAX_DEPTH) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_DEPTH, site);
        return;
    }
    if (self->mode == TG_MODE_COUNTS)
        tg_count_scope(self);
    scope = &self->scope[self->depth];
    scope->serial = ++self->serial;
    scope->site = tg_orchestrator_site(self, site);
    scope->ring = self->depth < self->n_rings ? self->depth : self->n_rings - 1;
    scope->kind = kind;
    scope->first_task = scope->first_byte = TG_NO_PIN;
    scope->n_tasks = 0;
    scope->first_held = scope->last_held = 0;
    self->depth++;
    self->report->scopes++;
    tg_store_relaxed(&self->report->scope_site, scope->site);
}

/* Its tasks may start. */
TG_FN static void let_go(struct tg_orchestrator *self, struct tg_open_scope *scope)
{
    uint32_t at = scope->first_held;
    while (at) {
        struct tg_slot_note *note = &self->note[at - 2];
        uint32_t slot = at - 2;
        at = note->held == 1 ? 0 : note->held;
        note->held = 0;
        self->n_held--;
        if (tg_sub_acq_rel(&self->e->desc[slot].pending, 1u) == 1) /* E2 */
            offer(self, slot);
    }
}

/* What the open scopes that are left keep of the ring. */
TG_FN static void pin_again(struct tg_orchestrator *self, struct tg_ring_book *ring)
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

TG_FN static void end_scope(struct tg_orchestrator *self)
{
    struct tg_open_scope *scope = tg_current_scope(self);
    struct tg_ring_book *ring = &self->ring[scope->ring];
    if (self->mode == TG_MODE_RUNS)
        let_go(self, scope);
    self->depth--;
    if (scope->first_task != TG_NO_PIN || scope->first_byte != TG_NO_PIN)
        pin_again(self, ring);
    if (scope->first_byte != TG_NO_PIN && self->mode == TG_MODE_RUNS)
        tg_ring_heap_scope_ended(self->ring, scope->ring);
    if (self->depth > 0)
        tg_store_relaxed(&self->report->scope_site, tg_current_scope(self)->site);
}

TG_FN static void scope_end(struct tg_rt *rt)
{
    struct tg_orchestrator *self = of_rt(rt);
    if (self->mode != TG_MODE_COUNTS && !runs(self))
        return;
    if (self->depth <= 1) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_SCOPE_END, self->root_site);
        return;
    }
    if (self->mode == TG_MODE_COUNTS)
        tg_count_scope(self);
    end_scope(self);
}

TG_FN static void fail(struct tg_rt *rt, const char *text, const char *site)
{
    struct tg_orchestrator *self = of_rt(rt);
    if (self->mode == TG_MODE_RUNS)
        tg_copy_text(self->report->text, sizeof self->report->text, text);
    tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_OWN, site);
}

TG_FN static struct tg_tensor output(struct tg_rt *rt, uint64_t task, uint32_t argument,
                                     const char *site)
{
    struct tg_orchestrator *self = of_rt(rt);
    uint32_t r = (uint32_t)(task >> 32), age;
    struct tg_tensor t = tg_tensor_none();
    const struct tg_task_desc *desc;
    if (!runs(self))
        return t;
    self->report->task = task;
    self->report->argument = argument;
    age = task >> 32 < self->n_rings ? (uint32_t)self->ring[r].at->head - (uint32_t)task : 0;
    if (age == 0 || age > self->ring[r].has.n_slots || age > self->ring[r].at->head) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_OUTPUT, site);
        return t;
    }
    desc = &self->e->desc[tg_slot_of(&self->ring[r], self->ring[r].at->head - age)];
    if (argument >= desc->n_tensors) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_OUTPUT, site);
        return t;
    }
    tg_tensor_copy(&t, (const struct tg_tensor *)(self->payload + desc->args) + argument);
    return t;
}

/* Waits for the task, if it is still under way. */
TG_FN static bool await_ref(struct tg_orchestrator *self, uint64_t ref, const char *site)
{
    if (ref == 0 || tg_ref_done(self, ref))
        return true;
    if (self->note[tg_ref_slot(ref)].held == 0 &&
        tg_flow_await(self, tg_ref_ring(ref), tg_ref_index(ref), TG_RESOURCE_RESULT))
        return true;
    self->report->task = tg_ref_id(ref);
    if (tg_engine_running(self->e))
        tg_orchestrator_fail(self, TG_FLOW_CONTROL_DEADLOCK, TG_FAULT_HELD, site);
    return false;
}

/* Who writes a tensor, gathered in deps.slot as a submit would: all are waited for. */
TG_FN static bool await_writers(struct tg_orchestrator *self, const struct tg_region *region,
                                const char *site)
{
    bool good = true;
    do { /* again where there were more than fit */
        self->order++;
        self->deps.n = self->deps.n_linked = 0;
        self->deps.guarded = false;
        self->reading = true;
        tg_map_find_writers(&self->map, &self->user, region);
        self->reading = false;
        for (uint32_t i = 0; i < self->deps.n && good; i++) {
            uint64_t ref;
            good = find_task(self, self->e->desc[self->deps.slot[i]].id, &ref) &&
                   await_ref(self, ref, site);
        }
    } while (good && self->deps.n == TG_DEPS_AT_ONCE);
    return good;
}

TG_FN static uint64_t read(struct tg_rt *rt, const struct tg_tensor *tensor, uint64_t producer,
                           const char *site)
{
    struct tg_orchestrator *self = of_rt(rt);
    struct tg_region region;
    uint64_t ref = 0, bits = 0;
    const char *at;
    uint32_t size;
    if (self->mode == TG_MODE_COUNTS)
        tg_count_end(self, false); /* what comes now depends on what will never be */
    if (!runs(self))
        return 0;
    if (!is_in_memory(self, tensor) || !tg_tensor_valid(tensor) || tg_tensor_numel(tensor) != 1 ||
        tg_bits_of(tensor->dtype) < 8 || !tg_region_of(tensor, &region)) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_READ, site);
        return 0;
    }
    self->report->argument = 0;
    if (!is_alive(self, tensor)) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_OUT_OF_SCOPE, site);
        return 0;
    }
    if (producer != TG_TASK_NONE && !find_task(self, producer, &ref)) {
        self->report->wanted = producer;
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_PREDECESSOR, site);
        return 0;
    }
    if (!await_ref(self, ref, site) || (self->finds_edges && !await_writers(self, &region, site)))
        return 0;
    at = TG_DEVICE_PTR(const char, region.lo);
    size = tg_bits_of(tensor->dtype) / 8;
    for (uint32_t i = 0; i < size; i++)
        bits |= (uint64_t)(uint8_t)at[i] << (8 * i);
    return bits;
}

/* ── a run ─────────────────────────────────────────────────────────────────────────────── */

#if defined(__CUDACC__)
__device__
#endif
    static const struct tg_rt_ops ops = {submit,    depend, alloc,  scope_begin,
                                         scope_end, fail,   output, read};

TG_FN static void clear_report(struct tg_orchestrator_report *report)
{
    char *bytes = (char *)report;
    for (uint32_t i = 0; i < sizeof *report; i++)
        bytes[i] = 0;
}

TG_FN void tg_orchestrator_prepare(struct tg_orchestrator *self, struct tg_engine *e,
                                   struct tg_orchestration *o, tg_orchestrate_fn orchestrate,
                                   const char *root_site)
{
    self->rt.ops = &ops;
    self->user.found = found;
    self->user.desc = e->desc;
    for (uint32_t r = 0; r < TG_RINGS; r++)
        self->user.done[r] = &o->cursors[r].done;
    self->user.wait = wait_for_entries;
    self->user.keep_done = o->log != 0;
    self->e = e;
    self->self = &e->worker[e->n_lanes + e->n_schedulers];
    self->o = o;
    self->report = &o->report;
    self->orchestrate = orchestrate;
    self->root_site = root_site;
    self->note = TG_DEVICE_PTR(struct tg_slot_note, o->notes);
    self->kernel = TG_DEVICE_PTR(const struct tg_kernel_desc, o->kernels);
    self->payload = (char *)e->payload;
    self->finds_edges = e->runtime == TG_RUNTIME_TENSORMAP_AND_RINGBUFFER;
    self->scopes_own_slots = self->finds_edges;
    self->n_rings = self->finds_edges ? TG_RINGS : 1;
    self->eager = e->spin > 0;
    self->mode = TG_MODE_RUNS;
    self->order = self->serial = self->n_held = self->offered = 0;
    self->submitted = 0;
    self->depth = 0;
    self->reading = false;
    for (uint32_t r = 0; r < TG_RINGS; r++)
        tg_ring_book_init(&self->ring[r], &o->ring[r], &o->cursors[r], r);
    for (uint32_t i = 0; i < TG_SITE_CACHE; i++)
        self->site_cache[i].text = 0;
    clear_report(self->report);
    if (self->finds_edges)
        tg_map_init(&self->map, o);
    self->logs = o->log != 0;
    if (self->logs)
        tg_edge_log_open(&self->log, e, self->self,
                         TG_DEVICE_PTR(const struct tg_record_setup, o->log));
}

/* The orchestration has come back: what is left to do, or to say. */
TG_FN static void finish(struct tg_orchestrator *self)
{
    if (self->mode == TG_MODE_RUNS && self->depth > 1) {
        const struct tg_site *sites = TG_DEVICE_PTR(const struct tg_site, self->o->sites);
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_SCOPE_LEFT,
                             sites[tg_current_scope(self)->site].text);
    }
    tg_count_end(self, true);
    if (self->mode != TG_MODE_RUNS)
        return;
    end_scope(self);
    tg_orchestrator_announce(self);
    self->mode = TG_MODE_ENDED;
    tg_store_release(&self->report->state, (uint32_t)TG_ORCHESTRATOR_RETURNED);
    tg_store_seq(&self->e->n_tasks, self->submitted);
    tg_engine_check_over(self->e);
}

TG_FN void tg_orchestrator_run(struct tg_orchestrator *self)
{
    self->report->began_ns = tg_target_now();
    tg_store_release(&self->report->state, (uint32_t)TG_ORCHESTRATOR_RUNS);
    scope_begin(&self->rt, TG_SCOPE_OPEN, self->root_site);
    self->orchestrate(&self->rt, TG_DEVICE_PTR(const struct tg_args, self->o->args));
    self->report->ended_ns = tg_target_now();
    finish(self);
}
