/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the device program needs from the target that it runs on. A target is a folder with a header
 * named target_impl.h, which the compiler finds by its include path: -I src/platform/sim/device for
 * the simulators, -I src/platform/cuda/gpu for nvcc. Nothing in src/device or src/orchestrate
 * asks which target it is compiled for. The header defines, inline or in a file of its own:
 *
 *   waiting     A simulated core sleeps on a futex. A GPU has no way to sleep: it backs off and
 *               looks again. The device program waits through device/wait.h and device/park.h.
 *     void tg_target_pause(void)          a few cycles; the thread keeps its CPU
 *     void tg_target_yield(void)          another thread may have the CPU
 *     void tg_target_await(void)          another thread is between two stores: give it a moment
 *     void tg_target_nap(void)            tens of microseconds: waiting for the host, which
 *                                         cannot wake a thread of the device
 *     void tg_target_wait(word, value)    sleeps while *word is value; may return early
 *     void tg_target_wake(word, count)    wakes up to count threads that sleep on word
 *
 *   running     A simulated core is one thread and calls the kernel. On a GPU one warp of a thread
 *               block runs the device program and has the others run kernels, copies and hashes.
 *     void tg_target_call(kernel, ctx)    runs the kernel; returns when all of it has run
 *     TG_TARGET_TENSORS(name)             declares an array of TG_MAX_TENSORS tensors that every
 *                                         thread of the kernel can read until the call returns
 *     uint32_t tg_target_run(e, lane, task)
 *                                         runs a plain task with tg_core_run_alone. A target that
 *                                         can prepare a kernel while another runs may go on with
 *                                         successors that it completes itself. Gives the last
 *                                         task that it ran, which the caller completes; its kernel may
 *                                         still run until tg_target_end_kernel. TG_NO_TASK if there
 *                                         is none, or it was a call that is only posted.
 *
 *   lanes       A worker walks a list with all the lanes that it has: a simulated core has one, and the
 *               walk is a plain loop; a GPU's control warp has 32, which go through 32 entries at a
 *               time. Outside of a walk the worker is alone, with one lane, as is a thread that has no
 *               lanes to help it. A walk is in device/walk.h; it asks once for `lanes`.
 *     uint32_t tg_target_walk(e, w, kind, a, b, c)    tg_walk with all lanes; what it returns
 *     uint32_t tg_target_lanes(void)                  how many there are now, at most TG_TARGET_LANES
 *     uint32_t tg_target_lane(lanes)                  which one this is
 *     uint32_t tg_target_ballot(lanes, yes)           one bit for each lane
 *     uint32_t tg_target_from_lane(lanes, value, lane)  the value that this lane has
 *     void tg_target_meet(lanes)          waits for all lanes; each sees what the others have stored
 *     TG_TARGET_BUNCH(name)               declares an array of TG_BUNCH tasks that all lanes share
 *     TG_TARGET_NEAR(object, member)      a member of the engine or of the worker that does not change
 *                                         during a run, from where it can be read fastest
 *     TG_TARGET_SET_NEAR(object, member, value)   the same for one that only this thread changes
 *     struct tg_dep tg_target_dep(lanes, e, entry, window)     e->deps[entry], the same for all lanes; the
 *                                         entries around it may be loaded too, because lists mostly lie
 *                                         together. *window: which; TG_DEP_NONE: none, or none that may be
 *                                         used, because entries were written since
 *     const struct tg_task_desc *tg_target_look(lanes, desc)   the descriptor, or a copy: what changes
 *                                         during a run is out of date there
 *     void tg_target_keep(lanes, lane, task)   the worker goes on with the task that this lane looked at
 *     void tg_target_end_kernel(void)     waits for the end of a kernel that tg_target_run left running
 *
 *   recording   A core that is more than one thread has its stream where all of them can read it fastest,
 *               and another thread of it can wait for the host's memory.
 *     struct tg_stream *tg_target_stream(lane)        the lane's stream; this lane calls
 *     bool tg_target_tell(s, current)     tells the host the stream's counters, then releases `current`,
 *                                         perhaps behind the caller's back: in order with other calls, and
 *                                         before a kernel that is called later. False: the caller does it
 *     void tg_target_told(void)           waits until that has happened
 *
 *   telling     What the host is shown of a worker: in memory that both have or, on a GPU, across a
 *               bus, where a store is cheap, a load is not, and fewer are better.
 *     void tg_target_say_running(status, now)         what the worker does now
 *     void tg_target_say_between(status)              it is done with that
 *     void tg_target_say_finished(status, finished)   how many tasks it has finished
 *     void tg_target_say_idle(status, finished)       it has nothing to do
 *     void tg_target_say_submitted(status, tasks)     of the orchestrator
 *     void tg_target_copy_record(to, from)            a record, to where the host reads it
 *
 *   the rest
 *     void tg_target_expect(memory, bytes)            says that this memory will be written, perhaps
 *                                                     for the first time; may do nothing
 *     uint64_t tg_target_now(void)                    nanoseconds, the same clock for all lanes
 *     uint32_t tg_target_lowest_bit(bits)             its number; bits is not 0
 *     uint32_t tg_target_count(bits)                  how many bits are set
 *     uint32_t tg_target_leading_zeros(bits)          bits is not 0
 *     uint64_t tg_target_high_product(a, b)           a · b / 2^64
 *
 * device/one_lane.h has the lanes of a target whose core is one thread. And constants, those without a number
 * for plain conditions:
 *
 *   TG_TARGET_LANES             the most lanes that a worker has
 *   TG_BUNCH                    how many tasks a worker collects before it queues them
 *   TG_TARGET_SLEEPERS_LOOK     1: a sleeper wakes by itself again and again and looks for work, so
 *                               that other workers need not wake it
 *   TG_TARGET_LINES_UP          1: a worker without work takes the queue's next position before there is a
 *                               task for it, and looks only at that position's slot, or it claims a task
 *                               that is not ready yet (device/heir.h). Needs filled queues
 *   TG_TARGET_MOVES_ROLES       1: a core is a thread, which can take over another lane
 *                               (device/role.h)
 *   TG_TARGET_FEEDS             1: an orchestrator that runs on this target may run beside the device
 *                               and feed it through a ring (device/feed.h)
 *   TG_TARGET_FILLS_QUEUES      1: many threads fill all slots of the queues before a run, because one
 *                               that fills them later would take longer than all together
 *   TG_TARGET_STAGES_RECORDS    1: a record is made in device memory and copied when it is complete
 */
