/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading traces back into a timeline: what the readers of the two formats share. A reader tells lanes, and
 * the begin and end of slices on them, in the order of the file; slices of a lane nest.
 *
 * The file is not trusted. What it says is checked where it is used; memory grows with the size of the file and
 * with nothing that is written in it.
 */
#ifndef TG_TRACE_READ_H
#define TG_TRACE_READ_H

#include "base/files.h"
#include "trace/timeline.h"

/* A text in the file. */
struct tg_trace_span {
    const char *text;
    size_t length;
};
bool tg_trace_span_is(struct tg_trace_span span, const char *word);

/* The arguments of a slice, as far as a timeline needs them. */
struct tg_trace_args {
    uint64_t id; /* TG_TASK_NONE: none */
    struct tg_trace_span kernel, part, scope, resource;
    uint64_t wait_ns; /* TG_TIME_UNKNOWN: none */
    bool is_partial, no_begin;
    uint64_t *after; /* ids */
    size_t n_after, after_room;
};

enum tg_trace_lane_kind {
    TG_LANE_IS_OTHER,
    TG_LANE_IS_RUN,
    TG_LANE_IS_CORE,
    TG_LANE_IS_ORCHESTRATOR
};
/* What an open slice is, and where it is in the timeline. */
struct tg_trace_open {
    enum { TG_OPEN_OTHER, TG_OPEN_PART, TG_OPEN_SUBMIT, TG_OPEN_WAIT, TG_OPEN_RUN } what;
    size_t index;
};
struct tg_trace_lane {
    uint64_t key; /* its number in the file */
    enum tg_trace_lane_kind kind;
    uint32_t core; /* in the timeline */
    struct tg_trace_open *open;
    size_t depth, room;
};

struct tg_trace_reader {
    struct tg_timeline *timeline;
    struct tg_trace_lane *lane;
    size_t n_lanes, lane_room;
    uint32_t *slot; /* lane + 1 by key; open addressing, at most half full */
    size_t n_slots;
    struct tg_trace_args args; /* of the slice that begins */
    bool is_ours;              /* the file says that Taskglass wrote it */
    bool has_submits, has_edges;
    bool of_recording;
    uint64_t ranks; /* of the run, if the file has the traces of all of them; else 0 */
    bool no_memory;
    const char *problem; /* what is wrong; NULL: nothing */
};

void tg_trace_reader_start(struct tg_trace_reader *reader, struct tg_timeline *timeline);
void tg_trace_reader_free(struct tg_trace_reader *reader);

/* All of these do nothing after a problem. */
void tg_trace_reader_lane(struct tg_trace_reader *reader, uint64_t key, struct tg_trace_span name);
void tg_trace_reader_fact(struct tg_trace_reader *reader, struct tg_trace_span key,
                          struct tg_trace_span text, uint64_t number);
void tg_trace_reader_begin(struct tg_trace_reader *reader, uint64_t lane,
                           struct tg_trace_span category, struct tg_trace_span name, uint64_t time);
void tg_trace_reader_end(struct tg_trace_reader *reader, uint64_t lane, uint64_t time);

/* For the arguments of the next slice: forgets those of the last one; adds a task that it waited for. */
void tg_trace_args_clear(struct tg_trace_args *args);
void tg_trace_reader_after(struct tg_trace_reader *reader, struct tg_trace_span task);
/* "1:12" or "0x000000010000000c"; TG_TASK_NONE if it is neither. */
uint64_t tg_trace_task_of(struct tg_trace_span span);

/* Read a file in memory. *at is where a problem is. */
void tg_trace_read_perfetto(struct tg_trace_reader *reader, const struct tg_map *map, uint64_t *at);
void tg_trace_read_chrome(struct tg_trace_reader *reader, const struct tg_map *map, uint64_t *at);

/* The same as tg_timeline_read_file, for bytes in memory; `name` is for messages. */
tg_status tg_timeline_read_bytes(const struct tg_map *map, const char *name,
                                 struct tg_timeline *timeline, struct tg_error *error);

#endif
