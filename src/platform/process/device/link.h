/* SPDX-License-Identifier: Apache-2.0 */
/* A device process's end of the socket: what every such process does the same way. */
#ifndef TG_PROCESS_DEVICE_LINK_H
#define TG_PROCESS_DEVICE_LINK_H

#include "platform/process/protocol.h"
#include <taskglass/status.h>

/* Waits for INIT, and closes what the host's program had open above `last_fd`. Gives the host's
 * pidfd (or -1), by which its death is seen. Does not return to a program that no library has
 * started: `name` says who it is. */
int tg_link_open(const char *name, int last_fd, struct tg_process_message *init);
/* The next message. The host's death ends the process here. */
void tg_link_listen(int host, struct tg_process_message *message);
/* Sends the message back as an answer of that type. */
__attribute__((format(printf, 4, 5))) void tg_link_reply(struct tg_process_message *message,
                                                         uint32_t type, tg_status status,
                                                         const char *format, ...);
/* The run has ended. */
void tg_link_done(int stopped);
/* Memory that the host has made, at the address it has reserved, so that a device pointer means
 * nothing there; NULL with errno. */
char *tg_link_map(const struct tg_process_message *init);

#endif
