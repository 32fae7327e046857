/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that replay, bundle and reference check share. */
#ifndef TG_HOST_REPLAY_H
#define TG_HOST_REPLAY_H

#include "host/recorded_task.h"

/* The names of the task's kernels, joined with "+": "mat+vec". */
void tg_replay_kernel_names(const struct tg_recorded_task *task, char *text, size_t size);

/* No task is in the recording. True if that is an answer, because the run had none; otherwise *reason says
 * why it is not. */
bool tg_replay_had_no_tasks(const struct tg_recording *recording, char *reason, size_t room);

#endif
