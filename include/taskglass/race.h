/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races of a run: pairs of tasks that touch a common byte, of which at least one writes it, and that nothing
 * keeps in order: no path of edges leads from one to the other, and the orchestrator did not wait for the
 * first before it submitted the second. `taskglass find race` prints them.
 *
 *     tg_races_find(recording, NULL, print_race, NULL, &summary, &error)
 *     if (summary.pairs > 0)
 *         …
 *
 * It needs the regions and the edges only, so a recording of level `meta` is enough.
 */
#ifndef TASKGLASS_RACE_H
#define TASKGLASS_RACE_H

#include <taskglass/analysis.h>
#include <taskglass/query.h>
#include <taskglass/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One of the two tasks of a race. Texts live until `tell` returns; "": not known. */
struct tg_race_side {
    uint64_t task_id;
    uint64_t position;       /* among all tasks, in the order of submission */
    const char *kernels;     /* "add"; "mat+add" of a mix; "#3" without a name */
    const char *line;        /* "file:line" of the call that submitted it */
    const char *scope;       /* the site of its scope */
    uint32_t argument;       /* number of the argument that touches the common bytes */
    bool reads, writes;      /* what the task does with it */
    struct tg_tensor tensor; /* its view */
    const char *region;      /* as the case names it: "x[0:16, 3]"; otherwise an address range */
};

/* All pairs of tasks that race over the same two regions. */
struct tg_race {
    struct tg_race_side first, second; /* in the order of submission: the earliest task that races
                                        * with one before it, and the last of those. An edge between
                                        * these two often orders the other pairs too */
    uint64_t pairs;
    uint64_t bytes;  /* that the two regions share; TG_NONE: not counted */
    const char *fix; /* the line of code that orders the pair */
};

/* Called on the caller's thread for each group, the earliest first. A return other than 0 cancels. */
typedef int (*tg_race_fn)(void *context, const struct tg_race *race);
/* Called for single pairs, by their task ids. A return other than 0 ends these calls only. */
typedef int (*tg_race_each_fn)(void *context, uint64_t first, uint64_t second);

/* Zeros are the defaults. */
struct tg_races_config {
    tg_race_each_fn each; /* NULL, or called for each pair before the first group is told */
    void *each_context;
    tg_analysis_watch_fn
        watch; /* NULL, or called from time to time with the tasks that were judged */
    void *watch_context;
    uint64_t work;                /* the limit of steps; 0: enough for some seconds */
    const struct tg_query *query; /* NULL: all; otherwise only races of tasks that it selects */
};

enum { TG_RACE_NOTES = 8 };

/* What the search means. */
struct tg_races_summary {
    /* "found"; "nothing found", with "in what was searched" behind it if something was left out; "possible" if
     * an older deps.json does not say what the orchestrator waited for; "not known" if nothing could be
     * judged. Static. */
    const char *result;
    int exit_code;     /* that of the command: 0, 1 found, 2 possible or not known */
    uint64_t pairs;    /* that race */
    uint64_t groups;   /* that were told */
    uint64_t unclear;  /* unordered pairs, at least, whose views are too irregular to be compared */
    uint64_t tasks;    /* of the graph */
    uint64_t accesses; /* tensors of tasks that were looked at */
    bool is_exact;     /* `pairs` are all; otherwise there are at least that many */
    bool
        is_proof; /* everything was looked at: without a pair the edges cover all accesses declared */
    struct tg_note note[TG_RACE_NOTES]; /* what was left out, and why */
    unsigned n_notes;
};

/*
 * Finds the races of a recorded run; `config` and `tell` may be NULL. It reads the deps.json beside the
 * recording, of Taskglass or of the other implementation.
 *
 * UNSUPPORTED: nothing can be judged, and the text says what is missing; summary->result is "not known" then.
 * BAD_ARGUMENT: deps.json makes no sense; NOT_FOUND: the query selects no task; CANCELLED, NO_MEMORY,
 * IO_ERROR.
 */
TG_API tg_status tg_races_find(const struct tg_recording *recording,
                               const struct tg_races_config *config, tg_race_fn tell, void *context,
                               struct tg_races_summary *summary, struct tg_error *error);

struct tg_graph;

/*
 * Finds the races of a graph that the host has built, before it runs: `taskglass run --races` asks it. Its
 * edges alone keep tasks in order. Not while the graph runs or is changed.
 *
 * UNSUPPORTED: the device builds the graph while it runs. BAD_ARGUMENT: `config` has a query, or the edges form
 * a cycle; CANCELLED, NO_MEMORY, DEVICE_LOST.
 */
TG_API tg_status tg_graph_races(struct tg_graph *graph, const struct tg_races_config *config,
                                tg_race_fn tell, void *context, struct tg_races_summary *summary,
                                struct tg_error *error);

/* The setting `races`: what a run does about races. */
/* clang-format off */
#define TG_RACES_MAP(X)                                                             \
    X(TG_RACES_OFF,   0, "off",   "does not look for races")                        \
    X(TG_RACES_WARN,  1, "warn",  "reports the races, and runs the graph")          \
    X(TG_RACES_ERROR, 2, "error", "fails if there are races; a graph that the host built does not run")
/* clang-format on */
enum tg_races_mode { TG_RACES_MAP(TG_WORD_ENUM_) TG_RACES_MODES };

#ifdef __cplusplus
}
#endif
#endif
