/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time of a run went: its critical path, how long tasks were ready without running, why cores
 * were idle, and what would make the run faster. `taskglass path` prints it; taskglass-path(1) has the
 * definitions, which the comments below only name.
 *
 *     tg_timing_open("outputs/run", &timing, &error)      reads a recording, a trace or a swimlane
 *     tg_timing_get_info(timing, &info)                   the span, and the sums along the path
 *     for (i = 0; tg_timing_get_step(timing, i, &step); i++)
 *         …                                               the critical path, first step first
 *     tg_timing_what_if(timing, &change, &result, &error) the run again, with one thing changed
 *     tg_timing_close(timing)
 *
 * All times are nanoseconds of the device's clock. TG_NONE stands for a time, a number or a sum that is
 * not known. Once opened, a timing does not change, and texts live until it is closed; several threads
 * may use it at the same time.
 */
#ifndef TASKGLASS_TIMING_H
#define TASKGLASS_TIMING_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/recording.h>
#include <taskglass/status.h>
#include <taskglass/wire/comm.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The file of another implementation, which lies in a run's directory beside its deps.json. */
#define TG_SWIMLANE_FILE "chip_swimlane_records.json"

struct tg_timing;

/*
 * `path`: a run's directory or another path that tg_recording_open takes; a trace file that Taskglass
 * wrote (`run --trace`, `export --to trace`), in either format; TG_SWIMLANE_FILE or the directory it is in.
 * In a directory with a swimlane the swimlane counts, since that implementation records no times.
 *
 * NOT_FOUND: nothing there; UNSUPPORTED: it was read, but no task in it has a time; BAD_ARGUMENT: none of
 * these files, or damaged (says where); NO_MEMORY; IO_ERROR.
 */
TG_API tg_status tg_timing_open(const char *path, struct tg_timing **timing,
                                struct tg_error *error);
/* The same from an open recording, which may be closed afterwards. */
TG_API tg_status tg_timing_of_recording(const struct tg_recording *recording,
                                        struct tg_timing **timing, struct tg_error *error);
/* The recording that tg_timing_open read, which the timing keeps open; NULL if it read another file. */
TG_API const struct tg_recording *tg_timing_recording(const struct tg_timing *timing);
/* NULL is allowed. */
TG_API void tg_timing_close(struct tg_timing *timing);

/* Where the time goes along the critical path, from one end of a task to the next. */
/*      constant       word, meaning */
#define TG_SPENT_MAP(X)                                                \
    X(RUN, "run", "a task ran")                                        \
    X(BUSY, "busy", "ready, but every core for the task was busy")     \
    X(LATENCY, "latency", "ready, and a core for the task was idle")   \
    X(HANDOVER, "handover", "from an end or a submission until ready") \
    X(ORCHESTRATOR, "orchestrator", "the task was not submitted yet")  \
    X(ROOM, "room", "the orchestrator waited for room or a value")     \
    X(COMM, "comm", "a call waited for another rank")                  \
    X(UNKNOWN, "unknown", "the file does not say")

#define TG_SPENT_ENUM_(constant, word, meaning) TG_SPENT_##constant,
enum tg_spent { TG_SPENT_MAP(TG_SPENT_ENUM_) TG_SPENT_KINDS };
#undef TG_SPENT_ENUM_
/* The word and the meaning of a kind; "?" for a number that is none. */
TG_API const char *tg_spent_name(unsigned spent);
TG_API const char *tg_spent_text(unsigned spent);

