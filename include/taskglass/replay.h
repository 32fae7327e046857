/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repeating recorded tasks: run one task or all tasks, each alone, on a device from its recorded arguments,
 * recompute all tasks on the host with the reference functions of their kernels, or write one task as a
 * folder that builds without the graph. All compare with the recorded outputs.
 */
#ifndef TASKGLASS_REPLAY_H
#define TASKGLASS_REPLAY_H

#include <taskglass/execute.h>
#include <taskglass/guard.h>
#include <taskglass/query.h>
#include <taskglass/recording.h>
#include <taskglass/trust.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How an output compared with the recorded one. */
struct tg_replay_output {
    uint32_t argument;
    bool recorded;   /* false: the recording does not have this output to compare with */
    uint64_t varied; /* runs whose result differed from the first run's */
    int ndim;
    int64_t shape[TG_MAX_DIMS];
    struct tg_output_check
        check; /* of the first run, or of the first that differed; name is NULL */
};

/* Zero means the default everywhere. */
struct tg_replay_config {
    const char *module; /* the workload's file; default: the one in run.json beside the recording */
    uint32_t repeat;    /* runs; default 1 */
    tg_trust_fn ask;    /* NULL: a module that is not known is not loaded, see taskglass/trust.h */
    void *ask_context;
    /* Calls the module's constructors; the module then stays loaded. NULL: a crash in them ends the
     * program. */
    tg_guard_fn guard;
    void *guard_context;
    /* Asked often, on the caller's thread; a return other than 0 cancels. */
    int (*stop)(void *context);
    void *stop_context;
};

/* How a replayed task compares with its recording. */
struct tg_replay_result {
    uint64_t task;
    char kernel[200]; /* "mat+vec" for a mix */
    char platform[32];
    uint32_t runs;
    uint32_t n_outputs;
    struct tg_replay_output output[TG_MAX_TENSORS];
    bool same;                /* no output of any run differs from the recorded one */
    uint32_t n_compared;      /* outputs that the recording has; 0: `same` says nothing */
    bool deterministic;       /* all runs gave the same result */
    struct tg_run_result run; /* of the last run; its `running` is NULL */
};

/* Runs the task alone on the device that the settings name. OK: it ran; `result` has the comparison.
 * BAD_ARGUMENT: its records contradict each other, its arguments are none that the kernel takes, or they
 * take more memory than the recording has on the disk and than 64 MiB; NOT_FOUND: not recorded in full.
 * NOT_TRUSTED: the module was not loaded. CANCELLED: `stop` of the config asked for that. Other statuses
 * are those of tg_recording_open, tg_device_load and tg_run_wait. */
TG_API tg_status tg_replay_task(const struct tg_settings *settings,
                                const struct tg_recording *recording, uint64_t task,
                                const struct tg_replay_config *config,
                                struct tg_replay_result *result, struct tg_error *error);

/* What a replay shows, in the words of the command: "same"; "differs", from the recording or between runs;
 * "not known": the recording has no output to compare with, and *reason, if `reason` is not NULL, says what
 * to do. *reason is "" for the others. */
TG_API const char *tg_replay_word(const struct tg_replay_result *result, const char **reason);

/* What became of one task of tg_replay_all. */
/* clang-format off */
#define TG_REPLAY_MAP(X)                                                                           \
    X(TG_REPLAY_SAME,      0, "same",      "every output is as recorded")                           \
    X(TG_REPLAY_DIFFERS,   1, "differs",   "an output is not as recorded, in every run alike")      \
    X(TG_REPLAY_VARIES,    2, "varies",    "two runs gave different outputs: not deterministic")    \
    X(TG_REPLAY_FAULTS,    3, "faults",    "it ended the device")                                   \
    X(TG_REPLAY_HANGS,     4, "hangs",     "it did not return within the timeout")                  \
    X(TG_REPLAY_MISUSE,    5, "misuse",    "it reads or writes what its arguments do not allow")    \
    X(TG_REPLAY_NOT_KNOWN, 6, "not known", "it could not be judged")
/* clang-format on */
enum tg_replay_is { TG_REPLAY_MAP(TG_WORD_ENUM_) TG_REPLAY_WORDS };
/* "same", "differs", …; NULL if there is no such number. */
TG_API const char *tg_replay_is_name(uint32_t is);

