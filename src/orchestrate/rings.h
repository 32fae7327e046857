/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings of a graph that the device builds: task slots, heap and dependencies of one depth of
 * scope. Each is allocated at its head and freed at its tail.
 *
 *   slots   freed in order, once the task has completed and (if the runtime's scopes own slots) no
 *           task as old or older belongs to a scope that is still open
 *   deps    freed with the task that they make wait, once it has completed
 *   heap    freed scope by scope: once the scope has ended and all tasks that were submitted in it
 *           or in scopes inside it have completed. If a scope lies inside another of the same ring
 *           that has memory itself, their memory is freed together. Memory that a task could still
 *           use is never allocated again.
 *
 * Only the orchestrator uses this. It sees that a task has completed from the task's list being
 * closed (E1 in device/growing_edges.h). A caller that needs more than is free goes through flow.h.
 */
#ifndef TG_ORCHESTRATE_RINGS_H
#define TG_ORCHESTRATE_RINGS_H

#include "device/engine.h"
#include "device/task_ref.h"
#include <taskglass/wire/orchestration.h>

enum { TG_ENDED_SCOPES = 128, TG_HEAP_UNIT = 64 };

#define TG_NO_PIN UINT64_MAX

/* A scope that has ended and whose heap is not free yet. */
struct tg_ended_scope {
    uint64_t heap_end;       /* up to here */
    uint64_t mark[TG_RINGS]; /* the heap is freed once these tasks of each ring have completed */
};

struct tg_ring {
    struct tg_ring_cursors *at; /* in memory that the host can read */
    struct tg_ring_layout has;
    uint32_t head_slot, done_slot; /* slots of task `head` and task `done` */
    uint32_t head_dep;             /* entry of dependency `dep_head` */
    uint32_t index;
    uint64_t heap_offset; /* in the heap, of position `heap_head` */
    uint64_t pin;         /* oldest task of an open scope */
    uint64_t heap_pin;    /* oldest byte of an open scope */
    uint64_t heap_largest;
    uint64_t asked_deps; /* dependencies that its tasks asked for, taken or not */
    uint32_t ended_first, n_ended;
    struct tg_ended_scope ended[TG_ENDED_SCOPES]; /* a queue */
};

/* ── slots ─────────────────────────────────────────────────────────────────────────────── */

TG_FN static inline bool tg_slot_closed(const struct tg_engine *e, uint32_t slot)
{
    return tg_load_acquire(&e->desc[slot].succ) == TG_DEP_CLOSED; /* E1 */
}

TG_FN static inline uint32_t tg_next_slot(const struct tg_ring *ring, uint32_t slot)
{
    return slot + 1 == ring->has.first_slot + ring->has.n_slots ? ring->has.first_slot : slot + 1;
}

TG_FN static inline uint32_t tg_slot_of(const struct tg_ring *ring, uint64_t index)
{
    return ring->has.first_slot + (uint32_t)(index % ring->has.n_slots);
}

/* Finds out how far the tasks of the ring have completed, and frees what they used. */
TG_FN void tg_ring_advance(struct tg_engine *e, struct tg_ring *ring,
                           const struct tg_slot_note *notes);

/* ── heap ──────────────────────────────────────────────────────────────────────────────── */

TG_FN static inline uint64_t tg_heap_round(uint64_t bytes)
{
    return (bytes + TG_HEAP_UNIT - 1) / TG_HEAP_UNIT * TG_HEAP_UNIT;
}

/* Allocates that many bytes (rounded up) in one piece. Returns its address, or 0 if there is no
 * room now. */
TG_FN uint64_t tg_ring_heap_take(struct tg_ring *ring, uint64_t bytes);
/* True if there would be room once all ended scopes have freed their memory. */
TG_FN bool tg_ring_heap_could_take(const struct tg_ring *ring, uint64_t bytes);
/* Called when a scope with memory has ended (the pins are those of the scopes still open):
 * everything before heap_head is freed with it. */
TG_FN void tg_ring_heap_scope_ended(struct tg_ring *rings, uint32_t ring);
/* Frees the heap of ended scopes as far as their tasks have completed. */
TG_FN void tg_ring_heap_reclaim(struct tg_ring *rings, uint32_t ring);

TG_FN void tg_ring_init(struct tg_ring *ring, const struct tg_ring_layout *layout,
                        struct tg_ring_cursors *cursors, uint32_t index);

#endif
