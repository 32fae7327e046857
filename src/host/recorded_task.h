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
    uint32_t block;
    uint64_t offset; /* in the block */
};

struct tg_recorded_block {
    uint64_t address; /* on the old device */
    uint64_t size;
    char *image; /* contents before the task where recorded, zeros elsewhere */
};

struct tg_recorded_task {
    uint64_t id;
    char kernel[TG_PARTS][64]; /* names; "": the task has no such part */
    uint32_t n_parts;
    uint32_t n_tensors, n_scalars;
    struct tg_recorded_tensor tensor[TG_MAX_TENSORS];
    struct tg_scalar scalar[TG_MAX_SCALARS];
    uint32_t n_blocks;
    struct tg_recorded_block block[TG_MAX_TENSORS];
};

/* The records of one task, by their index in a recording. */
struct tg_task_records {
    const uint64_t *index;
    uint64_t count;
};

/* NOT_FOUND: no such task, or an argument was not recorded in full; the message names the argument
 * and the level that records it. The task points into the recording, which must outlive it; free it
 * with tg_recorded_task_free. */
tg_status tg_recorded_task_read(const struct tg_recording *recording, uint64_t id,
                                struct tg_recorded_task *task, struct tg_error *error);
/* The same for a caller that has found the records itself, without the blocks of memory: there is
 * nothing to free, and `after` may be NULL for an output that was not recorded. */
tg_status tg_recorded_task_look(const struct tg_recording *recording, uint64_t id,
                                const struct tg_task_records *records,
                                struct tg_recorded_task *task, struct tg_error *error);
void tg_recorded_task_free(struct tg_recorded_task *task);

/* The text of a top-level key in the recording's run.json; "" if there is none. */
void tg_recorded_run_value(const struct tg_recording *recording, const char *key, char *text,
                           size_t size);

#endif
