/* SPDX-License-Identifier: Apache-2.0 */
/* The host's end of a device that is a process. a2a3sim maps the device's memory, a5sim copies it.
 * A GPU also has memory of its own; there the process copies bytes for the host. */
#ifndef TG_PROCESS_PROCESS_H
#define TG_PROCESS_PROCESS_H

#include "platform/platform.h"

/* With `mapped`, the host maps device memory too. */
tg_status tg_process_open(const struct tg_platform_config *config, bool mapped, void **state,
                          struct tg_error *error);
void tg_process_close(void *state);
void tg_process_describe(const void *state, struct tg_platform_about *about);
tg_status tg_process_alloc(void *state, uint64_t bytes, uint64_t *address, struct tg_error *error);
tg_status tg_process_free(void *state, uint64_t address, struct tg_error *error);
tg_status tg_process_load(void *state, const char *path, uint32_t first, uint32_t count,
                          struct tg_error *error);
tg_status tg_process_launch(void *state, const struct tg_platform_launch *launch,
                            struct tg_error *error);
enum tg_poll tg_process_poll(void *state, int milliseconds);
int tg_process_calls_fd(void *state);
enum tg_call_taken tg_process_take_call(void *state, struct tg_comm_post *post);
bool tg_process_calls_sleep(void *state, bool sleeps);
bool tg_process_calls_unheard(void *state);
tg_status tg_process_call_done(void *state, uint32_t slot, struct tg_error *error);
void tg_process_cancel(void *state);
void tg_process_locate(void *state);
/* For devices that are processes and map their memory: the simulators. */
tg_status tg_process_protect(void *state, const struct tg_protection *piece, uint32_t count,
                             struct tg_error *error);
void tg_process_kill(void *state);
void tg_process_autopsy(void *state, struct tg_autopsy *autopsy);

/* For platforms that map device memory. */
void *tg_process_map(void *state, uint64_t address, uint64_t size);
void tg_process_expect(void *state, uint64_t address, uint64_t size);
tg_status tg_process_write_mapped(void *state, uint64_t address, const void *bytes, uint64_t size,
                                  struct tg_error *error);
tg_status tg_process_read_mapped(void *state, void *bytes, uint64_t address, uint64_t size,
                                 struct tg_error *error);
/* For platforms that copy through the memory's file. */
tg_status tg_process_write_copied(void *state, uint64_t address, const void *bytes, uint64_t size,
                                  struct tg_error *error);
tg_status tg_process_read_copied(void *state, void *bytes, uint64_t address, uint64_t size,
                                 struct tg_error *error);

/* The slots that every device process shares, and those that the simulators share too. */
#define TG_PROCESS_START_OPS                                                                 \
    .abi = TG_PLATFORM_ABI, .size = sizeof(struct tg_platform_ops), .load = tg_process_load, \
    .launch = tg_process_launch, .poll = tg_process_poll, .cancel = tg_process_cancel,       \
    .kill = tg_process_kill, .autopsy = tg_process_autopsy, .calls_fd = tg_process_calls_fd, \
    .take_call = tg_process_take_call, .call_done = tg_process_call_done,                    \
    .calls_sleep = tg_process_calls_sleep, .calls_unheard = tg_process_calls_unheard
#define TG_PROCESS_COMMON_OPS                                                         \
    TG_PROCESS_START_OPS, .close = tg_process_close, .describe = tg_process_describe, \
                          .alloc = tg_process_alloc, .free = tg_process_free,         \
                          .locate = tg_process_locate, .protect = tg_process_protect

#endif
