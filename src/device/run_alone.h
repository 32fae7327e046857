/* SPDX-License-Identifier: Apache-2.0 */
/* Running one plain task. Only device/target.h includes this: a target runs tasks with it, and it needs what a
 * target defines. */
#ifndef TG_DEVICE_RUN_ALONE_H
#define TG_DEVICE_RUN_ALONE_H

#include "device/trace.h"

/* Inlined, because saving registers for a call would be most of what the recorder costs where it is off. */
TG_FN static inline bool tg_core_run_alone(struct tg_engine *e, struct tg_worker *lane,
                                           uint32_t task)
{
    uint32_t part = tg_core_part_of(e->desc[task].task_class);
    bool finished = true;
    tg_core_say_running(e, lane, task, part);
    if (tg_is_watched(e))
        finished = tg_watch_call(e, lane, task, part);
    else
        tg_core_call(e, lane, task, part);
    tg_target_say_between(lane->status);
    return finished;
}

#endif
