/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph that the device builds: the memory layout that the host makes for the orchestrator, and
 * what the orchestrator reports. All addresses are device addresses.
 *
 *   orchestration ─► ┌ this struct ─────────────────────────────────────────────┐
 *                    │ layout of the rings, where everything lies    (host)     │
 *                    │ cursors of the rings, report                  (device)   │
 *                    └──────────────────────────────────────────────────────────┘
 *   arguments │ kernels │ sites │ dependencies │ notes │ places │ tensor map │ heaps of the rings
 *
 * Slots of all rings are one array of task descriptors (tg_launch.desc); ring r has slots
 * first_slot … first_slot + n_slots - 1. A task uses any slot of its ring that is free: the place of
 * task i, entry first_slot + i mod n_slots, says which. Cursors are totals that only grow:
 *
 *     tail ≤ done ≤ head    slots of tasks before tail are free, tasks before done have completed,
 *                           tasks before head were submitted
 *
 * Who writes: before launch the host writes everything; after that only the orchestrator writes,
 * except for the lists of dependencies, which workers close. Who reads: the host, at any time; it
 * checks what it reads.
 */
#ifndef TASKGLASS_WIRE_ORCHESTRATION_H
#define TASKGLASS_WIRE_ORCHESTRATION_H

#include <stdint.h>
#include <taskglass/wire/assert.h>
#include <taskglass/wire/task.h>
#include <taskglass/wire/tensor.h>

#define TG_ORCHESTRATION_MAGIC UINT64_C(0x316863726F6C6774) /* "tglorch1", little-endian */
#define TG_ORCHESTRATION_VERSION 7u

/* Values of `succ` in a device-built task besides the number of a dependency. */
#define TG_DEP_NONE UINT32_MAX         /* no task waits for it */
#define TG_DEP_CLOSED (UINT32_MAX - 1) /* it has completed */

/* An entry in the list of another task: `task` waits for that task. */
struct tg_dep {
    uint32_t task; /* slot */
    uint32_t next; /* next entry in the list, or TG_DEP_NONE */
};
TG_WIRE_SIZE(struct tg_dep, 8);

/* A kernel's kind and signature (workload.h). */
struct tg_kernel_desc {
    uint32_t core; /* enum tg_core_kind */
    uint8_t given; /* 1: there is a signature; 0: any arguments */
    uint8_t n_tensors;
    uint8_t n_scalars;
    uint8_t call; /* 1 + enum tg_comm_kind of a call, which has no signature; 0: a kernel */
    uint8_t role[TG_MAX_TENSORS];
    uint8_t tensor_dtype[TG_MAX_TENSORS]; /* TG_DTYPE_NONE: any */
    uint8_t scalar_dtype[TG_MAX_SCALARS];
    uint64_t reserved1;
};
TG_WIRE_SIZE(struct tg_kernel_desc, 64);

/* A source line of the orchestration, "file:line" and a zero byte; site 0 is the orchestration. Of a
 * longer text, the end is here after "...", because the file and the line are at its end. */
struct tg_site {
    char text[128];
};
TG_WIRE_SIZE(struct tg_site, 128);
/* Sites are numbered in the order in which the orchestration came to them. The first TG_MAX_SITES
 * have a text; the next ones have a number only. All sites after TG_NUMBERED_SITES share the number
 * TG_NUMBERED_SITES. */
enum { TG_MAX_SITES = 2048, TG_NUMBERED_SITES = 16384 };

/* The orchestrator's own notes on a slot. */
struct tg_slot_note {
    uint64_t seen;  /* the last submit that found it as a predecessor; 0: none yet */
    uint64_t order; /* the number of its submit in the run, from 1 */
    uint32_t
        dep_end;   /* its ring's dependencies up to here are free once it has completed: low bits,
                         which suffice because fewer than 2^32 are in use */
    uint32_t held; /* of a task that its scope holds back: next one's slot + 2; 1: the last.
                      Of a free slot: the next free one's slot + 1; 0: the last */
};
TG_WIRE_SIZE(struct tg_slot_note, 24);

