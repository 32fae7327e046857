/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU kernel of a run, and of those after it that come soon enough (stay.h). */
#include "platform/cuda/gpu/block.h"
#include "platform/cuda/gpu/caller.h"
#include "platform/cuda/gpu/drain_block.h"
#include "platform/cuda/gpu/entry.h"
#include "platform/cuda/gpu/stay.h"
#include "device/target.h"

static_assert((int)TG_CUDA_THREADS == (int)TG_BLOCK_THREADS,
              "kernels rely on this number of threads");

static_assert(sizeof(struct tg_orders) <= TG_CUDA_SHARED - TG_BLOCK_MEMORY_BYTES,
              "the orders fit behind the kernels' memory");

/* The build generates these tables for each module. */
extern __device__ const tg_kernel_fn tg_cuda_kernels[];
extern __device__ const tg_orchestrate_fn tg_cuda_orchestrations[];

static __device__ struct tg_cuda_caller caller;
static __device__ struct tg_cuda_stay stay;

TG_FN void tg_target_post(struct tg_engine *e, const struct tg_comm_post *post)
{
    tg_cuda_post(e, &caller, post);
}

/* How idle blocks poll. A block has its multiprocessor to itself, so polling takes no time from
 * others; but it must not load the memory that the others work in. */
enum { LOOKS = 300, STEAL_EVERY = 16, BATCH = 32, GLANCE_NS = 1000 };

__device__ static void lay_out(const struct tg_cuda_launch *l)
{
    struct tg_engine *e =
        tg_engine_init(TG_DEVICE_PTR(void, l->engine), l->n_cores, l->n_schedulers,
                       TG_DEVICE_PTR(struct tg_worker_status, l->status));
    e->n_cpus = 0;
    e->patience.spin = LOOKS;
    e->patience.yields = 0;
    e->batch = BATCH;
    e->steal_every = STEAL_EVERY;
    e->always_shares = true;
}

/* The watch's part of making the engine ready; the crews fill its queues. */
__device__ static void reset(const struct tg_cuda_launch *l)
{
    const struct tg_launch copy = *TG_DEVICE_PTR(const struct tg_launch, l->launch);
    const struct tg_launch *launch = &copy; /* loaded at once */
    tg_orchestrate_fn orchestrate = 0;
    if (launch->orchestration != 0 && launch->done_words == 0)
        orchestrate = tg_cuda_orchestrations[l->orchestration];
    if (l->is_new)
        lay_out(l);
    tg_cuda_caller_reset(&caller, TG_DEVICE_PTR(struct tg_cuda_calls, l->calls));
    /* Tasks use the device's kernel numbers, but the table starts at the module's first kernel. */
    tg_engine_reset(TG_DEVICE_PTR(struct tg_engine, l->engine), launch,
                    TG_DEVICE_PTR(tg_kernel_fn, l->table - l->first_kernel * sizeof(tg_kernel_fn)),
                    orchestrate, TG_DEVICE_PTR(const char, l->site));
}

__device__ static uint32_t count_lanes(const struct tg_cuda_launch *l)
{
    return gridDim.x - 1 - l->n_schedulers;
}

__device__ void tg_block_fill(void)
{
    const struct tg_cuda_launch *l = &stay.launch;
    const uint32_t *number = TG_DEVICE_PTR(const uint32_t, l->number);
    tg_kernel_fn *table = TG_DEVICE_PTR(tg_kernel_fn, l->table);
    uint32_t first = blockIdx.x * TG_CUDA_THREADS + threadIdx.x;
    uint32_t step = count_lanes(l) * TG_CUDA_THREADS;
    for (uint32_t i = first; i < l->n_kernels; i += step)
        table[i] = tg_cuda_kernels[number[i]];
    tg_engine_fill(TG_DEVICE_PTR(struct tg_engine, l->engine),
                   TG_DEVICE_PTR(const struct tg_launch, l->launch), first, step);
}

/* The engine's size, computed by the same code that lays it out. */
extern "C" __global__ void tg_cuda_size(uint64_t *size, uint32_t n_blocks, uint32_t n_schedulers)
{
    *size = tg_engine_size(n_blocks, n_schedulers);
}

