/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the driver from putting the GPU's memory where the host has something. */
#ifndef TG_CUDA_PROCESS_GPU_PLACE_H
#define TG_CUDA_PROCESS_GPU_PLACE_H

#include <stdint.h>

enum { TG_CUDA_SPANS = 256 };

struct tg_cuda_span {
    uint64_t first, end;
};

/* Addresses that this process has reserved for nobody. */
struct tg_cuda_kept {
    struct tg_cuda_span span[TG_CUDA_SPANS];
    uint32_t n;
};

/* Reserves what is free here of the addresses that the host uses, as far as the system shows them and
 * allows it. */
void tg_cuda_keep_clear(struct tg_cuda_kept *kept, int32_t host_pid);
void tg_cuda_keep_no_more(struct tg_cuda_kept *kept);

#endif
