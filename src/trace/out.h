/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the writer (trace.c, join.c, emit.c) and the two formats say to each other.
 *
 *   join.c   makes slices of all events
 *   slice.c  says what a slice shows, and lets the format encode it (`body`)
 *   emit.c   goes through them by time, gives each a row of its lane, and lets the format write them
 *
 * A lane is a core, the orchestrator, the scopes, or the run itself. It has one row; it gets more where its
 * slices overlap, because slices of a row must nest.
 */
#ifndef TG_TRACE_OUT_H
#define TG_TRACE_OUT_H

#include <stdio.h>
#include <taskglass/wire/orchestration.h>
#include <taskglass/wire/record.h>
#include <taskglass/wire/task.h>

#include "trace/bytes.h"
#include "trace/sort.h"
#include "trace/steps.h"
#include "trace/trace.h"

/* The lanes; core i has lane TG_LANE_CORES + i. */
enum { TG_LANE_RUN = 0, TG_LANE_ORCHESTRATOR = 1, TG_LANE_SCOPES = 2, TG_LANE_CORES = 3 };

/* Texts that slices show, by number: these words, then the kernels, then the sites. */
/* clang-format off */
#define TG_TRACE_WORD_MAP(X)                                  \
    X(RUN,           "run")                                   \
    X(SUBMIT,        "submit")                                \
    X(SCOPE,         "scope")                                 \
    X(WAIT,          "wait")                                  \
    X(WAIT_SLOTS,    "wait for task slots")                   \
    X(WAIT_HEAP,     "wait for heap")                         \
    X(WAIT_DEPS,     "wait for dependency entries")           \
    X(WAIT_MAP,      "wait for tensor map entries")           \
    X(WAIT_RESULT,   "wait for a value")                      \
    X(TASK,          "task")                                  \
    X(ORCHESTRATOR,  "orchestrator")                          \
    X(SLOTS,         "task slots")                            \
    X(HEAP,          "heap")                                  \
    X(DEPS,          "dependency entries")                    \
    X(MAP,           "tensor map entries")                    \
    X(RESULT,        "value")                                 \
    X(AIC,           "AIC")                                   \
    X(AIV0,          "AIV0")                                  \
    X(AIV1,          "AIV1")                                  \
    X(EXPLICIT,      "explicit")                              \
    X(RAW,           "raw")                                   \
    X(WAR,           "war")                                   \
    X(WAW,           "waw")                                   \
    X(UNKNOWN,       "unknown")
/* The arguments of slices. */
#define TG_TRACE_KEY_MAP(X)       \
    X(TASK,      "task")          \
    X(TASK_ID,   "task_id")       \
    X(KERNEL,    "kernel")        \
    X(PART,      "part")          \
    X(SCOPE,     "scope")         \
    X(WAIT_NS,   "wait_ns")       \
    X(AFTER,     "after")         \
    X(WHY,       "why")           \
    X(COMPLETED, "completed")     \
    X(BEGAN,     "began")         \
    X(RING,      "ring")          \
    X(DEPTH,     "depth")         \
    X(TASKS,     "tasks")         \
    X(RESOURCE,  "resource")
/* The kinds of slices. */
#define TG_TRACE_CATEGORY_MAP(X)      \
    X(TASK,         "task")           \
    X(ORCHESTRATOR, "orchestrator")   \
    X(SCOPE,        "scope")          \
    X(RUN,          "run")
/* clang-format on */
#define TG_TRACE_WORD_(name, text) TG_WORD_##name,
#define TG_TRACE_KEY_(name, text) TG_KEY_##name,
#define TG_TRACE_CATEGORY_(name, text) TG_CATEGORY_##name,
enum tg_trace_word { TG_TRACE_WORD_MAP(TG_TRACE_WORD_) TG_TRACE_WORDS };
enum tg_trace_key { TG_TRACE_KEY_MAP(TG_TRACE_KEY_) TG_TRACE_KEYS };
enum tg_trace_category { TG_TRACE_CATEGORY_MAP(TG_TRACE_CATEGORY_) TG_TRACE_CATEGORIES };
extern const char *const tg_trace_words[TG_TRACE_WORDS];
extern const char *const tg_trace_keys[TG_TRACE_KEYS];
extern const char *const tg_trace_categories[TG_TRACE_CATEGORIES];

/* A task that the task of a slice waits for. */
struct tg_trace_after {
    uint64_t id, flow;
    uint32_t kind; /* enum tg_edge_kind, or TG_SPOOL_ANY_KIND */
};

struct tg_trace_text {
    size_t key, text; /* in the group's texts */
};

/* What a slice shows. */
struct tg_trace_slice {
    struct tg_spool_event event; /* TASK, SUBMIT, WAIT or SCOPE */
    uint32_t lane;
    uint32_t site; /* of the task's scope; TG_SPOOL_NO_NAME */
    /* of a TASK */
    const struct tg_trace_after *after;
    size_t n_after;
    const uint64_t *leaving;
    size_t n_leaving;
    bool takes; /* the flows of `after` end here; of a mix, at the part that begins first */
    const struct tg_trace_text *text;
    size_t n_texts;
    const char *texts;
};

