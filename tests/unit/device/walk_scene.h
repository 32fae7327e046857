/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks (device/walk.h) over `count` entries, and what must come of them. tests/unit/device/walk.c
 * makes them on one lane and tests/gpu/lanes.cu on 32, so this is valid in C11 and in CUDA C++.
 *
 *     for every kind of scene and every count:   lay out ─► the walk ─► check
 *
 * scene_try returns 0, or the line of the check that failed.
 */
#ifndef TG_TEST_WALK_SCENE_H
#define TG_TEST_WALK_SCENE_H

#include "device/target.h"
#include "device/walk.h"

/* What else the target wants to know before a run. */
#ifndef SCENE_BEGIN
#define SCENE_BEGIN(s) ((void)0)
#endif
/* How many lanes its worker has in a walk. */
#ifndef SCENE_LANES
#define SCENE_LANES 1u
#endif

enum { SCENE_COUNTS = 66, SCENE_TASKS = SCENE_COUNTS + 1, SCENE_SLOTS = 512, SCENE_CORES = 3 };

enum scene_kind {
    SCENE_FIXED,
    SCENE_FIXED_KEEP,
    SCENE_GROWING,
    SCENE_GROWING_KEEP,
    SCENE_FETCH,
    SCENE_STEAL,
    SCENE_AHEAD,
    SCENE_CLOSE,
    SCENE_HEIR,
    SCENE_KINDS
};

struct scene {
    struct tg_engine *e; /* with SCENE_CORES cores, in memory of tg_engine_size */
    struct tg_worker *w; /* the worker that walks: a vector core */
    uint64_t pad[6];     /* descriptors and status are whole cache lines */
    struct tg_worker_status status[16];
    struct tg_task_desc desc[SCENE_TASKS];
    struct tg_launch launch;
    uint32_t succ[SCENE_TASKS];
    struct tg_dep deps[SCENE_TASKS];
    uint32_t ready[1];
    uint64_t slots[TG_CLASSES][SCENE_SLOTS];
};

#define SCENE_EXPECT(condition) \
    do {                        \
        if (!(condition))       \
            return __LINE__;    \
    } while (0)

/* ── laying out ────────────────────────────────────────────────────────────────────────── */

TG_FN static inline uint32_t scene_class(uint32_t entry)
{
    return entry % 5 == 3 ? TG_CLASS_AIC : TG_CLASS_AIV;
}

/* One of three waits for nothing else, one waited for another task that has completed, and one still
 * waits for another. */
TG_FN static inline bool scene_is_ready(uint32_t entry)
{
    return entry % 3 != 2;
}

TG_FN static inline void scene_add_task(struct scene *s, uint32_t entry)
{
    struct tg_task_desc *desc = &s->desc[entry + 1];
    desc->task_class = (uint8_t)scene_class(entry);
    desc->n_parts = 1;
    desc->n_succ = 0;
    desc->next = TG_NO_TASK;
    desc->fanin = entry % 3 == 0 ? 1 : 2;
    desc->pending = entry % 3 == 2 ? 2 : 1;
}

/* Where the list's entry lies: threads that make edges side by side leave them in any order. SCENE_TASKS is
 * prime. */
TG_FN static inline uint32_t scene_entry(uint32_t i)
{
    return i * 29 % SCENE_TASKS;
}

/* Task 0 has `count` successors, and the worker has nothing to do. */
TG_FN static inline void scene_lay(struct scene *s, enum scene_kind kind, uint32_t count)
{
    bool grows = kind != SCENE_FIXED && kind != SCENE_FIXED_KEEP && kind != SCENE_HEIR;
    for (uint32_t i = 0; i + 1 < SCENE_TASKS; i++) {
        scene_add_task(s, i);
        s->succ[i] = i + 1;
        s->deps[scene_entry(i)].task = i + 1;
        s->deps[scene_entry(i)].next = i + 1 < count ? scene_entry(i + 1) : TG_DEP_NONE;
    }
    s->desc[0].n_succ = count;
    s->desc[0].next = count > 0 ? 1 : 0;
    s->desc[0].succ = grows ? (count > 0 ? scene_entry(0) : TG_DEP_NONE) : 0;
    s->launch.n_tasks = SCENE_TASKS;
    s->launch.desc = (uint64_t)(uintptr_t)s->desc;
    s->launch.succ = (uint64_t)(uintptr_t)s->succ;
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        s->launch.ready[c] = (uint64_t)(uintptr_t)s->ready;
        s->launch.queue[c] = (uint64_t)(uintptr_t)s->slots[c];
        s->launch.queue_size[c] = SCENE_SLOTS;
    }
    s->e->always_shares = true;
    tg_engine_prepare(s->e, &s->launch, 0, 0, 0);
    s->e->edges = grows ? TG_EDGES_GROWING : TG_EDGES_FIXED;
    s->e->deps = s->deps;
    s->w = &s->e->worker[1];
    SCENE_BEGIN(s);
}

