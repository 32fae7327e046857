/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU kernels of a run: one that prepares it, and the persistent one. */
#include "platform/cuda/gpu/block.h"
#include "platform/cuda/gpu/entry.h"
#include "device/target.h"

static_assert((int)TG_CUDA_THREADS == (int)TG_BLOCK_THREADS,
              "kernels rely on this number of threads");

static_assert(sizeof(struct tg_orders) <= TG_CUDA_SHARED - TG_BLOCK_MEMORY_BYTES,
              "the orders fit behind the kernels' memory");

/* The build generates these tables for each module. */
extern __device__ const tg_kernel_fn tg_cuda_kernels[];
extern __device__ const tg_orchestrate_fn tg_cuda_orchestrations[];

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

__device__ static void prepare(const struct tg_cuda_launch *l)
{
    const struct tg_launch *launch = TG_DEVICE_PTR(const struct tg_launch, l->launch);
    tg_orchestrate_fn orchestrate = 0;
    if (launch->orchestration != 0)
        orchestrate = tg_cuda_orchestrations[l->orchestration];
    if (l->is_new)
        lay_out(l);
    /* Tasks use the device's kernel numbers, but the table starts at the module's first kernel. */
    tg_engine_reset(TG_DEVICE_PTR(struct tg_engine, l->engine), launch,
                    TG_DEVICE_PTR(tg_kernel_fn, l->table - l->first_kernel * sizeof(tg_kernel_fn)),
                    orchestrate, TG_DEVICE_PTR(const char, l->site));
}

extern "C" __global__ void __launch_bounds__(TG_CUDA_PREPARE) tg_cuda_prepare(tg_cuda_launch l)
{
    const uint32_t *number = TG_DEVICE_PTR(const uint32_t, l.number);
    tg_kernel_fn *table = TG_DEVICE_PTR(tg_kernel_fn, l.table);
    for (uint32_t i = threadIdx.x; i < l.n_kernels; i += blockDim.x)
        table[i] = tg_cuda_kernels[number[i]];
    if (threadIdx.x == 0)
        prepare(&l);
    __syncthreads();
    tg_engine_fill(TG_DEVICE_PTR(struct tg_engine, l.engine),
                   TG_DEVICE_PTR(const struct tg_launch, l.launch), threadIdx.x, blockDim.x);
}

/* The engine's size, computed by the same code that lays it out. */
extern "C" __global__ void tg_cuda_size(uint64_t *size, uint32_t n_blocks, uint32_t n_schedulers)
{
    *size = tg_engine_size(n_blocks, n_schedulers);
}

/* Polls for the host's stop word, because the host cannot reach the engine. */
__device__ static void watch(struct tg_engine *e, const struct tg_cuda_words *words)
{
    while (tg_engine_running(e)) {
        if (tg_load_acquire_host(&words->stop) != 0)
            tg_engine_stop(e);
        __nanosleep(GLANCE_NS);
    }
}

__device__ static void lead(struct tg_engine *e, uint32_t worker, struct tg_cuda_words *words)
{
    tg_lanes_begin(e, &e->worker[worker]);
    tg_cuda_take_part(e, worker, words);
    if (worker < e->n_lanes)
        tg_block_end();
    tg_lanes_dismiss(e);
}

extern "C" __global__ void __launch_bounds__(TG_CUDA_BLOCK, TG_CUDA_RESIDENT)
    tg_cuda_main(tg_cuda_launch l)
{
    struct tg_engine *e = TG_DEVICE_PTR(struct tg_engine, l.engine);
    struct tg_cuda_words *words = TG_DEVICE_PTR(struct tg_cuda_words, l.words);
    uint32_t worker = blockIdx.x;
    tg_block_init();
    if (threadIdx.x == TG_CUDA_THREADS)
        lead(e, worker, words);
    else if (threadIdx.x > TG_CUDA_THREADS)
        tg_lanes_help(e);
    else if (threadIdx.x < TG_CUDA_THREADS && worker < e->n_lanes)
        tg_block_crew();
    else if (threadIdx.x == 0 && worker == tg_engine_orchestrator(e))
        watch(e, words);
}
