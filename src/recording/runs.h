/* SPDX-License-Identifier: Apache-2.0 */
/* What listing, selecting and removing runs share. */
#ifndef TG_RECORDING_RUNS_H
#define TG_RECORDING_RUNS_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/runs.h>

struct tg_runs {
    struct tg_runs_entry *run;
    size_t count, room;
    uint64_t unread;
    char first_unread[1024];
};

/* Files in the directory of a run, and in its folders. */
struct tg_run_content {
    uint64_t bytes;
    uint32_t own; /* files that a run writes */
    uint32_t
        sure; /* those of them whose names only runs use; others write a run.json or deps.json too */
    uint32_t
        others; /* what else there is; of a folder that is not a run's only the folder counts */
    char other[256]; /* the name of one of them, as it is */
};

/* Called for each file of the run, in the folder that `folder` is open in. False stops. */
typedef bool (*tg_run_file_fn)(void *context, int folder, const char *name);

/* Goes through a run's directory, which `dir` is open in. It enters only the folders that a run makes, and
 * follows no link. `visit` may be NULL. Returns 0 or an errno. */
int tg_run_content(int dir, tg_run_file_fn visit, void *context, struct tg_run_content *content);

/* Sets *is_run if the directory is that of a run: it has a file of one, or it has nothing but its name is one
 * that runs make, "…_20260101_120000". If it has but a run.json or deps.json, and another name, the file must
 * name a workload: --remove must not take that of another program. Returns 0, or a cause that is a fault. */
int tg_run_content_is_run(const char *path, const struct tg_run_content *content, bool *is_run);

/* What lies in the directory of one rank, or of a run that has no ranks. Returns 0, or a cause that is a fault:
 * what the directory is, is then not known. */
int tg_runs_look(const char *path, const char *name, struct tg_runs_entry *run, bool *is_run);
/* The same for a run with several ranks; *is_run stays as it is if it is none. */
int tg_runs_look_ranks(const char *path, const char *name, struct tg_runs_entry *run, bool *is_run);
/* tg_runs_remove for a run with several ranks, which the caller has found out. */
tg_status tg_runs_remove_ranks(const char *path, struct tg_runs_removed *removed,
                               struct tg_error *error);

/* Opens a directory that is not a link, for its names. Returns 0 or an errno. */
int tg_run_content_open(const char *path, int *dir);

#endif
