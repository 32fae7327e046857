/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the sources of this workload share. */
#ifndef WORKLOAD_NAME_KERNELS_H
#define WORKLOAD_NAME_KERNELS_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

/* A task names its kernel by its place in the table in cases.c. */
enum { WORKLOAD_NAME_SCALE, WORKLOAD_NAME_ADD, WORKLOAD_NAME_KERNELS };

TG_KERNEL(workload_name_scale);
TG_KERNEL(workload_name_add);
TG_ORCHESTRATION(workload_name_graph);

#endif
