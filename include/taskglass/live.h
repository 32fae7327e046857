/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run is doing right now, asked from another program. A run with an output directory answers on a
 * socket in it, `live.sock`, from some milliseconds after its begin until its files are written.
 *
 *     struct tg_live *live;
 *     struct tg_live_status status;
 *     if (tg_live_open("outputs/matmul_small_20260101_120000", &live, &error) == TG_OK) {
 *         while (tg_live_look(live, TG_LIVE_ALL, &status, &error) == TG_OK)
 *             printf("%llu tasks\n", (unsigned long long)status.finished);
 *         tg_live_close(live);
 *     }
 *
 * Asking never stops the run. An answer is sampled: the run goes on meanwhile, so two of its numbers may be
 * some microseconds apart. docs/live-protocol.md describes the protocol for other languages.
 *
 * These functions trust no answer: they bound its size, the time that it takes and every number in it.
 */
#ifndef TASKGLASS_LIVE_H
#define TASKGLASS_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name of the socket in the output directory, and the version of the protocol. */
#define TG_LIVE_SOCKET "live.sock"
enum { TG_LIVE_VERSION = 1 };

/* clang-format off */
/* What a run does: number, word, and what that means. */
#define TG_LIVE_PHASE_MAP(X)                                                                  \
    X(TG_LIVE_OPENING,  0, "opening",  "the device starts and loads the module")              \
    X(TG_LIVE_BUILDING, 1, "building", "inputs are copied in, and the host builds the graph") \
    X(TG_LIVE_RUNNING,  2, "running",  "tasks run")                                           \
    X(TG_LIVE_CHECKING, 3, "checking", "outputs are compared with the golden values")         \
    X(TG_LIVE_SAVING,   4, "saving",   "the last files are written")

/* What can be asked for besides the phase, the times and the tasks, which every answer has. */
#define TG_LIVE_SECTION_MAP(X)                                                                \
    X(TG_LIVE_RECORDER,     0, "recorder",     "what is recorded, written and lost")          \
    X(TG_LIVE_RINGS,        1, "rings",        "how full each ring is")                       \
    X(TG_LIVE_CORES,        2, "cores",        "what each core runs")                         \
    X(TG_LIVE_ORCHESTRATOR, 3, "orchestrator", "what the orchestration waits for, and where") \
    X(TG_LIVE_WAITS,        4, "waits",        "which tasks wait for which running tasks")   \
    X(TG_LIVE_EXPLAIN,      5, "explain",      "why nothing finishes: taskglass/explain.h")
/* clang-format on */

#define TG_LIVE_ENUM_(constant, number, word, meaning) constant = (number),
enum tg_live_phase { TG_LIVE_PHASE_MAP(TG_LIVE_ENUM_) TG_LIVE_PHASES };
enum tg_live_section { TG_LIVE_SECTION_MAP(TG_LIVE_ENUM_) TG_LIVE_SECTIONS };
#undef TG_LIVE_ENUM_
/* For the argument `sections`: bit s is section s. All but `explain`, which takes the run longer, and which a
 * run of an older version does not know. */
#define TG_LIVE_ALL ((1u << TG_LIVE_EXPLAIN) - 1)

/* "running"; "unknown" for an unknown number. */
TG_API const char *tg_live_phase_name(uint32_t phase);

struct tg_live;

/* Connects to the run that has this output directory. NOT_FOUND: no run answers there; the text says
 * whether one has ended. IO_ERROR. TIMED_OUT. The caller closes *live. One thread uses it at a time. */
TG_API tg_status tg_live_open(const char *dir, struct tg_live **live, struct tg_error *error);
TG_API void tg_live_close(struct tg_live *live);

/* Asks for sections (bits, TG_LIVE_ALL: all) and sets *reply to the answer, one line of JSON that lives
 * until the next call. NOT_FOUND: the run has ended. TIMED_OUT: no answer for five seconds; the run may be
 * stopped. UNSUPPORTED: the run speaks another version of the protocol. IO_ERROR: what came is no answer.
 * After a failure only tg_live_close is allowed. */
