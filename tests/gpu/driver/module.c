/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "fake.h"
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/workload.h>

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

struct wanted {
    const char *names;
    void *found; /* the library that was loaded last */
};

static int has_functions(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct wanted *wanted = argument;
    void *library = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD), *none[64];
    (void)size;
    if (library && *wanted->names && count_names(wanted->names) <= 64 &&
        dlsym(library, TG_WORKLOAD_SYMBOL) && find_functions(library, wanted->names, none))
        wanted->found = library;
    return 0;
}

/* For an image that came without a path: of the libraries that have its kernels, the one loaded last. */
static void *find_library_with(const char *names)
{
    struct wanted wanted = {names, NULL};
    dl_iterate_phdr(has_functions, &wanted);
    return wanted.found;
}

/* The names are in m, or in the image. */
static CUresult fill(struct fake_module *m, const char *image, const char *path)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
    void *library;
    if (image && (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_machine != MACHINE_CUDA))
        return CUDA_ERROR_INVALID_IMAGE;
    if (image) {
        m->kernel_names = read_object(image, TG_CUDA_KERNEL_NAMES, &m->kernel_names_size);
        m->orchestration_names =
            read_object(image, TG_CUDA_ORCHESTRATION_NAMES, &m->orchestration_names_size);
    }
    if (!m->kernel_names || !m->orchestration_names)
        return CUDA_ERROR_INVALID_IMAGE;
    library = path ? find_library(path) : find_library_with(m->kernel_names);
    if (!library)
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

/* ── images without a file, and linking ────────────────────────────────────────────────── */

/* What cuLinkComplete gives: no code, only the names that were in the PTX. */
struct linked {
    char magic[16];
    char *kernel_names, *orchestration_names;
    size_t kernel_names_size, orchestration_names_size;
};
static const char LINKED[16] = "linked by fake";

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    FAKE_ENTER();
    struct linked linked;
    struct fake_module *m = calloc(1, sizeof *m);
    bool is_linked = memcmp(image, LINKED, sizeof LINKED) == 0;
    if (!m)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (is_linked) {
        memcpy(&linked, image, sizeof linked);
        *m = (struct fake_module){.kernel_names = linked.kernel_names,
                                  .kernel_names_size = linked.kernel_names_size,
                                  .orchestration_names = linked.orchestration_names,
                                  .orchestration_names_size = linked.orchestration_names_size};
    }
    *module = (CUmodule)m;
    loaded++; /* cuModuleUnload counts it, too */
    return fill(m, is_linked ? NULL : image, NULL);
}

/* Reads "NAME[3] = {97, 98, 0};" from PTX, into the GPU's memory. */
static char *read_bytes(const char *text, const char *name, size_t *size)
{
    char head[64], *end;
    CUdeviceptr copy;
    snprintf(head, sizeof head, " %s[", name);
    const char *at = strstr(text, head);
    if (!at)
        return NULL;
    *size = strtoull(at + strlen(head), &end, 10);
    if (*size == 0 || cuMemAlloc_v2(&copy, *size) != CUDA_SUCCESS)
        return NULL;
    memset((char *)(uintptr_t)copy, 0, *size);
    at = end + strcspn(end, "{;"); /* an array of zeros has no values */
    for (size_t i = 0; i < *size && *at && *at != '}' && *at != ';'; i++, at = end)
        ((char *)(uintptr_t)copy)[i] = (char)strtoul(at + 1, &end, 10);
    return (char *)(uintptr_t)copy;
}

CUresult cuLinkCreate_v2(unsigned n, CUjit_option *option, void **value, CUlinkState *link)
{
    FAKE_ENTER();
    struct linked *l = calloc(1, sizeof *l);
    if (!l)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(l->magic, LINKED, sizeof LINKED);
    *link = (CUlinkState)l;
    return n == 1 && option[0] == CU_JIT_MAX_REGISTERS && (uintptr_t)value[0] == TG_CUDA_REGISTERS
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

/* Wants PTX for this GPU or an older one. */
CUresult cuLinkAddData_v2(CUlinkState link, CUjitInputType type, void *data, size_t size,
                          const char *name, unsigned n, CUjit_option *option, void **value)
{
    FAKE_ENTER();
    struct linked *l = (struct linked *)link;
    const char *text = data, *target;
    (void)name, (void)option, (void)value;
    if (type != CU_JIT_INPUT_PTX || size == 0 || text[size - 1] != 0 || n != 0)
        return CUDA_ERROR_INVALID_VALUE;
    target = strstr(text, ".target sm_");
    if (!target || !strstr(text, ".version "))
        return CUDA_ERROR_INVALID_PTX;
    if (strtoull(target + 11, NULL, 10) > fake_number("TASKGLASS_FAKE_CUDA_CAPABILITY", 90))
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (!l->kernel_names)
        l->kernel_names = read_bytes(text, TG_CUDA_KERNEL_NAMES, &l->kernel_names_size);
    if (!l->orchestration_names)
        l->orchestration_names =
            read_bytes(text, TG_CUDA_ORCHESTRATION_NAMES, &l->orchestration_names_size);
    return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState link, void **image, size_t *size)
{
    FAKE_ENTER();
    *image = link;
    *size = sizeof(struct linked);
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState link)
{
    FAKE_ENTER();
    free(link);
    return CUDA_SUCCESS;
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
