/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a module from two files. The shared object lists the kernels and their order; the image
 * beside it has their code for the GPU. Kernels are matched by the names of their functions.
 */
#define _GNU_SOURCE
#include "platform/cuda/process/gpu_process.h"
#include "platform/process/device/fault.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The buffer for an error's text. */
struct why {
    char *text;
    size_t size;
};

static tg_status fail(struct why why, CUresult result, const char *what)
{
    return tg_cuda_failed(result, what, why.text, why.size);
}

/* Makes NAME.cubin from NAME.so and checks that the file exists. */
static tg_status image_path(const char *module, char path[PATH_MAX], struct why why)
{
    size_t length = strlen(module);
    if (length > 3 && strcmp(module + length - 3, ".so") == 0)
        length -= 3;
    if ((size_t)snprintf(path, PATH_MAX, "%.*s.cubin", (int)length, module) >= PATH_MAX) {
        snprintf(why.text, why.size, "the path is too long");
        return TG_BAD_ARGUMENT;
    }
    if (access(path, R_OK) == 0)
        return TG_OK;
    snprintf(why.text, why.size,
             "there is no %s with its kernels for the GPU; install nvcc and build the workload "
             "again with taskglass_add_workload",
             path);
    return TG_NOT_FOUND;
}

/* Reads a list of function names from the image: "first\0second\0\0". The caller frees it. */
static char *read_names(CUmodule module, const char *symbol, CUresult *result)
{
    CUdeviceptr address;
    size_t size = 0;
    char *names = NULL;
    *result = tg_cuda.module_global(&address, &size, module, symbol);
    if (*result == CUDA_SUCCESS && (names = calloc(1, size + 2)) != NULL)
        *result = tg_cuda.copy_out(names, address, size);
    return names;
}

/* The name's index in the list; UINT32_MAX if it is not there. */
static uint32_t find_name(const char *names, const char *name)
{
    uint32_t number = 0;
    for (; *names; names += strlen(names) + 1, number++)
        if (strcmp(names, name) == 0)
            return number;
    return UINT32_MAX;
}

/* The function's name in its source; NULL if the module does not export it. */
static const char *function_name(const void *function)
{
    Dl_info info;
    if (function == NULL || dladdr(function, &info) == 0 || info.dli_saddr != function)
        return NULL;
    return info.dli_sname;
}

static const void *address_of(tg_kernel_fn kernel)
{
    const void *address;
    memcpy(&address, &kernel, sizeof address);
    return address;
}

/* Finds each of the workload's kernels among the image's functions. */
static tg_status number_kernels(const struct tg_workload *workload, const char *names,
                                uint32_t *number, struct why why)
{
    for (uint32_t i = 0; i < workload->n_kernels; i++) {
        const char *name = function_name(address_of(workload->kernels[i].fn));
        number[i] = name ? find_name(names, name) : UINT32_MAX;
        if (number[i] != UINT32_MAX)
            continue;
        snprintf(why.text, why.size,
                 "kernel '%s': the image has no function %s; declare it as a TG_KERNEL in a "
                 "DEVICE source, not static",
                 workload->kernels[i].name, name ? name : "for it");
        return TG_BAD_ARGUMENT;
    }
    return TG_OK;
}

static CUresult put(CUdeviceptr *address, const void *bytes, size_t size)
{
    CUresult result = tg_cuda.alloc(address, size ? size : 8);
    if (result == CUDA_SUCCESS && size)
        result = tg_cuda_finish_write(tg_cuda.copy_in(*address, bytes, size));
    return result;
}

static CUresult place(struct tg_cuda_image *image, const uint32_t *number)
{
    const struct tg_workload *w = image->workload;
    char site[128];
    CUresult result = put(&image->number, number, w->n_kernels * sizeof *number);
    snprintf(site, sizeof site, "%s", w->orchestrate_site ? w->orchestrate_site : w->name);
    if (result == CUDA_SUCCESS)
        result = put(&image->site, site, sizeof site);
    if (result == CUDA_SUCCESS)
        result = tg_cuda.alloc(&image->table, (w->n_kernels + 1u) * sizeof(void *));
    return result;
}

static CUresult find_entry(struct tg_cuda_image *image, CUmodule module)
{
    CUresult result = tg_cuda.module_function(&image->main, module, TG_CUDA_MAIN_NAME);
    if (result == CUDA_SUCCESS)
        result = tg_cuda.function_set(image->main, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      TG_CUDA_SHARED);
    return result;
}

/* Allocates the engine's memory, once for all images. */
static CUresult take_engine(struct tg_cuda_device *d, CUmodule module)
{
    CUfunction size_of;
    CUdeviceptr answer = 0;
    uint64_t size = 0;
    uint32_t n_blocks = d->head->n_lanes / TG_PARTS;
    void *arguments[] = {&answer, &n_blocks, &d->n_schedulers};
    CUresult result;
    if (d->engine != 0)
        return CUDA_SUCCESS;
    result = tg_cuda.module_function(&size_of, module, TG_CUDA_SIZE_NAME);
    if (result == CUDA_SUCCESS)
        result = tg_cuda.alloc(&answer, sizeof size);
    if (result == CUDA_SUCCESS)
        result = tg_cuda.launch(size_of, 1, 1, 1, 1, 1, 1, 0, d->runner, arguments, NULL);
    if (result == CUDA_SUCCESS)
        result = tg_cuda.stream_wait(d->runner);
    if (result == CUDA_SUCCESS)
        result = tg_cuda.copy_out(&size, answer, sizeof size);
    if (answer != 0)
        tg_cuda.free(answer);
    if (result == CUDA_SUCCESS)
        result = tg_cuda.alloc(&d->engine, size);
    return result;
}

