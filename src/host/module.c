/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "host/module.h"
#include "base/error.h"
#include "base/files.h"
#include "host/module_open.h"
#include <taskglass/comm.h>
#include <stddef.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void module_free(struct tg_module *module)
{
    if (module->handle != NULL)
        dlclose(module->handle);
    free(module->kernels);
    free(module->path);
    free(module);
}

void tg_module_free_all(struct tg_module *modules)
{
    while (modules != NULL) {
        struct tg_module *next = modules->next;
        module_free(modules);
        modules = next;
    }
}

/* A module that was built before there were calls has a shorter object. */
bool tg_module_communicates(const struct tg_module *module)
{
    const struct tg_workload *workload = module->workload;
    return workload->size >= offsetof(struct tg_workload, communicates) + sizeof(uint32_t) &&
           workload->communicates != 0;
}

static tg_status read_kernels(struct tg_module *module, struct tg_error *error)
{
    const struct tg_workload *workload = module->workload;
    bool calls = tg_module_communicates(module);
    module->n_kernels = workload->n_kernels + (calls ? TG_COMM_KINDS : 0);
    module->kernels = calloc(module->n_kernels + 1u, sizeof *module->kernels);
    if (module->kernels == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    for (uint32_t i = 0; i < workload->n_kernels; i++) {
        const struct tg_kernel_def *def = &workload->kernels[i];
        struct tg_error why;
        if (tg_signature_parse(&module->kernels[i], def->signature, &why) != TG_OK)
            return tg_error_set(error, TG_BAD_ARGUMENT, "%s: kernel %s: %s", module->path,
                                def->name, why.text);
        module->kernels[i].core = def->core;
    }
    for (uint32_t i = workload->n_kernels; i < module->n_kernels; i++) {
        module->kernels[i].core = TG_EITHER;
        module->kernels[i].call = (uint8_t)(i - workload->n_kernels + 1);
    }
    return TG_OK;
}

static tg_status load_new(struct tg_device *device, char *path, struct tg_module **out,
                          struct tg_error *error)
{
    struct tg_module *module = calloc(1, sizeof *module);
    struct tg_module_file was;
    tg_status status;
    if (module == NULL) {
        free(path);
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    }
    module->device = device;
    module->path = path;
    module->first = device->n_kernels;
    status = tg_module_open(path, TG_NOT_FOUND, &module->handle, &module->workload, &was, error);
    if (status == TG_OK)
        status = read_kernels(module, error);
    if (status == TG_OK)
        status = device->ops->load(device->state, path, module->first, module->workload->n_kernels,
                                   error);
    if (status == TG_OK && !tg_module_file_is(&was, path))
        status =
            errno != 0
                ? tg_file_error(error, "read module", path, errno)
                : tg_error_set(error, TG_NOT_FOUND,
                               "module %s changed while the device loaded it; try again when it is "
                               "complete",
                               path);
    if (status != TG_OK) {
        device->lost |= status == TG_DEVICE_LOST || status == TG_CANCELLED;
        module_free(module);
        return status;
    }
    /* One number at least: the device tells modules apart by the number of their first kernel. */
    device->n_kernels += module->n_kernels > 0 ? module->n_kernels : 1;
    module->next = device->modules;
    device->modules = module;
    *out = module;
    return TG_OK;
}

tg_status tg_device_load(struct tg_device *device, const char *path, struct tg_module **module,
                         struct tg_error *error)
{
    TG_REFUSE_NULL(error, module);
    *module = NULL;
    TG_REFUSE_NULL(error, device);
    TG_REFUSE_NULL(error, path);
    tg_status status = tg_device_ready(device, error);
    char *real;
    if (status != TG_OK)
        return status;
    real = realpath(path, NULL);
    if (real == NULL)
        return tg_error_set(error, tg_cause_is_fault(errno) ? TG_IO_ERROR : TG_NOT_FOUND, "%s: %s",
                            path, strerror(errno));
    for (struct tg_module *known = device->modules; known != NULL; known = known->next) {
        if (strcmp(known->path, real) == 0) {
            free(real);
            *module = known;
            return TG_OK;
        }
    }
    return load_new(device, real, module, error);
}

const char *tg_module_kernel_name(const struct tg_module *module, uint32_t kernel)
{
    uint32_t own = module->workload->n_kernels;
    return kernel < own ? module->workload->kernels[kernel].name : tg_comm_kind_name(kernel - own);
}

uint32_t tg_module_kernel(const struct tg_module *module, const char *name)
{
    if (module == NULL || name == NULL)
        return TG_NO_KERNEL;
    for (uint32_t i = 0; i < module->n_kernels; i++)
        if (strcmp(tg_module_kernel_name(module, i), name) == 0)
            return i;
    return TG_NO_KERNEL;
}
