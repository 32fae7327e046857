/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: the bag gives out every task once, and on one core in the order that the rule says. The orders
 * are compared with a model that knows nothing of heaps, locks or threads. */
#include "rig.h"

#include <taskglass/wire/schedule.h>

enum { PAIRS = 24 };

/* A schedule in the test's memory, as the host lays it out in the device's. */
struct plan {
    struct tg_schedule_setup setup;
    struct tg_order_pair pair[PAIRS];
    uint32_t by_before[PAIRS], held[PAIRS];
    uint64_t start[DAG_TASKS];
};

static void plan_policy(struct plan *plan, uint32_t policy, uint64_t seed)
{
    memset(plan, 0, sizeof *plan);
    plan->setup.magic = TG_SCHEDULE_MAGIC;
    plan->setup.policy = policy;
    plan->setup.seed = seed;
    plan->setup.pairs = (uint64_t)(uintptr_t)plan->pair;
    plan->setup.by_before = (uint64_t)(uintptr_t)plan->by_before;
    plan->setup.held = (uint64_t)(uintptr_t)plan->held;
    plan->setup.starts = (uint64_t)(uintptr_t)plan->start;
    plan->setup.n_starts = DAG_TASKS;
}

static int by_after(const void *a, const void *b)
{
    const struct tg_order_pair *x = a, *y = b;
    uint64_t p = x->after << 32 | x->before, q = y->after << 32 | y->before;
    return (p > q) - (p < q);
}

/* Random pairs, each once, among the tasks and a few that do not exist. */
static void plan_pairs(struct plan *plan, uint32_t *seed, uint32_t n, uint32_t tasks)
{
    uint32_t kept = 0;
    plan_policy(plan, TG_SCHEDULE_ORDER, 0);
    for (uint32_t i = 0; i < n; i++) {
        plan->pair[kept].before = stress_random(seed, tasks + 2);
        plan->pair[kept].after = stress_random(seed, tasks);
        kept += plan->pair[kept].before != plan->pair[kept].after;
    }
    qsort(plan->pair, kept, sizeof plan->pair[0], by_after);
    n = 0;
    for (uint32_t i = 0; i < kept; i++)
        if (n == 0 || by_after(&plan->pair[n - 1], &plan->pair[i]) != 0)
            plan->pair[n++] = plan->pair[i];
    plan->setup.n_pairs = n;
    for (uint32_t i = 0; i < n; i++) { /* insertion sort */
        uint32_t at = i;
        for (; at > 0 && plan->pair[plan->by_before[at - 1]].before > plan->pair[i].before; at--)
            plan->by_before[at] = plan->by_before[at - 1];
        plan->by_before[at] = i;
    }
}

static void plan_again(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->setup.n_pairs; i++)
        plan->pair[i].state = plan->pair[i].held = plan->pair[i].place = 0;
}

static void build_random(struct dag *dag, uint32_t *seed, uint32_t tasks)
{
    static const uint32_t parts[] = {DAG_AIC, DAG_AIV, DAG_EITHER, DAG_AIC | DAG_AIV, DAG_FULL};
    for (uint32_t t = 0; t < tasks; t++) {
        uint32_t kind = stress_random(seed, 5), preds = t == 0 ? 0 : stress_random(seed, 3);
        dag_add(dag, parts[kind], kind < 3 ? body_dawdle : body_mix, stress_random(seed, 30));
        for (uint32_t i = 0; i < preds; i++)
            dag_edge(dag, t - 1 - stress_random(seed, t < 12 ? t : 12), t);
    }
    dag_seal(dag);
}

static void run(struct rig *rig, struct dag *dag, struct plan *plan)
{
    plan_again(plan);
    dag->launch.schedule = (uint64_t)(uintptr_t)&plan->setup;
    rig_run(rig, dag);
    CHECK_EQ_U(plan->setup.choices, dag->n_tasks);
    CHECK_EQ_U(plan->setup.serial, rig->engine->n_cores == 1);
}

/* ── the model ─────────────────────────────────────────────────────────────────────────── */

struct model {
    const struct dag *dag;
    const struct plan *plan;
    bool done[DAG_TASKS], broken[PAIRS];
    uint32_t n_broken;
};

static bool is_ready(const struct model *m, uint32_t task)
{
    if (m->done[task])
        return false;
    for (uint32_t i = 0; i < m->dag->n_edges; i++)
        if (m->dag->after[i] == task && !m->done[m->dag->before[i]])
            return false;
    return true;
}

