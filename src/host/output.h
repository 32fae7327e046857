/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output directory of a run. A file in it appears complete or not at all.
 */
#ifndef TG_HOST_OUTPUT_H
#define TG_HOST_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <taskglass/status.h>
#include <time.h>

#include "recording/run_folder.h"

struct tg_output_request {
    const char *dir; /* "": make a new one, named after the other members */
    const char *workload, *case_name;
    time_t now;
    bool shared;     /* the umask alone says who may enter a directory that is made */
    bool is_of_rank; /* it lies in the directory of a job (host/job.h), which rank 0 has locked */
};

/*
 * Creates the directory, locks it and checks that it can be written to. The caller frees *dir, and
 * unlocks when the run's last file is written.
 *
 * Without a requested one: creates outputs/<workload>_<case>_<YYYYMMDD_HHMMSS>[_N] in the current
 * directory. Runs that start at the same time get different directories. Otherwise uses the requested
 * directory and creates it and its parents if they are missing. Removes the files that an earlier run
 * wrote there, so that they are not mistaken for this run's; first takes the lock, so that these are
 * not the files of a run that is still under way.
 * *made is the length of the path of the topmost directory that was made, or 0. A failure removes what was
 * made.
 * BUSY: another run is at work there; nothing was changed. IO_ERROR names path and cause.
 */
tg_status tg_output_create(const struct tg_output_request *request, char **dir, size_t *made,
                           struct tg_run_lock *lock, struct tg_error *error);

/* Removes the directory and its parents as far as this run made them (*made of tg_output_create) and they
 * are empty. The caller holds the lock. */
void tg_output_remove(const char *dir, size_t made);

/*
 * Calls `write` (which returns 0 or an errno) to write a temporary file and renames it to dir/name
 * when it is complete. IO_ERROR names path and cause.
 */
typedef int (*tg_output_write_fn)(FILE *file, void *context);
tg_status tg_output_write(const char *dir, const char *name, tg_output_write_fn write,
                          void *context, struct tg_error *error);

#endif
