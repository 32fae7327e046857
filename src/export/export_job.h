/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An export under way: what its formats share.
 *
 *   export_formats.h      the table of formats
 *   export.c              the public function
 *   export_job.c          walking through the selected records; progress
 *   export_file.c         files that are there already, and files that were not finished
 *   export_records.c      txt, npy and npz: one record after the other
 *   export_safetensors.c  export_csv.c  export_sqlite.c  export_trace.c
 *   export_tasks.c        the tasks behind the records, for sqlite and trace
 *   analysis/deps_read.c  deps.json, for the same
 */
#ifndef TG_EXPORT_EXPORT_JOB_H
#define TG_EXPORT_EXPORT_JOB_H

#include <stdio.h>
#include <taskglass/export.h>

#include "export/export_formats.h"

struct tg_export_job {
    const struct tg_recording *recording;
    const struct tg_export_config *config;
    struct tg_recording_info info;
    struct tg_export_result result;
    struct tg_error *error; /* never NULL */
    /* the walk */
    uint64_t index; /* of the record that was given last */
    uint64_t taken;
    uint64_t next;
    bool is_cancelled;
    uint32_t unseen;      /* records since the clock was looked at */
    uint64_t told_at;     /* nanoseconds; when progress was told last */
    uint64_t done, total; /* of what progress counts: records, of all walks together */
};

/* A walk from the first record. How many there will be in all is said once, before the first one,
 * so that progress ends at its total. */
void tg_export_walks(struct tg_export_job *job, unsigned count);
void tg_export_walk(struct tg_export_job *job);
/* The next record that is selected, job->index; false at the end, at the limit, and where the caller
 * cancelled. */
bool tg_export_next(struct tg_export_job *job, struct tg_entry *entry);
/* At the end of what takes long: CANCELLED, or `status`. */
tg_status tg_export_end(const struct tg_export_job *job, tg_status status);
/* For loops of their own: false where the caller cancelled. */
bool tg_export_tell(struct tg_export_job *job);

tg_status tg_export_no_memory(struct tg_error *error);

/* For the formats that are about values: how many of the selected records have them, as far as it
 * matters (0, 1, 2), and the error that says that none has. */
int tg_export_count_values(const struct tg_export_job *job);
tg_status tg_export_nothing(struct tg_error *error);

/* A file to write to. */
struct tg_export_file {
    FILE *file;
    const char *path;
    bool is_regular; /* and is removed unless all goes well */
};
tg_status tg_export_file_open(const struct tg_export_job *job, const char *path,
                              struct tg_export_file *file);
/* Gives `status`, or what closing it says; an IO_ERROR gets the file's name. */
tg_status tg_export_file_close(const struct tg_export_job *job, struct tg_export_file *file,
                               tg_status status);

#endif
