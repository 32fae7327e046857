/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output directory of a run, and files that are there whole or not at all.
 */
#ifndef TG_HOST_OUTPUT_H
#define TG_HOST_OUTPUT_H

#include <stdio.h>
#include <taskglass/status.h>
#include <time.h>

/*
 * Makes the directory and proves that it can be written to. The caller frees *dir.
 *
 * requested "": a new outputs/<workload>_<case>_<YYYYMMDD_HHMMSS>[_N] in the current directory,
 * which no other run has, however many start at once. Otherwise that directory, made with its
 * parents where it is missing; a run.json and deps.json that it has from before are removed,
 * lest they be taken for this run's.
 * IO_ERROR names path and cause.
 */
tg_status tg_output_create(const char *requested, const char *workload, const char *case_name,
                           time_t now, char **dir, struct tg_error *error);

/*
 * Writes dir/name through `write` (which returns 0, or the errno of what failed) under a
 * temporary name and renames it when everything is there. IO_ERROR names path and cause.
 */
typedef int (*tg_output_write_fn)(FILE *file, void *context);
tg_status tg_output_write(const char *dir, const char *name, tg_output_write_fn write,
                          void *context, struct tg_error *error);

#endif
