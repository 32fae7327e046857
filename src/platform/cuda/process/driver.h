/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's driver, loaded when the device starts. No program is linked with it, so the same
 * programs run on machines without a driver. TG_CUDA_CALLS lists every driver function that is
 * used.
 */
#ifndef TG_CUDA_PROCESS_DRIVER_H
#define TG_CUDA_PROCESS_DRIVER_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

/* name, symbol in the library, parameters */
#define TG_CUDA_CALLS(X)                                                                  \
    X(init, cuInit, (unsigned flags))                                                     \
    X(error_name, cuGetErrorName, (CUresult error, const char **name))                    \
    X(error_text, cuGetErrorString, (CUresult error, const char **text))                  \
    X(device_count, cuDeviceGetCount, (int *count))                                       \
    X(device_get, cuDeviceGet, (CUdevice * device, int ordinal))                          \
    X(device_name, cuDeviceGetName, (char *name, int size, CUdevice device))              \
    X(device_attribute, cuDeviceGetAttribute,                                             \
      (int *value, CUdevice_attribute attribute, CUdevice device))                        \
    X(context_flags, cuDevicePrimaryCtxSetFlags_v2, (CUdevice device, unsigned flags))    \
    X(context_retain, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))   \
    X(context_use, cuCtxSetCurrent, (CUcontext context))                                  \
    X(context_limit, cuCtxSetLimit, (CUlimit limit, size_t value))                        \
    X(memory_info, cuMemGetInfo_v2, (size_t * free, size_t * total))                      \
    X(alloc, cuMemAlloc_v2, (CUdeviceptr * address, size_t size))                         \
    X(free, cuMemFree_v2, (CUdeviceptr address))                                          \
    X(set, cuMemsetD8_v2, (CUdeviceptr address, unsigned char value, size_t size))        \
    X(copy_in, cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t size))          \
    X(copy_out, cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t size))               \
    X(copy_in_async, cuMemcpyHtoDAsync_v2,                                                \
      (CUdeviceptr to, const void *from, size_t size, CUstream stream))                   \
    X(copy_out_async, cuMemcpyDtoHAsync_v2,                                               \
      (void *to, CUdeviceptr from, size_t size, CUstream stream))                         \
    X(host_register, cuMemHostRegister_v2, (void *start, size_t size, unsigned flags))    \
    X(host_unregister, cuMemHostUnregister, (void *start))                                \
    X(host_address, cuMemHostGetDevicePointer_v2,                                         \
      (CUdeviceptr * address, void *start, unsigned flags))                               \
    X(stream_create, cuStreamCreate, (CUstream * stream, unsigned flags))                 \
    X(stream_query, cuStreamQuery, (CUstream stream))                                     \
    X(stream_wait, cuStreamSynchronize, (CUstream stream))                                \
    X(module_load, cuModuleLoad, (CUmodule * module, const char *path))                   \
    X(module_load_data, cuModuleLoadData, (CUmodule * module, const void *image))         \
    X(link_create, cuLinkCreate_v2,                                                       \
      (unsigned n, CUjit_option *option, void **value, CUlinkState *link))                \
    X(link_add, cuLinkAddData_v2,                                                         \
      (CUlinkState link, CUjitInputType type, void *data, size_t size, const char *name,  \
       unsigned n, CUjit_option *option, void **value))                                   \
    X(link_complete, cuLinkComplete, (CUlinkState link, void **image, size_t *size))      \
    X(link_destroy, cuLinkDestroy, (CUlinkState link))                                    \
    X(module_unload, cuModuleUnload, (CUmodule module))                                   \
    X(module_function, cuModuleGetFunction,                                               \
      (CUfunction * function, CUmodule module, const char *name))                         \
    X(module_global, cuModuleGetGlobal_v2,                                                \
      (CUdeviceptr * address, size_t * size, CUmodule module, const char *name))          \
    X(function_set, cuFuncSetAttribute,                                                   \
      (CUfunction function, CUfunction_attribute attribute, int value))                   \
    X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                             \
      (int *blocks, CUfunction function, int threads, size_t shared))                     \
    X(launch, cuLaunchKernel,                                                             \
      (CUfunction function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, \
       unsigned bz, unsigned shared, CUstream stream, void **arguments, void **extra))    \
    X(launch_cooperative, cuLaunchCooperativeKernel,                                      \
      (CUfunction function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, \
       unsigned bz, unsigned shared, CUstream stream, void **arguments))

struct tg_cuda_driver {
#define TG_CUDA_SLOT(name, symbol, parameters) CUresult(CUDAAPI *name) parameters;
    TG_CUDA_CALLS(TG_CUDA_SLOT)
#undef TG_CUDA_SLOT
};

extern struct tg_cuda_driver tg_cuda;

/* False if there is no driver or it is too old; `why` gets the message. */
bool tg_cuda_load_driver(char *why, size_t size);
/* Waits for writes that a call without a stream has started (`set`, `copy_in`), unless that call failed.
 * Such a write may end after its call, and the streams of this process do not wait for it. */
CUresult tg_cuda_finish_write(CUresult result);
/* "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)" */
void tg_cuda_explain(CUresult result, char *text, size_t size);

#endif