/* Where a task is. */
struct tg_task_place {
    uint64_t args; /* byte offset of its arguments, as in its descriptor */
    uint32_t slot;
    uint8_t n_tensors, n_scalars;
    uint16_t reserved;
};
TG_WIRE_SIZE(struct tg_task_place, 16);

/* The arguments of tasks lie in blocks of this many bytes. A task's arguments never cross the end of a
 * block. */
enum { TG_ARGS_BLOCK = 16384 };

/* How many blocks always suffice for that many tasks with at most `stride` bytes each: a block can have
 * a rest of almost a stride that no task fits in, the oldest one can be nearly free, and the newest
 * nearly empty. */
#define TG_ARGS_BLOCKS(slots, stride) \
    ((uint32_t)((uint64_t)(slots) * (stride) / (TG_ARGS_BLOCK - (stride)) + 3))

/* The orchestrator's notes on such a block. */
struct tg_args_block {
    uint64_t end;  /* the first task of the ring that has its arguments in a later block */
    uint32_t next; /* the next newer one, or the next free one: block + 1 */
    uint32_t reserved;
};
TG_WIRE_SIZE(struct tg_args_block, 16);

/* An entry of the tensor map: a region of memory, the task that wrote it last, and the tasks that read
 * it since. Its first cache line holds everything that a search needs. */
struct tg_map_region {
    uint64_t lo, hi;                    /* it lies in [lo, hi) */
    uint64_t run;                       /* length of one contiguous run, in bytes */
    uint64_t writer;                    /* a task reference; 0: none */
    uint32_t first_reader, last_reader; /* entries + 1 of the readers; 0: none */
    uint32_t next;                      /* in its bucket: entry + 1 */
    uint32_t shelf_next, shelf_prev;    /* list of its shelf, newest first: entry + 1 */
    uint8_t shelf;                      /* of regions of about its size and form */
    uint8_t n_outer;
    uint16_t reserved;
    uint32_t cell; /* of its shelf; the low bits are its bucket */
    uint32_t mark; /* the last search that came upon it */
    struct {
        uint64_t count;  /* repetitions of the run */
        uint64_t stride; /* bytes between them, the largest first */
    } outer[7];
    uint64_t pad[2];
};
TG_WIRE_SIZE(struct tg_map_region, 192);
TG_WIRE_AT(struct tg_map_region, outer, 64);

struct tg_map_reader {
    uint64_t task; /* a task reference */
    uint32_t next; /* entry + 1 */
    uint32_t reserved;
};
TG_WIRE_SIZE(struct tg_map_reader, 16);

struct tg_ring_layout {
    uint64_t heap;
    uint64_t heap_size;
    uint32_t first_slot, n_slots;
    uint32_t first_dep, n_deps;
};
TG_WIRE_SIZE(struct tg_ring_layout, 32);

struct tg_ring_cursors {
    uint64_t head, done, tail;
    uint64_t heap_head, heap_tail;
    uint64_t dep_head, dep_tail;
    uint64_t reserved;
};
TG_WIRE_SIZE(struct tg_ring_cursors, 64);

/* Resources that can run out, and other things that the orchestrator can wait for. */
enum tg_resource {
    TG_RESOURCE_NONE = 0,
    TG_RESOURCE_SLOTS = 1,
    TG_RESOURCE_HEAP = 2,
    TG_RESOURCE_DEPS = 3,
    TG_RESOURCE_MAP = 4,
    TG_RESOURCE_RESULT = 5, /* the result of a task, for tg_read */
    TG_RESOURCES = 6
};

/* Where the orchestration waited for room. The table has the places where it waited longest; another
 * place takes the entry with the least time, and that time with it. */
struct tg_wait {
    uint32_t resource; /* enum tg_resource; 0: an empty entry */
    uint32_t ring;     /* of the resource; the tensor map: of the scope */
    uint32_t scope;    /* site of the scope */
    uint32_t line;     /* site of the call that waited */
    uint64_t count, ns;
};
TG_WIRE_SIZE(struct tg_wait, 32);
enum { TG_WAITS = 16 };

