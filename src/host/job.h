/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This process as one rank of a job: how the ranks agree before, between and after the steps of
 * tg_execute, and the directory that they share.
 *
 *     every rank                         all together
 *     plan, case, prepare          ───►  tg_job_agree "prepared"
 *                                  ───►  tg_job_place: rank 0 makes DIR, ranks.json; each DIR/rankN
 *     device, copy in, build       ───►  tg_job_agree "built"
 *     run (the room comm talks), copy out, check, files
 *                                  ───►  tg_job_end: statuses, clocks; ranks.json by the lowest alive
 *
 * A rank that fails takes part in the steps that are left, so that the others learn it there and do not
 * wait for it.
 */
#ifndef TG_HOST_JOB_H
#define TG_HOST_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/comm.h>
#include <taskglass/ranks.h>
#include <taskglass/settings.h>

#include "host/output.h"

/* What the others write about a rank that is gone. */
#define TG_JOB_NO_REPORT "it ended without a report"

/* What each rank knows about all of them. */
struct tg_job {
    struct tg_comm *comm;
    uint32_t rank, ranks;
    struct tg_ranks_info info;
    struct tg_ranks_rank *all; /* `ranks` of them */
    bool *lost;                /* likewise: it has gone */
    uint64_t *gpu;             /* likewise: gpu_id of its device (device.h), 0 if it has none */
    void *words;               /* likewise: what they say in an exchange */
    bool has_failed;           /* some rank has, as far as this one knows */
    bool is_stuck;             /* the user stopped while others were waited for */
    char *dir;                 /* that the ranks share; NULL: not known yet */
    size_t made;               /* of it, as tg_output_create says */
    struct tg_run_lock lock;   /* of it: rank 0's */
    bool speaks;               /* this rank has to say how it ended; see tg_job_end */
    /* Asked while others are waited for: false means that the user wants to stop. NULL: nobody does. */
    bool (*goes_on)(void *context);
    void *context;
};

/*
 * Joins the other ranks, if this process is one. *job is NULL if it is alone. BAD_ARGUMENT: there are
 * more or fewer than the setting `ranks` says. UNSUPPORTED: the setting asks for several, and the process
 * is alone.
 */
tg_status tg_job_open(const struct tg_settings *settings, struct tg_job **job,
                      struct tg_error *error);

/* Tells the others how this rank's last step ended, and waits for theirs. OK: all of them were good.
 * Otherwise the own failure, which *error has already, or that of another with its status, or RANK_LOST.
 * `step` says what the step was: "prepare its case". */
tg_status tg_job_agree(struct tg_job *job, tg_status own, const char *step, struct tg_error *error);

/* tg_output_create for a rank: the directory of the job by rank 0, and in it the folder of this rank.
 * Every rank fails if rank 0 does. */
tg_status tg_job_place(struct tg_job *job, const struct tg_output_request *request, char **dir,
                       size_t *made, struct tg_run_lock *lock, struct tg_error *error);

/* Tells all how this rank ended, learns how the others did, and writes ranks.json; fails only if that cannot
 * be written. The rank's own files are complete. Afterwards job->speaks says whether this rank has something to
 * tell that no lower one tells: a failure of its own. */
tg_status tg_job_end(struct tg_job *job, tg_status status, const char *text,
                     struct tg_error *error);

/* This rank's number among those of its machine. */
uint32_t tg_job_local_rank(const struct tg_job *job);

/* How many ranks have a GPU, as far as they have said, and how many GPUs these are. */
void tg_job_count_gpus(const struct tg_job *job, uint32_t *ranks, uint32_t *gpus);

/* The rank that reports for all: the lowest that is alive. */
bool tg_job_reports(const struct tg_job *job);
/* How the whole job ended: the status with the worst exit code, and a rank that has it. */
tg_status tg_job_worst(const struct tg_job *job, uint32_t *rank);

/* Leaves the job. NULL is allowed. */
void tg_job_close(struct tg_job *job);

/* job_json.c: writes dir/ranks.json from what is known of `info->ranks` ranks. */
tg_status tg_ranks_json_write(const char *dir, const struct tg_ranks_info *info,
                              const struct tg_ranks_rank *rank, struct tg_error *error);

#endif