static bool is_held(const struct model *m, uint32_t task)
{
    for (uint32_t i = 0; i < m->plan->setup.n_pairs; i++) {
        const struct tg_order_pair *pair = &m->plan->pair[i];
        bool met = pair->before < m->dag->n_tasks && m->done[pair->before];
        if (pair->after == task && !met && !m->broken[i])
            return true;
    }
    return false;
}

/* The first or last ready task that is not held back; if all are, the first, whose pairs break. */
static uint32_t next_of(struct model *m)
{
    uint32_t first = DAG_TASKS, free_task = DAG_TASKS;
    for (uint32_t t = 0; t < m->dag->n_tasks; t++) {
        if (!is_ready(m, t))
            continue;
        first = first == DAG_TASKS ? t : first;
        if (!is_held(m, t) && (free_task == DAG_TASKS || m->plan->setup.policy == TG_SCHEDULE_LIFO))
            free_task = t;
    }
    if (free_task != DAG_TASKS)
        return free_task;
    for (uint32_t i = 0; i < m->plan->setup.n_pairs; i++) {
        const struct tg_order_pair *pair = &m->plan->pair[i];
        bool met = pair->before < m->dag->n_tasks && m->done[pair->before];
        if (pair->after == first && !met && !m->broken[i])
            m->broken[i] = true, m->n_broken++;
    }
    return first;
}

static void check_with_model(const struct dag *dag, const struct plan *plan)
{
    struct model m = {.dag = dag, .plan = plan};
    for (uint32_t i = 0; i < dag->n_tasks; i++) {
        uint32_t task = next_of(&m);
        if (!CHECK_EQ_U(plan->start[i], task))
            return;
        m.done[task] = true;
    }
    CHECK_EQ_U(plan->setup.broken, m.n_broken);
}

TEST(on_one_core_fifo_and_lifo_and_pairs_give_the_order_of_the_model)
{
    struct plan *plan = calloc(1, sizeof *plan);
    uint32_t seed = 5;
    for (uint32_t schedulers = 0; schedulers <= 1; schedulers++) {
        struct rig rig;
        rig_open(&rig, 1, schedulers, 0);
        for (uint32_t g = 0; g < 40; g++) {
            struct dag *dag = dag_new();
            build_random(dag, &seed, 1 + stress_random(&seed, 60));
            stress_watch("graph %u on one core, %u schedulers", g, schedulers);
            for (uint32_t policy = TG_SCHEDULE_FIFO; policy <= TG_SCHEDULE_LIFO; policy++) {
                plan_policy(plan, policy, 0);
                run(&rig, dag, plan);
                check_with_model(dag, plan);
            }
            for (uint32_t i = 0; i < 3; i++) {
                plan_pairs(plan, &seed, 1 + stress_random(&seed, PAIRS - 1), dag->n_tasks);
                run(&rig, dag, plan);
                check_with_model(dag, plan);
            }
            free(dag);
        }
        rig_close(&rig);
    }
    free(plan);
}

/* ── seeds ─────────────────────────────────────────────────────────────────────────────── */

TEST(on_one_core_a_seed_gives_one_order_and_other_seeds_give_others)
{
    struct plan *plan = calloc(1, sizeof *plan), *again = calloc(1, sizeof *again);
    struct dag *dag = dag_new();
    uint32_t seed = 77;
    struct rig rig;
    build_random(dag, &seed, 60);
    rig_open(&rig, 1, 0, 20);
    for (uint32_t policy = TG_SCHEDULE_RANDOM; policy <= TG_SCHEDULE_ADVERSARIAL; policy++) {
        uint64_t last[DAG_TASKS] = {0};
        uint32_t others = 0;
        stress_watch("policy %u on one core", policy);
        for (uint32_t s = 0; s < 10; s++) {
            plan_policy(plan, policy, s);
            run(&rig, dag, plan);
            for (uint32_t i = 0; i < 20; i++) {
                plan_policy(again, policy, s);
                run(&rig, dag, again);
                CHECK(memcmp(plan->start, again->start, sizeof plan->start) == 0);
            }
            others += s > 0 && memcmp(plan->start, last, sizeof last) != 0;
            memcpy(last, plan->start, sizeof last);
        }
        CHECK_EQ_U(others, 9);
    }
    rig_close(&rig);
    free(dag);
    free(plan);
    free(again);
}

/* ── several cores ─────────────────────────────────────────────────────────────────────── */

