/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recorded task with everything needed to run it again: its kernels, its arguments, and their
 * memory. A block is a contiguous range of the old device memory that the task's views touched, so
 * tensors that shared memory share it again.
 */
#ifndef TG_HOST_RECORDED_TASK_H
#define TG_HOST_RECORDED_TASK_H

#include <taskglass/args.h>
#include <taskglass/recording.h>

struct tg_recorded_tensor {
    struct tg_tensor tensor; /* addr is the old device's; start is relative to it */
    uint32_t role;           /* enum tg_role */
    uint64_t bytes;          /* logical */
    const void *before;      /* contents at dispatch, logical bytes; NULL: not an input */
    const void *after;       /* contents at completion; NULL: no output, or not recorded */
    const char *lacks;       /* of an output without `after`: why */
    bool has_address;        /* false: the recording does not say where it lay */
    uint32_t block;
    uint64_t offset; /* in the block */
};

/* Where blocks begin, on the old device and on the new one, so that an address keeps its alignment. */
enum { TG_BLOCK_ALIGN = 256 };

struct tg_recorded_block {
    uint64_t address; /* on the old device; a multiple of TG_BLOCK_ALIGN, unless the size is 0 */
    uint64_t size;
    char *image; /* contents before the task where recorded, zeros elsewhere */
};

struct tg_recorded_task {
    uint64_t id;
    const char *kernel[TG_PARTS]; /* names; "": the task has no such part, or its name is unknown */
    uint32_t n_parts;
    uint32_t n_unnamed; /* parts whose name is unknown */
    uint32_t n_tensors, n_scalars;
    struct tg_recorded_tensor tensor[TG_MAX_TENSORS];
    struct tg_scalar scalar[TG_MAX_SCALARS];
    uint32_t n_blocks;
    struct tg_recorded_block block[TG_MAX_TENSORS];
};

/* Reads and checks a task, and lays out its memory, which may take tg_recording_memory_limit bytes, or
 * `allowed` if that is more. NOT_FOUND: no such task, or an argument was not recorded in full.
 * BAD_ARGUMENT: its records contradict each other, are none that a device makes, or need too much memory.
 * The message names task and argument. recorded_task_check.h has all that holds for a task that was read.
 * The task points into the recording, which must outlive it; free it with tg_recorded_task_free. */
tg_status tg_recorded_task_read(const struct tg_recording *recording, uint64_t id, uint64_t allowed,
                                struct tg_recorded_task *task, struct tg_error *error);
/* Lays out the memory of a task that was read and checked. Messages name the argument alone. */
tg_status tg_recorded_task_lay_out(struct tg_recorded_task *task, uint64_t limit,
                                   struct tg_error *error);
void tg_recorded_task_free(struct tg_recorded_task *task);

/* The text of a top-level key in the recording's run.json; "" if there is none. */
void tg_recorded_run_value(const struct tg_recording *recording, const char *key, char *text,
                           size_t size);

#endif
