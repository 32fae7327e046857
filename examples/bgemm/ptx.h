/* SPDX-License-Identifier: Apache-2.0 */
/* PTX instructions that CUDA C++ has no function for. */
#ifndef BGEMM_PTX_H
#define BGEMM_PTX_H

#include <stdint.h>

/* Starts to copy `bytes` bytes from global to block memory while the thread goes on; fills the rest
 * of the 4 · FLOATS bytes with zeros. Both addresses are aligned to 4 · FLOATS bytes. */
template <int FLOATS>
__device__ __forceinline__ void copy_async(float *to, const float *from, int bytes)
{
    uint32_t shared = (uint32_t)__cvta_generic_to_shared(to);
    if constexpr (FLOATS == 4)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from),
                     "r"(bytes)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from),
                     "r"(bytes)
                     : "memory");
}

/* Waits for this thread's copies. The copies of other threads are complete after a barrier. */
__device__ __forceinline__ void copy_async_wait(void)
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* d = a·b + c by a warp: a is 16 by 8, b is 8 by 8, of tf32. */
__device__ __forceinline__ void mma_tf32(float (&d)[4], const uint32_t (&a)[4],
                                         const uint32_t (&b)[2], const float (&c)[4])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]),
          "f"(c[2]), "f"(c[3]));
}

#endif
