/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory for the schedule of a run, laid out as wire/schedule.h says, and what the device leaves
 * there. */
#ifndef TG_HOST_SCHEDULE_AREA_H
#define TG_HOST_SCHEDULE_AREA_H

#include <taskglass/run.h>
#include <taskglass/wire/schedule.h>

struct tg_device;
struct tg_graph;

/* Zero: the run has no schedule. */
struct tg_schedule_area {
    struct tg_device *device;
    uint64_t address; /* of the setup */
    struct tg_schedule_setup setup;
    struct tg_order_pair *pairs; /* as on the device before the run */
    uint64_t *starts;            /* read after the run */
};

/* BAD_ARGUMENT: the schedule makes no sense; NO_MEMORY. A schedule that is NULL or has no policy makes an
 * area without memory, whose address is 0. */
tg_status tg_schedule_area_create(struct tg_device *device, const struct tg_schedule *schedule,
                                  struct tg_schedule_area *area, struct tg_error *error);
void tg_schedule_area_destroy(struct tg_schedule_area *area);

/* After the run: fills in result->schedule from the device's memory, with a warning about pairs that were
 * not kept or, after a run that succeeded, name tasks that the graph did not have. */
void tg_schedule_area_read(struct tg_schedule_area *area, const struct tg_graph *graph,
                           struct tg_run_result *result);

#endif
