/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device's end of the feeding ring (device/feed.h): the block of the grid that no lane needs works it
 * off while the orchestrator runs beside the device. Several threads, the lanes, share each step; the
 * includer says how, before it includes this:
 *
 *   void tg_drain_meet(void)                    waits for all lanes
 *   uint32_t tg_drain_least(uint32_t value)     the least of all lanes' values; they meet before and after
 *   const struct tg_feed_cell *tg_drain_fetch(const struct tg_feed_cell *cells, uint32_t n)
 *                                               brings cells near, likewise; valid up to the next call
 */
#ifndef TG_CUDA_GPU_DRAIN_H
#define TG_CUDA_GPU_DRAIN_H

#include "device/ahead.h"
#include "device/feed.h"
#include "device/worker.h"

struct tg_drain {
    struct tg_engine *e;
    struct tg_feed_ring *ring;
    uint64_t at; /* the next cell */
    uint32_t lane, lanes;
    uint32_t offered; /* classes of tasks that this lane has made ready */
};

TG_FN static inline void tg_drain_begin(struct tg_drain *d, struct tg_engine *e,
                                        struct tg_feed_ring *ring, uint32_t lane, uint32_t lanes)
{
    d->e = e;
    d->ring = ring;
    d->at = tg_load_acquire_host(&ring->taken); /* only the device writes it during a run */
    d->lane = lane;
    d->lanes = lanes;
    d->offered = 0;
}

TG_FN static inline bool tg_drain_is_alone(const struct tg_feed_cell *cell)
{
    return cell->kind >= TG_FEED_FILL;
}

/* ── step 1 and 2 ──────────────────────────────────────────────────────────────────────── */

TG_FN static inline void tg_drain_put_words(struct tg_drain *d, uint64_t to, const uint64_t *word,
                                            uint32_t n)
{
    uint64_t *place = (uint64_t *)(d->e->payload + to);
    for (uint32_t i = 0; i < n; i++)
        place[i] = word[i];
}

TG_FN static inline void tg_drain_put(struct tg_drain *d, const struct tg_feed_cell *cell)
{
    if (cell->kind == TG_FEED_ARGS) {
        tg_drain_put_words(d, cell->of.args.to, cell->of.args.word, cell->n_words);
    } else if (cell->kind == TG_FEED_TASK) {
        const struct tg_task_desc *desc = &cell->of.task.desc;
        struct tg_task_desc copy = *desc, *to = &d->e->desc[cell->slot];
        copy.id = TG_TASK_NONE;
        copy.next = TG_NO_TASK;
        *to = copy;
        tg_store_release(&to->id, desc->id); /* N1 */
        tg_drain_put_words(d, desc->args + 8 * (uint64_t)cell->n_before, cell->of.task.word,
                           cell->n_words);
        if (cell->line != 0)
            d->e->comm_note[cell->slot].line = cell->line;
    }
}

TG_FN static inline void tg_drain_expect(struct tg_drain *d, const struct tg_feed_cell *cell)
{
    if (cell->flags & TG_FEED_LATE)
        tg_add_acq_rel(&d->e->desc[cell->slot].pending, (uint32_t)cell->n); /* E2 */
}

/* ── step 3 ────────────────────────────────────────────────────────────────────────────── */

TG_FN static inline void tg_drain_offer(struct tg_drain *d, uint32_t slot, uint32_t task_class)
{
    tg_worker_share(d->e, slot, task_class);
    d->offered |= TG_TAKES(task_class);
}

/* Takes `n` off what the task waits for. */
TG_FN static inline void tg_drain_count(struct tg_drain *d, uint32_t slot, uint32_t n)
{
    struct tg_task_desc *desc = &d->e->desc[slot];
    uint32_t task_class = desc->task_class;
    if (n > 0 && tg_sub_acq_rel(&desc->pending, n) == n) /* E2 */
        tg_drain_offer(d, slot, task_class);
}

/* Returns how many of the tasks have completed already. */
TG_FN static inline uint32_t tg_drain_push(struct tg_drain *d, uint32_t slot,
                                           const struct tg_feed_edge *edge, uint32_t n, bool alone)
{
    uint32_t met = 0, behind;
    for (uint32_t i = 0; i < n; i++) {
        if (tg_edge_push_before(d->e, edge[i].before, edge[i].entry, slot, &behind))
            tg_ahead_note(d->e, edge[i].before, behind, slot, alone);
        else
            met++;
    }
    return met;
}

/* Once its last edge is made, the task may run and complete: what it says is in the cell too. */
TG_FN static inline void tg_drain_task(struct tg_drain *d, const struct tg_feed_cell *cell)
{
    const struct tg_task_desc *desc = &cell->of.task.desc;
    uint32_t met = tg_drain_push(d, cell->slot,
                                 (const struct tg_feed_edge *)&cell->of.task.word[cell->n_words],
                                 cell->n, desc->fanin == 1);
    if (desc->fanin > 1)
        tg_drain_count(d, cell->slot, met);
    else if (met == desc->fanin)
        tg_drain_offer(d, cell->slot, desc->task_class);
}

