/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this workload share. The network is quantised, as inference often is: tokens
 * and weights are int8, sums int32. Integers do not round, so the gate sends every token to the
 * same expert on any device and in the golden values, and outputs are the same bit for bit.
 */
#ifndef MOE_H
#define MOE_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

enum { MOE_GATE, MOE_ROUTE, MOE_EXPERT, MOE_COMBINE, MOE_KERNELS };

/* Expert tasks of one layer: the orchestration keeps the id of each. */
enum { MAX_EXPERT_TASKS = 256 };

/* Values of tokens and of the hidden layer are from -INT8_LIMIT to INT8_LIMIT. */
enum { INT8_LIMIT = 127 };

/* How much an expert's answer counts, in units of 1/GATE_ONE: half if another expert was as good,
 * and all from a lead of GATE_ONE / 2 on, once the lead is divided as all sums are. This is a hard
 * sigmoid of the lead. */
enum { GATE_ONE = 256 };

TG_KERNEL(moe_gate);
TG_KERNEL(moe_route);
TG_KERNEL(moe_expert);
TG_KERNEL(moe_combine);
TG_ORCHESTRATION(moe);

#endif
