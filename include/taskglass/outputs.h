/* SPDX-License-Identifier: Apache-2.0 */
/* What an execution computed: the tensors that its case declared as outputs, as they came off the
 * device. */
#ifndef TASKGLASS_OUTPUTS_H
#define TASKGLASS_OUTPUTS_H

#include <taskglass/execute.h>
#include <taskglass/wire/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tg_output {
    const char *name;
    uint32_t dtype; /* enum tg_dtype */
    uint32_t ndim;
    int64_t shape[TG_MAX_DIMS];
    const void *bytes; /* row-major and packed */
    uint64_t size;
};
/* Output `number` in the order of the case's declarations, as long as the execution lives. False past
 * the last, and for all where the run did not come to an end. */
TG_API bool tg_execution_output(const struct tg_execution *execution, uint32_t number,
                                struct tg_output *output);

#ifdef __cplusplus
}
#endif
#endif