/* Everything that a scene needs, in `memory`. */
TG_FN static inline void scene_open(struct scene *s, void *memory)
{
    s->e = tg_engine_init(memory, SCENE_CORES, 0, s->status);
    s->e->n_cpus = 0;
}

/* ── releasing ─────────────────────────────────────────────────────────────────────────── */

/* The queue has what became ready, in order, without the task that the worker kept. */
TG_FN static inline int scene_check_queue(const struct scene *s, uint32_t task_class,
                                          uint32_t count, uint32_t kept)
{
    const struct tg_queue *queue = &s->e->queue[task_class];
    uint32_t at = queue->head;
    for (uint32_t i = 0; i < count; i++) {
        if (!scene_is_ready(i) || scene_class(i) != task_class || i + 1 == kept)
            continue;
        SCENE_EXPECT(s->slots[task_class][at % SCENE_SLOTS] == ((uint64_t)at << 32 | (i + 2)));
        at++;
    }
    SCENE_EXPECT(at == queue->tail);
    return 0;
}

TG_FN static inline int scene_check_release(const struct scene *s, uint32_t count, bool keep,
                                            bool grows, uint32_t next)
{
    uint32_t kept = keep && count > 0 ? 1 : TG_NO_TASK;
    int line;
    SCENE_EXPECT(next == kept); /* the first is of the worker's kind */
    for (uint32_t i = 0; i + 1 < SCENE_TASKS; i++) {
        uint32_t before = i % 3 == 2 ? 2 : 1, pending = before;
        if (i < count && i % 3 == 1)
            pending = grows ? 0 : 2; /* set back for the next run */
        else if (i < count && i % 3 == 2)
            pending = 1;
        SCENE_EXPECT(s->desc[i + 1].pending == pending);
    }
    line = scene_check_queue(s, TG_CLASS_AIV, count, kept);
    return line ? line : scene_check_queue(s, TG_CLASS_AIC, count, kept);
}

TG_FN static inline int scene_release(struct scene *s, uint32_t count, bool keep, bool grows)
{
    uint32_t next = tg_target_walk(s->e, s->w, TG_WALK_RELEASE, 0, keep, 0);
    return scene_check_release(s, count, keep, grows, next);
}

/* ── waiting for an heir ───────────────────────────────────────────────────────────────── */

/* All successors wait for one more, and the worker claims one of them. When that has run, the same tasks are
 * the heir's successors, and ready, but the heir. */
TG_FN static inline int scene_heir(struct scene *s, uint32_t count)
{
    const struct tg_queue *queue = &s->e->queue[TG_CLASS_AIV];
    uint32_t heir = count < SCENE_LANES ? count : SCENE_LANES, at = queue->head, next;
    for (uint32_t i = 1; i <= count; i++) {
        s->desc[i].task_class = TG_CLASS_AIV;
        s->desc[i].fanin = s->desc[i].pending = 2;
    }
    s->desc[0].next = heir;
    if (count > 0) {
        s->desc[heir].n_succ = count;
        s->desc[heir].succ = 0;
        s->desc[heir].next = 1;
    }
    next = tg_target_walk(s->e, s->w, TG_WALK_RELEASE, 0, TG_KEEP_OR_CLAIM, 0);
    SCENE_EXPECT(next == (TG_TARGET_LINES_UP && count > 0 ? heir | TG_HEIR_CLAIMED : TG_NO_TASK));
    SCENE_EXPECT(queue->tail == at);
    if (next == TG_NO_TASK)
        return 0;
    SCENE_EXPECT(s->desc[heir].pending == (TG_HEIR_CLAIM | 1));
    SCENE_EXPECT(tg_target_walk(s->e, s->w, TG_WALK_RELEASE, heir, TG_KEEP_NONE, 0) == TG_NO_TASK);
    for (uint32_t i = 1; i <= count; i++) {
        if (i == heir)
            continue;
        SCENE_EXPECT(s->desc[i].pending == 2); /* set back for the next run */
        SCENE_EXPECT(s->slots[TG_CLASS_AIV][at % SCENE_SLOTS] == ((uint64_t)at << 32 | (i + 1)));
        at++;
    }
    SCENE_EXPECT(queue->tail == at);
    return 0;
}

