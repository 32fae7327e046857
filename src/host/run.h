/* SPDX-License-Identifier: Apache-2.0 */
/* A run, shared by its lifecycle (run_start.c, run.c) and the files that describe how it ended (run_failure.c,
 * orchestration_report.c). */
#ifndef TG_HOST_RUN_H
#define TG_HOST_RUN_H

#include <taskglass/run.h>

#include "base/limit.h"
#include "host/collector.h"
#include "host/graph.h"
#include "host/live.h"
#include "host/pulse.h"
#include "host/run_comm.h"
#include "host/schedule_area.h"
#include "host/trace_collector.h"
#include <taskglass/explain.h>
#include "recording/run_folder.h"
#include "scope/scope_writer.h"

/*
 * What the host has seen a worker do, and since when. The thread that waits for the run writes it, and a view
 * reads it at the same time:
 *   V1  `ns` and `place` are written before `key` (release); a view loads `key` (acquire) before it reads
 *       them, and uses them only if `key` is that of what it sees the worker do itself.
 */
struct tg_seen {
    uint64_t key;       /* atomic: tg_run_seen_key; 0: nothing */
    uint64_t ns;        /* atomic: when the host saw it first, on the clock of base/limit.h */
    uint64_t place_key; /* atomic: what it did when it was asked where it is; 0: it was not */
    struct tg_place_record before; /* what its status said about that until then */
};

struct tg_run {
    struct tg_graph *graph;
    struct tg_device *device;
    bool cancelled; /* atomic: any thread may set it */
    bool launched;
    bool ended;
    bool recorded;         /* the recording's files are written */
    struct tg_error error; /* valid once it has ended */
    double launched_at;    /* monotonic seconds */
    struct tg_limit idle;  /* the no-progress limit: since anything moved, or the cancel */
    double paused;         /* seconds in which the host saw that it or the device could not run */
    uint64_t finished;
    bool seen_cancel;
    double cancel_seconds;          /* a limit for a cancelled run, if that is shorter; 0: none */
    struct tg_collector *collector; /* NULL without a recording */
    struct tg_trace_collector *tracer; /* NULL without a trace */
    struct tg_schedule_area schedule;
    struct tg_run_comm comm;
    bool comm_stopped; /* the device was asked to stop because communication has failed */
    const struct tg_run_place *place; /* NULL: the caller has none; valid while the run goes on */
    struct tg_pulse pulse;            /* while the device may wait for the host */
    uint64_t collected;               /* the collector's progress at the last look */
    bool failing;                     /* the orchestration has failed and has not returned yet */
    struct tg_limit grace;            /* since the host saw that it failed */
    struct tg_orchestrator_report report; /* device-built graphs: the last one read */
    struct tg_worker_status *status;      /* one per worker, as last read */
    struct tg_run_task *running;
    uint32_t sites;                          /* source lines looked up so far */
    struct tg_source_site orchestrator_site; /* after a hang: where the orchestration was */
    struct tg_seen *seen;                    /* one per worker; a view's are those of its run */
    uint64_t wants_places;   /* atomic: how often a view has asked where the workers are */
    uint64_t asked_places;   /* atomic: how many of these the workers were told */
    const struct tg_run *of; /* the run that it is a view of; NULL: it is none */
    struct tg_explanation *explanation; /* of a run that has failed; NULL: there is none */
    bool overflow;                      /* a stack was full when the device crashed */
    struct tg_run_result result;
    struct tg_live_server *live; /* answers questions about the run; NULL: nobody does */
    bool owns_live;              /* else it is the caller's */
    bool is_view;                /* tg_run_view made it */
    struct tg_run_lock lock[2];  /* of the folders, until their files are written; -1: not ours */
};

/* For a caller that holds the lock of the run's folders itself, and keeps it until the run is destroyed, as
 * it does with the place. */
struct tg_run_place {
    const char *folder; /* of the run's files; NULL: not known */
    const struct tg_run_lock *lock;
    struct tg_live_server *live; /* that answers there; NULL: none */
    /* for the trace; texts may be NULL */
    const char *case_name, *runtime;
    struct tg_watch watch; /* asked while the trace is written, and while other ranks still go on */
};
/* tg_run_start in such a place; `held` may be NULL. After a failure *left says which files there are: what
 * was begun is complete, without a record of a task. `left` may be NULL. */
tg_status tg_run_start_in(struct tg_graph *graph, const struct tg_run_config *config,
                          const struct tg_run_place *held, struct tg_run **run,
                          struct tg_run_result *left, struct tg_error *error);

/*
 * A view: a second handle on a run that goes on, with memory of its own, for a thread that only looks. The
 * run must not end while the view looks; only tg_run_view_free is allowed later. NULL: no memory.
 */
