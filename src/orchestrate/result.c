/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that read: the tensors of a task, the values it computed, and what the run was given. */
#include "common/stored_args.h"
#include "orchestrate/calls.h"
#include "orchestrate/feed.h"
#include "orchestrate/flow.h"
#include "orchestrate/origin.h"
#include "device/recorder.h"

TG_FN struct tg_tensor tg_call_output(struct tg_rt *rt, uint64_t task, uint32_t argument,
                                      const char *site)
{
    struct tg_orchestrator *self = tg_of_rt(rt);
    uint32_t r = (uint32_t)(task >> 32), age;
    struct tg_tensor t = tg_tensor_none();
    const struct tg_task_place *place;
    const struct tg_ring *ring = &self->ring[r % TG_RINGS];
    if (!tg_runs(self))
        return t;
    self->report->task = task;
    self->report->argument = argument;
    age = r < self->n_rings ? (uint32_t)ring->at->head - (uint32_t)task : 0;
    if (age == 0 || age > ring->has.n_slots || age > ring->at->head) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_OUTPUT, site);
        return t;
    }
    /* The task's scope has ended, so its arguments may be gone. Whether they are depends on how far
     * the cores are, and what the user gets must not. */
    if (self->scopes_own_slots && ring->at->head - age < ring->pin) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_OUT_OF_SCOPE, site);
        return t;
    }
    place = tg_place_of(ring, ring->at->head - age);
    if (argument >= place->n_tensors) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_OUTPUT, site);
        return t;
    }
    tg_stored_get(tg_stored_tensor(self->payload + place->args, place->n_scalars, argument), &t);
    return t;
}

/* Waits for the task if it has not completed. */
TG_FN static bool await_ref(struct tg_orchestrator *self, uint64_t ref, const char *site)
{
    if (ref == 0 || tg_task_ref_done(self, ref))
        return true;
    if (self->note[tg_task_ref_slot(ref)].held == 0 &&
        tg_flow_await(self, tg_task_ref_ring(ref), tg_task_ref_index(ref), TG_RESOURCE_RESULT))
        return true;
    self->report->task = tg_task_ref_id(ref);
    if (tg_engine_running(self->e))
        tg_orchestrator_fail(self, TG_FLOW_CONTROL_DEADLOCK, TG_FAULT_HELD, site);
    return false;
}

/* Collects the tasks that write the tensor in deps.slot, as a submit would, and waits for them all. */
TG_FN static bool await_writers(struct tg_orchestrator *self, const struct tg_region *region,
                                const char *site)
{
    bool good = true;
    do { /* again if there were more than fit */
        self->order++;
        self->deps.n = self->deps.n_linked = 0;
        self->deps.guarded = false;
        self->reading = true;
        tg_map_find_writers(&self->map, &self->user, region);
        self->reading = false;
        for (uint32_t i = 0; i < self->deps.n && good; i++) {
            uint64_t ref;
            good = tg_find_task(self, self->e->desc[self->deps.slot[i]].id, &ref) &&
                   await_ref(self, ref, site);
        }
    } while (good && self->deps.n == TG_DEPS_AT_ONCE);
    return good;
}

/* Reads that many bytes of the device's memory. False: the run is over. */
TG_FN static bool load(struct tg_orchestrator *self, uint64_t address, uint32_t size,
                       uint64_t *bits)
{
    const char *at = TG_DEVICE_PTR(const char, address);
    if (tg_feeds(self->e))
        return tg_feed_read(self->e, address, size, bits);
    for (uint32_t i = 0; i < size; i++)
        *bits |= (uint64_t)(uint8_t)at[i] << (8 * i);
    return true;
}

