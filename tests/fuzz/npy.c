/* SPDX-License-Identifier: Apache-2.0 */
/* An .npy or .npz of any bytes: every element of every array can be read, and no name has a character
 * that a terminal obeys. */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

#include <ctype.h>
#include <taskglass/npy.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_array(const struct tg_npy *array)
{
    int64_t elements = 1;
    HOLDS(array->dtype > TG_DTYPE_NONE && array->dtype < TG_DTYPE_END);
    HOLDS(array->ndim >= 0 && array->ndim <= TG_MAX_DIMS);
    for (int d = 0; d < array->ndim; d++)
        elements *= array->shape[d];
    HOLDS(array->elements == elements);
    HOLDS(memchr(array->name, '\0', sizeof array->name) != NULL);
    for (const char *c = array->name; *c; c++)
        HOLDS(!iscntrl((unsigned char)*c));
    for (int64_t i = 0; i < array->elements; i++)
        (void)tg_npy_value(array, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[32];
    struct tg_npy_file *file;
    struct tg_error error = {0};
    const struct tg_npy *array;
    if (fd < 0)
        fd = memfd_create("arrays", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    HOLDS(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    if (tg_npy_open(path, &file, &error) != TG_OK) {
        HOLDS(error.text[0]);
        return 0;
    }
    HOLDS(tg_npy_get(file, 0) != NULL);
    for (uint32_t i = 0; (array = tg_npy_get(file, i)) != NULL; i++)
        check_array(array);
    tg_npy_close(file);
    return 0;
}
