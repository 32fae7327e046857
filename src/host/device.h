/* SPDX-License-Identifier: Apache-2.0 */
/* An open device, as the rest of the host's code sees it. */
#ifndef TG_HOST_DEVICE_H
#define TG_HOST_DEVICE_H

#include "host/record_need.h"
#include "platform/platform.h"
#include <pthread.h>
#include <taskglass/device.h>

struct tg_comm;
struct tg_run;

struct tg_device {
    const struct tg_platform_ops *ops;
    void *state;
    struct tg_control_head head; /* copied and checked at open */
    uint64_t control;            /* the head's address on the device */
    uint32_t n_kernels;          /* numbers given to kernels so far */
    struct tg_module *modules;   /* a list; the device owns it */
    struct tg_run *run;          /* the current run or NULL; written under the lock */
    pthread_mutex_t cancelling;  /* the lock: a cancel must not reach a later run */
    bool lost;
    struct tg_comm *comm; /* the job that it belongs to; NULL: none */
    bool owns_comm;
    struct tg_stream_room
        stream_room; /* of the streams of the next graph that is not known before it runs */
    bool orchestrates_beside; /* runs whose orchestration can run beside the device do so */
    uint32_t poison; /* fills the memory of tensors when it is handed out: TG_POISON; 0: none */
};

/* tg_device_open for a caller that may want to give up while the device starts, or loads a module:
 * CANCELLED, and the device is lost. What `watch` refers to lives as long as the device. */
tg_status tg_device_open_watched(const struct tg_device_config *config, struct tg_watch watch,
                                 struct tg_device **device, struct tg_error *error);

/* Says that the host will soon write all of this range, which tg_device_map shows. */
void tg_device_expect(struct tg_device *device, uint64_t address, uint64_t size);

/* Allocates memory for the host's own structures: as tg_device_alloc, but never poisoned. */
tg_status tg_device_alloc_own(struct tg_device *device, uint64_t bytes, uint64_t *address,
                              struct tg_error *error);

/* Allocates memory that the host can read while the device writes it. A platform without such
 * memory allocates as tg_device_alloc does. Free either kind with tg_device_free. */
tg_status tg_device_alloc_shared(struct tg_device *device, uint64_t bytes, uint64_t *address,
                                 struct tg_error *error);

/* OK if the device can be used now; otherwise BUSY or DEVICE_LOST. */
tg_status tg_device_ready(const struct tg_device *device, struct tg_error *error);

/* Sets the current run; NULL when it has ended. */
void tg_device_set_run(struct tg_device *device, struct tg_run *run);
/* Stops that run if it is still the current one. Any thread may call this. */
void tg_device_cancel(struct tg_device *device, const struct tg_run *run);

/* The number of workers. Their order: lanes, then schedulers, then the orchestrator. */
uint32_t tg_device_workers(const struct tg_device *device);
/* Reads the status of all workers; `status` has one element per worker. */
tg_status tg_device_read_status(struct tg_device *device, struct tg_worker_status *status,
                                struct tg_error *error);
/* Between runs: overwrites the last run's status. `zeros` has one element per worker. */
tg_status tg_device_clear_status(struct tg_device *device, const struct tg_worker_status *zeros,
                                 struct tg_error *error);

#endif
