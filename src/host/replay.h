/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that replay, bundle and reference check share. */
#ifndef TG_HOST_REPLAY_H
#define TG_HOST_REPLAY_H

#include "host/guard.h"
#include "host/recorded_task.h"
#include "host/trust.h"

/* The names of the task's kernels, joined with "+": "mat+vec". */
void tg_replay_kernel_names(const struct tg_recorded_task *task, char *text, size_t size);

/* The numbers of the task's kernels in the module. NOT_FOUND: it lacks one. */
tg_status tg_replay_find_kernels(const struct tg_recorded_task *task,
                                 const struct tg_module *module, uint32_t kernel[TG_PARTS],
                                 struct tg_error *error);

/* The memory that the user gave the device; 0 if it is the default. A task may take as much, however small
 * its recording is. */
uint64_t tg_replay_allowed_memory(const struct tg_settings *settings);

/* Loads the module into this process, in the guard, because that runs its constructors; tg_device_load then
 * finds it loaded. Unload it after the last device is closed. With a guard it stays loaded, because nobody
 * guards its destructors. */
tg_status tg_replay_load(const struct tg_trusted *module, const struct tg_guard *guard,
                         void **library, struct tg_error *error);
void tg_replay_unload(const struct tg_guard *guard, void *library);

/* No task is in the recording. True if that is an answer, because the run had none; otherwise *reason says
 * why it is not. */
bool tg_replay_had_no_tasks(const struct tg_recording *recording, char *reason, size_t room);

#endif
