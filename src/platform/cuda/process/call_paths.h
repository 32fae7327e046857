/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph of calls, and the stack that the longest path down takes. Functions are numbers here.
 * Time and memory are proportional to the size of the graph, whatever its shape.
 */
#ifndef TG_CUDA_PROCESS_CALL_PATHS_H
#define TG_CUDA_PROCESS_CALL_PATHS_H

#include <stdbool.h>
#include <stdint.h>

struct tg_call {
    uint32_t from, to;
};

/* Function f calls to[first[f]] … to[first[f + 1] - 1]. */
struct tg_calls {
    uint32_t n_functions;
    uint32_t *first, *to;
};

/* Marks of a function. */
enum {
    TG_CALLED_OURS = 1, /* belongs to the device program */
    TG_CALLED_GONE = 2, /* not called in this run */
};

/* False if memory runs out. All numbers must be below n_functions. */
bool tg_calls_init(struct tg_calls *calls, uint32_t n_functions, const struct tg_call *call,
                   uint32_t n_calls);
void tg_calls_destroy(struct tg_calls *calls);

/* Gives `mark` to every function that a marked function calls, directly or not. False if memory
 * runs out. */
bool tg_calls_spread(const struct tg_calls *calls, uint8_t *marks, uint8_t mark);

/* The bytes of stack on the longest path down from `root`, which is included. Functions that call
 * each other in a cycle count once for each round that the cycle may take. False if memory runs
 * out. */
bool tg_calls_deepest(const struct tg_calls *calls, const uint32_t *bytes, const uint8_t *marks,
                      uint32_t root, uint64_t *deepest);

#endif
