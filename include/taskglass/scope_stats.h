/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scope stats: how much of the rings and of the tensor map the scopes of an orchestration used, and
 * what to set them to. A run with --enable-scope-stats writes them to OUTPUT/scope_stats:
 *
 *     scope_stats.jsonl   a line of metadata, then one sample per line, in order
 *     scope_stats.json    peaks per site and ring, nearest to full first; at the end of the run
 *
 *     tg_scope_stats_open("outputs/run", NULL, NULL, &stats, &error)
 *     for (i = 0; tg_scope_stats_get_row(stats, i, &row); i++)
 *         …                                          peaks of one site on one ring
 *     tg_scope_stats_get_setting(stats, TG_SCOPE_HEAP, &setting)      what to type
 *     tg_scope_stats_close(stats)
 *
 * The reader also accepts stats of another implementation, and those that a killed host leaves.
 * Once opened, the stats do not change: several threads may use them at the same time. Texts live
 * until the stats are closed.
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

/* The folder in a run's directory, and the two files in it. */
#define TG_SCOPE_FOLDER "scope_stats"
#define TG_SCOPE_SAMPLES "scope_stats.jsonl"
#define TG_SCOPE_SUMMARY "scope_stats.json"

enum { TG_SCOPE_VERSION = 6, TG_SCOPE_RINGS = 4 };

/* What a ring can run out of. */
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
 * wrap: everything before start is free again, everything before end has been allocated, and end -
 * start is in use. */
struct tg_scope_sample {
    const char *site; /* "file.c:12"; NULL if it is unknown, or given by its number */
    bool end;
    uint32_t depth, ring;
    uint64_t task_window_start, task_window_end;
    uint64_t heap_start, heap_end;
    uint64_t dep_pool_start, dep_pool_end;
    uint64_t tensormap; /* live entries */
    /* At an end: the most in use at a time within the scope. A resource that was full when the
     * orchestration asked for more counts as full. */
    uint64_t peak[TG_SCOPE_RESOURCES];
    /* At an end: how often, and for how many nanoseconds in all, the orchestration waited for room,
     * scopes inside this one not included. */
    bool waits_known;
    uint64_t waits[TG_SCOPE_RESOURCES];
    uint64_t wait_ns;
    /* At some ends: what tasks have asked for since the run began; 0 if it is unknown. With as much
     * room the resource would never have been full. */
    uint64_t asked_dep_pool[TG_SCOPE_RINGS], asked_tensormap;
    /* At an end: bit r is set if the scope, or one inside it, took room of ring r; 0 if it is
     * unknown. ring_peak: the most in use of those rings while the scope was open. */
    uint32_t rings;
    uint64_t ring_peak[TG_SCOPE_RINGS][TG_SCOPE_TENSORMAP];
    /* The cursors of the fanin pool of another implementation; ours has none. */
    uint64_t fanin_start, fanin_end;
};
/* The amount in use, by the sample's cursors. */
TG_API uint64_t tg_scope_used(const struct tg_scope_sample *sample, unsigned resource);

/* Receives one sample: `index` counts from 0, `site` counts as in tg_scope_stats_site. The thread
 * that opens the stats calls it. It returns false if memory ran out, which ends the reading with an
 * error. */
typedef bool (*tg_scope_sample_fn)(void *context, uint64_t index, uint32_t site,
                                   const struct tg_scope_sample *sample);

struct tg_scope_stats;

/*
 * `path`: a run's directory, its scope_stats, or the samples' file. Reads the file once from front
 * to end; calls `each`, which may be NULL, for every sample, and keeps only the peaks. The caller
 * closes the stats. NOT_FOUND: there are no scope stats; BAD_ARGUMENT: a file is broken, and the
 * error says where; NO_MEMORY.
 */
TG_API tg_status tg_scope_stats_open(const char *path, tg_scope_sample_fn each, void *context,
                                     struct tg_scope_stats **stats, struct tg_error *error);
/* NULL is fine. */
TG_API void tg_scope_stats_close(struct tg_scope_stats *stats);

