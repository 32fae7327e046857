/* SPDX-License-Identifier: Apache-2.0 */
/*
 * g++ -fsanitize=thread calls a function at each access to memory and for each atomic operation. The ones
 * here stand in for those of the thread sanitizer, which is not linked: they let other fibers run. All
 * accesses are in one order, so the memory orders that the program asks for make no difference.
 */
#include "fibers.h"

extern "C" {

#define ACCESS(bytes)                           \
    void __tsan_read##bytes(void *p)            \
    {                                           \
        emu_access(p);                          \
    }                                           \
    void __tsan_write##bytes(void *p)           \
    {                                           \
        emu_access(p);                          \
    }                                           \
    void __tsan_volatile_read##bytes(void *p)   \
    {                                           \
        emu_access(p);                          \
    }                                           \
    void __tsan_volatile_write##bytes(void *p)  \
    {                                           \
        emu_access(p);                          \
    }                                           \
    void __tsan_unaligned_read##bytes(void *p)  \
    {                                           \
        emu_access(p);                          \
    }                                           \
    void __tsan_unaligned_write##bytes(void *p) \
    {                                           \
        emu_access(p);                          \
    }

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void __tsan_read_range(void *p, size_t)
{
    emu_access(p);
}
void __tsan_write_range(void *p, size_t)
{
    emu_access(p);
}
void __tsan_init(void) {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit(void) {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_atomic_thread_fence(int) {}

/* Another fiber may run before the operation, and none during it. */
#define RMW(bits, name, result)                                                                    \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *p, uint##bits##_t v, int) \
    {                                                                                              \
        emu_atomic();                                                                              \
        uint##bits##_t old = *p;                                                                   \
        *p = (uint##bits##_t)(result);                                                             \
        return old;                                                                                \
    }

#define COMPARE_EXCHANGE(bits, name)                                                       \
    int __tsan_atomic##bits##_##name(volatile uint##bits##_t *p, uint##bits##_t *expected, \
                                     uint##bits##_t v, int, int)                           \
    {                                                                                      \
        emu_atomic();                                                                      \
        if (*p == *expected) {                                                             \
            *p = v;                                                                        \
            return 1;                                                                      \
        }                                                                                  \
        *expected = *p;                                                                    \
        return 0;                                                                          \
    }

#define ATOMIC(bits)                                                                    \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int)    \
    {                                                                                   \
        emu_atomic();                                                                   \
        return *p;                                                                      \
    }                                                                                   \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t v, int) \
    {                                                                                   \
        emu_atomic();                                                                   \
        *p = v;                                                                         \
    }                                                                                   \
    RMW(bits, exchange, v)                                                              \
    RMW(bits, fetch_add, old + v)                                                       \
    RMW(bits, fetch_sub, old - v)                                                       \
    RMW(bits, fetch_and, (old & (v)))                                                   \
    RMW(bits, fetch_or, old | v)                                                        \
    COMPARE_EXCHANGE(bits, compare_exchange_strong)                                     \
    COMPARE_EXCHANGE(bits, compare_exchange_weak)

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)
}
