/* SPDX-License-Identifier: Apache-2.0 */
#include "mistakes.h"

TG_FN static void make_mistake(enum mistake mistake, float *out, int64_t n, int64_t step)
{
    volatile float large = 3e38f, infinite = large * 2; /* volatile prevents fusing */
    switch (mistake) {
    case MISTAKE_WRONG:
        out[3] += 1;
        break;
    case MISTAKE_NAN:
        out[2] = infinite - infinite;
        break;
    case MISTAKE_OVERFLOW:
        out[1] = infinite;
        break;
    case MISTAKE_CONSTANT:
        for (int64_t i = 0; i < n; i++)
            out[i] = 7;
        break;
    case MISTAKE_STOMP: /* rows are adjacent in memory */
        out[4 - step * (n + HIDDEN)] = -1;
        break;
    default:
        break;
    }
}

/* out = in / 2 + 1 */
TG_KERNEL(mistakes_step)
{
    const float *in = TG_ARG(ctx, 0, const float);
    float *out = TG_ARG(ctx, 1, float);
    int64_t n = tg_arg_numel(ctx, 1), step = tg_arg_i64(ctx, 0);
    bool is_mine = in[n + 1] == (float)step;
    bool writes = !is_mine || in[n] != MISTAKE_UNWRITTEN;
    TG_FOR(i, n)
        if (writes)
            out[i] = in[i] / 2 + 1;
    TG_BARRIER(); /* the mistake changes what is written already */
    TG_FOR(once, 1) {
        out[n] = in[n];
        out[n + 1] = in[n + 1];
        if (is_mine)
            make_mistake((enum mistake)(int)in[n], out, n, step);
    }
}

/* y = a + b */
TG_KERNEL(mistakes_join)
{
    const float *a = TG_ARG(ctx, 0, const float);
    const float *b = TG_ARG(ctx, 1, const float);
    float *y = TG_ARG(ctx, 2, float);
    TG_FOR(i, tg_arg_numel(ctx, 2))
        y[i] = a[i] + b[i];
}
