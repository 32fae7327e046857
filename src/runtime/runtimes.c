/* SPDX-License-Identifier: Apache-2.0 */
/* All runtimes, in the order of enum tg_runtime_kind. A new one needs its row here. */
#include "host/runtime_ops.h"
#include <stddef.h>

extern const struct tg_runtime_ops tg_runtime_host_build_graph;
extern const struct tg_runtime_ops tg_runtime_aicpu_build_graph;
extern const struct tg_runtime_ops tg_runtime_tensormap_and_ringbuffer;

static const struct tg_runtime_ops *const runtimes[] = {
    [TG_RUNTIME_HOST_BUILD_GRAPH] = &tg_runtime_host_build_graph,
    [TG_RUNTIME_AICPU_BUILD_GRAPH] = &tg_runtime_aicpu_build_graph,
    [TG_RUNTIME_TENSORMAP_AND_RINGBUFFER] = &tg_runtime_tensormap_and_ringbuffer,
};

const struct tg_runtime_ops *tg_runtime_number(uint32_t number)
{
    return number < sizeof runtimes / sizeof runtimes[0] ? runtimes[number] : NULL;
}
