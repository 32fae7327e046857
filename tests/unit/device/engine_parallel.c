/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Idle cores find ready tasks. Every kernel here waits until as many kernels run as can run at
 * once: if a wake-up is lost, the test hangs, and the alarm reports it.
 */
#include "rig.h"

static void run(struct dag *dag, uint32_t cores, uint32_t schedulers, uint32_t times)
{
    struct rig rig;
    dag_seal(dag);
    rig_open(&rig, cores, schedulers, 0);
    for (uint32_t i = 0; i < times; i++) {
        stress_watch("%u kernels at once on %u cores, %u schedulers, time %u", dag->quorum, cores,
                     schedulers, i);
        rig_run(&rig, dag);
        CHECK_EQ_U(dag->inside, dag->quorum);
    }
    rig_close(&rig);
    free(dag);
}

/* Adds tasks that only full blocks can run: one for each core, all at once. */
static void add_one_per_core(struct dag *dag, uint32_t cores, uint32_t after)
{
    for (uint32_t i = 0; i < cores; i++) {
        uint32_t task = dag_add(dag, i % 3 ? DAG_AIV : DAG_AIC, body_meet, 0);
        if (after != TG_NO_TASK)
            dag_edge(dag, after, task);
    }
    dag->quorum = cores;
}

/* Calls `test` for every arrangement of whole blocks. */
static void for_every_block_count(void (*test)(uint32_t cores, uint32_t schedulers))
{
    for (uint32_t cores = 3; cores <= 9; cores += 3)
        for (uint32_t schedulers = 0; schedulers <= 4; schedulers++)
            test(cores, schedulers);
}

static void fill_from_the_start(uint32_t cores, uint32_t schedulers)
{
    struct dag *dag = dag_new();
    add_one_per_core(dag, cores, TG_NO_TASK);
    run(dag, cores, schedulers, 20);
}

TEST(as_many_tasks_as_cores_run_at_once)
{
    for_every_block_count(fill_from_the_start);
}

/* All other cores have gone to sleep while the first task sleeps. */
static void fill_from_one_task(uint32_t cores, uint32_t schedulers)
{
    struct dag *dag = dag_new();
    uint32_t first = dag_add(dag, cores % 2 ? DAG_AIV : DAG_AIC, body_sleep, 3000);
    add_one_per_core(dag, cores, first);
    run(dag, cores, schedulers, 15);
}

TEST(one_task_that_makes_many_ready_wakes_all_cores)
{
    for_every_block_count(fill_from_one_task);
}

/* The last of many small tasks makes many tasks ready, just when cores are about to sleep. */
static void fill_from_a_join(uint32_t cores, uint32_t schedulers)
{
    struct dag *dag = dag_new();
    uint32_t join = dag_add(dag, DAG_AIV, NULL, 0);
    for (uint32_t i = 0; i < 3 * cores; i++)
        dag_edge(dag, dag_add(dag, i % 3 ? DAG_AIV : DAG_AIC, body_dawdle, i % 12), join);
    add_one_per_core(dag, cores, join);
    run(dag, cores, schedulers, 60);
}

TEST(tasks_made_ready_while_cores_go_to_sleep_wake_all_cores)
{
    for_every_block_count(fill_from_a_join);
}

/* A chain keeps one core busy; that core must not keep the other tasks that it made ready on the
 * way. */
static void fill_beside_a_chain(uint32_t cores, uint32_t schedulers)
{
    struct dag *dag = dag_new();
    uint32_t last = dag_add(dag, DAG_AIV, body_sleep, 500);
    for (uint32_t i = 0; i < cores; i++) {
        uint32_t next = dag_add(dag, i == cores - 1 ? DAG_AIC : DAG_AIV, body_dawdle, 31);
        uint32_t aside = dag_add(dag, i % 3 ? DAG_AIV : DAG_AIC, body_meet, 0);
        dag_edge(dag, last, next); /* first, so that the core keeps this one */
        dag_edge(dag, last, aside);
        last = next;
    }
    dag->quorum = cores;
    run(dag, cores, schedulers, 15);
}

TEST(tasks_made_ready_one_by_one_wake_all_cores)
{
    for_every_block_count(fill_beside_a_chain);
}

