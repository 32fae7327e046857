/* SPDX-License-Identifier: Apache-2.0 */
/* a2a3sim: the host sees device memory through its own mapping. */
#include "platform/process/process.h"

static tg_status open_mapped(const struct tg_platform_config *config, void **state,
                             struct tg_error *error)
{
    return tg_process_open(config, true, state, error);
}

const struct tg_platform_ops tg_platform_a2a3sim = {
    .name = "a2a3sim",
    .summary = "simulated device whose memory the host sees",
    .program = "taskglass-device",
    .max_blocks = 24,
    .max_schedulers = 4,
    .open = open_mapped,
    .copy_in = tg_process_write_mapped,
    .copy_out = tg_process_read_mapped,
    .map = tg_process_map,
    .expect = tg_process_expect,
    TG_PROCESS_COMMON_OPS,
};
