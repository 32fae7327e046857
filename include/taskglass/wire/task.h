/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task as the device sees it. One descriptor is one cache line; the arguments lie elsewhere:
 *
 *   descriptor (64 bytes)                    payload, at payload_base + args
 *   ┌──────────────────────────────┐         ┌────────────────────────────────┐
 *   │ id, kernels of the parts,    │ args ─► │ n_scalars × struct tg_scalar   │
 *   │ counts, roles, fan-in, …     │         │ n_tensors × stored tensor      │
 *   └──────────────────────────────┘         └────────────────────────────────┘
 *
 * A stored tensor takes what its dimensions need; its form is the builder's and the device's alone
 * (src/common/stored_args.h).
 *
 * Who writes: the builder of the graph (host or orchestrator), before it publishes the task.
 * After that only `pending` changes: the worker that completes a predecessor counts it down, and the
 * worker that reaches zero sets it back to `fanin`, so that the same graph can run again. In a graph
 * that the device builds, `succ` is the list of waiting tasks (wire/orchestration.h).
 */
#ifndef TASKGLASS_WIRE_TASK_H
#define TASKGLASS_WIRE_TASK_H

#include <stdint.h>
#include <taskglass/wire/assert.h>

/* Task id: ring << 32 | index. */
#define TG_TASK_NONE UINT64_MAX
#define TG_NO_KERNEL UINT32_MAX

/* Device-built graphs keep their tasks in rings, one for each depth of scope; the last ring also takes
 * all deeper scopes. */
enum { TG_RINGS = 4 };

/* The two kinds of core, and the part of a block that runs a kernel of a mix. A task with one kernel
 * uses the part of its kind (AIC or AIV0) and runs on any core of that kind. A kernel that either
 * kind can run is never part of a mix; a task with it uses the part AIV0 and runs on any core. */
enum tg_core_kind { TG_AIC = 0, TG_AIV = 1, TG_EITHER = 2, TG_CORE_KINDS = 3 };
enum tg_part { TG_PART_AIC = 0, TG_PART_AIV0 = 1, TG_PART_AIV1 = 2, TG_PARTS = 3 };

/* The queue that a ready task waits in: by kind of core, or for a whole block. Plain tasks come
 * first. */
enum tg_task_class {
    TG_CLASS_AIC = 0,
    TG_CLASS_AIV = 1,
    TG_CLASS_EITHER = 2,
    TG_CLASS_MIX = 3,
    TG_CLASSES = 4
};

enum { TG_MOST_COUNTED = 65535 };

/* Bits of n_parts (device/heir.h): the number; the heir is not a successor, but a successor of one; the task has
 * one predecessor, whose end must be counted all the same, because a core may wait at the task. */
enum { TG_DESC_PARTS = 3, TG_DESC_BEYOND = 64, TG_DESC_AWAITED = 128 };

/* A task of a graph on the device; the layout is above. */
struct tg_task_desc {
    uint64_t id;
    uint32_t kernel[TG_PARTS]; /* index into the device's kernel table, or TG_NO_KERNEL */
    uint8_t task_class;        /* enum tg_task_class */
    uint8_t n_tensors;
    uint8_t n_scalars;
    uint8_t n_parts; /* kernels present, 1 to 3; and TG_DESC_… */
    uint64_t args;   /* byte offset of the payload */
    uint32_t roles;  /* two bits per tensor, enum tg_role, tensor 0 lowest */
    uint32_t marks;  /* one bit per argument, set if the orchestration marked it */
    uint32_t fanin;  /* predecessors that must complete before it is ready */
    uint32_t succ;   /* first entry in the successor array */
    uint32_t n_succ; /* how many */
    uint32_t site;   /* index of its scope's source site */
    /* How many of fanin have not completed; changes while the graph runs. With fixed edges and a fan-in of at most
     * TG_MOST_COUNTED, what is above that are claims (device/heir.h). */
    uint32_t pending;
    /* Fixed edges: its heir, one of the tasks that come after it, if there are any (device/heir.h). In a graph that is fed
     * from beside the device: the one task that waits for it, if it is known (device/ahead.h). */
    uint32_t next;
};
TG_WIRE_SIZE(struct tg_task_desc, 64);
TG_WIRE_AT(struct tg_task_desc, task_class, 20);
TG_WIRE_AT(struct tg_task_desc, args, 24);
TG_WIRE_AT(struct tg_task_desc, fanin, 40);

#endif
