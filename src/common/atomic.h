/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All atomic operations of the device program, for gcc and for nvcc. A name says the operation and
 * the memory order; read-modify-writes return the old value. The scope is the device, that is, the
 * schedulers and cores of one device. Names that end in _host are for words that the device shares
 * with the host: these may lie in host memory, where only loads and stores work.
 *
 * There are two patterns, and a comment at each use names the other end:
 *   publish/observe   a store_release or an acq_rel RMW pairs with a load_acquire: what one thread
 *                     wrote before the store is visible to the other after the load.
 *   say/check         two threads each store a word and then load the other's word. All four accesses
 *                     are _seq, so at least one thread sees the other's store.
 */
#ifndef TG_COMMON_ATOMIC_H
#define TG_COMMON_ATOMIC_H

#include <stdint.h>

#if defined(__CUDACC__)

#define TG_SCOPE_ __NV_THREAD_SCOPE_DEVICE
#define TG_HOST_SCOPE_ __NV_THREAD_SCOPE_SYSTEM
/* nvcc's atomic load does not accept a pointer to const. */
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
#define tg_fence_host() __threadfence_system()
/* A word that only tells the host that something has happened, and with which it reads no bytes that the
 * device wrote: on a GPU a release to the host waits for all stores on their way across the bus, which
 * would cost a task more than itself. */
#define tg_store_told_host(p, v) tg_store_relaxed_host(p, v)
/* For several release stores in a row: on a GPU one fence before relaxed stores replaces a fence for
 * each store, and a fence costs more than all the stores together. */
#define tg_release_begin() __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, TG_SCOPE_)
#define tg_store_in_release(p, v) TG_ATOMIC_STORE_(p, v, RELAXED)
#define tg_cas_in_release(p, expected, v) TG_ATOMIC_CAS_(p, expected, v, RELAXED)
#else
#define tg_release_begin() ((void)0)
#define tg_store_in_release(p, v) TG_ATOMIC_STORE_(p, v, RELEASE)
#define tg_cas_in_release(p, expected, v) TG_ATOMIC_CAS_(p, expected, v, ACQ_REL)
#define tg_load_acquire_host(p) TG_ATOMIC_LOAD_(p, ACQUIRE)
#define tg_store_relaxed_host(p, v) TG_ATOMIC_STORE_(p, v, RELAXED)
#define tg_store_release_host(p, v) TG_ATOMIC_STORE_(p, v, RELEASE)
#define tg_store_told_host(p, v) TG_ATOMIC_STORE_(p, v, RELEASE)
/* The thread sanitizer does not understand fences, and gcc refuses to compile one for it. An exchange of
 * a word of its own is what comes closest. */
#if defined(__SANITIZE_THREAD__)
#define TG_HAS_FENCE_ 0
#elif defined(__has_feature)
#define TG_HAS_FENCE_ !__has_feature(thread_sanitizer)
#else
#define TG_HAS_FENCE_ 1
#endif
#if TG_HAS_FENCE_
#define tg_fence_host() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#else
static inline void tg_fence_host(void)
{
    volatile int word = 0;
    (void)__atomic_exchange_n(&word, 1, __ATOMIC_SEQ_CST);
}
#endif
#endif

/* A store with a full fence after it. */
#define tg_store_fence_host(p, v) (tg_store_relaxed_host(p, v), tg_fence_host())

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

/* True if *p was *expected and is now v; otherwise sets *expected to the value of *p. */
#define tg_cas_relaxed(p, expected, v) TG_ATOMIC_CAS_(p, expected, v, RELAXED)
#define tg_cas_acq_rel(p, expected, v) TG_ATOMIC_CAS_(p, expected, v, ACQ_REL)
#define tg_cas_seq(p, expected, v) TG_ATOMIC_CAS_(p, expected, v, SEQ_CST)

#endif
