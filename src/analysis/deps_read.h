/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deps.json of the run that a recording is of: every task with the tasks it waited for. It lies
 * beside the recording's folder; a run that was killed has none. Read as it comes, and as hostile as
 * every file.
 */
#ifndef TG_ANALYSIS_DEPS_READ_H
#define TG_ANALYSIS_DEPS_READ_H

#include "base/files.h"
#include "base/json_pull.h"

#include <taskglass/recording.h>

enum { TG_DEPS_KERNELS = 3, TG_DEPS_TEXT = 256, TG_DEPS_KIND = 16 };

struct tg_deps_read_edge {
    uint64_t before;
    char kind[TG_DEPS_KIND]; /* "explicit", "raw" …; "" where it is not said */
};

/* One task, valid until the next. */
struct tg_deps_read_task {
    uint64_t id;
    uint32_t n_kernels;
    uint32_t number[TG_DEPS_KERNELS];
    char kernel[TG_DEPS_KERNELS][TG_DEPS_TEXT];
    char scope[TG_DEPS_TEXT]; /* "" where it is not said */
    struct tg_deps_read_edge *edge;
    size_t n_edges;
};

struct tg_deps_reader {
    char *path; /* for messages */
    struct tg_map map;
    struct tg_pull pull;
    struct tg_deps_read_task task;
    size_t room; /* of task.edge */
    bool in_tasks;
};

/* The path of a file of the run that a recording is of, on the heap; NULL where memory ran out. */
char *tg_export_run_file(const struct tg_recording_info *info, const char *name);

/* *found is false, and nothing is open, where there is no such file. */
tg_status tg_deps_reader_open(const struct tg_recording_info *info, struct tg_deps_reader *deps,
                              bool *found, struct tg_error *error);
/* Out of memory that stays the caller's, for tests. */
tg_status tg_deps_reader_start(const void *text, size_t size, struct tg_deps_reader *deps,
                               struct tg_error *error);
/* The next one in deps->task, *more; BAD_ARGUMENT says in which line it makes no sense. */
tg_status tg_deps_reader_next(struct tg_deps_reader *deps, bool *more, struct tg_error *error);
void tg_deps_reader_close(struct tg_deps_reader *deps);

#endif
