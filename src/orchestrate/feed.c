/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/feed.h"
#include "device/wait.h"
#include <taskglass/numeric.h>

TG_FN void tg_feed_init(struct tg_feed *feed)
{
    feed->taken = feed->fenced = feed->head;
    feed->n_edges = feed->n_let_go = 0;
    feed->n_kept = 0;
}

TG_FN void tg_feed_stop(struct tg_feed *feed)
{
    tg_store_release_host(feed->stop, 1u);
}

/* ── waiting ───────────────────────────────────────────────────────────────────────────── */

TG_FN bool tg_feed_wait(struct tg_engine *e, uint32_t *round)
{
    if (tg_wait_round(&e->patience, round))
        return false;
    if (tg_load_acquire_host(&e->feed->ring->over) != 0)
        tg_engine_stop(e);
    else
        tg_wait_nap();
    return true;
}

/* The device's word is believed only if it can be true. */
TG_FN static uint64_t cells_in_use(struct tg_feed *feed)
{
    uint64_t taken = tg_load_acquire_host(&feed->ring->taken); /* K2 */
    if (taken > feed->taken && taken <= feed->head)
        feed->taken = taken;
    return feed->head - feed->taken;
}

TG_FN void tg_feed_flush(struct tg_engine *e)
{
    uint32_t round = 0;
    while (tg_engine_running(e) && cells_in_use(e->feed) > 0)
        (void)tg_feed_wait(e, &round);
}

/* ── cells ─────────────────────────────────────────────────────────────────────────────── */

TG_FN static void publish(struct tg_feed *feed)
{
    tg_store_release_host(&feed->ring->head, feed->head); /* K1 */
}

/* The next cell, once the device has drained what was in it; 0: the run is over. */
TG_FN static struct tg_feed_cell *next_cell(struct tg_engine *e, enum tg_feed_kind kind)
{
    struct tg_feed *feed = e->feed;
    struct tg_feed_cell *cell = &feed->ring->cell[feed->head % TG_FEED_CELLS];
    uint32_t round = 0;
    if (!tg_engine_running(e))
        return 0;
    if (feed->head - feed->taken == TG_FEED_CELLS) {
        publish(feed);
        while (cells_in_use(feed) == TG_FEED_CELLS) {
            (void)tg_feed_wait(e, &round);
            if (!tg_engine_running(e))
                return 0;
        }
    }
    cell->kind = (uint8_t)kind;
    cell->flags = 0;
    cell->n_words = cell->n_before = cell->n = 0;
    cell->slot = cell->line = 0;
    feed->head++;
    return cell;
}

TG_FN static void name(struct tg_feed *feed, uint32_t before)
{
    feed->named[before] = feed->head;
}

/* Puts edges from `first` on into the places; returns how many. */
TG_FN static uint32_t put_edges(struct tg_feed *feed, struct tg_feed_edge *to, uint32_t first,
                                uint32_t most)
{
    uint32_t n = feed->n_edges - first < most ? feed->n_edges - first : most;
    for (uint32_t i = 0; i < n; i++) {
        to[i] = feed->edge[first + i];
        name(feed, to[i].before);
    }
    return n;
}

/* Edges from `first` on, in cells of their own. */
TG_FN static void feed_edges(struct tg_engine *e, uint32_t slot, uint32_t first, uint8_t flags)
{
    while (first < e->feed->n_edges) {
        struct tg_feed_cell *cell = next_cell(e, TG_FEED_EDGES);
        if (!cell)
            return;
        cell->slot = slot;
        cell->flags = flags;
        cell->n = (uint16_t)put_edges(e->feed, cell->of.edge, first, TG_FEED_WORDS);
        first += cell->n;
    }
}

/* ── tasks ─────────────────────────────────────────────────────────────────────────────── */

/* Feeds all but the last words of the arguments. Returns how many words that were. */
TG_FN static uint32_t feed_args(struct tg_engine *e, const struct tg_task_desc *desc,
                                uint32_t words)
{
    const uint64_t *from = (const uint64_t *)(e->payload + desc->args);
    uint32_t done = 0;
    while (words - done > TG_FEED_TASK_WORDS) {
        struct tg_feed_cell *cell = next_cell(e, TG_FEED_ARGS);
        uint32_t n = words - done < TG_FEED_WORDS - 1 ? words - done : TG_FEED_WORDS - 1;
        if (!cell)
            return words;
        cell->of.args.to = desc->args + 8 * (uint64_t)done;
        cell->n_words = (uint16_t)n;
        for (uint32_t i = 0; i < n; i++)
            cell->of.args.word[i] = from[done + i];
        done += n;
    }
    return done;
}

TG_FN void tg_feed_task(struct tg_engine *e, uint32_t slot, uint32_t args_bytes, uint32_t line)
{
    struct tg_feed *feed = e->feed;
    const struct tg_task_desc *desc = &e->desc[slot];
    const uint64_t *args = (const uint64_t *)(e->payload + desc->args);
    uint32_t words = args_bytes / 8, before = feed_args(e, desc, words), in_cell;
    struct tg_feed_cell *cell = next_cell(e, TG_FEED_TASK);
    if (!cell)
        return;
    words -= before;
    cell->slot = slot;
    cell->line = line;
    cell->n_words = (uint16_t)words;
    cell->n_before = (uint16_t)before;
    cell->of.task.desc = *desc;
    for (uint32_t i = 0; i < words; i++)
        cell->of.task.word[i] = args[before + i];
    /* An edge to the slot's earlier task may be on its way. */
    if (feed->named[slot] > feed->fenced) {
        cell->flags = TG_FEED_FENCE;
        feed->fenced = feed->head - 1;
    }
    in_cell = put_edges(feed, (struct tg_feed_edge *)&cell->of.task.word[words], 0,
                        TG_FEED_TASK_WORDS - words);
    cell->n = (uint16_t)in_cell;
    feed_edges(e, slot, in_cell, 0);
    publish(feed);
}

