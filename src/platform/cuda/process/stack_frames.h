/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an image says of its functions, from its bytes alone: how much stack they take, and whether
 * the file is all there. The bytes are a file's like any other: nothing in them is taken on trust.
 */
#ifndef TG_CUDA_PROCESS_STACK_FRAMES_H
#define TG_CUDA_PROCESS_STACK_FRAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that each thread needs. */
struct tg_cuda_stacks {
    size_t kernels;        /* in a run of a graph of the host's, */
    size_t orchestrations; /* and where the device builds it */
};

/* False where the file begins as an image does and parts of it are missing. Of anything else the
 * driver knows better what it is. */
bool tg_cuda_image_is_whole(const void *bytes, size_t size);

/* Where the image does not tell, `stacks` is a guess. */
void tg_cuda_image_stacks(const void *bytes, size_t size, struct tg_cuda_stacks *stacks);

#endif
