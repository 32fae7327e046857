/* SPDX-License-Identifier: Apache-2.0 */
/* The library to load as NVIDIA's driver: the system's, or the one in TASKGLASS_CUDA_DRIVER. */
#ifndef TG_CUDA_LIBRARY_H
#define TG_CUDA_LIBRARY_H

#include <stdlib.h>

/* The library that TASKGLASS_CUDA_DRIVER names; NULL: use the system's. */
static inline const char *tg_cuda_named_library(void)
{
    const char *named = secure_getenv("TASKGLASS_CUDA_DRIVER");
    return named && *named ? named : NULL;
}

static inline const char *tg_cuda_library(void)
{
    const char *named = tg_cuda_named_library();
    return named ? named : "libcuda.so.1";
}

#endif
