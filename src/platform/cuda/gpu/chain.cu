/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks on a GPU, one after the other. All lanes of the control warp go through this together: each looks at
 * another successor, or at another task of a chain, and the first gives the crew its orders. What the lanes
 * know in common each has in its own registers, so that nothing is handed over between two tasks.
 *
 *     lane 0      starts the kernel ─┐
 *     all lanes   look at the successors, and at what comes after the heir   } while it runs
 *                 wait for its end
 *                 count the edges, one each; find the task to go on with, or wait at the heir
 *
 * The crew can be given the next kernel while it runs the one before. So where a task has one successor that
 * waits for it alone, and so on, the lanes look at up to 32 of them at once, and each lane starts its own when
 * it is its turn.
 */
#include "device/ahead.h"
#include "device/fixed_edges.h"
#include "device/heir.h"
#include "device/target.h"

/* After how many cycles it looks whether its worker is called elsewhere. */
enum { TG_CHAIN_CYCLES = 8192 };
/* How often a core looks at its heir here before the leader alone does; and before it says that it is idle. */
enum { TG_CHAIN_LOOKS = 128, TG_CHAIN_IDLE = 8 };

/* The first lane that looks at one of the worker's own deques; before it are those that look at the queues. */
enum { TG_CHAIN_QUEUES = 3, TG_CHAIN_DEQUES = TG_CHAIN_QUEUES + 2 * TG_CLASSES };

/* What calls the worker away while it waits at a task: a lane looks at a word that is not 0 then, or at the head of
 * a queue or deque whose tail the next lane looks at. */
enum tg_chain_watch { TG_WATCH_TASK, TG_WATCH_WORD, TG_WATCH_HEAD, TG_WATCH_TAIL };

/* All lanes have the same in it, except where it says so. */
struct tg_chain {
    struct tg_engine *e;
    struct tg_worker *w;
    struct tg_task_desc *descs;
    const char *payload;
    uint64_t finished;
    uint32_t takes;
    uint32_t order;   /* number of the next */
    uint32_t parity;  /* bit i: of done[i] */
    uint32_t looked;  /* when it looked last whether it is called, in cycles */
    uint32_t lane;    /* this one */
    uint32_t watches; /* this lane: enum tg_chain_watch */
    uint32_t *word;   /* this lane: what it watches */
    uint32_t side;    /* of near.look */
    uint32_t seen;    /* this lane: what it saw of its word, if it glances */
    bool glances;
    bool called; /* the worker is called elsewhere: start nothing more */
};

/* ── kernels ───────────────────────────────────────────────────────────────────────────── */

/* A variable index would move the descriptor out of the registers. */
TG_FN static inline uint32_t tg_chain_number(const struct tg_task_desc *desc)
{
    return desc->task_class == TG_CLASS_AIC ? desc->kernel[TG_PART_AIC]
                                            : desc->kernel[TG_PART_AIV0];
}

/* Lanes may ask for different kernels. */
TG_FN static inline tg_kernel_fn tg_chain_kernel(uint32_t number)
{
    const struct tg_near *near = &tg_orders()->near;
    uint32_t at = number % TG_NEAR_KERNELS;
    return near->number[at] == number ? near->function[at] : near->kernel[number];
}

/* The same, and keeps it near: by lane 0. */
TG_FN static inline tg_kernel_fn tg_chain_kernel_kept(uint32_t number)
{
    struct tg_near *near = &tg_orders()->near;
    uint32_t at = number % TG_NEAR_KERNELS;
    if (near->number[at] != number) {
        near->function[at] = near->kernel[number];
        near->number[at] = number;
    }
    return near->function[at];
}

/* By one lane. `stored`: see tg_core_continue_ctx. */
TG_FN static inline void tg_chain_give(const struct tg_chain *c, const struct tg_task_desc *desc,
                                       const uint64_t *stored, uint32_t task, tg_kernel_fn kernel)
{
    struct tg_target_order *order = &tg_orders()->call[c->order % 2];
    uint32_t part = tg_core_part_of(desc->task_class);
    order->kernel = kernel;
    tg_core_continue_ctx(&order->ctx, order->tensor, c->payload, stored, desc, part);
    tg_core_describe(&order->now, c->finished, desc, task, part, tg_chain_number(desc));
    tg_order_give(c->order, TG_ORDER_CALL_NEXT);
}

