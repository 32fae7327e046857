/* SPDX-License-Identifier: Apache-2.0 */
/* The results of an execution: the tensors that its case declared as outputs, copied from the
 * device. */
#ifndef TASKGLASS_OUTPUTS_H
#define TASKGLASS_OUTPUTS_H

#include <taskglass/execute.h>
#include <taskglass/wire/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An output of an execution. It lives as long as the execution. */
struct tg_output {
    const char *name;
    uint32_t dtype; /* enum tg_dtype */
    uint32_t ndim;
    int64_t shape[TG_MAX_DIMS];
    const void *bytes; /* row-major and packed */
    uint64_t size;
};
/* Output `number` in the order of the case's declarations; its pointers live as long as the execution.
 * False past the last, and for every number if the run did not finish. */
TG_API bool tg_execution_output(const struct tg_execution *execution, uint32_t number,
                                struct tg_output *output);

#ifdef __cplusplus
}
#endif
#endif
