/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a run's time is analysed. taskglass/timing.h says what comes out; taskglass-path(1) has the
 * definitions. The steps, each a file, in this order:
 *
 *     timing_tasks.c   times of tasks from the times of their parts, the span, an order, when tasks were ready
 *     timing_sweep.c   idle cores and waiting tasks, in one pass over all events in the order of time
 *     timing_path.c    the critical path
 *     timing_model.c   what holds each task back, and the run again with one thing changed
 *     timing_kernels.c sums by kernel
 *     timing_words.c   notes, and what would be gained
 *
 * A *node* is a task whose end is known: only nodes can be on the path. Time is O(n log n), memory O(n).
 */
#ifndef TG_ANALYSIS_TIMING_H
#define TG_ANALYSIS_TIMING_H

#include <taskglass/timing.h>

#include "trace/timeline.h"

enum tg_timing_flag {
    TG_TIMING_NODE = 1 << 0,
    TG_TIMING_NO_BEGIN = 1 << 1, /* `begin` is its end: when it began is not known */
    TG_TIMING_NO_END = 1 << 2,   /* `end` is its begin: when it ended is not known */
    TG_TIMING_PARTIAL = 1 << 3,  /* it had not ended */
    TG_TIMING_ON_PATH = 1 << 4,
    TG_TIMING_CALL = 1 << 5 /* a call of communication */
};

/* Tasks that have the same kernels. */
struct tg_timing_group {
    uint32_t kernel[TG_PARTS]; /* indices of the timeline's kernels; TG_TIMELINE_NONE: not known */
    uint32_t parts;            /* how many of them count */
    struct tg_timing_kernel sums;
};

struct tg_timing {
    struct tg_timeline line;
    struct tg_timing_info info;
    char *file;
    struct tg_recording *recording; /* that it was read from; NULL: none, or the caller's */
    char unknown[160];              /* the text of info.path_unknown */
    /* By task. */
    uint64_t *begin, *end;    /* TG_NONE if unknown; both are set for a node */
    uint64_t *ready;          /* TG_NONE if unknown */
    uint64_t *busy, *latency; /* what it waited since then */
    uint64_t *delay;          /* what it waited beyond everything that held it back */
    /* Of a call, from its begin (when it was posted): until it was done, and until a core had it again. Both
     * are NULL in a run without calls. */
    uint64_t *comm, *away;
    uint32_t *group;       /* TG_TIMELINE_NONE: none of its parts is known */
    uint32_t *place;       /* in `order`; TG_TIMELINE_NONE if it is no node */
    uint8_t *flags, *code; /* enum tg_timing_flag; the cores it needs, see timing_sweep.c */
    /* The nodes by begin; a task comes behind those that it waited for. */
    uint32_t *order;
    uint32_t n_nodes;
    uint32_t *previous; /* by part: the part before it on its core; TG_TIMELINE_NONE */
    struct tg_timing_group *groups;
    uint32_t *rank; /* groups in the order that users see, and its inverse */
    uint32_t *rank_of;
    struct tg_timing_core *cores, *kinds;
    struct tg_timing_step *steps;
};

/* Takes over a finished timeline, whatever comes of it. `file` is where it comes from. */
tg_status tg_timing_of_timeline(struct tg_timeline *line, const char *file,
                                struct tg_timing **timing, struct tg_error *error);

/* Each returns false if memory ran out. */
bool tg_timing_read_tasks(struct tg_timing *timing);
bool tg_timing_sweep(struct tg_timing *timing);
bool tg_timing_find_path(struct tg_timing *timing);
bool tg_timing_make_model(struct tg_timing *timing);
bool tg_timing_group_tasks(struct tg_timing *timing);
bool tg_timing_sum_kernels(struct tg_timing *timing);

/* True if the task ended before the other one began, as it should if that waited for it. */
bool tg_timing_obeyed(const struct tg_timing *timing, uint32_t before, uint32_t after);
/* When the end of `before` was known where `after` was released: its end, or when a scheduler saw it. */
uint64_t tg_timing_release(const struct tg_timing *timing, uint32_t before, uint32_t after);
/* When the task was submitted; TG_NONE if that is not known or it began before. */
uint64_t tg_timing_submit(const struct tg_timing *timing, uint32_t task);

/* How long a task ran on cores: a call is away from them in between. */
static inline uint64_t tg_timing_run(const struct tg_timing *timing, uint32_t task)
{
    return timing->end[task] - timing->begin[task] - (timing->away ? timing->away[task] : 0);
}

static inline uint64_t tg_timing_comm(const struct tg_timing *timing, uint32_t task)
{
    return timing->comm ? timing->comm[task] : 0;
}

/* The call that a task is; NULL if it is none. */
const struct tg_timeline_call *tg_timing_call(const struct tg_timing *timing, uint32_t task);

/* When a part began and ended, where at least one of the two is known: the other is the same then. */
static inline uint64_t tg_timing_part_begin(const struct tg_timeline_part *part)
{
    bool is_known = part->begin != TG_TIME_UNKNOWN && !(part->flags & TG_TIMELINE_NO_BEGIN);
    return is_known ? part->begin : part->end;
}

static inline uint64_t tg_timing_part_end(const struct tg_timeline_part *part)
{
    return part->flags & TG_TIMELINE_NO_END ? tg_timing_part_begin(part) : part->end;
}

/* Numbers of something, sorted by keys: stable, O(n). Bits above those of `most` are not looked at. `spare`
 * has room for `count` of them. */
struct tg_timing_key {
    uint64_t key;
    uint32_t number, what;
};
void tg_timing_sort(struct tg_timing_key *key, struct tg_timing_key *spare, size_t count,
                    uint64_t most);

#endif
