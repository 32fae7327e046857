/* SPDX-License-Identifier: Apache-2.0 */
/* Small graphs of every shape on every arrangement of cores and schedulers. */
#include "rig.h"

enum { MAX_CORES = 9, MAX_SCHEDULERS = 4 };

/* Runs the graph that `build` makes, a few times each, on engines of all sizes. */
static void on_every_engine(void (*build)(struct dag *dag))
{
    struct dag *dag = dag_new();
    struct rig rig;
    build(dag);
    dag_seal(dag);
    for (uint32_t cores = 1; cores <= MAX_CORES; cores++)
        for (uint32_t schedulers = 0; schedulers <= MAX_SCHEDULERS; schedulers++) {
            rig_open(&rig, cores, schedulers, cores % 2 ? 0 : 50);
            stress_watch("a small graph on %u cores, %u schedulers", cores, schedulers);
            for (uint32_t i = 0; i < 5; i++)
                rig_run(&rig, dag);
            rig_close(&rig);
        }
    free(dag);
}

static void build_nothing(struct dag *dag)
{
    (void)dag;
}

static void build_one_of_each(struct dag *dag)
{
    dag_add(dag, DAG_AIC, NULL, 0);
    dag_add(dag, DAG_AIV, NULL, 0);
    dag_add(dag, DAG_FULL, body_mix, 0);
}

static void build_chain(struct dag *dag)
{
    static const uint32_t parts[] = {DAG_AIC, DAG_AIV, DAG_FULL, DAG_AIV, DAG_AIC | DAG_AIV1};
    for (uint32_t i = 0; i < 50; i++) {
        dag_add(dag, parts[i % 5], i % 5 == 2 || i % 5 == 4 ? body_mix : NULL, i);
        if (i > 0)
            dag_edge(dag, i - 1, i);
    }
}

/* More ready tasks at once than a deque holds. */
static void build_fan(struct dag *dag)
{
    uint32_t first = dag_add(dag, DAG_AIC, NULL, 0), last = dag_add(dag, DAG_AIV, NULL, 0);
    for (uint32_t i = 0; i < TG_DEQUE_SIZE + 100; i++) {
        uint32_t middle = dag_add(dag, i % 3 ? DAG_AIV : DAG_AIC, NULL, 0);
        dag_edge(dag, first, middle);
        dag_edge(dag, middle, last);
    }
}

static void build_mixes(struct dag *dag)
{
    static const uint32_t parts[] = {DAG_FULL, DAG_AIC | DAG_AIV, DAG_AIV | DAG_AIV1,
                                     DAG_AIC | DAG_AIV1};
    for (uint32_t i = 0; i < 60; i++)
        dag_add(dag, parts[i % 4], body_mix, i);
}

/* The core finishes its part long before the lanes that only stand in for other cores. */
static void build_slow_stand_ins(struct dag *dag)
{
    dag_add(dag, DAG_FULL, body_dawdle, 29);
}

TEST(a_graph_without_tasks_is_over_at_once)
{
    on_every_engine(build_nothing);
}

TEST(one_task_of_each_class_runs_once)
{
    on_every_engine(build_one_of_each);
}

TEST(a_chain_through_all_classes_runs_in_order)
{
    on_every_engine(build_chain);
}

TEST(a_fan_wider_than_a_ring_runs_once_and_in_order)
{
    on_every_engine(build_fan);
}

TEST(mixes_of_all_shapes_run_together_and_meet_at_their_barrier)
{
    on_every_engine(build_mixes);
}

TEST(a_run_ends_when_a_stand_in_is_the_last_to_finish)
{
    on_every_engine(build_slow_stand_ins);
}

/* A GPU stores them so. Those that the host reads lie in memory that it aligns itself. */
TEST(a_status_inside_the_engine_can_be_stored_16_bytes_at_a_time)
{
    for (uint32_t cores = 1; cores <= MAX_CORES; cores++)
        for (uint32_t schedulers = 0; schedulers <= MAX_SCHEDULERS; schedulers++) {
            struct rig rig;
            rig_open(&rig, cores, schedulers, 0);
            for (uint32_t ear = 0; ear < TG_COMM_EARS; ear++) {
                const struct tg_worker *w = &rig.engine->worker[rig.engine->n_workers + ear];
                CHECK_EQ_U((uintptr_t)w->status % 16, 0);
            }
            rig_close(&rig);
        }
}

TEST_MAIN()
