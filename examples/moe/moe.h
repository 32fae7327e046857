/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the files of this workload share. The network is quantised, as inference often
 * is: tokens and weights are int8, sums int32. Integers do not round, so the gate sends every token
 * to the same expert on any device and in the golden values, and outputs are the same bit for bit.
 */
#ifndef MOE_H
#define MOE_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { MOE_GATE, MOE_ROUTE, MOE_EXPERT, MOE_COMBINE, MOE_KERNELS };

/* Expert tasks of one layer, at most: the orchestration keeps the id of each. */
enum { MAX_EXPERT_TASKS = 256 };

/* Values of tokens and of the hidden layer are from -INT8_LIMIT to INT8_LIMIT. */
enum { INT8_LIMIT = 127 };

/* The weight of an expert's answer, in units of 1/GATE_ONE: half if another expert was equally
 * good, and all if its lead, divided like all sums, is at least GATE_ONE / 2. This is a hard
 * sigmoid of the lead. */
enum { GATE_ONE = 256 };

TG_KERNEL(moe_gate);
TG_KERNEL(moe_route);
TG_KERNEL(moe_expert);
TG_KERNEL(moe_combine);
TG_ORCHESTRATION(moe);

#endif
