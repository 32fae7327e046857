/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where ready tasks wait. Tasks are named by their index.
 *
 *   tg_deque   one per worker and class, small. The owner pushes; owner and thieves pop, each by
 *              moving `head` with a compare-and-swap.
 *
 *        slot:   …  │taken│ task │ task │ task │ free │ …
 *                         ▲ head (owner, thieves)     ▲ tail (owner alone)
 *
 *   tg_queue   one per class for the whole device, with a slot for every task that can be ready at
 *              once, so that it is never full. A worker pushes by claiming a position of `tail`,
 *              then filling the slot; it pops by moving `head`, then waiting for the slot
 *              to be filled. The upper half of a slot says which position the slot is for:
 *
 *        slot:   p, nothing         free for the push at p
 *                p, task + 1        holds the task that was pushed at p
 *                p + size, nothing  taken: free for the push a lap later
 *
 *              A run seldom uses all slots, so they are not all filled before it: `clean` counts the
 *              slots from `start` on that say what they are for. Before a worker claims positions, it
 *              makes sure that clean slots are left for its own and for those that other workers may
 *              be claiming right now.
 *
 *              On a target with TG_TARGET_LINES_UP a worker that finds the queue empty moves `head`
 *              too, beyond `tail`, and stands in line: its position is the one of a push that is still
 *              to come, and it looks at nothing but that slot. So no two workers compete for a task,
 *              and a push reaches the worker that waits longest. If the worker has to do something
 *              else, it leaves the line by writing so into the slot; a pusher that comes there takes
 *              another position.
 *
 *        slot:   p, left            the worker at p has left: free for the push a lap later
 *
 * Named edges:
 *   R1  deque push      store_release(tail)     pairs with load_acquire(tail) in pop and steal:
 *                      the slot, and what the task's predecessors wrote, are visible.
 *   R2  deque pop       cas(head) acq_rel       pairs with load_acquire(head) in push, and with that
 *                      of the thief's own deque in steal: the slot is free to be written again.
 *   Q1  queue push     store_release(slot)     pairs with load_acquire(slot) in pop, as R1.
 *   Q2  queue pop      the slot says free      to the push a lap later; it is a single word, so it
 *                      needs no other ordering.
 *   Q3  queue clean    store_release(clean)    pairs with load_acquire(clean) of the pusher, whose
 *                      add(tail) is seq and pairs with load_acquire(tail) in pop: whoever gets a
 *                      position sees its slot clean.
 *   Q5  queue line     cas(slot) by the pusher and by the worker that leaves: one of the two wins. What
 *                      the pusher put there brings Q1.
 *   Q4  queue cleaner  store_release(cleaning) pairs with cas(cleaning): one worker cleans at a time.
 */
#ifndef TG_DEVICE_QUEUE_H
#define TG_DEVICE_QUEUE_H

#include "common/atomic.h"
#include <stdbool.h>
#include <taskglass/target.h>

#define TG_NO_TASK UINT32_MAX
#define TG_LINE 64
enum { TG_DEQUE_SIZE = 256, TG_BATCH_MAX = TG_DEQUE_SIZE / 2 };

struct tg_deque {
    uint32_t head;
    uint8_t pad0[TG_LINE - 4];
    uint32_t tail;
    uint8_t pad1[TG_LINE - 4];
    uint32_t slot[TG_DEQUE_SIZE];
};

struct tg_queue {
    uint32_t head;
    uint8_t pad0[TG_LINE - 4];
    uint32_t tail;
    uint8_t pad1[TG_LINE - 4];
    uint64_t *slot; /* position << 32 | task + 1, or 0 */
    uint32_t mask;
    uint32_t start;  /* the first position of this run */
    uint32_t clean;  /* slots from there on that are clean */
    uint32_t claims; /* the most positions that all workers together can be claiming at one time */
    uint32_t cleaning; /* 1: a worker is cleaning more */
    uint8_t pad2[TG_LINE - 20 - sizeof(uint64_t *)];
};

/* Slots are cleaned a page at a time. */
enum { TG_QUEUE_CLEANED = 512 };

/* Owner only. Returns false if the deque is full. */
TG_FN static inline bool tg_deque_push(struct tg_deque *deque, uint32_t task)
{
    uint32_t tail = tg_load_relaxed(&deque->tail);             /* only the owner writes it */
    if (tail - tg_load_acquire(&deque->head) == TG_DEQUE_SIZE) /* R2 */
        return false;
    tg_store_relaxed(&deque->slot[tail % TG_DEQUE_SIZE], task);
    tg_store_release(&deque->tail, tail + 1); /* R1 */
    return true;
}

