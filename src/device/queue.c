/* SPDX-License-Identifier: Apache-2.0 */
#include "device/queue.h"

TG_FN uint32_t tg_ring_steal(struct tg_ring *victim, struct tg_ring *own)
{
    uint32_t head = tg_load_relaxed(&victim->head); /* a stale value fails the swap */
    /* Empty, so this is the tail too; R2: the slots behind it are free to be written. */
    uint32_t tail = tg_load_acquire(&own->head);
    for (;;) {
        uint32_t available = tg_load_acquire(&victim->tail) - head; /* R1 */
        uint32_t count = available - available / 2;
        uint32_t first;
        if (count == 0 || available > TG_RING_SIZE)
            return TG_NO_TASK; /* empty, or one of the two is stale: somebody else is at it */
        first = tg_load_relaxed(&victim->slot[head % TG_RING_SIZE]);
        /* Beyond own->tail nobody reads, so copying before the claim is harmless. */
        for (uint32_t i = 1; i < count; i++)
            tg_store_relaxed(&own->slot[(tail + i - 1) % TG_RING_SIZE],
                             tg_load_relaxed(&victim->slot[(head + i) % TG_RING_SIZE]));
        if (tg_cas_acq_rel(&victim->head, &head, head + count)) { /* R2 */
            if (count > 1)
                tg_store_release(&own->tail, tail + count - 1); /* R1 */
            return first;
        }
    }
}

TG_FN void tg_queue_push(struct tg_queue *queue, uint32_t task)
{
    uint32_t at = tg_add_seq(&queue->tail, 1u); /* S1 */
    uint32_t *slot = &queue->slot[at & queue->mask];
    while (tg_load_acquire(slot) != 0) /* Q2: the last lap's taker has claimed but not emptied */
        tg_target_yield();
    tg_store_release(slot, task + 1); /* Q1 */
}

TG_FN static uint32_t tg_queue_take(struct tg_queue *queue, uint32_t at)
{
    uint32_t *slot = &queue->slot[at & queue->mask];
    uint32_t value;
    while ((value = tg_load_acquire(slot)) == 0) /* Q1: claimed by its pusher, not yet filled */
        tg_target_yield();
    tg_store_release(slot, 0u); /* Q2 */
    return value - 1;
}

TG_FN uint32_t tg_queue_pop(struct tg_queue *queue, uint32_t share, struct tg_ring *own)
{
    uint32_t head = tg_load_relaxed(&queue->head); /* a stale value fails the swap */
    uint32_t count, first;
    do {
        uint32_t available = tg_load_acquire(&queue->tail) - head;
        if (available == 0 || available > queue->mask + 1)
            return TG_NO_TASK; /* empty, or one of the two is stale: somebody else is at it */
        count = own ? available / share + 1 : 1;
        count = count > available ? available : count;
        count = count > TG_BATCH_MAX ? TG_BATCH_MAX : count;
    } while (!tg_cas_acq_rel(&queue->head, &head, head + count));
    first = tg_queue_take(queue, head);
    for (uint32_t i = 1; i < count; i++)
        tg_ring_push(own, tg_queue_take(queue, head + i));
    return first;
}

TG_FN void tg_queue_reset(struct tg_queue *queue, uint32_t *slots, uint32_t size,
                          const uint32_t *ready, uint32_t n_ready)
{
    for (uint32_t i = 0; i < n_ready; i++)
        slots[i] = ready[i];
    for (uint32_t i = n_ready; i < size; i++)
        slots[i] = 0;
    queue->slot = slots;
    queue->mask = size - 1;
    tg_store_relaxed(&queue->head, 0u);
    tg_store_release(&queue->tail, n_ready);
}
