/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of tasks on a GPU. The crew can be given the next kernel while it runs the one before, so
 * where a task has one successor that waits for it alone the leader does not wait for the first to
 * end before it prepares the second.
 */
#include "device/ahead.h"
#include "device/heir.h"
#include "device/target.h"

/* After how many tasks a chain looks whether its lane is called elsewhere, and after how many cycles if they
 * are no chain; and how many descriptors ahead it prefetches. */
enum { TG_CHAIN_CALLS = 16, TG_CHAIN_CYCLES = 8192, TG_CHAIN_FAR_AHEAD = 8 };

/* What a chain has in registers. */
struct tg_chain {
    struct tg_engine *e;
    struct tg_worker *lane;
    const struct tg_task_desc *desc;
    const char *payload;
    tg_kernel_fn function; /* of the kernel `number`, which ran last */
    uint64_t finished;
    uint32_t number;
    uint32_t takes;
    uint32_t order;  /* number of the next */
    uint32_t parity; /* bit i: of done[i] */
    uint32_t looked; /* when it looked last, in cycles */
    bool called;     /* the lane is called elsewhere */
};

TG_FN static inline tg_kernel_fn tg_chain_kernel(uint32_t number)
{
    struct tg_near *near = &tg_orders()->near;
    uint32_t at = number % TG_NEAR_KERNELS;
    if (near->number[at] != number) {
        near->function[at] = near->kernel[number];
        near->number[at] = number;
    }
    return near->function[at];
}

TG_FN static inline void tg_chain_start(struct tg_chain *c, const struct tg_task_desc *desc,
                                        uint32_t task)
{
    uint32_t part = tg_core_part_of(desc->task_class);
    /* A variable index would move the descriptor out of the registers. */
    uint32_t number = part == TG_PART_AIC ? desc->kernel[TG_PART_AIC] : desc->kernel[TG_PART_AIV0];
    struct tg_target_order *order = &tg_orders()->call[c->order % 2];
    if (number != c->number) {
        c->number = number;
        c->function = tg_chain_kernel(number);
    }
    order->kernel = c->function;
    tg_core_continue_ctx(&order->ctx, order->tensor, c->payload, desc, part);
    tg_core_describe(&order->now, c->finished, desc, task, part, number);
    order->status = tg_orders()->near.seat.status;
    tg_order_give(c->order++, TG_ORDER_CALL_NEXT);
}