enum tg_orchestrator_state {
    TG_ORCHESTRATOR_IDLE = 0,
    TG_ORCHESTRATOR_RUNS = 1,
    TG_ORCHESTRATOR_RETURNED = 2,
    TG_ORCHESTRATOR_FAILED = 3
};

/* Errors of the orchestration; src/host/orchestration_report.c turns them into messages. */
enum tg_orchestration_fault {
    TG_FAULT_NONE = 0,
    TG_FAULT_ARGUMENTS = 1,    /* wrong kernels or arguments of a submit; `kernel` and `refused` */
    TG_FAULT_PREDECESSOR = 2,  /* a submit waits for a task that does not exist */
    TG_FAULT_OUT_OF_SCOPE = 3, /* the scope of tensor `argument` has ended */
    TG_FAULT_ALLOC = 4,        /* tg_alloc with an invalid type or shape */
    TG_FAULT_DEPEND = 5,       /* tg_depend for a task that may have started */
    TG_FAULT_ORDER = 6,        /* tg_depend on a later task, or on itself */
    TG_FAULT_OUTPUT = 7,       /* tg_output of a task or argument that does not exist */
    TG_FAULT_READ = 8,         /* tg_read of a tensor that does not have one element */
    TG_FAULT_DEPTH = 9,        /* scopes nested too deep */
    TG_FAULT_SCOPE_END = 10,   /* the end of a scope that was not begun */
    TG_FAULT_SCOPE_LEFT = 11,  /* the orchestration left a scope without ending it */
    TG_FAULT_OWN = 12,         /* tg_fail; `text` */
    TG_FAULT_FULL = 13,        /* a resource is full and can never drain */
    TG_FAULT_HELD = 14,        /* waits for a task that its own scope holds back */
    TG_FAULT_MEMORY = 15,      /* tensor `argument` is not in device memory */
    TG_FAULT_TABLE = 16,       /* tg_table; `table`, `argument`, `task` and `refused` */
    /* tg_send and the like; `table`: enum tg_comm_fault, kernel[0]: enum tg_comm_kind, `refused` with the
     * scalars of a call */
    TG_FAULT_CALL = 17
};

/* Why tg_table refuses to read an element. */
enum tg_table_fault {
    TG_TABLE_GOOD = 0,
    TG_TABLE_NO_TENSOR = 1, /* not a tensor, or a view that leaves its storage */
    TG_TABLE_NOT_GIVEN = 2, /* not in the memory of a tensor that the orchestration was given */
    TG_TABLE_OUTPUT = 3,    /* argument `argument` is an output */
    TG_TABLE_WRITTEN = 4,   /* task `task`, which was submitted earlier, writes that argument */
    TG_TABLE_RANK = 5,      /* more or fewer indices than dimensions */
    TG_TABLE_RANGE = 6      /* an index is outside of the shape */
};

/* What the orchestrator reports to the host. */
struct tg_orchestrator_report {
    uint32_t state;    /* enum tg_orchestrator_state */
    int32_t status;    /* tg_status of the first error; 0: none */
    uint32_t fault;    /* enum tg_orchestration_fault */
    uint32_t resource; /* enum tg_resource that was full */
    uint32_t ring;
    uint32_t argument;
    uint64_t task;                 /* id of the task that the error is about */
    uint64_t used, capacity;       /* of the resource, when it was found full */
    uint64_t wanted;               /* by the call that failed */
    uint64_t need_slots[TG_RINGS]; /* the most that open scopes held at one time; after an error */
    uint64_t need_heap[TG_RINGS];  /* the dry run continues to count */
    uint64_t need_deps[TG_RINGS];
    uint64_t need_map;
    uint32_t counted; /* 1: the dry run reached the orchestration's end; 0: it did not */
    uint32_t kernel[TG_PARTS];
    uint64_t submitted, edges, scopes;
    uint64_t began_ns, ended_ns;
    uint64_t wait_ns[TG_RESOURCES];
    uint32_t waits_for; /* enum tg_resource, right now */
    uint32_t waits_ring;
    uint64_t waits_task; /* id */
    uint32_t n_sites;    /* numbered so far; the host reads sites_word */
    uint32_t scope_site; /* of the innermost open scope */
    char site[128];      /* where the error was */
    char owner[128];     /* source line of the scope that it is about */
    char text[128];
    uint32_t more_sites; /* 1: there were more than TG_NUMBERED_SITES */
    uint32_t table;      /* enum tg_table_fault, or of a call enum tg_comm_fault; 0: none */
    uint64_t sites_word; /* n_sites with a check (tg_word_seal), stored after the last text (N1) */
    uint32_t waits_line; /* site of the call that waits, while waits_for says for what */
    uint32_t reserved0;
    uint64_t reserved;
};
TG_WIRE_SIZE(struct tg_orchestrator_report, 704);

