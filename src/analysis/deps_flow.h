/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the bytes of each record came from, by device addresses: the tensors of a recording go
 * through memory in the order in which they were seen. For each record: whose writes it consists of,
 * and which record saw the same bytes last.
 *
 * The order is that of the records' times. Where they have none (a manifest alone), it is that of the
 * dependencies, and where there are none that of the task ids.
 */
#ifndef TG_ANALYSIS_DEPS_FLOW_H
#define TG_ANALYSIS_DEPS_FLOW_H

#include "analysis/match.h"

#define TG_NO_EVENT UINT32_MAX

/* A tensor at one stage of a task. */
struct tg_flow_event {
    uint64_t record;
    uint64_t time;   /* 0 where there is none */
    uint32_t row;    /* its task, in tg_tasks */
    bool is_write;   /* after completion */
    bool is_outside; /* bytes that no recorded task had written by then */
    /* What saw or wrote exactly these bytes last; TG_NO_EVENT. */
    uint32_t seen;
    bool is_unchanged; /* and no recorded task has written any of them since */
    /* Who wrote them last, before this event: events, in their order. */
    uint64_t first_writer;
    uint32_t n_writers;
};

struct tg_flow {
    const char *order;           /* "time", "dependencies", "task id" */
    struct tg_flow_event *event; /* in that order */
    uint32_t n_events;
    uint32_t *writer;
    uint64_t n_writers;
    uint32_t *of_record; /* event of each record; TG_NO_EVENT */
};

/* NO_MEMORY. */
tg_status tg_flow_make(const struct tg_tasks *tasks, struct tg_flow *flow, struct tg_error *error);
void tg_flow_free(struct tg_flow *flow);

#endif
