/* SPDX-License-Identifier: Apache-2.0 */
/* The host's end of a simulated device; a2a3sim and a5sim differ in how they reach its memory. */
#ifndef TG_SIM_SIM_H
#define TG_SIM_SIM_H

#include "platform/platform.h"

/* With `mapped`, the host maps device memory too. */
tg_status tg_sim_open(const struct tg_platform_config *config, bool mapped, void **state,
                      struct tg_error *error);
void tg_sim_close(void *state);
void tg_sim_describe(const void *state, uint64_t *control, uint64_t *memory_used, int *pid);
tg_status tg_sim_alloc(void *state, uint64_t bytes, uint64_t *address, struct tg_error *error);
tg_status tg_sim_free(void *state, uint64_t address, struct tg_error *error);
tg_status tg_sim_load(void *state, const char *path, uint32_t first, uint32_t count,
                      struct tg_error *error);
tg_status tg_sim_launch(void *state, uint64_t launch, struct tg_error *error);
enum tg_poll tg_sim_poll(void *state, int milliseconds);
void tg_sim_cancel(void *state);
void tg_sim_kill(void *state);
void tg_sim_autopsy(void *state, struct tg_autopsy *autopsy);

/* Through the host's mapping. */
void *tg_sim_map(void *state, uint64_t address, uint64_t size);
tg_status tg_sim_write_mapped(void *state, uint64_t address, const void *bytes, uint64_t size,
                              struct tg_error *error);
tg_status tg_sim_read_mapped(void *state, void *bytes, uint64_t address, uint64_t size,
                             struct tg_error *error);
/* Without one. */
tg_status tg_sim_write_copied(void *state, uint64_t address, const void *bytes, uint64_t size,
                              struct tg_error *error);
tg_status tg_sim_read_copied(void *state, void *bytes, uint64_t address, uint64_t size,
                             struct tg_error *error);

/* What every device that is a process has in common, and what simulated ones have besides. */
#define TG_SIM_START_OPS                                                                        \
    .abi = TG_PLATFORM_ABI, .size = sizeof(struct tg_platform_ops), .load = tg_sim_load,        \
    .launch = tg_sim_launch, .poll = tg_sim_poll, .cancel = tg_sim_cancel, .kill = tg_sim_kill, \
    .autopsy = tg_sim_autopsy
#define TG_SIM_COMMON_OPS                                                                        \
    TG_SIM_START_OPS, .close = tg_sim_close, .describe = tg_sim_describe, .alloc = tg_sim_alloc, \
                      .free = tg_sim_free

#endif
