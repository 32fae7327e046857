/* SPDX-License-Identifier: Apache-2.0 */
/* What tg_execute collects. The files of the output directory are written from it. */
#ifndef TG_HOST_EXECUTION_H
#define TG_HOST_EXECUTION_H

#include <taskglass/execute.h>
#include <taskglass/outputs.h>
#include <time.h>

#include "host/case.h"
#include "host/execute_races.h"

struct tg_graph;
struct tg_job;

/* Seconds per phase, in the order of the phases. The run's result has start and execution. */
struct tg_execution_times {
    double prepare;
    double open;
    double load; /* of `open` */
    double copy_in;
    double build;
    double copy_out;
    double check;
    double total; /* all of tg_execute except writing the files */
};

/* Owns everything it points to, because it outlives device, run and case. */
struct tg_execution {
    tg_status status;
    struct tg_error error; /* text is "" on success */
    time_t started;
    char *workload;
    char *case_name;
    char *output_dir;
    char *platform;
    char *runtime;
    bool poison;                  /* memory was filled with TG_POISON when it was handed out */
    struct tg_device_info device; /* all zero if the device could not be opened */
    struct tg_run_result run;     /* all zero if no run was started */
    struct tg_run_task *running;
    struct tg_explanation *explanation; /* of a run that failed; NULL: there is none */
    uint64_t *starts;                   /* of run.schedule */
    uint64_t tasks;
    uint64_t edges;
    uint64_t bytes_in;
    uint64_t bytes_out;
    struct tg_execution_times times;
    struct tg_output_check outputs[TG_MAX_TENSORS];
    uint32_t n_outputs;
    struct tg_output kept[TG_MAX_TENSORS];
    uint32_t n_kept;
    char advice[2000]; /* about this run; "": that of its status will do */
    tg_status advised; /* the status that it is about */
    char *run_json;
    struct tg_execution_races races;
    struct tg_execution_ranks ranks; /* all of the job; none: the run has no others */
    char shared_gpus[64];            /* "4 ranks share 2 GPUs"; "": none is shared */
    char *ranks_dir;
    struct tg_job *held;  /* that the caller wants to leave later; NULL: none */
    struct tg_error note; /* why the module was not noted as one that the user has run; or OK */
};

/* execution_advice.c: writes the advice that belongs to this run: its directory, its command line. */
void tg_execution_advise(struct tg_execution *execution, const struct tg_workload *workload,
                         const struct tg_execute_config *config);
/* Advice about the execution's error: the options or the command to type, if they are known. */
const char *tg_execution_advice(const struct tg_execution *execution);

/* Copies the result of a run that has ended, with the list of tasks that were still running.
 * NO_MEMORY: without that list. */
tg_status tg_execution_keep_run(struct tg_execution *execution, const struct tg_run *run);

/* Copies what the ranks told each other at the end. Without memory the execution knows none of them. */
void tg_execution_keep_ranks(struct tg_execution *execution, const struct tg_job *job);

/* Takes the outputs that were copied from the device out of the case. */
void tg_execution_keep_outputs(struct tg_execution *execution, struct tg_case_host *test_case);
void tg_execution_free_outputs(struct tg_execution *execution);

/* The sources of run.json. `test_case` is prepared; its golden values may be missing. */
struct tg_run_facts {
    const struct tg_execution *execution;
    const struct tg_settings *settings;
    const struct tg_workload_file *workload;
    const struct tg_execute_config *config;
    struct tg_case_host *test_case;
    const char *trace; /* the file that was written; NULL: none */
};

/* The text of run.json; the caller frees *text. */
tg_status tg_run_json_render(const struct tg_run_facts *facts, char **text, struct tg_error *error);

/* Writes deps.json into the output directory: every task, its kernels, its scope's source line
 * and the tasks it waited for. */
tg_status tg_deps_json_write(const struct tg_execution *execution, const struct tg_graph *graph,
                             struct tg_error *error);

#endif
