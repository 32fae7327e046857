/*
 * Code that the programs of this benchmark share: command line, timing, medians, the JSON line and
 * the check that a graph really ran. Include it first: it asks libc for its extensions.
 *
 * A program describes itself in a struct bench_peer and hands it to bench_main(). For each phase
 * the harness opens one case with n1 tasks and one with n2, then runs them in turn, so that a
 * machine that slows down slows both; what it prints is the marginal cost of a task, (t2 - t1) /
 * (n2 - n1), which leaves out the fixed cost of a run.
 *
 *   start(cores) -> for each phase { open(n1), open(n2), run ... run, close, close } -> stop
 *
 * A phase of kind BENCH_FIRST runs one graph of n2 tasks once, without a run before it, and divides the
 * whole time by n2: what a program pays that runs a graph once. Only the first one of a process counts
 * as a first run, so whoever wants a median starts the program several times.
 *
 * Everything here runs on the main thread, except bench_task(), which runs on any worker. Valid as
 * C11 and as C++17.
 */
#ifndef BENCH_TASKS_HARNESS_H
#define BENCH_TASKS_HARNESS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shapes.h"

struct bench_check;

/* The mark of one task. A task carries a pointer to its cell, NULL when timed. */
struct bench_cell {
    struct bench_check *owner;
    uint64_t runs;
};

/* Marks of a whole graph: in round r every task must find its predecessors at r and itself at
 * r - 1. Workers write cells and faults; round is written only while no task runs. */
struct bench_check {
    enum shape shape;
    uint64_t tasks;
    uint64_t round;
    uint64_t faults;
    struct bench_cell *cells;
};

/* One graph to run. `runtime` is what start() returned; `check` is NULL when timed. */
struct bench_case {
    enum shape shape;
    uint64_t tasks;
    unsigned cores;
    bool alternate; /* every other task is of another kind than the one before */
    void *runtime;
    struct bench_check *check;
};

struct bench_sample {
    uint64_t total_ns;
    uint64_t build_ns; /* 0 if building and running cannot be separated */
    bool undeferred;   /* the runtime ran each task inside the call that created it */
};

enum bench_kind {
    BENCH_PER_TASK, /* reported as nanoseconds for one more task */
    BENCH_FIRST,    /* one run and no more, reported as nanoseconds by task, fixed cost included */
    BENCH_FIXED     /* reported as milliseconds of one run; --tasks does not matter */
};

struct bench_phase {
    const char *name;
    enum bench_kind kind;
    void *(*open)(const struct bench_case *c); /* untimed; optional */
    struct bench_sample (*run)(const struct bench_case *c, void *opened);
    void (*close)(void *opened); /* untimed; optional */
};

struct bench_peer {
    const char *name;
    const struct bench_phase *phases;
    int phase_count;
    void *(*start)(unsigned cores); /* optional; exits with a message if it fails */
    void (*stop)(void *runtime);    /* optional */
};

struct bench_options {
    enum shape shape;
    unsigned cores;
    unsigned cpus; /* 0: as many as cores */
    uint64_t tasks[2];
    unsigned repeat;
    const char *phase; /* NULL: all of them */
    bool verify;
    bool alternate;
};

static inline uint64_t bench_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void *bench_alloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);

    if (!p) {
        fprintf(stderr, "bench_tasks: no memory for %zu x %zu bytes\n", count, size);
        exit(1);
    }
    return p;
}

/* ---- the check ------------------------------------------------------------------------- */

static inline struct bench_check *bench_check_new(enum shape shape, uint64_t tasks)
{
    struct bench_check *check = (struct bench_check *)bench_alloc(1, sizeof *check);

    check->shape = shape;
    check->tasks = tasks;
    check->cells = (struct bench_cell *)bench_alloc(tasks, sizeof *check->cells);
    for (uint64_t i = 0; i < tasks; i++)
        check->cells[i].owner = check;
    return check;
}

static inline void bench_check_free(struct bench_check *check)
{
    free(check->cells);
    free(check);
}

/* The cell that task i carries. */
static inline struct bench_cell *bench_cell_of(const struct bench_case *c, uint64_t i)
{
    return c->check ? &c->check->cells[i] : NULL;
}

