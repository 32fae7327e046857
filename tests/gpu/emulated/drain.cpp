/* SPDX-License-Identifier: Apache-2.0 */
/* The device's and the orchestrator's end of the feeding ring, which run on fibers too. */
#include <vector>

#include "fibers.h"
#include "device/engine.h"
#include "device/target.h"
#include "scenes.h"

/* The meetings themselves are in fed.cpp, where no other lane runs in the middle of one. */
static void tg_drain_meet(void)
{
    drain_meet();
}
static uint32_t tg_drain_least(uint32_t value)
{
    return drain_least(value);
}

struct tg_feed_cell;
static const struct tg_feed_cell *tg_drain_fetch(const struct tg_feed_cell *cells, uint32_t)
{
    return cells;
}

#include "platform/cuda/gpu/drain.h"

static uint64_t head;
static bool goes_on;

/* Each lane of the draining block runs this until the run is over. */
void drain_run(struct tg_engine *e, struct tg_feed_ring *ring, uint32_t lane, uint32_t lanes)
{
    struct tg_drain drain;
    tg_drain_begin(&drain, e, ring, lane, lanes);
    tg_drain_meet();
    for (;;) {
        if (lane == 0) {
            head = tg_load_acquire_host(&ring->head);
            goes_on = tg_load_relaxed(&e->phase) == TG_RUNNING;
        }
        tg_drain_meet();
        uint64_t to = head;
        bool goes = goes_on;
        tg_drain_meet();
        if (!goes)
            return;
        if (to != drain.at)
            tg_drain_up_to(&drain, to);
        else
            emu_sleep(20);
    }
}

#include "orchestrate/feed.c"
