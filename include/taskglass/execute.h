/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a workload's case from end to end, as `taskglass run` does: load the module, prepare
 * the case, open the device, orchestrate, run, check against the golden values, and write the
 * output directory.
 */
#ifndef TASKGLASS_EXECUTE_H
#define TASKGLASS_EXECUTE_H

#include <taskglass/check.h>
#include <taskglass/race.h>
#include <taskglass/ranks.h>
#include <taskglass/run.h>
#include <taskglass/settings.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A workload module found by name or path. */
struct tg_workload;
struct tg_workload_file;

/* `name`: an example's name, or the path of a module (anything with a slash or ending in .so).
 * NOT_FOUND: the error names the folder searched and the workloads in it. */
TG_API tg_status tg_workload_open(const struct tg_settings *settings, const char *name,
                                  struct tg_workload_file **file, struct tg_error *error);
TG_API void tg_workload_close(struct tg_workload_file *file);
TG_API const struct tg_workload *tg_workload_get(const struct tg_workload_file *file);
TG_API const char *tg_workload_path(const struct tg_workload_file *file);

/* The names of the workloads installed beside the library; *names is freed with
 * tg_workload_names_free. */
TG_API tg_status tg_workload_names(const struct tg_settings *settings, char ***names,
                                   uint32_t *count, struct tg_error *error);
TG_API void tg_workload_names_free(char **names, uint32_t count);

/* A runtime: a way to build the graph. */
struct tg_runtime_info {
    const char *name;    /* "host_build_graph" */
    const char *summary; /* one line */
    bool available;
};
/* False if there is no runtime with that number. */
TG_API bool tg_runtime_get(uint32_t number, struct tg_runtime_info *info);

/* What tg_execute is doing. */
enum tg_phase { TG_PHASE_PREPARE, TG_PHASE_OPEN, TG_PHASE_BUILD, TG_PHASE_RUN, TG_PHASE_CHECK };

/* Called from tg_execute's thread: at each phase, and several times a second while the device starts,
 * loads the module, or runs the graph, and while outputs are compared. A return other than 0 cancels;
 * a task that then does not return within a second ends with the device. */
typedef int (*tg_progress_fn)(void *context, enum tg_phase phase, uint64_t finished,
                              uint64_t total);

/* A function of the workload that tg_execute is about to call in the program's own process. */
struct tg_workload_call {
    const char *function; /* "prepare", "golden" or "orchestration" */
    const char *workload;
    const char *case_name;
    void (*call)(void *argument);
    void *argument;
    const void *code; /* an address in the module that has the function; NULL: not known */
};

/*
 * Calls such a function on behalf of tg_execute, so that a program can protect itself from a workload
 * that crashes or does not return; `taskglass run` does. It calls call->call(call->argument) once, on
 * the same thread, and returns OK after that has returned. It may also leave the function by
 * siglongjmp and return another status with *error filled in: tg_execute then ends the run with that
 * status, writes run.json and closes the device.
 */
typedef tg_status (*tg_guard_fn)(void *context, const struct tg_workload_call *call,
                                 struct tg_error *error);

/* Which rank of a job this process is (comm.h). */
struct tg_execute_rank {
    uint32_t rank, ranks; /* ranks is 0 if the process is alone */
    bool reports;         /* it is the lowest rank that is alive: it tells the user how all ended */
};

/* Zero means the default everywhere. */
struct tg_execute_config {
    const char *case_name;  /* NULL: the workload's first */
    const char *const *set; /* "key=value" */
    uint32_t n_set;
    tg_progress_fn progress; /* may be NULL */
    void *progress_context;
    int argc; /* the command line, kept in run.json; may be 0 */
    const char *const *argv;
    tg_guard_fn guard; /* NULL: a crash of the workload's functions ends the program */
    void *guard_context;
    const char *trace;                  /* as in struct tg_run_config; NULL: no trace */
    const struct tg_schedule *schedule; /* NULL: the one that the setting `schedule` says */
    tg_race_fn race; /* NULL, or called for each group of races that the setting `races` asks for */
    void *race_context;
    struct tg_execute_rank *rank; /* NULL, or filled in, also if tg_execute fails early */
    /* The ranks stay together until tg_execution_destroy, which waits for the others. mpirun kills the rest
     * as soon as one rank exits with a failure: so the one that reports can finish. */
    bool hold_ranks;
};

