/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The orchestrator's end of the feeding ring (device/feed.h), for one that runs beside the device: its
 * engine, descriptors and arguments are its own books, and whatever it tells the device goes through
 * here. An orchestrator that is a thread of the device has no feed and uses the engine itself.
 *
 *     begin ─► edge, for each ─► task        a submit
 *     begin ─► edge ─► late                  tg_depend
 *     let_go, for each ─► have_let_go        the end of a scope that held tasks back
 */
#ifndef TG_ORCHESTRATE_FEED_H
#define TG_ORCHESTRATE_FEED_H

#include "device/engine.h"
#include "device/feed.h"
#include "device/target.h"

struct tg_feed {
    struct tg_feed_ring *ring;
    uint32_t *stop;  /* a word that stops the device */
    uint64_t head;   /* cells written, */
    uint64_t taken;  /* and drained, as far as the orchestrator knows */
    uint64_t fenced; /* the batch that has a cell before this one ends before it */
    uint64_t asked;  /* questions */
    uint64_t *named; /* for each slot: position + 1 of the last cell that named it as `before` */
    struct tg_feed_edge
        *edge; /* of the task being submitted; room for all dependencies of a ring */
    uint32_t n_edges;
    uint32_t n_let_go;
    uint32_t let_go[2 * TG_FEED_WORDS];
    /* Words that tg_table has read. No task has written any that it may read, so they stay true. */
    uint64_t kept_at, n_kept;
    uint64_t kept[TG_FEED_ANSWER_WORDS];
};

TG_FN static inline bool tg_feeds(const struct tg_engine *e)
{
    return TG_TARGET_FEEDS && e->feed != 0;
}

/* Before a run: nothing is in the ring, and the device begins at feed->head. */
TG_FN void tg_feed_init(struct tg_feed *feed);

TG_FN static inline void tg_feed_begin(struct tg_feed *feed)
{
    feed->n_edges = 0;
}

TG_FN static inline void tg_feed_edge(struct tg_feed *feed, uint32_t before, uint32_t entry)
{
    feed->edge[feed->n_edges].before = before;
    feed->edge[feed->n_edges++].entry = entry;
}

/* Hands over the task of the slot, complete but for its edges, which have been named. `line`: as in struct
 * tg_feed_cell. If the run is over, these do nothing. */
TG_FN void tg_feed_task(struct tg_engine *e, uint32_t slot, uint32_t args_bytes, uint32_t line);
TG_FN void tg_feed_late(struct tg_engine *e, uint32_t slot);
TG_FN void tg_feed_let_go(struct tg_engine *e, uint32_t slot);
TG_FN void tg_feed_have_let_go(struct tg_engine *e);
TG_FN void tg_feed_fill(struct tg_engine *e, uint64_t address, uint64_t bytes, uint32_t pattern);
TG_FN void tg_feed_end(struct tg_engine *e, uint64_t n_tasks);

/* Waits until the device has everything that was fed, so that whoever looks at its memory finds there what
 * the orchestrator's books say. */
TG_FN void tg_feed_flush(struct tg_engine *e);

/* Reads up to 8 bytes of the device's memory. False: the run is over. */
TG_FN bool tg_feed_read(struct tg_engine *e, uint64_t address, uint32_t size, uint64_t *bits);
/* As tg_load_bits, of a tensor that no task writes; 0 if the run is over. The memory ends at `end`. */
TG_FN uint64_t tg_feed_look(struct tg_engine *e, unsigned dtype, uint64_t base, int64_t index,
                            uint64_t end);
/* As tg_worker_all_still on the device. */
TG_FN bool tg_feed_is_still(struct tg_engine *e);
TG_FN bool tg_feed_clock(struct tg_engine *e, uint64_t *now);

/* One round of waiting for the device; ends the run here if the device has left it. True if the round was
 * a nap. */
TG_FN bool tg_feed_wait(struct tg_engine *e, uint32_t *round);
TG_FN void tg_feed_stop(struct tg_feed *feed);

#endif
