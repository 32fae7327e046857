/* SPDX-License-Identifier: Apache-2.0 */
/* A workload module as a device has loaded it: its kernels and what they want. */
#ifndef TG_HOST_MODULE_H
#define TG_HOST_MODULE_H

#include "host/device.h"
#include "host/signature.h"
#include <taskglass/workload.h>

struct tg_module {
    struct tg_module *next;
    struct tg_device *device;
    char *path;
    void *handle; /* of dlopen: the names live in the module */
    const struct tg_workload *workload;
    struct tg_kernel_desc *kernels;
    uint32_t n_kernels;
    uint32_t first; /* number of its first kernel on the device */
};

/* A kernel's name, by its place in the module. */
const char *tg_module_kernel_name(const struct tg_module *module, uint32_t kernel);

void tg_module_free_all(struct tg_module *modules);

#endif
