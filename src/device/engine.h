/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device's own state: workers, queues, blocks. One engine per device; it is reset at every
 * launch, so nothing of one run is left in the next.
 *
 *   block 0              block 1                 …
 *   ┌ lane 0  AIC ┐      ┌ lane 3  AIC ┐
 *   │ lane 1 AIV0 │      │ lane 4 AIV0 │
 *   └ lane 2 AIV1 ┘      └ lane 5 AIV1 ┘
 *
 * A lane runs kernels. On a GPU it is a thread block; on a simulator it has a thread, and where cores
 * schedule for themselves threads can change lanes (device/role.h). Lanes that count as cores take
 * plain tasks; the lanes of a block that is short of cores exist too, but run only their part of
 * a mix. In a full block a core takes tasks of its own kind; in a short one it stands in for both.
 * A task whose kernel either kind can run goes to any core.
 *
 * A worker finds ready tasks and completes finished ones. Two arrangements:
 *   cores schedule for themselves    every core lane is a worker (the default)
 *   dedicated schedulers             each scheduler thread is the worker for its blocks
 *                                    (block b belongs to scheduler b mod n_schedulers) and hands
 *                                    tasks to lanes through their mail slot
 * One more worker, the orchestrator, makes tasks where the device builds the graph; it takes none,
 * but others may steal from its deques what it has made ready.
 *
 * Sleeping. A worker with nothing to do says so (park PARKED, for a lane that can change its thread
 * hold ASLEEP; its bit in `sleepers`), then checks every place work can come from, then sleeps. A
 * thread that makes work does that first, then checks for sleepers. Say and check are _seq on both
 * sides, so one of the two sees the other:
 *   S1  work:  deque tail, queue tail, mix lock    with  sleepers, park, hold
 *   S2  mail:  lane's mail                         with  the lane's park or hold
 *   S3  done:  lane's mail emptied                 with  the scheduler's park
 *   S4  end:   phase                               with  park, hold, a mix's start
 *   F1  task:  its list of waiting tasks closed    with  awaited, the orchestrator's park
 * A bit in `sleepers` may be left over: a thread that takes over a sleeping lane (H1 in role.h)
 * leaves the bit for the next waker to clear, and that one goes on to the next sleeper. A sleeper
 * says that it sleeps before it looks whether its bit is set; a waker clears the bit before it
 * looks whether the worker sleeps.
 *
 * Waking. One sleeper is woken at a time, and it wakes the next one, so that wakes spread as far as
 * there is work and no further. The rule: while a task waits that a sleeper could take, some thread
 * is going to wake one. It holds because of this:
 *   plain tasks, cores   A core that looks beyond its own deques counts as `searching`. While one
 *                        does, a worker that offers a task wakes no sleeper. The last searcher to
 *                        leave looks whether anything is left, and wakes the next; one that goes
 *                        to sleep looks after it has said so. Tasks are invisible while a thief
 *                        moves them, so only searchers take from anywhere but their own deque.
 *                        A thread that leaves its lane to one that sleeps looks on its behalf.
 *   mixes, cores         Searching does not count, since a searcher of a busy block cannot help. A
 *                        worker that offers a mix, that takes one or leaves a search while more
 *                        wait, or that unlocks a mix, wakes a sleeper of a block whose mix is free.
 *   schedulers           They never count as searching; each wakes another for what it has not
 *                        placed itself.
 */
#ifndef TG_DEVICE_ENGINE_H
#define TG_DEVICE_ENGINE_H

#include "device/bag.h"
#include "device/queue.h"
#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>
#include <taskglass/wire/assert.h>
#include <taskglass/wire/comm.h>
#include <taskglass/wire/device.h>
#include <taskglass/wire/orchestration.h>
#include <taskglass/wire/stream.h>
#include <taskglass/wire/task.h>
#include <taskglass/wire/trace.h>

/* A set of workers has a bit for each. Only the words that the device's workers need are looked at. */
enum { TG_SLEEP_WORDS = 16, TG_MAX_WORKERS = 64 * TG_SLEEP_WORDS };

enum tg_phase_word { TG_RUNNING = 0, TG_OVER = 1, TG_STOPPED = 2 };

/* IN_LINE: it waits at `place` of the queue of its class, and has a task as soon as the tail has passed
 * that. */
enum tg_park_word { TG_AWAKE = 0, TG_PARKED = 1, TG_IN_LINE = 2 };

/* Decided once for each mix, for all its parts: by the lane that arrives last, or by the end of the
 * run. */
enum tg_start_word {
    TG_CALLED_OFF = 0,
    TG_GATHERING = 1,
    TG_STARTED = 2,
    TG_STARTED_WATCHED = 3 /* it is recorded or traced */
};

/* Bit c of `takes`: the worker may be given tasks of class c. */
#define TG_TAKES(c) (1u << (c))

