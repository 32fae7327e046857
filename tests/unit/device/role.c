/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that change lanes (device/role.h). The rig checks in every kernel that it runs alone on a
 * lane of its kind.
 */
#include "device/core.h"
#include "device/role.h"
#include "rig.h"

/* ── one thread follows a chain ────────────────────────────────────────────────────────── */

static pthread_t follower;
static uint32_t followed, left; /* kernels on the follower's thread, and on others */

static void follow(const struct tg_ctx *ctx)
{
    (void)ctx;
    if (pthread_equal(pthread_self(), follower))
        followed++;
    else
        left++;
}

static void body_follow(struct dag *dag, struct node *node, const struct tg_ctx *ctx)
{
    (void)dag, (void)node;
    follow(ctx);
}

static bool others_sleep(const struct tg_engine *e, uint32_t lane)
{
    for (uint32_t i = 0; i < e->n_cores; i++)
        if (i != lane && !tg_role_sleeps(&e->worker[i]))
            return false;
    return true;
}

/* The first task of a chain: ends when all other cores sleep. */
static void body_lead(struct dag *dag, struct node *node, const struct tg_ctx *ctx)
{
    (void)node;
    while (!others_sleep(ctx->engine, ctx->core) && !dag_stopping(dag))
        stress_sleep(50);
    follower = pthread_self();
    followed = left = 0;
}

static void follow_a_chain(uint32_t cores, const uint32_t *kinds, uint32_t n_kinds)
{
    enum { TASKS = 300 };
    struct dag *dag = dag_new();
    struct rig rig;
    for (uint32_t t = 0; t < TASKS; t++) {
        dag_add(dag, kinds[t % n_kinds], t == 0 ? body_lead : body_follow, 0);
        if (t > 0)
            dag_edge(dag, t - 1, t);
    }
    dag_seal(dag);
    rig_open(&rig, cores, 0, 0);
    for (uint32_t i = 0; i < 10; i++) {
        stress_watch("following a chain on %u cores, time %u", cores, i);
        rig_run(&rig, dag);
        CHECK_EQ_U(followed, TASKS - 1);
        CHECK_EQ_U(left, 0);
    }
    rig_close(&rig);
    free(dag);
}

TEST(a_thread_follows_a_chain_whose_kinds_alternate)
{
    static const uint32_t kinds[] = {DAG_AIC, DAG_AIV};
    follow_a_chain(3, kinds, 2);
    follow_a_chain(6, kinds, 2);
    follow_a_chain(4, kinds, 2);
    follow_a_chain(72, kinds, 2);
}

TEST(a_thread_follows_a_chain_of_runs_of_each_kind)
{
    static const uint32_t kinds[] = {DAG_AIV, DAG_AIV, DAG_AIC, DAG_AIC, DAG_AIC};
    follow_a_chain(3, kinds, 5);
    follow_a_chain(9, kinds, 5);
}

TEST(a_task_for_either_kind_stays_on_the_core_that_made_it_ready)
{
    static const uint32_t kinds[] = {DAG_AIC, DAG_EITHER, DAG_EITHER, DAG_AIV, DAG_EITHER};
    follow_a_chain(3, kinds, 5);
    follow_a_chain(9, kinds, 5);
}

/* ── what must go on beside it ─────────────────────────────────────────────────────────── */

/* Several chains that alternate, each of whose steps also makes a mix or tasks of both kinds ready:
 * threads change lanes while others wake, sleep and are called into mixes. */
static struct dag *build_braid(uint32_t *seed, uint32_t chains)
{
    static const uint32_t mixes[] = {DAG_FULL, DAG_AIC | DAG_AIV, DAG_AIV | DAG_AIV1};
    struct dag *dag = dag_new();
    uint32_t last[4] = {TG_NO_TASK, TG_NO_TASK, TG_NO_TASK, TG_NO_TASK};
    for (uint32_t step = 0; step < 60; step++) {
        uint32_t chain = stress_random(seed, chains), aside = stress_random(seed, 8);
        uint32_t task =
            dag_add(dag, step % 2 ? DAG_AIC : DAG_AIV, body_dawdle, stress_random(seed, 12));
        if (last[chain] != TG_NO_TASK)
            dag_edge(dag, last[chain], task);
        last[chain] = task;
        if (aside < 3)
            dag_edge(dag, task, dag_add(dag, mixes[aside], body_mix, stress_random(seed, 40)));
        else if (aside == 3)
            dag_edge(dag, task, dag_add(dag, DAG_AIC, body_dawdle, stress_random(seed, 40)));
        if (aside == 0)
            last[chain] = dag->n_tasks - 1; /* the chain goes on after the mix */
    }
    dag_seal(dag);
    return dag;
}