/* Cores of short blocks run both kinds of tasks, so all tasks are of one kind. */
TEST(cores_of_short_blocks_all_run_at_once)
{
    for (uint32_t cores = 1; cores <= 8; cores++)
        for (uint32_t schedulers = 0; schedulers <= 3; schedulers++) {
            struct dag *dag = dag_new();
            uint32_t first = dag_add(dag, DAG_AIV, body_sleep, 1000);
            for (uint32_t i = 0; i < cores - cores / 3; i++)
                dag_edge(dag, first, dag_add(dag, DAG_AIV, body_meet, 0));
            dag->quorum = cores - cores / 3;
            run(dag, cores, schedulers, 10);
        }
}

/* Tasks that either kind of core can run keep all cores busy, whatever core makes them ready. */
static void fill_with_either(uint32_t cores, uint32_t schedulers)
{
    for (uint32_t kind = 0; kind < 2; kind++) {
        struct dag *dag = dag_new();
        uint32_t first = dag_add(dag, kind ? DAG_AIC : DAG_AIV, body_sleep, 2000);
        for (uint32_t i = 0; i < cores; i++)
            dag_edge(dag, first, dag_add(dag, DAG_EITHER, body_meet, 0));
        dag->quorum = cores;
        run(dag, cores, schedulers, 8);
    }
}

TEST(tasks_for_either_kind_run_on_all_cores_at_once)
{
    for_every_block_count(fill_with_either);
    fill_with_either(4, 0);
    fill_with_either(2, 1);
}

/* One mix for every block, all parts running at once; the last block may have stand-ins. */
static void fill_with_mixes(uint32_t cores, uint32_t schedulers)
{
    struct dag *dag = dag_new();
    uint32_t first = dag_add(dag, DAG_AIC, body_sleep, 2000);
    for (uint32_t i = 0; i < (cores + 2) / 3; i++)
        dag_edge(dag, first, dag_add(dag, DAG_FULL, body_meet, 0));
    dag->quorum = (cores + 2) / 3 * 3;
    run(dag, cores, schedulers, 10);
}

TEST(one_task_that_makes_mixes_ready_wakes_all_blocks)
{
    for_every_block_count(fill_with_mixes);
    for (uint32_t schedulers = 0; schedulers <= 2; schedulers++) {
        fill_with_mixes(7, schedulers);
        fill_with_mixes(5, schedulers);
    }
}

/*
 * Block X runs a mix on its AIVs and has its AIC asleep; a task on an AIC releases a mix and goes
 * on with another task. The second mix must run on a block other than X, whichever worker is woken
 * for it first. All kernels wait for each other.
 */
TEST(a_mix_finds_the_free_block_while_another_is_busy)
{
    for (uint32_t cores = 6; cores <= 9; cores += 3)
        for (uint32_t schedulers = 0; schedulers <= 3; schedulers++) {
            struct dag *dag = dag_new();
            uint32_t first = dag_add(dag, DAG_AIC, body_sleep, 2000);
            dag_add(dag, DAG_AIV | DAG_AIV1, body_meet, 0);
            dag_edge(dag, first, dag_add(dag, DAG_AIC, body_meet, 0));
            dag_edge(dag, first, dag_add(dag, DAG_AIV | DAG_AIV1, body_meet, 0));
            dag->quorum = 5;
            run(dag, cores, schedulers, 20);
        }
}

/* While AIV0 is in a task, AIV1 calls it and the AIC into a mix. The AIC runs a kernel that waits
 * for that task's successor: AIV0, which is needed for the mix, must leave the successor to
 * AIV1. */
TEST(a_task_does_not_wait_for_the_mix_its_core_is_called_into)
{
    for (uint32_t schedulers = 0; schedulers <= 1; schedulers++) {
        struct dag *dag = dag_new();
        uint32_t first = dag_add(dag, DAG_AIV, body_sleep, 2000);
        dag_add(dag, DAG_AIC, body_meet, 0);
        dag_add(dag, DAG_AIC | DAG_AIV, body_mix, 0);
        dag_edge(dag, first, dag_add(dag, DAG_AIV, body_meet, 0));
        dag->quorum = 2;
        run(dag, 3, schedulers, 30);
    }
}

TEST_MAIN()
