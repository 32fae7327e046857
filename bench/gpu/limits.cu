/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the limits of the machine, so that the other figures of the run can be given as a part
 * of them: how fast blocks of threads write host memory, and copy and read device memory; the copy
 * engine, alone and beside a kernel that keeps running; how long messages between host, scheduler
 * and core take; what fences cost. Each measurement takes less than a second.
 *
 * Every wait on the device times out, so a host that stops cannot leave a kernel running.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "cuda_common.h"

#include <sys/mman.h>
#include <unistd.h>

enum {
    THREADS = 256,      /* threads of a block that works */
    LANE_THREADS = 288, /* threads of a block that also has a scheduling warp */
    IN_FLIGHT = 8,      /* loads that a thread starts before it waits for the first */
    REPEAT = 5,
    FLAG_STRIDE = 64, /* words between flags, so that no two share a cache line */
    SAMPLES = 101,
};

static const size_t MiB = (size_t)1 << 20;
static const size_t HOST_BYTES = 256 * MiB, DEVICE_BYTES = 1024 * MiB;
static const size_t COPY_BYTES = HOST_BYTES / 2; /* what the copy engine moves; rest: flags */
static const double LONG_ENOUGH = 0.04;          /* seconds that a sample lasts at least */
static const unsigned long long PATIENCE_NS = 3000000000;

typedef unsigned long long word;

struct machine {
    int sms;
    char *host;         /* HOST_BYTES, pinned */
    char *host_address; /* its address on the device */
    char *a, *b;        /* DEVICE_BYTES each */
    word *flags;        /* device memory */
    word *times;        /* device memory for results */
};

/* ── on the device ─────────────────────────────────────────────────────────────────────── */

__device__ static word clock_now(void)
{
    word cycles;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
    return cycles;
}

__device__ static word time_now(void)
{
    word ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    return ns;
}

__device__ static void store_quad(uint4 *to, uint4 v)
{
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z),
                 "r"(v.w)
                 : "memory");
}

/* volatile keeps the order of the calls, so that many loads are in flight at once. */
__device__ static uint4 load_quad(const uint4 *from)
{
    uint4 v;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from)
                 : "memory");
    return v;
}

__device__ static void load_quads(uint4 *v, const uint4 *from)
{
#pragma unroll
    for (int k = 0; k < IN_FLIGHT; k++)
        v[k] = load_quad(from + k * THREADS);
}

__device__ static void store_release_gpu(word *to, word v)
{
    asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(to), "l"(v) : "memory");
}

__device__ static void store_release_sys(word *to, word v)
{
    asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(to), "l"(v) : "memory");
}

__device__ static void store_relaxed_gpu(word *to, word v)
{
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(to), "l"(v) : "memory");
}

__device__ static void store_relaxed_sys(word *to, word v)
{
    asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(to), "l"(v) : "memory");
}

__device__ static word load_acquire_gpu(const word *from)
{
    word v;
    asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(v) : "l"(from) : "memory");
    return v;
}

__device__ static word load_relaxed_gpu(const word *from)
{
    word v;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(v) : "l"(from) : "memory");
    return v;
}

__device__ static word load_relaxed_sys(const word *from)
{
    word v;
    asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(v) : "l"(from) : "memory");
    return v;
}

/* Each block writes its own region, as each core writes its own stream. */
__global__ void write_blocks(uint4 *to, size_t quads, unsigned passes)
{
    to += blockIdx.x * quads;
    for (unsigned pass = 0; pass < passes; pass++) {
        uint4 v = make_uint4(pass, threadIdx.x, blockIdx.x, 0);
#pragma unroll 4
        for (size_t i = threadIdx.x; i < quads; i += THREADS)
            store_quad(to + i, v);
    }
}