TG_FN static inline void tg_drain_link(struct tg_drain *d, const struct tg_feed_cell *cell)
{
    switch (cell->kind) {
    case TG_FEED_TASK:
        tg_drain_task(d, cell);
        break;
    case TG_FEED_EDGES:
        tg_drain_count(d, cell->slot, tg_drain_push(d, cell->slot, cell->of.edge, cell->n, false));
        break;
    case TG_FEED_LET_GO:
        for (uint32_t i = 0; i < cell->n; i++)
            tg_drain_count(d, cell->of.slot[i], 1);
        break;
    default:
        break;
    }
}

/* ── step 4 ────────────────────────────────────────────────────────────────────────────── */

TG_FN static inline void tg_drain_answer(struct tg_drain *d, const struct tg_feed_cell *cell)
{
    uint64_t *answer = d->ring->answer;
    const uint64_t *from = TG_DEVICE_PTR(const uint64_t, cell->of.ask.address);
    if (cell->kind == TG_FEED_STILL && d->lane == 0)
        tg_store_relaxed_host(&answer[0], (uint64_t)tg_worker_all_still(d->e));
    if (cell->kind == TG_FEED_CLOCK && d->lane == 0)
        tg_store_relaxed_host(&answer[0], tg_target_now());
    for (uint64_t i = d->lane; cell->kind == TG_FEED_READ && i < cell->of.ask.n; i += d->lanes)
        tg_store_relaxed_host(&answer[i], tg_load_relaxed(&from[i]));
    tg_drain_meet();
    if (d->lane == 0)
        tg_store_release_host(&d->ring->answered, cell->of.ask.number); /* K4 */
}

TG_FN static inline void tg_drain_alone(struct tg_drain *d, const struct tg_feed_cell *cell)
{
    uint64_t *word = TG_DEVICE_PTR(uint64_t, cell->of.ask.address);
    switch (cell->kind) {
    case TG_FEED_FILL:
        for (uint64_t i = d->lane; i < cell->of.ask.n; i += d->lanes)
            word[i] = cell->of.ask.pattern;
        break;
    case TG_FEED_END:
        if (d->lane != 0)
            break;
        tg_store_seq(&d->e->n_tasks, cell->of.ask.n);
        (void)tg_engine_check_over(d->e, &d->e->worker[tg_engine_orchestrator(d->e)]);
        break;
    default:
        tg_drain_answer(d, cell);
    }
}

/* ── a batch ───────────────────────────────────────────────────────────────────────────── */

/* How many of these cells may be worked off together. */
TG_FN static inline uint32_t tg_drain_together(const struct tg_drain *d,
                                               const struct tg_feed_cell *cells, uint32_t n)
{
    uint32_t least = n;
    for (uint32_t i = d->lane; i < n; i += d->lanes) {
        if (i > 0 && (cells[i].flags & TG_FEED_FENCE) && i < least)
            least = i;
        if (tg_drain_is_alone(&cells[i]) && i + 1 < least)
            least = i + 1;
    }
    return tg_drain_least(least);
}

TG_FN static inline void tg_drain_batch(struct tg_drain *d, const struct tg_feed_cell *cells,
                                        uint32_t n)
{
    for (uint32_t i = d->lane; i < n; i += d->lanes)
        tg_drain_put(d, &cells[i]);
    tg_drain_meet();
    for (uint32_t i = d->lane; i < n; i += d->lanes)
        tg_drain_expect(d, &cells[i]);
    tg_drain_meet();
    for (uint32_t i = d->lane; i < n; i += d->lanes)
        tg_drain_link(d, &cells[i]);
    if (d->offered)
        tg_worker_announce(d->e, &d->e->worker[tg_engine_orchestrator(d->e)], d->offered);
    d->offered = 0;
    tg_drain_meet();
    if (tg_drain_is_alone(&cells[n - 1])) {
        tg_drain_alone(d, &cells[n - 1]);
        tg_drain_meet();
    }
}

/* All lanes, with the same `head`, which lane 0 has loaded (K1). Drains cells up to there. */
TG_FN static inline void tg_drain_up_to(struct tg_drain *d, uint64_t head)
{
    while (d->at != head) {
        uint64_t left = head - d->at, to_end = TG_FEED_CELLS - d->at % TG_FEED_CELLS;
        uint32_t n = left < TG_FEED_BATCH ? (uint32_t)left : TG_FEED_BATCH, done = 0;
        const struct tg_feed_cell *cells;
        if (n > to_end)
            n = (uint32_t)to_end;
        cells = tg_drain_fetch(&d->ring->cell[d->at % TG_FEED_CELLS], n);
        while (done < n) {
            uint32_t together = tg_drain_together(d, cells + done, n - done);
            tg_drain_batch(d, cells + done, together);
            done += together;
        }
        d->at += n;
        if (d->lane == 0)
            tg_store_release_host(&d->ring->taken, d->at); /* K2 */
    }
}

#endif
