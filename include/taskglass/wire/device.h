/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control area: what host and device program tell each other through device memory. It
 * describes itself, so that a post-mortem reader needs only the memory.
 *
 *   control area                                        rest of device memory
 *   ┌──────────────┬──────────────────────────┬────────┐  ┌───────────────────────────┐
 *   │ head         │ status, one per worker   │ engine │  │ allocations: tensors,     │
 *   │ (256 bytes)  │ lanes, schedulers, …     │        │  │ graphs (desc, succ, …)    │
 *   └──────────────┴──────────────────────────┴────────┘  └───────────────────────────┘
 *
 * Who writes:  head          the device program, once, before its first message
 *              head.fault    the device program's fault handler, once, when it dies; fault_place too
 *              status[i]     only worker i, during a run; reset at each launch
 *              head.pulse    the host, while the device may wait for it
 *              launch        the host, before it asks for a launch; the device only reads
 *              engine        only the device program; its layout is private
 * Who reads:   the host, at any time. It does not trust the content: it copies, checks against the
 *              head that it validated at open, then uses the copy.
 *
 * A lane runs kernels. Each block has three (AIC, AIV0, AIV1), even if fewer cores were asked for;
 * see docs/design.md.
 */
#ifndef TASKGLASS_WIRE_DEVICE_H
#define TASKGLASS_WIRE_DEVICE_H

#include <stdint.h>
#include <taskglass/wire/assert.h>
#include <taskglass/wire/task.h>

#define TG_CONTROL_MAGIC UINT64_C(0x316C7274636C6774) /* "tglctrl1", little-endian */
/* The version of the control area and of everything that the host lays out for the device to run.
 * It grows when either changes, so that a host and a device program of different builds notice. */
#define TG_CONTROL_VERSION 12u
#define TG_LAUNCH_MAGIC UINT64_C(0x32636E756C6C6774) /* "tgllunc2" */

/* Where a worker's thread was in the code of a module. The worker's own signal handler writes it, when
 * the thread crashes or the host asks. Addresses are those in the module's file; 0: not known. */
struct tg_place_record {
    uint64_t at;
    uint64_t from;   /* the same for the outermost function of the module; 0: `at` is in it */
    uint32_t module; /* number of the module + 1, counted as they were loaded; 0: in none */
    uint32_t state;  /* enum tg_place_state; written last */
};
TG_WIRE_SIZE(struct tg_place_record, 24);
enum tg_place_state { TG_PLACE_NONE = 0, TG_PLACE_FOUND = 1, TG_PLACE_STACK_OVERFLOW = 2 };

/* What a worker is doing. Zero means that it is idle. */
struct tg_worker_status {
    uint64_t running;             /* index of the task it runs + 1; 0: none */
    uint64_t finished;            /* tasks it completed in this run */
    uint32_t part;                /* enum tg_part of the kernel it runs */
    uint32_t kernel;              /* the kernel's number */
    uint64_t task_id;             /* its task, for readers that can no longer read the descriptor;
                          for the orchestrator: how many tasks it has submitted */
    struct tg_place_record place; /* once the host has asked */
    uint64_t missing; /* its kernel wants an argument that the task does not have: tg_ctx.missing */
};
TG_WIRE_SIZE(struct tg_worker_status, 64);

/* What a device writes when it crashes. */
struct tg_fault_record {
    uint32_t valid; /* written last: 1 */
    uint32_t worker;
    int32_t signal; /* 0: see `text`. If worker is all ones, a tg_status: no kernel was at fault,
                       but the device could not continue, and `text` says why */
    uint32_t part;
    uint64_t running; /* as in tg_worker_status */
    uint64_t address; /* that could not be accessed; UINT64_MAX: one that no memory can have */
    char text[96];    /* the fault in words, if there is no signal */
};
TG_WIRE_SIZE(struct tg_fault_record, 128);

/* What a kernel does with memory, or may do. */
enum tg_access { TG_ACCESS_NONE = 0, TG_ACCESS_READ = 1, TG_ACCESS_WRITE = 2 };