/* The result of replaying one task of tg_replay_all. */
struct tg_replay_verdict {
    uint64_t task;
    char kernel[200]; /* "mat+vec" for a mix */
    uint32_t is;      /* enum tg_replay_is */
    uint32_t runs;    /* without those with guards */
    /* DIFFERS, VARIES: the first output that does. Its `varied` is 0 if only runs with guards varied. */
    struct tg_replay_output output;
    /* FAULTS, HANGS, MISUSE, NOT_KNOWN: a sentence, else NULL. It lives until `tell` returns. */
    const char *why;
    struct tg_source_site site; /* FAULTS, HANGS: the line, if known */
    /* MISUSE: what the guards found. They live until `tell` returns. */
    uint32_t n_findings;
    uint32_t more_findings; /* beyond those in the list */
    const struct tg_guard_finding *finding;
};

/* Called for each task, in the order of their ids; a return other than 0 ends the replay. */
typedef int (*tg_replay_fn)(void *context, const struct tg_replay_verdict *verdict);

/* Zero means the default everywhere. */
struct tg_replay_all_config {
    const char *module; /* as in tg_replay_config */
    /* Tasks that have a selected record are replayed. NULL: every task. */
    const struct tg_query *query;
    bool guarded;     /* also run each task between guards */
    uint32_t repeat;  /* runs of each task; default 1. A task that differs runs a few times more */
    uint32_t workers; /* devices at the same time; default: one per CPU, on `cuda` one */
    /* Called several times a second on the caller's thread; a return other than 0 cancels. */
    int (*progress)(void *context, uint64_t done, uint64_t tasks);
    void *progress_context;
    tg_trust_fn ask; /* as in tg_replay_config */
    void *ask_context;
    tg_guard_fn guard; /* as in tg_replay_config; called on the caller's thread */
    void *guard_context;
};

/* What became of all tasks. */
struct tg_replay_summary {
    uint64_t tasks; /* that were selected and told */
    uint64_t
        communication; /* selected tasks that are not told, because other ranks had a part in them:
                               tg_send, tg_all_reduce and so on */
    uint64_t count[TG_REPLAY_WORDS]; /* by enum tg_replay_is */
    char platform[32];               /* on which they were replayed */
    char recorded_on[32];            /* on which they were recorded; "": not known */
    uint32_t workers;                /* devices that worked at the same time */
    uint64_t devices;                /* that were opened; more than `workers` after a fault */
    bool guarded;
    bool has_pages; /* with guards: as in struct tg_guard_report */
};

/*
 * Runs every recorded task again, alone, from its recorded inputs, on devices as the settings describe
 * them, and calls `tell` for each on the caller's thread.
 *
 * A device serves many tasks. A task that faults or does not return ends its device, and a fresh one takes
 * its place. No task is DIFFERS, VARIES, FAULTS, HANGS or MISUSE because of what another task did: the
 * worker repeats such a task on a device that ran no other task, and that verdict counts. Where many tasks of
 * one kernel have the same verdict and the first 16 of them were confirmed so, the rest is not repeated.
 *
 * A task whose arguments were not recorded in full, contradict each other, do not fit its kernel or take more
 * memory than tg_replay_task allows is NOT_KNOWN, and the others are replayed. Tasks of communication cannot be
 * computed again here: they are counted, and not told.
 *
 * `summary` may be NULL. BAD_ARGUMENT: the settings; NOT_FOUND: no module; NOT_TRUSTED: it was not loaded;
 * CANCELLED; NO_MEMORY; other statuses are those of tg_device_open and tg_device_load: a device could not be
 * used for reasons other than a task.
 */
TG_API tg_status tg_replay_all(const struct tg_settings *settings,
                               const struct tg_recording *recording,
                               const struct tg_replay_all_config *config, tg_replay_fn tell,
                               void *context, struct tg_replay_summary *summary,
                               struct tg_error *error);

/* Room for the reason of a result. */
struct tg_replay_reason {
    char text[600];
};
/* What the summary means: "misuse", "differs", "same", or "not known" with the reason in `reason`, which may
 * be NULL and is "" for the others. "differs" stands for tasks that differ, vary, fault or hang. "same" says
 * that every task that could be judged is the same; a recording without tasks is "same" only if its run had
 * none. */
TG_API const char *tg_replay_all_word(const struct tg_recording *recording,
                                      const struct tg_replay_summary *summary,
                                      struct tg_replay_reason *reason);

/* Writes a folder, which must not exist yet, with C source, inputs, expected outputs, a CMake file and
 * a copy of the workload's module. The module must be one that tg_replay_task would load. Nothing of the
 * folder stays if this fails; CANCELLED: `stop` of the config asked for that. */
TG_API tg_status tg_replay_bundle(const struct tg_recording *recording, uint64_t task,
                                  const struct tg_replay_config *config, const char *folder,
                                  struct tg_error *error);

