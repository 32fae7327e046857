/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a record of a crash into device memory before the process ends. */
#ifndef TG_SIM_FAULT_H
#define TG_SIM_FAULT_H

#include "device/engine.h"
#include <taskglass/wire/device.h>

/* Installs the signal handlers. Call it once, before any worker starts. */
void tg_fault_install(struct tg_control_head *head);
/* Each worker's thread calls this: tells the handler which thread it is, and gives it a stack to run
 * on. The handler asks the engine for the lane that the thread acts for. 0, or -1 with errno. */
int tg_fault_watch_thread(struct tg_engine *engine, uint32_t thread);

#endif
