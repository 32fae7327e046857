/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading deps.json: every task of a run with the tasks it waited for, one task after the other. A
 * run that was killed has no such file. It is read as if it were hostile: each task is checked
 * before it is given out, and memory grows only with the edges of one task.
 */
#ifndef TG_ANALYSIS_DEPS_READ_H
#define TG_ANALYSIS_DEPS_READ_H

#include "base/files.h"
#include "base/json_pull.h"

#include <taskglass/recording.h>

#define TG_DEPS_FILE "deps.json"

enum { TG_DEPS_TEXT = 256, TG_DEPS_KIND = 16 };

struct tg_deps_read_edge {
    uint64_t before;
    char kind[TG_DEPS_KIND]; /* "explicit", "raw" …; "" where it is not said */
};

/* One task, valid until the next. */
struct tg_deps_read_task {
    uint64_t id; /* never TG_TASK_NONE */
    uint32_t n_numbers, n_names;
    uint32_t n_kernels; /* those that have both */
    uint32_t number[TG_PARTS];
    char kernel[TG_PARTS][TG_DEPS_TEXT];
    char scope[TG_DEPS_TEXT]; /* "" where it is not said */
    struct tg_deps_read_edge *edge;
    size_t n_edges;
};

struct tg_deps_reader {
    char *path; /* for messages */
    struct tg_map map;
    struct tg_pull pull;
    struct tg_deps_read_task task;
    size_t room;    /* of task.edge */
    uint32_t lists; /* lists of tasks that have begun; of several, the last one counts */
    uint64_t lost;  /* tasks and edges that the run could not write down, known at the end */
    enum { TG_DEPS_BEGIN, TG_DEPS_OBJECT, TG_DEPS_TASKS, TG_DEPS_OVER } state; /* where it is */
};

/* What lies beside a recording. *found is false, and nothing is open, where there is none. */
tg_status tg_deps_reader_open(const struct tg_recording_info *info, struct tg_deps_reader *reader,
                              bool *found, struct tg_error *error);
/* Out of memory that stays the caller's; `name` for messages. */
tg_status tg_deps_reader_start(const void *text, size_t size, const char *name,
                               struct tg_deps_reader *reader, struct tg_error *error);
/* The next one in reader->task; *more is false at the end of the document. BAD_ARGUMENT says in which
 * line it makes no sense. */
tg_status tg_deps_reader_next(struct tg_deps_reader *reader, bool *more, struct tg_error *error);
/* BAD_ARGUMENT with the file and the line, for what a caller finds wrong. */
tg_status tg_deps_reader_refuse(const struct tg_deps_reader *reader, const char *why,
                                struct tg_error *error);
void tg_deps_reader_close(struct tg_deps_reader *reader);

#endif
