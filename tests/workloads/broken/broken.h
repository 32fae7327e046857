/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BROKEN_H
#define BROKEN_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

TG_KERNEL(broken_copy);
TG_ORCHESTRATION(broken_orchestrate);

#endif
