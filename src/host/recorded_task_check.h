/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a recorded task. The recording may be a stranger's, so its records may contradict each other
 * or themselves. This is the one place that checks them; whoever lays out a task's memory or calls a
 * function with it relies on what tg_task_reading_end promises.
 */
#ifndef TG_HOST_RECORDED_TASK_CHECK_H
#define TG_HOST_RECORDED_TASK_CHECK_H

#include "host/recorded_task.h"

enum { TG_TASK_ARGUMENTS = TG_MAX_TENSORS + TG_MAX_SCALARS };

/* What the records have said so far about one argument. */
struct tg_seen_argument {
    bool is_there;
    bool has_value;          /* of a scalar */
    struct tg_record record; /* the first one, confined */
    struct {
        bool is_there;
        const void *bytes; /* NULL: `lacks` says why */
        const char *lacks;
        uint64_t position;
        uint64_t hash; /* if is_hashed */
        bool is_hashed;
    } content[2]; /* by stage: before, after */
};

struct tg_task_reading {
    const struct tg_recording *recording;
    struct tg_recorded_task *task;
    bool has_kernels;
    uint64_t limit; /* of its memory; 0: tg_recording_memory_limit, not asked for yet */
    struct tg_seen_argument argument[TG_TASK_ARGUMENTS];
};

void tg_task_reading_begin(struct tg_task_reading *reading, const struct tg_recording *recording,
                           uint64_t id, struct tg_recorded_task *task);
/* Takes record `index`, which must be of that task. BAD_ARGUMENT: no device can have made it, or it
 * contradicts an earlier one. The message names the argument; the caller adds the task. The task's
 * kernels are set also then. */
tg_status tg_task_reading_add(struct tg_task_reading *reading, uint64_t index,
                              struct tg_error *error);
/*
 * Makes the task of what was read. Afterwards:
 *   - it has n_parts kernels with names, and all of its records name the same ones;
 *   - its arguments are tensors 0 to n_tensors - 1, then scalars, without a gap, each with one geometry
 *     however many records it has;
 *   - every tensor has a valid type and a role, and lies at [addr, addr + storage_bytes), which does not
 *     wrap; every element is inside; addr is aligned for the type;
 *   - `bytes` is what type and shape give, and `before` and `after` have that many bytes or are NULL; all
 *     inputs have a `before`, no input has an `after`, no output a `before`;
 *   - all tensors together have at most TG_CLAIMS_SMALL or `limit` bytes.
 * It may still lack arguments at the end that were not recorded, and it may not fit its kernel: only the
 * kernel's signature tells. NOT_FOUND: something was not recorded; BAD_ARGUMENT as above.
 */
tg_status tg_task_reading_end(struct tg_task_reading *reading, struct tg_error *error);

#endif