/* Polls for the host's stop word and for calls that are done, because the host cannot reach the engine. */
__device__ static void watch(struct tg_engine *e, const struct tg_cuda_words *words)
{
    while (tg_engine_running(e)) {
        if (tg_load_acquire_host(&words->stop) != 0)
            tg_engine_stop(e);
        tg_cuda_hear(e, &caller);
        __nanosleep(GLANCE_NS);
    }
}

/* After a run: true if another one begins. */
__device__ static bool listens(const struct tg_cuda_words *words, uint64_t linger_ns,
                               uint32_t *call)
{
    uint64_t since = tg_target_now();
    enum tg_bell_heard heard;
    while ((heard = tg_bell_listen(words, call)) == TG_BELL_SILENT)
        if (tg_target_now() - since >= linger_ns)
            return false;
    return heard == TG_BELL_RUN;
}

/* The watch begins a run: returns true if an orchestrator beside the device feeds it. */
__device__ static bool begin(struct tg_engine *e, struct tg_cuda_words *words, uint32_t call)
{
    stay.launch.launch = tg_load_acquire_host(&words->launch); /* B1 */
    reset(&stay.launch);
    tg_stay_open(&stay, call);
    tg_bell_begin(words, call);
    return e->done_words != 0;
}

/* The watch, after a run: returns true if another one begins. */
__device__ static bool end(struct tg_engine *e, const struct tg_cuda_words *words,
                           uint64_t linger_ns, uint32_t *call)
{
    tg_stay_settle(e);
    stay.launch.is_new = 0;
    return listens(words, linger_ns, call);
}

/* The block of the watch, with all threads of its crew: one run after the other. Only the first thread
 * watches; the others help it to drain the feeding ring. */
__device__ static void serve(const struct tg_cuda_launch *first)
{
    struct tg_cuda_words *words = TG_DEVICE_PTR(struct tg_cuda_words, first->words);
    struct tg_engine *e = TG_DEVICE_PTR(struct tg_engine, first->engine);
    uint32_t call = first->call;
    bool watches = threadIdx.x == 0, again;
    if (watches)
        stay.launch = *first;
    do {
        if (tg_drain_told(watches && begin(e, words, call)))
            tg_block_drain(e, first, &caller);
        else if (watches)
            watch(e, words);
        again = tg_drain_told(watches && end(e, words, first->linger_ns, &call));
    } while (again);
    if (!watches)
        return;
    tg_bell_go(words, call);
    tg_stay_close(&stay, call);
}

__device__ static void lead(struct tg_engine *e, const struct tg_cuda_launch *l)
{
    struct tg_cuda_words *words = TG_DEVICE_PTR(struct tg_cuda_words, l->words);
    uint32_t worker = blockIdx.x, call = l->call;
    bool has_crew = worker < count_lanes(l);
    tg_stay_await(&stay.call, call);
    do {
        bool is_wanted = tg_cuda_is_wanted(e, worker);
        if (has_crew)
            tg_order_have_done(TG_ORDER_FILL);
        tg_stay_meet(&stay, gridDim.x, call);
        if (is_wanted) {
            tg_lanes_begin(e, &e->worker[worker]);
            tg_cuda_take_part(e, worker, words, call);
        }
    } while (tg_stay_next(&stay, &call));
    if (has_crew)
        tg_block_end();
    tg_lanes_dismiss(e);
}

extern "C" __global__ void __launch_bounds__(TG_CUDA_BLOCK, TG_CUDA_RESIDENT)
    tg_cuda_main(const __grid_constant__ tg_cuda_launch l)
{
    tg_block_init();
    if (threadIdx.x == TG_CUDA_THREADS)
        lead(TG_DEVICE_PTR(struct tg_engine, l.engine), &l);
    else if (threadIdx.x > TG_CUDA_THREADS)
        tg_lanes_help(TG_DEVICE_PTR(struct tg_engine, l.engine));
    else if (blockIdx.x < count_lanes(&l))
        tg_block_crew();
    else if (blockIdx.x == gridDim.x - 1)
        serve(&l);
}
