/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of this workload share. */
#ifndef FAULTS_H
#define FAULTS_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

/* constant, case, core; the last three are only parts of mixes, and those whose names begin with
 * aic_ are what the others are, on the other kind of core */
#define FAULTS_MAP(X)                     \
    X(FAULT_NONE, none, TG_AIV)           \
    X(FAULT_NULL, null, TG_AIV)           \
    X(FAULT_SPIN, spin, TG_AIV)           \
    X(FAULT_ABORT, abort, TG_AIV)         \
    X(FAULT_FPE, fpe, TG_AIV)             \
    X(FAULT_STACK, stack, TG_AIV)         \
    X(FAULT_EXIT, exit, TG_AIV)           \
    X(FAULT_FAR, far, TG_AIV)             \
    X(FAULT_TRAP, trap, TG_AIV)           \
    X(FAULT_TENSOR, tensor, TG_AIV)       \
    X(FAULT_SCALAR, scalar, TG_AIV)       \
    X(FAULT_AIC_NONE, aic_none, TG_AIC)   \
    X(FAULT_AIC_SPIN, aic_spin, TG_AIC)   \
    X(FAULT_AIC_ABORT, aic_abort, TG_AIC) \
    X(FAULT_MIX_NULL, mix_null, TG_AIC)   \
    X(FAULT_MIX_SKIP, mix_skip, TG_AIC)   \
    X(FAULT_MIX_MEET, mix_meet, TG_AIV)

#define FAULTS_ENUM(constant, name, core) constant,
enum { FAULTS_MAP(FAULTS_ENUM) FAULTS_KERNELS };
#undef FAULTS_ENUM

/* The most bad tasks that run at the same time. */
enum { MAX_WIDTH = 64 };

/* kernels.c */
TG_KERNEL(fault_none);
TG_KERNEL(fault_null);
TG_KERNEL(fault_far);
TG_KERNEL(fault_trap);
TG_KERNEL(fault_tensor);
TG_KERNEL(fault_scalar);
TG_KERNEL(fault_spin);
TG_KERNEL(fault_aic_none);
TG_KERNEL(fault_aic_spin);
TG_KERNEL(fault_mix_null);
TG_KERNEL(fault_mix_skip);
TG_KERNEL(fault_mix_meet);

/* crash.c: only a process can do these; elsewhere they trap */
TG_KERNEL(fault_abort);
TG_KERNEL(fault_aic_abort);
TG_KERNEL(fault_fpe);
TG_KERNEL(fault_stack);
TG_KERNEL(fault_exit);

TG_ORCHESTRATION(faults);

#endif
