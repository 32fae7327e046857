/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that only schedules: it gives tasks to its blocks' lanes, and completes the tasks that
 * they ran. */
#ifndef TG_DEVICE_SCHEDULER_H
#define TG_DEVICE_SCHEDULER_H

#include "device/engine.h"

TG_FN void tg_scheduler_loop(struct tg_engine *e, struct tg_worker *scheduler);

#endif
