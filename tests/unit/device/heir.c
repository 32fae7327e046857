/* SPDX-License-Identifier: Apache-2.0 */
/* Cores that wait at a task that is not ready, as on a GPU (device/heir.h). One thread plays all cores. */
#include "polling.h"

enum { BLOCKS = 2, CORES = BLOCKS * TG_PARTS, FIRST = TG_PART_AIV0, SECOND = TG_PART_AIV1 };

static struct tg_worker_status status[CORES + 1 + TG_COMM_EARS];

/* Two tasks, and two that both wait for both of them. */
struct scene {
    struct dag *dag;
    struct tg_engine *e;
    struct tg_worker *first, *second; /* cores of the kind */
    uint32_t left, right, heir, other;
};

static struct tg_engine *open_engine(void)
{
    uint64_t size = (tg_engine_size(BLOCKS, 0) + TG_LINE - 1) / TG_LINE * TG_LINE;
    void *memory = aligned_alloc(TG_LINE, size);
    struct tg_engine *e;
    REQUIRE(memory != NULL);
    memset(memory, 0, size);
    e = tg_engine_init(memory, CORES, 0, status);
    e->always_shares = true;
    e->patience.spin = 1;
    return e;
}

static struct scene open_scene(void)
{
    struct scene s = {.dag = dag_new(), .e = open_engine()};
    s.left = dag_add(s.dag, DAG_AIV, NULL, 0);
    s.right = dag_add(s.dag, DAG_AIV, NULL, 0);
    s.heir = dag_add(s.dag, DAG_AIV, NULL, 0);
    s.other = dag_add(s.dag, DAG_AIV, NULL, 0);
    dag_edge(s.dag, s.left, s.heir);
    dag_edge(s.dag, s.left, s.other);
    dag_edge(s.dag, s.right, s.heir);
    dag_edge(s.dag, s.right, s.other);
    dag_seal(s.dag);
    s.dag->desc[s.left].next = s.heir;
    s.dag->desc[s.right].next = s.other;
    tg_engine_prepare(s.e, &s.dag->launch, dag_kernels_, NULL, "");
    s.first = &s.e->worker[FIRST];
    s.second = &s.e->worker[SECOND];
    s.first->claims = s.second->claims = 1;
    tg_queue_pop(&s.e->queue[TG_CLASS_AIV], 1, 1, NULL);
    tg_queue_pop(&s.e->queue[TG_CLASS_AIV], 1, 1, NULL);
    return s;
}

static void close_scene(struct scene *s)
{
    free(s->e);
    free(s->dag);
}

/* What tg_worker_complete does before it waits. */
static uint32_t release(const struct scene *s, struct tg_worker *w, uint32_t task,
                        enum tg_keep keep)
{
    return tg_target_walk(s->e, w, TG_WALK_RELEASE, task, keep, 0);
}

static bool is_as_at_first(const struct scene *s, uint32_t task)
{
    return s->dag->desc[task].pending == s->dag->desc[task].fanin;
}

TEST(each_core_goes_on_with_its_own_heir)
{
    struct scene s = open_scene();
    CHECK_EQ_U(release(&s, s.first, s.left, TG_KEEP_OR_CLAIM), s.heir | TG_HEIR_CLAIMED);
    CHECK_EQ_U(tg_worker_complete(s.e, s.second, s.right, true), s.other);
    CHECK(!tg_queue_occupied(&s.e->queue[TG_CLASS_AIV])); /* the heir is not offered */
    CHECK_EQ_U(tg_heir_wait(s.e, s.first, s.heir), s.heir);
    CHECK(is_as_at_first(&s, s.heir));
    CHECK(is_as_at_first(&s, s.other));
    close_scene(&s);
}