struct tg_execution; /* the results of one execution */

/*
 * One rank of several (tg_job_is_rank in job.h says whether the process is one) joins the others, runs its part and
 * waits for theirs. Then the directory of the settings is that of the job: it has ranks.json and a folder
 * for each rank, and `output_dir` below is the rank's own. The trace is in that folder too, under the name that
 * tg_ranks_trace_name gives. A rank that fails before the run ends all of them.
 */

/*
 * Runs the case. Platform, runtime, cores, schedulers, timeout, output … come from the settings.
 * The caller destroys *execution, which also exists after MISMATCH and device failures; it is
 * NULL if the call failed before it had any result.
 *
 * IO_ERROR: the output directory, the recording or the trace could not be begun, or deps.json could not be
 * written although the setting `deps` asks for it. RACE: the setting `races` is error, and there are races; a
 * graph that the host built did not run then, one that the device builds did. Any other file that cannot be written during or after
 * the run changes nothing about the run's status: `run.record`, `run.scopes` or `run.trace` of the
 * execution's info says which file is missing and why, `run.record` also for run.json of a run that was
 * not recorded.
 */
TG_API tg_status tg_execute(const struct tg_settings *settings,
                            const struct tg_workload_file *workload,
                            const struct tg_execute_config *config, struct tg_execution **execution,
                            struct tg_error *error);
TG_API void tg_execution_destroy(struct tg_execution *execution);

/* How all ranks of the job ended. */
struct tg_execution_ranks {
    uint32_t rank, ranks;      /* this one's number, and how many there are */
    bool reports;              /* as in struct tg_execute_rank */
    bool speaks;               /* it reports, or has failed for a reason that no lower rank has */
    tg_status status;          /* of the job: that of the rank `worst` */
    uint32_t worst;            /* has failed, and not because of another; 0 if none has */
    struct tg_ranks_info info; /* as in ranks.json; `dir` is the job's directory */
    const struct tg_ranks_rank *all; /* `dir` in them is not set */
    uint32_t on_gpus;                /* how many of the ranks have a GPU */
    uint32_t gpus;                   /* how many GPUs these are; fewer: ranks share them */
};

/* How an execution ended. Texts live as long as the execution. */
struct tg_execution_info {
    tg_status status;
    const char *error;  /* one line; "" if there was no error */
    const char *advice; /* what to do about it; "" if there is none */
    const char *output_dir;
    const char *case_name;
    struct tg_device_info device;
    struct tg_run_result run;
    uint64_t edges;
    double prepare_seconds;
    double open_seconds; /* opening the device, and loading the module: load_seconds of it */
    double load_seconds, build_seconds, check_seconds;
    uint32_t n_outputs;
    const struct tg_output_check *outputs;
    const char *run_json; /* the text of run.json; "" if memory ran out */
    /* A warning if the module could not be noted as one that this user has run (taskglass/trust.h), which
     * check and replay would tell the user only later; else "". */
    const char *not_noted;
    /* What the setting `races` asked for: NULL if it did not, or if nothing could be judged, which
     * races_unknown explains; else "". */
    const struct tg_races_summary *races;
    const char *races_unknown;
    bool races_before;                      /* the graph was searched before it ran */
    const struct tg_execution_ranks *ranks; /* NULL: the run has no others */
};
/* Everything that `info` points to lives as long as the execution. */
TG_API void tg_execution_get(const struct tg_execution *execution, struct tg_execution_info *info);

#ifdef __cplusplus
}
#endif
#endif
