/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/rings.h"

TG_FN void tg_ring_init(struct tg_ring *ring, struct tg_orchestration *o, uint32_t index)
{
    struct tg_ring_cursors *cursors = &o->cursors[index];
    cursors->head = cursors->done = cursors->tail = 0;
    cursors->heap_head = cursors->heap_tail = 0;
    cursors->dep_head = cursors->dep_tail = 0;
    ring->at = cursors;
    ring->has = o->ring[index];
    ring->place = TG_DEVICE_PTR(struct tg_task_place, o->places) + ring->has.first_slot;
    tg_args_pool_init(&ring->args, o, index);
    ring->freed = 0;
    ring->head_place = ring->done_place = ring->freed_place = 0;
    ring->free_slot = 0;
    ring->fresh_slot = ring->has.first_slot;
    ring->keeps_slots = ring->keeps_args = false;
    ring->head_dep = ring->has.first_dep;
    ring->index = index;
    ring->heap_offset = 0;
    ring->pin = ring->heap_pin = TG_NO_PIN;
    ring->heap_largest = ring->asked_deps = 0;
    ring->ended_first = ring->n_ended = 0;
}

/* ── slots and arguments ───────────────────────────────────────────────────────────────── */

/* Frees the slots of the tasks before this one. */
TG_FN static void free_slots(struct tg_ring *ring, struct tg_slot_note *notes, uint64_t before)
{
    for (; ring->freed < before; ring->freed++) {
        uint32_t slot = ring->place[ring->freed_place].slot;
        notes[slot].held = ring->free_slot;
        ring->free_slot = slot + 1;
        ring->freed_place = tg_next_place(ring, ring->freed_place);
    }
}

TG_FN uint32_t tg_ring_take_slot(struct tg_ring *ring, struct tg_slot_note *notes)
{
    uint32_t slot;
    if (ring->at->head - ring->freed == ring->has.n_slots)
        free_slots(ring, notes, ring->freed + 1);
    if (ring->free_slot != 0) {
        slot = ring->free_slot - 1;
        ring->free_slot = notes[slot].held;
    } else {
        slot = ring->fresh_slot++;
    }
    ring->place[ring->head_place].slot = slot;
    return slot;
}

TG_FN uint64_t tg_ring_take_args(struct tg_ring *ring, uint64_t most)
{
    uint64_t head = ring->at->head;
    if (ring->keeps_args && head >= ring->has.n_slots)
        tg_args_pool_release(&ring->args, head + 1 - ring->has.n_slots);
    return tg_args_pool_room(&ring->args, most, head);
}

TG_FN void tg_ring_keep_args(struct tg_ring *ring, const struct tg_args *args, uint64_t bytes)
{
    struct tg_task_place *place = &ring->place[ring->head_place];
    place->n_tensors = args->n_tensors;
    place->n_scalars = args->n_scalars;
    place->args = tg_args_pool_take(&ring->args, bytes);
}

TG_FN void tg_ring_enter(struct tg_ring *ring)
{
    ring->head_place = tg_next_place(ring, ring->head_place);
    ring->at->head++;
}

TG_FN void tg_ring_advance(struct tg_engine *e, struct tg_ring *ring, struct tg_slot_note *notes)
{
    struct tg_ring_cursors *at = ring->at;
    uint64_t done = at->done;
    uint32_t place = ring->done_place, last = 0;
    while (done < at->head && tg_slot_closed(e, ring->place[place].slot)) {
        last = ring->place[place].slot;
        place = tg_next_place(ring, place);
        done++;
    }
    if (done != at->done) {
        at->dep_tail += notes[last].dep_end - (uint32_t)at->dep_tail; /* modulo 2^32 */
        at->done = done;
        ring->done_place = place;
    }
    at->tail = done < ring->pin ? done : ring->pin;
    if (!ring->keeps_slots)
        free_slots(ring, notes, at->tail);
    if (!ring->keeps_args)
        tg_args_pool_release(&ring->args, at->tail);
}

/* ── heap ──────────────────────────────────────────────────────────────────────────────── */

/* A piece does not cross the heap's end, so the rest before the end is skipped. */
TG_FN static uint64_t skip_before(const struct tg_ring *ring, uint64_t bytes)
{
    uint64_t to_end = ring->has.heap_size - ring->heap_offset;
    return bytes <= to_end ? 0 : to_end;
}

TG_FN static void heap_move(struct tg_ring *ring, uint64_t bytes)
{
    ring->at->heap_head += bytes;
    ring->heap_offset += bytes;
    if (ring->heap_offset >= ring->has.heap_size)
        ring->heap_offset -= ring->has.heap_size;
}

TG_FN uint64_t tg_ring_heap_take(struct tg_ring *ring, uint64_t bytes)
{
    uint64_t size = tg_heap_round(bytes), skip = skip_before(ring, size), address;
    if (size > ring->has.heap_size)
        return 0;
    /* The heap is empty, so the skipped bytes are free at once. */
    if (ring->at->heap_head == ring->at->heap_tail) {
        heap_move(ring, skip);
        ring->at->heap_tail = ring->at->heap_head;
        skip = 0;
    }
    if (ring->at->heap_head + skip + size - ring->at->heap_tail > ring->has.heap_size)
        return 0;
    heap_move(ring, skip);
    address = ring->has.heap + ring->heap_offset;
    heap_move(ring, size);
    if (size > ring->heap_largest)
        ring->heap_largest = size;
    return address;
}

TG_FN bool tg_ring_heap_could_take(const struct tg_ring *ring, uint64_t bytes)
{
    uint64_t size = tg_heap_round(bytes);
    if (size > ring->has.heap_size)
        return false;
    if (ring->heap_pin == TG_NO_PIN)
        return true;
    return ring->at->heap_head + skip_before(ring, size) + size - ring->heap_pin <=
           ring->has.heap_size;
}

TG_FN void tg_ring_heap_scope_ended(struct tg_ring *rings, uint32_t ring)
{
    struct tg_ring *book = &rings[ring];
    struct tg_ended_scope *entry;
    if (book->heap_pin != TG_NO_PIN)
        return; /* freed together with the memory of an open scope around it */
    /* The queue is full: the oldest is freed with the next one. */
    if (book->n_ended == TG_ENDED_SCOPES) {
        book->ended_first = (book->ended_first + 1) % TG_ENDED_SCOPES;
        book->n_ended--;
    }
    book->n_ended++;
    entry = &book->ended[(book->ended_first + book->n_ended - 1) % TG_ENDED_SCOPES];
    entry->heap_end = book->at->heap_head;
    for (uint32_t r = 0; r < TG_RINGS; r++)
        entry->mark[r] = r < ring ? 0 : rings[r].at->head;
}

TG_FN static bool is_over(const struct tg_ring *rings, const struct tg_ended_scope *entry)
{
    for (uint32_t r = 0; r < TG_RINGS; r++)
        if (rings[r].at->done < entry->mark[r])
            return false;
    return true;
}

TG_FN void tg_ring_heap_reclaim(struct tg_ring *rings, uint32_t ring)
{
    struct tg_ring *book = &rings[ring];
    while (book->n_ended > 0) {
        const struct tg_ended_scope *entry = &book->ended[book->ended_first];
        if (!is_over(rings, entry))
            return;
        book->at->heap_tail = entry->heap_end;
        book->ended_first = (book->ended_first + 1) % TG_ENDED_SCOPES;
        book->n_ended--;
    }
    /* Bytes that were skipped before the oldest open scope's memory belong to no scope. */
    book->at->heap_tail = book->heap_pin == TG_NO_PIN ? book->at->heap_head : book->heap_pin;
}