/* Starts a task that all lanes know. */
TG_FN static inline void tg_chain_start(struct tg_chain *c, const struct tg_task_desc *desc,
                                        uint32_t task)
{
    __syncwarp(); /* what another lane has acquired is for the kernel */
    if (c->lane == 0)
        tg_chain_give(c, desc, tg_core_stored(c->payload, desc), task,
                      tg_chain_kernel_kept(tg_chain_number(desc)));
    c->order++;
}

/* Waits for the end of order n, as tg_order_wait. No lane gives another order before all have seen it. */
TG_FN static inline void tg_chain_wait(struct tg_chain *c, uint32_t n)
{
    tg_barrier_wait(&tg_orders()->done[n % 2], c->parity >> (n % 2) & 1, TG_LEADER_LOOKS);
    c->parity ^= 1u << (n % 2);
    __syncwarp();
}

/* ── being called away ─────────────────────────────────────────────────────────────────── */

/* Lane 0 looks at the task itself. */
TG_FN static inline void tg_chain_watch(struct tg_chain *c)
{
    uint32_t i = c->lane - TG_CHAIN_QUEUES, k = i / 2 % TG_CLASSES;
    c->watches = TG_WATCH_TASK;
    c->word = &c->e->phase;
    if (c->lane == 1 || c->lane == 2) {
        c->watches = TG_WATCH_WORD;
        c->word = c->lane == 1 ? &c->e->phase : &c->w->mail;
    } else if (c->lane >= TG_CHAIN_QUEUES && i < 2 * TG_CLASSES + 2 * TG_CLASS_MIX) {
        struct tg_queue *queue = &c->e->queue[k];
        struct tg_deque *deque = &c->w->deque[k % TG_CLASS_MIX];
        uint32_t *head = i < 2 * TG_CLASSES ? &queue->head : &deque->head;
        uint32_t *tail = i < 2 * TG_CLASSES ? &queue->tail : &deque->tail;
        c->watches = i % 2 != 0               ? TG_WATCH_TAIL
                     : c->takes & TG_TAKES(k) ? TG_WATCH_HEAD
                                              : TG_WATCH_TASK;
        c->word = i % 2 == 0 ? head : tail;
    }
}

TG_FN static inline bool tg_chain_tells(const struct tg_chain *c, uint32_t seen)
{
    return __any_sync(~0u, c->watches == TG_WATCH_WORD && seen != 0);
}

/* Looks whether the worker is called, if it is time to. What the lanes see is on its way until tg_chain_check,
 * and a kernel runs meanwhile. */
TG_FN static inline void tg_chain_glance(struct tg_chain *c)
{
    uint32_t now = (uint32_t)clock();
    if (c->glances || __any_sync(~0u, now - c->looked < TG_CHAIN_CYCLES))
        return;
    c->glances = true;
    c->looked = now;
    c->seen = tg_load_relaxed(c->word);
}

TG_FN static inline bool tg_chain_check(struct tg_chain *c)
{
    if (c->glances)
        c->called = tg_chain_tells(c, c->seen);
    c->glances = false;
    return c->called;
}

/* Waits at the heir that the worker has claimed. Returns false if there is something else to do, or it takes
 * long: then the leader alone waits on. */
TG_FN static inline bool tg_chain_wait_at(const struct tg_chain *c, uint32_t heir, uint32_t fanin)
{
    uint32_t *pending = &c->descs[heir].pending;
    uint32_t *word = c->lane == 0 ? pending : c->word;
    for (uint32_t look = 0; look < TG_CHAIN_LOOKS; look++) {
        uint32_t seen = tg_load_acquire(word); /* D1, by lane 0 */
        uint32_t next = __shfl_down_sync(~0u, seen, 1);
        bool told = c->watches == TG_WATCH_WORD   ? seen != 0
                    : c->watches == TG_WATCH_HEAD ? tg_queue_has(seen, next)
                                                  : c->lane == 0 && (seen & TG_HEIR_MOST) == 0;
        uint32_t news = __ballot_sync(~0u, told);
        if (news & 1) {
            if (c->lane == 0)
                tg_store_relaxed(pending, fanin); /* for the next run */
            return true;
        }
        if (news)
            return false;
        if (look == TG_CHAIN_IDLE && c->lane == 0)
            tg_target_say_idle(tg_orders()->near.seat.status, c->finished);
    }
    return false;
}

/* ── the beginning and the end ─────────────────────────────────────────────────────────── */

