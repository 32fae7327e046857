/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device program's target on a GPU: a core is a thread block. The device program is written for
 * one thread; here that is the leader, the first thread of an extra warp. The leader gives orders
 * to the other warps, the crew, for work that takes many threads: run a kernel, copy, hash
 * (block.cu).
 *
 *     leader   order ──arrive(go)──►           ──wait(done)──► continues the device program
 *     crew              wait(go) ──► the order ──arrive(done)
 *
 * `go` and `done` are barriers in shared memory with arrival counts of their own, so that neither
 * side depends on which threads of a warp the other has. What one side wrote before a barrier is
 * visible to the other side after it. There are two of each, so that the leader can give an order
 * while the crew carries out the one before. The crew takes orders in turn, and all its threads
 * meet after each.
 *
 * The other 31 threads of the leader's warp are its lanes (device/target.h). They wait in lanes.cu, where
 * waiting costs nothing, and take part when the leader walks a list.
 */
#ifndef TG_CUDA_GPU_TARGET_IMPL_H
#define TG_CUDA_GPU_TARGET_IMPL_H

#include "device/stream.h"

/* Idle workers poll for the end of the run; nothing wakes them. */
#define TG_TARGET_SLEEPERS_LOOK 1
/* Many blocks look at a queue at the same time; in a line they do not compete. */
#define TG_TARGET_LINES_UP 1
/* The whole grid fills the queues at once. */
#define TG_TARGET_FILLS_QUEUES 1
/* A record is made in device memory and then copied to host memory as a whole. */
#define TG_TARGET_STAGES_RECORDS 1
#define TG_TARGET_MOVES_ROLES 0
/* An orchestrator beside the device runs on a CPU. */
#define TG_TARGET_FEEDS 0

TG_FN static inline void tg_target_pause(void)
{
    __nanosleep(20);
}
TG_FN static inline void tg_target_yield(void)
{
    __nanosleep(200);
}
TG_FN static inline void tg_target_await(void)
{
    __nanosleep(20);
}
TG_FN static inline void tg_target_wait(uint32_t *word, uint32_t value)
{
    (void)word;
    (void)value;
    __nanosleep(200);
}
TG_FN static inline void tg_target_wake(uint32_t *word, uint32_t count)
{
    (void)word;
    (void)count;
}
TG_FN static inline uint32_t tg_target_lowest_bit(uint64_t bits)
{
    return (uint32_t)__ffsll((long long)bits) - 1;
}
TG_FN static inline uint32_t tg_target_count(uint32_t bits)
{
    return (uint32_t)__popc(bits);
}
TG_FN static inline uint32_t tg_target_leading_zeros(uint64_t bits)
{
    return (uint32_t)__clzll((long long)bits);
}
TG_FN static inline uint64_t tg_target_high_product(uint64_t a, uint64_t b)
{
    return __umul64hi(a, b);
}
/* GPU memory exists from the start. */
TG_FN static inline void tg_target_expect(char *, uint64_t) {}
TG_FN static inline void tg_target_nap(void)
{
    __nanosleep(1000);
}
TG_FN static inline uint64_t tg_target_now(void)
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* Stores 16 bytes at once, past the caches, so that they are one transaction on the bus. */
TG_FN static inline void tg_target_store16(void *to, uint64_t first, uint64_t second)
{
    asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)),
                 "l"(first), "l"(second)
                 : "memory");
}
/* Each status store carries the number of finished tasks too, so the functions for "between two
 * tasks" and "finished" store nothing. */
TG_FN static inline void tg_target_say_running(struct tg_worker_status *status,
                                               const struct tg_worker_status *now)
{
    tg_target_store16(&status->part, (uint64_t)now->kernel << 32 | now->part, now->task_id);
    tg_target_store16(&status->running, now->running, now->finished);
}
TG_FN static inline void tg_target_say_between(struct tg_worker_status *status)
{
    (void)status;
}
TG_FN static inline void tg_target_say_finished(struct tg_worker_status *status, uint64_t finished);
TG_FN static inline void tg_target_say_idle(struct tg_worker_status *status, uint64_t finished)
{
    tg_target_store16(&status->running, 0, finished);
}
TG_FN static inline void tg_target_say_submitted(struct tg_worker_status *status, uint64_t tasks)
{
    asm volatile(
        "st.relaxed.sys.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(&status->task_id)),
        "l"(tasks)
        : "memory");
}

/* ── orders ────────────────────────────────────────────────────────────────────────────── */

enum tg_order_kind {
    TG_ORDER_END,
    TG_ORDER_CALL,
    TG_ORDER_CALL_NEXT, /* the order before may still be running */
    TG_ORDER_HASH,
    TG_ORDER_GATHER,
    TG_ORDER_TELL, /* the host: of records (device/stream.h). The order before may still be running */
    TG_ORDER_FILL /* before a run: this block's share of the engine's queues */
};