/* The resource that ended the run, if a ring or the tensor map did. The strings may be NULL. */
struct tg_scope_fatal {
    bool on;           /* the other members are set */
    uint32_t resource; /* enum tg_scope_resource; TG_SCOPE_RESOURCES: unknown */
    uint32_t ring;
    const char *site; /* of the scope that holds the resource */
    uint64_t used, capacity, wanted;
    const char *advice; /* "--ring-task-window 391" */
    const char *error;  /* "SCOPE_DEADLOCK" */
};

/* What a file of scope stats holds. */
struct tg_scope_stats_info {
    const char *file;                   /* the samples' file that was read */
    bool complete;                      /* the file says that it is complete, and it is */
    bool failed;                        /* a ring or the tensor map ended the run */
    const struct tg_scope_fatal *fatal; /* which one; NULL if unknown */
    bool measured;                      /* the samples have measured peaks */
    bool waits_known;                   /* the samples say how often the orchestration waited */
    bool has_fanin;                     /* another implementation's run with a fanin pool */
    bool no_rings;                      /* the host built the graph, so that the run had no rings */
    /* Samples that the device lost, and that it tried to write. */
    uint64_t dropped, total;
    uint64_t samples; /* samples that were read */
    uint64_t scopes;
    uint32_t sites, rows;
    uint32_t left_open;                  /* scopes that were open at the end */
    uint64_t without_begin, without_end; /* scopes without that sample */
    /* Why scope_stats.json could not be read; "" if it was read or does not exist. */
    const char *summary_problem;
    const char *run; /* the name of the run's directory, clean (text.h); "" if it is not known */
};
/* Fills `info`; its texts live as long as the stats. */
TG_API void tg_scope_stats_get_info(const struct tg_scope_stats *stats,
                                    struct tg_scope_stats_info *info);

/* "file.c:12", UTF-8 without control characters; "(unknown):0" for an unknown site; NULL past the
 * last one. */
TG_API const char *tg_scope_stats_site(const struct tg_scope_stats *stats, uint32_t number);

/* The capacity of a resource; 0: this run does not have it. The tensor map has the same for all
 * rings. */
TG_API uint64_t tg_scope_stats_capacity(const struct tg_scope_stats *stats, unsigned resource,
                                        uint32_t ring);
/* The capacity of a ring's fanin pool, which only another implementation has; 0: there is none. */
TG_API uint64_t tg_scope_stats_fanin(const struct tg_scope_stats *stats, uint32_t ring);

/* What tg_scope_stats_write_page wrote. */
struct tg_scope_page {
    uint64_t scopes;
    uint64_t bytes;
};
/* Called now and then with the samples read so far. A return other than 0 cancels. */
typedef int (*tg_scope_watch_fn)(void *context, uint64_t samples);
/*
 * Writes a page with charts (HTML), one file that any browser shows. `stats`: as in tg_scope_stats_open; `path`:
 * the file to write, which must not exist unless `overwrite` is true. `watch` and `written` may be NULL.
 * BAD_ARGUMENT: the file exists, or is one of the run's own; IO_ERROR, CANCELLED, and what
 * tg_scope_stats_open returns.
 */
TG_API tg_status tg_scope_stats_write_page(const char *stats, const char *path, bool overwrite,
                                           tg_scope_watch_fn watch, void *context,
                                           struct tg_scope_page *written, struct tg_error *error);

/* One site on one ring. */
struct tg_scope_row {
    uint32_t site, ring;
    uint32_t depth_min, depth_max;
    uint64_t count;   /* scopes of the site that use the ring themselves */
    uint64_t touched; /* scopes of the site with scopes inside them that use the ring */
    uint64_t peak[TG_SCOPE_RESOURCES];
    uint64_t waits[TG_SCOPE_RESOURCES]; /* of the `count` scopes, scopes inside not included */
    uint64_t wait_ns;
    uint64_t fanin; /* peak of the fanin pool */
};
/* Rows are sorted, nearest to full first, then by name and ring. Returns false past the last
 * one. */