TG_FN static inline void tg_chain_begin(struct tg_chain *c, struct tg_engine *e)
{
    const struct tg_orders *o = tg_orders();
    c->e = e;
    c->w = o->lanes.worker;
    c->descs = o->near.desc;
    c->payload = o->near.seat.payload;
    c->finished = o->near.finished;
    c->takes = o->near.takes;
    c->order = o->given;
    c->parity = (o->joint[0] & 1) | (o->joint[1] & 1) << 1;
    c->looked = (uint32_t)clock();
    c->lane = threadIdx.x % 32;
    c->side = 0;
    c->seen = 0;
    c->glances = c->called = false;
    tg_chain_watch(c);
    __syncwarp(); /* all have read what the leader changes */
    if (c->lane == 0)
        tg_orders()->near.kept = TG_NO_TASK;
}

/* Returns `task`; the kernel of the last order may still run. */
TG_FN static inline uint32_t tg_chain_end(const struct tg_chain *c, uint32_t task, bool runs)
{
    struct tg_orders *o = tg_orders();
    __syncwarp();
    if (c->lane == 0) {
        tg_store_relaxed(&c->w->finished, c->finished); /* last, as in tg_worker_complete */
        o->near.finished = c->finished;
        o->near.kept = TG_NO_TASK;
        o->joint[0] = c->parity & 1;
        o->joint[1] = c->parity >> 1;
        o->given = c->order;
        o->runs = runs;
    }
    return task;
}

/* A task of the worker's own deque. TG_NO_TASK: there is none, or the worker is called. */
TG_FN static inline uint32_t tg_chain_pop(const struct tg_chain *c)
{
    uint32_t seen = tg_load_relaxed(c->word), next = __shfl_down_sync(~0u, seen, 1);
    bool has = c->lane >= TG_CHAIN_DEQUES && c->watches == TG_WATCH_HEAD && seen != next;
    uint32_t task = TG_NO_TASK;
    if (!__any_sync(~0u, has) || tg_chain_tells(c, seen))
        return TG_NO_TASK;
    for (uint32_t k = 0; c->lane == 0 && k < TG_CLASS_MIX && task == TG_NO_TASK; k++)
        if (c->takes & TG_TAKES(k))
            task = tg_deque_pop(&c->w->deque[k]);
    return __shfl_sync(~0u, task, 0);
}

/* ── tasks that follow one by one ──────────────────────────────────────────────────────── */

/* True if `next` is the one successor. */
TG_FN static inline bool tg_chain_has_one(const struct tg_task_desc *desc)
{
    return desc->n_succ == 1 && !(desc->n_parts & TG_DESC_BEYOND);
}

/* True if only this core decides when such a task runs, and may run it. */
TG_FN static inline bool tg_chain_follows(const struct tg_chain *c, const struct tg_task_desc *desc)
{
    return tg_fixed_edges_is_sole(desc->fanin, desc->n_parts) && desc->task_class != TG_CLASS_MIX &&
           (c->takes & TG_TAKES(desc->task_class));
}

/* Loads the stored tensors of the lane's task to where it is near, if they are few. All lanes do that at the
 * same time, which none could when it is its turn. Returns where they are. */
TG_FN static inline const uint64_t *tg_chain_fetch(const struct tg_chain *c,
                                                   const struct tg_task_desc *desc)
{
    enum { ROOM = sizeof(struct tg_task_desc) / sizeof(uint64_t) };
    uint64_t *near = (uint64_t *)&tg_orders()->near.look[TG_TARGET_LANES + c->lane];
    const uint64_t *stored = tg_core_stored(c->payload, desc);
    uint32_t words = 0;
    if (desc->n_tensors == 0)
        return stored;
    for (uint32_t i = 0; i < desc->n_tensors; i++) {
        uint32_t n = words < ROOM ? tg_stored_words(stored[words]) : ROOM;
        if (words + n > ROOM)
            return stored;
        for (uint32_t k = 0; k < n; k++, words++)
            near[words] = stored[words];
    }
    return near;
}

/* `desc`: of the task, which runs and has one successor. Runs this one and those after it, as long as each waits
 * for the one before alone and they lie at the same distance, and the worker is not called; the last one still
 * runs. *desc becomes its descriptor. Returns its number, or `task` if none follows. */
