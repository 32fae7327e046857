/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how much stack the threads of an image need, and sets it in the driver. */
#include "platform/cuda/process/gpu_process.h"
#include "platform/cuda/process/stack_frames.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads instead of mapping, because a mapped file that shrinks would crash us. NULL with errno. */
static char *read_all(int fd, size_t *size)
{
    struct stat info;
    char *bytes;
    ssize_t got;
    *size = 0;
    if (fstat(fd, &info) != 0)
        return NULL;
    if (!S_ISREG(info.st_mode)) { /* a FIFO would block, a device never end */
        errno = EINVAL;
        return NULL;
    }
    if ((bytes = malloc((size_t)info.st_size + 1)) == NULL)
        return NULL;
    while (*size < (size_t)info.st_size &&
           (got = read(fd, bytes + *size, (size_t)info.st_size - *size)) != 0) {
        if (got < 0 && errno != EINTR) {
            free(bytes);
            return NULL;
        }
        *size += got > 0 ? (size_t)got : 0;
    }
    return bytes;
}

char *tg_cuda_read_image(const char *path, size_t *n_bytes, char *why, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *bytes = fd >= 0 ? read_all(fd, n_bytes) : NULL;
    if (bytes == NULL)
        snprintf(why, size, "cannot read %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return bytes;
}

tg_status tg_cuda_measure_stack(const char *path, const void *bytes, size_t n_bytes,
                                struct tg_cuda_image *image, char *why, size_t size)
{
    struct tg_cuda_stacks stacks;
    if (n_bytes == 0 || !tg_cuda_image_is_whole(bytes, n_bytes))
        return tg_cuda_damaged(path, n_bytes, why, size);
    tg_cuda_image_stacks(bytes, n_bytes, &stacks);
    image->kernel_stack = stacks.kernels;
    image->orchestration_stack = stacks.orchestrations;
    image->guessed_stack = stacks.is_guess;
    return TG_OK;
}

tg_status tg_cuda_damaged(const char *path, size_t n_bytes, char *why, size_t size)
{
    snprintf(why, size, "%s is %s; build it again", path,
             n_bytes > 0 ? "cut short or damaged" : "empty");
    return TG_IO_ERROR;
}

/* The driver reserves stacks for all threads that can be resident, not only for those launched. */
tg_status tg_cuda_no_stack(const struct tg_cuda_device *d, size_t bytes, char *why, size_t size)
{
    unsigned long long threads = (unsigned long long)d->multiprocessors * (unsigned)d->threads;
    snprintf(why, size,
             "the GPU has no room for the stacks of %llu threads (%llu MiB); lower --device-memory",
             threads, threads * bytes >> 20);
    return TG_NO_MEMORY;
}

tg_status tg_cuda_set_stack(struct tg_cuda_device *d, size_t bytes, char *why, size_t size)
{
    CUresult result;
    if (d->stack >= bytes)
        return TG_OK;
    tg_cuda_send_away(d); /* the driver moves the stacks of all threads */
    result = tg_cuda.context_limit(CU_LIMIT_STACK_SIZE, bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return tg_cuda_no_stack(d, bytes, why, size);
    if (result != CUDA_SUCCESS)
        return tg_cuda_failed(result, "set the stack of the GPU's threads", why, size);
    d->stack = bytes;
    return TG_OK;
}