struct tg_worker {
    /* read-mostly */
    uint32_t index;
    uint32_t block;
    uint32_t part;  /* lanes: enum tg_part within the block */
    uint32_t takes; /* classes whose tasks it may run; TG_CLASS_EITHER only if the run has any */
    struct tg_worker_status *status;
    struct tg_stream *stream; /* the worker's stream of the recording */
    /* written by the worker itself */
    uint64_t finished; /* tasks it completed in this run; other threads use it as a hint */
    uint64_t counted;  /* those of them that are in the engine's sum */
    /* The lane that its thread goes over to (+ 1; 0: none), and what that lane's hold said. */
    uint32_t onward;
    uint32_t onward_hold;
    uint32_t moves; /* fixed: 1 if its thread can change (device/role.h) */
    uint32_t place; /* see TG_IN_LINE; before `park` says so */
    /* written by other threads */
    uint32_t park; /* enum tg_park_word; of the thread with this number */
    uint32_t role; /* the lane that the thread with this number acts for */
    uint32_t hold; /* the lane's thread and what it does: device/role.h */
    /* Task + 1 to run; 0: empty. The mix's leader or the scheduler posts it, one at a time, and the
     * lane empties it when it is done. */
    uint32_t mail;
    uint32_t assigned; /* dedicated schedulers: the task given to the lane and not yet reaped */
    uint32_t posted;   /* likewise, written before `mail`: 1: it is a call, and was only posted */
    uint32_t claims; /* its own: 1: there was nothing but its task when it looked (device/heir.h) */
    uint8_t pad1[TG_LINE - 28];
    struct tg_deque deque[TG_CLASS_MIX]; /* by class */
};
TG_WIRE_ASSERT(sizeof(struct tg_worker) % TG_LINE == 0);

/* A block runs one mix at a time. `lock` is held from the pop of the mix to the end of its last
 * part. */
struct tg_mix {
    uint32_t lock;
    uint32_t task;
    uint32_t parts;
    uint32_t wanted;   /* dedicated schedulers: parts not yet handed out, one bit each */
    uint32_t unreaped; /* dedicated schedulers: parts whose end the scheduler has not seen */
    uint32_t finished;
    uint8_t pad0[TG_LINE - 24];
    uint32_t arrived;  /* parts that have arrived */
    uint32_t start;    /* enum tg_start_word */
    uint32_t met;      /* parts that have reached the barrier */
    uint32_t meetings; /* barriers passed */
    uint8_t pad1[TG_LINE - 16];
};

/* How many rounds a thread waits before it sleeps (device/wait.h). */
struct tg_patience {
    uint32_t spin;
    uint32_t yields;
};

/* Threads that hear of calls that the host has done (device/comm.h). */
enum { TG_COMM_EARS = 2 };

