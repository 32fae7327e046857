/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output directory of a run. A file in it appears complete or not at all.
 */
#ifndef TG_HOST_OUTPUT_H
#define TG_HOST_OUTPUT_H

#include <stdio.h>
#include <taskglass/status.h>
#include <time.h>

/*
 * Creates the directory and checks that it can be written to. The caller frees *dir.
 *
 * requested "": creates outputs/<workload>_<case>_<YYYYMMDD_HHMMSS>[_N] in the current directory.
 * Runs that start at the same time get different directories. Otherwise uses the requested
 * directory and creates it and its parents if they are missing. Removes the files that an earlier
 * run wrote there, so that they are not mistaken for this run's.
 * IO_ERROR names path and cause.
 */
tg_status tg_output_create(const char *requested, const char *workload, const char *case_name,
                           time_t now, char **dir, struct tg_error *error);

/*
 * Calls `write` (which returns 0 or an errno) to write a temporary file and renames it to dir/name
 * when it is complete. IO_ERROR names path and cause.
 */
typedef int (*tg_output_write_fn)(FILE *file, void *context);
tg_status tg_output_write(const char *dir, const char *name, tg_output_write_fn write,
                          void *context, struct tg_error *error);

#endif