/* The same with data from device memory, as the recorder does it. */
__global__ void copy_blocks(const uint4 *from, uint4 *to, size_t quads, unsigned passes)
{
    from += blockIdx.x * quads;
    to += blockIdx.x * quads;
    for (unsigned pass = 0; pass < passes; pass++) {
        for (size_t i = threadIdx.x; i < quads; i += IN_FLIGHT * THREADS) {
            uint4 v[IN_FLIGHT];
            load_quads(v, from + i);
#pragma unroll
            for (int k = 0; k < IN_FLIGHT; k++)
                store_quad(to + i + k * THREADS, v[k]);
        }
    }
}

/* The sum must be used, or the compiler would remove the loads. Each round adds what the round
 * before loaded, so that the compiler cannot place loads and additions so close together that few
 * loads are in flight. */
__global__ void sum_blocks(const uint4 *from, size_t quads, unsigned passes, word *sums)
{
    const size_t step = IN_FLIGHT * THREADS;
    uint4 v[IN_FLIGHT], next[IN_FLIGHT];
    unsigned sum = 0;
    from += blockIdx.x * quads + threadIdx.x;
    load_quads(v, from);
    for (unsigned pass = 0; pass < passes; pass++) {
        for (size_t i = step; i <= quads; i += step) {
            load_quads(next, i < quads ? from + i : from);
#pragma unroll
            for (int k = 0; k < IN_FLIGHT; k++) {
                sum += v[k].x + v[k].y + v[k].z + v[k].w;
                v[k] = next[k];
            }
        }
        sum = sum * 3 + pass;
    }
    if (sum == 0x12345678u)
        *sums = sum;
}

/* A kernel that runs until the host stops it: one thread polls the host's word, the others poll the
 * device's. flags[0]: stop. */
__global__ void persist(const word *stop_host, word *flags, word *started)
{
    word until = time_now() + PATIENCE_NS;
    if (threadIdx.x == 0) {
        atomicAdd(started, 1ull);
        if (blockIdx.x == 0) {
            while (load_relaxed_sys(stop_host) == 0 && time_now() < until)
                __nanosleep(1000);
            store_release_gpu(flags, 1);
        }
        while (load_relaxed_gpu(flags) == 0 && time_now() < until)
            __nanosleep(200);
    }
    __syncthreads();
}

/* Sends a word to the host and waits for the answer, over and over. ns[0]: total time; ns[1]:
 * number of rounds. */
__global__ void ask_host(word *to_host, const word *from_host, unsigned rounds, word *ns)
{
    word began = time_now(), until = began + PATIENCE_NS, i;
    for (i = 1; i <= rounds; i++) {
        store_relaxed_sys(to_host, i);
        while (load_relaxed_sys(from_host) != i)
            if (time_now() > until)
                goto out;
    }
out:
    ns[0] = time_now() - began;
    ns[1] = i - 1;
}

/* The same between two blocks, through device memory. */
template <bool ordered> __global__ void ask_block(word *flags, unsigned rounds, word *ns)
{
    word *mine = flags + blockIdx.x * FLAG_STRIDE, *other = flags + (1 - blockIdx.x) * FLAG_STRIDE;
    word began = time_now(), until = clock_now() + 2 * PATIENCE_NS, i;
    for (i = 1; i <= rounds; i++) {
        if (blockIdx.x == 0) {
            if (ordered)
                store_release_gpu(mine, i);
            else
                store_relaxed_gpu(mine, i);
        }
        while ((ordered ? load_acquire_gpu(other) : load_relaxed_gpu(other)) != i)
            if (clock_now() > until)
                goto out;
        if (blockIdx.x == 1) {
            if (ordered)
                store_release_gpu(mine, i);
            else
                store_relaxed_gpu(mine, i);
        }
    }
out:
    if (blockIdx.x == 0) {
        ns[0] = time_now() - began;
        ns[1] = i - 1;
    }
}

__global__ void barriers(unsigned rounds, word *ns)
{
    word began = time_now();
    for (unsigned i = 0; i < rounds; i++)
        __syncthreads();
    if (threadIdx.x == 0) {
        ns[0] = time_now() - began;
        ns[1] = rounds;
    }
}

__global__ void nothing(void) {}