struct tg_engine {
    /* fixed while the device is open */
    uint32_t n_lanes;
    uint32_t n_schedulers;
    uint32_t n_workers; /* lanes, then schedulers, then the orchestrator */
    uint32_t n_blocks;
    /* CPUs that the threads of the device share; 0: patience stays as it was set. */
    uint32_t n_cpus;
    struct tg_patience patience;
    uint32_t batch;       /* the most tasks that a worker takes from the device's queue at a time */
    uint32_t steal_every; /* a worker looks at other workers' deques once in this many rounds */
    bool always_shares;   /* the target's choice of `shares` */
    struct tg_worker *worker;
    struct tg_worker_status *ear_status; /* TG_COMM_EARS of them, which nobody else looks at */
    struct tg_stream *streams;           /* one for each lane */
    struct tg_tracer *tracers;           /* one for each lane, and the orchestrator's */
    struct tg_mix *mix;
    struct tg_orchestrator *orchestrator;
    uint32_t n_takers[TG_CLASSES]; /* workers that take a class */
    uint32_t n_cores;              /* lanes that take plain tasks */
    uint32_t n_sleep_words;        /* words of `sleepers` that have a bit of a worker */
    /* fixed during a run */
    const tg_kernel_fn *kernel;
    struct tg_task_desc *desc;
    const uint32_t *succ; /* fixed edges: successors */
    struct tg_dep *deps;  /* growing edges: the entries of the lists of waiting tasks */
    const char *payload;
    const struct tg_record_setup *record; /* NULL: nothing is recorded */
    struct tg_trace_setup *trace;         /* NULL: nothing is traced */
    uint64_t *ready;    /* traced, growing edges: when the task of the slot became ready */
    struct tg_bag *bag; /* NULL: the run has no schedule */
    /* The orchestrator runs beside the device (device/feed.h), and these tell it which slots' tasks have
     * completed; NULL: it is a thread of the device. */
    uint32_t *done_words;
    struct tg_feed *feed; /* in the engine of such an orchestrator: its end of the feeding ring */
    const struct tg_comm_setup *comm; /* NULL: the device is alone and the graph has no calls */
    struct tg_comm_note *comm_note;   /* of each slot; only in runs with calls (device/comm.h) */
    uint32_t n_slots;                 /* descriptors that there is room for */
    uint32_t n_deps;                  /* entries of `deps` */
    /* Bits of enum tg_watch_bit; 0: nobody looks at the tasks. It is as wide as a pointer, because gcc
     * then compares it in memory, which takes an instruction less. */
    uint64_t watch;
    uint32_t edges;    /* enum tg_edge_storage */
    bool orchestrates; /* one of its threads builds the graph */
    /* Tasks that become ready go to the device's queue, where all workers look first, or to the bag. */
    bool shares;
    bool either; /* the run can have tasks that either kind of core runs */
    bool mixes;  /* and mixes; any_mix says whether it had one */
    uint8_t pad0[TG_LINE];
    /* changing */
    uint32_t phase;   /* enum tg_phase_word */
    uint32_t awaited; /* slot of the task that the orchestrator sleeps for, or TG_NO_TASK */
    uint64_t n_tasks; /* UINT64_MAX while more may come */
    uint8_t pad1[TG_LINE - 16];
    uint64_t finished; /* tasks counted so far: a worker adds its own before it sleeps */
    uint32_t active;   /* threads still inside the run */
    /* Calls that were posted, and those of them that are ready for the second time (device/comm.h). Both
     * only grow during a run. */
    uint32_t posted, arrived;
    uint32_t listens; /* 1 + the number of the ear that listens; 0: none does (device/comm.h) */
    uint32_t deaf;    /* ears that wait to listen */
    uint32_t any_mix; /* 1: a mix has been assembled in this run, so its end looks at all blocks */
    uint8_t pad2[TG_LINE - 32];
    uint32_t searching[TG_CLASSES]; /* cores that look for plain tasks; always 0 for mixes */
    uint32_t awake;                 /* threads that act for cores and do not sleep */
    uint8_t pad3[TG_LINE - 4 * TG_CLASSES - 4];
    uint64_t sleepers[TG_CLASSES][TG_SLEEP_WORDS];
    struct tg_queue queue[TG_CLASSES];
    struct tg_bag own_bag;
};

/* The size of the engine with its workers, and laying them out at `memory` (64-byte aligned). The
 * status array lies elsewhere, because the host reads it. */
TG_FN uint64_t tg_engine_size(uint32_t n_blocks, uint32_t n_schedulers);
TG_FN struct tg_engine *tg_engine_init(void *memory, uint32_t n_cores, uint32_t n_schedulers,
                                       struct tg_worker_status *status);

/* Makes the engine ready for a launch. One thread calls it before a run, while no other thread is
 * inside. */
TG_FN void tg_engine_prepare(struct tg_engine *e, const struct tg_launch *launch,
                             const tg_kernel_fn *kernels, tg_orchestrate_fn orchestrate,
                             const char *site);
/* The same in two steps: one thread calls the first; any number of threads share the second, each
 * as thread `first` of `step`. */
TG_FN void tg_engine_reset(struct tg_engine *e, const struct tg_launch *launch,
                           const tg_kernel_fn *kernels, tg_orchestrate_fn orchestrate,
                           const char *site);
TG_FN void tg_engine_fill(struct tg_engine *e, const struct tg_launch *launch, uint32_t first,
                          uint32_t step);
/* The orchestrator's number as a worker. It takes part in a run only if the device builds the
 * graph: tg_engine_orchestrates. */
TG_FN static inline uint32_t tg_engine_orchestrator(const struct tg_engine *e)
{
    return e->n_lanes + e->n_schedulers;
}

TG_FN static inline bool tg_engine_orchestrates(const struct tg_engine *e)
{
    return e->orchestrates;
}

/* Runs the thread's part of the run. Returns true to the last thread that leaves. */
TG_FN bool tg_engine_enter(struct tg_engine *e, uint32_t worker);

/* Any thread may call it: lanes finish the tasks they run, and leave. */
TG_FN void tg_engine_stop(struct tg_engine *e);

TG_FN static inline bool tg_engine_running(const struct tg_engine *e)
{
    return tg_load_relaxed(&e->phase) == TG_RUNNING; /* a stale value costs one more task */
}

/* Adds the tasks that the worker has finished to the engine's sum. Returns true once all tasks are
 * in it, and then ends the run for all workers. A worker calls it before it sleeps, so the last one
 * to call it gets the full sum. */
TG_FN bool tg_engine_check_over(struct tg_engine *e, struct tg_worker *w);
/* The same in two steps, for a worker that polls: adds without waiting for anything; and looks, again and
 * again, because it may miss what another worker has just added or the orchestrator just said. */
TG_FN void tg_engine_count(struct tg_engine *e, struct tg_worker *w);
TG_FN bool tg_engine_is_over(struct tg_engine *e);

#endif