static void run_policies(uint32_t cores, uint32_t schedulers, struct plan *plan)
{
    uint32_t seed = 1000 * cores + schedulers + 3;
    struct rig rig;
    rig_open(&rig, cores, schedulers, stress_random(&seed, 2) * 100);
    for (uint32_t g = 0; g < 3; g++) {
        struct dag *dag = dag_new();
        build_random(dag, &seed, 1 + stress_random(&seed, 100));
        for (uint32_t policy = TG_SCHEDULE_FIFO; policy < TG_SCHEDULE_POLICIES; policy++) {
            stress_watch("policy %u on %u cores, %u schedulers", policy, cores, schedulers);
            if (policy == TG_SCHEDULE_ORDER)
                plan_pairs(plan, &seed, PAIRS, dag->n_tasks);
            else
                plan_policy(plan, policy, g);
            run(&rig, dag, plan);
        }
        dag->launch.schedule = 0; /* and a run without a schedule finds everything as before */
        rig_run(&rig, dag);
        free(dag);
    }
    rig_close(&rig);
}

TEST(every_policy_runs_each_task_once_and_in_order_on_any_engine)
{
    struct plan *plan = calloc(1, sizeof *plan);
    for (uint32_t cores = 1; cores <= 7; cores++)
        for (uint32_t schedulers = 0; schedulers <= 3; schedulers++)
            run_policies(cores, schedulers, plan);
    free(plan);
}

/* Checks inside a kernel: the task of the pair that must come first has ended. */
static void body_after(struct dag *dag, struct node *node, const struct tg_ctx *ctx)
{
    (void)ctx;
    if (node->arg < dag->n_tasks)
        CHECK_EQ_U(dag->node[node->arg].ended[TG_PART_AIV0], 1);
    stress_dawdle(7);
}

TEST(the_pairs_hold_on_several_cores)
{
    struct plan *plan = calloc(1, sizeof *plan);
    struct dag *dag = dag_new();
    enum { TASKS = 100 };
    for (uint32_t t = 0; t < TASKS; t++) /* task t of the first half waits for one of the second */
        dag_add(dag, DAG_AIV, body_after, t < PAIRS ? TASKS - 1 - t : UINT32_MAX);
    dag_seal(dag);
    plan_policy(plan, TG_SCHEDULE_ORDER, 0);
    for (uint32_t i = 0; i < PAIRS; i++) {
        plan->pair[i].after = i;
        plan->pair[i].before = TASKS - 1 - i;
        plan->by_before[i] = PAIRS - 1 - i;
    }
    plan->setup.n_pairs = PAIRS;
    for (uint32_t cores = 2; cores <= 6; cores += 2)
        for (uint32_t schedulers = 0; schedulers <= 2; schedulers++) {
            struct rig rig;
            rig_open(&rig, cores, schedulers, 0);
            stress_watch("pairs on %u cores, %u schedulers", cores, schedulers);
            for (uint32_t i = 0; i < 5; i++) {
                run(&rig, dag, plan);
                CHECK_EQ_U(plan->setup.broken, 0);
            }
            rig_close(&rig);
        }
    free(dag);
    free(plan);
}

TEST(a_run_with_a_schedule_stops_at_any_moment_and_the_next_is_clean)
{
    struct plan *plan = calloc(1, sizeof *plan);
    struct dag *dag = dag_new();
    uint32_t seed = 99;
    build_random(dag, &seed, 80);
    for (uint32_t cores = 1; cores <= 5; cores += 2)
        for (uint32_t schedulers = 0; schedulers <= 1; schedulers++) {
            struct rig rig;
            rig_open(&rig, cores, schedulers, 0);
            for (uint32_t i = 0; i < 20; i++) {
                stress_watch("stop %u on %u cores, %u schedulers", i, cores, schedulers);
                plan_policy(plan, TG_SCHEDULE_FIFO + i % 4, i);
                dag->launch.schedule = (uint64_t)(uintptr_t)&plan->setup;
                dag_rewind(dag);
                rig_launch(&rig, dag);
                for (uint32_t k = stress_random(&seed, 40); k > 0; k--)
                    stress_dawdle(7);
                __atomic_store_n(&dag->stopping, 1, __ATOMIC_SEQ_CST);
                tg_engine_stop(rig.engine);
                rig_wait(&rig);
                dag_check_some_ran(dag, rig_finished(&rig));
                dag_restore(dag);
            }
            run(&rig, dag, plan);
            rig_close(&rig);
        }
    free(dag);
    free(plan);
}

TEST_MAIN()