struct tg_target_order {
    __align__(16) tg_kernel_fn kernel; /* with the kind, so that one load brings both */
    uint32_t kind;
    struct tg_ctx ctx;
    struct tg_worker_status *status; /* TG_ORDER_CALL_NEXT: gets `now` when the kernel starts */
    struct tg_worker_status now;
    struct tg_tensor tensor[TG_MAX_TENSORS]; /* of the context: the crew cannot read a stack */
};

enum { TG_TARGET_LANES = 32, TG_BUNCH = 32, TG_CONTROL_WARP = TG_BLOCK_THREADS / 32 };

/* What a thread, or all of them, add to a hash (words.h). */
struct tg_sums {
    uint64_t a, b;
};

/*
 * What the control warp needs again and again and does not change during a run. In global memory it would
 * have to be loaded from the L2 cache every time, because each acquire empties the L1 cache. Members of
 * the engine and of the worker have the names that they have there.
 */
enum { TG_NEAR_KERNELS = 16, TG_WINDOW = 128, TG_WINDOW_BELOW = 108 };
struct tg_near {
    struct tg_task_desc *desc;
    const uint32_t *succ;
    struct tg_dep *deps;
    uint32_t *done_words;
    struct tg_bag *bag;
    const tg_kernel_fn *kernel;
    struct tg_core_seat seat;
    uint64_t finished, counted; /* the worker's own counts */
    uint32_t edges;
    uint32_t takes;
    uint32_t n_slots, n_deps;
    uint32_t claims;
    bool mixes;
    bool chains; /* see tg_chain_is_possible */
    /* Kernels that ran last, by the low bits of their numbers. */
    uint32_t number[TG_NEAR_KERNELS];
    tg_kernel_fn function[TG_NEAR_KERNELS];
    uint32_t kept;                          /* the successor that the worker keeps, or TG_NO_TASK */
    uint32_t kept_at;                       /* in `look` */
    __align__(16) struct tg_task_desc last; /* of a chain (chain.cu) */
    struct tg_stream stream;                /* the lane's, while something is recorded */
    /* What the lanes look at: one each, and one each that they will look at next. */
    __align__(16) struct tg_task_desc look[2 * TG_TARGET_LANES];
    union {
        __align__(16) struct tg_dep window[TG_WINDOW]; /* see tg_target_dep */
        struct tg_sums part[TG_TARGET_LANES];          /* see tg_short_hash */
    };
};

/* What tg_fixed_edges_settle left (chain.cu). */
struct tg_chain_rest {
    uint32_t task, task_class, heir, ready;
};

/* What else the leader's warp does together: numbers beyond those of walks. */
enum { TG_LANES_HASH = 32, TG_LANES_STORE };

/* Bytes that it hashes, or only copies. */
struct tg_lanes_bytes {
    char *to; /* 0: hash only */
    const char *from;
    uint64_t words; /* number of words hashed before these */
    uint64_t a, b;  /* what they add to the hash */
    uint32_t size;
};

/* A walk that the leader's warp is to make. */
struct tg_lanes {
    uint32_t walking;       /* 1: all lanes are in it */
    uint32_t kind, a, b, c; /* of tg_walk */
    struct tg_lanes_bytes bytes;
    struct tg_chain_rest rest[TG_TARGET_LANES];
    struct tg_worker *worker;
    uint32_t bunch[TG_CONTROL_WARP + 1]
                  [TG_BUNCH]; /* of each warp: a thread without lanes needs one too */
};

/* TG_ORDER_TELL: as of the moment when it is given. */
struct tg_tell {
    uint64_t current; /* the stream's word */
    uint64_t counter[TG_STREAM_COUNTERS];
};

struct tg_orders {
    uint64_t go[2];
    uint64_t done[2];     /* after those that run on: one thread of each warp of the crew arrives */
    uint64_t all_done[2]; /* after other orders: every thread of the crew arrives */
    uint32_t given;       /* the number of orders so far; the leader's own */
    uint32_t joint[2],
        alone[2];   /* per slot: how often the leader has waited on `done` and on `all_done` */
    uint32_t runs;  /* 1: the order before is a TG_ORDER_CALL_NEXT that nobody has waited for yet */
    uint32_t tells; /* 1 + the slot of a TG_ORDER_TELL that nobody has waited for yet; 0: none */
    struct tg_tell tell[2];
    struct tg_lanes lanes;
    struct tg_near near;
    struct tg_target_order call[2]; /* TG_ORDER_CALL */
};

/* Placed behind the kernels' block memory, where every file of the device program can reach it. */
TG_FN static inline struct tg_orders *tg_orders(void)
{
    return (struct tg_orders *)(tg_block_memory + TG_BLOCK_MEMORY_BYTES);
}

