/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tasks of the other implementation's deps.json do with tensors:
 *
 *   "tasks"    {"task_id": "…", "args": [{"idx": 0, "type": "INPUT", "tensor_id": "…", "dtype": "FLOAT32",
 *              "shape": [16], "start_offset": "0", "strides": [1]}, …]}
 *   "tensors"  {"tensor_id": "…", "buffer_addr": "…", "buffer_numel": "16", "dtype": "FLOAT32"}
 *
 * A tensor's id stands for its memory: two tensors with different ids are different memory.
 */
#ifndef TG_ANALYSIS_DEPS_PEER_ARGS_H
#define TG_ANALYSIS_DEPS_PEER_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/tensor.h>

struct tg_peer_arg {
    uint32_t task; /* its place in the list of tasks */
    uint32_t argument;
    uint64_t tensor_id;
    bool reads, writes;
    struct tg_tensor tensor; /* address 0 */
};

/* The memory of a tensor. */
struct tg_peer_tensor {
    uint64_t id, address, bytes; /* 0 bytes: not known */
};

struct tg_peer_args {
    struct tg_peer_arg *arg; /* by task */
    size_t n_args;
    struct tg_peer_tensor *tensor; /* by id, each once */
    size_t n_tensors;
    uint64_t strange; /* arguments with a type, a dtype or a shape that is not known here */
    bool is_peer;     /* a task has "args" */
};

/* Reads a document in memory. False if memory ran out, or with *problem if an argument is broken. */
bool tg_peer_args_read(const char *text, size_t size, struct tg_peer_args *args,
                       const char **problem);
/* NULL: the file does not have it. */
const struct tg_peer_tensor *tg_peer_args_tensor(const struct tg_peer_args *args, uint64_t id);
void tg_peer_args_free(struct tg_peer_args *args);

#endif
