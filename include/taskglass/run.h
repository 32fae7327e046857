/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a graph: start, wait, cancel, and what came of it. One run at a time on a device.
 */
#ifndef TASKGLASS_RUN_H
#define TASKGLASS_RUN_H

#include <taskglass/graph.h>
#include <taskglass/wire/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tg_run;

/* How a recording leaves the device: read in place while the graph runs, or copied. */
enum tg_transport { TG_TRANSPORT_AUTO = 0, TG_TRANSPORT_MAPPED = 1, TG_TRANSPORT_COPIED = 2 };

/* What to record, and how. Zero means the default everywhere but for the level and the folder. */
struct tg_record_config {
    uint32_t level;         /* enum tg_record_level (wire/stream.h) */
    uint32_t policy;        /* enum tg_record_policy; default: block, nothing is lost */
    const char *filter;     /* as --dump-filter; NULL or "": everything */
    const char *output_dir; /* tensor_dump/ is made in it */
    uint64_t arena;         /* bytes of payload a core can be ahead of the disk; default 4 MiB */
    uint32_t buffers;       /* record buffers a core, of 64 records each; default 16 */
    double wait_limit;      /* policy block: seconds before a core gives up waiting; default 5 */
    const struct tg_args *orchestration; /* what the orchestration was given; NULL: unknown */
    uint32_t transport; /* enum tg_transport; default: in place where the host sees the memory */
};

/* Zero means the default everywhere. */
struct tg_run_config {
    double timeout; /* seconds without one finished task that make a hang; default 10 */
    const struct tg_record_config *record; /* NULL: nothing is recorded */
    const char *scope_stats; /* scope_stats/ is made in this folder; NULL: no scope stats */
    bool deps; /* keep who waited for whom, where the device builds the graph; a recording does */
};

/* What came of the recording. */
struct tg_record_result {
    bool on;                          /* there was one */
    struct tg_record_summary summary; /* as in the journal */
    double finish_seconds;            /* after the run: the rest, and the manifest */
    tg_status status;                 /* IO_ERROR where files could not be written */
    char text[300];                   /* its cause, or a warning; "" where all is well */
};

/* Starts the graph on its device and returns. BUSY where a run is under way, DEVICE_LOST,
 * CYCLE, NO_MEMORY. On success *run must be destroyed. */
TG_API tg_status tg_run_start(struct tg_graph *graph, const struct tg_run_config *config,
                              struct tg_run **run, struct tg_error *error);

/*
 * Waits until the run has ended, for at most `seconds` (negative: as long as it takes).
 * OK: finished. TIMED_OUT: still running. CANCELLED. BAD_ARGUMENT, SCOPE_DEADLOCK and the like: an
 * orchestration on the device went wrong. KERNEL_FAULT, HANG, DEVICE_LOST: the
 * device failed and is lost; the error names task and kernel where there is one. Waiting again
 * gives the same answer again.
 */
TG_API tg_status tg_run_wait(struct tg_run *run, double seconds, struct tg_error *error);

/* Asks the run to end: tasks already running finish, no others start. May come from any thread
 * while the run is not destroyed. A kernel that does not return within the no-progress limit
 * costs the device. */
TG_API void tg_run_cancel(struct tg_run *run);

/* Tasks finished so far, and in all. Cheap; for progress displays. */
TG_API void tg_run_progress(struct tg_run *run, uint64_t *finished, uint64_t *total);

/* A task that was under way when the run failed. */
struct tg_run_task {
    uint64_t task;      /* id */
    uint32_t core;      /* the core it ran on */
    uint32_t part;      /* enum tg_part: the core's place in its block */
    const char *kernel; /* lives as long as the device */
    bool faulted;       /* this one crashed */
};

/* A dependency that was not met: `task` waits for one that was under way. */
struct tg_run_unmet {
    uint64_t task;
    uint64_t waits_for;
};
enum { TG_MAX_UNMET = 16 };

/* What came of scope stats. */
struct tg_scope_result {
    bool on;          /* they were taken */
    uint64_t samples; /* two for each scope */
    uint64_t dropped; /* of them, those that are not in the file */
    tg_status status; /* IO_ERROR where files could not be written */
    char text[300];   /* its cause */
};

/* How full a ring of a device-built graph got, and how large it was. */
struct tg_ring_use {
    uint64_t tasks;                                      /* submitted through it */
    uint64_t task_window, heap, dep_pool;                /* capacity */
    uint64_t task_window_used, heap_used, dep_pool_used; /* when the run ended */
};

/* What a run says about the orchestration on the device. */
struct tg_orchestration_result {
    bool on;             /* the device built the graph */
    uint64_t scopes;     /* begun */
    double seconds;      /* from its first call to its return */
    double wait_seconds; /* of them: waiting for room in rings, heaps, pools or the map */
    double read_seconds; /* of them: waiting for results that it read */
    uint32_t n_rings;
    struct tg_ring_use ring[TG_RINGS];
    tg_status warning; /* RING_BUFFER_BACKPRESSURE, or OK */
    char text[300];    /* of the warning */
    char advice[200];  /* what to type; also for a ring that can never drain */
};

struct tg_run_result {
    tg_status status;
    uint64_t tasks;         /* in the graph */
    uint64_t edges;         /* the same; where the device builds it: that were not met yet */
    uint64_t finished;      /* completed */
    double start_seconds;   /* check, upload and launch */
    double execute_seconds; /* launch to the device's last word */
    uint32_t n_running;     /* entries of `running`, for a run that failed */
    const struct tg_run_task *running; /* lives as long as the run */
    uint64_t waiting;                  /* tasks neither finished nor running */
    uint32_t n_unmet;                  /* dependencies on the running tasks; the first of them: */
    struct tg_run_unmet unmet[TG_MAX_UNMET];
    struct tg_record_result record;
    struct tg_orchestration_result orchestration;
    struct tg_scope_result scopes;
};
/* What came of a run that has ended; the status is TIMED_OUT while it has not. */
TG_API void tg_run_get_result(const struct tg_run *run, struct tg_run_result *result);

/* Cancels it if it is still running, and frees it. NULL is allowed. */
TG_API void tg_run_destroy(struct tg_run *run);

/* All in one: start, wait to the end, destroy. `result` may be NULL; its `running` is then gone
 * and set to NULL. */
TG_API tg_status tg_graph_run(struct tg_graph *graph, const struct tg_run_config *config,
                              struct tg_run_result *result, struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
