/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings of a graph that the device builds: task slots, arguments, heap and dependencies of one
 * depth of scope. Each is allocated at its head and freed at its tail.
 *
 *   slots   freed in order, once the task has completed and (if the runtime's scopes own slots) no
 *           task as old or older belongs to a scope that is still open. The slot that was freed last
 *           is taken first: a run touches the slots of its tasks in flight, not all that the ring has
 *   args    freed with the slots (args_pool.h)
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
#include "orchestrate/args_pool.h"
#include <taskglass/args.h>
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
    struct tg_task_place *place; /* n_slots of them: that of task i is entry i mod n_slots */
    struct tg_args_pool args;
    uint64_t freed;       /* tasks before it have given their slots back: freed ≤ tail */
    uint32_t head_place;  /* entry of task `head` */
    uint32_t done_place;  /* entry of task `done` */
    uint32_t freed_place; /* entry of task `freed` */
    uint32_t free_slot;   /* list through the notes: slot + 1 */
    uint32_t fresh_slot;  /* slots from here on were never used */
    bool keeps_slots;     /* a task keeps its slot until the ring needs it: for tg_origin_find */
    bool keeps_args;      /* the same with its arguments: for tg_output where scopes own no slots */
    uint32_t head_dep;    /* entry of dependency `dep_head` */
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
    return tg_task_is_closed(e->desc, e->done_words, slot);
}

TG_FN static inline uint32_t tg_next_place(const struct tg_ring *ring, uint32_t place)
{
    return place + 1 == ring->has.n_slots ? 0 : place + 1;
}

/* `index` is that of one of the last n_slots tasks, or `head`. */
TG_FN static inline struct tg_task_place *tg_place_of(const struct tg_ring *ring, uint64_t index)
{
    uint32_t age = (uint32_t)(ring->at->head - index);
    return &ring->place[ring->head_place - age + (ring->head_place < age ? ring->has.n_slots : 0)];
}

/* The slot of a task that has not given it back. */
TG_FN static inline uint32_t tg_slot_of(const struct tg_ring *ring, uint64_t index)
{
    return tg_place_of(ring, index)->slot;
}

/* Takes a free slot for task `head`; the caller has checked that there is one. */
TG_FN uint32_t tg_ring_take_slot(struct tg_ring *ring, struct tg_slot_note *notes);
/* Returns the offset of memory for the arguments of task `head`, which take at most that many bytes. */
TG_FN uint64_t tg_ring_take_args(struct tg_ring *ring, uint64_t most);
/* They took that many of them. */
TG_FN void tg_ring_keep_args(struct tg_ring *ring, const struct tg_args *args, uint64_t bytes);
/* The task with this slot and these arguments is submitted: `head` moves on. */
TG_FN void tg_ring_enter(struct tg_ring *ring);

/* Finds out how far the tasks of the ring have completed, and frees what they used. */
TG_FN void tg_ring_advance(struct tg_engine *e, struct tg_ring *ring, struct tg_slot_note *notes);

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

TG_FN void tg_ring_init(struct tg_ring *ring, struct tg_orchestration *o, uint32_t index);

#endif
