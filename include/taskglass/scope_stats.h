/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scope stats: what the scopes of an orchestration used of the rings and of the tensor map, and what
 * to set those to. A run with --enable-scope-stats writes them to OUTPUT/scope_stats:
 *
 *     scope_stats.jsonl   a line of metadata, then one sample a line, as they come
 *     scope_stats.json    peaks per site and ring, nearest to full first; at the end of the run
 *
 *     tg_scope_stats_open("outputs/run", NULL, NULL, &stats, &error)
 *     for (i = 0; tg_scope_stats_get_row(stats, i, &row); i++)
 *         …                                          peaks of one site on one ring
 *     tg_scope_stats_get_setting(stats, TG_SCOPE_HEAP, &setting)      what to type
 *     tg_scope_stats_close(stats)
 *
 * Stats of another implementation are read too, and so is what a killed host leaves. Once opened, the
 * stats do not change: several threads may use them at the same time. Texts live as long as they are
 * open.
 */
#ifndef TASKGLASS_SCOPE_STATS_H
#define TASKGLASS_SCOPE_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

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
/* "task_window", "heap", "dep_pool", "tensormap"; NULL past the end. */
TG_API const char *tg_scope_resource_name(unsigned resource);

/* ── reading ───────────────────────────────────────────────────────────────────────────────── */

/* The state of a scope's ring when the scope begins or ends. The cursors are totals that never
 * wrap: start is where the ring is free again, end what has been handed out, and end - start is
 * in use. */
struct tg_scope_sample {
    const char *site; /* "file.c:12"; NULL where it is not known, or given by its number */
    bool end;
    uint32_t depth, ring;
    uint64_t task_window_start, task_window_end;
    uint64_t heap_start, heap_end;
    uint64_t dep_pool_start, dep_pool_end;
    uint64_t tensormap;                /* live entries */
    uint64_t peak[TG_SCOPE_RESOURCES]; /* of an end: the most in use at a time within the scope */
};
/* In use, by the sample's cursors. */
TG_API uint64_t tg_scope_used(const struct tg_scope_sample *sample, unsigned resource);

/* One sample, `index` counted from 0, `site` as tg_scope_stats_site counts. Called by the thread that
 * opens the stats. False, where memory ran out, ends the reading with an error. */
typedef bool (*tg_scope_sample_fn)(void *context, uint64_t index, uint32_t site,
                                   const struct tg_scope_sample *sample);

struct tg_scope_stats;

/*
 * `path`: a run's directory, its scope_stats, or the samples' file. The file is read once from front
 * to end; `each`, which may be NULL, sees every sample, and nothing is kept of them but peaks. The
 * caller closes the stats. NOT_FOUND: nothing there; BAD_ARGUMENT: broken, says where; NO_MEMORY.
 */
TG_API tg_status tg_scope_stats_open(const char *path, tg_scope_sample_fn each, void *context,
                                     struct tg_scope_stats **stats, struct tg_error *error);
/* NULL is fine. */
TG_API void tg_scope_stats_close(struct tg_scope_stats *stats);

/* What ended the run, where a ring or the tensor map did. The strings may be NULL. */
struct tg_scope_fatal {
    bool on;           /* the rest is set */
    uint32_t resource; /* enum tg_scope_resource; TG_SCOPE_RESOURCES: not known */
    uint32_t ring;
    const char *site; /* of the scope that holds what is used */
    uint64_t used, capacity, wanted;
    const char *advice; /* "--ring-task-window 391" */
    const char *error;  /* "SCOPE_DEADLOCK" */
};

struct tg_scope_stats_info {
    const char *file;                   /* the samples' file that was read */
    bool complete;                      /* the file says of itself that it is all, and it is */
    bool failed;                        /* a ring or the tensor map ended the run */
    const struct tg_scope_fatal *fatal; /* which one; NULL where it is not known */
    bool measured;                      /* ends say how much was in use within their scopes */
    uint64_t dropped, total;            /* samples that the device lost, and set out to make */
    uint64_t samples;                   /* that were read */
    uint64_t scopes;
    uint32_t sites, rows;
    uint32_t left_open;                  /* scopes that were open at the end */
    uint64_t without_begin, without_end; /* scopes of which a sample is missing */
    const char
        *summary_problem; /* why scope_stats.json could not be read; "": it could, or there is
                                    none */
};
TG_API void tg_scope_stats_get_info(const struct tg_scope_stats *stats,
                                    struct tg_scope_stats_info *info);