/* ── fences ────────────────────────────────────────────────────────────────────────────── */

enum fence_op { NO_FENCE, FENCE_GPU, FENCE_SYS, RELEASE_GPU, RELEASE_SYS, FENCE_OPS };
enum outstanding { OF_NOBODY, OF_THREAD, OF_OTHER_WARP, OF_STREAMING_WARPS, OUTSTANDING };

static const char *const fence_names[] = {"nothing", "fence.acq_rel.gpu", "fence.acq_rel.sys",
                                          "st.release.gpu", "st.release.sys"};
static const char *const outstanding_names[] = {"none", "same thread", "another warp",
                                                "8 warps streaming"};

template <int op> __device__ static void do_fence(word *flag, word v)
{
    if (op == FENCE_GPU)
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
    if (op == FENCE_SYS)
        asm volatile("fence.acq_rel.sys;" ::: "memory");
    if (op == RELEASE_GPU)
        store_release_gpu(flag, v);
    if (op == RELEASE_SYS)
        store_release_sys(flag, v);
}

template <int op> __device__ static word time_fence(word *flag, word v)
{
    word began = clock_now();
    do_fence<op>(flag, v);
    return clock_now() - began;
}

/* One store is in flight when the fence comes; all are finished before the next sample. */
template <int op>
__device__ static void fences_after_one(int who, uint4 *host, word *flag, word *cycles)
{
    for (unsigned s = 0; s < SAMPLES; s++) {
        __syncthreads();
        if (who != OF_NOBODY && threadIdx.x == (who == OF_THREAD ? 0u : 32u))
            store_quad(host, make_uint4(s, s, s, s));
        __syncthreads();
        if (threadIdx.x == 0)
            cycles[s] = time_fence<op>(flag, s);
        __threadfence_system();
        __nanosleep(2000);
    }
}

/* The other warps of the block keep writing to the host, as they do when the block records. */
template <int op> __device__ static void fences_in_stream(uint4 *host, word *flag, word *cycles)
{
    __shared__ volatile int done;
    word until = clock_now() + PATIENCE_NS / 4;
    if (threadIdx.x == 0)
        done = 0;
    __syncthreads();
    if (threadIdx.x >= 32) {
        for (unsigned i = 0; !done && clock_now() < until; i = (i + 1) % 1024)
            store_quad(host + (size_t)i * THREADS + threadIdx.x - 32, make_uint4(i, i, i, i));
    } else if (threadIdx.x == 0) {
        __nanosleep(20000);
        for (unsigned s = 0; s < SAMPLES; s++) {
            cycles[s] = time_fence<op>(flag, s);
            __nanosleep(2000);
        }
        done = 1;
    }
    __syncthreads();
}

/* cycles[SAMPLES]: cycles of all samples together; after it, nanoseconds of the same. */
template <int op> __global__ void fences(int who, uint4 *host, word *flag, word *cycles)
{
    word began = clock_now(), began_ns = time_now();
    if (who == OF_STREAMING_WARPS)
        fences_in_stream<op>(host, flag, cycles);
    else
        fences_after_one<op>(who, host, flag, cycles);
    if (threadIdx.x == 0) {
        cycles[SAMPLES] = clock_now() - began;
        cycles[SAMPLES + 1] = time_now() - began_ns;
    }
}

/* ── the host's side ───────────────────────────────────────────────────────────────────── */

static void tell(const char *what, const char *key, long value, const char *unit, double figure)
{
    printf("{\"program\":\"limits\",\"what\":\"%s\"", what);
    if (key)
        printf(",\"%s\":%ld", key, value);
    printf(",\"%s\":%.3f}\n", unit, figure);
    fflush(stdout);
}

