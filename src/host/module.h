/* SPDX-License-Identifier: Apache-2.0 */
/* A workload module that a device has loaded: its kernels and their signatures. */
#ifndef TG_HOST_MODULE_H
#define TG_HOST_MODULE_H

#include "host/device.h"
#include "host/signature.h"
#include <taskglass/workload.h>

struct tg_module {
    struct tg_module *next;
    struct tg_device *device;
    char *path;
    void *handle; /* from dlopen; stays open because the names are in the module */
    const struct tg_workload *workload;
    struct tg_kernel_desc *kernels;
    uint32_t n_kernels; /* the workload's, then the calls of communication if it has any */
    uint32_t first;     /* the device's number of its first kernel */
};

/* True if the workload says that its orchestration may communicate. */
bool tg_module_communicates(const struct tg_module *module);

/* A kernel's name, by its index in the module. */
const char *tg_module_kernel_name(const struct tg_module *module, uint32_t kernel);

void tg_module_free_all(struct tg_module *modules);

#endif
