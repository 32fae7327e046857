/* SPDX-License-Identifier: Apache-2.0 */
/* Explains why common/task_check.h refuses a task; every builder of graphs uses it. */
#ifndef TG_HOST_TASK_CHECK_H
#define TG_HOST_TASK_CHECK_H

#include "host/module.h"

/* BAD_ARGUMENT with a message, or OK if the task is valid. `task` is the id it would get. */
tg_status tg_task_explain(const struct tg_module *module, const uint32_t kernel[TG_PARTS],
                          const struct tg_args *args, uint64_t task, struct tg_error *error);
/* The same for one thing alone: that the task's tensors are in device memory. */
tg_status tg_task_explain_memory(const struct tg_module *module, const uint32_t kernel[TG_PARTS],
                                 const struct tg_tensor *tensors, uint32_t n, uint64_t task,
                                 struct tg_error *error);
/* Why a tensor is none: "slice 240:496 of dimension 0 is outside shape (256, 32)", from the numbers that
 * tg_tensor_refuse has kept. */
void tg_tensor_none_text(const struct tg_tensor *tensor, char *text, size_t size);
/* False for a host pointer or another device's address. */
bool tg_tensor_is_in_memory(const struct tg_module *module, const struct tg_tensor *tensor);
/* As tg_task_explain, for the arguments of an orchestration. */
tg_status tg_orchestration_args_explain(const struct tg_args *args, struct tg_error *error);

#endif
