/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of a graph that the host builds, in the form and at the place where the device reads
 * them (common/stored_args.h). They are written once and never move: a full chunk stays, and the next
 * one is allocated.
 *
 *   chunk 0        chunk 1                chunk 2 (current)
 *   ┌───────────┐  ┌───────────────────┐  ┌─────────┬─────────────────────────┐
 *   │ arguments │  │ arguments         │  │ …       │ at ►                end │
 *   └───────────┘  └───────────────────┘  └─────────┴─────────────────────────┘
 *
 * Where the host sees device memory, it builds them in place. Elsewhere a chunk has a buffer on the
 * host until tg_graph_args_send has sent it; only the current chunk keeps its buffer after that. So
 * no argument is in memory twice. What was sent may be overwritten by a kernel: read it with care.
 */
#ifndef TG_HOST_GRAPH_ARGS_H
#define TG_HOST_GRAPH_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/device.h>
#include <taskglass/wire/task.h>

struct tg_arg_chunk {
    uint64_t address; /* in device memory */
    uint64_t bytes;   /* its size */
    uint64_t used;    /* of a full chunk; of the current one, tg_graph_args says it */
    uint64_t ready;   /* how much of it may be written: the rest is still to be expected */
    uint64_t first;   /* the first task that may have its arguments in it */
    uint64_t sent;    /* how much of it is on the device; mapped: not used */
    char *host;       /* the same bytes on the host: mapped, a buffer, or NULL after it was sent */
    bool mapped;
};

struct tg_graph_args {
    struct tg_device *device;
    struct tg_arg_chunk *chunk;
    uint32_t
        n_chunks; /* allocated: those after the current one are left over from the last build */
    uint32_t current;
    size_t room_chunks;
    uint64_t before;    /* bytes in the chunks before the current one */
    uint64_t *at, *end; /* what is free and ready in the current chunk */
    uint64_t *begin;    /* of the current chunk */
};

/* Where the next arguments begin: words from the start of the current chunk. */
static inline uint32_t tg_graph_args_place(const struct tg_graph_args *a)
{
    return (uint32_t)(a->at - a->begin);
}

/* Makes room for that many bytes at a->at, in a new chunk, for the arguments of `task`. */
tg_status tg_graph_args_grow(struct tg_graph_args *a, uint64_t bytes, uint64_t task,
                             struct tg_error *error);

static inline tg_status tg_graph_args_want(struct tg_graph_args *a, uint64_t bytes, uint64_t task,
                                           struct tg_error *error)
{
    uint64_t left = (uint64_t)((char *)a->end - (char *)a->at);
    return bytes <= left ? TG_OK : tg_graph_args_grow(a, bytes, task, error);
}

/* The chunk that has the arguments of a task, if it has any. */
uint32_t tg_graph_args_chunk_of(const struct tg_graph_args *a, uint64_t task);
/* The same for the tasks in turn: `chunk` is that of the task before. */
static inline uint32_t tg_graph_args_chunk_after(const struct tg_graph_args *a, uint32_t chunk,
                                                 uint64_t task)
{
    while (a->end != NULL && chunk < a->current && a->chunk[chunk + 1].first <= task)
        chunk++;
    return chunk;
}
/* What a descriptor says of arguments at that place of the chunk. */
uint64_t tg_graph_args_offset(const struct tg_graph_args *a, uint32_t chunk, uint32_t place);

/* Sends what is not on the device yet. */
tg_status tg_graph_args_send(struct tg_graph_args *a, struct tg_error *error);

/* Reads the task's tensors, from device memory if they are there, and checks them. False if they
 * cannot be read or are not what a builder wrote. `tensors` has room for all of them. */
bool tg_graph_args_read(struct tg_graph_args *a, const struct tg_task_desc *desc,
                        struct tg_tensor *tensors);

/* How many bytes of arguments there are. */
uint64_t tg_graph_args_used(const struct tg_graph_args *a);

/* Forgets all arguments and keeps the chunks for the next ones. */
void tg_graph_args_clear(struct tg_graph_args *a);
void tg_graph_args_free(struct tg_graph_args *a);

#endif
