/* SPDX-License-Identifier: Apache-2.0 */
/* Running kernels: one plain task, one part of a mix, and the loops of the lanes. */
#ifndef TG_DEVICE_CORE_H
#define TG_DEVICE_CORE_H

#include "common/stored_args.h"
#include "device/engine.h"
#include "device/mix.h"

/* ── one task ──────────────────────────────────────────────────────────────────────────── */

/* The part whose kernel a task of one kernel has, whatever core runs it. */
TG_FN static inline uint32_t tg_core_part_of(uint32_t task_class)
{
    return task_class == TG_CLASS_AIC ? TG_PART_AIC : TG_PART_AIV0;
}

/* Where a lane's kernels find what all of them are given. */
struct tg_core_seat {
    const char *payload; /* of the engine */
    struct tg_worker_status *status;
    uint32_t index; /* of the lane */
};

/* Fills in what all kernels of the lane are given. */
TG_FN static inline void tg_core_begin_ctx(struct tg_ctx *ctx, struct tg_tensor *tensors,
                                           struct tg_engine *e, struct tg_core_seat seat)
{
    ctx->tensor = tensors;
    ctx->core = seat.index;
    ctx->reserved = 0;
    ctx->mix_barrier = tg_mix_meet;
    ctx->engine = e;
    ctx->missing = &seat.status->missing;
}

/* The task's stored tensors. */
TG_FN static inline const uint64_t *tg_core_stored(const char *payload,
                                                   const struct tg_task_desc *desc)
{
    return tg_stored_tensors(payload + desc->args, desc->n_scalars);
}

/* And what the kernel of one part of the task is given. `stored`: the task's tensors. */
TG_FN static inline void tg_core_continue_ctx(struct tg_ctx *ctx, struct tg_tensor *tensors,
                                              const char *payload, const uint64_t *stored,
                                              const struct tg_task_desc *desc, uint32_t part)
{
    ctx->scalar = tg_stored_scalars(payload + desc->args);
    ctx->n_tensors = desc->n_tensors;
    ctx->n_scalars = desc->n_scalars;
    ctx->part = part;
    ctx->parts = desc->n_parts & TG_DESC_PARTS;
    if (desc->n_tensors > 0) /* last: nothing has to be kept meanwhile */
        tg_stored_get_all(stored, desc->n_tensors, tensors);
}

/* Fills in the context that the kernel of one part of the task gets. The stored arguments become
 * whole tensors in `tensors`, which has room for TG_MAX_TENSORS and must live as long as the call. */
TG_FN static inline void tg_core_fill_ctx(struct tg_ctx *ctx, struct tg_tensor *tensors,
                                          struct tg_engine *e, struct tg_core_seat seat,
                                          const struct tg_task_desc *desc, uint32_t part)
{
    tg_core_begin_ctx(ctx, tensors, e, seat);
    tg_core_continue_ctx(ctx, tensors, seat.payload, tg_core_stored(seat.payload, desc), desc,
                         part);
}

/* Fills in the status that the host sees while a lane runs one part of the task. */
TG_FN static inline void tg_core_describe(struct tg_worker_status *now, uint64_t finished,
                                          const struct tg_task_desc *desc, uint32_t task,
                                          uint32_t part, uint32_t kernel)
{
    now->running = (uint64_t)task + 1;
    now->finished = finished;
    now->part = part;
    now->kernel = kernel;
    now->task_id = desc->id;
}

/* Calls the kernel of one part of the task with the task's arguments, on this lane. */
TG_FN void tg_core_call(struct tg_engine *e, struct tg_worker *lane, uint32_t task, uint32_t part);

/* Shows what the lane runs, to the host and to a tool that reads the memory after a crash. */
TG_FN void tg_core_say_running(struct tg_engine *e, struct tg_worker *lane, uint32_t task,
                               uint32_t part);

/* ── mail ──────────────────────────────────────────────────────────────────────────────── */

/* Puts a task into a lane's mail slot, which must be empty, and wakes the lane (S2). */
TG_FN void tg_core_post(struct tg_engine *e, struct tg_worker *lane, uint32_t task);

/* A relaxed load is enough: the lane acquires what came with the mail when it takes it. */
TG_FN static inline bool tg_core_has_mail(const struct tg_worker *lane)
{
    return tg_load_relaxed(&lane->mail) != 0;
}

/* True if the lane must stop looking for plain tasks: it has mail, or the run has ended. It always
 * loads both words, because on a GPU the wait for a load is the cost, and the two waits overlap. */
TG_FN static inline bool tg_core_is_called(const struct tg_engine *e, const struct tg_worker *lane)
{
    bool mail = tg_core_has_mail(lane), running = tg_engine_running(e);
    return mail | !running;
}

/* How often a core that waits for one task looks for it before it looks whether it must leave. */
enum { TG_CORE_LOOKS = 8 };
/* Something else to do than to wait there: mail, the end of the run, a mix that the core could lead, or now
 * and then a deque with tasks of these classes. */
TG_FN bool tg_core_must_leave(struct tg_engine *e, struct tg_worker *lane, uint32_t classes,
                              uint32_t glance);

/* ── loops ─────────────────────────────────────────────────────────────────────────────── */

/* The loop of a core that schedules for itself, until the run is over. `home` is the thread's own
 * worker, for whose lane it acts at first. */
TG_FN void tg_core_loop_self(struct tg_engine *e, struct tg_worker *home);
/* For the thread of a worker that is no core and waits until *word is `value`: runs ready plain
 * tasks on lanes whose threads sleep, until that has happened, no such task or lane is left or the
 * run is over. Returns true if it ran any. */
TG_FN bool tg_core_help(struct tg_engine *e, struct tg_worker *home, const uint32_t *word,
                        uint32_t value);
/* The loop of a lane that gets its work through its mail slot. */
TG_FN void tg_core_loop_served(struct tg_engine *e, struct tg_worker *lane);

#endif
