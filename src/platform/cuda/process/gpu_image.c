/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the code for this GPU from a module's image file. The driver takes a single image from the file
 * itself. Of an archive the image for this GPU is chosen here, so that its stack can be measured; PTX is
 * compiled and linked by the driver, which takes seconds, and gives an image that is measured like others.
 */
#include "platform/cuda/process/gpu_process.h"
#include "platform/cuda/process/image_file.h"
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Explains why the driver refuses the image. */
static tg_status refused(const struct tg_cuda_device *d, CUresult result, const char *path,
                         char *why, size_t size)
{
    char words[200];
    switch (result) {
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
        snprintf(why, size,
                 "%s was not built for this GPU (%s, sm_%d); configure with "
                 "-DTASKGLASS_CUDA_ARCHITECTURES=%d",
                 path, d->name, d->capability, d->capability);
        return TG_UNSUPPORTED;
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
        tg_cuda_explain(result, words, sizeof words);
        snprintf(why, size,
                 "the driver cannot read %s: %s; it is damaged, or was built by a newer CUDA than "
                 "the driver's: build it again, or update the driver",
                 path, words);
        return TG_UNSUPPORTED;
    default:
        tg_cuda_explain(result, words, sizeof words);
        snprintf(why, size, "cannot load %s: %s%s", path, words,
                 result == CUDA_ERROR_OUT_OF_MEMORY ? "; lower --device-memory" : "");
        return result == CUDA_ERROR_OUT_OF_MEMORY    ? TG_NO_MEMORY
               : result == CUDA_ERROR_FILE_NOT_FOUND ? TG_NOT_FOUND
                                                     : TG_DEVICE_LOST;
    }
}

static tg_status none_fits(const struct tg_cuda_device *d, const char *path, const char *bytes,
                           size_t n_bytes, char *why, size_t size)
{
    char list[160];
    tg_image_list(bytes, n_bytes, list, sizeof list);
    snprintf(
        why, size,
        "%s has code for compute capability %s, but this GPU (%s) has %d.%d; configure with %d in the "
        "list of -DTASKGLASS_CUDA_ARCHITECTURES",
        path, list[0] ? list : "none", d->name, d->capability / 10, d->capability % 10,
        d->capability);
    return TG_UNSUPPORTED;
}

/* Measures an image in memory and loads it. */
static tg_status load_bytes(const struct tg_cuda_device *d, const char *path, const void *bytes,
                            size_t n_bytes, struct tg_cuda_image *image, CUmodule *module,
                            char *why, size_t size)
{
    CUresult result;
    tg_status status = tg_cuda_measure_stack(path, bytes, n_bytes, image, why, size);
    if (status != TG_OK)
        return status;
    result = tg_cuda.module_load_data(module, bytes);
    return result == CUDA_SUCCESS ? TG_OK : refused(d, result, path, why, size);
}

/* The driver is not told how large an image is. What is no image it would take for text, up to some zero byte. */
static bool is_image(const struct tg_image_member *member)
{
    return member->size >= SELFMAG && memcmp(member->bytes, ELFMAG, SELFMAG) == 0;
}

/* A copy, because in the archive an image lies at any even offset. */
static tg_status load_member(const struct tg_cuda_device *d, const char *path,
                             const struct tg_image_member *member, struct tg_cuda_image *image,
                             CUmodule *module, char *why, size_t size)
{
    char *copy;
    tg_status status;
    if (!is_image(member))
        return tg_cuda_damaged(path, member->size, why, size);
    copy = malloc(member->size);
    if (copy == NULL)
        return TG_NO_MEMORY;
    memcpy(copy, member->bytes, member->size);
    status = load_bytes(d, path, copy, member->size, image, module, why, size);
    free(copy);
    return status;
}

/* ── PTX ───────────────────────────────────────────────────────────────────────────────── */