/* True for the threads that `near` is for. */
TG_FN static inline bool tg_has_near(void)
{
    return threadIdx.x >= TG_BLOCK_THREADS;
}

#define TG_TARGET_NEAR(object, member) (tg_has_near() ? tg_orders()->near.member : (object)->member)
#define TG_TARGET_SET_NEAR(object, member, value) \
    (tg_has_near() ? tg_orders()->near.member = (value) : (object)->member = (value))

TG_FN static inline void tg_target_say_finished(struct tg_worker_status *status, uint64_t finished)
{
    (void)status;
    if (tg_has_near())
        tg_orders()->near.finished = finished;
}

/* Waits for what this thread began to copy to shared memory. */
TG_FN static inline void tg_await_copies(void)
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* 16 bytes at a time. */
TG_FN static inline void tg_copy_desc(struct tg_task_desc *to, const struct tg_task_desc *from)
{
    uint4 part[sizeof *from / 16];
#pragma unroll
    for (uint32_t i = 0; i < sizeof *from / 16; i++)
        part[i] = ((const uint4 *)from)[i];
#pragma unroll
    for (uint32_t i = 0; i < sizeof *from / 16; i++)
        ((uint4 *)to)[i] = part[i];
}

TG_FN static inline const struct tg_task_desc *tg_target_look(uint32_t lanes,
                                                              const struct tg_task_desc *desc)
{
    struct tg_near *near = &tg_orders()->near;
    struct tg_task_desc *copy = &near->look[threadIdx.x % 32];
    if (lanes == 1)
        return desc;
    if (threadIdx.x == TG_BLOCK_THREADS)
        near->kept = TG_NO_TASK;
    tg_await_copies(); /* none comes later than this one */
    tg_copy_desc(copy, desc);
    return copy;
}

TG_FN static inline void tg_target_keep(uint32_t lanes, uint32_t lane, uint32_t task)
{
    struct tg_near *near = &tg_orders()->near;
    if (lanes == 1 || threadIdx.x != TG_BLOCK_THREADS)
        return;
    near->kept = task;
    near->kept_at = lane;
}

/* Begins to copy `size` bytes, a multiple of 16, to shared memory; see tg_await_copies. */
TG_FN static inline void tg_begin_copy(void *to, const void *from, uint32_t size)
{
    uint32_t shared = (uint32_t)__cvta_generic_to_shared(to);
    uint64_t global = (uint64_t)__cvta_generic_to_global(from);
#pragma unroll
    for (uint32_t at = 0; at < size; at += 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared + at),
                     "l"(global + at)
                     : "memory");
}

/* The window begins at a multiple of 4, and each lane loads 4 entries. */
TG_FN static inline struct tg_dep tg_target_dep(uint32_t lanes, const struct tg_engine *e,
                                                uint32_t entry, uint32_t *window)
{
    struct tg_near *near = &tg_orders()->near;
    if (lanes == 1 || entry >= near->n_deps)
        return e->deps[entry];
    if (*window == TG_DEP_NONE || entry - *window >= TG_WINDOW) {
        uint32_t first = (entry > TG_WINDOW_BELOW ? entry - TG_WINDOW_BELOW : 0) & ~3u;
        uint32_t mine = first + threadIdx.x % 32 * 4;
        *window = first;
        __syncwarp(); /* nobody reads what was there */
        if (mine + 4 <= near->n_deps)
            tg_begin_copy(&near->window[mine - first], &near->deps[mine], 4 * sizeof *near->deps);
        else
            for (uint32_t i = mine; i < near->n_deps; i++)
                near->window[i - first] = near->deps[i];
        tg_await_copies();
        __syncwarp();
    }
    return near->window[entry - *window];
}

TG_FN static inline uint32_t tg_barrier_address(const uint64_t *barrier)
{
    return (uint32_t)__cvta_generic_to_shared(barrier);
}

TG_FN static inline void tg_barrier_init(uint64_t *barrier, uint32_t arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(tg_barrier_address(barrier)),
                 "r"(arrivals)
                 : "memory");
}

TG_FN static inline void tg_barrier_arrive(uint64_t *barrier)
{
    asm volatile("{\n .reg .b64 state;\n mbarrier.arrive.shared::cta.b64 state, [%0];\n}" ::"r"(
                     tg_barrier_address(barrier))
                 : "memory");
}

TG_FN static inline bool tg_barrier_passed(const uint64_t *barrier, uint32_t parity)
{
    uint32_t passed;
    asm volatile("{\n .reg .pred p;\n"
                 " mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 " selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(passed)
                 : "r"(tg_barrier_address(barrier)), "r"(parity)
                 : "memory");
    return passed != 0;
}

