/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "base/names.h"

/* Messages show these paths, so they have neither "./" nor "//" in the middle. */
char *tg_path_join(const char *dir, const char *name)
{
    size_t length = strlen(dir);
    char *path;
    if (strcmp(dir, ".") == 0 && *name)
        return strdup(name);
    while (length > 1 && dir[length - 1] == '/')
        length--;
    return asprintf(&path, "%.*s%s%s", (int)length, dir, strcmp(dir, "/") == 0 ? "" : "/", name) < 0
               ? NULL
               : path;
}

char *tg_path_temporary(const char *dir, const char *name)
{
    char *path;
    return asprintf(&path, "%s/.%s.tmp", dir, name) < 0 ? NULL : path;
}

void tg_path_last(const char *path, char *last, size_t room)
{
    size_t end = strlen(path), begin;
    while (end > 0 && path[end - 1] == '/')
        end--;
    begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    size_t length = end - begin < room - 1 ? end - begin : room - 1;
    memcpy(last, path + begin, length);
    last[length] = '\0';
}

bool tg_path_is_plain(const char *name)
{
    char clean[TG_NAME_MAX + 1];
    tg_name_clean(name, strlen(name), clean, sizeof clean);
    return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
           strcmp(name, clean) == 0;
}

int tg_write_at(int fd, const void *bytes, uint64_t size, uint64_t position, uint64_t *done)
{
    const char *from = bytes;
    uint64_t written = 0;
    int cause = 0;
    while (written < size) {
        uint64_t left = size - written;
        size_t piece = left < (uint64_t)1 << 30 ? (size_t)left : (size_t)1 << 30;
        ssize_t n = pwrite(fd, from + written, piece, (off_t)(position + written));
        if (n > 0) {
            written += (uint64_t)n;
        } else if (n == 0 || errno != EINTR) {
            cause = n == 0 ? EIO : errno;
            break;
        }
    }
    if (done)
        *done = written;
    return cause;
}

tg_status tg_file_error(struct tg_error *error, const char *verb, const char *path, int cause)
{
    return tg_error_set(error, TG_IO_ERROR, "cannot %s '%s': %s", verb, path, tg_cause_text(cause));
}

tg_status tg_file_no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "out of host memory for a recording");
}

/* Removes the old file instead of truncating it: another program may have it mapped, and the name
 * may be a symbolic link. */
static int create_anew(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return -1;
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* Closes the file before renaming it, because closing may fail too; a caller that passes `kept`
 * keeps it open. */
static int put_file(const char *temporary, const char *path, tg_file_fill_fn fill,
                    const void *context, int *kept)
{
    int fd = create_anew(temporary);
    if (fd < 0)
        return errno;
    int cause = fill(fd, context);
    if ((!kept || cause != 0) && close(fd) != 0 && cause == 0)
        cause = errno;
    if (cause == 0 && rename(temporary, path) != 0) {
        cause = errno;
        if (kept)
            close(fd);
    }
    if (cause != 0)
        unlink(temporary);
    else if (kept)
        *kept = fd;
    return cause;
}

static tg_status put_named(const char *dir, const char *name, tg_file_fill_fn fill,
                           const void *context, int *kept, struct tg_error *error)
{
    char *path = tg_path_join(dir, name), *temporary = tg_path_temporary(dir, name);
    tg_status status = TG_OK;
    if (!path || !temporary) {
        status = tg_error_set(error, TG_NO_MEMORY, "out of host memory to write '%s'", name);
    } else {
        int cause = put_file(temporary, path, fill, context, kept);
        if (cause != 0)
            status = tg_file_error(error, "write", path, cause);
    }
    free(path);
    free(temporary);
    return status;
}

tg_status tg_file_write(const char *dir, const char *name, tg_file_fill_fn fill,
                        const void *context, struct tg_error *error)
{
    return put_named(dir, name, fill, context, NULL, error);
}

struct beginning {
    const void *bytes;
    size_t size;
};

static int fill_beginning(int fd, const void *context)
{
    const struct beginning *beginning = context;
    (void)flock(fd, LOCK_EX | LOCK_NB);
    return tg_write_at(fd, beginning->bytes, beginning->size, 0, NULL);
}

tg_status tg_file_begin(const char *dir, const char *name, const void *begin, size_t size, int *fd,
                        struct tg_error *error)
{
    struct beginning beginning = {begin, size};
    return put_named(dir, name, fill_beginning, &beginning, fd, error);
}

tg_status tg_file_remove(const char *dir, const char *name, struct tg_error *error)
{
    char *path = tg_path_join(dir, name);
    tg_status status = TG_OK;
    if (!path)
        return tg_file_no_memory(error);
    if (unlink(path) != 0 && errno != ENOENT)
        status = tg_file_error(error, "replace", path, errno);
    free(path);
    return status;
}

int tg_file_above(int fd, int last)
{
    int moved, cause;
    if (fd < 0)
        return -1;
    moved = fcntl(fd, F_DUPFD_CLOEXEC, last + 1);
    cause = errno == EINVAL ? EMFILE : errno; /* the limit of descriptors is below `last` */
    close(fd);
    errno = cause;
    return moved;
}
