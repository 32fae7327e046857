/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device with a workload's module on which recorded tasks run alone, one after another. The replay of one
 * task has one stage; the replay of all tasks has one in each lane. One thread uses a stage at a time.
 */
#ifndef TG_HOST_REPLAY_STAGE_H
#define TG_HOST_REPLAY_STAGE_H

#include "host/guarded.h"
#include "host/plan.h"
#include "host/recorded_task.h"
#include "host/trust.h"
#include <taskglass/replay.h>

struct tg_replay_stage {
    const struct tg_plan *plan;
    const struct tg_trusted *trusted; /* the module's file; this process has loaded it before */
    /* The device and its module, which are NULL while the stage is closed, and who may stop a run. */
    struct tg_guard_bench bench;
    struct tg_graph *graph;
    uint64_t served; /* tasks that ran on this device */
    uint64_t opened; /* devices, so far */
};

/* `stop` may be NULL. It is asked often, on the thread that uses the stage. */
void tg_replay_stage_init(struct tg_replay_stage *stage, const struct tg_plan *plan,
                          const struct tg_trusted *trusted, int (*stop)(void *context),
                          void *stop_context);
/* Opens the device and loads the module, unless that is done. The statuses are those of tg_device_open and
 * tg_device_load; NOT_TRUSTED: the file is another one by now; CANCELLED. */
tg_status tg_replay_stage_open(struct tg_replay_stage *stage, struct tg_error *error);
/* Closes the device; the next open makes a fresh one. */
void tg_replay_stage_close(struct tg_replay_stage *stage);

/*
 * Runs the task `repeat` times on the open stage and compares its outputs with the recording, and each run's
 * with the first one's. `more`: if they differ, runs the task that often again, to see whether they vary.
 * Sets all of *result but the platform. NOT_FOUND: the module lacks the kernel; BAD_ARGUMENT: the arguments
 * do not fit it; CANCELLED; NO_MEMORY; other statuses are those of tg_run_wait. A device that is lost
 * afterwards is left open.
 */
tg_status tg_replay_stage_run(struct tg_replay_stage *stage, const struct tg_recorded_task *task,
                              uint32_t repeat, uint32_t more, struct tg_replay_result *result,
                              struct tg_error *error);

/* Why no tasks of this kind can be judged although they may run: the recording may lack arguments. "" if
 * nothing is missing. `was_filtered`: the run was recorded with --dump-filter. */
void tg_replay_stage_lacks(const struct tg_replay_stage *stage, const struct tg_recorded_task *task,
                           bool was_filtered, char *text, size_t size);

#endif