TG_API tg_status tg_live_ask(struct tg_live *live, uint32_t sections, const char **reply,
                             struct tg_error *error);

/* What a core runs. */
struct tg_live_core {
    uint32_t core;
    char kind[8]; /* "AIC", "AIV0" or "AIV1" */
    bool busy;
    uint64_t task; /* its id, if busy */
    char kernel[64];
};

/* `task` waits for a task that runs. */
struct tg_live_wait {
    uint64_t task;
    uint64_t waits_for;
};

/* Of each ring: how much there is, and how much of it is in use. */
struct tg_live_ring {
    uint64_t tasks; /* submitted through it so far */
    uint64_t task_window, task_window_used;
    uint64_t heap, heap_used;
    uint64_t dep_pool, dep_pool_used;
};

enum { TG_LIVE_MAX_RINGS = 4, TG_LIVE_MAX_CORES = 1024, TG_LIVE_MAX_WAITS = 64 };

/* Sections that were not asked for, or that the run does not have, are zero. Texts are clean (text.h). */
struct tg_live_status {
    uint32_t phase;                                              /* enum tg_live_phase */
    char workload[64], case_name[64], platform[32], runtime[48]; /* "": not known */
    int64_t pid;
    double elapsed; /* seconds since the run began */
    /* tasks */
    double run_seconds;           /* since the launch; 0 before it */
    double idle_seconds;          /* of the no-progress limit, how much is over */
    double hang_seconds;          /* the no-progress limit; 0 while no task can run */
    uint64_t submitted, finished; /* so far */
    uint64_t total;               /* of the whole graph, if it is known */
    bool total_known;             /* the graph is complete */
    uint64_t running, waiting, edges;
    /* recorder */
    bool recorded; /* the run is recorded */
    char level[16], policy[16];
    uint64_t records;        /* taken from the device */
    uint64_t attempted;      /* arguments that were to be recorded */
    uint64_t bytes_recorded; /* payload, with the gaps of its alignment */
    uint64_t bytes_written;  /* of these, those that have left the device */
    uint64_t lost_full, lost_gave_up, truncated;
    double record_seconds, wait_seconds; /* of all cores: recording, and waiting for the host */
    uint64_t arena; /* payload that the cores together can be ahead of the disk */
    /* rings */
    uint32_t n_rings;
    struct tg_live_ring ring[TG_LIVE_MAX_RINGS];
    bool
        rings_old; /* the orchestration has returned: nobody wants room, and nobody counts what is freed */
    uint64_t tensormap; /* entries of the tensor map; 0: there is none */
    /* orchestrator */
    bool orchestrated;  /* the device builds the graph */
    char state[16];     /* "idle", "running", "returned" or "failed" */
    char scope[160];    /* source line of the innermost scope */
    char waits_for[32]; /* "task slots", "heap" …; "": it does not wait */
    uint32_t waits_ring;
    double ring_wait_seconds; /* that it has waited for room so far */
    /* cores, waits: these live until the next call */
    uint32_t n_cores;
    const struct tg_live_core *cores;
    uint32_t n_waits;
    const struct tg_live_wait *waits;
    bool more_waits; /* there are more than `waits` has */
};

/* The same as tg_live_ask, with the answer as a structure. */
TG_API tg_status tg_live_look(struct tg_live *live, uint32_t sections,
                              struct tg_live_status *status, struct tg_error *error);

/* How a run ended, as its run.json says. */
struct tg_live_end {
    char result[40]; /* "OK", "HANG" … */
    int exit_code;
    char error[500]; /* "" if all was well */
    uint64_t tasks, finished;
    double seconds; /* of the whole run */
};
/* NOT_FOUND: the directory has no run.json: its run was killed, or goes on. IO_ERROR. */
TG_API tg_status tg_live_get_end(const char *dir, struct tg_live_end *end, struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
