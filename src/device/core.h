/* SPDX-License-Identifier: Apache-2.0 */
/* Running kernels: one plain task, one part of a mix, and the loops of the lanes. */
#ifndef TG_DEVICE_CORE_H
#define TG_DEVICE_CORE_H

#include "device/engine.h"

/* Calls the kernel of one part of the task with the task's arguments, on this lane. */
TG_FN void tg_core_call(struct tg_engine *e, struct tg_worker *lane, uint32_t task, uint32_t part);

/* For whoever looks from outside, or after a crash. */
TG_FN void tg_core_say_running(struct tg_engine *e, struct tg_worker *lane, uint32_t task,
                               uint32_t part);

/* Puts a task into a lane's mail slot, which must be empty, and wakes the lane (S2). */
TG_FN void tg_core_post(struct tg_worker *lane, uint32_t task);

/* The loop of a core that schedules for itself, until the run is over. */
TG_FN void tg_core_loop_self(struct tg_engine *e, struct tg_worker *lane);
/* The loop of a lane that does what it is told through its mail slot. */
TG_FN void tg_core_loop_served(struct tg_engine *e, struct tg_worker *lane);

#endif
