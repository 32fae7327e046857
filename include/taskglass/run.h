/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a graph: start, wait, cancel, result. A device runs one graph at a time.
 */
#ifndef TASKGLASS_RUN_H
#define TASKGLASS_RUN_H

#include <taskglass/graph.h>
#include <taskglass/schedule.h>
#include <taskglass/source.h>
#include <taskglass/wire/stream.h>
#include <taskglass/wire/comm.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tg_run;

/* How the host gets the recording: it reads device memory in place while the graph runs, or copies. */
/* clang-format off */
#define TG_TRANSPORT_MAP(X)                                                      \
    X(TG_TRANSPORT_AUTO,   0, "auto",   "in place where the host sees the memory") \
    X(TG_TRANSPORT_MAPPED, 1, "mapped", "read in place")                         \
    X(TG_TRANSPORT_COPIED, 2, "copied", "copied")
/* clang-format on */
enum tg_transport { TG_TRANSPORT_MAP(TG_WORD_ENUM_) TG_TRANSPORTS };

/* What to record, and how. Zero means the default, except for the level and the folder. */
struct tg_record_config {
    uint32_t level;     /* enum tg_record_level (wire/stream.h) */
    uint32_t policy;    /* enum tg_record_policy; default: block, nothing is lost */
    const char *filter; /* as --dump-filter; NULL or "": everything */
    const char
        *output_dir; /* the recorder makes tensor_dump/ in it; needed unless level is off. The run
                               locks it until the recording is complete */
    uint64_t arena;  /* bytes of payload a core can be ahead of the disk; default 4 MiB,
                          or less where it must be locked in memory and the run needs less */
    uint32_t
        buffers; /* record buffers per core, of 64 records each; default 16, or fewer likewise */
    double wait_limit; /* policy block: seconds before a core gives up waiting; default 5; 584
                               years and more: it does not give up */
    const struct tg_args *orchestration; /* arguments of the orchestration; NULL: those that the
                                            graph was orchestrated with, if it was */
    uint32_t transport; /* enum tg_transport; default: in place if the host can map the memory */
};

/* Zero means the default everywhere. */
struct tg_run_config {
    double
        timeout; /* report a hang after this many seconds without a finished task; default 10. Counts
                       only time in which this process and the device's could both run, and between two
                       calls of tg_run_wait not more than 0.2 s */
    const struct tg_record_config *record; /* NULL: record nothing */
    const char *scope_stats; /* folder in which to make scope_stats/; NULL: no scope stats */
    bool deps; /* log the edges of a graph that the device builds; a recording always does */
    bool
        shared; /* the umask says who may enter the folders that the run makes; default: the owner */
    bool
        not_live; /* do not answer questions about the run (taskglass/live.h); default: answer in the
                      folder of the recording or of the scope stats, if there is one */
    const char *trace; /* file for a trace of the run: Chrome's JSON if the name ends in .json, else
                          Perfetto's protobuf; it replaces a file that is there. NULL: no trace */
    const struct tg_schedule *schedule; /* in which order tasks start; NULL: as it is fastest */
};

/* Result of the recording. */
struct tg_record_result {
    bool on;                          /* the run was recorded */
    struct tg_record_summary summary; /* as in the journal */
    uint64_t stored_bytes;            /* of all payloads, without the gaps that lost ones leave */
    double finish_seconds;            /* spent after the run on the rest and the manifest */
    tg_status status;                 /* IO_ERROR if files could not be written */
    char text[300];                   /* cause of the error, or a warning; "" if there is none */
};

/* Result of the trace. */
struct tg_run_trace {
    bool on;               /* the run was traced */
    uint64_t tasks;        /* slices of tasks in the file; a mix has one for each part */
    uint64_t events;       /* all that the device and the host noted */
    uint64_t lost;         /* events that are not in the file */
    uint64_t bytes;        /* of the file */
    uint64_t clock_ns;     /* smallest step of the device's clock, as measured; 0: not known */
    uint64_t wait_ns;      /* how long all workers together waited for the host */
    double finish_seconds; /* spent after the run on the file */
    tg_status status;      /* IO_ERROR if the file could not be written; then there is none */
    char text[300];        /* cause of the error, or a warning; "" if there is none */
};

/* Starts the graph on its device and returns. BAD_ARGUMENT: the configuration makes no sense; BUSY:
 * another run is under way on the device, or is writing into the same folder; IO_ERROR: the file of
 * the trace cannot be made; DEVICE_LOST; CYCLE; NO_MEMORY. On success the caller must destroy *run; after a failure *run is NULL. */
TG_API tg_status tg_run_start(struct tg_graph *graph, const struct tg_run_config *config,
                              struct tg_run **run, struct tg_error *error);

/*
 * Waits until the run has ended, for at most `seconds` (negative: without a limit). BAD_ARGUMENT if
 * `seconds` is not a number.
 * OK: finished. TIMED_OUT: still running. CANCELLED. BAD_ARGUMENT, SCOPE_DEADLOCK and the like: the
 * orchestration on the device failed. KERNEL_FAULT, HANG, DEVICE_LOST: the device failed and is
 * lost; the error names the task and kernel, if known. After the end, every call returns the same.
 */
TG_API tg_status tg_run_wait(struct tg_run *run, double seconds, struct tg_error *error);

/* Asks the run to end: running tasks finish, no others start. Any thread may call it until the run
 * is destroyed. If a kernel does not return within the no-progress limit, the device is lost. The runs of
 * other ranks end with it, whether or not somebody waits for this one. */