/* Records a value that the orchestration has read, in the stream after those of the lanes. */
TG_FN static void record_read(struct tg_orchestrator *self, const struct tg_tensor *tensor,
                              const struct tg_region *region, uint64_t producer, uint64_t bits)
{
    const struct tg_record_setup *setup = self->e->record;
    struct tg_origin origin;
    if (self->e->n_lanes >= setup->n_streams)
        return;
    if (self->reads.head == 0)
        tg_stream_open(&self->reads, setup, self->e->n_lanes, self->self);
    tg_origin_find(self, region, producer, &origin);
    tg_record_read(self->e, &self->reads, &origin.task, origin.argument, tensor, bits);
}

TG_FN uint64_t tg_call_read(struct tg_rt *rt, const struct tg_tensor *tensor, uint64_t producer,
                            const char *site)
{
    struct tg_orchestrator *self = tg_of_rt(rt);
    struct tg_region region;
    uint64_t ref = 0, bits = 0;
    if (self->mode == TG_MODE_COUNTS)
        tg_count_end(self, false); /* what follows depends on a result that will never exist */
    if (!tg_runs(self))
        return 0;
    if (!tg_is_in_memory(self, tensor) || !tg_tensor_valid(tensor) ||
        tg_tensor_numel(tensor) != 1 || tg_bits_of(tensor->dtype) < 8 ||
        !tg_region_of(tensor, &region)) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_READ, site);
        return 0;
    }
    self->report->argument = 0;
    if (!tg_is_alive(self, tensor)) {
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_OUT_OF_SCOPE, site);
        return 0;
    }
    if (producer != TG_TASK_NONE && !tg_find_task(self, producer, &ref)) {
        self->report->task = TG_TASK_NONE;
        self->report->wanted = producer;
        tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_PREDECESSOR, site);
        return 0;
    }
    self->line = site; /* for the report, while it waits */
    if (!await_ref(self, ref, site) || (self->finds_edges && !await_writers(self, &region, site)))
        return 0;
    if (self->logs & TG_LOGGED_GRAPH && producer != TG_TASK_NONE)
        tg_edge_log_seen(&self->log, producer);
    if (!load(self, region.lo, tg_bits_of(tensor->dtype) / 8, &bits))
        return 0;
    if (tg_record_is_on(self->e))
        record_read(self, tensor, &region, producer, bits);
    return bits;
}

/* Stores what tg_table was asked for, so that the host can say why it was refused. */
TG_FN static void refuse_table(struct tg_orchestrator *self, enum tg_table_fault fault,
                               const struct tg_tensor *tensor, const int64_t *index, uint32_t n,
                               const char *site)
{
    struct tg_args *refused = TG_DEVICE_PTR(struct tg_args, self->o->refused);
    tg_args_init(refused);
    refused->n_after = (uint8_t)(n < TG_MAX_DIMS ? n : TG_MAX_DIMS);
    for (uint32_t i = 0; i < refused->n_after; i++)
        refused->after[i] = (uint64_t)index[i];
    refused->tensor[0] = *tensor;
    self->report->table = fault;
    self->report->argument = self->given.found;
    self->report->task = self->given.writer[self->given.found];
    tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_TABLE, site);
}

/* Also reads during the dry run, whose course may depend on it. */
TG_FN uint64_t tg_call_table(struct tg_rt *rt, const struct tg_tensor *tensor, const int64_t *index,
                             uint32_t n, const char *site)
{
    struct tg_orchestrator *self = tg_of_rt(rt);
    enum tg_table_fault fault;
    int64_t offset;
    if (self->mode == TG_MODE_ENDED)
        return 0;
    fault = tg_given_look(&self->given, tensor, index, n, &offset);
    if (fault == TG_TABLE_GOOD && tg_feeds(self->e))
        return tg_feed_look(self->e, tensor->dtype, tensor->addr, offset, self->o->memory_end);
    if (fault == TG_TABLE_GOOD)
        return tg_load_bits(tensor->dtype, TG_DEVICE_PTR(const void, tensor->addr), offset);
    if (tg_runs(self))
        refuse_table(self, fault, tensor, index, n, site);
    else
        tg_count_end(self, false);
    return 0;
}