static void run_braids(uint32_t cores, uint32_t spin, uint32_t runs)
{
    uint32_t seed = 77 * cores + spin + 1;
    struct rig rig;
    rig_open(&rig, cores, 0, spin);
    for (uint32_t i = 0; i < runs; i++) {
        struct dag *dag = build_braid(&seed, 1 + i % 4);
        stress_watch("braid %u on %u cores", i, cores);
        rig_run(&rig, dag);
        rig_run(&rig, dag);
        free(dag);
    }
    rig_close(&rig);
}

TEST(chains_that_alternate_beside_mixes_run_each_task_once_and_in_order)
{
    run_braids(3, 0, 60);
    run_braids(3, 60, 60);
    run_braids(6, 0, 40);
    run_braids(7, 20, 40);
}

TEST(a_run_whose_threads_change_lanes_stops_at_any_moment)
{
    uint32_t seed = 5;
    struct rig rig;
    rig_open(&rig, 6, 0, 0);
    for (uint32_t i = 0; i < 150; i++) {
        struct dag *dag = build_braid(&seed, 1 + i % 3);
        stress_watch("stopping braid %u", i);
        dag_rewind(dag);
        rig_launch(&rig, dag);
        for (uint32_t wait = stress_random(&seed, 60); wait > 0; wait--)
            stress_dawdle(7);
        __atomic_store_n(&dag->stopping, 1, __ATOMIC_SEQ_CST);
        tg_engine_stop(rig.engine);
        rig_wait(&rig);
        dag_check_some_ran(dag, rig_finished(&rig));
        free(dag);
    }
    rig_close(&rig);
}

/* ── threads that help ─────────────────────────────────────────────────────────────────── */

static void run_with_help(struct rig *rig, struct dag *dag)
{
    struct tg_engine *e = rig->engine;
    const uint32_t never = 0;
    dag_rewind(dag);
    rig_launch(rig, dag);
    while (tg_engine_running(e)) /* as the orchestrator's thread would while it waits */
        if (!tg_core_help(e, &e->worker[tg_engine_orchestrator(e)], &never, 1))
            stress_dawdle(7);
    rig_wait(rig);
    CHECK_EQ_U(rig_finished(rig), dag->n_tasks);
    CHECK_EQ_U(e->worker[tg_engine_orchestrator(e)].role, tg_engine_orchestrator(e));
    dag_check_all_ran(dag);
}

TEST(a_thread_that_is_no_core_helps_on_lanes_whose_threads_sleep)
{
    for (uint32_t cores = 1; cores <= 9; cores += 2) {
        uint32_t seed = cores;
        struct rig rig;
        rig_open(&rig, cores, 0, 0);
        for (uint32_t i = 0; i < 40; i++) {
            struct dag *dag = build_braid(&seed, 1 + i % 4);
            stress_watch("helping %u cores, time %u", cores, i);
            run_with_help(&rig, dag);
            free(dag);
        }
        rig_close(&rig);
    }
}

TEST(nobody_helps_under_schedulers)
{
    uint32_t seed = 3;
    const uint32_t never = 0;
    struct dag *dag = build_braid(&seed, 2);
    struct rig rig;
    stress_watch("helping under a scheduler");
    rig_open(&rig, 3, 1, 0);
    dag_rewind(dag);
    rig_launch(&rig, dag);
    CHECK(!tg_core_help(rig.engine, &rig.engine->worker[tg_engine_orchestrator(rig.engine)], &never,
                        1));
    rig_wait(&rig);
    dag_check_all_ran(dag);
    rig_close(&rig);
    free(dag);
}

TEST_MAIN()