TG_FN static inline uint32_t tg_chain_follow(struct tg_chain *c, uint32_t task,
                                             struct tg_task_desc *desc)
{
    struct tg_near *near = &tg_orders()->near;
    uint32_t step = desc->next - task, at = desc->next + c->lane * step, linked, found;
    bool is = at < near->n_slots && (step < 1u << 20 || step > UINT32_MAX - (1u << 20));
    const struct tg_task_desc mine = c->descs[is ? at : desc->next];
    const uint64_t *stored = 0;
    tg_kernel_fn kernel = 0;
    linked = __shfl_up_sync(~0u, tg_chain_has_one(&mine) ? mine.next : TG_NO_TASK, 1);
    if (c->lane == 0)
        is = true, linked = at;
    found = __ballot_sync(~0u, is && linked == at && tg_chain_follows(c, &mine));
    found = found == UINT32_MAX ? 32 : tg_target_lowest_bit(~found);
    __syncwarp(); /* none looks any more at what was near */
    if (c->lane < found) {
        kernel = tg_chain_kernel(tg_chain_number(&mine));
        stored = tg_chain_fetch(c, &mine);
    }
    __syncwarp();
    for (uint32_t i = 0; i < found; i++) {
        c->finished++;
        if (c->lane == i)
            tg_chain_give(c, &mine, stored, at, kernel);
        c->order++;
        tg_chain_glance(c);
        tg_chain_wait(c, c->order - 2);
        if (tg_chain_check(c))
            found = i + 1;
    }
    if (found == 0)
        return task;
    if (c->lane == found - 1)
        near->last = mine;
    __syncwarp();
    *desc = near->last;
    return task + found * step;
}

/* ── fixed edges ───────────────────────────────────────────────────────────────────────── */

/* This lane's place for a copy of a descriptor. */
TG_FN static inline struct tg_task_desc *tg_chain_place(const struct tg_chain *c, uint32_t side)
{
    return &tg_orders()->near.look[side + c->lane];
}

TG_FN static inline uint32_t tg_chain_successor(const struct tg_task_desc *desc,
                                                const uint32_t *succ, uint32_t i)
{
    return i >= desc->n_succ        ? TG_NO_TASK
           : tg_chain_has_one(desc) ? desc->next
                                    : succ[desc->succ + i];
}

/* Claims an heir that is no successor. *before: see tg_chain_has_claimed. */
TG_FN static inline void tg_chain_claim(const struct tg_chain *c, uint32_t heir, uint32_t *before)
{
    if (c->lane == 0) {
        *before = tg_heir_claim_beyond(&c->descs[heir]);
        tg_begin_copy(&tg_orders()->near.last, &c->descs[heir], sizeof *c->descs);
    }
    __syncwarp(); /* before any lane counts an edge */
}

/* True if the heir is the worker's now: near.last is its descriptor. */
TG_FN static inline bool tg_chain_has_claimed(uint32_t before)
{
    tg_await_copies();
    __syncwarp();
    return __any_sync(~0u, before < TG_HEIR_CLAIM);
}

/* Not inlined, because most tasks leave nothing to offer. */
TG_FN static TG_APART void tg_chain_offer(struct tg_engine *e)
{
    const struct tg_lanes *lanes = &tg_orders()->lanes;
    const struct tg_chain_rest *r = &lanes->rest[threadIdx.x % 32];
    const struct tg_fixed_rest rest = {true, r->ready != 0, r->task, r->task_class, r->heir};
    tg_fixed_edges_offer(e, lanes->worker, TG_TARGET_LANES, rest);
}

/* All lanes: TG_WALK_RUN. Runs the task, and then those that the worker goes on with. Returns the last one, which
 * is to be completed; TG_NO_TASK if there is none; or, marked as claimed, the one that it waits at. */
