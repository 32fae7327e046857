/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The largest errors of taskglass/math.h on a GPU: float32 on every argument, pow on 2^32 pairs,
 * float64 on the hard cases of tests/math. The lines are those of math-sweep. Fails if an error
 * exceeds its bound, and exits with 77 without a GPU. The argument says of how many cases float64 is
 * tried, 1000000 by default.
 */
#include "../math/reference.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <taskglass/math.h>
#include <vector>

static void must(cudaError_t status)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "math-gpu: %s\n", cudaGetErrorString(status));
    exit(1);
}

/* For float32 CUDA's own functions of double are exact enough. */
static __device__ double exact_rsqrt(double x)
{
    return 1 / sqrt(x);
}
static __device__ double exact_sigmoid(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}
static __device__ double exact_gelu(double x)
{
    return isinf(x) ? (x > 0 ? x : -0.0) : x / 2 * erfc(-x * 0.70710678118654752440);
}
static __device__ double exact_gelu_tanh(double x)
{
    double u = 1.5957691216057307117 * (x + 0.044715 * x * x * x), e = exp(-fabs(u));
    return isinf(x) ? (x > 0 ? x : -0.0) : u < 0 ? x * e / (1 + e) : x / (1 + e);
}
#define exact_exp exp
#define exact_exp2 exp2
#define exact_log log
#define exact_log2 log2
#define exact_sqrt sqrt
#define exact_tanh tanh
#define exact_erf erf
#define exact_sin sin
#define exact_cos cos

/* As math_ulp_f32. */
static __device__ float ulp_of(float got, double exact)
{
    int exponent;
    double scaled;
    if (isnan(got) || isnan(exact))
        return isnan(got) && isnan(exact) ? 0 : 1e30f;
    if (isinf(got) && fabs(exact) >= 0x1p128 && !signbit(got) == !signbit(exact))
        return 0;
    exponent = exact == 0 ? -126 : ilogb(exact);
    exponent = exponent < -126 ? -126 : exponent > 127 ? 127 : exponent;
    scaled = fabs((isinf(got) ? copysign(0x1p128, (double)got) : (double)got) - exact);
    return (float)ldexp(scaled, 23 - exponent);
}

/* Keeps the largest error; errors are positive, so that their bits have their order. */
static __device__ void note(unsigned long long *worst, float ulp, uint32_t where)
{
    unsigned long long mine = (unsigned long long)tg_float32_bits(ulp) << 32 | where;
    if (mine > *(volatile unsigned long long *)worst)
        atomicMax(worst, mine);
}

