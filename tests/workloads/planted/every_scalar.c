/* SPDX-License-Identifier: Apache-2.0 */
/* Every task gets a scalar that is one step off. */
#include "planted.h"

enum { WORK };
TG_KERNEL(work)
{
    const float *a = TG_ARG(ctx, 0, const float);
    float *b = TG_ARG(ctx, 1, float);
    float k = tg_arg_f32(ctx, 0);
    TG_FOR(i, N)
        b[i] = a[i] * k;
}
TG_ORCHESTRATION(planted)
{

    for (int s = 0; s < 8; s++) {
        struct tg_args t;
        tg_args_init(&t);
        tg_args_in(&t, args->tensor[X]);
        tg_args_out(&t, row_of(args, s));
        tg_args_f32(&t, (float)(s + (BAD ? 1 : 0)));
        tg_submit(rt, WORK, &t);
    }
}
PLANTED({"work", work, TG_AIV, "in:float32 out:float32 scalar:float32"});
