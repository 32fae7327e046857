/* SPDX-License-Identifier: Apache-2.0 */
/* A run can be stopped at any moment, and the next run finds a clean engine. */
#include "rig.h"

static struct dag *build(uint32_t *seed)
{
    static const uint32_t parts[] = {DAG_AIC, DAG_AIV, DAG_FULL, DAG_AIV | DAG_AIV1};
    struct dag *dag = dag_new();
    for (uint32_t t = 0; t < 80; t++) {
        uint32_t kind = stress_random(seed, 4);
        dag_add(dag, parts[kind], kind < 2 ? body_dawdle : body_mix, stress_random(seed, 40));
        if (t > 4)
            dag_edge(dag, t - 1 - stress_random(seed, 4), t);
    }
    dag_seal(dag);
    return dag;
}

static void stop_after(struct rig *rig, struct dag *dag, uint32_t moment)
{
    dag_rewind(dag);
    rig_launch(rig, dag);
    for (uint32_t i = 0; i < moment; i++)
        stress_dawdle(7);
    __atomic_store_n(&dag->stopping, 1, __ATOMIC_SEQ_CST);
    tg_engine_stop(rig->engine);
    rig_wait(rig);
    dag_check_some_ran(dag, rig_finished(rig));
    if (rig->engine->phase == TG_OVER)
        dag_check_all_ran(dag);
    dag_restore(dag);
}

static void stop_at_random(uint32_t cores, uint32_t schedulers, uint32_t times)
{
    uint32_t seed = 31 * cores + schedulers + 1;
    struct dag *dag = build(&seed);
    struct rig rig;
    rig_open(&rig, cores, schedulers, stress_random(&seed, 2) * 50);
    for (uint32_t i = 0; i < times; i++) {
        stress_watch("stop %u on %u cores, %u schedulers", i, cores, schedulers);
        stop_after(&rig, dag, stress_random(&seed, 60));
        if (i % 4 == 0)
            rig_run(&rig, dag);
    }
    rig_close(&rig);
    free(dag);
}

TEST(a_run_where_cores_schedule_stops_at_any_moment_and_the_next_is_clean)
{
    for (uint32_t cores = 1; cores <= 7; cores++)
        stop_at_random(cores, 0, 50);
}

TEST(a_run_under_schedulers_stops_at_any_moment_and_the_next_is_clean)
{
    for (uint32_t cores = 1; cores <= 7; cores += 2)
        for (uint32_t schedulers = 1; schedulers <= 3; schedulers++)
            stop_at_random(cores, schedulers, 30);
}

/* Half of a mix has arrived and waits for a busy lane: a stop must reach it there. */
static void stop_in_a_rendezvous(uint32_t schedulers)
{
    struct dag *dag = dag_new();
    struct rig rig;
    dag_add(dag, DAG_AIV, body_meet, 0);
    dag->quorum = 2; /* a second one never comes, so only a stop ends it */
    for (uint32_t i = 0; i < 3; i++)
        dag_add(dag, DAG_FULL, body_mix, 0);
    dag_seal(dag);
    rig_open(&rig, 3, schedulers, 0);
    for (uint32_t i = 0; i < 20; i++) {
        stress_watch("stopping a rendezvous, %u schedulers", schedulers);
        stop_after(&rig, dag, 20 * i);
    }
    rig_close(&rig);
    free(dag);
}

/* If a part never ran because of the stop, its mix and the mix's successors must not count as
 * done. */
TEST(a_mix_that_was_stopped_half_way_is_not_finished)
{
    for (uint32_t schedulers = 0; schedulers <= 1; schedulers++) {
        uint32_t seed = 9;
        struct dag *dag = dag_new();
        struct rig rig;
        for (uint32_t t = 0; t < 200; t++) {
            dag_add(dag, t % 2 ? DAG_FULL : DAG_AIV | DAG_AIV1, NULL, 0);
            if (t >= 6)
                dag_edge(dag, t - 6, t);
        }
        dag_seal(dag);
        rig_open(&rig, 9, schedulers, 20);
        for (uint32_t i = 0; i < 300; i++) {
            stress_watch("stopping mixes, time %u, %u schedulers", i, schedulers);
            stop_after(&rig, dag, stress_random(&seed, 40));
        }
        rig_close(&rig);
        free(dag);
    }
}

TEST(a_mix_that_waits_for_a_busy_lane_can_be_stopped)
{
    stop_in_a_rendezvous(0);
    stop_in_a_rendezvous(1);
}

TEST(stopping_an_engine_that_runs_nothing_does_no_harm)
{
    struct dag *dag = dag_new();
    struct rig rig;
    dag_add(dag, DAG_AIC, NULL, 0);
    dag_seal(dag);
    stress_watch("stopping between runs");
    rig_open(&rig, 3, 0, 0);
    for (uint32_t i = 0; i < 20; i++) {
        tg_engine_stop(rig.engine);
        rig_run(&rig, dag);
        tg_engine_stop(rig.engine);
    }
    rig_close(&rig);
    free(dag);
}

TEST_MAIN()
