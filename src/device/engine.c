/* SPDX-License-Identifier: Apache-2.0 */
#include "device/engine.h"
#include "device/comm.h"
#include "device/core.h"
#include "device/mix.h"
#include "device/orchestrator_hook.h"
#include "device/role.h"
#include "device/scheduler.h"
#include "device/stream.h"
#include "device/trace.h"
#include "device/worker.h"

TG_FN static uint64_t round_up(uint64_t bytes)
{
    return (bytes + TG_LINE - 1) / TG_LINE * TG_LINE;
}

TG_FN uint64_t tg_engine_size(uint32_t n_blocks, uint32_t n_schedulers)
{
    uint64_t n_workers = (uint64_t)TG_PARTS * n_blocks + n_schedulers + 1;
    uint64_t n_lanes = (uint64_t)TG_PARTS * n_blocks;
    return round_up(sizeof(struct tg_engine)) +
           (n_workers + TG_COMM_EARS) * sizeof(struct tg_worker) +
           TG_COMM_EARS * sizeof(struct tg_worker_status) + n_blocks * sizeof(struct tg_mix) +
           n_lanes * sizeof(struct tg_stream) + (n_lanes + 1) * sizeof(struct tg_tracer) +
           tg_orchestrator_size();
}

/* The classes a core lane takes: its own kind in a full block, both kinds in a short one. */
TG_FN static uint32_t lane_takes(uint32_t lane, uint32_t n_cores)
{
    bool full_block = lane / TG_PARTS < n_cores / TG_PARTS;
    if (lane >= n_cores)
        return 0;
    if (!full_block)
        return (1u << TG_CLASSES) - 1;
    return TG_TAKES(TG_CLASS_MIX) | TG_TAKES(TG_CLASS_EITHER) |
           TG_TAKES(lane % TG_PARTS == TG_PART_AIC ? TG_CLASS_AIC : TG_CLASS_AIV);
}

TG_FN static void init_worker(struct tg_engine *e, uint32_t index, uint32_t takes,
                              struct tg_worker_status *status)
{
    struct tg_worker *w = &e->worker[index];
    w->index = index;
    w->block = index < e->n_lanes ? index / TG_PARTS : 0;
    w->part = index < e->n_lanes ? index % TG_PARTS : 0;
    w->takes = takes;
    w->role = index;
    w->status = status + index;
    w->stream = index < e->n_lanes ? e->streams + index : 0;
}

TG_FN static void count_takers(struct tg_engine *e)
{
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        uint32_t n = 0;
        for (uint32_t i = e->n_schedulers ? e->n_lanes : 0; i < e->n_workers; i++)
            n += (e->worker[i].takes & TG_TAKES(c)) != 0;
        e->n_takers[c] = n;
    }
}

TG_FN struct tg_engine *tg_engine_init(void *memory, uint32_t n_cores, uint32_t n_schedulers,
                                       struct tg_worker_status *status)
{
    struct tg_engine *e = (struct tg_engine *)memory;
    e->n_cores = n_cores;
    e->n_blocks = (n_cores + TG_PARTS - 1) / TG_PARTS;
    e->n_lanes = TG_PARTS * e->n_blocks;
    e->n_schedulers = n_schedulers;
    e->n_workers = e->n_lanes + n_schedulers + 1;
    e->n_sleep_words = (e->n_workers + 63) / 64;
    e->worker = (struct tg_worker *)((char *)memory + round_up(sizeof *e));
    /* A GPU stores a status 16 bytes at a time, so these begin on a line, behind the workers. */
    e->ear_status = (struct tg_worker_status *)(e->worker + e->n_workers + TG_COMM_EARS);
    e->mix = (struct tg_mix *)(e->ear_status + TG_COMM_EARS);
    e->streams = (struct tg_stream *)(e->mix + e->n_blocks);
    e->tracers = (struct tg_tracer *)(e->streams + e->n_lanes);
    e->orchestrator = (struct tg_orchestrator *)(e->tracers + e->n_lanes + 1);
    e->batch = TG_BATCH_MAX;
    e->steal_every = 1;
    e->always_shares = false;
    for (uint32_t i = 0; i < e->n_lanes; i++)
        init_worker(e, i, lane_takes(i, n_cores), status);
    for (uint32_t i = e->n_lanes; i < tg_engine_orchestrator(e); i++)
        init_worker(e, i, (1u << TG_CLASSES) - 1, status);
    init_worker(e, tg_engine_orchestrator(e), 0, status);
    for (uint32_t ear = 0; ear < TG_COMM_EARS; ear++) {
        init_worker(e, e->n_workers + ear, 0, status);
        tg_comm_ear(e, ear)->status = &e->ear_status[ear];
    }
    count_takers(e);
    return e;
}

