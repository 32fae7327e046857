/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data that the GPU's process and the kernel on the GPU exchange.
 *
 *   shared memory (the host's, registered with the driver)           the GPU's own memory
 *   ┌──────┬────────┬───────┬───────┬──────┬────────┬──────────────┐   ┌────────┬─────────────────┐
 *   │ head │ status │ words │ calls │ feed │ bounce │ streams, …   │   │ engine │ tensors, graphs │
 *   └──────┴────────┴───────┴───────┴──────┴────────┴──────────────┘   └────────┴─────────────────┘
 *
 * A module's image (NAME.cubin, beside NAME.so) is the device program linked with the workload's
 * kernels. It contains the names of its functions and these entry points:
 *
 *   tg_cuda_size      computes the size of the engine's memory
 *   tg_cuda_main      cooperative: a block for every lane, every scheduler, and one more, for the
 *                     orchestrator, or for draining `feed`, and for watching `words`. It makes the engine ready for a run, runs
 *                     it, and may stay for the next one (bell.h says how, gpu/stay.h what its blocks do)
 */
#ifndef TG_CUDA_LAUNCH_H
#define TG_CUDA_LAUNCH_H

#include <stdint.h>
#include <taskglass/wire/assert.h>

/* The threads of a core: those that run kernels, and one more warp that runs the device program. */
enum { TG_CUDA_THREADS = 256, TG_CUDA_BLOCK = TG_CUDA_THREADS + 32 };
/* The number of blocks that must fit on one multiprocessor; it limits registers per thread. */
enum { TG_CUDA_RESIDENT = 2 };
/* The registers that a function may use, so that this many fit (cmake/TaskglassCuda.cmake says the same). */
enum { TG_CUDA_REGISTERS = 96 };

/* A block's shared memory: for kernels, as <taskglass/target.h> promises, and for tg_orders. */
enum { TG_CUDA_SHARED = 65536 + 14336 };
/* The offset of the words in shared host memory, behind the status of the most workers possible. */
enum { TG_CUDA_WORDS = 132 << 10 };
/* The size of the bounce buffer in shared host memory, for copies to and from the GPU. */
enum { TG_CUDA_BOUNCE = 8 << 20 };

/* In shared host memory; each line has one writer. bell.h has what the words say to each other. */
struct tg_cuda_words {
    /* the process */
    uint32_t stop; /* start no more tasks of the run */
    uint32_t bell;
    uint64_t launch; /* struct tg_launch of the run */
    uint32_t reserved[12];
    /* the watch */
    uint32_t heard;
    uint32_t reserved_too[15];
    /* the last worker to leave a run */
    uint32_t ended;
    uint32_t reserved_as_well[15];
};
TG_WIRE_SIZE(struct tg_cuda_words, 192);

/* All addresses are the GPU's. */
struct tg_cuda_launch {
    uint64_t engine; /* the engine's memory */
    uint64_t status; /* struct tg_worker_status[] */
    uint64_t words;  /* struct tg_cuda_words */
    uint64_t calls;  /* struct tg_cuda_calls */
    uint64_t launch; /* struct tg_launch of the first run */
    uint64_t table;  /* tg_kernel_fn[n_kernels]: filled with the module's kernels, in its order */
    uint64_t number; /* uint32_t[n_kernels]: each kernel's index among the image's functions */
    uint64_t site;   /* text: where the orchestration is defined */
    uint64_t feed;   /* struct tg_feed_ring, for an orchestrator beside the GPU */
    uint32_t n_kernels;
    uint32_t first_kernel;  /* the device's number of the module's first kernel */
    uint32_t orchestration; /* index among the image's orchestrations */
    uint32_t n_cores;
    uint32_t n_schedulers;
    uint32_t is_new;    /* the engine's memory is not laid out yet */
    uint32_t call;      /* of the first run (bell.h) */
    uint64_t linger_ns; /* how long the kernel stays after a run and waits for the next */
};

#define TG_CUDA_SIZE_NAME "tg_cuda_size"
#define TG_CUDA_MAIN_NAME "tg_cuda_main"
/* char[]: the names of the image's kernels, and of its orchestrations. Each name ends in a zero
 * byte; an empty name ends the list. */
#define TG_CUDA_KERNEL_NAMES "tg_cuda_kernel_names"
#define TG_CUDA_ORCHESTRATION_NAMES "tg_cuda_orchestration_names"

#endif
