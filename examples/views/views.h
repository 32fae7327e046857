/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef VIEWS_H
#define VIEWS_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { VIEWS_COPY, VIEWS_ADD, VIEWS_SUM, VIEWS_KERNELS };

TG_KERNEL(views_copy);
TG_KERNEL(views_add);
TG_KERNEL(views_sum);
TG_ORCHESTRATION(views);

#endif