/* "file.c:12", UTF-8 without control characters, "(unknown):0" where it is not known; NULL past the
 * last one. */
TG_API const char *tg_scope_stats_site(const struct tg_scope_stats *stats, uint32_t number);

/* What there is of a resource; 0: no such thing in this run. The tensor map's is the same for all
 * rings. */
TG_API uint64_t tg_scope_stats_capacity(const struct tg_scope_stats *stats, unsigned resource,
                                        uint32_t ring);

/* One site on one ring. */
struct tg_scope_row {
    uint32_t site, ring;
    uint32_t depth_min, depth_max;
    uint64_t count; /* scopes */
    uint64_t peak[TG_SCOPE_RESOURCES];
};
/* Nearest to full first, then by name and ring; false past the last one. */
TG_API bool tg_scope_stats_get_row(const struct tg_scope_stats *stats, uint32_t number,
                                   struct tg_scope_row *row);
/* used / capacity; of something that is not there, 0, or 1 where it was used all the same. */
TG_API double tg_scope_share(uint64_t used, uint64_t capacity);
/* The resource of which the row had the largest share in use. */
TG_API unsigned tg_scope_stats_nearest(const struct tg_scope_stats *stats,
                                       const struct tg_scope_row *row);

/* ── advice ────────────────────────────────────────────────────────────────────────────────── */

/*
 * What the rings and the tensor map should be set to, from what a run used. Smallest safe is what
 * was in use at a time: no scope can then hold more than there is, so a run like this one cannot fail
 * for want of room, though it may wait for it more often. The heap gets the largest step on top, since
 * what is asked for has to lie in one piece and the end of the ring may have to be skipped for it.
 *
 * Samples without measured peaks tell less: then it is what can have been in use in between.
 *
 * A run that failed, or of which samples are missing, may have wanted more than is known: nothing is
 * advised then to be made smaller.
 */
enum tg_scope_verdict {
    TG_SCOPE_ABSENT,    /* this run has no such thing */
    TG_SCOPE_SO_FAR,    /* enough for what is known of the run */
    TG_SCOPE_LARGER,    /* than needed */
    TG_SCOPE_FITS,      /* exactly */
    TG_SCOPE_TIGHT,     /* enough for this run, without the margin */
    TG_SCOPE_FULL,      /* was full; the orchestration may have waited */
    TG_SCOPE_TOO_SMALL, /* the run failed for want of it */
};
/* "absent", "so_far", "larger", "fits", "tight", "full", "too_small"; "?" for a number that is none. */
TG_API const char *tg_scope_verdict_name(unsigned verdict);

/* Of one ring; of the tensor map, which belongs to no ring, at ring 0. */
struct tg_scope_need {
    uint64_t peak, capacity, smallest;
    enum tg_scope_verdict verdict;
};
/* TG_SCOPE_ABSENT for a resource or ring that this run does not have. */
TG_API void tg_scope_stats_get_need(const struct tg_scope_stats *stats, unsigned resource,
                                    uint32_t ring, struct tg_scope_need *need);

/* Of a resource on all rings: the setting of `taskglass run`. */
struct tg_scope_setting {
    enum tg_scope_verdict verdict; /* the worst of the rings */
    char present[128];             /* what is set now: "16384", "4K,1M,4K,4K" */
    char option[128]; /* what to type: "--ring-task-window 391", "--ring-heap 4K,1M,4K,4K"; "" where
                         there is nothing to set */
};
TG_API void tg_scope_stats_get_setting(const struct tg_scope_stats *stats, unsigned resource,
                                       struct tg_scope_setting *setting);

#ifdef __cplusplus
}
#endif
#endif
