/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times the functions of taskglass/math.h on a GPU beside CUDA's. Every thread computes many values
 * in registers, so that memory plays no role. Prints for each: name, type, ps an element of ours and
 * of CUDA's, for the whole GPU, the smallest of several rounds that take turns. Exits with 77 without
 * a GPU. sigmoid and gelu are written with CUDA's exp, erf and tanh, as people do.
 */
#include "ranges.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <taskglass/math.h>

enum { BLOCKS = 132 * 8, THREADS = 256, EACH = 256, ROUNDS = 20, NO_DEVICE = 77 };

static void must(cudaError_t status)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "bench_math_gpu: %s\n", cudaGetErrorString(status));
    exit(1);
}

static __device__ float cuda_sigmoid_f32(float x)
{
    return 1 / (1 + expf(-x));
}
static __device__ double cuda_sigmoid_f64(double x)
{
    return 1 / (1 + exp(-x));
}
static __device__ float cuda_gelu_f32(float x)
{
    return x / 2 * (1 + erff(x * 0.70710678f));
}
static __device__ double cuda_gelu_f64(double x)
{
    return x / 2 * (1 + erf(x * 0.70710678118654752));
}
static __device__ float cuda_gelu_tanh_f32(float x)
{
    return x / 2 * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}
static __device__ double cuda_gelu_tanh_f64(double x)
{
    return x / 2 * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
}
#define cuda_exp_f32 expf
#define cuda_exp_f64 exp
#define cuda_exp2_f32 exp2f
#define cuda_exp2_f64 exp2
#define cuda_log_f32 logf
#define cuda_log_f64 log
#define cuda_log2_f32 log2f
#define cuda_log2_f64 log2
#define cuda_sqrt_f32 sqrtf
#define cuda_sqrt_f64 sqrt
#define cuda_rsqrt_f32 rsqrtf
#define cuda_rsqrt_f64 rsqrt
#define cuda_tanh_f32 tanhf
#define cuda_tanh_f64 tanh
#define cuda_erf_f32 erff
#define cuda_erf_f64 erf
#define cuda_sin_f32 sinf
#define cuda_sin_f64 sin
#define cuda_cos_f32 cosf
#define cuda_cos_f64 cos
#define cuda_pow_f32(x) powf(x, 3.25f - (x) * 0.01f)
#define cuda_pow_f64(x) pow(x, 3.25 - (x) * 0.01)
#define own_pow_f32(x) tg_pow_f32(x, 3.25f - (x) * 0.01f)
#define own_pow_f64(x) tg_pow_f64(x, 3.25 - (x) * 0.01)

/* The sum keeps the compiler from dropping the values. */
#define KERNEL(kernel, type, call)                                                          \
    static __global__ void kernel(type *out, type low, type step)                           \
    {                                                                                       \
        type at = low + step * (type)(threadIdx.x + blockIdx.x % 7), sum = 0;               \
        for (int i = 0; i < EACH; i++) {                                                    \
            sum += call(at);                                                                \
            at += step * THREADS;                                                           \
        }                                                                                   \
        out[blockIdx.x * THREADS + threadIdx.x] = sum;                                      \
    }
#define KERNELS(name, ulp32, ulp64)                                \
    KERNEL(tg_##name##_kernel_f32, float, tg_##name##_f32)         \
    KERNEL(cuda_##name##_kernel_f32, float, cuda_##name##_f32)     \
    KERNEL(tg_##name##_kernel_f64, double, tg_##name##_f64)        \
    KERNEL(cuda_##name##_kernel_f64, double, cuda_##name##_f64)
TG_MATH_MAP(KERNELS)
KERNEL(tg_pow_kernel_f32, float, own_pow_f32)
KERNEL(cuda_pow_kernel_f32, float, cuda_pow_f32)
KERNEL(tg_pow_kernel_f64, double, own_pow_f64)
KERNEL(cuda_pow_kernel_f64, double, cuda_pow_f64)

template <typename T> static float once(void (*kernel)(T *, T, T), T *out, T low, T step)
{
    cudaEvent_t begin, end;
    float ms;
    must(cudaEventCreate(&begin));
    must(cudaEventCreate(&end));
    must(cudaEventRecord(begin));
    kernel<<<BLOCKS, THREADS>>>(out, low, step);
    must(cudaEventRecord(end));
    must(cudaEventSynchronize(end));
    must(cudaEventElapsedTime(&ms, begin, end));
    must(cudaEventDestroy(begin));
    must(cudaEventDestroy(end));
    return ms;
}

template <typename T>
static void measure(const char *name, const char *type, void (*ours)(T *, T, T), void (*peer)(T *, T, T),
                    double low, double high)
{
    const double elements = (double)BLOCKS * THREADS * EACH;
    static T *out;
    float best = 1e9f, best_peer = 1e9f;
    T step = (T)((high - low) / (THREADS * (EACH + 1)));
    if (!out)
        must(cudaMalloc(&out, sizeof(T) * BLOCKS * THREADS));
    for (int round = 0; round < ROUNDS; round++) {
        float mine = once(ours, out, (T)low, step), other = once(peer, out, (T)low, step);
        best = mine < best ? mine : best;
        best_peer = other < best_peer ? other : best_peer;
    }
    printf("%s %s %.3f %.3f\n", name, type, best * 1e9 / elements, best_peer * 1e9 / elements);
}

#define MEASURE(name, ulp32, ulp64)                                                                  \
    measure(#name, "f32", tg_##name##_kernel_f32, cuda_##name##_kernel_f32, BENCH_RANGE_##name);     \
    measure(#name, "f64", tg_##name##_kernel_f64, cuda_##name##_kernel_f64, BENCH_RANGE_##name);

int main(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        fprintf(stderr, "bench_math_gpu: no CUDA device\n");
        return NO_DEVICE;
    }
    TG_MATH_MAP(MEASURE)
    measure("pow", "f32", tg_pow_kernel_f32, cuda_pow_kernel_f32, BENCH_RANGE_log);
    measure("pow", "f64", tg_pow_kernel_f64, cuda_pow_kernel_f64, BENCH_RANGE_log);
    return 0;
}
