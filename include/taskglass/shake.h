/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shaking a workload: run one case under many schedules (taskglass/schedule.h) and compare the results, as
 * `taskglass shake` does. If a schedule breaks the case, the search goes on until it knows the fewest order
 * constraints that still break it: "task 22 before task 21 breaks it".
 *
 *     struct tg_shake_config config = {.runs = 200};
 *     struct tg_shake *shake;
 *     struct tg_shake_info info;
 *     if (tg_shake_run(settings, workload, &config, &shake, &error) == TG_OK) {
 *         tg_shake_get(shake, &info);
 *         for (uint32_t i = 0; i < info.n_constraints; i++)
 *             printf("task %llu before task %llu\n", info.constraint[i].first.id, …);
 *         tg_shake_destroy(shake);
 *     }
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

/* A task that has to complete before another one starts. */
struct tg_shake_constraint {
    struct tg_shake_task first;
    struct tg_shake_task second;
    uint32_t race; /* the arguments of both touch common bytes: 1 yes, 0 no, 2 not known */
};

/* What tg_shake_run is doing. */
enum tg_shake_phase { TG_SHAKE_TRY, TG_SHAKE_REPEAT, TG_SHAKE_REDUCE, TG_SHAKE_CONFIRM };

/* One run that has ended. */
struct tg_shake_trial {
    enum tg_shake_phase phase;
    const char *schedule; /* "random:7" */
    const struct tg_shake_difference *difference;
    double seconds;
};

/* Zero means the default everywhere. */
struct tg_shake_config {
    const char *case_name;  /* NULL: the workload's first */
    const char *const *set; /* "key=value" */
    uint32_t n_set;
    uint32_t runs;        /* schedules to try, the baseline included; default 200 */
    uint32_t reduce_runs; /* further runs that reducing may take; default 300 */
    uint64_t seed;        /* the first seed of random and adversarial schedules; default 1 */
    bool strict;          /* see above */
    const char
        *output; /* folder for the recordings of the baseline, the failing run and the reduced one,
                             which must not exist yet; NULL: they are removed */
    /* Called on the caller's thread, several times a second; a return other than 0 cancels. */
    int (*progress)(void *context, enum tg_shake_phase phase, uint64_t done, uint64_t total);
    /* Called after each run; may be NULL. What `trial` points to lives until it returns. */
    void (*tell)(void *context, const struct tg_shake_trial *trial);
    void *context;     /* of both */
    tg_guard_fn guard; /* as in struct tg_execute_config */
    void *guard_context;
};

struct tg_shake; /* what shaking has shown */

/*
 * Shakes the case. Platform, runtime, rings … come from the settings, which stay as they are; all runs
 * have one core, so that a schedule gives the same order every time, except on a platform where the device
 * itself decides (cuda). OK: `*shake` has the answer, whichever it is; the caller destroys it.
 * CANCELLED, BAD_ARGUMENT, IO_ERROR, NO_MEMORY, and what tg_execute returns if the baseline could not begin:
 * *shake is NULL.
 */
TG_API tg_status tg_shake_run(const struct tg_settings *settings,
                              const struct tg_workload_file *workload,
                              const struct tg_shake_config *config, struct tg_shake **shake,
                              struct tg_error *error);
/* NULL is allowed. */
TG_API void tg_shake_destroy(struct tg_shake *shake);

/* What shaking has shown. Texts and arrays live as long as `shake`. */
struct tg_shake_info {
    uint32_t result;        /* enum tg_shake_result */
    uint32_t schedules;     /* tried, the baseline included */
    uint32_t found_at;      /* the number of the failing one, from 1; 0: none failed */
    uint32_t runs;          /* all runs: schedules, repetitions, reducing */
    double seconds;         /* that the tasks of all runs took */
    double wall;            /* from begin to end */
    uint64_t tasks;         /* of the baseline */
    uint64_t races;         /* pairs of tasks that find race would name; 0 if not known */
    const char *case_name;  /* the case that was shaken */
    const char *schedule;   /* the one that failed, "random:7"; "" if none did */
    const char *reduced;    /* "order:22-21"; "" if there is none */
    const char *reason;     /* UNKNOWN, SCHEDULE: why; "" for the others */
    uint32_t n_constraints; /* of the reduced schedule */
    const struct tg_shake_constraint *constraint;
    bool fewest;        /* none of the constraints can be left out, and no single one that was tried
                            breaks it; false: the budget was spent before that was known */
    uint32_t confirmed; /* how often the reduced schedule was run at the end, and broke the case */
    struct tg_shake_difference difference; /* of the reduced run, else of the failing one */
    uint64_t inside; /* schedules under which only what tasks left in between differed */
    const char *inside_schedule; /* the first of them */
    struct tg_shake_difference inside_difference;
    bool
        unstable_inside; /* what tasks left in between differs also without a change of the order */
    const char *baseline_dir, *failing_dir, *reduced_dir; /* kept recordings; "": none */
};
/* Fills `info`. */
TG_API void tg_shake_get(const struct tg_shake *shake, struct tg_shake_info *info);

/* The exit code of `taskglass shake`: 0 same, 1 something depends on the order or on nothing, 2 not known,
 * and that of the run if the baseline fails. */
TG_API int tg_shake_exit_code(const struct tg_shake *shake);

#ifdef __cplusplus
}
#endif
#endif
