/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a run did not end, or failed: the chain of waits from what did not finish to its root, what each core
 * did last, and what else was overdue.
 *
 *     struct tg_explanation *why;
 *     if (tg_explain("outputs/matmul_small_20260101_120000", &why, &error) == TG_OK) {
 *         puts(why->root);
 *         tg_explanation_free(why);
 *     }
 *
 * A run that fails looks at the memory of its device, and keeps what it finds in run.json, under
 * "explanation". tg_explain reads it from there, so it works later and on another machine. Of a run that goes
 * on, it asks the run itself (taskglass/live.h), which goes on meanwhile.
 *
 * The device and the files may say anything: lists and texts are bounded, and texts are clean (text.h).
 * What is not known is said in `unknown`, and never guessed.
 */
#ifndef TASKGLASS_EXPLAIN_H
#define TASKGLASS_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/json.h>
#include <taskglass/source.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/* How the run stands: number, word, and what that means. */
#define TG_EXPLAIN_STATE_MAP(X)                                                     \
    X(TG_EXPLAIN_ENDED_WELL, 0, "ended well", "all tasks finished, nothing failed") \
    X(TG_EXPLAIN_FAILED,     1, "failed",     "the run ended with an error")        \
    X(TG_EXPLAIN_GOES_ON,    2, "goes on",    "the run answers")

/* What the root is: number, word, and what that means. */
#define TG_EXPLAIN_ROOT_MAP(X)                                                                    \
    X(TG_ROOT_UNKNOWN,       0, "not known",     "nothing was found that explains it")            \
    X(TG_ROOT_NONE,          1, "none",          "nothing waits, or nothing failed")              \
    X(TG_ROOT_KERNEL,        2, "kernel",        "a kernel does not return")                      \
    X(TG_ROOT_MIX,           3, "mix",           "parts of a mix wait for a part that has ended") \
    X(TG_ROOT_CRASH,         4, "crash",         "a kernel or the orchestration crashed")         \
    X(TG_ROOT_DEVICE,        5, "device",        "the device ended")                              \
    X(TG_ROOT_ORCHESTRATION, 6, "orchestration", "the orchestration computes, or failed")         \
    X(TG_ROOT_SCOPE,         7, "scope",         "an open scope keeps what is wanted")            \
    X(TG_ROOT_READY,         8, "ready",         "a task is ready, and no core has taken it")     \
    X(TG_ROOT_RECORDER,      9, "recorder",      "a core makes a record, and the host is behind") \
    X(TG_ROOT_CANCELLED,    10, "cancelled",     "the run was asked to end")                      \
    X(TG_ROOT_RESULT,       11, "result",        "the tasks are done: see the error")
/* clang-format on */

#define TG_EXPLAIN_ENUM_(constant, number, word, meaning) constant = (number),
enum tg_explain_state { TG_EXPLAIN_STATE_MAP(TG_EXPLAIN_ENUM_) TG_EXPLAIN_STATES };
enum tg_explain_root { TG_EXPLAIN_ROOT_MAP(TG_EXPLAIN_ENUM_) TG_EXPLAIN_ROOTS };
#undef TG_EXPLAIN_ENUM_

/* "failed"; "unknown" for an unknown number. */
TG_API const char *tg_explain_state_name(uint32_t state);
/* "kernel"; "unknown" for an unknown number. */
TG_API const char *tg_explain_root_name(uint32_t root);

enum { TG_EXPLAIN_LINKS = 16, TG_EXPLAIN_CORES = 32, TG_EXPLAIN_ALSO = 8, TG_EXPLAIN_UNKNOWN = 8 };
/* In place of a core's number: none. */
#define TG_EXPLAIN_NO_CORE UINT32_MAX

/* One link of the chain. It waits for the next one; the last one is the root. */
struct tg_explain_link {
    char kind[16];  /* "task", "orchestration", "ring", "scope" or "more" */
    uint64_t task;  /* kind "task": its id */
    uint64_t tasks; /* kind "more": how many tasks were left out here */
    uint32_t core;  /* that runs it, as in `cores`; TG_EXPLAIN_NO_CORE: none */
    char text[240];
};

/* The last words of a core, or of the orchestration. */
struct tg_explain_core {
    uint32_t core;   /* its number; that of the orchestration follows those of all cores */
    char kind[16];   /* "AIC", "AIV0", "AIV1" or "orchestration" */
    uint64_t task;   /* its id; of the orchestration: UINT64_MAX */
    char kernel[64]; /* "" for the orchestration */
    bool crashed;
    double seconds;            /* that the host has seen it at this, at least; 0: not known */
    struct tg_source_site at;  /* where it is; at.at.line 0: not known */
    char module[256];          /* of a run that goes on: the file with its code; "": not known */
    struct tg_code_place code; /* and the place in it; tg_explain looks up the line */
};

/* An explanation. Texts that are not known are "". */
struct tg_explanation {
    uint32_t state; /* enum tg_explain_state */
    char workload[64], case_name[64], platform[32], runtime[48];
    char status[40];          /* "HANG"; "" while the run goes on */
    char error[500];          /* the error's text */
    uint64_t tasks, finished; /* submitted so far, and of these finished */
    double idle, limit;       /* of a run that goes on: of the no-progress limit */
    bool looked;              /* the members below come from the device's memory */
    uint32_t root_kind;       /* enum tg_explain_root */
    char root[500];           /* in one sentence */
    uint32_t root_core;       /* in `cores`; TG_EXPLAIN_NO_CORE: the root is on none */
    uint32_t n_links;         /* of `link` */
    struct tg_explain_link link[TG_EXPLAIN_LINKS];
    uint32_t n_cores;    /* of `core`: those that run something, and the orchestration */
    uint32_t more_cores; /* that run something and are not in `core` */
    uint32_t idle_cores;
    struct tg_explain_core core[TG_EXPLAIN_CORES];
    uint32_t n_also;
    char also[TG_EXPLAIN_ALSO][240]; /* what else was overdue */
    uint32_t n_unknown;
    char unknown[TG_EXPLAIN_UNKNOWN][240]; /* what is not known, and why */
};

/*
 * Explains the run that has this output directory: one that goes on answers itself, otherwise run.json says
 * how it ended. The caller frees *explanation. NOT_FOUND: no run answers there and there is no run.json.
 * IO_ERROR: run.json or the answer cannot be read. TIMED_OUT: the run is there and does not answer.
 * NO_MEMORY.
 */
TG_API tg_status tg_explain(const char *dir, struct tg_explanation **explanation,
                            struct tg_error *error);
/* NULL is allowed. */
TG_API void tg_explanation_free(struct tg_explanation *explanation);

/* Writes the explanation as an object, as `taskglass explain --json` prints it. */
TG_API void tg_explanation_write(const struct tg_explanation *explanation, struct tg_json *json);
/* The same as a text of its own, which lives as long as the explanation. NULL: no memory. */
TG_API const char *tg_explanation_json(struct tg_explanation *explanation);

#ifdef __cplusplus
}
#endif
#endif
