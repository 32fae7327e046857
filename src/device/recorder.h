/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder. The lane that runs a task calls it before the kernel and after it, so that
 * recording scales with the cores and costs the schedulers nothing. What it costs while it is off is
 * said in device/trace.h.
 */
#ifndef TG_DEVICE_RECORDER_H
#define TG_DEVICE_RECORDER_H

#include "device/engine.h"

/* Records those of the task's arguments that the setup asks for at this stage. */
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

/* Records a value that the orchestration has read (wire/record.h). `desc` is the task that wrote it, or
 * one without kernels whose id is TG_TASK_NONE; `argument` may be TG_ARG_UNKNOWN. */
TG_FN void tg_record_read(struct tg_engine *e, struct tg_stream *stream,
                          const struct tg_task_desc *desc, uint32_t argument,
                          const struct tg_tensor *element, uint64_t bits);

#endif
