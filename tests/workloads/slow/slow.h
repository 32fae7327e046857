/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this workload share. */
#ifndef SLOW_H
#define SLOW_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { SLOW_WAIT, SLOW_KERNELS };

TG_KERNEL(slow_wait);
TG_ORCHESTRATION(slow);

#endif
