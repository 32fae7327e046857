/* SPDX-License-Identifier: Apache-2.0 */
/* Last words: a crash is written into device memory before the process ends. */
#ifndef TG_SIM_FAULT_H
#define TG_SIM_FAULT_H

#include <taskglass/wire/device.h>

/* Once, before any worker starts. */
void tg_fault_install(struct tg_control_head *head);
/* In each worker's thread: who it is, and a stack to die on. 0, or -1 with errno. */
int tg_fault_watch_thread(uint32_t worker, const struct tg_worker_status *status);

#endif
