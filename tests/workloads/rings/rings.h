/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the files of this workload share: orchestrations for the runtimes that build
 * graphs on the device. Tensor 0 is `value`, int64[n + 1], all zero. A good case leaves value[i] =
 * i + 1 for every i below n, whatever the sizes of the rings; memory that was handed out twice
 * shows there.
 */
#ifndef RINGS_H
#define RINGS_H

#include <taskglass/kernel.h>
#include <taskglass/orchestration.h>

/* case, n, depth, size, description; the case decides what "size" counts */
#define RINGS_ROOM(X)                                                                        \
    X(tasks, 20, 1, 0, "n tasks in one scope of that depth")                                 \
    X(held, 20, 1, 0, "the same in a scope that holds them back")                            \
    X(nested, 20, 5, 0, "n tasks, each in a scope inside of the last one's")                 \
    X(pieces, 20, 1, 100, "n pieces of memory of size bytes in one scope, by tg_alloc")      \
    X(outputs, 20, 1, 100, "the same by tg_args_out_new")                                    \
    X(uneven, 6, 1, 1000, "an output of size * 100 bytes between small pieces")              \
    X(scopes, 1000, 1, 100, "n scopes of three tasks and two pieces")                        \
    X(found_scopes, 1000, 1, 100, "the same, the order being found from tensors")            \
    X(inner, 60, 2, 256, "memory of a scope whose inner scopes have memory and end first")   \
    X(wrap, 8, 1, 0, "pieces that do not fit at the end of the heap")                        \
    X(empty, 8, 1, 256, "an empty tensor in a scope with inner scopes that fill the heap")   \
    X(fan_in, 40, 0, 1, "a task that waits for n others, size times")                        \
    X(found_fan, 40, 0, 1, "the same, but found from tensors")                               \
    X(held_fan, 40, 1, 0, "a held scope with n edges by tg_depend")                          \
    X(held_after, 20, 1, 3, "held tasks that each name size others")                         \
    X(tensors, 60, 0, 8, "tasks of size tensors each")                                       \
    X(held_tensors, 20, 1, 4, "the same in a scope that holds them back")                    \
    X(behind, 10, 0, 1000, "two tasks of size µs, then a held scope of n - 2")               \
    X(map_behind, 3, 0, 1000, "tensors of a slow task, and of a held scope that needs room") \
    X(sites, 1000, 0, 0, "n scopes at n sites; all names end alike, most are too long")      \
    X(slow_fan, 12, 0, 2000, "n tasks of size µs, and a task that waits for all of them")

#define RINGS_ORDER(X)                                                      \
    X(slow, 40, 0, 1000, "n tasks of size µs, each in its scope")           \
    X(chain, 1000, 1, 8, "n tasks one after the other, size in each scope") \
    X(found_chain, 1000, 1, 8, "the same, but found from tensors")          \
    X(read, 50, 1, 0, "what each task computed decides the next")           \
    X(kinds, 9, 0, 0, "a graph with edges of every kind")                   \
    X(marked, 40, 1, 4, "tasks of which some are marked")

#define RINGS_DEADLOCKS(X)                                                              \
    X(read_held, 4, 1, 0, "reads what a task that the scope holds back would compute")  \
    X(read_behind_held, 4, 1, 0, "reads what waits for a held task")                    \
    X(after_held, 40, 1, 0, "inner scopes fill a ring while they wait for a held task") \
    X(after_held_memory, 40, 1, 4096, "the same, with memory")                          \
    X(read_on, 20, 1, 0, "more tasks than slots, then results are read for ever")       \
    X(submit_on, 20, 1, 0, "more tasks than slots, then others for ever")               \
    X(loop_on, 20, 1, 0, "more tasks than slots, then an endless loop")

/* Cases that must be refused, with their source lines. */
#define RINGS_MISTAKES(X)                                                 \
    X(ended, 4, 1, 0, "memory of a scope that has ended, in a task")      \
    X(ended_again, 4, 1, 0, "the same after others have had that memory") \
    X(ended_read, 4, 1, 0, "memory of a scope that has ended, read")      \
    X(ended_output, 4, 1, 0, "tg_output of a task whose scope has ended") \
    X(no_task, 4, 1, 0, "tg_output of a task that is not there")          \
    X(no_ring, 4, 1, 0, "tg_output of a ring that is not there")          \
    X(no_argument, 4, 1, 0, "tg_output of an argument that is not there") \
    X(started, 4, 1, 0, "tg_depend for a task that may have started")     \
    X(backwards, 4, 1, 0, "tg_depend on a later task")                    \
    X(itself, 4, 1, 0, "tg_depend on itself")                             \
    X(let_go, 4, 1, 0, "tg_depend for a task whose held scope has ended") \
    X(not_there, 4, 1, 0, "tg_depend on a task that is not there")        \
    X(after_none, 4, 1, 0, "tg_args_after of a task that is not there")   \
    X(read_two, 4, 1, 0, "reads two elements")                            \
    X(read_half, 4, 1, 0, "reads a type of 4 bits")                       \
    X(read_nothing, 4, 1, 0, "reads what is not a tensor")                \
    X(read_no_task, 4, 1, 0, "reads after a task that is not there")      \
    X(broken, 4, 1, 0, "a scope left by break")                           \
    X(too_deep, 4, 1, 0, "65 scopes")                                     \
    X(one_end, 4, 1, 0, "a scope ends that was not begun")                \
    X(gives_up, 4, 1, 0, "tg_fail")                                       \
    X(nowhere, 4, 1, 0, "a tensor at address 4096")                       \
    X(beyond, 4, 1, 0, "a tensor that ends behind device memory")         \
    X(dimensions, 4, 1, 0, "a tensor of 200 dimensions")                  \
    X(new_input, 4, 1, 0, "tg_args_out_new, turned into an input")        \
    X(bad_new, 4, 1, 0, "tg_args_out_new of a negative size")