/* Allocates as the platform does: anonymous shared memory, then registered with the driver. */
static char *pinned_memory(size_t bytes)
{
    int fd = memfd_create("bench_gpu", 0);
    double began = seconds_now();
    void *at;
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) {
        perror("bench_gpu: memfd_create");
        exit(1);
    }
    at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    close(fd);
    if (at == MAP_FAILED) {
        perror("bench_gpu: mmap");
        exit(1);
    }
    MUST(cudaHostRegister(at, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable));
    tell("pin", "bytes", (long)bytes, "gbs", (double)bytes / (seconds_now() - began) * 1e-9);
    return (char *)at;
}

static void open_machine(struct machine *m)
{
    struct cudaDeviceProp properties;
    int driver;
    open_gpu();
    MUST(cudaGetDeviceProperties(&properties, 0));
    MUST(cudaDriverGetVersion(&driver));
    m->sms = properties.multiProcessorCount;
    printf("{\"program\":\"limits\",\"what\":\"device\",\"name\":\"%s\",\"sms\":%d,\"driver\":%d,"
           "\"memory_bytes\":%llu}\n",
           properties.name, m->sms, driver, (unsigned long long)properties.totalGlobalMem);
    m->host = pinned_memory(HOST_BYTES);
    MUST(cudaHostGetDevicePointer((void **)&m->host_address, m->host, 0));
    MUST(cudaMalloc(&m->a, DEVICE_BYTES));
    MUST(cudaMalloc(&m->b, DEVICE_BYTES));
    MUST(cudaMalloc(&m->flags, 4096));
    MUST(cudaMalloc(&m->times, 4096));
    MUST(cudaMemset(m->a, 1, DEVICE_BYTES));
    MUST(cudaMemset(m->b, 2, DEVICE_BYTES));
    MUST(cudaDeviceSynchronize());
}

/* GB/s of the work that launch(passes) enqueues; one pass moves `bytes`. */
template <class Launch> static double rate(timed_stream &stream, size_t bytes, Launch launch)
{
    std::vector<double> rates;
    double once = (stream.time([&] { launch(1); }), stream.time([&] { launch(1); }));
    unsigned passes = (unsigned)std::min(std::max(LONG_ENOUGH / once, 1.0), 10000.0);
    for (int r = 0; r < REPEAT; r++)
        rates.push_back((double)bytes * passes / stream.time([&] { launch(passes); }));
    return median(rates) * 1e-9;
}

/* The number of 16-byte words for each block, out of at most `bytes`, rounded so that there is no
 * remainder. */
static size_t quads_of(size_t bytes, int blocks)
{
    size_t step = IN_FLIGHT * THREADS;
    return bytes / sizeof(uint4) / (size_t)blocks / step * step;
}

static void measure_host_writes(struct machine *m, timed_stream &stream)
{
    const int counts[] = {1, 2, 4, 8, 32, m->sms};
    for (int blocks : counts) {
        /* A single block is slow, so it gets less work. */
        size_t quads = quads_of(std::min(HOST_BYTES, (size_t)blocks * 16 * MiB), blocks);
        size_t bytes = quads * sizeof(uint4) * (size_t)blocks;
        tell("host_write", "blocks", blocks, "gbs", rate(stream, bytes, [&](unsigned passes) {
                 write_blocks<<<blocks, THREADS, 0, stream.stream>>>((uint4 *)m->host_address,
                                                                     quads, passes);
             }));
        tell("host_copy", "blocks", blocks, "gbs", rate(stream, bytes, [&](unsigned passes) {
                 copy_blocks<<<blocks, THREADS, 0, stream.stream>>>(
                     (const uint4 *)m->a, (uint4 *)m->host_address, quads, passes);
             }));
    }
}

