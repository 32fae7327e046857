/* SPDX-License-Identifier: Apache-2.0 */
#include "racy.h"

TG_KERNEL(racy_step)
{
    const int64_t *x = TG_ARG(ctx, 0, const int64_t);
    int64_t *y = TG_ARG(ctx, 1, int64_t);
    int64_t k = tg_arg_i64(ctx, 0);
    TG_FOR(i, N)
        y[i] = RACY_STEP(x[i], k);
}

TG_KERNEL(racy_copy)
{
    const int64_t *x = TG_ARG(ctx, 0, const int64_t);
    int64_t *y = TG_ARG(ctx, 1, int64_t);
    TG_FOR(i, N)
        y[i] = x[i];
}

TG_KERNEL(racy_add)
{
    const int64_t *x = TG_ARG(ctx, 0, const int64_t);
    int64_t *y = TG_ARG(ctx, 1, int64_t);
    int64_t k = tg_arg_i64(ctx, 0);
    TG_FOR(i, N)
        y[i] += k * x[i];
}

/* The first input, unless both inputs begin with something else than they should. */
TG_KERNEL(racy_both)
{
    const int64_t *a = TG_ARG(ctx, 0, const int64_t);
    const int64_t *b = TG_ARG(ctx, 1, const int64_t);
    int64_t *y = TG_ARG(ctx, 2, int64_t);
    int64_t right = tg_arg_i64(ctx, 0);
    TG_FOR(i, N)
        y[i] = a[0] != right && b[0] != right ? -1 : right + 3 * i;
}

/* As racy_step, and one element behind the output. */
TG_KERNEL(racy_stray)
{
    const int64_t *x = TG_ARG(ctx, 0, const int64_t);
    int64_t *y = TG_ARG(ctx, 1, int64_t);
    int64_t k = tg_arg_i64(ctx, 0);
    TG_FOR(i, N + 1)
        y[i] = RACY_STEP(x[i < N ? i : 0], k);
}

TG_KERNEL(racy_spin)
{
    const int64_t *x = TG_ARG(ctx, 0, const int64_t);
    int64_t *y = TG_ARG(ctx, 1, int64_t);
    volatile int64_t on = x[0] != tg_arg_i64(ctx, 0);
    while (on)
        continue;
    TG_FOR(i, N)
        y[i] = x[i];
}

/* The fault is intended: a sanitizer must not report it first. */
#if defined(__CUDACC__)
#define UNCHECKED
#else
#define UNCHECKED __attribute__((no_sanitize("undefined", "address")))
#endif

UNCHECKED TG_FN static void write_to_null(void)
{
    volatile int32_t *volatile nowhere = 0; /* volatile, so that the compiler assumes nothing */
    *nowhere = 1;
}

TG_KERNEL(racy_crash)
{
    const int64_t *x = TG_ARG(ctx, 0, const int64_t);
    int64_t *y = TG_ARG(ctx, 1, int64_t);
    if (x[0] != tg_arg_i64(ctx, 0))
        write_to_null();
    TG_FOR(i, N)
        y[i] = x[i];
}

TG_KERNEL(racy_clock)
{
    const int64_t *x = TG_ARG(ctx, 0, const int64_t);
    int64_t *y = TG_ARG(ctx, 1, int64_t);
#if defined __x86_64__ && !defined __CUDACC__
    int64_t now = (int64_t)__builtin_ia32_rdtsc();
#else
    int64_t now = (int64_t)(uintptr_t)&x; /* changes with the layout of the device's memory */
#endif
    TG_FOR(i, N)
        y[i] = x[i] + (i == 3 ? now : 0);
}
