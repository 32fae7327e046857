/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who calls whom, and how much stack the longest way down takes. Functions are numbers; nothing here
 * depends on what they are, and no graph, whatever its shape, takes more than time and memory in
 * proportion to its size.
 */
#ifndef TG_CUDA_PROCESS_CALL_PATHS_H
#define TG_CUDA_PROCESS_CALL_PATHS_H

#include <stdbool.h>
#include <stdint.h>

struct tg_call {
    uint32_t from, to;
};

/* The calls of each function, behind one another: those of f are to[first[f]] … to[first[f + 1] - 1]. */
struct tg_calls {
    uint32_t n_functions;
    uint32_t *first, *to;
};

/* What is known of a function. */
enum {
    TG_CALLED_OURS = 1, /* of the device program */
    TG_CALLED_GONE = 2, /* nobody calls it in this run */
};

/* False where there is no memory; numbers have to be below n_functions. */
bool tg_calls_init(struct tg_calls *calls, uint32_t n_functions, const struct tg_call *call,
                   uint32_t n_calls);
void tg_calls_destroy(struct tg_calls *calls);

/* Marks with `mark` whatever those that have it call, directly or not. */
bool tg_calls_spread(const struct tg_calls *calls, uint8_t *marks, uint8_t mark);

/* The bytes that the functions on the longest way down from `root` take, itself included. Those
 * that call one another in a circle are counted as often as a circle may be gone round. */
bool tg_calls_deepest(const struct tg_calls *calls, const uint32_t *bytes, const uint8_t *marks,
                      uint32_t root, uint64_t *deepest);

#endif
