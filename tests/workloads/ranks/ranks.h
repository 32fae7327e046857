/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TG_TEST_RANKS_H
#define TG_TEST_RANKS_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

TG_KERNEL(ranks_mix);
TG_ORCHESTRATION(ranks_orchestrate);

#endif
