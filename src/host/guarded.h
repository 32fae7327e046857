/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs recorded tasks with guards around their tensors (taskglass/guard.h). host/guard.h is something else:
 * it protects this process from functions of a workload.
 *
 *     struct tg_guarded *guarded;
 *     tg_guarded_open(&bench, &guarded, error)          bench: an open device, and how to get another
 *     for each task:
 *         tg_guarded_run(guarded, &task, &report, error)
 *     tg_guarded_close(guarded)                         before the device is closed
 *
 * One thread at a time uses it, with its device.
 */
#ifndef TG_HOST_GUARDED_H
#define TG_HOST_GUARDED_H

#include "host/recorded_task.h"
#include <taskglass/guard.h>
#include <taskglass/run.h>

/* A device with its module. A kernel that faults takes the device with it, so the owner can make another. */
struct tg_guard_bench {
    struct tg_device *device;
    struct tg_module *module;
    const struct tg_run_config *run; /* limits of each run; no recording, no trace */
    /* Closes `device`, which is lost, opens another, loads the module, and sets both members. The guarded
     * tasks have freed what they had on the old one. After an error both are NULL. */
    tg_status (*reopen)(struct tg_guard_bench *bench, struct tg_error *error);
    void *context; /* of the owner */
    /* Asked often, on the caller's thread; a return other than 0 cancels. May be NULL. */
    int (*stop)(void *context);
    void *stop_context;
};

struct tg_guarded;

/* The bench outlives *guarded. NO_MEMORY. */
tg_status tg_guarded_open(struct tg_guard_bench *bench, struct tg_guarded **guarded,
                          struct tg_error *error);
/* Frees what it has on the device, and the rest. To be called before somebody else closes the bench's device.
 * NULL is allowed; so is a bench without a device. */
void tg_guarded_close(struct tg_guarded *guarded);

/*
 * Runs the task. OK: it was judged, and `report` says what was found; a kernel that faults or hangs is a
 * finding. NO_MEMORY: the device has not enough memory for its tensors with their zones. BAD_ARGUMENT: its
 * arguments are none that its kernel takes. CANCELLED. Other statuses are those of a device that cannot be
 * opened again.
 */
tg_status tg_guarded_run(struct tg_guarded *guarded, const struct tg_recorded_task *task,
                         struct tg_guard_report *report, struct tg_error *error);

#endif
