/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The feeding ring: how an orchestrator that runs beside the device, on a CPU of the host, hands its
 * tasks to the device. It lies in memory that both reach, over a bus that carries loads and stores but
 * no exchanges, so each word has one writer:
 *
 *   orchestrator (orchestrate/feed.h)                     device (platform/cuda/gpu/drain.h)
 *   keeps books of its own                                keeps the tasks that cores look at
 *     head  ──► cell │ cell │ cell │ …                 ──► drains them in batches, and makes the edges
 *     sees  ◄── taken: cells that may be written again ◄──
 *     sees  ◄── done_words[slot]: the slot's task has completed     ◄── the worker that completes it
 *     waits ◄── answer: to the last question                        ◄──
 *
 * A cell says all that it needs itself, so the cells of a batch are worked off side by side, in steps:
 *
 *     1  tasks are written where cores read them, and more of their arguments
 *     2  tasks that a scope holds back expect edges that are added late
 *     3  edges are made; a task that waits for nothing is offered; held tasks are let go
 *     4  a cell that must be alone, the last of its batch: a fill, a question, the end
 *
 * A task whose arguments take several cells comes after them, and before the cells with more edges: its
 * `pending` counts them all. An edge to the earlier task of a slot must be made before step 1 overwrites
 * that task, so a batch ends before a cell with TG_FEED_FENCE; the orchestrator knows where those are.
 *
 * A slot's word is its task's `n_succ`, which no other edges use here, once that task has completed. The
 * orchestrator gives each task of a slot another number than the word had.
 *
 * Named edges:
 *   K1  head      store_release by the orchestrator pairs with load_acquire of the draining thread:
 *                 the cells before it
 *   K2  taken     store_release by the draining thread, which has read the cells, pairs with
 *                 load_acquire of the orchestrator, which writes them again
 *   K3  done      the store of the worker that completed the task, after E1 (growing_edges.h), pairs
 *                 with load_acquire of the orchestrator. It carries no bytes across the bus: what the
 *                 orchestrator does next reaches the device's memory through a cell (K1), and whoever
 *                 works that cell off is behind the same cache as the worker. See tg_store_told_host.
 *   K4  answered  store_release after the answer pairs with load_acquire of the orchestrator
 */
#ifndef TG_DEVICE_FEED_H
#define TG_DEVICE_FEED_H

#include "common/atomic.h"
#include <stdbool.h>
#include <stdint.h>
#include <taskglass/target.h>
#include <taskglass/wire/assert.h>
#include <taskglass/wire/task.h>

enum {
    TG_FEED_CELLS = 4096,
    TG_FEED_BATCH = 256,       /* cells that are drained at once */
    TG_FEED_WORDS = 30,        /* of 8 bytes in a cell */
    TG_FEED_TASK_WORDS = 22,   /* of them beside a task's descriptor */
    TG_FEED_ANSWER_WORDS = 512 /* the most words that one question reads */
};

enum tg_feed_kind {
    TG_FEED_NONE = 0,
    TG_FEED_TASK = 1,
    TG_FEED_ARGS = 2,   /* words for the arguments of the next task */
    TG_FEED_EDGES = 3,  /* more edges of a task */
    TG_FEED_LET_GO = 4, /* tasks that no scope holds back any more */
    /* alone in step 4 */
    TG_FEED_FILL = 5,  /* memory gets a pattern */
    TG_FEED_READ = 6,  /* question: words of the device's memory */
    TG_FEED_STILL = 7, /* question: 1 if no task will complete unless the orchestrator acts */
    TG_FEED_CLOCK = 8, /* question: the device's time */
    TG_FEED_END = 9    /* no more tasks: their number */
};

enum tg_feed_flag {
    TG_FEED_FENCE = 1,
    TG_FEED_LATE = 2 /* edges that the task's `pending` does not count yet */
};

struct tg_feed_edge {
    uint32_t before; /* slot of the task to wait for */
    uint32_t entry;  /* of the dependencies */
};

struct tg_feed_cell {
    uint8_t kind, flags; /* enum tg_feed_kind, bits of enum tg_feed_flag */
    uint16_t n_words;    /* of arguments */
    uint16_t n_before;   /* TASK: words of its arguments that were in cells before */
    uint16_t n;          /* edges, or slots of tasks that are let go */
    uint32_t slot;
    uint32_t line; /* of a call of communication: as in struct tg_comm_note; 0: none */
    union {
        struct {
            struct tg_task_desc desc;
            /* The last of the arguments, then edges. */
            uint64_t word[TG_FEED_TASK_WORDS];
        } task;
        struct {
            uint64_t to; /* offset among all arguments */
            uint64_t word[TG_FEED_WORDS - 1];
        } args;
        struct tg_feed_edge edge[TG_FEED_WORDS];
        uint32_t slot[2 * TG_FEED_WORDS];
        struct {
            uint64_t address; /* FILL, READ: a multiple of 8 */
            uint64_t n;       /* words; END: tasks */
            uint64_t number;  /* of the question */
            uint64_t pattern; /* FILL */
            uint64_t pad[TG_FEED_WORDS - 4];
        } ask;
    } of;
};
TG_WIRE_SIZE(struct tg_feed_cell, 256);

/* Each line has one writer. Positions are totals that only grow, over all runs of a device. */
struct tg_feed_ring {
    uint64_t head; /* the orchestrator's: K1 */
    uint64_t pad0[15];
    uint64_t taken;    /* the device's: K2; a run begins where it stands */
    uint64_t answered; /* the device's: number of the last question that it answered (K4) */
    uint64_t over;     /* the device's: 1: it has left the run and drains no more */
    uint64_t pad1[13];
    uint64_t answer[TG_FEED_ANSWER_WORDS]; /* the device's */
    struct tg_feed_cell cell[TG_FEED_CELLS];
};
TG_WIRE_SIZE(struct tg_feed_ring, 256 + 8 * TG_FEED_ANSWER_WORDS + 256 * TG_FEED_CELLS);

#endif
