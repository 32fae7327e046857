/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The traces of the ranks of one run become one file:
 *
 *   each rank's trace    its tracks as they are, as a process of its own: pid is the rank, the name
 *                        "rank 1 (host)"; times go from the rank's clock to rank 0's
 *   each rank's calls    tracks "communication": a slice from posted to done, and in it one that waits for the
 *                        other side ("wait") and one from then on ("move")
 *   messages             arrows from a send to the "move" of its receive; of a call of all ranks from the rank
 *                        that came last to the "move" of each other one
 *
 * A rank's trace is copied packet by packet or event by event, whatever is in it, so memory grows with the
 * calls alone. The files are not trusted: what is copied is read field by field first.
 */
#ifndef TG_TRACE_MERGE_H
#define TG_TRACE_MERGE_H

#include <stdio.h>
#include <taskglass/ranks.h>

#include "trace/trace.h"

/* A rank as the caller knows it. Everything belongs to the caller. */
struct tg_merge_rank {
    uint32_t rank;
    const char *host; /* "" if it is not known */
    const char *path; /* its trace; NULL: there is none */
    const char *name; /* of the trace for messages, if `path` is a temporary file; may be NULL */
    struct tg_ranks_clock clock;
    const struct tg_calls *calls; /* NULL: not known */
};

struct tg_merge_config {
    const struct tg_merge_rank *rank;
    uint32_t n_ranks;
    const char *transport, *workload; /* may be NULL */
    const char *path;                 /* of the new file, for messages */
    FILE *file;                       /* where it goes */
    enum tg_trace_format format;      /* also of the ranks' traces */
    bool (*goes_on)(void *context);   /* false cancels; may be NULL */
    void *context;
};

struct tg_merge_result {
    uint32_t traces;   /* ranks whose trace is in the file */
    uint32_t unsure;   /* ranks whose clock is not known: shown as if all had begun together */
    uint64_t calls;    /* shown */
    uint64_t arrows;   /* messages, and ends of calls of all ranks */
    uint64_t backward; /* arrows left out: by the clocks they would go back in time */
    uint64_t left_out; /* calls without a time, or too many at once */
    uint64_t bytes;
};

/* BAD_ARGUMENT: a rank's trace is damaged or of the other format; IO_ERROR; CANCELLED; NO_MEMORY. */
tg_status tg_trace_merge(const struct tg_merge_config *config, struct tg_merge_result *result,
                         struct tg_error *error);

#endif
