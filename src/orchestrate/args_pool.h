/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the arguments of one ring's tasks: each task takes as many bytes as its arguments need.
 * The memory is cut into blocks. Arguments are taken from the current block, one task after the other,
 * and a block is free again once the last task in it no longer needs its arguments:
 *
 *     oldest ─► block ─► block ─► current ▒▒▒▒░░░░      free ─► block ─► …      never used: fresh …
 *
 * A block that was freed last is taken first, because it is still in the cache, and a block that was
 * never used costs page faults. So a run touches as much memory as its tasks in flight need, however
 * large the ring is. Only the orchestrator uses this.
 */
#ifndef TG_ORCHESTRATE_ARGS_POOL_H
#define TG_ORCHESTRATE_ARGS_POOL_H

#include <stdbool.h>
#include <taskglass/target.h>
#include <taskglass/wire/orchestration.h>

struct tg_args_pool {
    char *
        memory; /* of all arguments, to announce a new block to the target; 0: it does not matter */
    struct tg_args_block *block; /* notes on the blocks of this ring */
    uint64_t base;               /* offset of its first block among all arguments */
    uint64_t released;           /* tasks before it no longer need their arguments */
    uint32_t current, oldest;
    uint32_t filled; /* bytes of the current block */
    uint32_t free;   /* list: block + 1 */
    uint32_t fresh;  /* blocks from here on were never used */
};

TG_FN void tg_args_pool_init(struct tg_args_pool *pool, const struct tg_orchestration *o,
                             uint32_t ring);

/* Makes room for the arguments of task `index`: at most the stride of the layout. Returns its offset
 * among all arguments. Tasks come in order. */
TG_FN uint64_t tg_args_pool_room(struct tg_args_pool *pool, uint64_t most, uint64_t index);
/* The task takes that many bytes of the room. Returns the offset again. */
TG_FN uint64_t tg_args_pool_take(struct tg_args_pool *pool, uint64_t bytes);

/* Tasks before this one no longer need their arguments. */
TG_FN void tg_args_pool_release(struct tg_args_pool *pool, uint64_t before);

#endif