TG_API bool tg_scope_stats_get_row(const struct tg_scope_stats *stats, uint32_t number,
                                   struct tg_scope_row *row);
/* used / capacity. If the capacity is 0: 1 if something was used all the same, otherwise 0. */
TG_API double tg_scope_share(uint64_t used, uint64_t capacity);
/* The resource whose share in use is the largest in this row. */
TG_API unsigned tg_scope_stats_nearest(const struct tg_scope_stats *stats,
                                       const struct tg_scope_row *row);

/* ── advice ────────────────────────────────────────────────────────────────────────────────── */

/*
 * Computes settings for the rings and the tensor map from what a run used. The smallest safe
 * setting is the most that was in use at a time: no scope can then hold more than there is, so a
 * run like this one cannot fail for lack of room, though it may wait more often. The heap gets the
 * largest step on top, because an allocation is one piece, and the end of the ring may have to be
 * skipped for it.
 *
 * Samples without measured peaks say less: the setting then covers the most that can have been in
 * use between two samples.
 *
 * A resource that the orchestration waited for gets the size with which a run like this one never
 * waits for it, if that is known and at most the default (or twice the present size); otherwise the
 * larger of those two, with which it waits less. So does every resource that would be full next.
 *
 * A run that failed, that waited, or whose samples are incomplete, may need more than is known, so the
 * advice never makes a setting smaller then. Advice is always a value that the option accepts.
 */
enum tg_scope_verdict {
    TG_SCOPE_ABSENT,    /* this run does not have the resource */
    TG_SCOPE_SO_FAR,    /* enough for the known part of the run */
    TG_SCOPE_LARGER,    /* larger than needed */
    TG_SCOPE_FITS,      /* exactly as large as needed */
    TG_SCOPE_TIGHT,     /* enough for this run, without the margin */
    TG_SCOPE_FULL,      /* was full; tg_scope_need says whether the orchestration waited */
    TG_SCOPE_TOO_SMALL, /* the run failed because it was too small */
};
/* "absent", "so_far", "larger", "fits", "tight", "full", "too_small"; "?" for any other number. */
TG_API const char *tg_scope_verdict_name(unsigned verdict);

/* For one ring. The tensor map, which belongs to no ring, is at ring 0. */
struct tg_scope_need {
    uint64_t peak, capacity, smallest;
    enum tg_scope_verdict verdict;
    bool waits_known;
    uint64_t waits;  /* how often the orchestration waited for it */
    uint64_t larger; /* the size to try, because the run waited for it or would wait next; or 0 */
    bool never;      /* with `larger`, a run like this one never waits for it */
};
/* TG_SCOPE_ABSENT for a resource or ring that this run does not have. */
TG_API void tg_scope_stats_get_need(const struct tg_scope_stats *stats, unsigned resource,
                                    uint32_t ring, struct tg_scope_need *need);

/* One resource on all rings, as the option of `taskglass run` sets it. */
struct tg_scope_setting {
    enum tg_scope_verdict verdict; /* the worst of the rings */
    char present[128];             /* the present setting: "16384", "4K,1M,4K,4K" */
    /* What to type: "--ring-task-window 391", "--ring-heap 4K,1M,4K,4K"; "" if the setting is right,
     * or if no setting is large enough. */
    char option[128];
    bool waits_known;
    uint64_t waits; /* how often the orchestration waited for it, on all rings */
    bool never;     /* the option is large enough for a run like this one never to wait */
};
/* What is known of one resource (enum tg_scope_resource), and what to set it to. */
TG_API void tg_scope_stats_get_setting(const struct tg_scope_stats *stats, unsigned resource,
                                       struct tg_scope_setting *setting);
/* The memory of the device, if larger rings need more of it: "--device-memory 6G"; "" if there is
 * enough. TG_SCOPE_ABSENT if the stats do not say how much there is. */
TG_API void tg_scope_stats_get_memory(const struct tg_scope_stats *stats,
                                      struct tg_scope_setting *setting);

#ifdef __cplusplus
}
#endif
#endif