static void measure_device_memory(struct machine *m, timed_stream &stream)
{
    const int counts[] = {1, m->sms, 2 * m->sms};
    for (int blocks : counts) {
        size_t quads = quads_of(blocks == 1 ? 128 * MiB : DEVICE_BYTES, blocks);
        size_t bytes = quads * sizeof(uint4) * (size_t)blocks;
        tell("device_copy", "blocks", blocks, "gbs", rate(stream, bytes, [&](unsigned passes) {
                 copy_blocks<<<blocks, THREADS, 0, stream.stream>>>((const uint4 *)m->a,
                                                                    (uint4 *)m->b, quads, passes);
             }));
        tell("device_read", "blocks", blocks, "gbs", rate(stream, bytes, [&](unsigned passes) {
                 sum_blocks<<<blocks, THREADS, 0, stream.stream>>>((const uint4 *)m->a, quads,
                                                                   passes, m->times);
             }));
    }
    tell("device_memcpy", nullptr, 0, "gbs", rate(stream, DEVICE_BYTES, [&](unsigned passes) {
             for (unsigned i = 0; i < passes; i++)
                 MUST(cudaMemcpyAsync(m->b, m->a, DEVICE_BYTES, cudaMemcpyDeviceToDevice,
                                      stream.stream));
         }));
}

/* Copies device to host in pieces, as a recording leaves the device. */
static void measure_copy_engine(struct machine *m, timed_stream &stream, const char *what)
{
    const size_t sizes[] = {MiB / 16, MiB, 16 * MiB};
    for (size_t piece : sizes) {
        size_t bytes = std::min(COPY_BYTES, piece * 512);
        char *to = m->host + COPY_BYTES;
        tell(what, "piece", (long)piece, "gbs", rate(stream, bytes, [&](unsigned passes) {
                 for (unsigned i = 0; i < passes; i++)
                     for (size_t at = 0; at < bytes; at += piece)
                         MUST(cudaMemcpyAsync(to + at, m->a + at, piece, cudaMemcpyDeviceToHost,
                                              stream.stream));
             }));
    }
}

static void measure_beside_kernel(struct machine *m, timed_stream &stream)
{
    timed_stream other;
    volatile word *stop = (volatile word *)m->host, *started = stop + FLAG_STRIDE;
    bool running;
    *stop = *started = 0;
    MUST(cudaMemset(m->flags, 0, 4096));
    MUST(cudaMemset(m->times, 0, 4096));
    MUST(cudaDeviceSynchronize());
    persist<<<m->sms, LANE_THREADS, 0, other.stream>>>((const word *)m->host_address, m->flags,
                                                       m->times);
    MUST(cudaGetLastError());
    for (double until = seconds_now() + 1; *started < (word)m->sms && seconds_now() < until;) {
        MUST(cudaMemcpyAsync((void *)started, m->times, sizeof *started, cudaMemcpyDeviceToHost,
                             stream.stream));
        MUST(cudaStreamSynchronize(stream.stream));
    }
    measure_copy_engine(m, stream, "copy_engine_beside_kernel");
    running = cudaStreamQuery(other.stream) == cudaErrorNotReady;
    cudaGetLastError(); /* clears cudaErrorNotReady, which is no failure */
    tell("beside_kernel", "still_running", running, "blocks", (double)*started);
    *stop = 1;
    MUST(cudaStreamSynchronize(other.stream));
}

/* Nanoseconds of a round, from what the kernel left in `times`. */
static double read_round(struct machine *m, const char *what)
{
    word times[2];
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpy(times, m->times, sizeof times, cudaMemcpyDeviceToHost));
    if (times[1] == 0) {
        fprintf(stderr, "bench_gpu: %s: no answer\n", what);
        exit(1);
    }
    return (double)times[0] / (double)times[1];
}

static double ask_host_once(struct machine *m, timed_stream &stream, unsigned rounds)
{
    volatile word *asked = (volatile word *)m->host, *answer = asked + FLAG_STRIDE;
    word *address = (word *)m->host_address;
    *asked = *answer = 0;
    ask_host<<<1, 1, 0, stream.stream>>>(address, address + FLAG_STRIDE, rounds, m->times);
    MUST(cudaGetLastError());
    for (double until = seconds_now() + 3; *answer < rounds;) {
        word now = *asked;
        if (now != *answer)
            *answer = now;
        else if (seconds_now() > until)
            break;
    }
    return read_round(m, "host_round_trip");
}