/* How often the leader looks at a barrier before it sleeps, because waking up takes longer than a short
 * kernel. The crew does not: its eight warps would look so often that they held up the leader. */
enum { TG_LEADER_LOOKS = 64, TG_CREW_LOOKS = 0 };

TG_FN static inline void tg_barrier_wait(const uint64_t *barrier, uint32_t parity, uint32_t looks)
{
    uint32_t passed;
    for (uint32_t i = 0; i < looks; i++)
        if (tg_barrier_passed(barrier, parity))
            return;
    do {
#if __CUDA_ARCH__ >= 900
        asm volatile("{\n .reg .pred p;\n"
                     " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     " selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(passed)
                     : "r"(tg_barrier_address(barrier)), "r"(parity)
                     : "memory");
#else
        passed = tg_barrier_passed(barrier, parity);
        if (!passed)
            __nanosleep(20);
#endif
    } while (!passed);
}

/* Order number n, counted from 0, uses slot n mod 2. */
TG_FN static inline void tg_order_give(uint32_t n, enum tg_order_kind kind)
{
    struct tg_orders *o = tg_orders();
    o->call[n % 2].kind = kind;
    tg_barrier_arrive(&o->go[n % 2]);
}

/* Waits for the end of a TG_ORDER_CALL_NEXT or TG_ORDER_TELL. */
TG_FN static inline void tg_order_wait(uint32_t n)
{
    tg_barrier_wait(&tg_orders()->done[n % 2], tg_orders()->joint[n % 2]++ % 2, TG_LEADER_LOOKS);
}

/* Gives an order and waits for its end. Of those before, only a TG_ORDER_TELL just before may still be
 * running. */
TG_FN static inline void tg_order_have_done(enum tg_order_kind kind)
{
    uint32_t n = tg_orders()->given;
    tg_orders()->given = n + 1;
    tg_order_give(n, kind);
    tg_barrier_wait(&tg_orders()->all_done[n % 2], tg_orders()->alone[n % 2]++ % 2,
                    TG_LEADER_LOOKS);
}

TG_FN static inline void tg_target_end_kernel(void)
{
    struct tg_orders *o = tg_orders();
    if (threadIdx.x == TG_BLOCK_THREADS && o->runs) {
        o->runs = 0;
        tg_order_wait(o->given - 1);
    }
    if (threadIdx.x >= TG_BLOCK_THREADS && o->lanes.walking)
        __syncwarp();
}

TG_FN static inline void tg_target_call(tg_kernel_fn kernel, const struct tg_ctx *ctx)
{
    struct tg_target_order *order = &tg_orders()->call[tg_orders()->given % 2];
    order->kernel = kernel;
    order->ctx = *ctx;
    tg_order_have_done(TG_ORDER_CALL);
}

/* ── recording ─────────────────────────────────────────────────────────────────────────── */

TG_FN static inline struct tg_stream *tg_target_stream(const struct tg_worker *lane)
{
    return tg_has_near() ? &tg_orders()->near.stream : lane->stream;
}

TG_FN static inline void tg_target_told(void)
{
    struct tg_orders *o = tg_orders();
    if (threadIdx.x == TG_BLOCK_THREADS && o->tells > 0) {
        tg_order_wait(o->tells - 1);
        o->tells = 0;
    }
}

/* The crew waits for the bus while the leader goes on. When this returns, no other TG_ORDER_TELL is running,
 * so both the slot of the next order and that of the one after it are free in time. */
TG_FN static inline bool tg_target_tell(const struct tg_stream *s, uint64_t current)
{
    struct tg_orders *o = tg_orders();
    uint32_t n = o->given;
    if (!tg_has_near() || s != &o->near.stream)
        return false;
    if (o->tells == 1 + n % 2)
        tg_target_told(); /* it ended before an order that came after it */
    o->given = n + 1;
    o->tell[n % 2].current = current;
#pragma unroll
    for (uint32_t i = 0; i < TG_STREAM_COUNTERS; i++)
        o->tell[n % 2].counter[i] = (&s->recorded)[i];
    tg_order_give(n, TG_ORDER_TELL);
    tg_target_told(); /* of the order before, if that was one */
    o->tells = 1 + n % 2;
    return true;
}

/* For the call that is given next. */
#define TG_TARGET_TENSORS(name) \
    struct tg_tensor *name = tg_orders()->call[tg_orders()->given % 2].tensor

/* Prefetches into the L2 cache; an invalid address has no effect. */
TG_FN static inline void tg_target_prefetch(const void *p)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(p)));
}

#include "platform/cuda/gpu/lanes.h"

#include "platform/cuda/gpu/short.h"

#include "platform/cuda/gpu/chain.h"

#endif
