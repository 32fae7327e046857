/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef HANGS_H
#define HANGS_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

/* constant, case, what it is */
#define HANGS_MAP(X)                                                                       \
    X(HANGS_none, none, "nothing hangs")                                                   \
    X(HANGS_mix_core, mix_core, "a mix waits for a core whose kernel does not return")     \
    X(HANGS_result, result, "the orchestration reads a value of a task behind a hung one") \
    X(HANGS_join, join, "a task waits for one hung task and one that has finished")        \
    X(HANGS_both, both, "a kernel and the orchestration both compute for ever")            \
    X(HANGS_beside, beside, "the orchestration reads a value of a task beside a hung one")

#define HANGS_ENUM(constant, name, text) constant,
enum { HANGS_MAP(HANGS_ENUM) HANGS_CASES };
#undef HANGS_ENUM

enum { HANGS_STEP, HANGS_SPIN, HANGS_GATE, HANGS_PART_AIC, HANGS_PART_AIV, HANGS_KERNELS };

TG_KERNEL(hangs_step);
TG_KERNEL(hangs_spin);
TG_KERNEL(hangs_gate);
TG_KERNEL(hangs_part_aic);
TG_KERNEL(hangs_part_aiv);
TG_ORCHESTRATION(hangs);

#endif
