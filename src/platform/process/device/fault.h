/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a record of a crash into device memory before the process ends, and says where kernels are. */
#ifndef TG_PROCESS_DEVICE_FAULT_H
#define TG_PROCESS_DEVICE_FAULT_H

#include "device/engine.h"
#include <pthread.h>
#include <taskglass/wire/device.h>

/* Installs the signal handlers. Call it once, before any worker starts. `others`: whether the crash of a
 * thread that is no worker is recorded too; else it ends the process as if there were no handlers. */
void tg_fault_install(struct tg_control_head *head, bool others);
/* Each worker's thread calls this: tells the handler which thread it is, and gives it a stack to run
 * on. The handler asks the engine for the lane that the thread acts for. 0, or -1 with errno. */
int tg_fault_watch_thread(struct tg_engine *engine, uint32_t thread);

/* From now on the report of a crash can name places in the module that has this address. To be called once
 * for each module, in the order in which they are loaded. */
void tg_fault_add_module(const void *address);
/* Asks a worker's thread to write into its status where its kernel is. The answer comes soon, or never if
 * the kernel has blocked the signal. */
void tg_fault_locate(pthread_t thread);

#endif
