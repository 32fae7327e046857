/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/origin.h"
#include "common/stored_args.h"

/* The most tasks of a ring to look at. An element that was written before them has no known origin:
 * a longer search would cost an orchestration that reads often too much time. */
enum { MOST_TASKS = 4096 };

/* A task of a ring whose slot has not been given to another task. */
struct candidate {
    uint32_t slot;
    uint32_t argument;
    bool found;
};

TG_FN static bool writes(const struct tg_orchestrator *self, uint32_t slot,
                         const struct tg_region *element, uint32_t *argument)
{
    const struct tg_task_desc *desc = &self->e->desc[slot];
    const uint64_t *stored = tg_stored_tensors(self->payload + desc->args, desc->n_scalars);
    bool found = false;
    for (uint32_t i = 0; i < desc->n_tensors; i++, stored += tg_stored_words(*stored)) {
        struct tg_tensor tensor;
        struct tg_region region;
        if (!(desc->roles >> (2 * i) & TG_OUT))
            continue;
        tg_stored_get(stored, &tensor);
        if (tg_region_of(&tensor, &region) && region.hi != region.lo &&
            tg_regions_meet(&region, element)) {
            *argument = i; /* the last one that meets it */
            found = true;
        }
    }
    return found;
}

/* The slot of task `age` (1: the newest) of the ring, if the task still has it. */
TG_FN static bool slot_of_age(const struct tg_ring *ring, uint64_t age, uint32_t *slot)
{
    if (age == 0 || age > ring->at->head || ring->at->head - age < ring->freed)
        return false;
    *slot = tg_slot_of(ring, ring->at->head - age);
    return true;
}

TG_FN static void look_at_producer(const struct tg_orchestrator *self,
                                   const struct tg_region *element, uint64_t producer,
                                   struct candidate *best)
{
    const struct tg_ring *ring = &self->ring[producer >> 32];
    if (slot_of_age(ring, (uint32_t)ring->at->head - (uint32_t)producer, &best->slot))
        best->found = writes(self, best->slot, element, &best->argument);
}

/* Takes the ring's newest completed task that writes the element, if it was submitted after the best
 * one so far. */
TG_FN static void look_at_ring(const struct tg_orchestrator *self, const struct tg_ring *ring,
                               const struct tg_region *element, struct candidate *best)
{
    uint32_t slot;
    for (uint64_t age = 1; age <= MOST_TASKS && slot_of_age(ring, age, &slot); age++) {
        if (best->found && self->note[slot].order <= self->note[best->slot].order)
            return;
        if (tg_slot_closed(self->e, slot) && writes(self, slot, element, &best->argument)) {
            best->slot = slot;
            best->found = true;
            return;
        }
    }
}

TG_FN void tg_origin_find(const struct tg_orchestrator *self, const struct tg_region *element,
                          uint64_t producer, struct tg_origin *origin)
{
    struct candidate best = {0, TG_ARG_UNKNOWN, false};
    if (producer != TG_TASK_NONE)
        look_at_producer(self, element, producer, &best);
    /* Where the runtime finds edges, tg_read has waited for all writers, and the newest one wrote last.
     * Elsewhere it has waited for the named task alone. */
    for (uint32_t r = 0; r < self->n_rings && (self->finds_edges || !best.found); r++)
        look_at_ring(self, &self->ring[r], element, &best);
    origin->argument = best.argument;
    if (best.found) {
        origin->task = self->e->desc[best.slot];
        return;
    }
    origin->argument = TG_ARG_UNKNOWN;
    origin->task.id = producer;
    for (uint32_t part = 0; part < TG_PARTS; part++)
        origin->task.kernel[part] = TG_NO_KERNEL;
}
