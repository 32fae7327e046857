/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One trace of all ranks of a run: each rank is a process, all times are on rank 0's clock, calls are
 * tracks of their own, and messages are arrows. docs/traces.md says what a viewer shows.
 *
 *     run --ranks N --trace FILE     each rank writes DIR/rankN/NAME, NAME = tg_ranks_trace_name(FILE);
 *                                    in the end tg_ranks_trace_write makes FILE of them
 *     export DIR --to trace          tg_ranks_trace_write: of a rank without such a file it takes the
 *                                    recording, as tg_recording_export does
 */
#ifndef TASKGLASS_RANKS_TRACE_H
#define TASKGLASS_RANKS_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/export.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name that a rank's own trace has in its folder: "trace.json" for Chrome's JSON, if the name of the
 * file that is to have all of them ends in ".json" or is "-"; else "trace.pftrace" for Perfetto's. */
TG_API const char *tg_ranks_trace_name(const char *file);

/* Zero means the default, except for dir and path. */
struct tg_ranks_trace_config {
    const char *dir;                /* of the run: it has ranks.json */
    const char *path;               /* the file to write; "-": standard output */
    bool overwrite;                 /* replace an existing file; else it is BAD_ARGUMENT */
    bool recorded;                  /* take the recordings also where ranks have traces */
    tg_export_progress_fn progress; /* done and total are ranks */
    void *progress_context;
};

/* What was written and what is missing. */
struct tg_ranks_trace_result {
    uint32_t ranks;    /* of the run */
    uint32_t shown;    /* ranks whose tasks are in the file; of the others there may be calls */
    uint32_t unsure;   /* ranks whose clock is not known: shown as if they had begun with rank 0 */
    uint64_t calls;    /* shown */
    uint64_t arrows;   /* messages, and ends of calls of all ranks */
    uint64_t backward; /* arrows left out, because by the clocks they would go back in time */
    uint64_t left_out; /* calls left out: no time is known, or more at once than a viewer shows */
    uint64_t clock_error_ns; /* the largest that a rank's clock states */
    uint64_t bytes;          /* of the file */
    char why
        [300]; /* why the first rank that is not shown, or is without its calls, is; "" if all are there */
};

/*
 * Writes the file; `result` may be NULL. If it fails, there is no file. NOT_FOUND: no ranks.json, or no rank
 * has a trace or a recording with times; BAD_ARGUMENT: the file exists, or one that was read is damaged;
 * IO_ERROR; CANCELLED; NO_MEMORY.
 */
TG_API tg_status tg_ranks_trace_write(const struct tg_ranks_trace_config *config,
                                      struct tg_ranks_trace_result *result, struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
