/* SPDX-License-Identifier: Apache-2.0 */
/* What a case is made of, for the two files that know: case.c (its life) and case_ops.c (what a
 * workload can ask of it). */
#ifndef TG_HOST_CASE_STATE_H
#define TG_HOST_CASE_STATE_H

#include <setjmp.h>

#include "host/case_params.h"

enum tg_case_stage { TG_CASE_IDLE, TG_CASE_IN_PREPARE, TG_CASE_IN_GOLDEN };

struct tg_case_host {
    struct tg_case base; /* first: the workload holds a pointer to it */
    const struct tg_workload *workload;
    const struct tg_case_def *def;
    struct tg_case_params params;
    struct tg_case_tensor tensor[TG_MAX_TENSORS];
    struct tg_case_scalar scalar[TG_MAX_SCALARS];
    uint32_t n_tensors;
    uint32_t n_scalars;
    uint64_t memory_limit;
    uint64_t memory;
    enum tg_case_stage stage;
    struct tg_error error;
    jmp_buf leave;
};

extern const struct tg_case_ops tg_case_host_ops;

#endif
