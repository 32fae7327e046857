/* SPDX-License-Identifier: Apache-2.0 */
/* Quantizing cuts off instead of rounding. */
#include "planted.h"

enum { QUANTIZE, DEQUANTIZE };
TG_KERNEL(quantize)
{
    const float *a = TG_ARG(ctx, 0, const float);
    int8_t *b = TG_ARG(ctx, 1, int8_t);
    TG_FOR(i, N) {
        float v = a[i] * 100;
        b[i] = (int8_t)(BAD ? (int)v : (int)(v + 0.5f));
    }
}

TG_KERNEL(dequantize)
{
    const int8_t *a = TG_ARG(ctx, 0, const int8_t);
    float *b = TG_ARG(ctx, 1, float);
    TG_FOR(i, N)
        b[i] = (float)a[i] / 100;
}
TG_ORCHESTRATION(planted)
{

    int64_t n = N;
    struct tg_tensor q = tg_alloc(rt, TG_INT8, 1, &n);
    uint64_t l = one(rt, QUANTIZE, args->tensor[X], q, TG_TASK_NONE, TG_TASK_NONE);
    one(rt, DEQUANTIZE, q, row_of(args, 0), l, TG_TASK_NONE);
}
PLANTED({"quantize", quantize, TG_AIV, "in:float32 out:int8"},
        {"dequantize", dequantize, TG_AIV, "in:int8 out:float32"});