/* ── taking ────────────────────────────────────────────────────────────────────────────── */

/* The worker's deque has these tasks. */
TG_FN static inline int scene_check_deque(struct scene *s, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        SCENE_EXPECT(tg_deque_pop(&s->w->deque[TG_CLASS_AIV]) == first + i);
    SCENE_EXPECT(tg_deque_pop(&s->w->deque[TG_CLASS_AIV]) == TG_NO_TASK);
    return 0;
}

TG_FN static inline int scene_fetch(struct scene *s, uint32_t count)
{
    struct tg_queue *queue = &s->e->queue[TG_CLASS_AIV];
    uint32_t at, left, claimed;
    for (uint32_t i = 0; i < count; i++)
        tg_queue_push(queue, i);
    claimed = tg_queue_claim(queue, 1, TG_BATCH_MAX, &at, &left);
    SCENE_EXPECT(claimed == count);
    if (count == 0)
        return 0;
    SCENE_EXPECT(tg_target_walk(s->e, s->w, TG_WALK_FETCH, TG_CLASS_AIV, at, count) == 0);
    SCENE_EXPECT(!tg_queue_occupied(queue));
    tg_queue_push(queue, 7); /* would wait for ever if the slots were not free */
    SCENE_EXPECT(tg_queue_pop(queue, 1, 1, 0) == 7);
    return scene_check_deque(s, 1, count - 1);
}

/* The victim is the worker behind this one, or, for odd numbers, the last. */
TG_FN static inline int scene_steal(struct scene *s, uint32_t count)
{
    struct tg_engine *e = s->e;
    struct tg_worker *victim = &e->worker[count % 2 ? e->n_workers - 1 : 2];
    uint32_t taken = count - count / 2, task;
    for (uint32_t i = 0; i < count; i++)
        SCENE_EXPECT(tg_deque_push(&victim->deque[TG_CLASS_AIV], i));
    SCENE_EXPECT(tg_target_walk(e, s->w, TG_WALK_LOOT, TG_TAKES(TG_CLASS_AIV), 0, 0) ==
                 (count > 0));
    SCENE_EXPECT(tg_target_walk(e, s->w, TG_WALK_LOOT, TG_TAKES(TG_CLASS_AIC), 0, 0) == 0);
    task = tg_target_walk(e, s->w, TG_WALK_STEAL, TG_CLASS_AIV, 0, 0);
    SCENE_EXPECT(task == (count > 0 ? 0 : TG_NO_TASK));
    for (uint32_t i = taken; i < count; i++)
        SCENE_EXPECT(tg_deque_pop(&victim->deque[TG_CLASS_AIV]) == i);
    SCENE_EXPECT(tg_deque_pop(&victim->deque[TG_CLASS_AIV]) == TG_NO_TASK);
    return count > 0 ? scene_check_deque(s, 1, taken - 1) : 0;
}

/* ── tasks that follow one by one ──────────────────────────────────────────────────────── */

/* A chain of `count` tasks behind its first, every other slot: upwards, or downwards for odd numbers. Behind
 * every third task another waits for it too, in the slot beside it. */
enum { SCENE_CHAIN = (SCENE_TASKS - 2) / 2, SCENE_STEP = 2 };

TG_FN static inline uint32_t scene_chained(uint32_t count, uint32_t i)
{
    return SCENE_STEP * (count % 2 ? SCENE_CHAIN - i : i);
}

