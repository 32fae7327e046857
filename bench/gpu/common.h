/* SPDX-License-Identifier: Apache-2.0 */
/* Code that the C programs of this benchmark share: opening the device with the kernels, and lists
 * on the command line. */
#ifndef BENCH_GPU_COMMON_H
#define BENCH_GPU_COMMON_H

#include <stdbool.h>
#include <taskglass/taskglass.h>
#include <unistd.h>

#include "../record/harness.h"
#include "kernels.h"

#define PROGRAM_ERROR 1
#define PROGRAM_USAGE 2
#define PROGRAM_NO_ROOM 76 /* the run needs more memory than --memory allows */

static struct tg_error error;

BENCH_UNUSED static void fail(const char *what)
{
    fprintf(stderr, "bench_gpu: %s\n", what);
    exit(PROGRAM_ERROR);
}

BENCH_UNUSED static void must(tg_status status)
{
    if (status == TG_OK)
        return;
    fprintf(stderr, "bench_gpu: %s: %s\n", tg_status_name(status), error.text);
    exit(PROGRAM_ERROR);
}

/* Loads a module from the program's folder. */
BENCH_UNUSED static struct tg_module *load_module(struct tg_device *device, const char *name)
{
    struct tg_module *module;
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    path[length < 0 ? 0 : length] = '\0';
    strcpy(strrchr(path, '/') + 1, name);
    must(tg_device_load(device, path, &module, &error));
    return module;
}

/* Opens the device and loads the kernels of kernels.c. */
BENCH_UNUSED static struct tg_module *open_device(const struct tg_device_config *config,
                                                  struct tg_device **device)
{
    must(tg_device_open(config, device, &error));
    return load_module(*device, "bench_gpu_kernels.so");
}

BENCH_UNUSED static uint32_t device_cores(const struct tg_device *device)
{
    struct tg_device_info info;
    tg_device_get_info(device, &info);
    return info.cores;
}

/* Copies the next word of a comma-separated list into `word`; false at the end of the list. */
BENCH_UNUSED static bool next_word(const char **list, char *word, size_t size)
{
    size_t length = strcspn(*list, ",");
    if (length == 0 || length >= size)
        return false;
    memcpy(word, *list, length);
    word[length] = '\0';
    *list += length + ((*list)[length] == ',');
    return true;
}

/* Median and smallest of the measured values; sorts them. */
struct spread {
    double median, best, worst;
};

BENCH_UNUSED static struct spread spread_of(double *values, unsigned count)
{
    struct spread s;
    s.median = bench_median(values, count);
    s.best = values[0];
    s.worst = values[count - 1];
    return s;
}

#endif