/* Not inlined: a timed task should contain one untaken branch and nothing else. The acquire reads
 * pair with the release increment of the predecessor. A runtime that orders tasks properly does not
 * need them; a runtime that does not is what this check finds. */
__attribute__((noinline, unused)) static void bench_cell_mark(struct bench_cell *cell)
{
    struct bench_check *check = cell->owner;
    uint64_t preds[SHAPE_MAX_PREDS];
    int count = shape_preds(check->shape, (uint64_t)(cell - check->cells), preds);
    bool good = true;

    for (int k = 0; k < count; k++)
        good &= __atomic_load_n(&check->cells[preds[k]].runs, __ATOMIC_ACQUIRE) == check->round;
    good &= __atomic_add_fetch(&cell->runs, 1, __ATOMIC_RELEASE) == check->round;
    if (!good)
        __atomic_add_fetch(&check->faults, 1, __ATOMIC_RELAXED);
}

/* The body of every task. */
static inline void bench_task(struct bench_cell *cell)
{
    if (cell)
        bench_cell_mark(cell);
}

/* Tasks that ran too early, too often or not at all since the check was made. */
static inline uint64_t bench_check_faults(const struct bench_check *check)
{
    uint64_t faults = check->faults;

    for (uint64_t i = 0; i < check->tasks; i++)
        faults += check->cells[i].runs != check->round;
    return faults;
}

/* ---- command line ---------------------------------------------------------------------- */

__attribute__((noreturn)) static inline void bench_usage(const char *program, const char *wrong)
{
    fprintf(stderr,
            "%s: %s\n"
            "usage: %s --shape independent|chain|fan|stencil|tree --cores N --tasks N1,N2\n"
            "       --repeat R [--phase NAME] [--verify] [--cpus N] [--alternate]\n",
            program, wrong, program);
    exit(2);
}

static inline uint64_t bench_number(const char *text, char end, const char **rest)
{
    char *stop;
    uint64_t value = strtoull(text, &stop, 10);

    *rest = stop + 1;
    return stop != text && *stop == end ? value : 0;
}

static inline bool bench_parse_tasks(const char *text, uint64_t tasks[2])
{
    const char *rest;

    tasks[0] = bench_number(text, ',', &rest);
    tasks[1] = tasks[0] ? bench_number(rest, '\0', &rest) : 0;
    return tasks[0] < tasks[1];
}

static inline bool bench_parse_value(struct bench_options *o, const char *key, const char *value)
{
    const char *rest;

    if (strcmp(key, "--shape") == 0)
        return (o->shape = shape_from_name(value)) != SHAPE_COUNT;
    if (strcmp(key, "--cores") == 0)
        return (o->cores = (unsigned)bench_number(value, '\0', &rest)) > 0;
    if (strcmp(key, "--cpus") == 0)
        return (o->cpus = (unsigned)bench_number(value, '\0', &rest)) > 0;
    if (strcmp(key, "--tasks") == 0)
        return bench_parse_tasks(value, o->tasks);
    if (strcmp(key, "--repeat") == 0)
        return (o->repeat = (unsigned)bench_number(value, '\0', &rest)) > 0;
    if (strcmp(key, "--phase") == 0)
        return (o->phase = value) != NULL;
    return false;
}

static inline struct bench_options bench_parse(int argc, char **argv)
{
    struct bench_options o = {SHAPE_INDEPENDENT, 1, 0, {4000, 20000}, 5, NULL, false, false};

    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--verify") == 0)
            o.verify = true;
        else if (strcmp(argv[k], "--alternate") == 0)
            o.alternate = true;
        else if (k + 1 == argc || !bench_parse_value(&o, argv[k], argv[k + 1]))
            bench_usage(argv[0], argv[k]);
        else
            k++;
    }
    return o;
}

/* Pins the process to the first `cores` of the CPUs that it may use. Without this, a runtime whose
 * submitting thread is not a worker would have one CPU more than the others. */