TG_FN static inline void scene_lay_chain(struct scene *s, uint32_t count)
{
    for (uint32_t i = 0; i <= count; i++) {
        uint32_t task = scene_chained(count, i), next = scene_chained(count, i + 1);
        struct tg_task_desc *desc = &s->desc[task], *other = &s->desc[task + 1];
        desc->id = task + 1000;
        desc->task_class = other->task_class = TG_CLASS_AIV;
        desc->fanin = other->fanin = 1;
        desc->next = i < count ? next : TG_NO_TASK;
        desc->succ = i < count ? task : TG_DEP_NONE;
        s->deps[task].task = next;
        s->deps[task].next = i % 3 == 0 ? task + 1 : TG_DEP_NONE;
        s->deps[task + 1].task = task + 1;
        s->deps[task + 1].next = TG_DEP_NONE;
    }
}

TG_FN static inline uint32_t scene_look_ahead(const struct scene *s, uint32_t count)
{
    return tg_target_walk(s->e, s->w, TG_WALK_AHEAD, scene_chained(count, 0),
                          scene_chained(count, 1), 0);
}

/* The chain ends, or a task in it waits for more than the one before, or is for another core. */
TG_FN static inline int scene_ahead(struct scene *s, uint32_t count)
{
    uint32_t chain = count < SCENE_CHAIN ? count : SCENE_CHAIN - 1, lanes = SCENE_LANES;
    scene_lay_chain(s, chain);
    for (uint32_t end = 1; chain > 0 && end <= chain; end++) {
        struct tg_task_desc *desc = &s->desc[scene_chained(chain, end)];
        uint32_t most = end - 1 < lanes ? end - 1 : lanes;
        desc->fanin = 2;
        SCENE_EXPECT(scene_look_ahead(s, chain) == most);
        desc->fanin = 1;
        desc->task_class = TG_CLASS_AIC;
        SCENE_EXPECT(scene_look_ahead(s, chain) == most);
        desc->task_class = TG_CLASS_AIV;
        s->desc[scene_chained(chain, end - 1)].next = TG_NO_TASK;
        SCENE_EXPECT(end == 1 || scene_look_ahead(s, chain) == most);
        s->desc[scene_chained(chain, end - 1)].next = scene_chained(chain, end);
    }
    SCENE_EXPECT(chain == 0 || scene_look_ahead(s, chain) == (chain < lanes ? chain : lanes));
    return 0;
}

TG_FN static inline int scene_close(struct scene *s, uint32_t count)
{
    const struct tg_queue *queue = &s->e->queue[TG_CLASS_AIV];
    uint32_t chain = count < SCENE_CHAIN ? count : SCENE_CHAIN - 1, lanes = SCENE_LANES, n;
    uint32_t at = queue->head, step = scene_chained(chain, 1) - scene_chained(chain, 0);
    scene_lay_chain(s, chain);
    for (uint32_t i = 0; i < chain; i += n) {
        n = chain - i < lanes ? chain - i : lanes;
        tg_target_walk(s->e, s->w, TG_WALK_CLOSE, scene_chained(chain, i), step, n);
    }
    for (uint32_t i = 0; i < chain; i++) {
        uint32_t task = scene_chained(chain, i);
        SCENE_EXPECT(s->desc[task].succ == TG_DEP_CLOSED);
        if (i % 3 != 0)
            continue;
        SCENE_EXPECT(s->slots[TG_CLASS_AIV][at % SCENE_SLOTS] == ((uint64_t)at << 32 | (task + 2)));
        at++;
    }
    SCENE_EXPECT(at == queue->tail);
    return 0;
}

TG_FN static inline int scene_try(struct scene *s, enum scene_kind kind, uint32_t count)
{
    scene_lay(s, kind, count);
    switch (kind) {
    case SCENE_FIXED:
        return scene_release(s, count, false, false);
    case SCENE_FIXED_KEEP:
        return scene_release(s, count, true, false);
    case SCENE_GROWING:
        return scene_release(s, count, false, true);
    case SCENE_GROWING_KEEP:
        return scene_release(s, count, true, true);
    case SCENE_FETCH:
        return scene_fetch(s, count);
    case SCENE_AHEAD:
        return scene_ahead(s, count);
    case SCENE_CLOSE:
        return scene_close(s, count);
    case SCENE_HEIR:
        return scene_heir(s, count);
    default:
        return scene_steal(s, count);
    }
}

#endif
