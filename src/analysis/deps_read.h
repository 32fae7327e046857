/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads deps.json one task at a time: every task of a run with the tasks it waited for. A run that
 * was killed has no such file. The reader does not trust the file: it checks each task before it
 * gives it out, and its memory grows only with the edges of one task; with all edges if the file is
 * another implementation's, which lists them behind the tasks (deps_peer.h); with all allocations if the
 * caller asks for them.
 */
#ifndef TG_ANALYSIS_DEPS_READ_H
#define TG_ANALYSIS_DEPS_READ_H

#include "analysis/deps_facts.h"
#include "analysis/deps_peer.h"
#include "base/files.h"
#include "base/json_pull.h"

#include <taskglass/recording.h>

#define TG_DEPS_FILE "deps.json"

enum { TG_DEPS_TEXT = 256 };

/* One task, valid until the next. */
struct tg_deps_read_task {
    uint64_t id;        /* never TG_TASK_NONE */
    uint64_t submitted; /* nanoseconds on the device's clock; TG_NONE if the file does not say */
    uint32_t n_numbers, n_names;
    uint32_t n_kernels; /* kernels that have both a func_id and a name */
    uint32_t number[TG_PARTS];
    uint8_t slot[TG_PARTS]; /* the part that each number is of; TG_PARTS if the file does not say */
    char kernel[TG_PARTS][TG_DEPS_TEXT];
    char scope[TG_DEPS_TEXT]; /* "" if the file has none */
    char line[TG_DEPS_TEXT];  /* of the call that submitted it; "" if the file does not say */
    struct tg_deps_read_seen seen;
    struct tg_deps_read_edge *edge;
    size_t n_edges;
};

/* A string in the file, with its escapes; NULL: none. */
struct tg_deps_raw {
    const char *text;
    size_t length;
};

struct tg_deps_reader {
    char *path; /* for messages */
    struct tg_map map;
    struct tg_pull pull;
    struct tg_deps_read_task task;
    size_t room; /* the capacity of task.edge */
    /* What the texts of `task` were made of: most tasks have those of the task before. */
    struct tg_deps_raw raw_scope, raw_line, raw_kernel[TG_PARTS];
    bool has_peer;            /* `peer` has been read */
    struct tg_deps_peer peer; /* read when a task comes that does not name its edges */
    uint32_t lists; /* lists of tasks that have begun; if there are several, the last one counts */
    char runtime[TG_DEPS_TEXT]; /* "" if the file has none; known once the tasks begin */
    uint64_t lost; /* tasks and edges that the run reports as not written, known at the end */
    bool keeps_allocations; /* set by the caller before the first task; else they are skipped */
    struct tg_deps_allocations allocations; /* known at the end */
    struct tg_deps_releases releases;       /* likewise, and kept with the allocations */
    enum { TG_DEPS_BEGIN, TG_DEPS_OBJECT, TG_DEPS_TASKS, TG_DEPS_OVER } state;
};

/* Opens the deps.json beside a recording. Without one, *found is false and nothing is open. */
tg_status tg_deps_reader_open(const struct tg_recording_info *info, struct tg_deps_reader *reader,
                              bool *found, struct tg_error *error);
/* Reads from memory that stays the caller's; `name` is for messages. */
tg_status tg_deps_reader_start(const void *text, size_t size, const char *name,
                               struct tg_deps_reader *reader, struct tg_error *error);
/* Puts the next task into reader->task; *more is false at the end of the document. BAD_ARGUMENT
 * names the line that is wrong. */
tg_status tg_deps_reader_next(struct tg_deps_reader *reader, bool *more, struct tg_error *error);
/* BAD_ARGUMENT with the file and the line, for a problem that the caller finds. */
tg_status tg_deps_reader_refuse(const struct tg_deps_reader *reader, const char *why,
                                struct tg_error *error);
void tg_deps_reader_close(struct tg_deps_reader *reader);

#endif
