/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/args_pool.h"
#include "device/target.h"

/* Two tasks never share a cache line: a core reads one while the orchestrator writes the other. */
enum { LINE = 64 };

TG_FN void tg_args_pool_init(struct tg_args_pool *pool, const struct tg_orchestration *o,
                             uint32_t ring)
{
    pool->memory = 0;
    pool->block = TG_DEVICE_PTR(struct tg_args_block, o->args_blocks) + o->first_block[ring];
    pool->base = (uint64_t)o->first_block[ring] * TG_ARGS_BLOCK;
    pool->released = 0;
    pool->current = pool->oldest = pool->filled = 0;
    pool->free = 0;
    pool->fresh = 1;
}

/* Takes the next block that was not used in this run. If its note is empty, no run has used it. */
TG_FN static uint32_t fresh_block(struct tg_args_pool *pool)
{
    const struct tg_args_block *note = &pool->block[pool->fresh];
    if (pool->memory != 0 && note->end == 0 && note->next == 0)
        tg_target_expect(pool->memory + pool->base + (uint64_t)pool->fresh * TG_ARGS_BLOCK,
                         TG_ARGS_BLOCK);
    return ++pool->fresh;
}

/* The layout has a block for every case (TG_ARGS_BLOCKS), so there is always one. */
TG_FN static void next_block(struct tg_args_pool *pool, uint64_t index)
{
    uint32_t taken = pool->free;
    if (taken != 0)
        pool->free = pool->block[taken - 1].next;
    else
        taken = fresh_block(pool);
    pool->block[pool->current].end = index;
    pool->block[pool->current].next = taken;
    pool->current = taken - 1;
    pool->filled = 0;
}

TG_FN static uint64_t offset_of(const struct tg_args_pool *pool)
{
    return pool->base + (uint64_t)pool->current * TG_ARGS_BLOCK + pool->filled;
}

TG_FN uint64_t tg_args_pool_room(struct tg_args_pool *pool, uint64_t most, uint64_t index)
{
    if (pool->released == index) /* no task needs any arguments: begin again */
        pool->filled = 0;
    if (pool->filled + most > TG_ARGS_BLOCK)
        next_block(pool, index);
    return offset_of(pool);
}

TG_FN uint64_t tg_args_pool_take(struct tg_args_pool *pool, uint64_t bytes)
{
    uint64_t offset = offset_of(pool);
    pool->filled += (uint32_t)((bytes + LINE - 1) / LINE * LINE);
    return offset;
}

TG_FN void tg_args_pool_release(struct tg_args_pool *pool, uint64_t before)
{
    pool->released = before;
    while (pool->oldest != pool->current && pool->block[pool->oldest].end <= before) {
        uint32_t freed = pool->oldest;
        pool->oldest = pool->block[freed].next - 1;
        pool->block[freed].next = pool->free;
        pool->free = freed + 1;
    }
}
