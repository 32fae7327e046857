/* SPDX-License-Identifier: Apache-2.0 */
/* The job that a device belongs to (taskglass/comm.h). A device that has joined none is rank 0 of 1; if
 * its workload communicates, its first run makes it a job of one rank. */
#ifndef TG_HOST_DEVICE_COMM_H
#define TG_HOST_DEVICE_COMM_H

#include "comm/comm.h"
#include "host/device.h"

uint32_t tg_device_rank(const struct tg_device *device);
uint32_t tg_device_ranks(const struct tg_device *device);

/* The job of the device; makes one of one rank if it has none. */
tg_status tg_device_want_comm(struct tg_device *device, struct tg_comm **comm,
                              struct tg_error *error);
/* When the device is closed. */
void tg_device_leave(struct tg_device *device);

#endif
