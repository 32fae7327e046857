/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running export: what the formats share.
 *
 *   export_formats.h      the table of formats
 *   export.c              the public function
 *   export_job.c          walking through the selected records; progress
 *   export_file.c         the files that an export writes
 *   export_records.c      txt, npy and npz, record by record
 *   export_safetensors.c  export_csv.c  export_sqlite.c  export_trace.c  export_simpler.c
 *   export_tasks.c        the tasks behind the records, for sqlite and trace
 *   analysis/deps_read.c  deps.json, for sqlite and trace
 */
#ifndef TG_EXPORT_EXPORT_JOB_H
#define TG_EXPORT_EXPORT_JOB_H

#include <stdio.h>
#include <taskglass/export.h>

#include "base/new_file.h"
#include "export/export_formats.h"

struct tg_export_job {
    const struct tg_recording *recording;
    const struct tg_export_config *config;
    struct tg_recording_info info;
    struct tg_export_result result;
    struct tg_error *error; /* never NULL */
    /* the current walk through the records */
    uint64_t index; /* of the record given out last */
    uint64_t taken;
    uint64_t next;
    bool is_cancelled;
    bool has_values;      /* tg_export_begin_values: records with the flag EXCESS are written too */
    uint32_t unseen;      /* records since the clock was last read */
    uint64_t told_at;     /* nanoseconds; when progress was last reported */
    uint64_t done, total; /* records of all walks together */
    /* What this export made, in this order: removed if the export does not succeed as a whole. */
    struct tg_export_made {
        char *path;
        bool is_folder;
    } * made;
    size_t n_made, made_room;
};

/* tg_export_walk starts a walk from the first record. tg_export_walks sets the number of walks,
 * once and before the first one, so that progress ends at its total. */
void tg_export_walks(struct tg_export_job *job, unsigned count);
void tg_export_walk(struct tg_export_job *job);
/* Gives the next selected record, whose index is job->index. Returns false at the end, at the
 * limit, and after the caller cancelled. */
bool tg_export_next(struct tg_export_job *job, struct tg_entry *entry);
/* Returns CANCELLED if the caller cancelled, otherwise `status`. */
tg_status tg_export_end(const struct tg_export_job *job, tg_status status);
/* Reports progress for loops that do not use tg_export_next. Returns false if the caller
 * cancelled. */
bool tg_export_tell(struct tg_export_job *job);
/* The same for functions that ask by a pointer: `job` is a struct tg_export_job. */
bool tg_export_goes_on(void *job);
/* Writes bytes that may lie in a mapped file, in pieces; asks between them as tg_export_tell does. False if
 * that failed or the caller cancelled: tg_export_failed says which. */
bool tg_export_bytes(struct tg_export_job *job, FILE *file, const void *bytes, uint64_t size);
/* After a failed write: CANCELLED if the caller of the job cancelled, otherwise IO_ERROR with the cause in
 * errno. `job` may be NULL. */
tg_status tg_export_failed(const struct tg_export_job *job, struct tg_error *error);

/* True for the names that Perfetto's traces have. */
bool tg_export_is_perfetto(const char *path);

tg_status tg_export_no_memory(struct tg_error *error);

/* For formats that contain values, before they write: refuses what is oversize. */
tg_status tg_export_begin_values(struct tg_export_job *job);
/* Whether none, one or several of the selected records have values (0, 1, 2), and the error to return if
 * none has. */
int tg_export_count_values(const struct tg_export_job *job);
tg_status tg_export_nothing(struct tg_error *error);
/* Gives a record that was not taken by tg_export_next its payload, as tg_export_next does. */
void tg_export_take(const struct tg_export_job *job, struct tg_entry *entry);

/* A file to write to. */
struct tg_export_file {
    FILE *file;
    const char *path;
    struct tg_new_file *made; /* NULL: standard output */
};
tg_status tg_export_file_open(const struct tg_export_job *job, const char *path,
                              struct tg_export_file *file);
/* The same for a writer that opens the file itself, by tg_new_file_name(file->made). */
tg_status tg_export_file_open_named(const struct tg_export_job *job, const char *path,
                                    struct tg_export_file *file);
/* Gives the file its name if `status` is OK; otherwise nothing of it stays. Returns `status`, or the
 * error of closing the file, or of a recording whose files lost bytes; adds the file's name to an
 * IO_ERROR. */
tg_status tg_export_file_close(struct tg_export_job *job, struct tg_export_file *file,
                               tg_status status);
/* Makes a folder, unless there is an empty one (tg_new_folder). */
tg_status tg_export_folder_make(struct tg_export_job *job, const char *path);
/* At the end: frees the list of what was made, and removes all of it if `status` is an error. */
void tg_export_made_end(struct tg_export_job *job, tg_status status);

#endif