#define RINGS_FAULTS(X)                                                        \
    X(crash, 4, 1, 0, "a kernel crashes in a held scope")                      \
    X(hang, 4, 1, 0, "a kernel never returns")                                 \
    X(crash_here, 4, 2, 0, "the orchestration crashes in a scope")             \
    X(hang_here, 4, 2, 0, "the orchestration loops in a scope without a call") \
    X(endless, 4, 1, 0, "the orchestration submits for ever, in small scopes") \
    X(asleep, 40, 1, 50000, "n scopes with a task of size µs: the orchestration waits for a slot")

#define RINGS_CASES(X) \
    RINGS_ROOM(X) RINGS_ORDER(X) RINGS_DEADLOCKS(X) RINGS_MISTAKES(X) RINGS_FAULTS(X)

#define RINGS_ENUM(name, n, depth, size, text) RINGS_##name,
enum { RINGS_CASES(RINGS_ENUM) N_RINGS_CASES };
#undef RINGS_ENUM

enum {
    RINGS_SET,  /* fills the output with a number, the next number, … */
    RINGS_TAKE, /* writes that number to the output again */
    RINGS_ADD,  /* adds a number to an element */
    RINGS_NEXT, /* writes the input plus a number to the output */
    RINGS_SUM,  /* any number of tensors: the last gets the sum of the others' first elements */
    RINGS_WAIT, /* takes a while, then adds */
    RINGS_CRASH,
    RINGS_SPIN,
    RINGS_KERNELS
};

/* Scalars of the orchestration. */
enum { RINGS_WHAT, RINGS_N, RINGS_DEPTH, RINGS_SIZE };

TG_KERNEL(rings_set);
TG_KERNEL(rings_take);
TG_KERNEL(rings_add);
TG_KERNEL(rings_next);
TG_KERNEL(rings_sum);
TG_KERNEL(rings_wait);
TG_KERNEL(rings_crash);
TG_KERNEL(rings_spin);

/* Functions that each target implements differently; those of a process are in process.c, which is
 * not device code. */
#if defined(__CUDACC__)
#define rings_abort() __trap()
TG_FN static inline void rings_sleep(int64_t nanoseconds)
{
    int64_t now, end;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    for (end = now + nanoseconds; now < end;) {
        __nanosleep(1000);
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    }
}
#else
void rings_abort(void);
void rings_sleep(int64_t nanoseconds);
#endif

/* The arguments of an orchestration. */
struct rings {
    struct tg_rt *rt;
    struct tg_tensor value;
    int64_t what, n, depth, size;
};

TG_ORCHESTRATION(rings);
/* Each is in its own file; `depth` scopes are open. */
TG_FN void rings_room(const struct rings *r);
TG_FN void rings_order(const struct rings *r);
TG_FN void rings_mistake(const struct rings *r);
TG_FN void rings_deadlock(const struct rings *r);
TG_FN void rings_fault(const struct rings *r);

/* ── tasks ─────────────────────────────────────────────────────────────────────────────── */

/* The tensor value[i]; a task that sets value[i] = i + 1, as every good case leaves it; a task that
 * sets value[i] = value[from] + i - from. */
TG_FN struct tg_tensor rings_value(const struct rings *r, int64_t i);
TG_FN uint64_t rings_good(const struct rings *r, int64_t i, uint64_t after);
TG_FN uint64_t rings_from(const struct rings *r, int64_t i, int64_t from, uint64_t after);
/* Fills a tensor with first, first + 1, …; reads `first` back from it into value[i]. */
TG_FN uint64_t rings_fill(const struct rings *r, struct tg_tensor t, int64_t first);
TG_FN uint64_t rings_empty(const struct rings *r, struct tg_tensor t, int64_t i, uint64_t after);
/* Adds i + 1 to value[i], and takes this many microseconds. */
TG_FN uint64_t rings_dawdle(const struct rings *r, int64_t i, int64_t microseconds, uint64_t after);
/* A tensor of this many bytes in the scope's memory. */
TG_FN struct tg_tensor rings_memory(const struct rings *r, int64_t bytes);
#endif
