/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nvcc would know by itself, for g++: the names of CUDA that the GPU's sources use, and the functions
 * that patch.py puts in the place of inline PTX. fibers.cpp and meetings.cpp have what is behind them.
 * A source of this folder includes the C++ library first, because some of these names are taken there.
 */
#ifndef TG_EMULATED_CUDA_H
#define TG_EMULATED_CUDA_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* patch.py writes these into the sources. A crew of two warps has all that eight have, in less time. */
#define EMULATED 1
enum { EMU_CREW = 64, EMU_THREADS = EMU_CREW + 32, EMU_BLOCKS = 16 };

#define __device__
#define __host__
#define __global__
#define __shared__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

struct emu_dim {
    unsigned x;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};

/* Who runs: constant for a fiber, so that g++ may ask once. */
struct emu_dim emu_thread(void) __attribute__((const));
unsigned emu_block(void) __attribute__((const));
char *emu_shared(void) __attribute__((const));

/* Ends the program, and says the seed, the step and where each warp is. */
void emu_fail(const char *what, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Time passes with each access to memory; clock() runs faster or slower than it (fibers.h). */
uint64_t emu_time(void);
unsigned emu_clock(void);
void emu_sleep(unsigned ns);

/* Other fibers may run at this access. */
void emu_access(const void *p);
void emu_store16(void *to, uint64_t first, uint64_t second);

/* cp.async: the bytes arrive at some time up to emu_await_copies. */
void emu_begin_copy(void *to, const void *from, uint32_t size);
void emu_await_copies(void);

/* mbarrier */
void emu_barrier_init(uint64_t *barrier, uint32_t arrivals);
void emu_barrier_arrive(uint64_t *barrier);
bool emu_barrier_passed(const uint64_t *barrier, uint32_t parity);
bool emu_barrier_try(const uint64_t *barrier, uint32_t parity);

/* Barriers of the crew, and of all threads of the block. */
void emu_crew_meet(void);
void emu_block_meet(void);

/* What all 32 lanes of a warp do together, at one place of the source. */
enum emu_kind { EMU_SYNC, EMU_BALLOT, EMU_SHFL, EMU_SHFL_UP, EMU_SHFL_DOWN };
void emu_sync(void);
uint32_t emu_ballot(bool value);
uint64_t emu_shuffle(enum emu_kind kind, uint64_t value, int n);

#define EMU_SHUFFLE(kind, v, n) ((decltype((v) + 0))emu_shuffle(kind, (uint64_t)(v), (n)))

#define threadIdx (emu_thread())
#define blockIdx (emu_dim{emu_block()})
#define clock() emu_clock()
#define __syncthreads() emu_block_meet()
#define __syncwarp() emu_sync()
#define __ballot_sync(mask, v) emu_ballot((v) != 0)
#define __any_sync(mask, v) (emu_ballot((v) != 0) != 0)
#define __shfl_sync(mask, v, n) EMU_SHUFFLE(EMU_SHFL, v, n)
#define __shfl_up_sync(mask, v, n) EMU_SHUFFLE(EMU_SHFL_UP, v, n)
#define __shfl_down_sync(mask, v, n) EMU_SHUFFLE(EMU_SHFL_DOWN, v, n)
#define __nanosleep(n) emu_sleep(n)
#define __threadfence() ((void)0)
#define __threadfence_system() ((void)0)
#define __cvta_generic_to_shared(p) ((uintptr_t)(p))
#define __cvta_generic_to_global(p) ((uintptr_t)(p))
#define __popc(x) __builtin_popcount(x)
#define __ffsll(x) __builtin_ffsll(x)
#define __clzll(x) __builtin_clzll(x)
#define __umul64hi(a, b) ((uint64_t)((unsigned __int128)(a) * (b) >> 64))

template <class T> static inline T __ldcg(const T *p)
{
    return *p;
}
template <class T> static inline void __stcs(T *p, T value)
{
    *p = value;
}

#endif
