/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of tasks on a GPU. The crew can be given the next kernel while it runs the one before, so
 * where a task has one successor that waits for it alone the leader does not wait for the first to
 * end before it prepares the second. Only target_impl.h includes this.
 */
#ifndef TG_CUDA_GPU_CHAIN_H
#define TG_CUDA_GPU_CHAIN_H

#include "device/core.h"
#include "device/trace.h"

/* After how many tasks a chain looks whether its lane is called elsewhere, and how many descriptors
 * ahead it prefetches. */
enum { TG_CHAIN_CALLS = 16, TG_CHAIN_FAR_AHEAD = 8 };

/* True if the task after one can be prepared while that one runs: its successors are known before
 * it ends, and nobody looks at the arguments or the clock in between. */
TG_FN static inline bool tg_chain_is_possible(const struct tg_engine *e)
{
    return e->edges == TG_EDGES_FIXED && !tg_is_watched(e);
}

/* What a chain needs of engine and lane, in registers. */
struct tg_chain {
    struct tg_engine *e;
    struct tg_worker *lane;
    const struct tg_task_desc *desc;
    const tg_kernel_fn *kernel;
    uint64_t finished;
    uint32_t takes;
    uint32_t order; /* number of the next */
};

TG_FN static inline void tg_chain_start(struct tg_chain *c, const struct tg_task_desc *desc,
                                        uint32_t task)
{
    uint32_t part = tg_core_part_of(desc->task_class);
    struct tg_target_order *order = &tg_orders()->call[c->order % 2];
    tg_core_fill_ctx(&order->ctx, order->tensor, c->e, c->lane, desc, part);
    order->kernel = c->kernel[desc->kernel[part]];
    tg_core_describe(&order->now, c->finished, desc, task, part);
    order->status = c->lane->status;
    tg_order_give(c->order++, TG_ORDER_CALL_NEXT);
}

/* True if only this core decides what runs after the one before, and it is this task. */
TG_FN static inline bool tg_chain_follows(const struct tg_chain *c,
                                          const struct tg_task_desc *before,
                                          const struct tg_task_desc *desc)
{
    return before->n_succ == 1 && desc->fanin == 1 && desc->task_class != TG_CLASS_MIX &&
           (c->takes & TG_TAKES(desc->task_class));
}

/*
 * Runs the task and, as long as each has one successor that waits for it alone, those after it: the
 * next is started behind the one that runs, and the descriptor after that is already on its way.
 * Gives the last one, which is still to be completed.
 */
TG_FN static inline uint32_t tg_chain_run(struct tg_engine *e, struct tg_worker *lane,
                                          uint32_t task)
{
    struct tg_chain c;
    struct tg_task_desc desc, ahead;
    c.e = e;
    c.lane = lane;
    c.desc = e->desc;
    c.kernel = e->kernel;
    c.finished = lane->finished;
    c.takes = lane->takes;
    c.order = tg_orders()->given;
    desc = c.desc[task];
    ahead = c.desc[desc.n_succ == 1 ? desc.next : task];
    tg_chain_start(&c, &desc, task);
    for (uint32_t n = 1; tg_chain_follows(&c, &desc, &ahead); n++) {
        uint32_t next = desc.next, later = ahead.n_succ == 1 ? ahead.next : next;
        struct tg_task_desc after = c.desc[later];
        tg_target_prefetch(&c.desc[later + TG_CHAIN_FAR_AHEAD]); /* tasks tend to follow in order */
        if (n % TG_CHAIN_CALLS == 0 && tg_core_is_called(e, lane))
            break;
        c.finished++;
        tg_chain_start(&c, &ahead, next);
        tg_order_wait(c.order - 2);
        task = next;
        desc = ahead;
        ahead = after;
    }
    tg_order_wait(c.order - 1);
    tg_orders()->given = c.order;
    tg_store_relaxed(&lane->finished, c.finished);
    return task;
}

TG_FN static inline uint32_t tg_target_run(struct tg_engine *e, struct tg_worker *lane,
                                           uint32_t task)
{
    if (tg_chain_is_possible(e))
        return tg_chain_run(e, lane, task);
    tg_core_run_alone(e, lane, task);
    return task;
}

#endif
