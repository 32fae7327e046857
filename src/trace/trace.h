/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the trace of a run from a spool of its events:
 *
 *     struct tg_trace_run run = {.name = "mine/gemm", .core = cores, .n_cores = …, …};
 *     tg_trace_write(spool, &run, &(struct tg_trace_target){.path = "run.pftrace"}, &result, error);
 *
 * Memory does not grow with the number of events: they are sorted in pieces, which lie in files without names
 * in the spool's folder.
 */
#ifndef TG_TRACE_TRACE_H
#define TG_TRACE_TRACE_H

#include <stddef.h>
#include <stdio.h>

#include "trace/spool.h"

enum tg_trace_format { TG_TRACE_PERFETTO = 0, TG_TRACE_CHROME = 1 };

/* Chrome JSON for a name that ends in ".json"; Perfetto's protobuf for any other. */
enum tg_trace_format tg_trace_format_of(const char *path);

/* A core that tasks run on; TASK events name it by its index. */
struct tg_trace_core {
    uint32_t number;  /* as users see it: "core 4" */
    uint32_t kind;    /* enum tg_core_kind; TG_CORE_KINDS if it is not known */
    const char *name; /* of its part, "AIC", "AIV0"; may be NULL */
};

/* A fact about the run, shown with it. One of text and number counts: text may be NULL. */
struct tg_trace_fact {
    const char *key, *text;
    uint64_t number;
};

/* What a run is. Everything belongs to the caller. Texts may be anything: they are cleaned. */
struct tg_trace_run {
    const char *name; /* of the run's group of tracks */
    const struct tg_trace_core *core;
    uint32_t n_cores;
    const char *const *kernel; /* names, by their numbers; may be NULL */
    uint32_t n_kernels;
    const char *const *site; /* "file.c:12", by their numbers; may be NULL */
    uint32_t n_sites;
    uint64_t begin, end; /* of the run; TG_SPOOL_NO_TIME: of its first and last event */
    /* The keys "program" and "version" are added by the writer. Usual ones: workload, case, platform,
     * runtime, result, error, lost_events, clock_resolution_ns. */
    const struct tg_trace_fact *fact;
    uint32_t n_facts;
    /* Capacities of the resources, shown in the names of their counters; 0: not known. */
    uint64_t capacity[4][6]; /* of ring r (TG_RINGS), enum tg_resource */
};

/* Where the trace goes. */
struct tg_trace_target {
    const char *path; /* it gets its name when it is complete (taskglass/new_file.h) */
    bool overwrite;
    FILE *file; /* instead of a path: the caller's; an IO_ERROR then has the cause alone */
    enum tg_trace_format format;
    size_t memory; /* for each of the two sorts; 0: 32 MiB */
    /* Called now and then; false cancels. May be NULL. */
    bool (*goes_on)(void *context);
    void *context;
};

struct tg_trace_result {
    uint64_t tasks;    /* shown, a mix once */
    uint64_t edges;    /* shown */
    uint64_t left_out; /* events that made no sense */
    uint64_t bytes;    /* of the file */
};

/* `result` may be NULL. BAD_ARGUMENT: the file exists and `overwrite` is not set; IO_ERROR: no room on the
 * disk, or the spool lost events for that reason; CANCELLED; NO_MEMORY. If it fails there is no file. */
tg_status tg_trace_write(struct tg_spool *spool, const struct tg_trace_run *run,
                         const struct tg_trace_target *target, struct tg_trace_result *result,
                         struct tg_error *error);

#endif
