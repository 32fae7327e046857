/* SPDX-License-Identifier: Apache-2.0 */
/*
 * StarPU with explicit dependencies between tasks and no data handles (with handles, from which StarPU
 * finds the order itself, bench/tasks measured more). A repeated run submits all tasks again. The
 * submitting thread is not a worker; it shares the CPUs with them.
 */
#include "harness.h"

#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    const struct tb_case *in;
    uint32_t step, column;
};

static void body(void *buffers[], void *arg)
{
    const struct place *p = arg;

    (void)buffers;
    tb_task(&p->in->grid, p->in->cells, p->step, p->column);
}

static struct starpu_codelet codelet = {.cpu_funcs = {body}, .nbuffers = 0, .name = "task"};

static void submit(struct starpu_task *task, struct place *place, struct starpu_task *before)
{
    uint32_t inputs[TB_MAX_INPUTS];
    uint32_t count = tb_inputs(&place->in->grid, place->step, place->column, inputs);
    struct starpu_task *tasks[TB_MAX_INPUTS];

    starpu_task_init(task);
    task->cl = &codelet;
    task->cl_arg = place;
    task->destroy = 0; /* kept, as a task may end before its successors are declared */
    for (uint32_t k = 0; k < count; k++)
        tasks[k] = before + inputs[k];
    if (count > 0)
        starpu_task_declare_deps_array(task, count, tasks);
    if (starpu_task_submit(task) != 0) {
        fprintf(stderr, "taskbench: StarPU has no worker for the task\n");
        exit(1);
    }
}

/* Tasks live in one array: StarPU's own allocation of each would only add to its cost. */
static void run(struct tb_case *c, void *opened)
{
    uint64_t cells = (uint64_t)c->grid.steps * c->grid.width;
    struct starpu_task *tasks = malloc(cells * sizeof *tasks); /* init clears them */
    struct place *places = malloc(cells * sizeof *places);

    (void)opened;
    if (!tasks || !places)
        exit(1);
    for (uint32_t step = 0; step < c->grid.steps; step++)
        for (uint32_t column = 0; column < tb_row(&c->grid, step); column++) {
            uint64_t row = (uint64_t)step * c->grid.width;

            places[row + column] = (struct place){c, step, column};
            submit(&tasks[row + column], &places[row + column], tasks + row - c->grid.width);
        }
    starpu_task_wait_for_all();
    for (uint32_t step = 0; step < c->grid.steps; step++)
        for (uint32_t column = 0; column < tb_row(&c->grid, step); column++)
            starpu_task_clean(&tasks[(uint64_t)step * c->grid.width + column]);
    free(places);
    free(tasks);
}

static void *open_workers(struct tb_case *c)
{
    struct starpu_conf conf;
    int failed;

    starpu_conf_init(&conf);
    conf.ncpus = (int)c->workers;
    conf.ncuda = 0;
    conf.nopencl = 0;
    failed = starpu_init(&conf);
    if (failed) {
        fprintf(stderr, "taskbench: starpu_init: %s\n", strerror(-failed));
        exit(1);
    }
    return NULL;
}

static void close_workers(void *opened)
{
    (void)opened;
    starpu_shutdown();
}

int main(int argc, char **argv)
{
    static const struct tb_system system = {"starpu", open_workers, run, run, NULL, close_workers};

    return tb_main(&system, 1, argc, argv);
}