TG_FN TG_APART uint32_t tg_chain_walk(struct tg_engine *e)
{
    struct tg_near *near = &tg_orders()->near;
    const uint32_t *succ = near->succ;
    enum tg_keep keep = near->claims ? TG_KEEP_OR_CLAIM : TG_KEEP;
    uint32_t task = tg_orders()->lanes.a, seen = TG_NO_TASK, next = TG_NO_TASK;
    bool runs = false;
    struct tg_chain c;
    struct tg_task_desc desc;
    tg_chain_begin(&c, e);
    desc = c.descs[task];
    for (;;) {
        struct tg_fixed_sight sight;
        struct tg_fixed_rest rest;
        uint32_t beyond = TG_NO_TASK, before = UINT32_MAX, heirs, on, from = 0;
        bool claims;
        if (!runs)
            tg_chain_start(&c, &desc, task);
        runs = false;
        tg_chain_glance(&c);
        for (;;) { /* the successors */
            uint32_t last = task;
            if (desc.n_succ - 1 >= TG_TARGET_LANES) /* also if there is none */
                break;
            tg_await_copies();
            if (seen != task) {
                next = tg_chain_successor(&desc, succ, c.lane);
                if (next != TG_NO_TASK)
                    tg_copy_desc(tg_chain_place(&c, c.side), &c.descs[next]);
            }
            __syncwarp();
            if (!tg_chain_has_one(&desc))
                break;
            if (tg_chain_follows(&c, &near->look[c.side]))
                task = tg_chain_follow(&c, task, &desc);
            if (task == last || c.called)
                break;
        }
        if (desc.n_succ > TG_TARGET_LANES || tg_chain_check(&c))
            return tg_chain_end(&c, task, true);
        if (desc.n_succ == 0) {
            task = tg_chain_pop(&c);
            c.finished++;
            if (task == TG_NO_TASK) {
                tg_chain_wait(&c, c.order - 1);
                return tg_chain_end(&c, TG_NO_TASK, false);
            }
            desc = c.descs[task];
            tg_chain_start(&c, &desc, task);
            tg_chain_wait(&c, c.order - 2);
            runs = true;
            continue;
        }
        claims = (desc.n_parts & TG_DESC_BEYOND) && keep == TG_KEEP_OR_CLAIM;
        sight.is = next != TG_NO_TASK;
        sight.task = next;
        tg_fixed_edges_judge(&sight, tg_chain_place(&c, c.side), desc.next, c.takes, keep);
        heirs = __ballot_sync(~0u, sight.is_heir);
        if (heirs != 0)
            beyond =
                tg_chain_successor(&near->look[c.side + tg_target_lowest_bit(heirs)], succ, c.lane);
        else if (claims)
            tg_chain_claim(&c, desc.next, &before);
        tg_chain_wait(&c, c.order - 1);
        on = tg_fixed_edges_settle(TG_TARGET_LANES, c.descs, &sight, &rest, &from);
        if (claims)
            claims = tg_chain_has_claimed(before);
        if (claims && on != TG_NO_TASK) {
            rest.heir = desc.next;
            rest.any = true;
        }
        if (rest.any) {
            tg_orders()->lanes.rest[c.lane] = {rest.task, rest.task_class, rest.heir, rest.ready};
            tg_chain_offer(e);
        }
        c.finished++;
        seen = TG_NO_TASK;
        if (on != TG_NO_TASK) {
            task = on & ~TG_HEIR_CLAIMED;
            desc = near->look[c.side + from];
            if (heirs >> from & 1) {
                c.side ^= TG_TARGET_LANES;
                next = beyond;
                seen = task;
            }
        } else if (claims) {
            task = desc.next;
            on = task | TG_HEIR_CLAIMED;
            desc = near->last;
            next = tg_chain_successor(&desc, succ, c.lane);
            seen = task;
        } else {
            return tg_chain_end(&c, on, false);
        }
        if (seen == task && next != TG_NO_TASK)
            tg_begin_copy(tg_chain_place(&c, c.side), &c.descs[next], sizeof *c.descs);
        if (on != task && !tg_chain_wait_at(&c, task, desc.fanin))
            return tg_chain_end(&c, on, false);
    }
}

/* ── edges that are added meanwhile ────────────────────────────────────────────────────── */

/* Not inlined: most tasks of a chain come to this together. */
TG_FN static TG_APART void tg_chain_close(struct tg_engine *e, struct tg_worker *w, uint32_t task,
                                          uint32_t step, uint32_t n)
{
    tg_walk_close(e, w, task, step, n);
}

/* True if order n ends within a moment. */
TG_FN static inline bool tg_chain_ends(const struct tg_chain *c, uint32_t n)
{
    for (uint32_t i = 0; i < TG_LEADER_LOOKS; i++)
        if (__any_sync(~0u, tg_barrier_passed(&tg_orders()->done[n % 2], c->parity >> (n % 2) & 1)))
            return true;
    return false;
}

/* Runs `n` tasks behind `task`, which runs: the lanes have looked at them. Those that have run are completed
 * together, but while one runs that takes longer, so that nobody waits for a long kernel who does not have to.
 * Returns how many it ran: fewer if the worker is called. */
