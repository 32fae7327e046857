/* SPDX-License-Identifier: Apache-2.0 */
/* Code that the CUDA programs of this benchmark share: errors, the clock, medians, a timed
 * stream. */
#ifndef BENCH_GPU_CUDA_COMMON_H
#define BENCH_GPU_CUDA_COMMON_H

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include <cuda_runtime.h>

enum { NO_DEVICE = 77 }; /* exit status without a GPU */

#define MUST(call) must((call), #call)

static inline void must(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "bench_gpu: %s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

/* Loads all kernels now instead of at their first launch: loading one may wait for another kernel
 * that is still running. */
static inline void open_gpu(void)
{
    int count = 0;
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        fprintf(stderr, "bench_gpu: no CUDA device\n");
        exit(NO_DEVICE);
    }
    MUST(cudaSetDevice(0));
    MUST(cudaFree(nullptr));
}

static inline double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

static inline double smallest(const std::vector<double> &values)
{
    return *std::min_element(values.begin(), values.end());
}

/* A stream, and the time that work in it takes. */
struct timed_stream {
    cudaStream_t stream;
    cudaEvent_t begin, end;

    timed_stream()
    {
        MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        MUST(cudaEventCreate(&begin));
        MUST(cudaEventCreate(&end));
    }

    ~timed_stream()
    {
        cudaEventDestroy(begin);
        cudaEventDestroy(end);
        cudaStreamDestroy(stream);
    }

    /* Seconds between two events around the work that `put` enqueues. */
    template <class Put> double time(Put put)
    {
        float milliseconds;
        MUST(cudaEventRecord(begin, stream));
        put();
        MUST(cudaGetLastError());
        MUST(cudaEventRecord(end, stream));
        MUST(cudaStreamSynchronize(stream));
        MUST(cudaEventElapsedTime(&milliseconds, begin, end));
        return milliseconds * 1e-3;
    }
};

#endif
