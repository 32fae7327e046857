/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the origin of each record's bytes by device address: it replays the reads and writes of a
 * recording in order. The result says, for each record, which events wrote its bytes, and which
 * earlier record saw the same bytes last.
 *
 * The order is that of the records' times. Records without times (from a manifest alone) go in the
 * order of the dependencies, and without dependencies in the order of the task ids.
 */
#ifndef TG_ANALYSIS_DEPS_FLOW_H
#define TG_ANALYSIS_DEPS_FLOW_H

#include "analysis/match.h"

#define TG_NO_EVENT UINT32_MAX

/* A tensor at one stage of a task. */
struct tg_flow_event {
    uint64_t record;
    uint64_t time;   /* 0 if unknown */
    uint32_t row;    /* its task, in tg_tasks */
    uint32_t brief;  /* only while the flow is made */
    bool is_write;   /* after completion */
    bool is_outside; /* contains bytes that no recorded task had written before */
    /* The last earlier event at exactly these bytes; TG_NO_EVENT. */
    uint32_t seen;
    bool is_unchanged; /* no recorded task has written any of the bytes since `seen` */
    /* The events that wrote these bytes last, before this one, in their order. */
    uint64_t first_writer;
    uint32_t n_writers;
};

/* What the tensors of tasks have, as numbers of records that have bytes at all. */
struct tg_flow_contents {
    uint64_t tensors, payloads, hashes, addresses;
    uint64_t stored; /* bytes */
};

struct tg_flow {
    const char *order;           /* "time", "dependencies", "task id" */
    struct tg_flow_event *event; /* sorted by `order` */
    uint32_t n_events;
    uint32_t *writer;
    uint64_t n_writers;
    uint32_t *of_record; /* the event of each record; TG_NO_EVENT */
    struct tg_flow_contents contents;
};

/* Fails with NO_MEMORY only. */
tg_status tg_flow_make(const struct tg_tasks *tasks, struct tg_flow *flow, struct tg_error *error);
/* The same, but stops early once another thread has set *enough: only `order` is valid then. */
tg_status tg_flow_make_until(const struct tg_tasks *tasks, const bool *enough, struct tg_flow *flow,
                             struct tg_error *error);
void tg_flow_free(struct tg_flow *flow);

#endif