/* What is known, and the sums. */
struct tg_timing_info {
    const char *source; /* "recording", "trace" or "swimlane": what the times are of */
    const char *file;   /* what was read */
    const char *workload, *case_name, *platform, *runtime; /* "" if they are not known */
    const char *result;  /* how the run ended: "OK", "HANG" …; "" if that is not known */
    uint64_t start, end; /* the span: from the run's start to the last end of a task */
    uint64_t run_end;    /* the run's own end, after the last task; or TG_NONE */
    uint64_t clock_step; /* what the clock moves by at least; 0: not known */
    uint64_t tasks;      /* tg_timing_get_task; also tasks without times */
    uint64_t timed;      /* tasks with begin and end */
    uint64_t unfinished; /* tasks that began and had not ended when the device or the run ended */
    uint64_t half_timed; /* tasks of which only the begin or only the end is known */
    uint64_t edges;      /* tg_timing_task.edges, all together */
    uint64_t unknown_edges;   /* edges to tasks that the file does not have; left out */
    uint64_t early_edges;     /* edges whose second task began before the first ended; left out */
    uint64_t twins, backward; /* entries of the file that came twice, or end before they begin */
    uint64_t lost;            /* events or records that the run reports as lost */
    const char *path_unknown; /* why there is no critical path; "" if there is one */
    const char *wait_unknown; /* why nothing is known about ready tasks; "" if something is */
    bool has_submits; /* times of submission are known, or the host built the graph before */
    bool has_ready;   /* the device said when tasks became ready; else that is computed */
    uint64_t steps;   /* tg_timing_get_step */
    uint64_t spent[TG_SPENT_KINDS]; /* sums over the path: end - start together */
    uint64_t run;                   /* time that tasks ran: of all parts */
    uint64_t wait;       /* time that tasks were ready and did not run: of all tasks; or TG_NONE */
    uint64_t wait_busy;  /* part of it: BUSY */
    uint64_t waited;     /* tasks that waited at all */
    uint64_t dispatched; /* part of `wait`: a scheduler had given the task to a core; or TG_NONE */
    uint64_t comm;       /* time that calls (tg_send …) waited for other ranks: of all calls */
    uint64_t calls;      /* tasks that are calls */
    uint64_t idle;       /* of all cores */
    uint64_t cores, kinds, kernels; /* tg_timing_get_core, …_kind, …_kernel */
    /* Lower bounds of the span of any run of these tasks with these run times; or TG_NONE. */
    uint64_t bound_chain; /* the longest chain of run times along the edges: with unlimited cores */
    uint64_t bound_work;  /* the work of a kind divided by its cores, the largest */
};
/* Fills `info`. */
TG_API void tg_timing_get_info(const struct tg_timing *timing, struct tg_timing_info *info);

/* A task. */
struct tg_timing_task {
    uint64_t id;
    uint64_t kernel;     /* tg_timing_get_kernel */
    const char *scope;   /* the site of its scope, "file.c:12"; "" if that is not known */
    uint32_t core;       /* the number of the core of its first part; TG_NO_KERNEL if not known */
    uint32_t parts;      /* kernels that ran: up to three for a mix */
    uint64_t begin, end; /* the first begin and the last end of its parts; or TG_NONE */
    uint64_t submitted;  /* or TG_NONE */
    uint64_t ready;      /* measured or computed; or TG_NONE */
    uint64_t busy, latency; /* what it waited from ready to begin, by cause; or TG_NONE */
    uint64_t comm;          /* part of begin to end: a call, and other ranks were awaited */
    int32_t peer;           /* of a send or receive, or the root of a broadcast; or TG_COMM_NONE */
    uint64_t edges;         /* tasks that it waited for */
    bool is_call;           /* it is a call of communication; it begins when it was posted */
    bool on_path;
    bool unfinished;
};
/* Task `number`, from 0, by id; false past the last one. */
TG_API bool tg_timing_get_task(const struct tg_timing *timing, uint64_t number,
                               struct tg_timing_task *task);

/* What tg_timing_rank orders tasks by, the largest first; equal ones by number. */
enum tg_timing_order {
    TG_TIMING_BY_WAIT,
    TG_TIMING_BY_RUN,
    TG_TIMING_BY_PATH_RUN,
    TG_TIMING_ORDERS
};
/* Puts the numbers of at most `most` tasks into `number`: those that waited, that ran, or that ran on the
 * path. Returns how many; 0 also if memory ran out. */
TG_API uint64_t tg_timing_rank(const struct tg_timing *timing, enum tg_timing_order order,
                               uint64_t most, uint64_t *number);

/* A step of the critical path: what lies between the end of the step before and the end of a task. */
struct tg_timing_step {
    uint64_t task;  /* its number */
    uint64_t after; /* number of the task whose end began the step; TG_NONE: the run's start */
    uint64_t from;  /* when the step began: the end of that task */
    bool by_orchestrator;           /* the task's submission, and not an edge, held it back */
    uint64_t spent[TG_SPENT_KINDS]; /* task's end - from, together */
};
/* Step `number`, from 0, in the order of time; false past the last one. */
TG_API bool tg_timing_get_step(const struct tg_timing *timing, uint64_t number,
                               struct tg_timing_step *step);

