/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Macros that let one source compile for a simulated device and for a GPU: they mark functions, and
 * they share a loop between the threads of one core. Kernels, orchestration code and the device
 * program depend on the target in no other way.
 *
 *                    gcc, clang: one thread is a core      nvcc: one thread block is a core
 *   TG_INLINE        static inline                         + __host__ __device__
 *   TG_OUT_OF_LINE   static, not inlined                   as TG_INLINE
 *   TG_FN, TG_DATA   (nothing)                             __device__, of functions and constants
 *   TG_APART         not inlined                           not inlined
 *   TG_FOR(i, n)     a plain loop                          iterations spread over the block
 *   TG_BARRIER()     (nothing)                             waits for all threads of the kernel
 *   TG_TRAP()        ends the process                      ends the GPU's context
 *
 * Every thread of a GPU gets a stack of the same size, large enough for the deepest one. Functions
 * marked TG_APART are not merged into one, so an orchestration made of them needs less stack.
 *
 * On a GPU, TG_THREAD_COUNT threads of a block run the kernel and one more warp runs the device
 * program; __syncthreads() would wait for that warp for ever. TG_BLOCK_MEMORY is
 * TG_BLOCK_MEMORY_BYTES of shared memory; only GPU code (#if defined(__CUDACC__)) has it, and its
 * content is undefined when a kernel starts.
 */
#ifndef TASKGLASS_TARGET_H
#define TASKGLASS_TARGET_H

#include <stdint.h>

#if defined(__CUDACC__)
/* See the table above. */
#define TG_FN __device__
#define TG_DATA __device__
#define TG_NAMED
#define TG_APART __noinline__
#define TG_INLINE static inline __host__ __device__ __attribute__((unused))
#define TG_OUT_OF_LINE TG_INLINE
#define TG_RESTRICT __restrict__
enum { TG_BLOCK_THREADS = 256, TG_BLOCK_MEMORY_BYTES = 65536 };
extern __shared__ __align__(128) char tg_block_memory[];
#define TG_BLOCK_MEMORY tg_block_memory
#if defined(__CUDA_ARCH__)
#define TG_THREAD_ID ((int64_t)threadIdx.x)
#define TG_THREAD_COUNT ((int64_t)TG_BLOCK_THREADS)
#define TG_BARRIER() asm volatile("barrier.sync 1, 256;" ::: "memory")
/* What the thread stored before is visible to the host. */
#define TG_TRAP() (__threadfence_system(), __trap())
#else
#define TG_THREAD_ID ((int64_t)0)
#define TG_THREAD_COUNT ((int64_t)1)
#define TG_BARRIER() ((void)0)
#define TG_TRAP() __builtin_trap()
#endif
#else
#define TG_FN
#define TG_DATA
#define TG_APART __attribute__((noinline))
/* Platforms find a function's counterpart on a GPU by its name. Protected, so that a function of the
 * same name in another library cannot replace it. */
#define TG_NAMED __attribute__((visibility("protected")))
#define TG_INLINE static inline __attribute__((unused))
#define TG_OUT_OF_LINE static __attribute__((unused, noinline))
#define TG_RESTRICT __restrict
#define TG_THREAD_ID ((int64_t)0)
#define TG_THREAD_COUNT ((int64_t)1)
#define TG_BARRIER() ((void)0)
#define TG_TRAP() __builtin_trap()
#endif

/* TG_ONE_BY_ONE in a loop keeps the compiler from joining its loads and stores to wide ones: a wide
 * load right after single stores stalls. TG_IN_MEMORY keeps a struct in memory, so that the compiler
 * does not split it into registers. */
#if defined(__CUDACC__)
#define TG_ONE_BY_ONE() ((void)0)
#define TG_IN_MEMORY(x) ((void)0)
#else
#define TG_ONE_BY_ONE() __asm__ volatile("")
#define TG_IN_MEMORY(x) __asm__ volatile("" : "+m"(x))
#endif

/* TG_FOR(i, n) statement: every i in [0, n) once, in no particular order. */
#define TG_FOR(i, n) for (int64_t i = TG_THREAD_ID; i < (int64_t)(n); i += TG_THREAD_COUNT)

/* A pointer for a device address; only the device itself may follow it. */
#define TG_DEVICE_PTR(type, addr) ((type *)(uintptr_t)(addr))

#endif
