/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the process that holds a GPU. */
#ifndef TG_CUDA_PROCESS_GPU_PROCESS_H
#define TG_CUDA_PROCESS_GPU_PROCESS_H

#include "platform/cuda/process/driver.h"
#include "platform/cuda/calls.h"
#include "platform/cuda/launch.h"
#include "device/feed.h"
#include "platform/process/protocol.h"
#include <pthread.h>
#include <taskglass/status.h>
#include <taskglass/wire/device.h>
#include <taskglass/workload.h>

/* A module's image, and what a launch needs from it. */
struct tg_cuda_image {
    struct tg_cuda_image *next;
    const struct tg_workload *workload;
    uint32_t first; /* the device's number of its first kernel */
    CUfunction main;
    CUdeviceptr table, number, site;
    uint32_t orchestration;
    size_t kernel_stack, orchestration_stack; /* bytes per thread */
    bool guessed_stack;
};

/* The kernel, and the run that it has. The lock is held by whoever writes the process's words (bell.h). */
struct tg_cuda_turn {
    pthread_mutex_t lock;
    const struct tg_cuda_image *image; /* whose kernel may be on the GPU; NULL: none is */
    uint64_t launch;                   /* of the run */
    uint32_t run;
    bool running;
    bool lingered;  /* the run was rung for */
    uint64_t began; /* when it had begun, in ns; 0: it has not */
    uint64_t since; /* when it was started, or the last one ended */
    uint32_t looks;
};

struct tg_cuda_device {
    CUcontext context;
    CUdevice gpu;
    uint32_t index, count; /* its number among those that the driver shows, and how many it shows */
    char name[96];
    int multiprocessors;
    int threads; /* resident threads per multiprocessor */
    int capability;
    char *shared; /* memory that the host sees too */
    uint64_t shared_size;
    struct tg_control_head *head;
    struct tg_cuda_words *words;
    struct tg_cuda_calls *calls;
    struct tg_feed_ring *feed;
    struct tg_beside
        *beside;        /* gpu_orchestrate.c: the orchestrator beside the GPU; NULL: none so far */
    CUdeviceptr memory; /* the GPU's own memory */
    uint64_t memory_size;
    CUdeviceptr engine;
    uint32_t n_cores, n_schedulers;
    struct tg_cuda_image *images;
    CUstream runner, mover;
    size_t stack;       /* bytes per thread, as set in the driver */
    bool laid_out;      /* the engine's memory; true after the first run */
    uint64_t linger_ns; /* how long a kernel stays after a run */
    struct tg_cuda_turn turn;
    /* The same for the threads of calls; they hold the lock while they use the rings. */
    pthread_mutex_t calls_lock;
    pthread_cond_t calls_change;
    uint32_t calls_run; /* number of the run that has calls; 0: none */
};

/* gpu_open.c: opens the GPU, its memory and the control area; `init` becomes the answer. */
tg_status tg_cuda_open(struct tg_cuda_device *d, struct tg_process_message *init, char *why,
                       size_t size);
/* gpu_load.c: loads a module's image. */
tg_status tg_cuda_load(struct tg_cuda_device *d, const struct tg_process_message *message,
                       char *why, size_t size);
/* gpu_image.c: loads the code for this GPU from the file at `path`, and notes the stack that it needs. */
tg_status tg_cuda_load_code(const struct tg_cuda_device *d, const char *path,
                            struct tg_cuda_image *image, CUmodule *module, char *why, size_t size);
/* stack_size.c: the bytes of a file, to be freed. NULL, with a message: it cannot be read. */
char *tg_cuda_read_image(const char *path, size_t *n_bytes, char *why, size_t size);
/* IO_ERROR, with a message that names the file. */
tg_status tg_cuda_damaged(const char *path, size_t n_bytes, char *why, size_t size);
/* Measures how much stack the functions of an image need, which is from that file. */
tg_status tg_cuda_measure_stack(const char *path, const void *bytes, size_t n_bytes,
                                struct tg_cuda_image *image, char *why, size_t size);
/* Gives each thread that much stack, if it has less. */
tg_status tg_cuda_set_stack(struct tg_cuda_device *d, size_t bytes, char *why, size_t size);
/* NO_MEMORY, with a message: the GPU has no room for such stacks. */
tg_status tg_cuda_no_stack(const struct tg_cuda_device *d, size_t bytes, char *why, size_t size);
/* gpu_run.c, for the main thread: starts the run that the message describes; looks whether it has ended and
 * tells the host; says how many nanoseconds may pass before the next look, UINT64_MAX: as many as you like. */
void tg_cuda_run(struct tg_cuda_device *d, const struct tg_process_message *launch);
void tg_cuda_look(struct tg_cuda_device *d);
uint64_t tg_cuda_patience(const struct tg_cuda_device *d);
/* gpu_turn.c: starts the run that `turn` describes, on the kernel that has stayed or on a new one. */
CUresult tg_cuda_turn_start(struct tg_cuda_device *d, const struct tg_cuda_image *image);
/* Any thread: has a kernel leave that waits for a run, and waits until it has left; one that has a run leaves
 * after it. For whatever the driver does only while no kernel runs. */
void tg_cuda_send_away(struct tg_cuda_device *d);
/* gpu_move.c: starts a thread that copies bytes for the host, also during a run. */
bool tg_cuda_start_mover(struct tg_cuda_device *d);

/* The GPU has failed: writes what is known into the control area and ends the process. Reports a
 * kernel fault only if a kernel caused it (tg_cuda_is_fault). */
_Noreturn void tg_cuda_die(struct tg_cuda_device *d, CUresult result);

/* True if a kernel caused this error. The context is unusable then. */
bool tg_cuda_is_fault(CUresult result);

/* Writes a driver error as "cannot <what>: ...", with advice if memory is short. */
tg_status tg_cuda_failed(CUresult result, const char *what, char *why, size_t size);

/* gpu_calls.c: threads that carry calls of communication; `begin` before a run whose struct tg_comm_setup
 * is at that address, or 0, and `end` after it. */
bool tg_cuda_start_calls(struct tg_cuda_device *d);
CUresult tg_cuda_calls_begin(struct tg_cuda_device *d, uint64_t setup, uint32_t run);
void tg_cuda_calls_end(struct tg_cuda_device *d);

/* gpu_orchestrate.c: a thread of this process that orchestrates the run of the launch at that address. `stop`
 * makes its calls do nothing; it has ended once the orchestration has returned and the GPU drains no more. */
tg_status tg_cuda_beside_start(struct tg_cuda_device *d, uint64_t address,
                               const struct tg_workload *workload, char *why, size_t size);
void tg_cuda_beside_stop(struct tg_cuda_device *d);
/* Has an orchestration that runs there write into its status where it is. */
void tg_cuda_beside_locate(const struct tg_cuda_device *d);
bool tg_cuda_beside_has_ended(const struct tg_cuda_device *d);

#endif