/* All tasks with the same kernel, or with the same kernels if they are mixes. */
struct tg_timing_kernel {
    const char *name; /* "add", "mat+add"; "#3" if there is no name */
    uint64_t tasks;   /* with times */
    uint64_t run;     /* from begin to end, of all of them; without `comm` */
    uint64_t most;    /* of the longest */
    uint64_t wait; /* ready and not running, and of calls what they waited for others; or TG_NONE */
    uint64_t path_tasks, path_run, path_wait; /* the same for those on the path: BUSY and LATENCY */
};
/* Kernel `number`, from 0; false past the last one. The first ones run longest on the path, then ran
 * longest at all. */
TG_API bool tg_timing_get_kernel(const struct tg_timing *timing, uint64_t number,
                                 struct tg_timing_kernel *kernel);

/* A core, or all cores of a kind. span * cores = run + nothing + other + latency, unless they are
 * TG_NONE. */
struct tg_timing_core {
    const char *name;      /* "core 7 (AIV0)"; of a kind "AIC", "AIV", "?" */
    uint32_t number, kind; /* kind: TG_AIC or TG_AIV; TG_CORE_KINDS: not known */
    uint64_t cores;        /* 1, or how many the kind has */
    uint64_t tasks;        /* parts of tasks that ran there */
    uint64_t run, idle;
    /* Idle time by cause; TG_NONE if wait_unknown. */
    uint64_t nothing; /* no task was ready */
    uint64_t other;   /* tasks were ready, but none that such a core runs alone */
    uint64_t latency; /* a task was ready that it could have run */
};
/* Core `number`, from 0, by the device's number; kind `number`, from 0. False past the last one. */
TG_API bool tg_timing_get_core(const struct tg_timing *timing, uint64_t number,
                               struct tg_timing_core *core);
TG_API bool tg_timing_get_kind(const struct tg_timing *timing, uint64_t number,
                               struct tg_timing_core *kind);

/* What to change. A change of zeros with percent 100 changes nothing: the result is the span. */
struct tg_timing_change {
    bool no_latency; /* tasks begin as soon as they are submitted, their tasks before have ended and
                             their core is free */
    bool no_orchestrator; /* all tasks are submitted at the start */
    bool unlimited_cores; /* no task waits for a task that ran before it on its core */
    uint64_t kernel;      /* tasks of this kernel … TG_NONE: none */
    uint32_t percent;     /* … run this much of their time: 0 to 100 */
};
/*
 * An estimate: the span of the same run with one thing changed. Each task stays on its core, in the order
 * of the run, and keeps what it waited beyond its submission, the tasks before it and the task before it
 * on its core. So the estimate is never larger than the span, and a scheduler that orders tasks anew may
 * do better or worse. BAD_ARGUMENT: no such kernel, or percent above 100; UNSUPPORTED: there is no
 * critical path; NO_MEMORY.
 */
TG_API tg_status tg_timing_what_if(const struct tg_timing *timing,
                                   const struct tg_timing_change *change, uint64_t *span,
                                   struct tg_error *error);

/* How long the run would take with something changed. */
struct tg_timing_gain {
    const char *change; /* a word: "no_latency", …; "kernel": it is about one */
    const char *text;   /* the same for people; "" for a kernel */
    bool is_bound;      /* no run of these tasks can be shorter; false: an estimate */
    uint64_t span;      /* TG_NONE: not known */
    uint64_t kernel;    /* its number; TG_NONE: the change is not about a kernel */
    uint32_t percent;   /* of the kernel's run time that is left */
};
/* Changes that are about no kernel, and changes of each kernel: it takes no time, or half of it. */
enum { TG_TIMING_GAINS = 5, TG_TIMING_KERNEL_GAINS = 2 };
/* Gain `number`, from 0: first those that are about no kernel, then two for each kernel, in the order of
 * tg_timing_get_kernel. Each takes as long as tg_timing_what_if. NOT_FOUND: past the last; NO_MEMORY. */
TG_API tg_status tg_timing_get_gain(const struct tg_timing *timing, uint64_t number,
                                    struct tg_timing_gain *gain, struct tg_error *error);

/* What to know about these times, in a sentence each: note `number`, from 0; false past the last. What a
 * recording lacks (tg_recording_note) comes besides. */
TG_API bool tg_timing_note(const struct tg_timing *timing, unsigned number, struct tg_note *note);

#ifdef __cplusplus
}
#endif
#endif
