/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs, and many runs on one engine. */
#include "rig.h"

static void build_random(struct dag *dag, uint32_t *seed, uint32_t tasks)
{
    static const uint32_t parts[] = {
        DAG_AIC, DAG_AIV,           DAG_AIC,  DAG_EITHER,         DAG_AIV,
        DAG_AIV, DAG_AIC | DAG_AIV, DAG_FULL, DAG_AIV | DAG_AIV1, DAG_AIC | DAG_AIV1};
    for (uint32_t t = 0; t < tasks; t++) {
        uint32_t kind = stress_random(seed, 10), pace = stress_random(seed, 40);
        uint32_t preds = t == 0 ? 0 : stress_random(seed, 4);
        dag_add(dag, parts[kind], kind < 6 ? body_dawdle : body_mix, pace);
        for (uint32_t i = 0; i < preds; i++) /* the same edge twice is allowed */
            dag_edge(dag, t - 1 - stress_random(seed, t < 12 ? t : 12), t);
    }
    dag_seal(dag);
}

static void run_random_graphs(uint32_t cores, uint32_t schedulers, uint32_t graphs, uint32_t runs)
{
    uint32_t seed = 1000 * cores + schedulers + 1;
    struct rig rig;
    rig_open(&rig, cores, schedulers, stress_random(&seed, 2) * 100);
    for (uint32_t g = 0; g < graphs; g++) {
        struct dag *dag = dag_new();
        build_random(dag, &seed, 1 + stress_random(&seed, 120));
        stress_watch("random graph %u on %u cores, %u schedulers", g, cores, schedulers);
        for (uint32_t i = 0; i < runs; i++)
            rig_run(&rig, dag);
        free(dag);
    }
    rig_close(&rig);
}

TEST(random_graphs_run_each_task_once_and_in_order_where_cores_schedule)
{
    for (uint32_t cores = 1; cores <= 9; cores++)
        run_random_graphs(cores, 0, 10, 2);
}

TEST(random_graphs_run_each_task_once_and_in_order_under_schedulers)
{
    for (uint32_t cores = 1; cores <= 9; cores++)
        for (uint32_t schedulers = 1; schedulers <= 4; schedulers++)
            run_random_graphs(cores, schedulers, 3, 2);
}

/* Short runs that mostly wake, sleep and end. */
static void run_often(uint32_t cores, uint32_t schedulers, uint32_t runs)
{
    struct dag *dag[8];
    uint32_t seed = 7 * cores + schedulers;
    struct rig rig;
    for (uint32_t i = 0; i < 8; i++) { /* the first has no task */
        dag[i] = dag_new();
        build_random(dag[i], &seed, i * i / 4);
        for (uint32_t t = 0; t < dag[i]->n_tasks; t++)
            dag[i]->node[t].arg %= 31; /* excludes the tasks that sleep */
    }
    rig_open(&rig, cores, schedulers, 0);
    for (uint32_t i = 0; i < runs; i++) {
        stress_watch("run %u on %u cores, %u schedulers", i, cores, schedulers);
        rig_run(&rig, dag[stress_random(&seed, 8)]);
    }
    rig_close(&rig);
    for (uint32_t i = 0; i < 8; i++)
        free(dag[i]);
}

TEST(thousands_of_runs_on_one_engine_all_end)
{
    run_often(5, 0, 2000);
    run_often(2, 0, 2000);
    run_often(4, 2, 1000);
}

TEST_MAIN()
