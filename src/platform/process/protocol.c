/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/process/protocol.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { MOST_TRIES = 50 };

bool tg_process_try_again(int cause, int *tries)
{
    if (cause == EINTR)
        return true;
    if ((cause != ENOMEM && cause != ENOBUFS && cause != EIO) || ++*tries > MOST_TRIES)
        return false;
    (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    errno = cause;
    return true;
}

int tg_process_send(int fd, const struct tg_process_message *message)
{
    size_t size = TG_PROCESS_MESSAGE_HEAD + strnlen(message->text, sizeof message->text - 1) + 1;
    ssize_t sent;
    int tries = 0;
    do
        sent = send(fd, message, size, MSG_NOSIGNAL);
    while (sent < 0 && tg_process_try_again(errno, &tries));
    return sent == (ssize_t)size ? 0 : -1;
}

int tg_process_receive(int fd, struct tg_process_message *message, int flags)
{
    ssize_t got;
    int tries = 0;
    do
        got = recv(fd, message, sizeof *message, flags);
    while (got < 0 && tg_process_try_again(errno, &tries));
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
