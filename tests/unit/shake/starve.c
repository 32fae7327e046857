/* SPDX-License-Identifier: Apache-2.0 */
/* Orders in which tasks starve. */
#include "test.h"

#include "model.h"
#include "shake/starve.h"

static struct model m;

/* 0 -> 1 -> 2 -> 3, and 4, 5, 6 that wait for nothing; 6 -> 7. */
static void build(void)
{
    memset(&m, 0, sizeof m);
    for (uint32_t t = 0; t < 8; t++)
        model_add(&m, t == 7 || (t > 0 && t < 4), &(uint32_t){t - 1});
}

TEST(a_starved_task_runs_after_all_that_do_not_wait_for_it)
{
    uint8_t reached[8];
    struct tg_order c;
    build();
    struct tg_order_graph graph = model_graph(&m);
    REQUIRE(tg_starve_task(&graph, 1, reached, &c));
    model_run(&m, &c, 1);
    CHECK_EQ_U(m.place[1], 5);
    CHECK_EQ_U(m.place[2], 6);
    REQUIRE(tg_starve_task(&graph, 4, reached, &c));
    model_run(&m, &c, 1);
    CHECK_EQ_U(m.place[4], 7);
}

TEST(a_task_that_only_its_successors_follow_cannot_be_starved)
{
    uint8_t reached[8];
    struct tg_order c;
    build();
    struct tg_order_graph graph = model_graph(&m);
    CHECK(!tg_starve_task(&graph, 6, reached, &c));
    CHECK(!tg_starve_task(&graph, 7, reached, &c));
}

/* Whether the graph allows the order. */
static bool is_allowed(const uint32_t *order)
{
    uint32_t place[MODEL_TASKS];
    tg_order_places(order, m.n, place);
    for (uint32_t t = 0; t < m.n; t++)
        for (uint64_t e = m.start[t]; e < m.start[t + 1]; e++)
            if (place[m.before[e]] >= place[t])
                return false;
    return true;
}

TEST(orders_by_paths_are_orders_that_the_graph_allows)
{
    uint32_t order[8];
    build();
    struct tg_order_graph graph = model_graph(&m);
    for (int kind = 0; kind < TG_STARVE_KINDS; kind++) {
        REQUIRE(tg_starve_graph(&graph, (enum tg_starve_kind)kind, order));
        CHECK(is_allowed(order));
    }
}

TEST(a_task_that_nothing_depends_on_comes_last)
{
    uint32_t order[8], place[8];
    build();
    struct tg_order_graph graph = model_graph(&m);
    REQUIRE(tg_starve_graph(&graph, TG_STARVE_SHORT_IN_TURN, order));
    tg_order_places(order, 8, place);
    CHECK_EQ_U(order[0], 0);
    CHECK(place[6] < place[3] && place[6] < place[4] && place[6] < place[5]);
    CHECK(place[4] < place[5]);
    REQUIRE(tg_starve_graph(&graph, TG_STARVE_SHORT, order));
    tg_order_places(order, 8, place);
    CHECK(place[5] < place[4]);
}

/* 0 -> 1 -> 2 reads for a side result; 0 -> 3 -> ... -> 7 is the long path, whose end nothing waits for. */
TEST(a_side_branch_waits_for_the_ends_of_the_longest_paths)
{
    uint32_t order[8], place[8];
    memset(&m, 0, sizeof m);
    model_add(&m, 0, NULL);
    for (uint32_t t = 1; t < 8; t++)
        model_add(&m, 1, &(uint32_t){t == 3 ? 0 : t - 1});
    struct tg_order_graph graph = model_graph(&m);
    REQUIRE(tg_starve_graph(&graph, TG_STARVE_SIDE, order));
    tg_order_places(order, 8, place);
    CHECK(is_allowed(order));
    CHECK(place[7] < place[1] && place[1] < place[2]);
    REQUIRE(tg_starve_sides(&graph, order));
    CHECK(order[0] == 1 && order[1] == 2 && order[2] == 0);
}

TEST(an_edge_to_an_earlier_number_is_kept)
{
    uint32_t order[3];
    memset(&m, 0, sizeof m);
    model_add(&m, 1, (uint32_t[]){1});
    model_add(&m, 1, (uint32_t[]){2});
    model_add(&m, 0, NULL);
    struct tg_order_graph graph = model_graph(&m);
    for (int kind = 0; kind < TG_STARVE_KINDS; kind++) {
        REQUIRE(tg_starve_graph(&graph, (enum tg_starve_kind)kind, order));
        CHECK(order[0] == 2 && order[1] == 1 && order[2] == 0);
    }
}

TEST(a_cycle_has_no_order)
{
    uint32_t order[2];
    memset(&m, 0, sizeof m);
    model_add(&m, 1, (uint32_t[]){1});
    model_add(&m, 1, (uint32_t[]){0});
    struct tg_order_graph graph = model_graph(&m);
    CHECK(!tg_starve_graph(&graph, TG_STARVE_SHORT, order));
}

TEST_MAIN()
