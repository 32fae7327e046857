/* SPDX-License-Identifier: Apache-2.0 */
/* A device process's end of the socket, shared by all device programs. */
#ifndef TG_PROCESS_DEVICE_LINK_H
#define TG_PROCESS_DEVICE_LINK_H

#include "platform/process/protocol.h"
#include "sandbox/sandbox.h"
#include <taskglass/status.h>

/* Closes inherited descriptors above `last_fd` and waits for INIT. Returns the host's pidfd, which
 * shows the host's death, or -1. If the library did not start this program, prints a message with
 * the program's `name` and exits. */
int tg_link_open(const char *name, int last_fd, struct tg_process_message *init);
/* Enters the sandbox, if INIT asks for it, and puts what is in force into the message, for HELLO. To be
 * called before the process loads a module, and on its only thread. */
void tg_link_enter_sandbox(enum tg_sandbox_kind kind, struct tg_process_message *init);
/* Waits for the next message. Exits if the host dies. */
void tg_link_listen(int host, struct tg_process_message *message);
/* The same, but waits at most so many nanoseconds. False: there was no message. */
bool tg_link_hear(int host, struct tg_process_message *message, uint64_t nanoseconds);
/* Sends the message back as an answer of that type. */
__attribute__((format(printf, 4, 5))) void tg_link_reply(struct tg_process_message *message,
                                                         uint32_t type, tg_status status,
                                                         const char *format, ...);
/* Tells the host that the run has ended. The message says how, and nothing else is in it. */
void tg_link_done(int stopped);
/* The same from a platform that knows when its run began: as CLOCK_MONOTONIC says, in ns; and whether it
 * found the device's kernel waiting for it. */
void tg_link_done_begun(int stopped, uint64_t began, bool lingered);
/* Maps the shared memory, at the address that the host has reserved if that is free here, so that a
 * device pointer is never valid in the host. NULL with errno. */
char *tg_link_map(const struct tg_process_message *init);

#endif
