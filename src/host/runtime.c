/* SPDX-License-Identifier: Apache-2.0 */
/* The runtimes by name. */
#include <taskglass/execute.h>

static const struct tg_runtime_info runtimes[] = {
    {"host_build_graph", "the host builds the whole graph, then the device runs it", true},
    {"aicpu_build_graph", "the device builds the graph while tasks run, explicit edges", true},
    {"tensormap_and_ringbuffer", "the device builds the graph, edges found from tensors", true},
};

bool tg_runtime_get(uint32_t number, struct tg_runtime_info *info)
{
    if (number >= sizeof runtimes / sizeof runtimes[0])
        return false;
    *info = runtimes[number];
    return true;
}