TEST(only_the_first_to_claim_has_the_task)
{
    struct scene s = open_scene();
    s.dag->desc[s.right].next = s.heir;
    s.dag->desc[s.heir].fanin = s.dag->desc[s.heir].pending = 3; /* one more, which does not come */
    CHECK_EQ_U(release(&s, s.first, s.left, TG_KEEP_OR_CLAIM), s.heir | TG_HEIR_CLAIMED);
    s.dag->desc[s.other].fanin = s.dag->desc[s.other].pending = 3;
    CHECK_EQ_U(release(&s, s.second, s.right, TG_KEEP_OR_CLAIM), TG_NO_TASK);
    close_scene(&s);
}

TEST(a_core_leaves_its_heir_for_a_task_in_the_queue)
{
    struct scene s = open_scene();
    uint32_t heir = release(&s, s.first, s.left, TG_KEEP_OR_CLAIM) & ~TG_HEIR_CLAIMED;
    tg_queue_push(&s.e->queue[TG_CLASS_AIV], s.left);
    CHECK_EQ_U(heir, s.heir);
    CHECK_EQ_U(tg_heir_wait(s.e, s.first, heir), TG_NO_TASK);
    CHECK_EQ_U(s.dag->desc[heir].pending, 1);
    /* Now the heir is as if nobody had claimed it: the last predecessor's core has it. */
    s.dag->desc[s.right].next = s.heir;
    CHECK_EQ_U(release(&s, s.second, s.right, TG_KEEP), s.heir);
    CHECK(is_as_at_first(&s, s.heir));
    close_scene(&s);
}

TEST(a_core_leaves_its_heir_for_a_task_in_its_own_deque)
{
    struct scene s = open_scene();
    uint32_t heir = release(&s, s.first, s.left, TG_KEEP_OR_CLAIM) & ~TG_HEIR_CLAIMED;
    CHECK(tg_deque_push(&s.first->deque[TG_CLASS_AIV], s.left));
    CHECK_EQ_U(tg_heir_wait(s.e, s.first, heir), TG_NO_TASK);
    CHECK_EQ_U(s.first->status->running, 0);
    close_scene(&s);
}

TEST(a_core_leaves_its_heir_for_mail_and_for_the_end_of_the_run)
{
    for (uint32_t why = 0; why < 2; why++) {
        struct scene s = open_scene();
        uint32_t heir = release(&s, s.first, s.left, TG_KEEP_OR_CLAIM) & ~TG_HEIR_CLAIMED;
        if (why == 0)
            s.first->mail = 1;
        else
            tg_engine_stop(s.e);
        CHECK_EQ_U(tg_heir_wait(s.e, s.first, heir), TG_NO_TASK);
        CHECK_EQ_U(status[FIRST].running, 0); /* the task before is not blamed for a hang */
        close_scene(&s);
    }
}

/* It keeps another task that became ready, and the heir is anybody's. */
TEST(a_core_that_goes_on_with_another_task_gives_its_claim_up)
{
    struct scene s = open_scene();
    s.dag->desc[s.heir].fanin = s.dag->desc[s.heir].pending = 3;
    CHECK_EQ_U(release(&s, s.first, s.left, TG_KEEP_NONE), TG_NO_TASK);
    s.dag->desc[s.right].next = s.heir;
    CHECK_EQ_U(release(&s, s.second, s.right, TG_KEEP_OR_CLAIM), s.other);
    CHECK_EQ_U(s.dag->desc[s.heir].pending, 1);
    close_scene(&s);
}

TEST(a_task_with_more_predecessors_than_can_be_counted_is_not_claimed)
{
    struct scene s = open_scene();
    s.dag->desc[s.heir].fanin = s.dag->desc[s.heir].pending = TG_HEIR_MOST + 1;
    s.dag->desc[s.other].fanin = s.dag->desc[s.other].pending = 3;
    CHECK_EQ_U(release(&s, s.first, s.left, TG_KEEP_OR_CLAIM), TG_NO_TASK);
    CHECK_EQ_U(s.dag->desc[s.heir].pending, TG_HEIR_MOST);
    s.dag->desc[s.heir].fanin = s.dag->desc[s.heir].pending = TG_HEIR_MOST;
    s.dag->desc[s.right].next = s.heir;
    CHECK_EQ_U(release(&s, s.second, s.right, TG_KEEP_OR_CLAIM), s.heir | TG_HEIR_CLAIMED);
    close_scene(&s);
}

