/* SPDX-License-Identifier: Apache-2.0 */
/* a5sim: the host cannot see device memory and copies every byte. */
#include "platform/process/process.h"

static tg_status open_unmapped(const struct tg_platform_config *config, void **state,
                               struct tg_error *error)
{
    return tg_process_open(config, false, state, error);
}

const struct tg_platform_ops tg_platform_a5sim = {
    .name = "a5sim",
    .summary = "simulated device whose memory the host reaches only by copies",
    .program = "taskglass-device",
    .max_blocks = 36,
    .max_schedulers = 7,
    .open = open_unmapped,
    .copy_in = tg_process_write_copied,
    .copy_out = tg_process_read_copied,
    .map = NULL,
    TG_PROCESS_COMMON_OPS,
};
