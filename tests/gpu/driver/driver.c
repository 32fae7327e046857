/* SPDX-License-Identifier: Apache-2.0 */
#include "fake.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __thread bool has_context;
static CUresult lost; /* why the context can no longer be used */
static size_t stack = 1024;

unsigned long long fake_number(const char *name, unsigned long long otherwise)
{
    const char *value = getenv(name);
    return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

unsigned fake_multiprocessors(void)
{
    return (unsigned)fake_number("TASKGLASS_FAKE_CUDA_MULTIPROCESSORS", 128);
}

/* "symbol:error:n" fails the symbol from its nth call on. */
static CUresult told_to_fail(const char *symbol)
{
    static unsigned calls;
    const char *told = getenv("TASKGLASS_FAKE_CUDA_FAIL");
    size_t length = strlen(symbol);
    unsigned error = CUDA_ERROR_UNKNOWN, first = 1;
    if (!told || strncmp(told, symbol, length) != 0 || told[length] != ':')
        return CUDA_SUCCESS;
    sscanf(told + length, ":%u:%u", &error, &first);
    return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) >= first ? (CUresult)error
                                                                    : CUDA_SUCCESS;
}

CUresult fake_enter(const char *symbol)
{
    CUresult cause = told_to_fail(symbol);
    if (cause == CUDA_SUCCESS)
        cause = __atomic_load_n(&lost, __ATOMIC_ACQUIRE);
    return cause != CUDA_SUCCESS ? cause : has_context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

void fake_lose(CUresult cause)
{
    CUresult none = CUDA_SUCCESS;
    __atomic_compare_exchange_n(&lost, &none, cause, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* ── devices and contexts: these need no context ───────────────────────────────────────── */

CUresult cuInit(unsigned flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : told_to_fail(__func__);
}

/* Names and texts of the errors that tests check for. */
static const struct {
    CUresult error;
    const char *name, *text;
} errors[] = {
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static CUresult explain(CUresult error, const char **name, const char **text)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == error) {
            *(name ? name : text) = name ? errors[i].name : errors[i].text;
            return CUDA_SUCCESS;
        }
    *(name ? name : text) = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
    return explain(error, name, NULL);
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    return explain(error, NULL, text);
}

/* A list of numbers, of which the first that is no GPU ends it, as NVIDIA's driver does. Returns how many
 * it shows; *device is the one at `ordinal`, if it is one of them. */
static int visible(int ordinal, CUdevice *device)
{
    unsigned long long all = fake_number("TASKGLASS_FAKE_CUDA_DEVICES", 1);
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    int count = 0;
    if (!list) {
        *device = ordinal;
        return (int)all;
    }
    for (char *end; *list; list = *end == ',' ? end + 1 : end) {
        unsigned long long number = strtoull(list, &end, 10);
        if (end == list || number >= all)
            break;
        if (count++ == ordinal)
            *device = (CUdevice)number;
    }
    return count;
}

CUresult cuDeviceGetCount(int *count)
{
    CUdevice none;
    *count = visible(-1, &none);
    return told_to_fail(__func__);
}

/* A device's handle is its number among all, so that the others need not know what is visible. */
CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    return ordinal >= 0 && ordinal < visible(ordinal, device) ? told_to_fail(__func__)
                                                              : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    if (device == 0)
        snprintf(name, (size_t)size, "GPU made of threads");
    else
        snprintf(name, (size_t)size, "GPU made of threads, number %d", device);
    return told_to_fail(__func__);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    int capability = (int)fake_number("TASKGLASS_FAKE_CUDA_CAPABILITY", 90);
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = (int)fake_multiprocessors();
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = capability / 10;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = capability % 10;
        break;
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
        *value = 0;
        break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        *value = 1 + device;
        break;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
        *value = 1;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return told_to_fail(__func__);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
    (void)device;
    (void)flags;
    return told_to_fail(__func__);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    (void)device;
    *context = (CUcontext)&lost;
    return told_to_fail(__func__);
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    if (context != (CUcontext)&lost)
        return CUDA_ERROR_INVALID_CONTEXT;
    has_context = true;
    return told_to_fail(__func__);
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    FAKE_ENTER();
    FAKE_NEEDS_IDLE();
    if (limit != CU_LIMIT_STACK_SIZE || value < stack)
        return CUDA_ERROR_INVALID_VALUE;
    stack = value;
    return CUDA_SUCCESS;
}
