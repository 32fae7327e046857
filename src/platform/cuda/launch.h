/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the process that holds a GPU and the kernel that runs on it tell each other.
 *
 *   shared memory (the host's, registered with the driver)      the GPU's own memory
 *   ┌──────┬────────┬───────┬─────────┬───────────────────┐     ┌────────┬──────────────────────┐
 *   │ head │ status │ words │ bounces │ recording streams │     │ engine │ tensors, graphs      │
 *   └──────┴────────┴───────┴─────────┴───────────────────┘     └────────┴──────────────────────┘
 *
 * A module's image (NAME.cubin, beside NAME.so) is the device program linked with the workload's
 * kernels. It has these entry points, and the names of its functions:
 *
 *   tg_cuda_size      says how much memory the engine wants
 *   tg_cuda_prepare   one block: lays the engine out and fills its queues
 *   tg_cuda_main      cooperative: a block for every lane, every scheduler, and one more, for the
 *                     orchestrator and for looking at `words`
 */
#ifndef TG_CUDA_LAUNCH_H
#define TG_CUDA_LAUNCH_H

#include <stdint.h>
#include <taskglass/wire/assert.h>

/* A core's threads: those that run kernels, and the warp that runs the device program. */
enum { TG_CUDA_THREADS = 256, TG_CUDA_BLOCK = TG_CUDA_THREADS + 32 };
/* Of such blocks on one multiprocessor, for which registers are left. */
enum { TG_CUDA_RESIDENT = 2 };
/* Threads that prepare a run. With more than 640 each would have fewer registers than the 96 that a
 * function may take (cmake/TaskglassCuda.cmake), and some architectures' images would not link. */
enum { TG_CUDA_PREPARE = 512 };

/* Shared memory of a block: for kernels, as <taskglass/target.h> promises, and for orders to them. */
enum { TG_CUDA_SHARED = 65536 + 1024 };
/* Where the words lie in the memory that the host sees, behind the status of all workers that there
 * can be; */
enum { TG_CUDA_WORDS = 32768 };
/* and how much of it is for copies on their way. */
enum { TG_CUDA_BOUNCE = 8 << 20 };

/* In shared memory; one writer each. */
struct tg_cuda_words {
    uint32_t stop;  /* the process: no more tasks are to be started */
    uint32_t phase; /* the last block to leave a run: enum tg_phase_word */
    uint32_t
        dying; /* the process: a kernel has failed, and what is known of it is being gathered */
    uint32_t reserved[13];
};
TG_WIRE_SIZE(struct tg_cuda_words, 64);

/* Addresses are those of the GPU. */
struct tg_cuda_launch {
    uint64_t engine; /* memory for it */
    uint64_t status; /* struct tg_worker_status[] */
    uint64_t words;  /* struct tg_cuda_words */
    uint64_t launch; /* struct tg_launch */
    uint64_t table;  /* tg_kernel_fn[n_kernels]: room for the module's kernels, in its order */
    uint64_t number; /* uint32_t[n_kernels]: where each is among the image's functions */
    uint64_t site;   /* where the orchestration is defined: text */
    uint32_t n_kernels;
    uint32_t first_kernel;  /* the device's number for the module's first */
    uint32_t orchestration; /* number among the image's */
    uint32_t n_cores;
    uint32_t n_schedulers;
    uint32_t is_new; /* nothing has been laid out in the engine's memory yet */
};

#define TG_CUDA_SIZE_NAME "tg_cuda_size"
#define TG_CUDA_PREPARE_NAME "tg_cuda_prepare"
#define TG_CUDA_MAIN_NAME "tg_cuda_main"
/* char[]: the names of the image's kernels, one after the other, each ending in a zero, an empty
 * one at the end; and of its orchestrations. */
#define TG_CUDA_KERNEL_NAMES "tg_cuda_kernel_names"
#define TG_CUDA_ORCHESTRATION_NAMES "tg_cuda_orchestration_names"

#endif
