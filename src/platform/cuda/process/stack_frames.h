/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads from an image's bytes how much stack its functions take, and whether the file is complete.
 * The bytes come from a file that may be damaged, so every offset and size is checked.
 */
#ifndef TG_CUDA_PROCESS_STACK_FRAMES_H
#define TG_CUDA_PROCESS_STACK_FRAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of stack that each thread needs. */
struct tg_cuda_stacks {
    size_t kernels;        /* in a run of a graph that the host built */
    size_t orchestrations; /* in a run in which the device builds the graph */
    bool is_guess;         /* the image says nothing about its functions' frames */
};

/* False if the file begins like an image but parts of it are missing. True for any other file: the
 * driver will say what is wrong with it. */
bool tg_cuda_image_is_whole(const void *bytes, size_t size);

/* `stacks` is a guess if the image does not contain the needed data. */
void tg_cuda_image_stacks(const void *bytes, size_t size, struct tg_cuda_stacks *stacks);

#endif
