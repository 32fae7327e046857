/* SPDX-License-Identifier: Apache-2.0 */
/* What an open device is to the rest of the host's code. */
#ifndef TG_HOST_DEVICE_H
#define TG_HOST_DEVICE_H

#include "platform/platform.h"
#include <pthread.h>
#include <taskglass/device.h>

struct tg_run;

struct tg_device {
    const struct tg_platform_ops *ops;
    void *state;
    struct tg_control_head head; /* as it was at open, checked */
    uint64_t control;            /* its address */
    uint32_t n_kernels;          /* given out to modules so far */
    struct tg_module *modules;   /* a list; freed with the device */
    struct tg_run *run;          /* under way, or NULL; written under the lock */
    pthread_mutex_t cancelling;  /* the lock: a cancel goes to the run it was meant for */
    bool lost;
};

/* Memory that the device can write and the host see while it does, where the platform has such
 * memory; else as tg_device_alloc, whose sister it is: tg_device_free gives it back. */
tg_status tg_device_alloc_shared(struct tg_device *device, uint64_t bytes, uint64_t *address,
                                 struct tg_error *error);

/* OK, or what keeps the device from being used now: BUSY, DEVICE_LOST. */
tg_status tg_device_ready(const struct tg_device *device, struct tg_error *error);

/* The run that is under way, or NULL. */
void tg_device_set_run(struct tg_device *device, struct tg_run *run);
/* From any thread: stops that run, if it is still under way. */
void tg_device_cancel(struct tg_device *device, const struct tg_run *run);

/* Workers: lanes, then schedulers, then the orchestrator. */
uint32_t tg_device_workers(const struct tg_device *device);
/* Their status, read just now into an array of that many. */
tg_status tg_device_read_status(struct tg_device *device, struct tg_worker_status *status,
                                struct tg_error *error);
/* Between runs: the last one's status is forgotten. `zeros` is an array of that many. */
tg_status tg_device_clear_status(struct tg_device *device, const struct tg_worker_status *zeros,
                                 struct tg_error *error);

#endif
