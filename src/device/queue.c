/* SPDX-License-Identifier: Apache-2.0 */
#include "device/queue.h"
#include "device/target.h"
#include "device/wait.h"

TG_FN uint32_t tg_deque_steal(struct tg_deque *victim, struct tg_deque *own)
{
    uint32_t head = tg_load_relaxed(&victim->head); /* a stale value fails the swap */
    /* The deque is empty, so this is its tail too. R2: the slots after it are free to be
     * written. */
    uint32_t tail = tg_load_acquire(&own->head);
    for (;;) {
        uint32_t available = tg_load_acquire(&victim->tail) - head; /* R1 */
        uint32_t count = available - available / 2;
        uint32_t first;
        if (count == 0 || available > TG_DEQUE_SIZE)
            return TG_NO_TASK; /* empty, or head or tail is stale: another thread takes tasks */
        first = tg_load_relaxed(&victim->slot[head % TG_DEQUE_SIZE]);
        /* No thread reads beyond own->tail, so copying before the claim is harmless. */
        for (uint32_t i = 1; i < count; i++)
            tg_store_relaxed(&own->slot[(tail + i - 1) % TG_DEQUE_SIZE],
                             tg_load_relaxed(&victim->slot[(head + i) % TG_DEQUE_SIZE]));
        if (tg_cas_acq_rel(&victim->head, &head, head + count)) { /* R2 */
            if (count > 1)
                tg_store_release(&own->tail, tail + count - 1); /* R1 */
            return first;
        }
    }
}

TG_FN static uint64_t free_at(uint32_t position)
{
    return (uint64_t)position << 32;
}

TG_FN static uint64_t holding(uint32_t position, uint32_t task)
{
    return free_at(position) | (task + 1);
}

/* No task comes to this position: the worker that stood there has left. */
TG_FN static uint64_t left_at(uint32_t position)
{
    return free_at(position) | UINT32_MAX;
}

/* Cleans at least `wanted` slots in all. */
TG_FN static void clean(struct tg_queue *queue, uint32_t wanted)
{
    uint32_t size = queue->mask + 1, idle = 0, at;
    while (!tg_cas_acq_rel(&queue->cleaning, &idle, 1u)) { /* Q4 */
        idle = 0;
        tg_wait_moment();
    }
    at = tg_load_relaxed(&queue->clean); /* only the cleaner writes it */
    while (at < size && at < wanted) {
        uint32_t end = size - at < TG_QUEUE_CLEANED ? size : at + TG_QUEUE_CLEANED;
        for (; at < end; at++)
            tg_store_relaxed(&queue->slot[(queue->start + at) & queue->mask],
                             free_at(queue->start + at));
        tg_store_release(&queue->clean, at); /* Q3 */
    }
    tg_store_release(&queue->cleaning, 0u); /* Q4 */
}

/* True if the slots of the next `n` positions are clean, whatever other workers claim before. The tail
 * is at most `claims` further than the last worker that asked saw it. */
TG_FN static bool is_clean(const struct tg_queue *queue, uint32_t n, uint32_t *wanted)
{
    uint32_t cleaned = tg_load_acquire(&queue->clean); /* Q3 */
    *wanted = tg_load_relaxed(&queue->tail) - queue->start + n + queue->claims;
    return cleaned > queue->mask || *wanted <= cleaned;
}

/* Fills the slot of a claimed position, after tg_release_begin. */
TG_FN static inline void put(struct tg_queue *queue, uint32_t at, uint32_t task)
{
    uint64_t *slot = &queue->slot[at & queue->mask];
    /* Q2: the worker that took the last lap's task is not done yet. */
    while (tg_load_relaxed(slot) != free_at(at))
        tg_wait_moment();
    tg_store_in_release(slot, holding(at, task)); /* Q1 */
}

/* The same where workers stand in line. `slots` and `mask` are the queue's. */
TG_FN static inline void put_in_line(struct tg_queue *queue, uint64_t *slots, uint32_t mask,
                                     uint32_t at, uint32_t task)
{
    for (;;) {
        uint64_t *slot = &slots[at & mask];
        uint64_t value = free_at(at);
        if (tg_cas_in_release(slot, &value, holding(at, task))) /* Q1, Q5 */
            return;
        if (value == left_at(at)) {
            tg_store_relaxed(slot, free_at(at + mask + 1));
            at = tg_add_relaxed(&queue->tail, 1u);
        } else {
            tg_wait_moment(); /* Q2 */
        }
    }
}

TG_FN void tg_queue_push_all(struct tg_queue *queue, const uint32_t *task, uint32_t n)
{
    uint32_t lanes = tg_target_lanes(), at = 0, mask = queue->mask, wanted;
    uint64_t *slots = queue->slot; /* on their way while the tail is */
    if (!TG_TARGET_FILLS_QUEUES && !is_clean(queue, n, &wanted))
        clean(queue, wanted);
    if (tg_target_lane(lanes) == 0)
        at = TG_TARGET_SLEEPERS_LOOK ? tg_add_relaxed(&queue->tail, n)
                                     : tg_add_seq(&queue->tail, n); /* S1, Q3 */
    tg_release_begin();
    at = tg_target_from_lane(lanes, at, 0);
    for (uint32_t i = tg_target_lane(lanes); i < n; i += lanes) {
        if (TG_TARGET_LINES_UP)
            put_in_line(queue, slots, mask, at + i, task[i]);
        else
            put(queue, at + i, task[i]);
    }
}

