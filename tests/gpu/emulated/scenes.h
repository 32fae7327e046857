/* SPDX-License-Identifier: Apache-2.0 */
/* The device of a scene, and what runs on it. */
#ifndef TG_EMULATED_SCENES_H
#define TG_EMULATED_SCENES_H

#include "graphs.h"

struct device {
    struct tg_engine *engine;
    std::vector<struct tg_worker_status> status;
    uint32_t n_cores, n_blocks;
    struct graph *graph; /* that runs, or ran last */
    /* Blocks look at these words, and emu_run's conditions do. */
    uint32_t call;        /* number of launches */
    uint32_t filled_call; /* the last whose queues all blocks have filled */
    uint32_t n_filled, inside;
    bool closes;
    /* Of the run. */
    bool stopped;
    uint32_t after_stop[EMU_BLOCKS]; /* kernels that started after the stop */
    uint32_t in_kernel[EMU_BLOCKS];
};
extern struct device device;

void prepare_run(struct graph *g);
void start_run(uint32_t others); /* `others`: fibers that leave too, besides those of the blocks */
bool all_left(void);
bool all_filled(void);

/* fed.cpp: graphs whose tasks an orchestrator beside the device submits while it runs. */
void fed_open(bool narrow); /* `narrow`: a window of a few slots */
void fed_start(struct graph *g);
void fed_after_stop(void);
void fed_describe(void);

/* drain.cpp: the block that works off the feeding ring; and how its lanes meet (fed.cpp). */
void drain_run(struct tg_engine *e, struct tg_feed_ring *ring, uint32_t lane, uint32_t lanes);
void drain_meet(void);
uint32_t drain_least(uint32_t value); /* the least of all lanes' values */

#endif
