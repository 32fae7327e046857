/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one tg_execute, which its files share. */
#ifndef TG_HOST_EXECUTE_JOB_H
#define TG_HOST_EXECUTE_JOB_H

#include <taskglass/args.h>
#include <taskglass/execute.h>

#include "host/case.h"
#include "host/execution.h"
#include "host/guard.h"
#include "host/plan.h"
#include "recording/run_folder.h"

struct tg_live_server;

struct tg_execute_job {
    const struct tg_settings *settings;
    const struct tg_workload_file *file;
    const struct tg_execute_config *config;
    struct tg_plan plan;
    struct tg_job *ranks;         /* the job that this process is a rank of; NULL: it is alone */
    char *trace;                  /* of this rank, in its folder; NULL: as the caller says */
    struct tg_schedule *schedule; /* that of the setting */
    struct tg_guard guard;
    struct tg_case_host *test_case;
    struct tg_device *device;
    struct tg_module *module;
    struct tg_graph *graph;
    const char *tensor_name[TG_MAX_TENSORS]; /* the case's; the graph uses them in messages */
    struct tg_execution *execution;          /* handed to the caller at the end */
    struct tg_run_lock lock;     /* of the output directory, until run.json is written */
    struct tg_live_server *live; /* answers there, as long; NULL: nobody does */
    size_t made;                 /* of the output directory, as tg_output_create says */
    enum tg_phase phase;         /* what it is doing, for whoever waits for other ranks */
};

/* Nanoseconds of CLOCK_MONOTONIC: differences of doubles would show digits that were not measured. */
uint64_t tg_execute_now(void);
double tg_execute_seconds_since(uint64_t start);

/* Calls the caller's progress function. False if that function asks to cancel. */
bool tg_execute_tell(const struct tg_execute_job *job, enum tg_phase phase, uint64_t finished,
                     uint64_t total);

/* execute_copy.c: gives the case's tensors memory of the device, copies the inputs, and lists the arguments of
 * the orchestration. */
tg_status tg_execute_copy_in(struct tg_execute_job *job, struct tg_args *args,
                             struct tg_error *error);
/* Copies the outputs back. Only whole outputs are kept. */
tg_status tg_execute_copy_out(struct tg_execute_job *job, struct tg_error *error);

#endif
