/* SPDX-License-Identifier: Apache-2.0 */
#include "bugs.h"

/* Iterations of an empty loop; each takes longer on a GPU thread. */
#if defined(__CUDACC__)
enum { A_WHILE = 2000000 };
#else
enum { A_WHILE = 20000000 };
#endif

TG_KERNEL(scale)
{
    const float *x = TG_ARG(ctx, 0, const float);
    float *a = TG_ARG(ctx, 1, float);
    float k = tg_arg_f32(ctx, 1);
#if BUG == BUG_MISSING_EDGE
    /* Slow, so that a task which does not wait for it comes first. */
    if (IS_PLANTED(ctx, 0))
        for (volatile int spin = 0; spin < A_WHILE; spin = spin + 1)
            ;
#endif
    TG_FOR(i, N)
        a[i] = k * x[i];
}

/* b[i] = a[i-1] + a[i] + a[i+1], fewer at the ends. */
TG_KERNEL(window)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    int64_t n = N;
#if BUG == BUG_OFF_BY_ONE
    if (IS_PLANTED(ctx, 0))
        n = N - 1; /* the last element is not written */
#endif
    TG_FOR(i, n) {
        float left = i > 0 ? a[i - 1] : 0, right = i < N - 1 ? a[i + 1] : 0;
#if BUG == BUG_ORDER_DRIFT
        b[i] = right + a[i] + left; /* as accurate as the other order, but with other bits */
#else
        b[i] = left + a[i] + right;
#endif
    }
}

/* c = aᵀ + b; a is passed as a transposed view. */
TG_KERNEL(mix_up)
{
    const float *a = TG_ARG(ctx, 0, const float), *b = TG_ARG(ctx, 1, const float);
    float *c = TG_ARG(ctx, 2, float);
    int64_t down = ctx->tensor[0].strides[0], right = ctx->tensor[0].strides[1];
#if BUG == BUG_WRONG_STRIDE
    if (IS_PLANTED(ctx, 0)) {
        down = SIDE;
        right = 1;
    }
#endif
    TG_FOR(i, N)
        c[i] = a[i / SIDE * down + i % SIDE * right] + b[i];
}

TG_KERNEL(subtract)
{
    const float *c = TG_ARG(ctx, 0, const float), *a = TG_ARG(ctx, 1, const float);
    float *d = TG_ARG(ctx, 2, float);
    TG_FOR(i, N)
        d[i] = c[i] - a[i];
}

TG_KERNEL(add_up)
{
    const float *d = TG_ARG(ctx, 0, const float);
    float *total = TG_ARG(ctx, 1, float);
    TG_FOR(i, N) {
#if BUG == BUG_LOST_UPDATE
        if (IS_PLANTED(ctx, 0) && i % 8 == 5) {
            total[i] = d[i]; /* overwrites instead of adding */
            continue;
        }
#endif
        total[i] += d[i];
    }
}

TG_KERNEL(halve)
{
    const float *d = TG_ARG(ctx, 0, const float);
    uint16_t *h = TG_ARG(ctx, 1, uint16_t);
    TG_FOR(i, N) {
        double value = d[i];
#if BUG == BUG_OVERFLOW
        if (IS_PLANTED(ctx, 0) && i == 77)
            value *= 1e6; /* beyond the range of float16 */
#endif
        h[i] = (uint16_t)tg_encode(TG_FLOAT16, value);
    }
}

TG_KERNEL(ratio)
{
    const float *d = TG_ARG(ctx, 0, const float), *b = TG_ARG(ctx, 1, const float);
    float *r = TG_ARG(ctx, 2, float);
#if BUG == BUG_UNWRITTEN
    if (IS_PLANTED(ctx, 0))
        return;
#endif
    TG_FOR(i, N) {
        float over = b[i] * b[i] + 1;
#if BUG == BUG_NAN
        if (IS_PLANTED(ctx, 0) && i == 100) {
            volatile float zero = 0;
            r[i] = zero / zero;
            continue;
        }
#endif
        r[i] = d[i] / over;
    }
#if BUG == BUG_STRAY_WRITE
    TG_FOR(once, IS_PLANTED(ctx, 0))
        r[N] = 12345; /* the first element of d */
#endif
}

TG_KERNEL(quantize)
{
    const float *d = TG_ARG(ctx, 0, const float), *r = TG_ARG(ctx, 1, const float);
    int32_t *q = TG_ARG(ctx, 2, int32_t);
    TG_FOR(i, N) {
        float value = 100 * d[i] + r[i];
#if BUG == BUG_WRONG_CAST
        if (IS_PLANTED(ctx, 0)) {
            q[i] = (int8_t)(int32_t)value; /* keeps only eight bits */
            continue;
        }
#endif
        q[i] = (int32_t)value;
    }
}
