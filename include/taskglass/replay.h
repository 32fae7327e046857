/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repeating recorded tasks: run one task alone on a device from its recorded arguments, recompute all
 * tasks on the host with the reference functions of their kernels, or write one task as a folder that
 * builds without the graph. All three compare with the recorded outputs.
 */
#ifndef TASKGLASS_REPLAY_H
#define TASKGLASS_REPLAY_H

#include <taskglass/execute.h>
#include <taskglass/recording.h>

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
};

struct tg_replay_result {
    uint64_t task;
    char kernel[200]; /* "mat+vec" for a mix */
    char platform[32];
    uint32_t runs;
    uint32_t n_outputs;
    struct tg_replay_output output[TG_MAX_TENSORS];
    bool same;                /* every output of every run equals the recorded one */
    bool deterministic;       /* all runs gave the same result */
    struct tg_run_result run; /* of the last run; its `running` is NULL */
};

/* Runs the task alone on the device that the settings name. OK: it ran; `result` has the comparison.
 * Other statuses are those of tg_recording_open, tg_device_load and tg_run_wait. */
TG_API tg_status tg_replay_task(const struct tg_settings *settings,
                                const struct tg_recording *recording, uint64_t task,
                                const struct tg_replay_config *config,
                                struct tg_replay_result *result, struct tg_error *error);

/* Writes a folder, which must not exist yet, with C source, inputs, expected outputs, a CMake file and
 * the workload's module. */
TG_API tg_status tg_replay_bundle(const struct tg_recording *recording, uint64_t task,
                                  const struct tg_replay_config *config, const char *folder,
                                  struct tg_error *error);

/* The result of checking one task with its reference function. */
struct tg_reference_task {
    uint64_t task;
    char kernel[200];
    enum {
        TG_REFERENCE_AGREES,
        TG_REFERENCE_DIFFERS,
        TG_REFERENCE_NONE,
        TG_REFERENCE_INCOMPLETE
    } is;
    uint32_t argument;            /* DIFFERS: the first output that differs */
    struct tg_output_check check; /* of that output */
    const char *why;              /* INCOMPLETE: what is missing; lives until the next task */
};

/* Recomputes every recorded task from its recorded inputs with its kernel's reference function, in the
 * order of the recording, and calls `tell` for each. A return other than 0 stops the check. */
TG_API tg_status tg_reference_check(const struct tg_recording *recording, const char *module,
                                    int (*tell)(void *context,
                                                const struct tg_reference_task *task),
                                    void *context, struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
