/* SPDX-License-Identifier: Apache-2.0 */
#include "slow.h"

/* One task per element of the output, independent or in one chain. */
TG_ORCHESTRATION(slow)
{
    struct tg_tensor runs = args->tensor[0];
    int64_t nanoseconds = (int64_t)args->scalar[0].bits;
    bool chain = args->scalar[1].bits != 0;
    uint64_t last = TG_TASK_NONE;

    for (int64_t i = 0; i < runs.shape[0]; i++) {
        struct tg_args task;
        tg_args_init(&task);
        tg_args_inout(&task, tg_tensor_slice(runs, 0, i, i + 1, 1));
        tg_args_i64(&task, nanoseconds);
        tg_args_after(&task, last);
        uint64_t id = tg_submit(rt, SLOW_WAIT, &task);
        last = chain ? id : TG_TASK_NONE;
    }
}