/* Owner only. */
TG_FN static inline uint32_t tg_deque_pop(struct tg_deque *deque)
{
    uint32_t head = tg_load_relaxed(&deque->head); /* a stale value fails the swap */
    while (head != tg_load_relaxed(&deque->tail)) {
        uint32_t task = tg_load_relaxed(&deque->slot[head % TG_DEQUE_SIZE]);
        if (tg_cas_acq_rel(&deque->head, &head, head + 1)) /* R2 */
            return task;
    }
    return TG_NO_TASK;
}

/* Any thread; the _seq loads make it the `check` of a worker about to sleep (see engine.h, S1). */
TG_FN static inline bool tg_deque_occupied(const struct tg_deque *deque)
{
    return tg_load_seq(&deque->head) != tg_load_seq(&deque->tail);
}

/* Takes half of a victim's deque, rounded up: returns the first task and puts the rest into the
 * thief's own deque, which must be empty. */
TG_FN uint32_t tg_deque_steal(struct tg_deque *victim, struct tg_deque *own);

/* Any thread. Waits if all slots are full, which does not happen in an engine. */
TG_FN void tg_queue_push(struct tg_queue *queue, uint32_t task);
/* The same for several tasks, with all lanes that there are. */
TG_FN void tg_queue_push_all(struct tg_queue *queue, const uint32_t *task, uint32_t n);
/* Any thread. Takes one `share`-th of the tasks, at least one and at most `most`: returns the first
 * and puts the rest into `own`, which must be empty (NULL: takes only one). */
TG_FN uint32_t tg_queue_pop(struct tg_queue *queue, uint32_t share, uint32_t most,
                            struct tg_deque *own);
/* tg_queue_pop in two steps: claims tasks from position *at on and returns how many (*left: how many it saw
 * and left); and fetches what was claimed, with all lanes that there are. */
TG_FN uint32_t tg_queue_claim(struct tg_queue *queue, uint32_t share, uint32_t most, uint32_t *at,
                              uint32_t *left);
TG_FN uint32_t tg_queue_fetch(struct tg_queue *queue, uint32_t at, uint32_t count,
                              struct tg_deque *own);

/* True if there are more pushes than pops; a line is more pops than pushes. */
TG_FN static inline bool tg_queue_has(uint32_t head, uint32_t tail)
{
    return (int32_t)(tail - head) > 0;
}

TG_FN static inline bool tg_queue_occupied(const struct tg_queue *queue)
{
    uint32_t head = tg_load_seq(&queue->head);
    return tg_queue_has(head, tg_load_seq(&queue->tail));
}

/* A worker's place in a queue's line. */
struct tg_place {
    uint64_t *slot;
    uint32_t at, size; /* the position, and how many slots the queue has */
};

/* Stands in line, if the queue is empty and the line is so short that it cannot meet itself in the slots:
 * at most `workers` use the queue. */
TG_FN bool tg_queue_line_up(struct tg_queue *queue, uint32_t workers, struct tg_place *place);
/* Leaves the line. Returns a task if one has come meanwhile. */
TG_FN uint32_t tg_queue_leave(struct tg_queue *queue, struct tg_place place);

/* Returns the task that has come to that place, or TG_NO_TASK. */
TG_FN static inline uint32_t tg_queue_look(struct tg_place place)
{
    uint64_t value = tg_load_acquire(place.slot); /* Q1 */
    if (value >> 32 != place.at || (uint32_t)value == 0)
        return TG_NO_TASK;
    tg_store_relaxed(place.slot, (uint64_t)(place.at + place.size) << 32); /* Q2 */
    return (uint32_t)value - 1;
}

/* Called before a run by one thread: the queue has only its first tasks. The counters begin at
 * `at`. No more than `claims` tasks are on their way into the queue at one time. */
TG_FN void tg_queue_reset(struct tg_queue *queue, uint64_t *slots, uint32_t size, uint32_t at,
                          uint32_t n_ready, uint32_t claims);
/* Fills the slots that must be clean at first, which any number of threads can share, each as thread
 * `first` of `step`. `ready` has the tasks as index + 1. */
TG_FN void tg_queue_fill(const struct tg_queue *queue, const uint32_t *ready, uint32_t first,
                         uint32_t step);

#endif
