/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bag: where ready tasks wait if the run has a schedule (wire/schedule.h). It takes the place of the
 * deques and queues, which then stay empty, and no thread keeps a successor for itself. All of it is
 * behind one lock:
 *
 *     whoever makes a task ready ── add ──► heap of its class ── take ──► a core runs it ── done ──►
 *                                    └────► held back, until the task that it must follow is done
 *
 * The heaps lie in the memory of the queues, which have room for every task that can be ready.
 *
 * On a device with one core the bag is serial: it gives out a task only if no other is running and the
 * orchestrator waits for a task that has not completed, or has ended. The orchestrator goes on only when
 * nothing runs. So the two take turns, and the contents of the bag at every choice are those of every
 * other run.
 *
 * A task of a pair is held back only as long as something else can go on. When nothing is ready, nothing
 * runs and the orchestrator cannot go on, the first task that is held back becomes ready.
 *
 * Waking. Whoever leaves the lock with tasks in the bag that may be given out wakes a sleeper for each
 * class, except for a task that it is going to take itself. The one that wakes does the same. A sleeper
 * says that it sleeps, then looks into the bag under the lock.
 *
 * Named edges:
 *   B1  lock   cas acq_rel by each that locks pairs with store_release by the one before. It orders all of
 *              the bag, what a task's predecessors wrote before the task was added, and the sleeper's
 *              word with the waker's look at it (S1).
 *   B2  n_ready, running: also read without the lock, relaxed, as a hint
 */
#ifndef TG_DEVICE_BAG_H
#define TG_DEVICE_BAG_H

#include "common/atomic.h"
#include <stdbool.h>
#include <taskglass/target.h>
#include <taskglass/wire/device.h>
#include <taskglass/wire/orchestration.h>
#include <taskglass/wire/schedule.h>
#include <taskglass/wire/task.h>

struct tg_engine;
struct tg_worker;
struct tg_mix;

/* What the orchestrator does. */
enum tg_bag_orchestrator { TG_BAG_GOES_ON = 0, TG_BAG_WAITS = 1, TG_BAG_ENDED = 2 };

struct tg_bag {
    uint32_t lock;
    /* fixed during a run */
    bool serial;
    struct tg_schedule_setup *setup;
    const struct tg_slot_note *note; /* growing edges: has the order of submits; fixed edges: 0 */
    struct tg_order_pair *pair;
    const uint32_t *by_before;
    uint64_t *start;
    uint64_t *heap[TG_CLASSES]; /* task indices */
    /* under the lock */
    uint32_t n[TG_CLASSES];
    uint32_t n_ready; /* in all heaps */
    uint32_t running; /* tasks that were given out and are not done */
    uint32_t n_held;
    uint32_t *held;        /* the first pair of each task that is held back */
    uint32_t orchestrator; /* enum tg_bag_orchestrator */
    uint32_t awaited;      /* the slot that it waits for */
};

/* Before a run, by one thread: makes the bag ready, without tasks; then adds the first ones. */
TG_FN void tg_bag_reset(struct tg_engine *e, const struct tg_launch *launch);
TG_FN void tg_bag_fill(struct tg_engine *e, const struct tg_launch *launch);

/* Makes ready tasks available. Any thread. */
TG_FN void tg_bag_add(struct tg_engine *e, const uint32_t *task, uint32_t n);

/* Takes the task of these classes whose turn it is, or TG_NO_TASK. A mix counts only while the lock of
 * `mix` is free, and is given out with that lock; `mix` is 0 if the caller looks after it. */
TG_FN uint32_t tg_bag_take(struct tg_engine *e, uint32_t classes, struct tg_mix *mix);
/* The check of a worker that has said that it sleeps: true if tg_bag_take would give a task. */
TG_FN bool tg_bag_could_take(struct tg_engine *e, uint32_t classes, const struct tg_mix *mix);
/* A cheap look, for a worker that polls. */
TG_FN static inline bool tg_bag_sees(const struct tg_bag *bag)
{
    return tg_load_relaxed(&bag->n_ready) != 0; /* B2 */
}

/* Several cores, random and adversarial: delays the start of some tasks. */
TG_FN void tg_bag_delay(struct tg_engine *e, uint32_t task);

/* tg_worker_complete for a task that came from the bag. `w` keeps no successor. */
TG_FN void tg_bag_complete(struct tg_engine *e, struct tg_worker *w, uint32_t task);

/* The orchestrator waits for the task of the slot; goes on; has ended. */
TG_FN void tg_bag_await(struct tg_engine *e, uint32_t slot);
TG_FN void tg_bag_go_on(struct tg_engine *e);
TG_FN void tg_bag_orchestrated(struct tg_engine *e);
/* For the orchestrator while it waits: true if no task is ready, runs or is held back by a pair. */
TG_FN bool tg_bag_is_still(struct tg_engine *e);

/* The loop of a core that schedules for itself. */
TG_FN void tg_bag_loop(struct tg_engine *e, struct tg_worker *lane);

#endif
