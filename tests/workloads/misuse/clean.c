/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that use memory as they may. */
#include "misuse.h"

#include <taskglass/wire/record.h>

TG_KERNEL(clean_plain)
{
    HALVE_ALL(ctx, 0, 1);
}

TG_KERNEL(clean_strided)
{
    HALVE_ALL(ctx, 0, 1);
}

TG_KERNEL(clean_tile)
{
    HALVE_ALL(ctx, 0, 1);
}

TG_KERNEL(clean_flipped)
{
    HALVE_ALL(ctx, 0, 1);
}

TG_KERNEL(clean_broadcast)
{
    HALVE_ALL(ctx, 0, 1);
}

TG_KERNEL(clean_half_byte)
{
    HALVE_ALL(ctx, 0, 1);
}

TG_KERNEL(clean_same)
{
    HALVE_ALL(ctx, 0, 1);
}

TG_KERNEL(clean_empty)
{
    HALVE_ALL(ctx, 0, 1);
}

TG_KERNEL(clean_inout)
{
    HALVE_ALL(ctx, 0, 0);
}

TG_KERNEL(clean_one_of_inout)
{
    poke(ctx, 0, 42, peek(ctx, 0, 41));
}

/* Vectors of 16 bytes, whose instructions fault at an address that is not a multiple of 16. */
#ifdef __CUDACC__
typedef int8_t vector, loose_vector;
#else
typedef int8_t vector __attribute__((vector_size(16), may_alias));
typedef int8_t loose_vector __attribute__((vector_size(16), may_alias, aligned(1)));
#endif

TG_KERNEL(clean_aligned)
{
    const int8_t *x = TG_ARG(ctx, 0, const int8_t);
    int8_t *y = TG_ARG(ctx, 1, int8_t);
    const int64_t whole = ODD / (int64_t)sizeof(vector);
    TG_FOR(i, whole)
        ((vector *)y)[i] = ((const vector *)x)[i];
    TG_FOR(i, ODD % (int64_t)sizeof(vector))
        y[whole * (int64_t)sizeof(vector) + i] = x[whole * (int64_t)sizeof(vector) + i];
}

TG_KERNEL(clean_twice)
{
    TG_FOR(i, N)
        tg_arg_store(ctx, 1, i, 0);
    TG_BARRIER();
    HALVE_ALL(ctx, 0, 1);
}

TG_KERNEL(clean_accumulate)
{
    TG_FOR(i, N)
        tg_arg_store(ctx, 1, i, 0);
    TG_BARRIER();
    for (int turn = 0; turn < 3; turn++)
        TG_FOR(i, N)
            tg_arg_store(ctx, 1, i, tg_arg_load(ctx, 1, i) + tg_arg_load(ctx, 0, i));
}

/* Stores partial sums, reads them back in another order, and replaces them. */
TG_KERNEL(clean_scratch)
{
    float *y = TG_ARG(ctx, 1, float);
    HALVE_ALL(ctx, 0, 1);
    TG_BARRIER();
    TG_FOR(once, 1) {
        for (int64_t i = 1; i < N; i++)
            y[i] += y[i - 1];
        for (int64_t i = N - 1; i > 0; i--)
            y[i] -= y[0];
    }
}

/* A run of each pattern, and each at the ends. */
TG_KERNEL(clean_pattern)
{
    uint32_t *y = TG_ARG(ctx, 1, uint32_t), pattern[8];
    pattern[0] = TG_POISON;
    pattern[1] = ~TG_POISON;
    pattern[2] = 0;
    pattern[3] = 0xFFFFFFFF;
    pattern[4] = 0xA5A5A5A5;
    pattern[5] = 0x5A5A5A5A;
    pattern[6] = 0xDEADBEEF;
    pattern[7] = 0xCDCDCDCD;
    TG_FOR(i, N)
        y[i] = pattern[i < 64 ? i / 8 : i % 8];
}

TG_KERNEL(clean_not_numbers)
{
    uint32_t *y = TG_ARG(ctx, 1, uint32_t);
    TG_FOR(i, N)
        y[i] = UINT32_C(0x7FC00000) + (uint32_t)i;
}

/* Backwards, so that nothing is overwritten before it was read. */
TG_KERNEL(clean_overlap)
{
    TG_FOR(once, 1)
        for (int64_t i = N - 1; i >= 0; i--)
            tg_arg_store(ctx, 1, i, tg_arg_load(ctx, 0, i));
}

/* Backwards too. The input is not aligned as the output is. */
TG_KERNEL(clean_shifted)
{
    const loose_vector *x = TG_ARG(ctx, 0, const loose_vector);
    vector *y = TG_ARG(ctx, 1, vector);
    TG_FOR(once, 1)
        for (int64_t i = N * 4 / (int64_t)sizeof *y - 1; i >= 0; i--)
            y[i] = x[i];
}

/* An element, aligned vectors, and the rest. */
TG_KERNEL(clean_peeled)
{
    const float *x = TG_ARG(ctx, 0, const float);
    float *y = TG_ARG(ctx, 1, float);
    const int64_t n = N - 1, rest = (n - 1) % 4, whole = (n - 1) * 4 - rest * 4;
    TG_FOR(i, whole / (int64_t)sizeof(vector))
        ((vector *)(y + 1))[i] = ((const vector *)(x + 1))[i];
    TG_FOR(once, 1) {
        y[0] = x[0];
        for (int64_t i = n - rest; i < n; i++)
            y[i] = x[i];
    }
}

TG_KERNEL(clean_two_outputs)
{
    HALVE_ALL(ctx, 0, 1);
    HALVE_ALL(ctx, 0, 2);
}

TG_KERNEL(clean_two_inputs)
{
    TG_FOR(i, N)
        tg_arg_store(ctx, 2, i, tg_arg_load(ctx, 0, i) - tg_arg_load(ctx, 1, i));
}

TG_KERNEL(clean_mix)
{
    halve(ctx, 0, 1, N / 2, N);
}

TG_KERNEL(clean_ignored_input)
{
    TG_FOR(i, N)
        tg_arg_store(ctx, 1, i, (double)i);
}

TG_KERNEL(clean_nothing)
{
    (void)ctx;
}