#ifndef TG_DEVICE_TARGET_H
#define TG_DEVICE_TARGET_H

#include "device/core.h"
#include "device/engine.h"
#include <stdbool.h>
#include <stdint.h>
#include <taskglass/kernel.h>
#include <taskglass/target.h>
#include <taskglass/wire/device.h>
#include <taskglass/wire/record.h>

struct tg_hash;
struct tg_comm_post;

/* What becomes of a completed task's successors: the worker offers all, goes on with one, or waits at one
 * if it can go on with none (device/heir.h). */
enum tg_keep { TG_KEEP_NONE, TG_KEEP, TG_KEEP_OR_CLAIM };

/* What a worker does with all its lanes: device/walk.h. */
enum tg_walk_kind {
    TG_WALK_RELEASE, /* a: task, b: tg_keep   the successors of a task that has completed */
    TG_WALK_FETCH,   /* a: class, b: position, c: count    tasks that were claimed */
    TG_WALK_STEAL,   /* a: class              half of what another worker has in its deque */
    TG_WALK_LOOT,    /* a: classes            is there anything to steal? */
    TG_WALK_AHEAD,   /* a: task, b: first     tasks that follow one by one (device/ahead.h) */
    TG_WALK_CLOSE,   /* a: task, b: step, c: count     of those: they have run */
    TG_WALK_RUN,     /* a: task               of a target that runs tasks with all lanes */
    TG_WALK_END      /* of such a target: no more walks */
};

/* Runs a task of one kernel from beginning to end, and records it if the recorder is on. The caller
 * completes the task, unless this returns false: it is a call that was posted (device/comm.h). */
TG_FN static inline bool tg_core_run_alone(struct tg_engine *e, struct tg_worker *lane,
                                           uint32_t task);

#include <target_impl.h>

#include "device/run_alone.h"

/* Sends a call of communication to the host (device/comm.h). Where cores are threads of Linux, this is the
 * simulators' (platform/sim/device/ears.c). */
TG_FN void tg_target_post(struct tg_engine *e, const struct tg_comm_post *post);
/* tg_hash_update and tg_hash_copy of common/hash.h, as fast as the target can. */
TG_FN void tg_target_hash(struct tg_hash *hash, const void *bytes, uint64_t size);
TG_FN void tg_target_hash_copy(struct tg_hash *hash, void *to, const void *from, uint64_t size);
/* The same for a view that is not one run of bytes: packs its logical bytes [offset, offset +
 * size); both are multiples of 64 except at the end. If `to` is 0, only hashes them. */
TG_FN void tg_target_gather(struct tg_hash *hash, void *to, const struct tg_tensor *tensor,
                            uint64_t offset, uint64_t size);

#endif
