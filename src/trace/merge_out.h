/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the merger (merge.h) say to each other. */
#ifndef TG_TRACE_MERGE_OUT_H
#define TG_TRACE_MERGE_OUT_H

#include "base/files.h"
#include "trace/bytes.h"
#include "trace/merge.h"

/* A call on rank 0's clock. */
struct tg_merge_call {
    uint64_t begin, end; /* posted and done; one that is not done ends with the run */
    uint64_t moves;      /* when the other side was there; TG_SPOOL_NO_TIME */
    uint64_t index;      /* in the rank's calls */
    uint64_t number;
    uint32_t from;     /* index of the rank */
    int32_t peer, tag; /* of a send or receive */
    uint32_t kind;
    uint32_t row;                 /* of its rank; ROW_NONE: not shown */
    uint64_t first_flow, n_flows; /* arrows that leave, numbered from first_flow */
    uint64_t flow;                /* the arrow that ends here; 0: none */
    bool is_done;
};
enum { TG_MERGE_ROWS = 32 };
#define TG_MERGE_NO_ROW UINT32_MAX

/* A rank in the making. */
struct tg_merge_part {
    const struct tg_merge_rank *from;
    struct tg_map map; /* of its trace; empty without one */
    char label[160];   /* "rank 1 (host)" */
    bool is_sure;      /* its clock is known */
    int64_t shift;     /* of one whose clock is not known */
    uint64_t first;    /* the first time of its trace, on its own clock; TG_SPOOL_NO_TIME */
    uint64_t last;     /* the last, if the format says so early; else what calls say */
    struct tg_merge_call *call; /* by row, then by begin */
    size_t n_calls;
    uint32_t n_rows;
    bool has_run; /* its run's slice was written */
};

/* Where a slice goes. */
struct tg_merge_place {
    uint32_t part, row;
};

struct tg_merge_out;

/* A format. */
struct tg_merge_ops {
    /* Finds the first time of a rank's trace; a problem, or NULL. */
    const char *(*look)(struct tg_merge_part *part);
    void (*begin)(struct tg_merge_out *out);
    /* Copies a rank's trace, or names the process of a rank without one. */
    const char *(*copy)(struct tg_merge_out *out, uint32_t part, uint64_t *at);
    void (*add_row)(struct tg_merge_out *out, struct tg_merge_place place);
    /* A slice: begin, its arguments, begun with its flows, later end. */
    void (*begin_slice)(struct tg_merge_out *out, struct tg_merge_place place, uint64_t time,
                        const char *name);
    void (*put_text)(struct tg_merge_out *out, const char *key, const char *text);
    void (*put_number)(struct tg_merge_out *out, const char *key, uint64_t value);
    void (*begun)(struct tg_merge_out *out, struct tg_merge_place place, uint64_t time,
                  const struct tg_merge_call *flows);
    void (*end_slice)(struct tg_merge_out *out, struct tg_merge_place place, uint64_t time,
                      const char *name);
    void (*end)(struct tg_merge_out *out);
};
extern const struct tg_merge_ops tg_merge_perfetto, tg_merge_chrome;

struct tg_merge_out {
    const struct tg_merge_config *config;
    const struct tg_merge_ops *ops;
    struct tg_merge_part *part;
    struct tg_bytes bytes; /* what is not in the file yet */
    uint64_t begin;        /* the first time of all */
    int cause;             /* errno of a failed write */
    bool has_events;       /* Chrome: a comma is needed */
    size_t packet, event;  /* Perfetto: what is open */
    bool in_args;          /* Chrome: an argument was written */
    uint64_t looked;
    bool is_cancelled;
    struct tg_merge_result result;
};

/* A time of the rank on rank 0's clock. */
uint64_t tg_merge_time(const struct tg_merge_part *part, uint64_t own);
/* A flow of a rank's trace, so that it is none of another rank's; those below 2^40 are the merger's own. */
static inline uint64_t tg_merge_flow(const struct tg_merge_part *part, uint64_t flow)
{
    return ((uint64_t)part->from->rank + 1) << 40 | (flow & ((UINT64_C(1) << 40) - 1));
}
/* Writes what is in out->bytes once there is much of it. */
void tg_merge_flush(struct tg_merge_out *out, bool all);
/* Whether to go on: not cancelled, no failed write, memory. */
bool tg_merge_goes_on(struct tg_merge_out *out);

/* Says what a rank is, with the slice of its run that has begun. */
void tg_merge_put_rank(struct tg_merge_out *out, const struct tg_merge_part *part);

/* merge_calls.c: reads the calls of all ranks, finds what belongs together, gives rows. False if memory
 * ran out. */
bool tg_merge_take_calls(struct tg_merge_out *out);
void tg_merge_write_calls(struct tg_merge_out *out, uint32_t part);

#endif
