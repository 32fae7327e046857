/*
 * StarPU with explicit dependencies between tasks and no data handles.
 *
 * The scheduling policy is StarPU's default, lws. Measured in turn with it on one and two cores, ws
 * and random cost the same over all shapes (single shapes up to 20% more or less) and eager 10%
 * more; none is clearly faster. The submitting thread is not a worker: it shares the --cores CPUs
 * with them. Submission includes the dependencies and overlaps with running, so there is one phase.
 */
#include "harness.h"

#include <starpu.h>

static void body(void *buffers[], void *arg)
{
    (void)buffers;
    bench_task((struct bench_cell *)arg);
}

static struct starpu_codelet codelet = {
    .cpu_funcs = {body},
    .nbuffers = 0,
    .name = "empty",
};

/* Tasks live in one array: StarPU's own allocation of each would only add to its cost. */
static void submit(const struct bench_case *c, struct starpu_task *tasks, uint64_t i)
{
    uint64_t preds[SHAPE_MAX_PREDS];
    struct starpu_task *before[SHAPE_MAX_PREDS];
    int count = shape_preds(c->shape, i, preds);

    starpu_task_init(&tasks[i]);
    tasks[i].cl = &codelet;
    tasks[i].cl_arg = bench_cell_of(c, i);
    tasks[i].destroy = 0; /* kept, as a task may end before its successors are declared */
    for (int k = 0; k < count; k++)
        before[k] = &tasks[preds[k]];
    if (count > 0)
        starpu_task_declare_deps_array(&tasks[i], (unsigned)count, before);
    if (starpu_task_submit(&tasks[i]) != 0) {
        fprintf(stderr, "bench_tasks: StarPU has no worker for the task\n");
        exit(1);
    }
}

static struct bench_sample build_run(const struct bench_case *c, void *opened)
{
    struct bench_sample sample = {0, 0, false};
    uint64_t begin = bench_now_ns();
    struct starpu_task *tasks =
        (struct starpu_task *)malloc(c->tasks * sizeof *tasks); /* init clears them */

    (void)opened;
    if (!tasks)
        exit(1);
    for (uint64_t i = 0; i < c->tasks; i++)
        submit(c, tasks, i);
    starpu_task_wait_for_all();
    for (uint64_t i = 0; i < c->tasks; i++)
        starpu_task_clean(&tasks[i]);
    free(tasks);
    sample.total_ns = bench_now_ns() - begin;
    return sample;
}

static void *start(unsigned cores)
{
    struct starpu_conf conf;
    int failed;

    starpu_conf_init(&conf);
    conf.ncpus = (int)cores;
    conf.ncuda = 0;
    conf.nopencl = 0;
    failed = starpu_init(&conf);
    if (failed) {
        fprintf(stderr, "bench_tasks: starpu_init: %s\n", strerror(-failed));
        exit(1);
    }
    return NULL;
}

static void stop(void *runtime)
{
    (void)runtime;
    starpu_shutdown();
}

int main(int argc, char **argv)
{
    static const struct bench_phase phases[] = {
        {"build_run", BENCH_PER_TASK, NULL, build_run, NULL},
        {"first", BENCH_FIRST, NULL, build_run, NULL},
    };
    static const struct bench_peer peer = {"starpu", phases, 2, start, stop};

    return bench_main(&peer, argc, argv);
}
