/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication as tasks: what a device asks its host to do, and how both know it.
 *
 * A call is a task whose kernel has one of the numbers after the module's own. It has one or two
 * tensors and these scalars: peer, tag, operation, number. A core that takes it records its inputs
 * and posts it to the host; a thread of the host does the rest and says when it is done. Then the task
 * is taken once more, by any core, which records its outputs and completes it.
 *
 * `number` says which call of another rank belongs to this one: of a send or receive, how many of the
 * same direction, peer and tag the orchestration submitted before; of the others, how many of all kinds
 * but those two.
 */
#ifndef TASKGLASS_WIRE_COMM_H
#define TASKGLASS_WIRE_COMM_H

#include <stdint.h>
#include <taskglass/wire/assert.h>
#include <taskglass/wire/task.h>
#include <taskglass/wire/tensor.h>

/* The calls; their kernels are named tg_send, tg_recv and so on. */
enum tg_comm_kind {
    TG_COMM_SEND = 0,
    TG_COMM_RECV = 1,
    TG_COMM_BROADCAST = 2,
    TG_COMM_ALL_REDUCE = 3,
    TG_COMM_REDUCE_SCATTER = 4,
    TG_COMM_ALL_GATHER = 5,
    TG_COMM_ALL_TO_ALL = 6,
    TG_COMM_KINDS = 7
};

/*
 * How values of several ranks become one. Floats of 16 bits and less are combined in a wider type and
 * rounded after each rank; integers wrap around; a NaN stays NaN, in min and max too. For bool, sum and max
 * are "or", product and min are "and". The order depends on ranks and sizes alone: the result of an
 * all_reduce has the same bits on all ranks and in every run. Pieces of 4-bit types (reduce_scatter,
 * all_gather, all_to_all) need an even number of elements.
 */
enum tg_reduction { TG_SUM = 0, TG_PRODUCT = 1, TG_MIN = 2, TG_MAX = 3, TG_REDUCTIONS = 4 };

/* In the scalars of a call: a peer, tag or operation that its kind does not have. */
enum { TG_COMM_NONE = -1 };

/* The scalars of a call, in this order. */
enum tg_comm_scalar {
    TG_COMM_SCALAR_PEER = 0,      /* int32: the other rank, or the root of a broadcast */
    TG_COMM_SCALAR_TAG = 1,       /* int32 */
    TG_COMM_SCALAR_OPERATION = 2, /* int32: enum tg_reduction */
    TG_COMM_SCALAR_NUMBER = 3,    /* int64 */
    TG_COMM_SCALARS = 4
};

enum { TG_COMM_TENSORS = 2 };

/* What a core posts. */
struct tg_comm_post {
    uint64_t task; /* id */
    uint32_t slot; /* index of its descriptor */
    uint32_t line; /* in a graph that the device builds: 1 + number of its site; 0: not known */
    uint32_t kind; /* enum tg_comm_kind */
    int32_t peer, tag, operation;
    uint64_t number;
    uint32_t n_tensors;
    uint32_t roles; /* as in struct tg_task_desc */
    struct tg_tensor tensor[TG_COMM_TENSORS];
};

/* How far a call is. */
enum tg_comm_state {
    TG_COMM_NEW = 0,
    TG_COMM_POSTED = 1,
    TG_COMM_ARRIVED = 2 /* the host has done it; the task is ready for the second time */
};

/* The device's notes on a slot; the host only clears them. */
struct tg_comm_note {
    uint32_t state; /* enum tg_comm_state */
    uint32_t line;  /* for tg_comm_post */
};
TG_WIRE_SIZE(struct tg_comm_note, 8);

/* Point-to-point calls are numbered by direction, peer and tag; this table counts them. */
struct tg_comm_count {
    uint32_t used; /* 0: the entry is free */
    uint32_t kind;
    int32_t peer, tag;
    uint64_t count;
};
TG_WIRE_SIZE(struct tg_comm_count, 24);
enum { TG_COMM_COUNTS = 4096 };

/* What a launch says about communication; the host writes it. */
struct tg_comm_setup {
    uint64_t notes;  /* struct tg_comm_note[], one for each slot */
    uint64_t counts; /* struct tg_comm_count[TG_COMM_COUNTS]; 0: the host built the graph */
    /* The number of tg_send on the device, where the others follow; TG_NO_KERNEL: the workload does not
     * communicate. */
    uint32_t first_kernel;
    uint32_t rank, ranks;
    uint32_t reserved;
};
TG_WIRE_SIZE(struct tg_comm_setup, 32);

#endif
