/* SPDX-License-Identifier: Apache-2.0 */
#include "host/log_facts.h"
#include "base/grow.h"
#include <stdlib.h>
#include <string.h>

enum { HEAP_UNIT = 64 }; /* as TG_HEAP_UNIT */

void tg_log_facts_init(struct tg_log_facts *facts, const struct tg_orchestration *layout)
{
    *facts = (struct tg_log_facts){.n_rings = layout->n_rings};
    for (uint32_t r = 0; r < TG_RINGS && r < layout->n_rings; r++)
        facts->ring[r] = layout->ring[r];
}

void tg_log_facts_free(struct tg_log_facts *facts)
{
    for (uint32_t r = 0; r < TG_RINGS; r++)
        free(facts->heap[r].ended);
    free(facts->piece);
    free(facts->done);
    free(facts->seen);
    free(facts->release);
    *facts = (struct tg_log_facts){0};
}

/* ── the heap ──────────────────────────────────────────────────────────────────────────── */

/* The ring whose heap has these bytes; TG_RINGS: none. */
static uint32_t ring_of(const struct tg_log_facts *facts, uint64_t address, uint64_t bytes)
{
    for (uint32_t r = 0; r < facts->n_rings && r < TG_RINGS; r++) {
        const struct tg_ring_layout *has = &facts->ring[r];
        if (address >= has->heap && address - has->heap < has->heap_size &&
            bytes <= has->heap_size - (address - has->heap))
            return r;
    }
    return TG_RINGS;
}

/*
 * Moves the heap's head behind the piece. Returns the position below which everything must have been free:
 * the bytes that the piece lies in were given out before at positions one heap's length lower. False if the
 * heap would have given out other bytes.
 */
static bool move_heap(struct tg_log_facts *facts, uint32_t ring, uint64_t address, uint64_t bytes,
                      uint64_t *free_below)
{
    const struct tg_ring_layout *has = &facts->ring[ring];
    struct tg_heap_play *heap = &facts->heap[ring];
    uint64_t size = (bytes + HEAP_UNIT - 1) / HEAP_UNIT * HEAP_UNIT;
    uint64_t skip = size <= has->heap_size - heap->offset ? 0 : has->heap_size - heap->offset;
    uint64_t offset = skip > 0 ? 0 : heap->offset;
    if (size > has->heap_size || address != has->heap + offset)
        return false;
    if (!heap->is_used)
        heap->start = heap->head + skip;
    heap->is_used = true;
    heap->head += skip + size;
    heap->offset = offset + size == has->heap_size ? 0 : offset + size;
    *free_below = heap->head > has->heap_size ? heap->head - has->heap_size : 0;
    return true;
}

/*
 * Scopes are freed in the order in which they ended. So the last one that had a byte below the position has
 * been freed, and with it all before. Bytes that were skipped belong to no scope, and it depends on the
 * schedule whether they become free with the scope behind them or earlier: nothing follows from them. The
 * marks only grow from one scope to the next.
 */
static bool conclude(struct tg_log_facts *facts, struct tg_heap_play *heap, uint64_t free_below,
                     uint64_t task)
{
    const struct tg_ended_heap *last;
    struct tg_logged_done *done;
    while (heap->first + 1 < heap->n_ended && heap->ended[heap->first + 1].start < free_below)
        heap->first++;
    if (heap->n_ended == 0 || heap->ended[heap->first].start >= free_below)
        return true;
    last = &heap->ended[heap->first];
    if (!tg_grow(&facts->done, &facts->room_done, facts->n_done + 1, sizeof *facts->done))
        return false;
    done = &facts->done[facts->n_done];
    done->task = task;
    done->from_heap = true;
    memcpy(done->done, last->mark, sizeof done->done);
    if (facts->n_done == 0 || !done[-1].from_heap ||
        memcmp(done->done, done[-1].done, sizeof done->done) != 0)
        facts->n_done++;
    return true;
}

static bool take_piece(struct tg_log_facts *facts, uint64_t address, uint64_t bytes, uint64_t task)
{
    uint32_t ring = ring_of(facts, address, bytes);
    uint64_t free_below;
    if (ring == TG_RINGS || bytes == 0 ||
        !tg_grow(&facts->piece, &facts->room_pieces, facts->n_pieces + 1, sizeof *facts->piece))
        return false;
    facts->piece[facts->n_pieces++] =
        (struct tg_logged_piece){.address = address, .bytes = bytes, .given = task, .ring = ring};
    if (facts->heap_is_wrong || !move_heap(facts, ring, address, bytes, &free_below)) {
        facts->heap_is_wrong = true;
        return false;
    }
    return conclude(facts, &facts->heap[ring], free_below, task);
}

static bool take_end(struct tg_log_facts *facts, uint64_t ring)
{
    struct tg_heap_play *heap;
    struct tg_ended_heap *ended;
    if (ring >= facts->n_rings || ring >= TG_RINGS)
        return false;
    heap = &facts->heap[ring];
    if (!heap->is_used ||
        !tg_grow(&heap->ended, &heap->room, heap->n_ended + 1, sizeof *heap->ended))
        return false;
    ended = &heap->ended[heap->n_ended++];
    ended->start = heap->start;
    heap->is_used = false;
    for (uint32_t r = 0; r < TG_RINGS; r++)
        ended->mark[r] = r < ring ? 0 : facts->submitted[r];
    return true;
}

/* ── the entries ───────────────────────────────────────────────────────────────────────── */