static inline void bench_pin(unsigned cores)
{
    cpu_set_t may, use;

    CPU_ZERO(&use);
    if (sched_getaffinity(0, sizeof may, &may) != 0)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE && cores > 0; cpu++) {
        if (CPU_ISSET(cpu, &may)) {
            CPU_SET(cpu, &use);
            cores--;
        }
    }
    if (cores > 0)
        fprintf(stderr, "bench_tasks: %u CPUs short of --cores; threads share\n", cores);
    sched_setaffinity(0, sizeof use, &use);
}

/* ---- measuring ------------------------------------------------------------------------- */

static inline int bench_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static inline double bench_median(uint64_t *values, unsigned count)
{
    qsort(values, count, sizeof *values, bench_compare);
    return ((double)values[(count - 1) / 2] + (double)values[count / 2]) / 2;
}

/* Runs both cases in turn, after one untimed run of each, which starts threads and fills pools. */
static inline bool bench_collect(const struct bench_phase *phase, const struct bench_case c[2],
                                 void *opened[2], unsigned repeat, uint64_t *total[2],
                                 uint64_t *build[2])
{
    bool undeferred = false;

    for (unsigned r = 0; r <= repeat; r++) {
        for (int k = 0; k < 2; k++) {
            struct bench_sample s = phase->run(&c[k], opened[k]);

            undeferred |= s.undeferred;
            if (r == 0)
                continue;
            total[k][r - 1] = s.total_ns;
            build[k][r - 1] = s.build_ns;
        }
    }
    return undeferred;
}

static inline void bench_print_head(const struct bench_peer *peer, const struct bench_phase *phase,
                                    const struct bench_case *c)
{
    printf("{\"peer\":\"%s\",\"shape\":\"%s\",\"cores\":%u,\"phase\":\"%s\"", peer->name,
           shape_name(c->shape), c->cores, phase->name);
}

static inline void bench_print_times(const struct bench_case c[2], const double total[2],
                                     const double build[2], bool undeferred)
{
    double more = (double)(c[1].tasks - c[0].tasks);

    printf(",\"n1\":%" PRIu64 ",\"n2\":%" PRIu64 ",\"t1_ns\":%.0f,\"t2_ns\":%.0f", c[0].tasks,
           c[1].tasks, total[0], total[1]);
    printf(",\"ns_per_task\":%.2f", (total[1] - total[0]) / more);
    if (build[1] > 0)
        printf(",\"build_ns_per_task\":%.2f", (build[1] - build[0]) / more);
    if (undeferred)
        printf(",\"undeferred\":true");
    printf("}\n");
}

static inline void bench_time(const struct bench_peer *peer, const struct bench_phase *phase,
                              const struct bench_case c[2], void *opened[2], unsigned repeat)
{
    uint64_t *total[2], *build[2];
    double total_median[2], build_median[2];
    bool undeferred;

    for (int k = 0; k < 2; k++) {
        total[k] = (uint64_t *)bench_alloc(repeat, sizeof **total);
        build[k] = (uint64_t *)bench_alloc(repeat, sizeof **build);
    }
    undeferred = bench_collect(phase, c, opened, repeat, total, build);
    for (int k = 0; k < 2; k++) {
        total_median[k] = bench_median(total[k], repeat);
        build_median[k] = bench_median(build[k], repeat);
        free(total[k]);
        free(build[k]);
    }
    bench_print_head(peer, phase, &c[0]);
    bench_print_times(c, total_median, build_median, undeferred);
}

/* Times the first run of the process. */
static inline void bench_time_first(const struct bench_peer *peer, const struct bench_phase *phase,
                                    const struct bench_case *c, void *opened)
{
    struct bench_sample s = phase->run(c, opened);

    bench_print_head(peer, phase, c);
    printf(",\"n\":%" PRIu64 ",\"t_ns\":%" PRIu64 ",\"ns_per_task\":%.2f", c->tasks, s.total_ns,
           (double)s.total_ns / (double)c->tasks);
    if (s.undeferred)
        printf(",\"undeferred\":true");
    printf("}\n");
}