#define KERNELS(name, ulp32, ulp64)                                                        \
    static __global__ void name##_all(unsigned long long *worst)                       \
    {                                                                                  \
        uint64_t step = (uint64_t)gridDim.x * blockDim.x;                              \
        uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;                  \
        for (; i < (uint64_t)1 << 32; i += step) {                                     \
            float x = tg_float32_from_bits((uint32_t)i);                               \
            note(worst, ulp_of(tg_##name##_f32(x), exact_##name((double)x)), (uint32_t)i); \
        }                                                                              \
    }                                                                                  \
    static __global__ void name##_f64(const double *x, double *y, uint64_t n)          \
    {                                                                                  \
        uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;                  \
        if (i < n)                                                                     \
            y[i] = tg_##name##_f64(x[i]);                                              \
    }
TG_MATH_MAP(KERNELS)

#define ALL(name, ulp32, ulp64) name##_all,
#define F64(name, ulp32, ulp64) name##_f64,
static void (*const kernels_f32[])(unsigned long long *) = {TG_MATH_MAP(ALL)};
static void (*const kernels_f64[])(const double *, double *, uint64_t) = {TG_MATH_MAP(F64)};

static __global__ void pow_f64(const double *x, const double *y, double *z, uint64_t n)
{
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = tg_pow_f64(x[i], y[i]);
}

static __device__ uint64_t mixed(uint64_t z)
{
    z = (z + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* As math_pair_f32, for pair number i. */
static __device__ void pair(uint64_t i, float *x, float *y)
{
    uint64_t random = mixed(i);
    *x = tg_float32_from_bits((uint32_t)random);
    *y = tg_float32_from_bits((uint32_t)(random >> 32));
    if (random >> 35 & 7) {
        double size = (double)(random >> 40) * 0x1p-24 * 280 - 151;
        if (random >> 36 & 1)
            *x = tg_float32_from_bits(0x3f800000u +
                                      (uint32_t)((int32_t)random >> (random >> 59 & 15)) / 512);
        *x = fabsf(*x);
        *y = (float)(size / log2((double)*x));
    }
}

static __global__ void pow_all(unsigned long long *worst)
{
    uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (uint64_t)1 << 32; i += step) {
        float x, y;
        pair(i, &x, &y);
        note(worst, ulp_of(tg_pow_f32(x, y), pow((double)x, (double)y)), (uint32_t)i);
    }
}

static __global__ void pair_of(uint64_t i, float *x)
{
    pair(i, &x[0], &x[1]);
}

static __global__ void special_pairs(const double *x, const double *y, float *f32, double *f64, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        f32[i] = tg_pow_f32((float)x[i], (float)y[i]);
        f64[i] = tg_pow_f64(x[i], y[i]);
    }
}

static bool report(const char *name, const char *type, uint64_t cases, double ulp, double bound, double x)
{
    bool holds = ulp <= bound + 1e-3 * (bound == 0.5);
    printf("%-10s %s  %12llu cases  largest error %.4f ulp, bound %g, at %a%s\n", name, type,
           (unsigned long long)cases, ulp, bound, x, holds ? "" : "  TOO LARGE");
    fflush(stdout);
    return holds;
}

template <typename T> static T *shared_memory(uint64_t n)
{
    T *memory;
    must(cudaMallocManaged(&memory, n * sizeof(T)));
    return memory;
}

static bool sweep_f64(uint64_t n)
{
    double *x = shared_memory<double>(n), *y = shared_memory<double>(n), *z = shared_memory<double>(n);
    unsigned blocks = (unsigned)((n + 255) / 256);
    bool holds = true;
    uint64_t state = 3, at = 0;
    double worst = -1;
    for (int k = 0; k < math_function_count; k++) {
        const struct math_function *f = &math_functions[k];
        uint64_t begin = 1;
        for (uint64_t i = 0; i < n; i++)
            x[i] = math_hard_f64(f, i, &begin);
        kernels_f64[k]<<<blocks, 256>>>(x, y, n);
        must(cudaDeviceSynchronize());
        worst = -1;
        for (uint64_t i = 0; i < n; i++) {
            double ulp = math_ulp_f64(y[i], f->exact_f64((long double)x[i]));
            at = ulp > worst ? i : at;
            worst = ulp > worst ? ulp : worst;
        }
        holds &= report(f->name, "f64", n, worst, f->bound_f64(), x[at]);
    }
    for (uint64_t i = 0; i < n; i++)
        math_pair_f64(&state, &x[i], &y[i]);
    pow_f64<<<blocks, 256>>>(x, y, z, n);
    must(cudaDeviceSynchronize());
    worst = -1;
    for (uint64_t i = 0; i < n; i++) {
        double ulp = math_ulp_f64(z[i], powl((long double)x[i], (long double)y[i]));
        at = ulp > worst ? i : at;
        worst = ulp > worst ? ulp : worst;
    }
    return report("pow", "f64", n, worst, tg_pow_f64_ulp(), x[at]) && holds;
}

static bool sweep_f32(void)
{
    unsigned long long *worst = shared_memory<unsigned long long>(1);
    float *x = shared_memory<float>(2);
    bool holds = true;
    for (int k = 0; k < math_function_count; k++) {
        *worst = 0;
        kernels_f32[k]<<<4096, 256>>>(worst);
        must(cudaDeviceSynchronize());
        holds &= report(math_functions[k].name, "f32", (uint64_t)1 << 32,
                        (double)tg_float32_from_bits((uint32_t)(*worst >> 32)),
                        math_functions[k].bound_f32(), (double)tg_float32_from_bits((uint32_t)*worst));
    }
    *worst = 0;
    pow_all<<<4096, 256>>>(worst);
    must(cudaDeviceSynchronize());
    pair_of<<<1, 1>>>((uint32_t)*worst, x);
    must(cudaDeviceSynchronize());
    return report("pow", "f32", (uint64_t)1 << 32,
                  (double)tg_float32_from_bits((uint32_t)(*worst >> 32)), tg_pow_f32_ulp(),
                  (double)x[0]) &&
           holds;
}

/* The sign of 0 and of infinity counts here. Returns whether all are right. */
static bool specials(void)
{
    std::vector<double> xs, ys;
    double x, y, *at;
    int wrong = 0, n;
    for (int i = 0; math_special_pair(i, &x, &y); i++) {
        xs.push_back(x);
        ys.push_back(y);
    }
    n = (int)xs.size();
    at = shared_memory<double>(3 * xs.size());
    float *f32 = shared_memory<float>(xs.size());
    memcpy(at, xs.data(), xs.size() * sizeof *at);
    memcpy(at + n, ys.data(), xs.size() * sizeof *at);
    special_pairs<<<1, 256>>>(at, at + n, f32, at + 2 * n, n);
    must(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) {
        double wide = pow((double)(float)xs[i], (double)(float)ys[i]), want = pow(xs[i], ys[i]);
        float narrow = (float)wide, got = f32[i];
        double got64 = at[2 * n + i];
        bool fine = (std::isnan(got) ? std::isnan(narrow) : std::signbit(got) == std::signbit(narrow)) &&
                    math_ulp_f32(got, wide) <= tg_pow_f32_ulp() &&
                    (std::isnan(got64) ? std::isnan(want) : std::signbit(got64) == std::signbit(want)) &&
                    math_ulp_f64(got64, powl((long double)xs[i], (long double)ys[i])) <= tg_pow_f64_ulp();
        if (!fine && wrong++ < 10)
            printf("pow(%a, %a): %a and %a\n", xs[i], ys[i], (double)got, got64);
    }
    printf("pow, %d special pairs, %d wrong\n", n, wrong);
    return wrong == 0;
}

int main(int argc, char **argv)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        fprintf(stderr, "math-gpu: no CUDA device\n");
        return 77;
    }
    bool holds = specials();
    holds &= sweep_f32();
    holds &= sweep_f64(argc > 1 ? strtoull(argv[1], NULL, 0) : 1000000);
    return !holds;
}
