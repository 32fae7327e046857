/* SPDX-License-Identifier: Apache-2.0 */
#include "host/guarded.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>

struct tg_guarded {
    struct tg_guard_bench *bench;
};

tg_status tg_guarded_open(struct tg_guard_bench *bench, struct tg_guarded **guarded,
                          struct tg_error *error)
{
    *guarded = calloc(1, sizeof **guarded);
    if (*guarded == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    (*guarded)->bench = bench;
    return TG_OK;
}

void tg_guarded_close(struct tg_guarded *guarded)
{
    free(guarded);
}

tg_status tg_guarded_run(struct tg_guarded *guarded, const struct tg_recorded_task *task,
                         struct tg_guard_report *report, struct tg_error *error)
{
    (void)guarded;
    (void)task;
    memset(report, 0, sizeof *report);
    return tg_error_set(error, TG_UNSUPPORTED, "tasks cannot be replayed with guards yet");
}