template <class Once> static void tell_rounds(const char *what, Once once)
{
    std::vector<double> ns;
    once();
    for (int r = 0; r < REPEAT; r++)
        ns.push_back(once());
    tell(what, nullptr, 0, "ns", median(ns));
}

template <bool ordered>
static double ask_block_once(struct machine *m, timed_stream &stream, unsigned rounds)
{
    MUST(cudaMemset(m->flags, 0, 4096));
    MUST(cudaDeviceSynchronize());
    ask_block<ordered><<<2, 1, 0, stream.stream>>>(m->flags, rounds, m->times);
    return read_round(m, "block_round_trip");
}

static void measure_round_trips(struct machine *m, timed_stream &stream)
{
    tell_rounds("host_round_trip", [&] { return ask_host_once(m, stream, 1000); });
    tell_rounds("block_round_trip", [&] { return ask_block_once<true>(m, stream, 2000); });
    tell_rounds("block_round_trip_relaxed", [&] { return ask_block_once<false>(m, stream, 2000); });
    tell_rounds("block_barrier_288", [&] {
        barriers<<<1, LANE_THREADS, 0, stream.stream>>>(10000, m->times);
        return read_round(m, "block_barrier_288");
    });
}

template <int op> static void measure_fence(struct machine *m, timed_stream &stream)
{
    for (int who = 0; who < OUTSTANDING; who++) {
        word words[SAMPLES + 2];
        std::vector<double> cycles;
        fences<op><<<1, LANE_THREADS, 0, stream.stream>>>(who, (uint4 *)m->host_address, m->flags,
                                                          m->times);
        MUST(cudaGetLastError());
        MUST(cudaStreamSynchronize(stream.stream));
        MUST(cudaMemcpy(words, m->times, sizeof words, cudaMemcpyDeviceToHost));
        for (int s = 1; s < SAMPLES; s++) /* skips the first, which still loads its code */
            cycles.push_back((double)words[s]);
        double per_ns = (double)words[SAMPLES] / (double)words[SAMPLES + 1];
        printf("{\"program\":\"limits\",\"what\":\"fence\",\"op\":\"%s\",\"outstanding\":\"%s\","
               "\"cycles\":%.0f,\"cycles_worst\":%.0f,\"ns\":%.1f,\"ghz\":%.3f}\n",
               fence_names[op], outstanding_names[who], median(cycles),
               *std::max_element(cycles.begin(), cycles.end()), median(cycles) / per_ns, per_ns);
        fflush(stdout);
    }
}

/* Launches as a run does: on all multiprocessors at once, while the host waits for the end. */
static void measure_launch(struct machine *m, timed_stream &stream, const char *what,
                           unsigned pause_ms)
{
    tell_rounds(what, [&] {
        usleep(1000 * pause_ms);
        double began = seconds_now();
        MUST(cudaLaunchCooperativeKernel((const void *)nothing, dim3((unsigned)m->sms),
                                         dim3(LANE_THREADS), nullptr, 0, stream.stream));
        MUST(cudaStreamSynchronize(stream.stream));
        return (seconds_now() - began) * 1e9;
    });
}

int main(int argc, char **argv)
{
    struct machine m;
    if (argc > 1) {
        fprintf(stderr, "usage: %s\n", argv[0]);
        return 2;
    }
    open_machine(&m);
    timed_stream stream;
    measure_host_writes(&m, stream);
    measure_device_memory(&m, stream);
    measure_copy_engine(&m, stream, "copy_engine");
    measure_beside_kernel(&m, stream);
    measure_round_trips(&m, stream);
    measure_launch(&m, stream, "cooperative_launch", 0);
    measure_launch(&m, stream, "cooperative_launch_after_a_pause", 50);
    measure_fence<NO_FENCE>(&m, stream);
    measure_fence<FENCE_GPU>(&m, stream);
    measure_fence<FENCE_SYS>(&m, stream);
    measure_fence<RELEASE_GPU>(&m, stream);
    measure_fence<RELEASE_SYS>(&m, stream);
    return 0;
}
