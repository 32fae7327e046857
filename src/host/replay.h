/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that replay, bundle and reference check share. */
#ifndef TG_HOST_REPLAY_H
#define TG_HOST_REPLAY_H

#include "host/recorded_task.h"

/* The names of the task's kernels, joined with "+": "mat+vec". */
void tg_replay_kernel_names(const struct tg_recorded_task *task, char *text, size_t size);
/* The workload's file: `given`, or the module that run.json names if `given` is NULL or "". */
tg_status tg_replay_module(const struct tg_recording *recording, const char *given, char *path,
                           size_t size, struct tg_error *error);

#endif
