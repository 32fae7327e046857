/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sandbox/sandbox.h"
#include "sandbox/syscalls.h"
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

/* For kernels before 5.9, which have no close_range. Starts again after each one that it closes, because
 * the listing changes with it. */
static void close_one_by_one(int first)
{
    for (bool again = true; again;) {
        DIR *list = opendir("/proc/self/fd");
        struct dirent *entry;
        again = false;
        if (list == NULL)
            return;
        while (!again && (entry = readdir(list)) != NULL) {
            int fd = (int)strtol(entry->d_name, NULL, 10); /* 0 for . and .. */
            again = fd >= first && fd != dirfd(list) && close(fd) == 0;
        }
        closedir(list);
    }
}

void tg_sandbox_close_from(int first)
{
    if (syscall(SYS_close_range, first, ~0U, 0) != 0)
        close_one_by_one(first);
}
