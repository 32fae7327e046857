/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shaking a workload: run one case under many schedules (taskglass/schedule.h) and compare the results, as
 * `taskglass shake` does. If a schedule breaks the case, the search goes on until it knows the fewest order
 * constraints that still break it: "task 22 before task 21 breaks it".
 *
 * The first run is the baseline: schedule fifo on one core, which starts the tasks in the order in which they
 * were submitted. A run differs from it if the device fails, an output is not golden, an output has other
 * bytes, or the orchestration submits other tasks. A task whose output has other bytes while all outputs of
 * the case are the same is counted, but breaks the case only if the config is `strict` or the case has no
 * output: tasks that commute, such as sums in any order, leave other bytes in between and are right.
 */
#ifndef TASKGLASS_SHAKE_H
#define TASKGLASS_SHAKE_H

#include <taskglass/execute.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What shaking has shown. */
/* clang-format off */
#define TG_SHAKE_RESULT_MAP(X)                                                                              \
    X(TG_SHAKE_UNKNOWN,  0, "not known",         "nothing could be compared")                               \
    X(TG_SHAKE_SAME,     1, "same",              "all schedules gave the same results")                     \
    X(TG_SHAKE_ORDER,    2, "order",             "an order of a few tasks breaks the case")                 \
    X(TG_SHAKE_SCHEDULE, 3, "schedule",          "a schedule breaks the case, and no few tasks explain it") \
    X(TG_SHAKE_UNSTABLE, 4, "not deterministic", "one schedule, run twice, gave two results")               \
    X(TG_SHAKE_BASELINE, 5, "baseline fails",    "the case fails without any change of the order")

/* How a run differs from the baseline: the worst that was seen, and the worst is the last here. */
#define TG_SHAKE_CHANGE_MAP(X)                                                                  \
    X(TG_CHANGE_NONE,   0, "none",   "the same results")                                        \
    X(TG_CHANGE_TASK,   1, "task",   "a task left other bytes, the outputs are the same")       \
    X(TG_CHANGE_TASKS,  2, "tasks",  "the orchestration submitted other tasks")                 \
    X(TG_CHANGE_OUTPUT, 3, "output", "an output has other bytes")                               \
    X(TG_CHANGE_GOLDEN, 4, "golden", "an output is not golden")                                 \
    X(TG_CHANGE_DEVICE, 5, "device", "the run failed")
/* clang-format on */
enum tg_shake_result { TG_SHAKE_RESULT_MAP(TG_WORD_ENUM_) TG_SHAKE_RESULTS };
enum tg_shake_change { TG_SHAKE_CHANGE_MAP(TG_WORD_ENUM_) TG_SHAKE_CHANGES };

/* "same", "order" …; "unknown" for a number that is none. The second: the text behind the word. */
TG_API const char *tg_shake_result_name(unsigned result);
TG_API const char *tg_shake_result_text(unsigned result);
TG_API const char *tg_shake_change_name(unsigned change);
TG_API const char *tg_shake_change_text(unsigned change);

/* A task, for people. */
struct tg_shake_task {
    uint64_t id;
    char kernel[200]; /* "mat+vec" for a mix; "" if not known */
    char line[200];   /* the source line that submitted it, or of its scope; "" if not known */
};

/* How a run differs from the baseline. */
struct tg_shake_difference {
    uint32_t change;  /* enum tg_shake_change */
    tg_status status; /* how the run ended */
    char text[400];   /* its error; "" if there was none */
    char output[64];  /* OUTPUT, GOLDEN: the output; "" otherwise */
    bool has_task;    /* `task` is set: the first task, in the order of the run, that differs */
    struct tg_shake_task
        task;   /* TASKS: the first, in the order of submission, that only one run has */
    bool reads; /* the bytes differed before the task began, so that it read other values */
    uint32_t argument;
    uint64_t tasks; /* how many tasks have other outputs */
};

#ifdef __cplusplus
}
#endif
#endif
