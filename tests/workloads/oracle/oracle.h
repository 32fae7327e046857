/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs of tasks whose result shows whether they ran as if one after the other. A task
 * writes a hash of all that it read. So a task that ran too early or too late, and read a value
 * that was not there yet or overwrote one that another task needed, changes the bytes at the end.
 *
 * The orchestration is a pure function of its scalars (ORACLE_PARAMS) and of what it reads from
 * tensors. So the same function gives the same program to every runtime and to the serial runtime
 * (serial.h), which defines the right result.
 *
 *     a, b, c   memory that tasks share, as views of every kind; many share bytes under different
 *               types and addresses
 *     hidden    memory that tasks get by address, in a scalar: no runtime can find dependencies
 *               there, so the program always names those edges
 *     witness   where each task writes the hash of what it read, by address as well, and each in a
 *               separate place: shows the first task that went wrong
 *     tg_alloc, tg_args_out_new: memory of a scope, used in it and in scopes inside it
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

/*      tensor, bytes */
#define ORACLE_TENSORS_MAP(X) X(a, 4096) X(b, 1024) X(c, 256) X(hidden, 512) X(witness, 4096)
#define ORACLE_ENUM_(name, bytes) ORACLE_##name,
enum { ORACLE_TENSORS_MAP(ORACLE_ENUM_) ORACLE_TENSORS };
#undef ORACLE_ENUM_

/*      scalar, default, what it is */
/* clang-format off */
#define ORACLE_PARAMS(X)                                                              \
    X(seed,    1,       "which program")                                              \
    X(tasks,   100,     "it stops after so many; a shorter one is the beginning of a longer one") \
    X(window,  1000000, "tasks that a ring has room for")                             \
    X(heap,    1000000, "bytes of intermediates that a ring has room for")            \
    X(rings,   4,       "rings there are, by depth of scope")                         \
    X(tensors, 6,       "tensors a task, at most")                                    \
    X(edges,   1,       "1: name all edges; 0: those of hidden memory only")          \
    X(reads,   0,       "1: results decide what is submitted")                        \
    X(held,    1,       "1: some scopes are TG_SCOPE_HELD")                           \
    X(spin,    1,       "how long tasks take: 0 to 3")                                \
    X(drop,    0,       "per mille of the edges that are left out, to see that it shows")
/* clang-format on */

struct oracle_params {
#define ORACLE_FIELD_(name, value, text) int64_t name;
    ORACLE_PARAMS(ORACLE_FIELD_)
#undef ORACLE_FIELD_
};

/* One function under two names, for the two kinds of core. */
enum { ORACLE_AIC, ORACLE_AIV, ORACLE_KERNELS };

/* The scalars of a task. The task also hashes any further ones, of any type. */
enum {
    ORACLE_TASK_SEED,
    ORACLE_TASK_ROLES, /* two bits a tensor, enum tg_role */
    ORACLE_TASK_FLAGS,
    ORACLE_TASK_SPIN,        /* iterations of an empty loop */
    ORACLE_TASK_HIDDEN_READ, /* each the address of a uint64, or 0 */
    ORACLE_TASK_HIDDEN_WRITE,
    ORACLE_TASK_WITNESS,
    ORACLE_TASK_SCALARS
};

/* Bits of ORACLE_TASK_FLAGS; the lowest three are the parts of the mix, 1 << enum tg_part. */
enum {
    ORACLE_MEETS = 8,      /* the parts read, meet, then write */
    ORACLE_SPINS_LAST = 16 /* it spins before it writes instead of before it reads */
};

/* The value of ctx->core in the serial runtime, where kernels need not spin. */
#define ORACLE_SERIAL UINT32_MAX

TG_KERNEL(oracle_kernel);
TG_ORCHESTRATION(oracle);

/* Mixes a value into a hash; the order of the values matters. */
TG_INLINE uint64_t oracle_hash(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u + 0xd1b54a32d192ed03u;
    return hash ^ hash >> 29;
}

#endif
