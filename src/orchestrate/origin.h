/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the task that wrote an element last, for the record of a value that the orchestration has read.
 * It looks at the arguments of the tasks in the slots, newest first, because the tensor map forgets
 * tasks that have completed. Only the orchestrator's thread uses it, and only in recorded runs.
 */
#ifndef TG_ORCHESTRATE_ORIGIN_H
#define TG_ORCHESTRATE_ORIGIN_H

#include "orchestrate/orchestrator.h"

struct tg_origin {
    struct tg_task_desc
        task;          /* id TG_TASK_NONE and no kernels: no task is known to have written it */
    uint32_t argument; /* of the task; TG_ARG_UNKNOWN: it was not found among its outputs */
};

/* `producer` is the task that the orchestration named, or TG_TASK_NONE. Call it when the tasks that
 * write the element have completed. */
TG_FN void tg_origin_find(const struct tg_orchestrator *self, const struct tg_region *element,
                          uint64_t producer, struct tg_origin *origin);

#endif
