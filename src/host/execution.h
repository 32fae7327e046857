/* SPDX-License-Identifier: Apache-2.0 */
/* What tg_execute gathers, and what the files of the output directory are written from. */
#ifndef TG_HOST_EXECUTION_H
#define TG_HOST_EXECUTION_H

#include <taskglass/execute.h>
#include <taskglass/outputs.h>
#include <time.h>

#include "host/case.h"

struct tg_graph;

/* Seconds, in the order in which they pass. Start and execution are in the run's result. */
struct tg_execution_times {
    double prepare;
    double open;
    double copy_in;
    double build;
    double copy_out;
    double check;
    double total; /* all of tg_execute but writing files */
};

/* Owns everything it points to: it outlives device, run and case. */
struct tg_execution {
    tg_status status;
    struct tg_error error; /* text "" where all is well */
    time_t started;
    char *workload;
    char *case_name;
    char *output_dir;
    char *platform;
    char *runtime;
    struct tg_device_info device; /* all zero where it could not be opened */
    struct tg_run_result run;     /* all zero where it did not come to a run */
    struct tg_run_task *running;
    uint64_t tasks;
    uint64_t edges;
    uint64_t bytes_in;
    uint64_t bytes_out;
    struct tg_execution_times times;
    struct tg_output_check outputs[TG_MAX_TENSORS];
    uint32_t n_outputs;
    struct tg_output kept[TG_MAX_TENSORS];
    uint32_t n_kept;
    char *run_json;
};

/* What came of a run that has ended, with its running tasks copied. NO_MEMORY loses those. */
/* What to do about its error: the options to type where they are known. */
const char *tg_execution_advice(const struct tg_execution *execution);

tg_status tg_execution_keep_run(struct tg_execution *execution, const struct tg_run *run);

/* The case's outputs, as far as they came off the device; the case has them no more. */
void tg_execution_keep_outputs(struct tg_execution *execution, struct tg_case_host *test_case);
void tg_execution_free_outputs(struct tg_execution *execution);

/* Everything that run.json tells. `test_case` may have been prepared only. */
struct tg_run_facts {
    const struct tg_execution *execution;
    const struct tg_settings *settings;
    const struct tg_workload_file *workload;
    const struct tg_execute_config *config;
    struct tg_case_host *test_case;
};

/* The text of run.json; the caller frees *text. */
tg_status tg_run_json_render(const struct tg_run_facts *facts, char **text, struct tg_error *error);

/* Writes deps.json into the output directory: every task, its kernels, its scope's source line
 * and the tasks it waited for. */
tg_status tg_deps_json_write(const struct tg_execution *execution, const struct tg_graph *graph,
                             struct tg_error *error);

#endif
