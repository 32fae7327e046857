/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a case, private to case.c (which opens, runs and closes it) and case_ops.c (the
 * operations that a workload calls). */
#ifndef TG_HOST_CASE_STATE_H
#define TG_HOST_CASE_STATE_H

#include <setjmp.h>

#include "host/case_params.h"

enum tg_case_stage { TG_CASE_IDLE, TG_CASE_IN_PREPARE, TG_CASE_IN_GOLDEN };

struct tg_case_host {
    struct tg_case base; /* must be first: the workload's pointer is cast back */
    const struct tg_workload *workload;
    const struct tg_case_def *def;
    struct tg_case_params params;
    struct tg_case_tensor tensor[TG_MAX_TENSORS];
    struct tg_case_scalar scalar[TG_MAX_SCALARS];
    uint32_t n_tensors;
    uint32_t n_scalars;
    uint32_t rank, ranks; /* of the job; a device alone is rank 0 of 1 */
    uint64_t memory_limit;
    uint64_t memory;
    enum tg_case_stage stage;
    struct tg_error error;
    jmp_buf leave;
};

extern const struct tg_case_ops tg_case_host_ops;

#endif
