/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules on demand: in which order a device starts the tasks that are ready. Without a schedule a
 * device starts them in whatever order is fastest.
 *
 *   fifo               in the order in which they were submitted
 *   lifo               the one that was submitted last first
 *   random:SEED        any of them
 *   adversarial:SEED   some tasks wait until nothing else can run, others go first; which ones, and the
 *                      order of the rest, changes with the seed and in the course of the run
 *   order:A-B,C-D…     fifo, but B does not start before A has completed, nor D before C; A-B-C is short
 *                      for A-B,B-C. If nothing else can go on, B starts nevertheless, and the pair counts
 *                      as broken; so no pair can make a run hang
 *
 * What is reproducible:
 *   One core (`--cores 1`; with or without dedicated schedulers, on every platform): tasks run one at a
 *   time, a mix counts as one task, and the device chooses the next one only while the orchestration waits
 *   or has returned. The same graph and the same schedule give the same order of starts every time,
 *   however busy the machine is.
 *   Several cores: the schedule perturbs the run, but when a core becomes free depends on the time that
 *   kernels take. A task has the same priority in every run with the seed. random and adversarial also
 *   delay the start of some tasks by some microseconds, the same ones in every run with the seed. The
 *   pairs of `order` hold on any number of cores.
 *
 * The order of starts: set keep_starts in the schedule, and find the ids of the tasks in
 * tg_run_result.schedule.starts when the run has ended, also after a hang or a crash of a kernel where the
 * host still sees the device's memory (the simulators). A device that runs kernels one at a time ran them
 * in exactly that order; several cores took the tasks in that order.
 */
#ifndef TASKGLASS_SCHEDULE_H
#define TASKGLASS_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/status.h>
#include <taskglass/wire/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "Task `before` completes before task `after` starts", by their ids. */
struct tg_schedule_pair {
    uint64_t before, after;
};

/* A schedule. Zero: none. */
struct tg_schedule {
    uint32_t policy; /* enum tg_schedule_policy */
    uint32_t n_pairs;
    uint64_t seed;                        /* of random and adversarial */
    const struct tg_schedule_pair *pairs; /* of order */
    uint64_t keep_starts; /* how many starts the result keeps, from the first; 8 bytes of device
                             memory each; 0: none */
};

/* The most pairs of a schedule. */
enum { TG_MAX_SCHEDULE_PAIRS = 1 << 18 };

/* Reads a schedule as `run --schedule` takes it; "" is none. The caller frees *schedule, with its pairs,
 * with tg_schedule_destroy. keep_starts is 0. BAD_ARGUMENT: the error says what is wrong; NO_MEMORY. */
TG_API tg_status tg_schedule_parse(const char *text, struct tg_schedule **schedule,
                                   struct tg_error *error);
TG_API void tg_schedule_destroy(struct tg_schedule *schedule);

/* Writes the schedule as tg_schedule_parse reads it, cut to `size` bytes with the final zero. Returns the
 * length of the whole text, as snprintf does; `text` may be NULL. */
TG_API size_t tg_schedule_text(const struct tg_schedule *schedule, char *text, size_t size);

/* What became of the schedule of a run. */
struct tg_schedule_result {
    bool on;          /* the run had a schedule */
    bool known;       /* false: the device's memory was lost, and what follows is 0 */
    bool serial;      /* one core: the order of starts is the same every time */
    uint64_t choices; /* tasks that the device took to start them */
    uint64_t pairs;   /* of order */
    uint64_t
        broken; /* pairs that could not be kept: `after` started before `before` had completed */
    uint64_t unknown; /* pairs that name a task that the run did not have */
    uint64_t n_starts;
    const uint64_t *starts; /* ids; lives as long as the run or the execution; NULL: none */
    char text[200];         /* a warning about pairs; "" if there is none */
};

#ifdef __cplusplus
}
#endif
#endif