/* Only a task that has been submitted can have completed. */
static bool take_seen(struct tg_log_facts *facts, uint64_t id, uint64_t task)
{
    uint64_t ring = id >> 32, index = id & UINT32_MAX;
    uint64_t *last = &facts->last_seen[(index * 4 + ring) % TG_LAST_SEEN];
    if (ring >= TG_RINGS || index >= facts->submitted[ring])
        return false;
    if (*last == id + 1)
        return true;
    if (!tg_grow(&facts->seen, &facts->room_seen, facts->n_seen + 1, sizeof *facts->seen))
        return false;
    *last = id + 1;
    facts->seen[facts->n_seen++] = (struct tg_logged_seen){.task = task, .before = id};
    return true;
}

/* What the tensor map has forgotten. */
static bool take_done(struct tg_log_facts *facts, uint64_t ring, uint64_t count, uint64_t task)
{
    struct tg_logged_done *done;
    if (ring >= TG_RINGS || count > facts->submitted[ring] ||
        !tg_grow(&facts->done, &facts->room_done, facts->n_done + 1, sizeof *facts->done))
        return false;
    done = &facts->done[facts->n_done++];
    *done = (struct tg_logged_done){.task = task};
    done->done[ring] = count;
    return true;
}

static bool take_release(struct tg_log_facts *facts, uint64_t id, uint64_t task)
{
    uint64_t ring = id >> 32, index = id & UINT32_MAX;
    if (ring >= TG_RINGS || index >= facts->submitted[ring] ||
        !tg_grow(&facts->release, &facts->room_releases, facts->n_releases + 1,
                 sizeof *facts->release))
        return false;
    facts->release[facts->n_releases++] = (struct tg_logged_release){
        .task = task, .id = id, .n_done = facts->n_done, .n_seen = facts->n_seen};
    return true;
}

bool tg_log_facts_take(struct tg_log_facts *facts, const uint64_t *entry, uint32_t n, uint64_t task)
{
    bool good = true;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t value = entry[i] & UINT64_MAX >> 4;
        switch (entry[i] >> 60) {
        case TG_EDGE_EXPLICIT:
        case TG_EDGE_RAW:
        case TG_EDGE_WAR:
        case TG_EDGE_WAW:
            break;
        case TG_FACT_SEEN:
            good = take_seen(facts, value, task) && good;
            break;
        case TG_FACT_GIVEN:
            i++;
            good = i < n && entry[i] >> 60 == TG_FACT_BYTES &&
                   take_piece(facts, value, entry[i] & UINT64_MAX >> 4, task) && good;
            break;
        case TG_FACT_ENDED:
            good = take_end(facts, value) && good;
            break;
        case TG_FACT_DONE:
            good = take_done(facts, value >> 56, value & UINT64_MAX >> 8, task) && good;
            break;
        case TG_FACT_LET_GO:
            good = take_release(facts, value, task) && good;
            break;
        default:
            good = false;
        }
    }
    if (!good)
        facts->heap_is_wrong = true; /* what was refused may have been a scope's end */
    return good;
}

static void count(uint64_t submitted[TG_RINGS], uint64_t id)
{
    uint64_t ring = id >> 32, index = id & UINT32_MAX;
    if (ring < TG_RINGS && index >= submitted[ring])
        submitted[ring] = index + 1;
}

void tg_log_facts_submitted(struct tg_log_facts *facts, uint64_t id)
{
    count(facts->submitted, id);
}

/* ── reading them again ────────────────────────────────────────────────────────────────── */

/* Whatever the log says, a task that was not submitted has not completed. */
static void keep_largest(struct tg_log_walk *walk, uint32_t ring, uint64_t done,
                         struct tg_log_news *news)
{
    if (done > walk->submitted[ring])
        done = walk->submitted[ring];
    if (done <= walk->done[ring])
        return;
    walk->done[ring] = done;
    news->rings = true;
}

static void walk_done(struct tg_log_walk *walk, const struct tg_logged_done *done,
                      struct tg_log_news *news)
{
    for (uint32_t r = 0; r < TG_RINGS; r++)
        if (!walk->lost || !done->from_heap)
            keep_largest(walk, r, done->done[r], news);
}

void tg_log_walk_next(struct tg_log_walk *walk, uint64_t task, uint64_t id,
                      struct tg_log_news *news)
{
    const struct tg_log_facts *facts = walk->facts;
    uint64_t ring = id >> 32, index = id & UINT32_MAX;
    *news = (struct tg_log_news){0};
    for (; walk->next_done < facts->n_done && facts->done[walk->next_done].task <= task;
         walk->next_done++)
        walk_done(walk, &facts->done[walk->next_done], news);
    if (ring < facts->n_rings && ring < TG_RINGS && index >= facts->ring[ring].n_slots)
        keep_largest(walk, (uint32_t)ring, index + 1 - facts->ring[ring].n_slots, news);
    news->seen = facts->seen + walk->next_seen;
    for (; walk->next_seen < facts->n_seen && facts->seen[walk->next_seen].task <= task;
         walk->next_seen++)
        news->n_seen++;
    count(walk->submitted, id);
}

void tg_log_walk_release(struct tg_log_walk *walk, const struct tg_logged_release *release,
                         struct tg_log_news *news)
{
    const struct tg_log_facts *facts = walk->facts;
    *news = (struct tg_log_news){0};
    for (; walk->next_done < release->n_done; walk->next_done++)
        walk_done(walk, &facts->done[walk->next_done], news);
    news->seen = facts->seen + walk->next_seen;
    for (; walk->next_seen < release->n_seen; walk->next_seen++)
        news->n_seen++;
}
