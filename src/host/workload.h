/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what a module exports can be trusted to be a workload. */
#ifndef TG_HOST_WORKLOAD_H
#define TG_HOST_WORKLOAD_H

#include <taskglass/status.h>
#include <taskglass/workload.h>

/* More than any module has; a larger count is garbage read as a number. */
enum { TG_WORKLOAD_MAX_KERNELS = 4096, TG_WORKLOAD_MAX_CASES = 4096 };

/* ABI_MISMATCH or BAD_ARGUMENT, naming the module and what is wrong with it. */
tg_status tg_workload_check(const struct tg_workload *workload, const char *path,
                            struct tg_error *error);

#endif
