/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the process that holds a GPU share. */
#ifndef TG_CUDA_PROCESS_GPU_PROCESS_H
#define TG_CUDA_PROCESS_GPU_PROCESS_H

#include "platform/cuda/process/driver.h"
#include "platform/cuda/launch.h"
#include "platform/process/protocol.h"
#include <pthread.h>
#include <taskglass/status.h>
#include <taskglass/wire/device.h>
#include <taskglass/workload.h>

/* A module's image, and what a launch of it needs. */
struct tg_cuda_image {
    struct tg_cuda_image *next;
    const struct tg_workload *workload;
    uint32_t first; /* number of its first kernel */
    CUfunction prepare, main;
    CUdeviceptr table, number, site;
    uint32_t orchestration;
    size_t kernel_stack, orchestration_stack; /* bytes of each thread */
};

struct tg_cuda_device {
    CUcontext context;
    CUdevice gpu;
    char name[96];
    int multiprocessors;
    int threads; /* resident on each */
    int capability;
    char *shared; /* memory that the host sees */
    uint64_t shared_size;
    struct tg_control_head *head;
    struct tg_cuda_words *words;
    CUdeviceptr memory; /* that it does not see */
    uint64_t memory_size;
    CUdeviceptr engine;
    uint32_t n_cores, n_schedulers;
    struct tg_cuda_image *images;
    CUstream runner, mover;
    size_t stack;  /* bytes that a thread has */
    bool laid_out; /* the engine, once and for all runs */
    /* the run that is to be waited for */
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool running;
};

/* open.c: the GPU, its memory, the control area; `init` becomes the answer. */
tg_status tg_cuda_open(struct tg_cuda_device *d, struct tg_process_message *init, char *why,
                       size_t size);
/* load.c: a module's image. */
tg_status tg_cuda_load(struct tg_cuda_device *d, const struct tg_process_message *message,
                       char *why, size_t size);
/* stack.c: what the functions of the image at this path need, if it is one; */
tg_status tg_cuda_measure_stack(const char *path, struct tg_cuda_image *image, char *why,
                                size_t size);
/* gives each thread that much, if it has less; */
tg_status tg_cuda_set_stack(struct tg_cuda_device *d, size_t bytes, char *why, size_t size);
/* says that there is not so much. */
tg_status tg_cuda_no_stack(const struct tg_cuda_device *d, size_t bytes, char *why, size_t size);
/* run.c: starts the launch at that address; the end is told to the host by a thread. */
void tg_cuda_run(struct tg_cuda_device *d, uint64_t launch);
bool tg_cuda_start_runner(struct tg_cuda_device *d);
/* move.c: a thread that moves bytes for the host, also while a run is under way. */
bool tg_cuda_start_mover(struct tg_cuda_device *d);

/* The GPU has failed: leaves what is known in the control area and ends the process. Only where a
 * kernel has done it (tg_cuda_is_fault) is it told as one. */
_Noreturn void tg_cuda_die(struct tg_cuda_device *d, CUresult result);

/* Is it one that a kernel has made? The context is of no more use then. */
bool tg_cuda_is_fault(CUresult result);

/* An error of the driver in words: "cannot <what>: …", and what to do if memory is short. */
tg_status tg_cuda_failed(CUresult result, const char *what, char *why, size_t size);

#endif