/* A slice or a value of a counter as it lies in the sort by time; flows and the encoded body follow. */
struct tg_trace_item {
    uint64_t begin, end; /* of a counter: the time, and the value */
    uint32_t lane;       /* or the counter */
    uint32_t type;       /* enum tg_spool_type; 0: a counter */
    uint32_t n_leaving, n_taken;
};

/* Counters: ready and running tasks, then four of each ring, the tensor map, and the recorder. */
enum {
    TG_COUNTER_READY = 0,
    TG_COUNTER_RUNNING = 1,
    TG_COUNTER_RECORDER = 2,
    TG_COUNTER_MAP = 3,
    TG_COUNTER_RINGS = 4, /* SLOTS, HEAP, DEPS of ring 0, of ring 1 … */
    TG_RING_COUNTERS = 3,
    TG_COUNTERS = TG_COUNTER_RINGS + TG_RINGS * TG_RING_COUNTERS
};
struct tg_counter_info {
    char name[80];
    bool is_bytes;
};

struct tg_trace_out;

/* A row that slices are written to. */
struct tg_trace_row {
    uint32_t lane;
    uint32_t number; /* of the lane's rows, from 0 */
    uint64_t id;     /* unique among all rows; from 1 */
};

/* How a format encodes what a slice shows: its kind and its name, then any number of arguments. A name is a
 * number of out->name; TG_SPOOL_NO_NAME puts nothing. */
struct tg_trace_body_ops {
    void (*begin)(const struct tg_trace_out *out, struct tg_bytes *body,
                  enum tg_trace_category category, uint32_t name);
    void (*put_task)(struct tg_bytes *body, uint64_t id);
    void (*put_name)(const struct tg_trace_out *out, struct tg_bytes *body, enum tg_trace_key key,
                     uint32_t name);
    void (*put_number)(struct tg_bytes *body, enum tg_trace_key key, uint64_t value);
    void (*put_bool)(struct tg_bytes *body, enum tg_trace_key key, bool value);
    /* The tasks that the slice's task waits for. */
    void (*put_after)(const struct tg_trace_out *out, struct tg_bytes *body,
                      const struct tg_trace_slice *slice);
    void (*put_text)(struct tg_bytes *body, const char *key, const char *text);
    void (*end)(struct tg_bytes *body);
};

/* A format. */
struct tg_trace_ops {
    /* The head of the file: names, the run. */
    void (*begin)(struct tg_trace_out *out);
    const struct tg_trace_body_ops *body;
    void (*add_row)(struct tg_trace_out *out, const struct tg_trace_row *row);
    /* A slice with its flows; `size` bytes that tg_trace_encode made. */
    void (*add_slice)(struct tg_trace_out *out, const struct tg_trace_row *row,
                      const struct tg_trace_item *item, const uint64_t *flow,
                      const unsigned char *body, size_t size);
    /* The slice that was begun last on the row and has not ended. */
    void (*end_slice)(struct tg_trace_out *out, const struct tg_trace_row *row, uint64_t time,
                      uint32_t type);
    void (*add_counter)(struct tg_trace_out *out, uint32_t counter, uint64_t time, uint64_t value);
    void (*end)(struct tg_trace_out *out);
};
extern const struct tg_trace_ops tg_trace_perfetto, tg_trace_chrome;

struct tg_trace_out {
    const struct tg_trace_run *run;
    const struct tg_trace_target *target;
    const struct tg_trace_ops *ops;
    struct tg_spool *spool;
    FILE *file;
    struct tg_bytes bytes; /* what is not in the file yet */
    uint64_t written;
    int cause;           /* errno of a failed write */
    uint64_t begin, end; /* of the run */
    char **name;         /* words, kernels, sites, cleaned */
    uint32_t n_names;
    struct tg_sort *by_task, *by_time;
    struct tg_steps ready, running;
    struct tg_trace_result result;
    bool counter_known[TG_COUNTERS];
    uint64_t looked; /* events since goes_on was asked */
    bool is_cancelled;
    bool has_events; /* Chrome: a comma is needed */
};

/* The number of a kernel's or a site's name; TG_SPOOL_NO_NAME if there is none. */
uint32_t tg_trace_kernel_name(const struct tg_trace_out *out, uint32_t kernel);
uint32_t tg_trace_site_name(const struct tg_trace_out *out, uint32_t site);
/* "core 4 (AIV0)", "orchestrator" …, for the row of a lane. */
void tg_trace_row_name(const struct tg_trace_out *out, const struct tg_trace_row *row, char *name,
                       size_t room);
void tg_trace_counter_info(const struct tg_trace_out *out, uint32_t counter,
                           struct tg_counter_info *info);
/* "1:12"; returns its length. */
enum { TG_TASK_TEXT = 24 };
size_t tg_trace_task_text(uint64_t id, char *text);

/* Appends to `body` what a slice shows, as the format encodes it. */
void tg_trace_encode(struct tg_trace_out *out, const struct tg_trace_slice *slice,
                     struct tg_bytes *body);
/* Writes what is in out->bytes once there is much of it. */
void tg_trace_flush(struct tg_trace_out *out, bool all);
/* Whether to go on: not cancelled, no failed write, memory. */
bool tg_trace_goes_on(struct tg_trace_out *out);

/* join.c and emit.c: TG_OK, or what went wrong. */
tg_status tg_trace_join(struct tg_trace_out *out, struct tg_error *error);
tg_status tg_trace_emit(struct tg_trace_out *out, struct tg_error *error);

#endif