/* Several rounds over the same opened case: a graph that runs again must be complete again. */
static inline bool bench_verify(const struct bench_peer *peer, const struct bench_phase *phase,
                                const struct bench_case *c, void *opened, unsigned repeat)
{
    uint64_t faults = 0;

    for (unsigned r = 0; r < repeat && faults == 0; r++) {
        c->check->round++;
        phase->run(c, opened);
        faults = bench_check_faults(c->check);
    }
    bench_print_head(peer, phase, c);
    printf(",\"n\":%" PRIu64 ",\"rounds\":%" PRIu64 ",\"faults\":%" PRIu64 "}\n", c->tasks,
           c->check->round, faults);
    return faults == 0;
}

static inline bool bench_phase_per_task(const struct bench_peer *peer,
                                        const struct bench_phase *phase,
                                        const struct bench_options *o, void *runtime)
{
    struct bench_case c[2];
    void *opened[2] = {NULL, NULL};
    bool good = true;

    for (int k = 0; k < 2; k++) {
        c[k].shape = o->shape;
        c[k].tasks = o->tasks[k];
        c[k].cores = o->cores;
        c[k].alternate = o->alternate;
        c[k].runtime = runtime;
        c[k].check = o->verify ? bench_check_new(o->shape, o->tasks[k]) : NULL;
        if (phase->open)
            opened[k] = phase->open(&c[k]);
    }
    if (!o->verify)
        bench_time(peer, phase, c, opened, o->repeat);
    for (int k = 0; k < 2; k++) {
        if (o->verify)
            good &= bench_verify(peer, phase, &c[k], opened[k], o->repeat);
        if (phase->close)
            phase->close(opened[k]);
        if (c[k].check)
            bench_check_free(c[k].check);
    }
    return good;
}

static inline bool bench_phase_first(const struct bench_peer *peer, const struct bench_phase *phase,
                                     const struct bench_options *o, void *runtime)
{
    struct bench_case c = {o->shape, o->tasks[1], o->cores, o->alternate, runtime, NULL};
    void *opened;
    bool good = true;

    if (o->verify)
        c.check = bench_check_new(c.shape, c.tasks);
    opened = phase->open ? phase->open(&c) : NULL;
    if (o->verify)
        good = bench_verify(peer, phase, &c, opened, 1);
    else
        bench_time_first(peer, phase, &c, opened);
    if (phase->close)
        phase->close(opened);
    if (c.check)
        bench_check_free(c.check);
    return good;
}

static inline void bench_phase_fixed(const struct bench_peer *peer, const struct bench_phase *phase,
                                     const struct bench_options *o, void *runtime)
{
    struct bench_case c = {o->shape, 1, o->cores, o->alternate, runtime, NULL};
    uint64_t *total = (uint64_t *)bench_alloc(o->repeat, sizeof *total);

    for (unsigned r = 0; r < o->repeat; r++)
        total[r] = phase->run(&c, NULL).total_ns;
    printf("{\"peer\":\"%s\",\"cores\":%u,\"phase\":\"%s\",\"ms\":%.4f}\n", peer->name, c.cores,
           phase->name, bench_median(total, o->repeat) / 1e6);
    free(total);
}

/* The whole program. Returns 0 if all is good, 1 if a graph did not run as it must, 2 for a wrong
 * command line. */
static inline int bench_main(const struct bench_peer *peer, int argc, char **argv)
{
    struct bench_options o = bench_parse(argc, argv);
    void *runtime;
    bool good = true, found = false;

    bench_pin(o.cpus ? o.cpus : o.cores);
    runtime = peer->start ? peer->start(o.cores) : NULL;
    for (int k = 0; k < peer->phase_count; k++) {
        const struct bench_phase *phase = &peer->phases[k];

        if (o.phase ? strcmp(o.phase, phase->name) != 0 : phase->kind == BENCH_FIRST)
            continue; /* a first run has a process of its own */
        found = true;
        if (phase->kind == BENCH_PER_TASK)
            good &= bench_phase_per_task(peer, phase, &o, runtime);
        else if (phase->kind == BENCH_FIRST)
            good &= bench_phase_first(peer, phase, &o, runtime);
        else if (!o.verify)
            bench_phase_fixed(peer, phase, &o, runtime);
    }
    if (peer->stop)
        peer->stop(runtime);
    if (!found)
        bench_usage(argv[0], "no such phase here");
    return good ? 0 : 1;
}

#endif
