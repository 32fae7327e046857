/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TG_TEST_COMM_MISTAKES_H
#define TG_TEST_COMM_MISTAKES_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { COMM_TOUCH = 0, COMM_KERNELS = 1 };
enum { COMM_SMALL = 840, COMM_LARGE = 1 << 18 };

TG_KERNEL(comm_touch);
TG_ORCHESTRATION(comm_orchestrate);

#endif
