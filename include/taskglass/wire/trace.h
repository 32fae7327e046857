/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the times of a traced run leave the device. Each lane and the orchestrator own one stream and
 * write it; one collector on the host reads all streams. All streams have the same size and lie one
 * after the other:
 *
 *   setup ─► streams ─► ┌ stream 0 ─────────────────┐┌ stream 1 …  ┌ stream n_lanes: orchestrator
 *      │                │ head │ events, a circle   ││             │
 *      │                └───────────────────────────┘└             └
 *      └───► ready ───► one word per slot of a task: when it became ready
 *
 * Event number c, counted from 0, lies at entry c % n_events. `written` (device) and `freed` (host) are
 * cursors that only grow; written - freed never exceeds n_events. Both are words with a check, as
 * wire/stream.h says under "Words". A worker that finds no room waits for the host as under policy
 * block, up to wait_limit_ns, and then counts the event in `lost`. The cursor is exact in memory after
 * every event, so that a reader of a dead device's memory misses none.
 *
 * Times are nanoseconds of the device's clock. Where the device builds the graph, a task's word in `ready`
 * grows to the largest end of the tasks that it waited for, and to the end of its submit or of the scope
 * that held it back. Nobody clears the words: what an earlier run or an earlier task of the slot left is
 * older than what this one gets. Where the host built the graph there are no such words: it knows the
 * edges, so it finds the largest end itself.
 *
 * Ownership: the comments say who writes which part. Named edges:
 *   T1  written   release by the device, acquire by the host: events
 *   T2  freed     release by the host, acquire by the device: room to write again
 *   T3  ready     relaxed; E2 (device/growing_edges.h) orders it before the task's begin
 */
#ifndef TASKGLASS_WIRE_TRACE_H
#define TASKGLASS_WIRE_TRACE_H

#include <stdint.h>
#include <taskglass/wire/assert.h>

#define TG_TRACE_SETUP_MAGIC UINT64_C(0x3130746573746774)  /* "tgtset01" */
#define TG_TRACE_STREAM_MAGIC UINT64_C(0x3130656372746774) /* "tgtrce01" */
/* Of setup, streams and events. */
#define TG_TRACE_VERSION 1u

/* What an event tells, and which member holds what. Members that are not named are 0. */
enum tg_trace_type {
    /* A lane ran one kernel: task_id, ready (0: the host knows), begin, end, kernel, worker (the lane), part
     * (enum tg_part). A mix is one event for each of its parts, with the same id. */
    TG_TRACE_TASK = 1,
    /* The orchestrator submitted a task: task_id, begin, end, worker (number of the scope's site). */
    TG_TRACE_SUBMIT = 2,
    /* A task waits for another: task_id, ready (id of the other), part (enum tg_edge_kind). */
    TG_TRACE_EDGE = 3,
    /* The orchestrator waited: begin, end, task_id (the task whose end it waited for, or TG_TASK_NONE),
     * part (enum tg_resource), kernel (ring), worker (number of the scope's site). */
    TG_TRACE_WAIT = 4,
    /* A scope: begin, end, worker (number of its site), part (depth, from 0), kernel (ring), task_id (how
     * many tasks were submitted in it). The device writes it twice, at the beginning with end 0 and at
     * the end; the host keeps one of the two. */
    TG_TRACE_SCOPE = 5,
    /* What ring `part` holds at the time `begin`: task_id (task slots), ready (bytes of heap), end
     * (dependencies), kernel (entries of the tensor map, of all rings). */
    TG_TRACE_RINGS = 6,
    /* From the host: the recorder has written `ready` bytes by the time `begin`. */
    TG_TRACE_RECORDER = 7,
    TG_TRACE_TYPES = 8,
    /* A bit beside the type, set by the host: the device died or was stopped before the end, and `end`
     * is when the host noticed. */
    TG_TRACE_PARTIAL = 0x80
};

/* One event. A lane fills it in before the kernel and publishes it after the kernel. */
struct tg_trace_event {
    uint64_t task_id; /* as in struct tg_task_desc */
    uint64_t ready;
    uint64_t begin;
    uint64_t end;
    uint32_t kernel;
    uint16_t worker;
    uint8_t part;
    uint8_t type; /* enum tg_trace_type */
};
TG_WIRE_SIZE(struct tg_trace_event, 40);

/* The host writes it before launch; the device writes `began` only. */
struct tg_trace_setup {
    uint64_t magic;
    uint32_t version;
    uint32_t setup_size;
    uint32_t n_streams; /* the lanes, then the orchestrator if the device builds the graph */
    uint32_t n_events;  /* of one stream; a power of two */
    uint64_t streams;   /* device address of stream 0 */
    uint64_t stream_size;
    uint64_t ready; /* device address of uint64_t[tg_launch.n_tasks]; 0: the host built the graph */
    uint64_t wait_limit_ns; /* how long a worker waits before it gives up */
    uint64_t pulse;         /* device address of a word that changes while the host runs */
    uint64_t pulse_ns;      /* how often it changes */
    uint64_t began;         /* by the device: when the run began */
    uint64_t reserved[6];
};
TG_WIRE_SIZE(struct tg_trace_setup, 128);
TG_WIRE_AT(struct tg_trace_setup, streams, 24);
TG_WIRE_AT(struct tg_trace_setup, began, 72);

/* The head of a stream. Device and host write different cache lines of it. */
struct tg_trace_head {
    /* written by the host before launch */
    uint64_t magic;
    uint32_t version;
    uint32_t head_size; /* the events follow */
    uint32_t index;     /* which stream */
    uint32_t n_events;
    uint32_t event_size;
    uint32_t reserved0;
    uint64_t reserved1[4];
    /* written by the device */
    uint64_t written; /* word: events written */
    uint64_t lost;    /* events for which it found no room */
    uint64_t wait_ns; /* how long it waited for room */
    uint64_t reserved2[5];
    /* written by the host */
    uint64_t freed; /* word: events read */
    uint64_t reserved3[7];
};
TG_WIRE_SIZE(struct tg_trace_head, 192);
TG_WIRE_AT(struct tg_trace_head, written, 64);
TG_WIRE_AT(struct tg_trace_head, freed, 128);

#endif
