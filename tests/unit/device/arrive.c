/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of communication that are done, and who is woken for them. No thread runs here. */
#include "device/comm.h"
#include "device/role.h"
#include "device/worker.h"
#include "rig.h"

enum { CORES = TG_PARTS, FIRST_CALL = 7, CALL = 0, AFTER = 1, ELSEWHERE = 2, TASKS = 3 };

static struct tg_worker_status status[CORES + 1];

/* A device whose cores sleep, and whose task CALL was posted. AFTER waits for it. */
struct scene {
    struct dag *dag;
    struct tg_engine *e;
    struct tg_comm_setup setup;
    struct tg_comm_note notes[TASKS];
};

static void open_scene(struct scene *s, uint32_t ranks)
{
    uint64_t size = (tg_engine_size(1, 0) + TG_LINE - 1) / TG_LINE * TG_LINE;
    void *memory = aligned_alloc(TG_LINE, size);
    REQUIRE(memory != NULL);
    memset(memory, 0, size);
    *s = (struct scene){.dag = dag_new()};
    s->setup = (struct tg_comm_setup){
        .notes = (uint64_t)(uintptr_t)s->notes, .first_kernel = FIRST_CALL, .ranks = ranks};
    for (uint32_t task = 0; task < TASKS; task++)
        dag_add(s->dag, DAG_EITHER, NULL, 0);
    dag_edge(s->dag, CALL, AFTER);
    dag_edge(s->dag, ELSEWHERE, AFTER);
    s->dag->desc[CALL].kernel[TG_PART_AIV0] = FIRST_CALL + TG_COMM_SEND;
    dag_seal(s->dag);
    s->dag->launch.n_ready[TG_CLASS_EITHER] = 0; /* CALL and ELSEWHERE are under way */
    s->dag->launch.comm = (uint64_t)(uintptr_t)&s->setup;
    s->e = tg_engine_init(memory, CORES, 0, status);
    s->e->n_cpus = CORES;
    tg_engine_prepare(s->e, &s->dag->launch, dag_kernels_, NULL, "");
    s->notes[CALL].state = TG_COMM_POSTED;
    s->e->posted = 1;
    s->e->awake = 0;
    for (uint32_t i = 0; i < s->e->n_lanes; i++) {
        s->e->worker[i].hold = tg_hold_word(i, TG_HOLD_ASLEEP);
        s->e->worker[i].park = TG_PARKED;
        tg_worker_say_asleep(s->e, &s->e->worker[i], s->e->worker[i].takes);
    }
}

static void close_scene(struct scene *s)
{
    free(s->e);
    free(s->dag);
}

static uint32_t count_woken(const struct scene *s)
{
    uint32_t woken = 0;
    for (uint32_t i = 0; i < s->e->n_lanes; i++)
        woken += !tg_role_sleeps(&s->e->worker[i]);
    return woken;
}

TEST(who_hears_of_a_call_and_completes_it_wakes_no_core)
{
    struct scene s;
    open_scene(&s, 2);
    tg_comm_arrive(s.e, tg_comm_ear(s.e, 0), CALL, true);
    CHECK_EQ_U(s.notes[CALL].state, TG_COMM_NEW);
    CHECK_EQ_U(s.dag->desc[AFTER].pending, 1);
    CHECK_EQ_U(count_woken(&s), 0);
    close_scene(&s);
}

TEST(a_core_is_woken_for_a_call_that_nobody_else_takes)
{
    struct scene s;
    open_scene(&s, 2);
    tg_comm_arrive(s.e, tg_comm_ear(s.e, 0), CALL, false);
    CHECK_EQ_U(s.notes[CALL].state, TG_COMM_ARRIVED);
    CHECK_EQ_U(count_woken(&s), 1);
    close_scene(&s);
}

/* The threads that move messages would have to wait for its CPU. */
TEST(a_core_that_shares_its_cpu_with_ranks_does_not_spin)
{
    struct scene s;
    open_scene(&s, 2);
    CHECK_EQ_U(s.e->patience.spin, 0);
    s.e->n_cpus = 64;
    tg_engine_prepare(s.e, &s.dag->launch, dag_kernels_, NULL, "");
    CHECK(s.e->patience.spin > 0);
    s.dag->launch.comm = 0;
    s.e->n_cpus = CORES;
    tg_engine_prepare(s.e, &s.dag->launch, dag_kernels_, NULL, "");
    CHECK(s.e->patience.spin > 0);
    close_scene(&s);
}

TEST_MAIN()