TG_API void tg_run_cancel(struct tg_run *run);

/* Tasks finished so far, and in total. Cheap; for progress displays. */
TG_API void tg_run_progress(struct tg_run *run, uint64_t *finished, uint64_t *total);

/* A task that was running when the run failed. */
struct tg_run_task {
    uint64_t task;              /* id */
    uint32_t core;              /* the core it ran on */
    uint32_t part;              /* enum tg_part: the core's place in its block */
    const char *kernel;         /* lives as long as the device */
    bool faulted;               /* this one crashed */
    struct tg_source_site site; /* the line it crashed in, or was at; of a few tasks only */
};

/* A dependency that was not met: `task` waits for a task that was running. */
struct tg_run_unmet {
    uint64_t task;
    uint64_t waits_for;
};
enum { TG_MAX_UNMET = 16 };

/* Result of scope stats. */
struct tg_scope_result {
    bool on;          /* the run took scope stats */
    bool no_rings;    /* the host built the graph: there are no rings, and no samples */
    uint64_t samples; /* two for each scope */
    uint64_t dropped; /* samples that are not in the file */
    tg_status status; /* IO_ERROR if files could not be written */
    char text[300];   /* cause of the error */
};

/* Use of one ring of a graph that the device built. */
struct tg_ring_use {
    uint64_t tasks;                                      /* submitted through it */
    uint64_t task_window, heap, dep_pool;                /* capacity */
    uint64_t task_window_used, heap_used, dep_pool_used; /* when the run ended */
};

/* A place where the orchestration waited for room. */
struct tg_ring_wait {
    const char *resource; /* "task slots", "heap", "dependencies", "tensor map entries" */
    const char *option;   /* that sets its size: "ring-task-window" */
    bool of_ring;         /* false: the tensor map, which all rings share */
    uint32_t ring;
    uint64_t count;
    double seconds;
    char scope[160]; /* source line of the scope */
    char line[160];  /* source line of the call that waited */
};
enum { TG_MAX_WAITS = 8 };

/* Result of the orchestration on the device. */
struct tg_orchestration_result {
    bool on;             /* the device built the graph */
    bool beside;         /* the orchestration ran on a CPU of the host, beside the device */
    uint64_t scopes;     /* begun */
    double seconds;      /* from its first call to its return */
    double wait_seconds; /* part of `seconds`: waiting for room in rings, heaps, pools or the map */
    double read_seconds; /* part of `seconds`: waiting for results that it read */
    uint32_t n_rings;
    struct tg_ring_use ring[TG_RINGS];
    uint32_t n_waits;
    struct tg_ring_wait wait[TG_MAX_WAITS]; /* where it waited longest */
    tg_status warning;                      /* RING_BUFFER_BACKPRESSURE, or OK */
    char text[600];                         /* of the warning */
    char advice[200]; /* the option to set; also for a ring that can never drain */
};

/* What the run communicated with other ranks (comm.h). */
struct tg_run_comm_result {
    bool on; /* the device has joined a job, or its workload communicates */
    uint32_t rank, ranks;
    char transport[32];            /* "local" */
    uint64_t calls[TG_COMM_KINDS]; /* that completed, by kind */
    uint64_t bytes_sent, bytes_received;
    uint64_t messages_sent, messages_received;
    uint64_t waiting; /* calls that had not completed when the run ended */
};

/* How a run ended, and what it did. */
struct tg_run_result {
    tg_status status;
    uint64_t tasks;         /* in the graph */
    uint64_t edges;         /* in the graph; if the device builds it, edges to unfinished tasks */
    uint64_t finished;      /* completed */
    double start_seconds;   /* check, upload and launch */
    double execute_seconds; /* from launch to the device's last message */
    double begin_seconds;   /* cuda: from launch until all cores had begun; part of execute_seconds.
                               Other platforms do not say: 0 */
    bool lingered;          /* cuda: the kernel of the run before had stayed for this one */
    uint32_t n_running;     /* entries of `running`, for a run that failed */
    const struct tg_run_task *running; /* lives as long as the run */
    uint64_t waiting;                  /* tasks neither finished nor running */
    uint32_t n_unmet;                  /* dependencies on running tasks; `unmet` has the first */
    struct tg_run_unmet unmet[TG_MAX_UNMET];
    struct tg_source_site site; /* where a kernel or the orchestration crashed or hung, if known */
    tg_status site_status; /* why `site` has no line, as tg_source_find says; OK: not looked up */
    struct tg_record_result record;
    struct tg_orchestration_result orchestration;
    struct tg_scope_result scopes;
    struct tg_run_trace trace;
    struct tg_schedule_result schedule;
    struct tg_run_comm_result comm;
};
/* The result of a run that has ended; its status is TIMED_OUT while the run has not. */
TG_API void tg_run_get_result(const struct tg_run *run, struct tg_run_result *result);

/* Cancels the run if it has not ended, and frees it. Call it before the graph is destroyed. NULL is
 * allowed. */
TG_API void tg_run_destroy(struct tg_run *run);

/* Starts the run, waits for its end and destroys it. `result` may be NULL; its `running` and
 * `schedule.starts` are set to NULL, because the run no longer exists. */
TG_API tg_status tg_graph_run(struct tg_graph *graph, const struct tg_run_config *config,
                              struct tg_run_result *result, struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