/* Gives the driver all PTX for that capability; it wants a zero byte at the end of each text. */
static CUresult add_ptx(CUlinkState link, const char *bytes, size_t n_bytes, int capability)
{
    struct tg_image_member one;
    CUresult result = CUDA_SUCCESS;
    for (size_t at = 0; result == CUDA_SUCCESS && tg_image_next(bytes, n_bytes, &at, &one);) {
        char *text;
        if (!one.is_ptx || one.capability != capability)
            continue;
        text = malloc(one.size + 1);
        if (text == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        memcpy(text, one.bytes, one.size);
        text[one.size] = 0;
        result = tg_cuda.link_add(link, CU_JIT_INPUT_PTX, text, one.size + 1, "ptx", 0, NULL, NULL);
        free(text);
    }
    return result;
}

static void say_compiled(const struct tg_cuda_device *d, const char *path, int capability,
                         const struct tg_cuda_image *image)
{
    char stacks[120] = "";
    if (image->guessed_stack)
        snprintf(stacks, sizeof stacks,
                 ", and the stack of its threads is a guess: %zu bytes, %zu for "
                 "orchestrations",
                 image->kernel_stack, image->orchestration_stack);
    fprintf(
        stderr,
        "taskglass: warning: %s has no image for this GPU (%s, %d.%d): the driver compiled its PTX for "
        "%d.%d%s\n",
        path, d->name, d->capability / 10, d->capability % 10, capability / 10, capability % 10,
        stacks);
}

static tg_status load_ptx(const struct tg_cuda_device *d, const char *path, const char *bytes,
                          size_t n_bytes, int capability, struct tg_cuda_image *image,
                          CUmodule *module, char *why, size_t size)
{
    CUjit_option option[] = {CU_JIT_MAX_REGISTERS};
    void *value[] = {(void *)(uintptr_t)TG_CUDA_REGISTERS};
    void *linked = NULL;
    size_t n_linked = 0;
    CUlinkState link;
    tg_status status;
    CUresult result = tg_cuda.link_create(1, option, value, &link);
    if (result != CUDA_SUCCESS)
        return refused(d, result, path, why, size);
    result = add_ptx(link, bytes, n_bytes, capability);
    if (result == CUDA_SUCCESS)
        result = tg_cuda.link_complete(link, &linked, &n_linked);
    status = result == CUDA_SUCCESS
                 ? load_bytes(d, path, linked, n_linked, image, module, why, size)
                 : refused(d, result, path, why, size);
    tg_cuda.link_destroy(link); /* `linked` is the link's */
    if (status == TG_OK)
        say_compiled(d, path, capability, image);
    return status;
}

/* ── the file ──────────────────────────────────────────────────────────────────────────── */

static tg_status load_alone(const struct tg_cuda_device *d, const char *path, const char *bytes,
                            size_t n_bytes, struct tg_cuda_image *image, CUmodule *module,
                            char *why, size_t size)
{
    CUresult result;
    tg_status status = tg_cuda_measure_stack(path, bytes, n_bytes, image, why, size);
    if (status != TG_OK)
        return status;
    result = tg_cuda.module_load(module, path);
    return result == CUDA_SUCCESS ? TG_OK : refused(d, result, path, why, size);
}

tg_status tg_cuda_load_code(const struct tg_cuda_device *d, const char *path,
                            struct tg_cuda_image *image, CUmodule *module, char *why, size_t size)
{
    struct tg_image_member member;
    size_t n;
    char *bytes = tg_cuda_read_image(path, &n, why, size);
    tg_status status;
    if (bytes == NULL)
        return TG_IO_ERROR;
    switch (tg_image_choose(bytes, n, d->capability, &member)) {
    case TG_IMAGE_ALONE:
        status = load_alone(d, path, bytes, n, image, module, why, size);
        break;
    case TG_IMAGE_CODE:
        status = load_member(d, path, &member, image, module, why, size);
        break;
    case TG_IMAGE_PTX:
        status = load_ptx(d, path, bytes, n, member.capability, image, module, why, size);
        break;
    case TG_IMAGE_NONE:
        status = none_fits(d, path, bytes, n, why, size);
        break;
    default:
        status = tg_cuda_damaged(path, n, why, size);
    }
    free(bytes);
    return status;
}