TG_FN void tg_queue_push(struct tg_queue *queue, uint32_t task)
{
    tg_queue_push_all(queue, &task, 1);
}

TG_FN static uint32_t tg_queue_take(struct tg_queue *queue, uint32_t at)
{
    uint64_t *slot = &queue->slot[at & queue->mask];
    uint64_t value;
    while ((value = tg_load_relaxed(slot)) >> 32 != at || (uint32_t)value == 0)
        tg_wait_moment();        /* its pusher has claimed the slot but not filled it */
    (void)tg_load_acquire(slot); /* Q1 */
    /* Q2 needs only the slot itself: a pusher that finds it free knows that it was taken. */
    tg_store_relaxed(slot, free_at(at + queue->mask + 1));
    return (uint32_t)value - 1;
}

TG_FN uint32_t tg_queue_claim(struct tg_queue *queue, uint32_t share, uint32_t most, uint32_t *at,
                              uint32_t *left)
{
    uint32_t head = tg_load_relaxed(&queue->head); /* a stale value fails the swap */
    uint32_t count;
    do {
        /* Q3; the slot brings Q1. */
        uint32_t available = (TG_TARGET_FILLS_QUEUES ? tg_load_relaxed(&queue->tail)
                                                     : tg_load_acquire(&queue->tail)) -
                             head;
        if (available == 0 || available > UINT32_MAX / 2)
            return 0; /* empty, or head or tail is stale: another thread takes tasks */
        if (available > queue->mask + 1)
            available = queue->mask + 1; /* pushers wait for slots, or the head is stale */
        count = available / share + 1;
        count = count > available ? available : count;
        count = count > most ? most : count;
        *left = available - count;
    } while (!tg_cas_acq_rel(&queue->head, &head, head + count));
    *at = head;
    return count;
}

/* The owner of an empty deque fills it as a thief does. */
TG_FN uint32_t tg_queue_fetch(struct tg_queue *queue, uint32_t at, uint32_t count,
                              struct tg_deque *own)
{
    uint32_t lanes = tg_target_lanes(), first = TG_NO_TASK;
    uint32_t tail = count > 1 ? tg_load_acquire(&own->head) : 0; /* R2 */
    for (uint32_t i = tg_target_lane(lanes); i < count; i += lanes) {
        uint32_t task = tg_queue_take(queue, at + i);
        if (i == 0)
            first = task;
        else
            tg_store_relaxed(&own->slot[(tail + i - 1) % TG_DEQUE_SIZE], task);
    }
    tg_target_meet(lanes);
    if (count > 1 && tg_target_lane(lanes) == 0)
        tg_store_release(&own->tail, tail + count - 1); /* R1 */
    return tg_target_from_lane(lanes, first, 0);
}

TG_FN uint32_t tg_queue_pop(struct tg_queue *queue, uint32_t share, uint32_t most,
                            struct tg_deque *own)
{
    uint32_t at, left, count = tg_queue_claim(queue, share, own ? most : 1, &at, &left);
    return count > 0 ? tg_queue_fetch(queue, at, count, own) : TG_NO_TASK;
}

TG_FN bool tg_queue_line_up(struct tg_queue *queue, uint32_t workers, struct tg_place *place)
{
    /* The line is not longer than what this sees, because the tail is read first. Each worker that sees
     * a short line at the same time makes it longer by one. */
    uint32_t tail = tg_load_acquire(&queue->tail);
    uint32_t head = tg_load_relaxed(&queue->head);
    place->size = queue->mask + 1;
    if (tg_queue_has(head, tail) || head - tail + workers > place->size)
        return false;
    place->at = tg_add_relaxed(&queue->head, 1u);
    place->slot = &queue->slot[place->at & queue->mask];
    return true;
}

TG_FN uint32_t tg_queue_leave(struct tg_queue *queue, struct tg_place place)
{
    for (;;) {
        uint64_t value = free_at(place.at);
        if (tg_cas_acq_rel(place.slot, &value, left_at(place.at))) /* Q5 */
            return TG_NO_TASK;
        if (value >> 32 == place.at)
            return tg_queue_take(queue, place.at);
        tg_wait_moment(); /* Q2: the last lap's task is about to be taken */
    }
}

TG_FN void tg_queue_reset(struct tg_queue *queue, uint64_t *slots, uint32_t size, uint32_t at,
                          uint32_t n_ready, uint32_t claims)
{
    uint32_t filled = (n_ready + TG_QUEUE_CLEANED - 1) / TG_QUEUE_CLEANED * TG_QUEUE_CLEANED;
    queue->slot = slots;
    queue->mask = size - 1;
    queue->start = at;
    queue->clean = TG_TARGET_FILLS_QUEUES || filled > size ? size : filled;
    queue->claims = claims;
    queue->cleaning = 0;
    tg_store_relaxed(&queue->head, at); /* whoever starts the run publishes all of it */
    tg_store_relaxed(&queue->tail, at + n_ready);
}

TG_FN void tg_queue_fill(const struct tg_queue *queue, const uint32_t *ready, uint32_t first,
                         uint32_t step)
{
    uint32_t at = queue->head, n_ready = queue->tail - at;
    for (uint32_t i = first; i < queue->clean; i += step)
        queue->slot[(at + i) & queue->mask] =
            i < n_ready ? holding(at + i, ready[i] - 1) : free_at(at + i);
}