TG_FN void tg_feed_late(struct tg_engine *e, uint32_t slot)
{
    feed_edges(e, slot, 0, TG_FEED_LATE);
    publish(e->feed);
}

/* ── scopes ────────────────────────────────────────────────────────────────────────────── */

TG_FN void tg_feed_have_let_go(struct tg_engine *e)
{
    struct tg_feed *feed = e->feed;
    struct tg_feed_cell *cell = feed->n_let_go > 0 ? next_cell(e, TG_FEED_LET_GO) : 0;
    if (!cell)
        return;
    cell->n = (uint16_t)feed->n_let_go;
    for (uint32_t i = 0; i < feed->n_let_go; i++)
        cell->of.slot[i] = feed->let_go[i];
    feed->n_let_go = 0;
    publish(feed);
}

TG_FN void tg_feed_let_go(struct tg_engine *e, uint32_t slot)
{
    if (e->feed->n_let_go == sizeof e->feed->let_go / sizeof e->feed->let_go[0])
        tg_feed_have_let_go(e);
    if (tg_engine_running(e))
        e->feed->let_go[e->feed->n_let_go++] = slot;
}

TG_FN void tg_feed_fill(struct tg_engine *e, uint64_t address, uint64_t bytes, uint32_t pattern)
{
    struct tg_feed_cell *cell = bytes > 0 ? next_cell(e, TG_FEED_FILL) : 0;
    if (!cell)
        return;
    cell->of.ask.address = address;
    cell->of.ask.n = bytes / 8;
    cell->of.ask.pattern = (uint64_t)pattern << 32 | pattern;
    publish(e->feed);
}

TG_FN void tg_feed_end(struct tg_engine *e, uint64_t n_tasks)
{
    struct tg_feed_cell *cell = next_cell(e, TG_FEED_END);
    if (!cell)
        return;
    cell->of.ask.n = n_tasks;
    publish(e->feed);
}

/* ── questions ─────────────────────────────────────────────────────────────────────────── */

/* Asks, and waits for the answer. False: the run is over. */
TG_FN static bool ask(struct tg_engine *e, enum tg_feed_kind kind, uint64_t address, uint64_t words)
{
    struct tg_feed *feed = e->feed;
    struct tg_feed_cell *cell = next_cell(e, kind);
    uint32_t round = 0;
    if (!cell)
        return false;
    cell->of.ask.address = address;
    cell->of.ask.n = words;
    cell->of.ask.number = ++feed->asked;
    publish(feed);
    while (tg_load_acquire_host(&feed->ring->answered) != feed->asked) { /* K4 */
        if (!tg_engine_running(e))
            return false;
        (void)tg_feed_wait(e, &round);
    }
    return true;
}

TG_FN bool tg_feed_read(struct tg_engine *e, uint64_t address, uint32_t size, uint64_t *bits)
{
    uint64_t first = address / 8 * 8;
    const char *bytes = (const char *)e->feed->ring->answer + (address - first);
    if (!ask(e, TG_FEED_READ, first, (address + size - first + 7) / 8))
        return false;
    for (uint32_t i = 0; i < size; i++)
        *bits |= (uint64_t)(uint8_t)bytes[i] << (8 * i);
    return true;
}

/* Reads words from that address on, as many as there is room for. */
TG_FN static bool keep(struct tg_engine *e, uint64_t address, uint64_t end)
{
    struct tg_feed *feed = e->feed;
    uint64_t most = (end - address) / 8, n = TG_FEED_ANSWER_WORDS;
    n = n < most ? n : most;
    if (!ask(e, TG_FEED_READ, address, n))
        return false;
    for (uint64_t i = 0; i < n; i++)
        feed->kept[i] = feed->ring->answer[i];
    feed->kept_at = address;
    feed->n_kept = n;
    return true;
}

TG_FN uint64_t tg_feed_look(struct tg_engine *e, unsigned dtype, uint64_t base, int64_t index,
                            uint64_t end)
{
    struct tg_feed *feed = e->feed;
    uint64_t bits = tg_bits_of(dtype), in_byte = bits < 8 ? (uint64_t)index % 2 : 0;
    uint64_t at = base + (uint64_t)index * bits / 8, last = at + (bits < 8 ? 1 : bits / 8);
    if (at < feed->kept_at || last > feed->kept_at + 8 * feed->n_kept) {
        if (!keep(e, at / 8 * 8, end))
            return 0;
    }
    return tg_load_bits(dtype, (const char *)feed->kept + (at - feed->kept_at), (int64_t)in_byte);
}

TG_FN bool tg_feed_is_still(struct tg_engine *e)
{
    return ask(e, TG_FEED_STILL, 0, 0) && e->feed->ring->answer[0] == 1;
}

TG_FN bool tg_feed_clock(struct tg_engine *e, uint64_t *now)
{
    if (!ask(e, TG_FEED_CLOCK, 0, 0))
        return false;
    *now = e->feed->ring->answer[0];
    return true;
}
