/*
 * OpenMP tasks with depend clauses, for any OpenMP runtime: BENCH_OMP_NAME says which.
 *
 * One thread creates all tasks while the others run them; creating and running overlap, so there is
 * one phase. Each task names one byte as its output and the bytes of its predecessors as inputs,
 * the usual way to write an explicit graph.
 */
#include "harness.h"

#include <omp.h>

/* Number of tasks that the probe creates; more than any of these runtimes queues before it
 * throttles. */
#define PROBE_TASKS 2000

struct opened {
    char *out;
    bool undeferred;
};

/* An iterator serves all shapes and was measured to cost no more than a list of inputs written out
 * for each arity. For a task without predecessors it is empty. */
static void create_dependent(const struct bench_case *c, uint64_t i, char *out)
{
    uint64_t preds[SHAPE_MAX_PREDS];
    int count = shape_preds(c->shape, i, preds);
    struct bench_cell *cell = bench_cell_of(c, i);

    (void)out; /* gcc does not count a depend clause as a use */
    (void)count;
#pragma omp task depend(iterator(k = 0 : count), in : out[preds[k]]) depend(out : out[i])
    bench_task(cell);
}

static void create_independent(const struct bench_case *c, uint64_t i)
{
    struct bench_cell *cell = bench_cell_of(c, i);

#pragma omp task
    bench_task(cell);
}

static void create(const struct bench_case *c, uint64_t i, char *out)
{
    if (c->shape == SHAPE_INDEPENDENT)
        create_independent(c, i);
    else
        create_dependent(c, i, out);
}

static void create_all(const struct bench_case *c, char *out)
{
    for (uint64_t i = 0; i < c->tasks; i++)
        create(c, i, out);
}

/* How many tasks have run when their creation returns. */
static uint64_t create_all_and_look(const struct bench_case *c, char *out)
{
    uint64_t ran = 0;

    for (uint64_t i = 0; i < c->tasks; i++) {
        create(c, i, out);
        ran += __atomic_load_n(&c->check->cells[i].runs, __ATOMIC_RELAXED);
    }
    return ran;
}

/* A team of one may run a task inside its creation: always (libomp), or once some tasks are queued
 * (libgomp). Such a task costs little more than a call. Users get this behaviour, so we measure it,
 * but the table should say so: this finds out whether most tasks of this shape run that way. */
static bool team_of_one_is_undeferred(enum shape shape)
{
    struct bench_check *check = bench_check_new(shape, PROBE_TASKS);
    struct bench_case c = {shape, PROBE_TASKS, 1, false, NULL, check};
    char *out = (char *)bench_alloc(PROBE_TASKS, 1);
    uint64_t ran = 0;

    check->round = 1;
#pragma omp parallel num_threads(1)
#pragma omp single
    ran = create_all_and_look(&c, out);
    free(out);
    bench_check_free(check);
    return ran > PROBE_TASKS / 2;
}

/* The bytes that stand for the tasks are never accessed; only their addresses count. They are
 * allocated outside the timing because a real program already has its data. */
static void *open_case(const struct bench_case *c)
{
    struct opened *opened = (struct opened *)bench_alloc(1, sizeof *opened);

    opened->out = (char *)bench_alloc(c->tasks, 1);
    opened->undeferred = c->cores == 1 && team_of_one_is_undeferred(c->shape);
    return opened;
}

static void close_case(void *p)
{
    struct opened *opened = (struct opened *)p;

    free(opened->out);
    free(opened);
}

static struct bench_sample build_run(const struct bench_case *c, void *p)
{
    const struct opened *opened = (const struct opened *)p;
    struct bench_sample sample = {0, 0, opened->undeferred};
    uint64_t begin = bench_now_ns();

#pragma omp parallel num_threads(c->cores)
#pragma omp single
    create_all(c, opened->out);
    sample.total_ns = bench_now_ns() - begin;
    return sample;
}

int main(int argc, char **argv)
{
    static const struct bench_phase phases[] = {
        {"build_run", BENCH_PER_TASK, open_case, build_run, close_case},
        {"first", BENCH_FIRST, open_case, build_run, close_case},
    };
    static const struct bench_peer peer = {BENCH_OMP_NAME, phases, 2, NULL, NULL};

    omp_set_dynamic(0); /* --cores is exact: the runtime must not use fewer */
    return bench_main(&peer, argc, argv);
}
