/* SPDX-License-Identifier: Apache-2.0 */
/* The end of those who ask a run. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/limit.h"
#include "host/live_reply.h"

/* How long to wait for an answer, and the longest one that is taken. */
#define PATIENCE_SECONDS 5.0
enum { MOST_REPLY = 1 << 20, PIECE = 1 << 14 };

struct tg_live {
    int fd;
    char *reply;
    size_t room, got;
    struct tg_live_lists lists;
};

/* ── connecting ────────────────────────────────────────────────────────────────────────── */

/* Through the folder's descriptor, since the path may be longer than an address has room for. */
static int connect_in(int folder, int fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" TG_LIVE_SOCKET, folder);
    return connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
}

static tg_status explain(const char *dir, int cause, struct tg_error *error)
{
    switch (cause) {
    case ENOENT:
        return tg_error_set(error, TG_NOT_FOUND,
                            "no run answers in '%s': it has ended, has only begun, or was started "
                            "with --live=no",
                            dir);
    case ECONNREFUSED:
        return tg_error_set(error, TG_NOT_FOUND,
                            "the run in '%s' was killed, or runs on another machine", dir);
    case EAGAIN:
        return tg_error_set(error, TG_TIMED_OUT, "the run in '%s' does not answer; is it stopped?",
                            dir);
    default:
        return tg_file_error(error, "ask the run in", dir, cause);
    }
}

tg_status tg_live_open(const char *dir, struct tg_live **out, struct tg_error *error)
{
    TG_REFUSE_NULL(error, dir);
    TG_REFUSE_NULL(error, out);
    *out = NULL;
    int folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? tg_error_set(error, TG_NOT_FOUND, "there is no directory '%s'", dir)
                   : tg_file_error(error, "use directory", dir, errno);
    struct tg_live *live = calloc(1, sizeof *live);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int cause = live == NULL ? ENOMEM : fd < 0 ? errno : connect_in(folder, fd);
    close(folder);
    if (cause == 0) {
        live->fd = fd;
        *out = live;
        return TG_OK;
    }
    if (fd >= 0)
        close(fd);
    free(live);
    return cause == ENOMEM ? tg_file_no_memory(error) : explain(dir, cause, error);
}

void tg_live_close(struct tg_live *live)
{
    if (live == NULL)
        return;
    close(live->fd);
    free(live->reply);
    free(live);
}

/* ── asking ────────────────────────────────────────────────────────────────────────────── */

#define WORD(constant, number, word, meaning) word,
static size_t write_request(uint32_t sections, char *text, size_t room)
{
    static const char *const words[] = {TG_LIVE_SECTION_MAP(WORD)};
    size_t used = (size_t)snprintf(text, room, "{\"ask\": [\"status\"");
    for (unsigned i = 0; i < TG_LIVE_SECTIONS; i++)
        if ((sections >> i & 1) != 0)
            used += (size_t)snprintf(text + used, room - used, ", \"%s\"", words[i]);
    used += (size_t)snprintf(text + used, room - used, "]}\n");
    return used;
}
#undef WORD

static tg_status no_answer(struct tg_error *error)
{
    return tg_error_set(error, TG_TIMED_OUT, "no answer for %g s; is the run stopped?",
                        PATIENCE_SECONDS);
}

static tg_status has_ended(struct tg_error *error)
{
    return tg_error_set(error, TG_NOT_FOUND, "the run has ended");
}

/* Waits for the socket, but not longer than until that time. */
static tg_status await(const struct tg_live *live, short events, double until,
                       struct tg_error *error)
{
    struct pollfd watched = {live->fd, events, 0};
    double left = until - tg_limit_now();
    int n = left > 0 ? poll(&watched, 1, (int)(left * 1e3) + 1) : 0;
    if (n < 0 && errno != EINTR)
        return tg_error_set(error, TG_IO_ERROR, "cannot wait for an answer: %s", strerror(errno));
    return n == 0 ? no_answer(error) : TG_OK;
}

/* A request is so short that a socket takes it whole, or not at all. */
static tg_status send_request(const struct tg_live *live, const char *text, size_t size,
                              double until, struct tg_error *error)
{
    for (;;) {
        ssize_t n = send(live->fd, text, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n == (ssize_t)size)
            return TG_OK;
        if (n >= 0 || (errno != EAGAIN && errno != EINTR))
            return has_ended(error);
        tg_status status = await(live, POLLOUT, until, error);
        if (status != TG_OK)
            return status;
    }
}

static tg_status receive_reply(struct tg_live *live, double until, struct tg_error *error)
{
    live->got = 0;
    for (;;) {
        if (!tg_grow(&live->reply, &live->room, live->got + PIECE + 1, 1))
            return tg_file_no_memory(error);
        ssize_t n = recv(live->fd, live->reply + live->got, PIECE, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return has_ended(error);
        if (n < 0) {
            tg_status status = await(live, POLLIN, until, error);
            if (status != TG_OK)
                return status;
            continue;
        }
        const char *end = memchr(live->reply + live->got, '\n', (size_t)n);
        live->got += (size_t)n;
        if (end != NULL && end + 1 != live->reply + live->got)
            return tg_error_set(error, TG_IO_ERROR, "the answer is more than one line");
        if (end != NULL)
            return TG_OK;
        if (live->got > MOST_REPLY)
            return tg_error_set(error, TG_IO_ERROR, "the answer is longer than any run's");
    }
}

static tg_status ask(struct tg_live *live, uint32_t sections, struct tg_live_status *status,
                     struct tg_error *error)
{
    char text[200];
    size_t size = write_request(sections, text, sizeof text);
    double until = tg_limit_now() + PATIENCE_SECONDS;
    tg_status result = send_request(live, text, size, until, error);
    if (result == TG_OK)
        result = receive_reply(live, until, error);
    if (result != TG_OK)
        return result;
    live->reply[--live->got] = '\0'; /* in place of the line end */
    return tg_live_reply_read(live->reply, live->got, status, &live->lists, error);
}

tg_status tg_live_ask(struct tg_live *live, uint32_t sections, const char **reply,
                      struct tg_error *error)
{
    TG_REFUSE_NULL(error, live);
    TG_REFUSE_NULL(error, reply);
    struct tg_live_status ignored;
    *reply = NULL;
    tg_status status = ask(live, sections, &ignored, error);
    if (status == TG_OK)
        *reply = live->reply;
    return status;
}

tg_status tg_live_look(struct tg_live *live, uint32_t sections, struct tg_live_status *status,
                       struct tg_error *error)
{
    TG_REFUSE_NULL(error, live);
    TG_REFUSE_NULL(error, status);
    return ask(live, sections, status, error);
}
