/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scope stats: what the scopes of an orchestration used of the rings and of the tensor map. The
 * files of a run, in OUTPUT/scope_stats:
 *
 *     scope_stats.jsonl   a line of metadata, then one sample a line, as they come
 *     scope_stats.json    peaks per site and ring, nearest to full first; at the end
 *
 *     tg_scope_writer_create(output_dir, &limits, &w, error)
 *         tg_scope_writer_add(w, &sample) …    two of every scope
 *         tg_scope_writer_flush(w)             now and then: what a kill may not cost
 *     tg_scope_writer_finish(w, dropped, total, &fatal, error)
 *     tg_scope_writer_destroy(w)
 *
 * Memory: a buffer, and one small entry per site and ring; nothing is kept per sample.
 *
 * When the disk refuses: the first failure is remembered and ends all writing; finish says once
 * what happened. The caller need not care in between, and the run goes on.
 *
 * A writer belongs to one thread at a time.
 */
#ifndef TG_SCOPE_SCOPE_STATS_H
#define TG_SCOPE_SCOPE_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/status.h>

#define TG_SCOPE_FOLDER "scope_stats"
#define TG_SCOPE_SAMPLES "scope_stats.jsonl"
#define TG_SCOPE_SUMMARY "scope_stats.json"

enum { TG_SCOPE_VERSION = 6, TG_SCOPE_RINGS = 4 };

enum tg_scope_resource {
    TG_SCOPE_TASK_WINDOW,
    TG_SCOPE_HEAP,
    TG_SCOPE_DEP_POOL,
    TG_SCOPE_TENSORMAP, /* one for all rings */
    TG_SCOPE_RESOURCES
};

/* What there is. 0: no such thing in this run. */
struct tg_scope_limits {
    uint32_t n_rings;
    uint64_t task_window[TG_SCOPE_RINGS], heap[TG_SCOPE_RINGS], dep_pool[TG_SCOPE_RINGS];
    uint64_t tensormap;
};

/* The state of a scope's ring when the scope begins or ends. The cursors are totals that never
 * wrap: start is where the ring is free again, end what has been handed out, and end - start is
 * in use. */
struct tg_scope_sample {
    const char *site; /* "file.c:12"; NULL where nobody knows */
    bool end;
    uint32_t depth, ring;
    uint64_t task_window_start, task_window_end;
    uint64_t heap_start, heap_end;
    uint64_t dep_pool_start, dep_pool_end;
    uint64_t tensormap;                /* live entries */
    uint64_t peak[TG_SCOPE_RESOURCES]; /* of an end: the most in use at a time within the scope */
};

/* What ended the run, where a ring or the tensor map did. The strings may be NULL. */
struct tg_scope_fatal {
    bool on;
    uint32_t resource; /* enum tg_scope_resource */
    uint32_t ring;
    const char *site; /* of the scope that holds what is used */
    uint64_t used, capacity, wanted;
    const char *advice; /* "--ring-task-window 391" */
    const char *error;  /* "SCOPE_DEADLOCK" */
};

struct tg_scope_writer;

/*
 * Makes output_dir/scope_stats (output_dir must exist) and in it the samples' file with its first
 * line; what is there from before is removed. IO_ERROR names path and cause.
 */
tg_status tg_scope_writer_create(const char *output_dir, const struct tg_scope_limits *limits,
                                 struct tg_scope_writer **writer, struct tg_error *error);
/* Samples in the order in which they were taken. The site is copied; what the device says is not
 * trusted: names are cleaned, a ring past the last one is taken for the last. */
void tg_scope_writer_add(struct tg_scope_writer *writer, const struct tg_scope_sample *sample);
void tg_scope_writer_flush(struct tg_scope_writer *writer);
/*
 * Writes what is buffered, puts the numbers into the first line, writes the summary and closes.
 * `total`: samples that the device set out to make; `dropped`: those of them that it lost. `fatal`
 * may be NULL. IO_ERROR, naming path and cause, where anything failed since create. Once.
 */
tg_status tg_scope_writer_finish(struct tg_scope_writer *writer, uint64_t dropped, uint64_t total,
                                 const struct tg_scope_fatal *fatal, struct tg_error *error);
/* Without finish the samples stay as a killed host would leave them. NULL is fine. */
void tg_scope_writer_destroy(struct tg_scope_writer *writer);

#endif
