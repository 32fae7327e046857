/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake CUDA driver, which needs no GPU. It has the functions that the platform cuda calls, and
 * runs kernels on threads of the CPU. So everything except the GPU's own code runs on a machine
 * without a GPU: the host's side, the process that holds the GPU, the names in images, pinning and
 * copying, faults, and the state of a context after one.
 *
 *   driver.c   the calls, devices and contexts, and failing on request
 *   memory.c   the GPU's memory, and the host's that was registered
 *   module.c   images: their names are read from them, functions come from the module beside them
 *   launch.c   the entry points of an image, with the device program of the simulators
 *
 * It is stricter than NVIDIA's driver. A thread without a context, an address that was not
 * allocated, a copy from memory that is not pinned, more blocks than fit at once, a launch while
 * another runs, memory or a module that come or go meanwhile, a stream used while writes of the default stream may be on their way: each is an error
 * here. Environment variables:
 *
 *   TASKGLASS_FAKE_CUDA_DEVICES=1                 number of GPUs; CUDA_VISIBLE_DEVICES=2,0 shows two of them
 *   TASKGLASS_FAKE_CUDA_MULTIPROCESSORS=128       number of multiprocessors
 *   TASKGLASS_FAKE_CUDA_CAPABILITY=90             compute capability 9.0
 *   TASKGLASS_FAKE_CUDA_MEMORY=BYTES              size of the GPU's memory
 *   TASKGLASS_FAKE_CUDA_PLACE=FILE                memory begins at the address in FILE if that is free, for the
 *                                                 one process that finds FILE first; it removes FILE, makes
 *                                                 FILE.used if the address was free, and then goes on once
 *                                                 somebody has removed that, or after ten seconds
 *   TASKGLASS_FAKE_CUDA_FAIL=cuMemAlloc_v2:2:1    that call returns error 2 from the first time on
 *   TASKGLASS_FAKE_CUDA_DEAF=3                    after every third run, the kernel waits for the next one,
 *                                                 does not take it, and leaves
 *   TASKGLASS_FAKE_CUDA_LANES=4                   threads that drain the ring of an orchestrator beside the GPU
 */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include "platform/cuda/launch.h"
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

/* CUDA_SUCCESS if the environment does not make this call fail, and the calling thread has a
 * context that is not lost. */
CUresult fake_enter(const char *symbol);
#define FAKE_ENTER()                             \
    do {                                         \
        CUresult entered = fake_enter(__func__); \
        if (entered != CUDA_SUCCESS)             \
            return entered;                      \
    } while (0)

/* A kernel has failed, and the context is lost; the first cause stays. */
void fake_lose(CUresult cause);

/* False while a kernel is on the GPU, also between two runs. */
bool fake_is_idle(void);
/* For calls for which NVIDIA's driver may wait until no kernel runs. */
#define FAKE_NEEDS_IDLE()                    \
    do {                                     \
        if (!fake_is_idle())                 \
            return CUDA_ERROR_ILLEGAL_STATE; \
    } while (0)

unsigned long long fake_number(const char *name, unsigned long long otherwise);
unsigned fake_multiprocessors(void);

/* True if the whole range is in one allocation, or registered. */
bool fake_is_device(uint64_t address, uint64_t size);
bool fake_is_registered(const void *start, uint64_t size);

/* The default stream's writes (cuMemsetD8, cuMemcpyHtoD) may end after the call that starts them, and
 * streams made with CU_STREAM_NON_BLOCKING do not wait for them. */
void fake_default_stream_writes(bool pending);
bool fake_default_stream_is_done(void);

struct fake_module {
    char *kernel_names, *orchestration_names; /* copies of the image's names in the GPU's memory */
    size_t kernel_names_size, orchestration_names_size;
    tg_kernel_fn *kernel;
    tg_orchestrate_fn *orchestration;
};

enum fake_entry { FAKE_SIZE, FAKE_MAIN, FAKE_ENTRIES };

struct fake_function {
    const struct fake_module *module;
    enum fake_entry entry;
    unsigned shared; /* shared memory that a block may use, in bytes */
};

#endif
