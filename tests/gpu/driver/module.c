/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "fake.h"
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE_CUDA = 190 };

/* The file is trusted: the build made it. */
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long size;
    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > (long)sizeof(Elf64_Ehdr)) {
        rewind(file);
        bytes = malloc((size_t)size);
        if (bytes && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
            free(bytes);
            bytes = NULL;
        }
    }
    fclose(file);
    return bytes;
}

/* The bytes of the object of that name, in the GPU's memory; NULL if there is none. */
static char *read_object(const char *image, const char *name, size_t *size)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
    const Elf64_Shdr *section = (const Elf64_Shdr *)(image + head->e_shoff), *symbols = NULL;
    for (unsigned i = 0; i < head->e_shnum; i++)
        if (section[i].sh_type == SHT_SYMTAB)
            symbols = &section[i];
    if (!symbols)
        return NULL;
    const char *names = image + section[symbols->sh_link].sh_offset;
    for (size_t i = 0; i < symbols->sh_size / sizeof(Elf64_Sym); i++) {
        const Elf64_Sym *symbol = (const Elf64_Sym *)(image + symbols->sh_offset) + i;
        CUdeviceptr copy;
        if (strcmp(names + symbol->st_name, name) != 0)
            continue;
        if (cuMemAlloc_v2(&copy, symbol->st_size) != CUDA_SUCCESS)
            return NULL;
        *size = symbol->st_size;
        return memcpy((char *)(uintptr_t)copy,
                      image + section[symbol->st_shndx].sh_offset + symbol->st_value, *size);
    }
    return NULL;
}

static size_t count_names(const char *names)
{
    size_t n = 0;
    for (; *names; names += strlen(names) + 1)
        n++;
    return n;
}

/* Finds the functions of those names in the library that the host's compiler built. */
static bool find_functions(void *library, const char *names, void *functions)
{
    char *slot = functions;
    for (; *names; names += strlen(names) + 1, slot += sizeof(void *)) {
        void *function = dlsym(library, names);
        if (!function)
            return false;
        memcpy(slot, &function, sizeof function);
    }
    return true;
}

/* NAME.so for NAME.cubin; the process has already loaded it. */
static void *find_library(const char *path)
{
    char library[PATH_MAX];
    const char *dot = strrchr(path, '.');
    snprintf(library, sizeof library, "%.*s.so", (int)(dot ? dot - path : 0), path);
    return dlopen(library, RTLD_NOW | RTLD_NOLOAD);
}

static CUresult fill(struct fake_module *m, const char *image, const char *path)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
    void *library = find_library(path);
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_machine != MACHINE_CUDA)
        return CUDA_ERROR_INVALID_IMAGE;
    m->kernel_names = read_object(image, TG_CUDA_KERNEL_NAMES, &m->kernel_names_size);
    m->orchestration_names =
        read_object(image, TG_CUDA_ORCHESTRATION_NAMES, &m->orchestration_names_size);
    if (!library || !m->kernel_names || !m->orchestration_names)
        return CUDA_ERROR_INVALID_IMAGE;
    m->kernel = calloc(count_names(m->kernel_names) + 1, sizeof *m->kernel);
    m->orchestration = calloc(count_names(m->orchestration_names) + 1, sizeof *m->orchestration);
    if (!m->kernel || !m->orchestration)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return find_functions(library, m->kernel_names, m->kernel) &&
                   find_functions(library, m->orchestration_names, m->orchestration)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_IMAGE;
}

static int loaded;

/* Refuses one module more than TASKGLASS_FAKE_CUDA_MODULES, as a GPU without memory would. */
CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    FAKE_ENTER();
    FAKE_NEEDS_IDLE();
    if (loaded >= (int)fake_number("TASKGLASS_FAKE_CUDA_MODULES", 1000))
        return CUDA_ERROR_OUT_OF_MEMORY;
    char *image = read_file(path);
    struct fake_module *m = calloc(1, sizeof *m);
    CUresult result = image && m ? fill(m, image, path) : CUDA_ERROR_FILE_NOT_FOUND;
    free(image);
    *module = (CUmodule)m;
    loaded += result == CUDA_SUCCESS;
    return result;
}

CUresult cuModuleUnload(CUmodule module)
{
    struct fake_module *m = (struct fake_module *)module;
    FAKE_ENTER();
    FAKE_NEEDS_IDLE();
    cuMemFree_v2((CUdeviceptr)(uintptr_t)m->kernel_names);
    cuMemFree_v2((CUdeviceptr)(uintptr_t)m->orchestration_names);
    free(m->kernel);
    free(m->orchestration);
    free(m);
    loaded--;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule module, const char *name)
{
    const struct fake_module *m = (const struct fake_module *)module;
    bool kernels = strcmp(name, TG_CUDA_KERNEL_NAMES) == 0;
    FAKE_ENTER();
    if (!kernels && strcmp(name, TG_CUDA_ORCHESTRATION_NAMES) != 0)
        return CUDA_ERROR_NOT_FOUND;
    *address = (CUdeviceptr)(uintptr_t)(kernels ? m->kernel_names : m->orchestration_names);
    *size = kernels ? m->kernel_names_size : m->orchestration_names_size;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    static const char *const names[FAKE_ENTRIES] = {TG_CUDA_SIZE_NAME, TG_CUDA_MAIN_NAME};
    FAKE_ENTER();
    for (int i = 0; i < FAKE_ENTRIES; i++) {
        struct fake_function *f;
        if (strcmp(name, names[i]) != 0)
            continue;
        f = calloc(1, sizeof *f);
        if (!f)
            return CUDA_ERROR_OUT_OF_MEMORY;
        *f = (struct fake_function){(const struct fake_module *)module, (enum fake_entry)i,
                                    48 << 10};
        *function = (CUfunction)f;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    FAKE_ENTER();
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > 227 << 10)
        return CUDA_ERROR_INVALID_VALUE;
    ((struct fake_function *)function)->shared = (unsigned)value;
    return CUDA_SUCCESS;
}