/* Two tasks meet in one, and part again: a core waits at a task that has one predecessor. */
struct meeting {
    struct scene scene;
    uint32_t join, own, beyond;
};

static struct meeting open_meeting(void)
{
    struct meeting m = {.scene = {.dag = dag_new(), .e = open_engine()}};
    struct scene *s = &m.scene;
    s->left = dag_add(s->dag, DAG_AIV, NULL, 0);
    s->right = dag_add(s->dag, DAG_AIV, NULL, 0);
    m.join = dag_add(s->dag, DAG_AIV, NULL, 0);
    m.own = dag_add(s->dag, DAG_AIV, NULL, 0);
    m.beyond = dag_add(s->dag, DAG_AIV, NULL, 0);
    dag_edge(s->dag, s->left, m.join);
    dag_edge(s->dag, s->right, m.join);
    dag_edge(s->dag, m.join, m.own);
    dag_edge(s->dag, m.join, m.beyond);
    dag_seal(s->dag);
    s->dag->desc[s->right].next = m.beyond;
    s->dag->desc[s->right].n_parts |= TG_DESC_BEYOND;
    s->dag->desc[m.join].next = m.own;
    s->dag->desc[m.beyond].n_parts |= TG_DESC_AWAITED;
    tg_engine_prepare(s->e, &s->dag->launch, dag_kernels_, NULL, "");
    s->first = &s->e->worker[FIRST];
    s->second = &s->e->worker[SECOND];
    s->first->claims = s->second->claims = 1;
    return m;
}

TEST(a_core_may_wait_beyond_the_task_where_others_meet)
{
    struct meeting m = open_meeting();
    struct scene *s = &m.scene;
    struct tg_task_desc *beyond = &s->dag->desc[m.beyond];
    CHECK(tg_heir_claim_beyond(beyond) < TG_HEIR_CLAIM);
    CHECK(tg_heir_claim_beyond(beyond) >= TG_HEIR_CLAIM); /* it has one already */
    CHECK_EQ_U(release(s, s->second, s->right, TG_KEEP_OR_CLAIM), TG_NO_TASK);
    CHECK_EQ_U(release(s, s->first, s->left, TG_KEEP_OR_CLAIM), m.join);
    CHECK_EQ_U(release(s, s->first, m.join, TG_KEEP_OR_CLAIM), m.own);
    CHECK_EQ_U(tg_heir_wait(s->e, s->second, m.beyond), m.beyond);
    CHECK(is_as_at_first(s, m.beyond));
    CHECK(is_as_at_first(s, m.join));
    CHECK(is_as_at_first(s, m.own));
    close_scene(s);
}

TEST(an_heir_beyond_that_is_left_is_anybodys)
{
    struct meeting m = open_meeting();
    struct scene *s = &m.scene;
    (void)tg_heir_claim_beyond(&s->dag->desc[m.beyond]);
    CHECK_EQ_U(release(s, s->second, s->right, TG_KEEP_OR_CLAIM), TG_NO_TASK);
    s->second->mail = 1;
    CHECK_EQ_U(tg_heir_wait(s->e, s->second, m.beyond), TG_NO_TASK);
    s->second->mail = 0;
    CHECK_EQ_U(release(s, s->first, s->left, TG_KEEP), m.join);
    while (tg_queue_pop(&s->e->queue[TG_CLASS_AIV], 1, 1, NULL) != TG_NO_TASK)
        ; /* left and right */
    CHECK_EQ_U(release(s, s->first, m.join, TG_KEEP), m.own);
    CHECK_EQ_U(tg_queue_pop(&s->e->queue[TG_CLASS_AIV], 1, 1, NULL), m.beyond);
    CHECK(is_as_at_first(s, m.beyond));
    close_scene(s);
}

TEST_MAIN()