TG_FN static void reset_worker(const struct tg_engine *e, struct tg_worker *w)
{
    /* Cores do not look for a class that the run does not have: on a GPU each look costs time. */
    if (w->takes && e->either)
        w->takes |= TG_TAKES(TG_CLASS_EITHER);
    else
        w->takes &= ~TG_TAKES(TG_CLASS_EITHER);
    /* Under a schedule no thread goes on with a successor, so none needs another lane. */
    w->moves = TG_TARGET_MOVES_ROLES && e->n_schedulers == 0 && w->takes != 0 && !e->bag;
    w->park = TG_AWAKE;
    w->mail = 0;
    w->assigned = TG_NO_TASK;
    w->posted = 0;
    w->finished = w->counted = 0;
    w->role = w->index;
    w->hold = tg_hold_word(w->index, TG_HOLD_HELD);
    w->onward = 0;
    w->claims = 0;
    for (uint32_t c = 0; c < TG_CLASS_MIX; c++)
        w->deque[c].head = w->deque[c].tail = 0;
    tg_target_say_idle(w->status, 0);
    if (w->stream)
        w->stream->head = 0; /* the lane opens it when it has something to record */
}

TG_FN static void reset_mix(struct tg_mix *mix)
{
    mix->lock = 0;
    mix->task = TG_NO_TASK;
    mix->arrived = mix->finished = mix->met = mix->meetings = 0;
    mix->start = TG_CALLED_OFF;
    mix->wanted = mix->unreaped = 0;
}

/* Of each rank: the one that moves its messages, on the host, and the one that hears of calls. */
enum { THREADS_OF_CALLS = 2 };

/* Spinning helps only if the thread that makes the work has a CPU of its own. If tasks communicate, that is a
 * thread beside the device's, and other ranks may share the machine. A core then sleeps without yielding first:
 * it waits for another rank's answer, which no yield brings sooner. */
TG_FN static void set_patience(struct tg_engine *e)
{
    uint32_t busy = e->n_cores + e->n_schedulers + tg_engine_orchestrates(e);
    bool has_calls = tg_comm_is_on(e);
    if (e->n_cpus == 0)
        return;
    if (has_calls)
        busy = (busy + THREADS_OF_CALLS) * e->comm->ranks;
    e->patience.spin = busy <= e->n_cpus ? 400 : 0;
    e->patience.yields = has_calls ? 0 : 2;
}

TG_FN void tg_engine_reset(struct tg_engine *e, const struct tg_launch *launch,
                           const tg_kernel_fn *kernels, tg_orchestrate_fn orchestrate,
                           const char *site)
{
    struct tg_orchestration *o = TG_DEVICE_PTR(struct tg_orchestration, launch->orchestration);
    e->kernel = kernels;
    e->desc = TG_DEVICE_PTR(struct tg_task_desc, launch->desc);
    e->succ = TG_DEVICE_PTR(const uint32_t, launch->succ);
    e->payload = TG_DEVICE_PTR(const char, launch->payload);
    e->record = TG_DEVICE_PTR(const struct tg_record_setup, launch->record);
    e->trace = TG_DEVICE_PTR(struct tg_trace_setup, launch->trace);
    e->ready =
        e->trace && e->trace->ready ? TG_DEVICE_PTR(uint64_t, e->trace->ready) : (uint64_t *)0;
    e->comm = TG_DEVICE_PTR(const struct tg_comm_setup, launch->comm);
    e->comm_note = e->comm ? TG_DEVICE_PTR(struct tg_comm_note, e->comm->notes) : 0;
    e->n_slots = launch->n_tasks;
    e->watch = (e->record ? TG_WATCH_RECORDS : 0) | (e->trace ? TG_WATCH_TRACES : 0) |
               (tg_comm_is_on(e) ? TG_WATCH_CALLS : 0);
    e->edges = launch->edges;
    e->done_words = TG_DEVICE_PTR(uint32_t, launch->done_words);
    e->feed = 0;
    e->orchestrates = launch->orchestration != 0 && !e->done_words;
    e->either = launch->queue_size[TG_CLASS_EITHER] > 0;
    e->mixes = launch->queue_size[TG_CLASS_MIX] > 0;
    e->n_tasks = launch->orchestration != 0 ? UINT64_MAX : launch->n_tasks;
    e->deps = e->edges == TG_EDGES_GROWING ? TG_DEVICE_PTR(struct tg_dep, o->deps) : 0;
    e->n_deps = 0;
    for (uint32_t r = 0; e->deps != 0 && r < o->n_rings; r++)
        e->n_deps += o->ring[r].n_deps;
    e->awaited = TG_NO_TASK;
    set_patience(e);
    tg_bag_reset(e, launch);
    e->shares = e->always_shares || e->bag;
    for (uint32_t c = 0; c < TG_CLASSES; c++) {
        e->searching[c] = e->bag ? 1 : 0; /* the bag wakes sleepers itself */
        for (uint32_t word = 0; word < e->n_sleep_words; word++)
            e->sleepers[c][word] = 0;
        tg_queue_reset(&e->queue[c], TG_DEVICE_PTR(uint64_t, launch->queue[c]),
                       launch->queue_size[c], 0, e->bag ? 0 : launch->n_ready[c],
                       (e->n_workers + TG_COMM_EARS) * TG_BUNCH);
    }
    if (e->trace)
        e->trace->began = tg_target_now();
    e->finished = 0;
    e->posted = e->arrived = 0;
    e->awake = e->n_cores;
    e->any_mix = 0;
    e->active = e->n_workers - !tg_engine_orchestrates(e);
    if (tg_engine_orchestrates(e))
        tg_orchestrator_prepare(e->orchestrator, e, o, orchestrate, site);
    tg_store_seq(&e->phase, (uint32_t)TG_RUNNING);
}

