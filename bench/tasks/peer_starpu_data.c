/*
 * StarPU with data handles: every task's cell is a variable that StarPU knows, a task names the
 * cells of its predecessors for reading and its own for writing, and StarPU finds the order
 * (sequential consistency, its default).
 *
 * Handles are registered outside the timing: a real program already has its data. Policy and
 * workers are as in peer_starpu.c.
 */
#include "harness.h"

#include <starpu.h>

struct opened {
    uint64_t tasks;
    uint64_t *cells;
    starpu_data_handle_t *handles;
};

static void body(void *buffers[], void *arg)
{
    (void)buffers;
    bench_task((struct bench_cell *)arg);
}

static struct starpu_codelet codelet = {
    .cpu_funcs = {body},
    .nbuffers = STARPU_VARIABLE_NBUFFERS,
    .name = "empty",
};

static void *must(void *p)
{
    if (!p) {
        fprintf(stderr, "bench_tasks: no memory\n");
        exit(1);
    }
    return p;
}

/* Buffers that do not fit into a task are allocated separately; StarPU frees them with the task. */
static void make_room(struct starpu_task *task, int buffers)
{
    task->nbuffers = buffers;
    if (buffers <= STARPU_NMAXBUFS)
        return;
    task->dyn_handles =
        (starpu_data_handle_t *)must(malloc((size_t)buffers * sizeof *task->dyn_handles));
    task->dyn_modes =
        (enum starpu_data_access_mode *)must(malloc((size_t)buffers * sizeof *task->dyn_modes));
}

/* Tasks live in one array, as in peer_starpu.c. */
static void submit(const struct bench_case *c, const struct opened *o, struct starpu_task *tasks,
                   uint64_t i)
{
    uint64_t preds[SHAPE_MAX_PREDS];
    int count = shape_preds(c->shape, i, preds);
    struct starpu_task *task = &tasks[i];

    starpu_task_init(task);
    task->cl = &codelet;
    task->cl_arg = bench_cell_of(c, i);
    task->destroy = 0;
    make_room(task, count + 1);
    for (int k = 0; k < count; k++) {
        STARPU_TASK_SET_HANDLE(task, o->handles[preds[k]], k);
        STARPU_TASK_SET_MODE(task, STARPU_R, k);
    }
    STARPU_TASK_SET_HANDLE(task, o->handles[i], count);
    STARPU_TASK_SET_MODE(task, STARPU_W, count);
    if (starpu_task_submit(task) != 0) {
        fprintf(stderr, "bench_tasks: StarPU has no worker for the task\n");
        exit(1);
    }
}

static struct bench_sample build_run(const struct bench_case *c, void *opened)
{
    struct bench_sample sample = {0, 0, false};
    uint64_t begin = bench_now_ns();
    struct starpu_task *tasks = (struct starpu_task *)must(malloc(c->tasks * sizeof *tasks));

    for (uint64_t i = 0; i < c->tasks; i++)
        submit(c, (const struct opened *)opened, tasks, i);
    starpu_task_wait_for_all();
    for (uint64_t i = 0; i < c->tasks; i++)
        starpu_task_clean(&tasks[i]);
    free(tasks);
    sample.total_ns = bench_now_ns() - begin;
    return sample;
}

static void *open_cells(const struct bench_case *c)
{
    struct opened *o = (struct opened *)bench_alloc(1, sizeof *o);

    o->tasks = c->tasks;
    o->cells = (uint64_t *)bench_alloc(c->tasks, sizeof *o->cells);
    o->handles = (starpu_data_handle_t *)bench_alloc(c->tasks, sizeof *o->handles);
    for (uint64_t i = 0; i < c->tasks; i++)
        starpu_variable_data_register(&o->handles[i], STARPU_MAIN_RAM, (uintptr_t)&o->cells[i],
                                      sizeof o->cells[i]);
    return o;
}

static void close_cells(void *opened)
{
    struct opened *o = (struct opened *)opened;

    for (uint64_t i = 0; i < o->tasks; i++)
        starpu_data_unregister(o->handles[i]);
    free(o->handles);
    free(o->cells);
    free(o);
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
        {"build_run", BENCH_PER_TASK, open_cells, build_run, close_cells},
        {"first", BENCH_FIRST, open_cells, build_run, close_cells},
    };
    static const struct bench_peer peer = {"starpu_data", phases, 2, start, stop};

    return bench_main(&peer, argc, argv);
}
