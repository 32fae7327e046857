/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a task, in words, for any builder of graphs (common/task_check.h has the test). */
#ifndef TG_HOST_TASK_CHECK_H
#define TG_HOST_TASK_CHECK_H

#include "host/module.h"

/* BAD_ARGUMENT, or OK where all is well with it. `task` is the id it would have had. */
tg_status tg_task_explain(const struct tg_module *module, const uint32_t kernel[TG_PARTS],
                          const struct tg_args *args, uint64_t task, struct tg_error *error);

#endif
