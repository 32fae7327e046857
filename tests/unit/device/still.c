/* SPDX-License-Identifier: Apache-2.0 */
/* Whether anything can still complete: what the proof of a deadlock rests on. No thread runs here. */
#include "device/role.h"
#include "device/worker.h"
#include "rig.h"

enum { CORES = TG_PARTS };

static struct tg_worker_status status[CORES + 1];

/* All workers of the engine have said that they sleep. */
static struct tg_engine *open_asleep(struct dag *dag)
{
    uint64_t size = (tg_engine_size(1, 0) + TG_LINE - 1) / TG_LINE * TG_LINE;
    void *memory = aligned_alloc(TG_LINE, size);
    struct tg_engine *e;
    REQUIRE(memory != NULL);
    memset(memory, 0, size);
    e = tg_engine_init(memory, CORES, 0, status);
    dag_seal(dag);
    tg_engine_prepare(e, &dag->launch, dag_kernels_, NULL, "");
    for (uint32_t i = 0; i < e->n_lanes; i++)
        e->worker[i].hold = tg_hold_word(i, TG_HOLD_ASLEEP);
    return e;
}

TEST(a_device_whose_workers_sleep_is_still_until_there_is_a_task)
{
    struct dag *dag = dag_new();
    struct tg_engine *e = open_asleep(dag);
    CHECK(tg_worker_all_still(e));
    CHECK(tg_deque_push(&e->worker[tg_engine_orchestrator(e)].deque[TG_CLASS_AIV], 0));
    CHECK(!tg_worker_all_still(e));
    free(e);
    free(dag);
}

/* Nobody else knows of it, but its task is ready once more when another rank has done its part. */
TEST(a_device_that_waits_for_another_rank_is_not_still)
{
    struct dag *dag = dag_new();
    struct tg_engine *e = open_asleep(dag);
    e->posted = 1;
    CHECK(!tg_worker_all_still(e));
    e->arrived = 1;
    CHECK(tg_worker_all_still(e));
    free(e);
    free(dag);
}

TEST_MAIN()