/* Checks that all blocks of a run can be resident with the registers that the kernels use. */
static tg_status check_room(const struct tg_cuda_device *d, const struct tg_cuda_image *image,
                            struct why why)
{
    uint32_t wanted = d->head->n_lanes + d->n_schedulers + 1, spare, most;
    int blocks = 0;
    CUresult result = tg_cuda.occupancy(&blocks, image->main, TG_CUDA_BLOCK, TG_CUDA_SHARED);
    if (result != CUDA_SUCCESS)
        return fail(why, result, "query how many blocks fit");
    if ((uint32_t)(blocks * d->multiprocessors) >= wanted)
        return TG_OK;
    spare = d->n_schedulers + 1;
    most = (uint32_t)(blocks * d->multiprocessors);
    most = most > spare ? (most - spare) / TG_PARTS * TG_PARTS : 0;
    snprintf(why.text, why.size,
             "%u blocks are needed, but with these kernels only %d fit at the same time (%d on a "
             "multiprocessor); use at most --cores %u with %u schedulers",
             wanted, blocks * d->multiprocessors, blocks, most, d->n_schedulers);
    return TG_BAD_ARGUMENT;
}

static tg_status use_image(struct tg_cuda_device *d, struct tg_cuda_image *image, CUmodule module,
                           struct why why)
{
    CUresult result;
    tg_status status = TG_OK;
    uint32_t *number = calloc(image->workload->n_kernels + 1u, sizeof *number);
    char *kernels = read_names(module, TG_CUDA_KERNEL_NAMES, &result);
    char *orchestrations =
        result == CUDA_SUCCESS ? read_names(module, TG_CUDA_ORCHESTRATION_NAMES, &result) : NULL;
    if (result != CUDA_SUCCESS)
        status = fail(why, result, "read the names of the image's functions");
    else if (number == NULL || kernels == NULL || orchestrations == NULL)
        status = TG_NO_MEMORY;
    if (status == TG_OK)
        status = number_kernels(image->workload, kernels, number, why);
    if (status == TG_OK) {
        const void *function;
        const char *name;
        memcpy(&function, &image->workload->orchestrate, sizeof function);
        name = function_name(function);
        image->orchestration = name ? find_name(orchestrations, name) : UINT32_MAX;
        result = find_entry(image, module);
        if (result == CUDA_SUCCESS)
            result = take_engine(d, module);
        if (result == CUDA_SUCCESS)
            result = place(image, number);
        if (result != CUDA_SUCCESS)
            status = fail(why, result, "use the image");
    }
    free(number);
    free(kernels);
    free(orchestrations);
    return status == TG_OK ? check_room(d, image, why) : status;
}

/* After a failure, so that a program may go on with other modules and lose no memory. */
static void drop_image(struct tg_cuda_image *image, CUmodule module)
{
    CUdeviceptr *part[] = {&image->number, &image->site, &image->table};
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        if (*part[i] != 0)
            tg_cuda.free(*part[i]);
    tg_cuda.module_unload(module);
}

static tg_status load_image(struct tg_cuda_device *d, struct tg_cuda_image *image, const char *path,
                            struct why why)
{
    CUmodule module;
    tg_status status = tg_cuda_load_code(d, path, image, &module, why.text, why.size);
    if (status != TG_OK)
        return status;
    status = use_image(d, image, module, why);
    /* Set the stack that every run needs now, because a failure can still be reported as the load's
     * error. A run with an orchestration sets more. */
    if (status == TG_OK)
        status = tg_cuda_set_stack(d, image->kernel_stack, why.text, why.size);
    if (status != TG_OK)
        drop_image(image, module);
    return status;
}

/* Adds the image beside a library that was opened. */
static tg_status load_beside(struct tg_cuda_device *d, const struct tg_process_message *message,
                             void *library, struct why why)
{
    struct tg_cuda_image *image;
    char path[PATH_MAX];
    const struct tg_workload *workload = dlsym(library, TG_WORKLOAD_SYMBOL);
    tg_status status;
    if (workload == NULL || workload->abi != TG_WORKLOAD_ABI ||
        workload->n_kernels != message->count) {
        snprintf(why.text, why.size, "the module changed while it was loaded");
        return TG_ABI_MISMATCH;
    }
    status = image_path(message->text, path, why);
    if (status != TG_OK)
        return status;
    image = calloc(1, sizeof *image);
    if (image == NULL)
        return TG_NO_MEMORY;
    image->workload = workload;
    image->first = message->first;
    status = load_image(d, image, path, why);
    if (status != TG_OK) {
        free(image);
        return status;
    }
    tg_fault_add_module(workload);
    image->next = d->images;
    d->images = image;
    return TG_OK;
}

tg_status tg_cuda_load(struct tg_cuda_device *d, const struct tg_process_message *message,
                       char *text, size_t size)
{
    void *library = dlopen(message->text, RTLD_NOW | RTLD_LOCAL);
    tg_status status;
    tg_cuda_send_away(d);
    if (library == NULL) {
        snprintf(text, size, "the device cannot load it: %s", dlerror());
        return TG_NOT_FOUND;
    }
    status = load_beside(d, message, library, (struct why){text, size});
    if (status != TG_OK)
        dlclose(library);
    return status;
}
