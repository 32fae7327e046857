/* SPDX-License-Identifier: Apache-2.0 */
/* The device program's target on Linux: a core is a thread that sleeps on futexes (target.c). */
#ifndef TG_SIM_DEVICE_TARGET_IMPL_H
#define TG_SIM_DEVICE_TARGET_IMPL_H

#include "device/one_lane.h"

#define TG_TARGET_SLEEPERS_LOOK 0
#define TG_TARGET_LINES_UP 0
#define TG_TARGET_FILLS_QUEUES 0
#define TG_TARGET_STAGES_RECORDS 0
#define TG_TARGET_MOVES_ROLES 1
#define TG_TARGET_FEEDS 1

static inline void tg_target_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#endif
}
/* Gives the CPU to another thread. */
void tg_target_yield(void);
/* Waits for another worker that is about to act. It may need this CPU, so yield. */
static inline void tg_target_await(void)
{
    tg_target_yield();
}
void tg_target_wait(uint32_t *word, uint32_t value);
/* Wakes at most `count` threads that sleep on `word`. */
void tg_target_wake(uint32_t *word, uint32_t count);
static inline uint32_t tg_target_lowest_bit(uint64_t bits)
{
    return (uint32_t)__builtin_ctzll(bits);
}
static inline uint32_t tg_target_leading_zeros(uint64_t bits)
{
    return (uint32_t)__builtin_clzll(bits);
}
static inline uint64_t tg_target_high_product(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b >> 64);
}
/* Gets memory from the system at once that is about to be written: cheaper than page by page. */
void tg_target_expect(char *memory, uint64_t bytes);
/* Sleeps for a moment. For waits on the host, which cannot wake this thread. */
void tg_target_nap(void);
uint64_t tg_target_now(void);
/* How far the device's clock is ahead of this machine's: 0, unless the process is an orchestrator beside a
 * GPU, whose clock it tells then. Changes only between runs. */
extern uint64_t tg_target_clock_ahead;

/* A worker's status, for the host to read during the run or after a crash: the worker runs a task;
 * it is between two tasks; it has finished so many tasks; it is idle. */
static inline void tg_target_say_running(struct tg_worker_status *status,
                                         const struct tg_worker_status *now)
{
    __atomic_store_n(&status->part, now->part, __ATOMIC_RELAXED);
    __atomic_store_n(&status->kernel, now->kernel, __ATOMIC_RELAXED);
    __atomic_store_n(&status->task_id, now->task_id, __ATOMIC_RELAXED);
    __atomic_store_n(&status->running, now->running, __ATOMIC_RELAXED);
}
static inline void tg_target_say_between(struct tg_worker_status *status)
{
    __atomic_store_n(&status->running, (uint64_t)0, __ATOMIC_RELAXED);
}
static inline void tg_target_say_finished(struct tg_worker_status *status, uint64_t finished)
{
    __atomic_store_n(&status->finished, finished, __ATOMIC_RELAXED);
}
static inline void tg_target_say_idle(struct tg_worker_status *status, uint64_t finished)
{
    __atomic_store_n(&status->running, (uint64_t)0, __ATOMIC_RELAXED);
    __atomic_store_n(&status->finished, finished, __ATOMIC_RELAXED);
}
/* The number of submitted tasks. The orchestrator's report has it too, but that memory may be lost
 * with the device. */
static inline void tg_target_say_submitted(struct tg_worker_status *status, uint64_t tasks)
{
    __atomic_store_n(&status->task_id, tasks, __ATOMIC_RELAXED);
}

#define TG_TARGET_TENSORS(name) struct tg_tensor name[TG_MAX_TENSORS]
static inline void tg_target_call(tg_kernel_fn kernel, const struct tg_ctx *ctx)
{
    kernel(ctx);
}
static inline uint32_t tg_target_run(struct tg_engine *e, struct tg_worker *lane, uint32_t task)
{
    return tg_core_run_alone(e, lane, task) ? task : TG_NO_TASK;
}

/* A record is made where it stays. */
static inline void tg_target_copy_record(struct tg_record *to, const struct tg_record *from)
{
    *to = *from;
}

#endif