TG_FN void tg_engine_fill(struct tg_engine *e, const struct tg_launch *launch, uint32_t first,
                          uint32_t step)
{
    for (uint32_t i = first; i < e->n_workers + TG_COMM_EARS; i += step)
        reset_worker(e, &e->worker[i]);
    for (uint32_t i = first; e->trace && i < e->n_workers; i += step)
        tg_trace_open(e, i);
    for (uint32_t b = first; b < e->n_blocks; b += step)
        reset_mix(&e->mix[b]);
    if (e->bag && first == 0)
        tg_bag_fill(e, launch);
    for (uint32_t c = 0; !e->bag && c < TG_CLASSES; c++)
        tg_queue_fill(&e->queue[c], TG_DEVICE_PTR(const uint32_t, launch->ready[c]), first, step);
    for (uint32_t i = first; e->done_words && i < e->n_slots; i += step)
        e->desc[i].next = TG_NO_TASK; /* a task of the last run could have the same id */
}

TG_FN void tg_engine_prepare(struct tg_engine *e, const struct tg_launch *launch,
                             const tg_kernel_fn *kernels, tg_orchestrate_fn orchestrate,
                             const char *site)
{
    tg_engine_reset(e, launch, kernels, orchestrate, site);
    tg_engine_fill(e, launch, 0, 1);
}

TG_FN static void end(struct tg_engine *e, uint32_t phase)
{
    uint32_t running = TG_RUNNING;
    if (!tg_cas_seq(&e->phase, &running, phase)) /* S4: say */
        return;
    for (uint32_t i = 0; !TG_TARGET_SLEEPERS_LOOK && i < e->n_workers; i++)
        tg_role_wake(e, &e->worker[i]); /* S4: check */
    if (tg_load_seq(&e->any_mix))       /* S4: check */
        tg_mix_call_off_all(e);
}

TG_FN void tg_engine_stop(struct tg_engine *e)
{
    end(e, TG_STOPPED);
}

TG_FN bool tg_engine_check_over(struct tg_engine *e, struct tg_worker *w)
{
    uint64_t more = w->finished - TG_TARGET_NEAR(w, counted);
    uint64_t finished = more ? tg_add_seq(&e->finished, more) + more : tg_load_seq(&e->finished);
    TG_TARGET_SET_NEAR(w, counted, w->finished);
    /* The orchestrator stores the number of tasks, then reads the sum; a worker adds to the sum,
     * then reads the number. Both are _seq, so at least one of the two sees the other's store. */
    if (finished < tg_load_seq(&e->n_tasks))
        return false;
    end(e, TG_OVER);
    return true;
}

TG_FN void tg_engine_count(struct tg_engine *e, struct tg_worker *w)
{
    uint64_t finished = TG_TARGET_NEAR(w, finished), more = finished - TG_TARGET_NEAR(w, counted);
    if (more)
        tg_add_relaxed(&e->finished, more);
    TG_TARGET_SET_NEAR(w, counted, finished);
}

TG_FN bool tg_engine_is_over(struct tg_engine *e)
{
    uint64_t n_tasks = tg_load_relaxed(&e->n_tasks);
    if (tg_load_relaxed(&e->finished) < n_tasks)
        return false;
    end(e, TG_OVER);
    return true;
}

TG_FN bool tg_engine_enter(struct tg_engine *e, uint32_t worker)
{
    struct tg_worker *w = &e->worker[worker];
    if (worker == tg_engine_orchestrator(e))
        tg_orchestrator_run(e->orchestrator);
    else if (worker >= e->n_lanes)
        tg_scheduler_loop(e, w);
    else if (e->n_schedulers == 0 && w->takes != 0 && e->bag)
        tg_bag_loop(e, w);
    else if (e->n_schedulers == 0 && w->takes != 0)
        tg_core_loop_self(e, w);
    else
        tg_core_loop_served(e, w);
    w = tg_role_lane(e, w);
    tg_target_told(); /* the host counts on it once the run is over */
    tg_target_say_idle(w->status, w->finished);
    return tg_sub_acq_rel(&e->active, 1u) == 1;
}
