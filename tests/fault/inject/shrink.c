/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library to preload (LD_PRELOAD) that makes a file shorter while a program reads it, always at the same
 * place: behind the N-th call of fstat for that file. Taskglass calls it when it opens a file, and again
 * before it gives an answer, so that all N together cut the file everywhere in between.
 *
 *   TASKGLASS_SHRINK_FILE   the file
 *   TASKGLASS_SHRINK_NTH    N, from 1
 *   TASKGLASS_SHRINK_TO     its new size
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *file;
static struct stat wanted;
static long nth, size, calls;

__attribute__((constructor)) static void start(void)
{
    const char *n = getenv("TASKGLASS_SHRINK_NTH"), *to = getenv("TASKGLASS_SHRINK_TO");
    file = getenv("TASKGLASS_SHRINK_FILE");
    nth = n ? atol(n) : 0;
    size = to ? atol(to) : 0;
    if (!file || stat(file, &wanted) != 0)
        file = NULL;
}

__attribute__((visibility("default"))) int fstat(int fd, struct stat *info)
{
    /* ISO C has no conversion from an object's pointer to a function's; POSIX wants this to work. */
    int (*real)(int, struct stat *) =
        (int (*)(int, struct stat *))(uintptr_t)dlsym(RTLD_NEXT, "fstat");
    int result = real ? real(fd, info) : -1;
    if (result != 0 || !file || info->st_dev != wanted.st_dev || info->st_ino != wanted.st_ino)
        return result;
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == nth && truncate(file, size) != 0)
        abort();
    return result;
}
