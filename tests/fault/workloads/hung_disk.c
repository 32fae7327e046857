/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a host: a disk that hangs. A write of payload does not return before the host joins a
 * thread, which it does when the run is over. So the host runs, but its collector does not. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int joined;

static int is_payload(int fd)
{
    char link[64], path[4096];
    ssize_t size;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    size = readlink(link, path, sizeof path - 1);
    path[size > 0 ? size : 0] = '\0';
    return strstr(path, "tensor_dump.bin") != NULL;
}

static ssize_t write_when_over(int fd, const void *bytes, size_t size, off_t at)
{
    ssize_t (*next)(int, const void *, size_t, off_t);
    *(void **)&next = dlsym(RTLD_NEXT, "pwrite");
    while (is_payload(fd) && !__atomic_load_n(&joined, __ATOMIC_ACQUIRE))
        usleep(1000);
    return next(fd, bytes, size, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    return write_when_over(fd, bytes, size, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
    return write_when_over(fd, bytes, size, at);
}

int pthread_join(pthread_t thread, void **result)
{
    int (*next)(pthread_t, void **);
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_join");
    __atomic_store_n(&joined, 1, __ATOMIC_RELEASE);
    return next(thread, result);
}