/* Logs that the orchestrator can write; each has a stream. */
enum tg_log { TG_LOG_EDGES = 0, TG_LOG_SCOPES = 1, TG_LOGS = 2 };

/* How the orchestrator treats scopes. */
enum tg_orchestration_flag {
    TG_SCOPES_OWN_SLOTS = 1 /* a task keeps its slot until the scope that it belongs to has ended */
};

struct tg_orchestration {
    uint64_t magic;
    uint32_t version;
    uint32_t size;                    /* bytes of this struct */
    uint32_t first_kernel, n_kernels; /* of the module whose orchestration it is */
    uint64_t args;                    /* struct tg_args: arguments of the orchestration */
    uint64_t kernels;                 /* struct tg_kernel_desc[n_kernels] */
    uint64_t payload_stride;          /* the most bytes that the arguments of a task take */
    uint64_t deps;                    /* struct tg_dep[], all rings */
    uint64_t notes;                   /* struct tg_slot_note[], all slots */
    uint64_t sites;                   /* struct tg_site[TG_MAX_SITES]; of n_sites in the report */
    uint64_t map_regions;             /* struct tg_map_region[map_size]; 0: no tensor map */
    uint64_t map_readers;             /* struct tg_map_reader[map_size] */
    uint64_t map_buckets;             /* uint32_t[n_buckets] */
    uint32_t map_size;
    uint32_t n_buckets;                /* a power of two */
    uint64_t log;                      /* struct tg_record_setup: a stream for each enum tg_log */
    uint64_t memory_start, memory_end; /* where tensors may lie */
    uint64_t refused;                  /* struct tg_args: of the submit that failed; of tg_table,
                                          the tensor in tensor[0] and n_after indices in `after` */
    struct tg_ring_layout ring[TG_RINGS];
    uint32_t logs;    /* bits of enum tg_log: which logs to write */
    uint32_t n_rings; /* in use, 1 to TG_RINGS */
    uint32_t flags;   /* enum tg_orchestration_flag */
    uint32_t poison;  /* fills heap memory each time it is handed out (TG_POISON); 0: it does not */
    uint64_t waits;   /* struct tg_wait[TG_WAITS], written by the device; 0: none */
    uint64_t places;  /* struct tg_task_place[], all slots */
    uint64_t args_blocks;           /* struct tg_args_block[n_args_blocks] */
    uint32_t first_block[TG_RINGS]; /* of the arguments of the ring's tasks */
    uint32_t n_args_blocks; /* of all rings; the arguments are that many TG_ARGS_BLOCK long */
    uint32_t
        n_own_kernels; /* of n_kernels, those of the workload; behind them are calls (wire/comm.h) */
    uint64_t reserved[4];
    struct tg_ring_cursors cursors[TG_RINGS];
    struct tg_orchestrator_report report;
};
TG_WIRE_SIZE(struct tg_orchestration, 1320);
TG_WIRE_AT(struct tg_orchestration, ring, 136);
TG_WIRE_AT(struct tg_orchestration, cursors, 360);
TG_WIRE_AT(struct tg_orchestration, report, 616);

#endif
