/* SPDX-License-Identifier: Apache-2.0 */
/* A workload module as a device has loaded it: its kernels and what they want. */
#ifndef TG_HOST_MODULE_H
#define TG_HOST_MODULE_H

#include "host/device.h"
#include "host/signature.h"
#include <taskglass/workload.h>

struct tg_kernel_info {
    const char *name;
    uint32_t core; /* enum tg_core_kind */
    struct tg_signature signature;
};

struct tg_module {
    struct tg_module *next;
    struct tg_device *device;
    char *path;
    void *handle; /* of dlopen: the names live in the module */
    const struct tg_workload *workload;
    struct tg_kernel_info *kernels;
    uint32_t n_kernels;
    uint32_t first; /* number of its first kernel on the device */
};

void tg_module_free_all(struct tg_module *modules);

#endif