/* A piece of device memory, and what kernels may do with it: WRITE includes READ. The host sends lists of
 * them to devices that can protect pages. */
struct tg_protection {
    uint64_t address, size; /* multiples of TG_PROTECTION_PAGE, behind the control area */
    uint64_t access;        /* enum tg_access */
};
TG_WIRE_SIZE(struct tg_protection, 24);
enum { TG_PROTECTION_PAGE = 4096 };

struct tg_control_head {
    uint64_t magic;
    uint32_t version;
    uint32_t head_size;    /* bytes of this struct */
    uint64_t base;         /* device address of the control area */
    uint64_t control_size; /* bytes of the control area */
    uint64_t memory_size;  /* bytes of device memory */
    uint32_t n_lanes;
    uint32_t n_schedulers;
    uint64_t status;      /* offset of the first tg_worker_status */
    uint32_t status_size; /* bytes of one */
    uint32_t n_cores;     /* lanes that take plain tasks */
    struct tg_fault_record fault;
    uint64_t memory_start; /* tensors lie in [memory_start, memory_end) */
    uint64_t memory_end;
    uint64_t pulse; /* changes again and again while the host runs: see wire/stream.h */
    struct tg_place_record fault_place; /* written before fault.valid */
    uint32_t fault_access; /* enum tg_access: what the crashed kernel did; 0: not known */
    uint32_t reserved32;
    uint64_t reserved;
};
TG_WIRE_SIZE(struct tg_control_head, 256);
TG_WIRE_AT(struct tg_control_head, status, 48);
TG_WIRE_AT(struct tg_control_head, fault, 64);
TG_WIRE_AT(struct tg_control_head, pulse, 208);

/* How a task knows the tasks that wait for it. */
enum tg_edge_storage {
    TG_EDGES_FIXED = 0,  /* a run of entries in one array; all edges are there before the launch */
    TG_EDGES_GROWING = 1 /* a list that grows until the task completes (wire/orchestration.h) */
};

/*
 * A graph ready to run, or an orchestration that will build one. All addresses are device
 * addresses. Each class of task has a queue that only the device uses; a run starts with the
 * n_ready tasks of each class in `ready`. The device knows no runtime by name, only what stands
 * here and in struct tg_orchestration.
 */
struct tg_launch {
    uint64_t magic;
    uint32_t edges;             /* enum tg_edge_storage */
    uint32_t n_tasks;           /* of the graph; if the device builds it, slots of all rings */
    uint64_t desc;              /* struct tg_task_desc[n_tasks] */
    uint64_t succ;              /* fixed edges: uint32_t[], task indices */
    uint64_t payload;           /* arguments */
    uint64_t ready[TG_CLASSES]; /* uint32_t[n_ready]: task index + 1 */
    uint64_t queue[TG_CLASSES]; /* uint64_t[queue_size] */
    uint32_t n_ready[TG_CLASSES];
    uint32_t queue_size[TG_CLASSES]; /* powers of two, and the whole class fits; 0: no such task */
    uint64_t record;                 /* struct tg_record_setup; 0: record nothing */
    uint64_t orchestration; /* struct tg_orchestration; 0: the device does not build the graph */
    uint64_t trace;         /* struct tg_trace_setup; 0: trace nothing */
    uint64_t schedule;      /* struct tg_schedule_setup; 0: the device schedules as it likes */
    uint64_t comm; /* struct tg_comm_setup; 0: the device is alone and the graph has no calls */
    /* The orchestrator runs beside the device, in the device's process: uint32_t[n_tasks] in memory that
     * the host shares, by which it learns that the task of a slot has completed. 0: it is a thread of the
     * device, or there is none. */
    uint64_t done_words;
    uint64_t reserved;
};
TG_WIRE_SIZE(struct tg_launch, 192);
TG_WIRE_AT(struct tg_launch, edges, 8);
TG_WIRE_AT(struct tg_launch, orchestration, 144);

#endif
