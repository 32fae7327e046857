/* SPDX-License-Identifier: Apache-2.0 */
/* A core that stands in line, as on a GPU: core.c and queue.c are compiled for such a target here. */
#include "rig.h"
#include "device/target.h"

/* How often a core in line may look in vain before a test says that it would do so for ever. */
enum { MOST_LOOKS = 10000 };
static uint32_t looks;

static void look_again(void)
{
    REQUIRE(++looks < MOST_LOOKS);
}

#undef TG_TARGET_LINES_UP
#undef TG_TARGET_FILLS_QUEUES
#define TG_TARGET_LINES_UP 1
#define TG_TARGET_FILLS_QUEUES 1
#define tg_target_yield look_again
#include "device/core.c"
#include "device/queue.c"

/* Two blocks, so that there are two cores of each kind. */
enum { CORES = 2 * TG_PARTS, STEAL_EVERY = 16, SLOTS = DAG_TASKS };

static struct tg_worker_status status[CORES + 1];

static struct tg_engine *open_engine(void)
{
    uint64_t size = (tg_engine_size(2, 0) + TG_LINE - 1) / TG_LINE * TG_LINE;
    void *memory = aligned_alloc(TG_LINE, size);
    struct tg_engine *e;
    REQUIRE(memory != NULL);
    memset(memory, 0, size);
    e = tg_engine_init(memory, CORES, 0, status);
    e->steal_every = STEAL_EVERY;
    e->always_shares = true;
    return e;
}

/* Another core, which has much to do, has a task in its deque. */
TEST(a_core_that_leaves_the_line_for_a_task_in_a_deque_takes_it)
{
    struct dag *dag = dag_new();
    struct tg_engine *e = open_engine();
    uint32_t task = dag_add(dag, DAG_AIC, NULL, 0);
    dag_seal(dag);
    dag->launch.queue_size[TG_CLASS_AIC] = SLOTS; /* room for a line */
    dag->launch.queue_size[TG_CLASS_EITHER] = 0;  /* cores wait for one class alone */
    tg_engine_prepare(e, &dag->launch, dag_kernels_, NULL, "");
    CHECK_EQ_U(tg_queue_pop(&e->queue[TG_CLASS_AIC], 1, 1, NULL), task);
    CHECK(tg_deque_push(&e->worker[TG_PARTS].deque[TG_CLASS_AIC], task));
    looks = 0;
    tg_core_loop_self(e, &e->worker[0]);
    CHECK_EQ_U(e->phase, TG_OVER);
    CHECK_EQ_U(dag->node[task].runs[TG_PART_AIC], 1);
    free(e);
    free(dag);
}

TEST_MAIN()
