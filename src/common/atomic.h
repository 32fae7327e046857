/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole ordering vocabulary of the device program, for gcc and for nvcc. A name says the
 * operation and the order; read-modify-writes give the value from before. Everything is at
 * device scope, schedulers and cores of one device, but for the names that end in _host: those
 * words are shared with the host and may lie in its memory, where only loads and stores work.
 *
 * Two idioms recur, and each use names its other end in a comment:
 *   publish/observe   store_release or an acq_rel RMW pairs with load_acquire: what was written
 *                     before the one is visible after the other.
 *   say/check         two threads each store, then load what the other stores, and at least one
 *                     must see the other: all four accesses are _seq.
 */
#ifndef TG_COMMON_ATOMIC_H
#define TG_COMMON_ATOMIC_H

#include <stdint.h>

#if defined(__CUDACC__)

#define TG_SCOPE_ __NV_THREAD_SCOPE_DEVICE
#define TG_HOST_SCOPE_ __NV_THREAD_SCOPE_SYSTEM
/* nvcc's load wants a pointer to something that could be written. */
template <typename T> static inline __device__ T *tg_atomic_mutable_(const T *p)
{
    return const_cast<T *>(p);
}
#define TG_ATOMIC_LOAD_(p, order) \
    __nv_atomic_load_n(tg_atomic_mutable_(p), __NV_ATOMIC_##order, TG_SCOPE_)
#define TG_ATOMIC_STORE_(p, v, order) __nv_atomic_store_n((p), (v), __NV_ATOMIC_##order, TG_SCOPE_)
#define TG_ATOMIC_RMW_(op, p, v, order) __nv_atomic_##op((p), (v), __NV_ATOMIC_##order, TG_SCOPE_)
#define TG_ATOMIC_EXCHANGE_(p, v, order) \
    __nv_atomic_exchange_n((p), (v), __NV_ATOMIC_##order, TG_SCOPE_)
#define TG_ATOMIC_CAS_(p, expected, v, order)                                        \
    __nv_atomic_compare_exchange_n((p), (expected), (v), false, __NV_ATOMIC_##order, \
                                   __NV_ATOMIC_RELAXED, TG_SCOPE_)

#else

#define TG_ATOMIC_LOAD_(p, order) __atomic_load_n((p), __ATOMIC_##order)
#define TG_ATOMIC_STORE_(p, v, order) __atomic_store_n((p), (v), __ATOMIC_##order)
#define TG_ATOMIC_RMW_(op, p, v, order) __atomic_##op((p), (v), __ATOMIC_##order)
#define TG_ATOMIC_EXCHANGE_(p, v, order) __atomic_exchange_n((p), (v), __ATOMIC_##order)
#define TG_ATOMIC_CAS_(p, expected, v, order) \
    __atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_##order, __ATOMIC_RELAXED)

#endif

#if defined(__CUDACC__)
#define tg_load_acquire_host(p) \
    __nv_atomic_load_n(tg_atomic_mutable_(p), __NV_ATOMIC_ACQUIRE, TG_HOST_SCOPE_)
#define tg_store_relaxed_host(p, v) \
    __nv_atomic_store_n((p), (v), __NV_ATOMIC_RELAXED, TG_HOST_SCOPE_)
#define tg_store_release_host(p, v) \
    __nv_atomic_store_n((p), (v), __NV_ATOMIC_RELEASE, TG_HOST_SCOPE_)
#define tg_store_fence_host(p, v) (tg_store_relaxed_host(p, v), __threadfence_system())
/* Several stores that are releases together: on a GPU a fence costs more than all of them. */
#define tg_release_begin() __threadfence()
#define tg_store_in_release(p, v) TG_ATOMIC_STORE_(p, v, RELAXED)
#else
#define tg_release_begin() ((void)0)
#define tg_store_in_release(p, v) TG_ATOMIC_STORE_(p, v, RELEASE)
#define tg_load_acquire_host(p) TG_ATOMIC_LOAD_(p, ACQUIRE)
#define tg_store_relaxed_host(p, v) TG_ATOMIC_STORE_(p, v, RELAXED)
#define tg_store_release_host(p, v) TG_ATOMIC_STORE_(p, v, RELEASE)
/* A store, and a full fence after it, in a form that the thread sanitizer knows. */
#define tg_store_fence_host(p, v) ((void)TG_ATOMIC_EXCHANGE_(p, v, SEQ_CST))
#endif

#define tg_load_relaxed(p) TG_ATOMIC_LOAD_(p, RELAXED)
#define tg_load_acquire(p) TG_ATOMIC_LOAD_(p, ACQUIRE)
#define tg_load_seq(p) TG_ATOMIC_LOAD_(p, SEQ_CST)

#define tg_store_relaxed(p, v) TG_ATOMIC_STORE_(p, v, RELAXED)
#define tg_store_release(p, v) TG_ATOMIC_STORE_(p, v, RELEASE)
#define tg_store_seq(p, v) TG_ATOMIC_STORE_(p, v, SEQ_CST)

#define tg_add_relaxed(p, v) TG_ATOMIC_RMW_(fetch_add, p, v, RELAXED)
#define tg_add_acq_rel(p, v) TG_ATOMIC_RMW_(fetch_add, p, v, ACQ_REL)
#define tg_sub_acq_rel(p, v) TG_ATOMIC_RMW_(fetch_sub, p, v, ACQ_REL)
#define tg_add_seq(p, v) TG_ATOMIC_RMW_(fetch_add, p, v, SEQ_CST)
#define tg_sub_seq(p, v) TG_ATOMIC_RMW_(fetch_sub, p, v, SEQ_CST)
#define tg_or_seq(p, v) TG_ATOMIC_RMW_(fetch_or, p, v, SEQ_CST)
#define tg_and_seq(p, v) TG_ATOMIC_RMW_(fetch_and, p, v, SEQ_CST)
#define tg_exchange_acq_rel(p, v) TG_ATOMIC_EXCHANGE_(p, v, ACQ_REL)
#define tg_exchange_seq(p, v) TG_ATOMIC_EXCHANGE_(p, v, SEQ_CST)

/* True where *p was *expected and is now v; otherwise *expected is what it was. */
#define tg_cas_acq_rel(p, expected, v) TG_ATOMIC_CAS_(p, expected, v, ACQ_REL)
#define tg_cas_seq(p, expected, v) TG_ATOMIC_CAS_(p, expected, v, SEQ_CST)

#endif
