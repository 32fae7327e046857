/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"

/* How long a writer waits for readers. Each of them holds the lock for microseconds, so this only passes
 * if one was stopped in that moment. */
enum { PATIENCE_SECONDS = 10 };

static int try_lock(int fd, int kind)
{
    while (flock(fd, kind | LOCK_NB) != 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

/* BUSY if a writer holds the lock, FREE if only readers do, or nobody. */
static enum tg_lock look(int fd)
{
    int cause = try_lock(fd, LOCK_SH);
    if (cause == 0)
        (void)flock(fd, LOCK_UN);
    return cause == 0 ? TG_LOCK_FREE : cause == EWOULDBLOCK ? TG_LOCK_BUSY : TG_LOCK_UNKNOWN;
}

enum tg_lock tg_lock_take(int fd)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    struct timespec began, now;
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (;;) {
        int cause = try_lock(fd, LOCK_EX);
        if (cause != EWOULDBLOCK)
            return cause == 0 ? TG_LOCK_FREE : TG_LOCK_UNKNOWN;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (look(fd) == TG_LOCK_BUSY || now.tv_sec - began.tv_sec > PATIENCE_SECONDS)
            return TG_LOCK_BUSY;
        nanosleep(&moment, NULL);
    }
}

int tg_lock_look(const char *path, enum tg_lock *held)
{
    /* Without O_NONBLOCK, opening a pipe in place of the file would block. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *held = TG_LOCK_UNKNOWN;
    if (fd < 0)
        return tg_cause_is_fault(errno) ? errno : 0;
    *held = look(fd);
    close(fd);
    return 0;
}

int tg_lock_drop(int fd)
{
    if (fd < 0)
        return 0;
    (void)flock(fd, LOCK_UN);
    return close(fd) == 0 || errno == EINTR ? 0 : errno; /* after EINTR it is closed too */
}