struct tg_run *tg_run_view(const struct tg_run *run);
/* Reads tasks, rings and orchestration into view->result and view->report; with `lists` also what runs, and
 * what waits for it: at most TG_MAX_UNMET waits, found in a bounded number of steps. */
void tg_run_view_look(struct tg_run *view, bool lists);
void tg_run_view_free(struct tg_run *view);
/* Edges that a view looks at, times the tasks that run: some milliseconds. */
enum { TG_VIEW_STEPS = 1 << 22 };

/* run_seen.c: a number for what a worker does: of its task, or of what the orchestration waits for; 0: it is
 * idle. */
uint64_t tg_run_seen_key(const struct tg_run *run, uint32_t worker);
/* Notes what the workers do now; the run has just looked. */
void tg_run_note_seen(struct tg_run *run);
/* Seconds for which the host has seen the worker do what it does; 0: not known. */
double tg_run_seen_seconds(const struct tg_run *run, uint32_t worker);
/* True if the worker can say where in a module's code it is. */
bool tg_run_tells_place(const struct tg_run *run, uint32_t worker);
/* Asks the workers where they are, if a view wants to know. From the thread that waits for the run. */
void tg_run_ask_places(struct tg_run *run);
/* Where the worker of a view is, if it has said so during what it does now. */
bool tg_run_seen_place(const struct tg_run *view, uint32_t worker, struct tg_place_record *place);

/* run_failure.c: lists the running tasks, and what waits for them. */
void tg_run_list_running(struct tg_run *run);

/* The file of a module by its number in a struct tg_place_record; NULL: there is none. */
const char *tg_run_module_path(const struct tg_run *run, uint32_t number);
/* "core 3 (AIC)" */
const char *tg_run_core_text(uint32_t lane, char text[24]);

/* run_task.c: finds the task that a worker reports to run (index + 1): in the host's graph, or in
 * that slot on the device if the device built the graph. False if the report is not plausible. */
bool tg_run_find_task(const struct tg_run *run, uint64_t running, struct tg_task_desc *desc);
/* Device-built graphs: true if the orchestrator can have written this descriptor. */
bool tg_run_desc_makes_sense(const struct tg_run *run, const struct tg_task_desc *desc);
/* The task's tensors, checked; `tensors` has room for TG_MAX_TENSORS. */
bool tg_run_find_tensors(const struct tg_run *run, const struct tg_task_desc *desc,
                         struct tg_tensor *tensors);

/* orchestration_report.c, only for device-built graphs: reads how far the orchestration is. */
void tg_run_read_report(struct tg_run *run);
/* The orchestration's error as a message; OK if it has none. */
tg_status tg_run_orchestration_error(struct tg_run *run, struct tg_error *error);
/* The same for scope stats: which ring was full, if one was. */
struct tg_scope_fatal tg_run_scope_fatal(const struct tg_run *run);
/* The source line of the orchestration's innermost scope. */
void tg_run_scope_site(const struct tg_run *run, char site[128]);
/* What the orchestration does while no task runs, as ": ...". */
void tg_run_orchestrator_doing(const struct tg_run *run, char *text, size_t size);
/* Fills in how long full rings held up the orchestration, and a warning if that was too long. */
void tg_run_account_rings(struct tg_run *run);
/* "task slots", "heap", …, of an enum tg_resource. */
const char *tg_run_resource_name(uint32_t resource);
/* Terminates a text of the device and replaces unprintable characters. */
void tg_run_clean_text(char *text, size_t size);

/* After the device failed with this status: lists the tasks that were running and sets the error's
 * text. */
void tg_run_describe_failure(struct tg_run *run, tg_status status);

/* explain.c: keeps why the run, which has ended, failed. */
void tg_run_keep_explanation(struct tg_run *run);

/* A kernel that has not returned this long after the user asked to stop is ended with the device. */
#define TG_RUN_CANCEL_SECONDS 1.0

/* run.c: cancels the run, and ends the device if no task ends within that time although all that still
 * run are allowed to. From the thread that waits for the run. */
void tg_run_cancel_within(struct tg_run *run, double seconds);

/* ── between run_start.c and run.c ─────────────────────────────────────────────────────── */

/* NULL: out of memory. With `of` it is a view of that run (tg_run_view). */
struct tg_run *tg_run_new(struct tg_graph *graph, const struct tg_run_config *config,
                          const struct tg_run *of);
void tg_run_free(struct tg_run *run);
void tg_run_unlock_folders(struct tg_run *run);
/* The end of a server of the run's own; a server of the caller's answers on. */
void tg_run_stop_answering(struct tg_run *run);
/* Something has moved, so the no-progress limit begins again. */
void tg_run_note_progress(struct tg_run *run);
/* True once somebody has asked the run to end. */
bool tg_run_is_cancelled(const struct tg_run *run);
/* The end of the run's recording and trace: writes what is left of both. */
void tg_run_end_recording(struct tg_run *run);

#endif
