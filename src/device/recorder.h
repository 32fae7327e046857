/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder: called by the lane that runs a task, before its kernel and after it, so that
 * recording scales with the cores and costs the schedulers nothing. Off, it is one load and one
 * branch per task (per stage for the parts of a mix).
 */
#ifndef TG_DEVICE_RECORDER_H
#define TG_DEVICE_RECORDER_H

#include "device/engine.h"

/* Records what the setup asks for of the task's arguments at this stage. */
TG_FN void tg_record_stage(struct tg_engine *e, struct tg_worker *lane, uint32_t task,
                           enum tg_stage stage);

TG_FN static inline bool tg_record_is_on(const struct tg_engine *e)
{
    return e->record != 0;
}

TG_FN static inline void tg_record(struct tg_engine *e, struct tg_worker *lane, uint32_t task,
                                   enum tg_stage stage)
{
    if (tg_record_is_on(e))
        tg_record_stage(e, lane, task, stage);
}

/* tg_core_call between its two stages, where the recorder is on. Out of line, so that a core
 * without one keeps nothing in registers for the second stage. */
TG_FN void tg_record_call(struct tg_engine *e, struct tg_worker *lane, uint32_t task,
                          uint32_t part);

#endif