TG_FN static inline uint32_t tg_chain_follow_fed(struct tg_chain *c, uint32_t task, uint32_t step,
                                                 uint32_t n)
{
    const struct tg_task_desc mine = tg_orders()->near.look[c->lane];
    uint32_t closed = 0;
    const uint64_t *stored = c->lane < n ? tg_chain_fetch(c, &mine) : 0;
    tg_kernel_fn kernel = c->lane < n ? tg_chain_kernel(tg_chain_number(&mine)) : 0;
    __syncwarp();
    for (uint32_t i = 0; i < n; i++) {
        c->finished++;
        if (c->lane == i)
            tg_chain_give(c, &mine, stored, task + (i + 1) * step, kernel);
        c->order++;
        tg_chain_glance(c);
        if (i > closed && !tg_chain_ends(c, c->order - 2)) {
            tg_chain_close(c->e, c->w, task + closed * step, step, i - closed);
            closed = i;
        }
        tg_chain_wait(c, c->order - 2);
        if (tg_chain_check(c))
            n = i + 1;
    }
    tg_chain_close(c->e, c->w, task + closed * step, step, n - closed);
    return n;
}

/* The descriptor of the task that the worker keeps: the lanes may have looked at it. What they looked at is of no
 * use later, because another task may have its slot by then. */
TG_FN static inline struct tg_task_desc tg_chain_kept(const struct tg_chain *c, uint32_t task)
{
    struct tg_near *near = &tg_orders()->near;
    struct tg_task_desc desc;
    __syncwarp(); /* lane 0 has said what is kept */
    desc = near->kept == task ? near->look[near->kept_at] : c->descs[task];
    __syncwarp();
    if (c->lane == 0)
        near->kept = TG_NO_TASK;
    __syncwarp();
    return desc;
}

/* Runs the tasks that follow `task`, which runs, one by one, as far as they are known. Returns the last. Loads of
 * its own would hold up those that are no chain, so `hint` says whether there may be one; if the edge was
 * not there yet, the next task is found when this one has ended. */
TG_FN static inline uint32_t tg_chain_run_ahead(struct tg_chain *c, uint32_t task, uint32_t hint)
{
    while (hint != TG_NO_TASK && !c->called) {
        uint32_t first = __shfl_sync(~0u, tg_ahead_next(c->e, task), 0), step = first - task, n;
        if (first == TG_NO_TASK)
            break;
        n = tg_walk_ahead(c->e, c->w, task, first);
        if (n == 0)
            break;
        n = tg_chain_follow_fed(c, task, step, n);
        task += n * step;
        hint = tg_orders()->near.look[n - 1].next;
    }
    return task;
}

/* All lanes: TG_WALK_RUN, as tg_chain_walk. A worker waits at no task here. */
TG_FN TG_APART uint32_t tg_chain_walk_fed(struct tg_engine *e)
{
    uint32_t task = tg_orders()->lanes.a;
    struct tg_chain c;
    struct tg_task_desc desc;
    tg_chain_begin(&c, e);
    desc = c.descs[task];
    for (;;) {
        uint64_t before = c.finished;
        struct tg_growing_peek peek;
        uint32_t number;
        tg_chain_start(&c, &desc, task);
        tg_chain_glance(&c);
        task = tg_chain_run_ahead(&c, task, __shfl_sync(~0u, desc.next, 0));
        if (tg_chain_check(&c))
            return tg_chain_end(&c, task, true);
        tg_growing_edges_peek(e, TG_TARGET_LANES, task, &peek);
        /* A chain may come back to the slot where it began. */
        number = c.finished == before ? desc.n_succ : c.descs[task].n_succ;
        tg_chain_wait(&c, c.order - 1);
        task = tg_growing_edges_release_peeked(e, c.w, TG_TARGET_LANES, task, number, true, &peek);
        c.finished++;
        if (task == TG_NO_TASK)
            return tg_chain_end(&c, task, false);
        desc = tg_chain_kept(&c, task);
    }
}

/* ── the leader ────────────────────────────────────────────────────────────────────────── */

TG_FN uint32_t tg_chain_run_on(struct tg_engine *e, struct tg_worker *w, uint32_t task)
{
    while (task != TG_NO_TASK) {
        task = tg_target_walk(e, w, TG_WALK_RUN, task, 0, 0);
        if (!tg_heir_is_claimed(task))
            break;
        task = tg_heir_wait_on(e, w, task & ~TG_HEIR_CLAIMED);
    }
    return task;
}