/* Waits for the end of order n, as tg_order_wait. */
TG_FN static inline void tg_chain_wait(struct tg_chain *c, uint32_t n)
{
    tg_barrier_wait(&tg_orders()->done[n % 2], c->parity >> (n % 2) & 1, TG_LEADER_LOOKS);
    c->parity ^= 1u << (n % 2);
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
 * Gives the last one, whose kernel still runs and which is still to be completed.
 */
TG_FN static inline uint32_t tg_chain_run(struct tg_chain *c, uint32_t task)
{
    struct tg_orders *o = tg_orders();
    struct tg_task_desc desc =
        o->near.kept == task ? o->near.look[o->near.kept_at] : c->desc[task];
    tg_chain_start(c, &desc, task);
    if (desc.n_succ == 1) {
        struct tg_task_desc ahead = c->desc[desc.next];
        c->parity = (o->joint[0] & 1) | (o->joint[1] & 1) << 1;
        for (uint32_t n = 1; tg_chain_follows(c, &desc, &ahead); n++) {
            uint32_t next = desc.next, later = ahead.n_succ == 1 ? ahead.next : next;
            struct tg_task_desc after = c->desc[later];
            /* tasks tend to follow in order */
            tg_target_prefetch(&c->desc[later + TG_CHAIN_FAR_AHEAD]);
            if (n % TG_CHAIN_CALLS == 0 && (c->called = tg_core_is_called(c->e, c->lane)))
                break;
            c->finished++;
            tg_chain_start(c, &ahead, next);
            tg_chain_wait(c, c->order - 2);
            task = next;
            desc = ahead;
            ahead = after;
        }
        o->joint[0] = c->parity & 1;
        o->joint[1] = c->parity >> 1;
        if (desc.n_succ == 1)
            tg_see_one(task, desc.next, c->desc);
    }
    o->near.known = task;
    o->near.running.succ = desc.succ;
    o->near.running.n_succ = desc.n_succ;
    o->near.running.next = desc.next;
    o->near.kept = TG_NO_TASK;
    o->given = c->order;
    o->runs = 1;
    return task;
}

/* True if order n ends within a moment. */
TG_FN static inline bool tg_chain_ends(const struct tg_chain *c, uint32_t n)
{
    for (uint32_t i = 0; i < TG_LEADER_LOOKS; i++)
        if (tg_barrier_passed(&tg_orders()->done[n % 2], c->parity >> (n % 2) & 1))
            return true;
    return false;
}

/* Completes tasks that have run. What runs meanwhile is not waited for. */
TG_FN static inline void tg_chain_close(struct tg_chain *c, uint32_t task, uint32_t step,
                                        uint32_t n)
{
    if (n > 0)
        tg_target_walk(c->e, c->lane, TG_WALK_CLOSE, task, step, n);
}

/* Runs `n` tasks behind `task`, which runs: the lanes have looked at them. Those that have run are completed
 * together, but while one runs that takes longer, so that nobody waits for a long kernel who does not have to. */
TG_FN static inline void tg_chain_follow(struct tg_chain *c, uint32_t task, uint32_t step,
                                         uint32_t n)
{
    const struct tg_task_desc *look = &tg_orders()->near.look[tg_orders()->near.side];
    uint32_t closed = 0;
    for (uint32_t i = 0; i < n; i++) {
        c->finished++;
        tg_chain_start(c, &look[i], task + (i + 1) * step);
        if (i > closed && !tg_chain_ends(c, c->order - 2)) {
            tg_chain_close(c, task + closed * step, step, i - closed);
            closed = i;
        }
        tg_chain_wait(c, c->order - 2);
    }
    tg_chain_close(c, task + closed * step, step, n - closed);
}

/* As tg_chain_run, where edges are still added. */
TG_FN static inline uint32_t tg_chain_run_fed(struct tg_chain *c, uint32_t task)
{
    struct tg_orders *o = tg_orders();
    uint32_t hint, first, n;
    struct tg_task_desc desc =
        o->near.kept == task ? o->near.look[o->near.kept_at] : c->desc[task];
    tg_chain_start(c, &desc, task);
    c->parity = (o->joint[0] & 1) | (o->joint[1] & 1) << 1;
    /* Loads of its own would hold up those that are no chain; if the edge was not there yet, the next task is
     * found when this one has ended. */
    for (hint = desc.next; hint != TG_NO_TASK; hint = o->near.look[o->near.side + n - 1].next) {
        if ((first = tg_ahead_next(c->e, task)) == TG_NO_TASK)
            break;
        n = tg_target_walk(c->e, c->lane, TG_WALK_AHEAD, task, first, 0);
        if (n == 0)
            break;
        tg_chain_follow(c, task, first - task, n);
        task += n * (first - task);
        if ((c->called = tg_core_is_called(c->e, c->lane)))
            break;
    }
    o->joint[0] = c->parity & 1;
    o->joint[1] = c->parity >> 1;
    o->near.known = TG_NO_TASK;
    o->near.kept = TG_NO_TASK;
    o->given = c->order;
    o->runs = 1;
    return task;
}

/* True if it is time to look whether the lane is called elsewhere, and it is. */
TG_FN static inline bool tg_chain_is_called(struct tg_chain *c)
{
    uint32_t now = (uint32_t)clock();
    if (!c->called && now - c->looked >= TG_CHAIN_CYCLES) {
        c->looked = now;
        c->called = tg_core_is_called(c->e, c->lane);
    }
    return c->called;
}

TG_FN static inline void tg_chain_begin(struct tg_chain *c, struct tg_engine *e,
                                        struct tg_worker *lane)
{
    const struct tg_near *near = &tg_orders()->near;
    c->e = e;
    c->lane = lane;
    c->desc = near->desc;
    c->payload = near->seat.payload;
    c->function = 0;
    c->number = TG_NO_KERNEL;
    c->finished = near->finished;
    c->takes = near->takes;
    c->order = tg_orders()->given;
    c->looked = (uint32_t)clock();
    c->called = false;
}

/* Last, as in tg_worker_complete. */
TG_FN static inline void tg_chain_end(const struct tg_chain *c)
{
    tg_store_relaxed(&c->lane->finished, c->finished);
    tg_orders()->near.finished = c->finished;
}

/* The same for both kinds of edges. They are two functions, and none is part of another, so that each has all
 * registers. */
TG_FN TG_APART uint32_t tg_chain_run_on(struct tg_engine *e, struct tg_worker *lane, uint32_t task)
{
    struct tg_near *near = &tg_orders()->near;
    struct tg_chain c;
    tg_chain_begin(&c, e, lane);
    while (task != TG_NO_TASK) {
        task = tg_chain_run(&c, task);
        if (tg_chain_is_called(&c))
            break;
        if (near->running.n_succ == 0) {
            tg_target_end_kernel();
            task = TG_NO_TASK;
        } else {
            task = tg_target_walk(e, lane, TG_WALK_RELEASE, task,
                                  near->claims ? TG_KEEP_OR_CLAIM : TG_KEEP, 0);
        }
        c.finished++;
        if (tg_heir_is_claimed(task)) {
            near->finished = c.finished;
            task = tg_heir_wait(e, lane, task & ~TG_HEIR_CLAIMED);
        }
    }
    tg_chain_end(&c);
    return task;
}

TG_FN TG_APART uint32_t tg_chain_run_on_fed(struct tg_engine *e, struct tg_worker *lane,
                                            uint32_t task)
{
    struct tg_chain c;
    tg_orders()->near.kept = TG_NO_TASK; /* another task may have its slot by now */
    tg_chain_begin(&c, e, lane);
    while (task != TG_NO_TASK) {
        task = tg_chain_run_fed(&c, task);
        if (tg_chain_is_called(&c))
            break;
        task = tg_target_walk(e, lane, TG_WALK_RELEASE, task, TG_KEEP, 0);
        c.finished++;
    }
    tg_chain_end(&c);
    return task;
}
