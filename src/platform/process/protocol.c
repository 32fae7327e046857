/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/process/protocol.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int tg_process_send(int fd, const struct tg_process_message *message)
{
    size_t size = TG_PROCESS_MESSAGE_HEAD + strnlen(message->text, sizeof message->text - 1) + 1;
    ssize_t sent;
    do
        sent = send(fd, message, size, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size ? 0 : -1;
}

int tg_process_receive(int fd, struct tg_process_message *message, int flags)
{
    ssize_t got;
    do
        got = recv(fd, message, sizeof *message, flags);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return (int)got;
    if ((size_t)got < TG_PROCESS_MESSAGE_HEAD) {
        errno = EPROTO;
        return -1;
    }
    message->text[(size_t)got - TG_PROCESS_MESSAGE_HEAD < sizeof message->text
                      ? (size_t)got - TG_PROCESS_MESSAGE_HEAD
                      : sizeof message->text - 1] = '\0';
    return 1;
}
