/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "platform/cuda/process/driver.h"
#include "platform/cuda/library.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct tg_cuda_driver tg_cuda;

static bool find(void *library, const char *symbol, void *slot, char *why, size_t size)
{
    void *address = dlsym(library, symbol);
    if (address == NULL) {
        snprintf(why, size, "NVIDIA's driver is too old: it has no %s", symbol);
        return false;
    }
    memcpy(slot, &address, sizeof address);
    return true;
}

bool tg_cuda_load_driver(char *why, size_t size)
{
    void *library = dlopen(tg_cuda_library(), RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(why, size, "no NVIDIA driver: %s", dlerror());
        return false;
    }
#define FIND(name, symbol, parameters)                             \
    if (!find(library, #symbol, (void *)&tg_cuda.name, why, size)) \
        return false;
    TG_CUDA_CALLS(FIND)
#undef FIND
    return true;
}

CUresult tg_cuda_finish_write(CUresult result)
{
    return result == CUDA_SUCCESS ? tg_cuda.stream_wait(NULL) : result;
}

void tg_cuda_explain(CUresult result, char *text, size_t size)
{
    const char *name = NULL, *words = NULL;
    if (tg_cuda.error_name == NULL || tg_cuda.error_name(result, &name) != CUDA_SUCCESS)
        name = "unknown";
    if (tg_cuda.error_text == NULL || tg_cuda.error_text(result, &words) != CUDA_SUCCESS)
        words = "error";
    snprintf(text, size, "%s (%s)", words, name);
}
