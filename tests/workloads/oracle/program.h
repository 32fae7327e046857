/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a program while it is being generated, on the orchestration's stack. `random`
 * decides what the program does; `edge_random` only how it names edges, so that programs with and
 * without edges are the same.
 *
 * Nothing here depends on addresses, on task ids or on the runtime.
 */
#ifndef ORACLE_PROGRAM_H
#define ORACLE_PROGRAM_H

#include "oracle.h"

enum {
    SHARED = ORACLE_hidden + 1, /* buffers that always exist, the hidden one last */
    MAX_DEPTH = 5,              /* the orchestration's own scope is 0 */
    MAX_BUFFERS = 32,
    CELLS = 8, /* cells of a buffer */
    CELL_READERS = 4,
    MAX_DEFERRED = 32,
    MAX_ACCESSES = 10,
    MAX_EDGES = (MAX_ACCESSES * CELLS + 1) * (CELL_READERS + 1),
    RECENT = 8,
    ALLOC_UNIT = 64, /* an allocation takes a multiple of this from a heap */
    NO_BUFFER = MAX_BUFFERS
};

/*
 * Finds the order that tasks need, for explicit edges: a buffer is cut into cells, and each cell
 * knows which task wrote it last and which tasks have read it since. A view counts for every cell
 * between its first and its last byte. That gives more edges than needed, but is easy to verify.
 */
struct cell {
    uint64_t writer;
    uint32_t n_readers; /* all so far; the newest CELL_READERS of them are in `reader` */
    uint64_t reader[CELL_READERS];
};

/* Memory that views are made of. */
struct buffer {
    struct tg_tensor whole;
    uint64_t task; /* the buffer is output `argument` of this task, or TG_TASK_NONE */
    uint32_t argument;
};

/* Slots and bytes are counted in the order in which a ring hands them out; everything older than
 * the first that an open scope has taken is free, or will be. */
struct scope {
    bool holds;
    uint32_t n_buffers; /* number of buffers before this scope */
    uint32_t n_deferred;
    uint64_t first_slot[TG_RINGS], first_byte[TG_RINGS];
};

/* An edge to be added by tg_depend at the end of the scope. */
struct deferred {
    uint64_t task, after;
};

struct program {
    struct tg_rt *rt;
    struct oracle_params is;
    struct tg_tensor witness;
    uint64_t random, edge_random;

    /* the parameters of this program */
    uint64_t reach;    /* most bytes that a view spans */
    uint64_t elements; /* most elements of a view */
    uint64_t outputs;  /* per cent of arguments that are outputs */
    uint64_t scopes;   /* per cent of steps that begin or end a scope */
    uint64_t fresh;    /* per cent of tasks with new memory */
    uint64_t shared;   /* per cent of arguments in a, b, c */

    uint64_t n_tasks;
    uint64_t recent[RECENT]; /* the last tasks */
    uint32_t depth;
    struct scope scope[MAX_DEPTH + 1];
    uint64_t next_slot[TG_RINGS], next_byte[TG_RINGS];
    uint32_t n_buffers;
    struct buffer buffer[MAX_BUFFERS];
    struct cell cell[MAX_BUFFERS][CELLS];
    uint32_t n_deferred;
    struct deferred deferred[MAX_DEFERRED];
};

/* Bytes [lo, hi] of a buffer. */
struct access {
    uint32_t buffer;
    uint32_t role;
    uint64_t lo, hi;
};

struct edges {
    uint32_t n;
    uint64_t task[MAX_EDGES];
};

TG_INLINE uint64_t oracle_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A random number below n; n is not 0. */
TG_INLINE uint64_t roll(struct program *p, uint64_t n)
{
    return (oracle_next(&p->random) >> 11) % n;
}

TG_INLINE bool chance(struct program *p, uint64_t percent)
{
    return roll(p, 100) < percent;
}

TG_INLINE bool edge_chance(struct program *p, uint64_t per_mille)
{
    return (oracle_next(&p->edge_random) >> 11) % 1000 < per_mille;
}

/* True if the tasks and allocations of a scope wait for the end of a scope that holds them. */
TG_INLINE bool is_held(const struct program *p)
{
    for (uint32_t i = 0; i <= p->depth; i++)
        if (p->scope[i].holds)
            return true;
    return false;
}

TG_INLINE uint32_t ring_of(const struct program *p)
{
    uint32_t last = (uint32_t)p->is.rings - 1;
    return p->depth < last ? p->depth : last;
}

/* views.c */
/* A buffer's whole memory, as tg_alloc or tg_output gave it. */
TG_FN struct tg_tensor oracle_buffer(struct program *p, uint32_t buffer);
/* A random view of the buffer that a task may read, or write. */
TG_FN struct tg_tensor oracle_view(struct program *p, uint32_t buffer, bool is_input);
/* One element that tg_read_i64 can read. */
TG_FN struct tg_tensor oracle_element(struct program *p, uint32_t buffer);
/* A view of a whole tensor, in another order. */
TG_FN struct tg_tensor oracle_cover(struct program *p, struct tg_tensor t);
/* A random type and shape for new memory; returns the rank. */
TG_FN int oracle_shape(struct program *p, unsigned *dtype, int64_t shape[TG_MAX_DIMS]);
/* The bytes that a view touches. False: none. */
TG_FN bool oracle_access(const struct program *p, uint32_t buffer, uint32_t role,
                         const struct tg_tensor *view, struct access *access);

/* order.c */
/* Finds the tasks that a task with these accesses must wait for. */
TG_FN void oracle_need(struct program *p, const struct access *access, uint32_t n,
                       struct edges *edges);
/* Adds edges to the arguments of the next task; returns how many are left for tg_depend, at the
 * front of the list. */
TG_FN uint32_t oracle_attach(struct program *p, struct edges *edges, struct tg_args *args);
/* Call it when the task with these accesses has been submitted. */
TG_FN void oracle_done(struct program *p, uint64_t task, const struct access *access, uint32_t n);
/* The last writer of an element. */
TG_FN uint64_t oracle_writer(const struct program *p, const struct access *access);
/* Adds a buffer; NO_BUFFER if there is no room. */
TG_FN uint32_t oracle_add_buffer(struct program *p, struct tg_tensor whole, uint64_t task,
                                 uint32_t argument);

/* task.c */
/* Submits a random task; with is_fresh some of its outputs are new memory, for which there is
 * room. */
TG_FN void oracle_task(struct program *p, bool is_fresh);
/* True if the ring of the innermost scope has room for a slot and for this many bytes. */
TG_FN bool oracle_has_room(const struct program *p, uint64_t bytes);
/* Allocates memory that no task uses: an amount for which there is room, or with is_empty none. */
TG_FN void oracle_waste(struct program *p, bool is_empty);

#endif
