/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "trace/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"

/* For file systems that have no files without names: the name lasts for two system calls. */
static int open_and_unlink(const char *folder)
{
    char *name;
    if (asprintf(&name, "%s/.taskglass-trace-XXXXXX", folder) < 0) {
        errno = ENOMEM;
        return -1;
    }
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        (void)unlink(name);
    int cause = errno;
    free(name);
    errno = cause;
    return fd;
}

int tg_temporary_open(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd >= 0 ? fd : open_and_unlink(folder);
}

int64_t tg_temporary_read(int fd, void *bytes, size_t size, uint64_t position)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(fd, (char *)bytes + done, size - done, (off_t)(position + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (int64_t)done;
}

tg_status tg_temporary_error(struct tg_error *error, const char *folder, int cause)
{
    return tg_error_set(error, TG_IO_ERROR, "its temporary file in '%s': %s", folder,
                        tg_cause_text(cause));
}
