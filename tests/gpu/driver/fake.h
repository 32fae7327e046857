/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's driver without a GPU: as much of it as the platform cuda calls, on threads of the CPU, so
 * that everything but the GPU's own code runs where there is none: the host's end, the process that
 * holds the GPU, the names in images, pinning and copying, faults and what is left of a context
 * after one.
 *
 *   driver.c   the calls, devices and contexts, and failing on request
 *   memory.c   the GPU's memory, and the host's that was registered
 *   module.c   images: their names are read from them, functions come from the module beside them
 *   launch.c   the entry points of an image, with the device program of the simulators
 *
 * It is stricter than NVIDIA's. A thread without a context, an address that nobody allocated, a copy
 * from memory that is not pinned, more blocks than are resident, a launch while another runs: each
 * is an error here. What the environment may say:
 *
 *   SOFT_GPU_MULTIPROCESSORS=128       how many there are
 *   SOFT_GPU_CAPABILITY=90             compute capability 9.0
 *   SOFT_GPU_MEMORY=BYTES              how much there is
 *   SOFT_GPU_FAIL=cuMemAlloc_v2:2:1    that call gives error 2 from the first time on, and for ever
 */
#ifndef SOFT_GPU_H
#define SOFT_GPU_H

#include "platform/cuda/launch.h"
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

/* Of a call that was not told to fail, by a thread that has a context that was not lost. */
CUresult soft_enter(const char *symbol);
#define SOFT_ENTER()                             \
    do {                                         \
        CUresult entered = soft_enter(__func__); \
        if (entered != CUDA_SUCCESS)             \
            return entered;                      \
    } while (0)

/* A kernel has failed, and with it the context: the first cause stays. */
void soft_lose(CUresult cause);

unsigned long long soft_number(const char *name, unsigned long long otherwise);
unsigned soft_multiprocessors(void);

/* Is all of it in one allocation, or registered? */
bool soft_is_device(uint64_t address, uint64_t size);
bool soft_is_registered(const void *start, uint64_t size);

struct soft_module {
    char *kernel_names, *orchestration_names; /* in the GPU's memory, as in the image */
    size_t kernel_names_size, orchestration_names_size;
    tg_kernel_fn *kernel;
    tg_orchestrate_fn *orchestration;
};

enum soft_entry { SOFT_SIZE, SOFT_PREPARE, SOFT_MAIN, SOFT_ENTRIES };

struct soft_function {
    const struct soft_module *module;
    enum soft_entry entry;
    unsigned shared; /* bytes that a block may ask for */
};

#endif