/* `max_ulp` where NaN or an infinity stands against another value: no distance is defined. */
#define TG_ULP_UNDEFINED UINT64_MAX

/* The result of checking one task with its reference function. */
struct tg_reference_task {
    uint64_t task;
    char kernel[200];
    enum {
        TG_REFERENCE_AGREES,     /* every output is within the reference's tolerance */
        TG_REFERENCE_DIFFERS,    /* an output is not */
        TG_REFERENCE_NONE,       /* its kernel has no reference, it is a mix, or communication */
        TG_REFERENCE_INCOMPLETE, /* an argument was not recorded in full, is damaged, contradicts
                                    itself, or is none that the kernel takes */
        TG_REFERENCE_FAILED,     /* the reference crashed, exited, did not return … */
        TG_REFERENCE_EMPTY       /* none of its outputs has an element: nothing to compare */
    } is;
    uint32_t argument;            /* DIFFERS: the first output that differs */
    struct tg_output_check check; /* of that output */
    const char *why;              /* NULL for AGREES, DIFFERS; the reason, which lives until `tell`
                                     returns */
    /* AGREES, DIFFERS: the largest errors of all its outputs. */
    double max_error;    /* |output - reference|; infinite as in tg_check_close */
    double max_relative; /* that by |reference|, where the reference is not 0 */
    uint64_t max_ulp; /* steps between neighbouring values of the type, which is the difference of
                            integers; TG_ULP_UNDEFINED */
};

/* Called for each task; a return other than 0 ends the check. */
typedef int (*tg_reference_fn)(void *context, const struct tg_reference_task *task);

/* Zero means the default everywhere. */
struct tg_reference_config {
    const char *module; /* the workload's file; default: the one in run.json beside the recording */
    double limit;       /* seconds that a reference may take for one task; default 10 */
    uint32_t workers;   /* processes that call references at the same time; default: one per CPU */
    uint32_t sandbox;   /* of those processes: enum tg_sandbox; default: on */
    /* Called several times a second on the caller's thread; a return other than 0 cancels. */
    int (*progress)(void *context, uint64_t checked, uint64_t tasks);
    void *progress_context;
    tg_trust_fn ask; /* as in tg_replay_config */
    void *ask_context;
};

/*
 * Recomputes every recorded task from its recorded inputs with its kernel's reference function, and
 * calls `tell` for each, in the order of the recording, on the caller's thread. A return other than 0
 * stops the check.
 *
 * References are a user's code, so they run in processes of their own, which load the module; the
 * caller's program never does. A reference that crashes, exits, does not return within the limit or
 * writes beyond its arguments makes its task FAILED, and the other tasks are still checked. No task
 * DIFFERS or FAILED because of what another reference did: such a verdict comes from a process that
 * had called no reference before. What references print goes to standard error.
 *
 * BAD_ARGUMENT: a limit that is no time up to 1e6 s; NOT_FOUND: no module; NOT_TRUSTED: it was
 * not loaded; WORKLOAD_FAULT: the module
 * crashes while it is loaded; CANCELLED; NO_MEMORY.
 */
TG_API tg_status tg_reference_run(const struct tg_recording *recording,
                                  const struct tg_reference_config *config, tg_reference_fn tell,
                                  void *context, struct tg_error *error);
/* What became of tasks that were checked: of one kernel, or of all. Begins with zeros. */
struct tg_reference_counts {
    uint64_t tasks, good, wrong, without, incomplete, failed, empty;
    uint64_t max_ulp;               /* TG_ULP_UNDEFINED: NaN stands against a number */
    double max_error, max_relative; /* of the tasks that were compared */
};
/* Adds one task. */
TG_API void tg_reference_count(struct tg_reference_counts *counts,
                               const struct tg_reference_task *task);
/* Room for the reason of a result. */
struct tg_reference_reason {
    char text[600];
};
/* What the counts of all tasks mean: "wrong", "good", or "not known", with the reason in `reason`, which may
 * be NULL and is "" for the others. A recording without tasks is "good" only if its run had none. */
TG_API const char *tg_reference_result(const struct tg_recording *recording,
                                       const struct tg_reference_counts *counts,
                                       struct tg_reference_reason *reason);

/* tg_reference_run with that module (NULL: the default), and the defaults for the rest. */
TG_API tg_status tg_reference_check(const struct tg_recording *recording, const char *module,
                                    int (*tell)(void *context,
                                                const struct tg_reference_task *task),
                                    void *context, struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
