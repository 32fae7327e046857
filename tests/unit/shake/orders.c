/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of tasks as constraints on top of fifo. */
#include "test.h"

#include "model.h"

static void random_graph(struct model *m, uint32_t n, unsigned seed)
{
    memset(m, 0, sizeof *m);
    for (uint32_t t = 0; t < n; t++) {
        uint32_t before[3], count = 0;
        for (int i = 0; i < 3 && t > 0; i++) {
            seed = seed * 1664525u + 1013904223u;
            if ((seed >> 20) % 2)
                before[count++] = (seed >> 8) % t;
        }
        model_add(m, count, before);
    }
}

TEST(one_constraint_for_each_late_task_makes_any_order_that_the_graph_allows)
{
    static struct model m;
    for (unsigned seed = 1; seed <= 200; seed++) {
        uint32_t order[40], stack[40];
        struct tg_order c[40];
        random_graph(&m, 40, seed);
        model_shuffle(&m, seed * 7);
        memcpy(order, m.order, sizeof order);
        uint32_t n = tg_order_constrain(order, 40, stack, c);
        CHECK(n < 40);
        model_run(&m, c, n);
        CHECK(memcmp(order, m.order, sizeof order) == 0);
    }
}

TEST(fifo_needs_no_constraint)
{
    uint32_t order[5] = {0, 1, 2, 3, 4}, stack[5];
    struct tg_order c[5];
    CHECK_EQ_U(tg_order_constrain(order, 5, stack, c), 0);
}

TEST(the_reverse_needs_one_for_each_task_but_the_first)
{
    uint32_t order[5] = {4, 3, 2, 1, 0}, stack[5], place[5];
    struct tg_order c[5];
    CHECK_EQ_U(tg_order_constrain(order, 5, stack, c), 4);
    CHECK_EQ_U(c[0].first, 4);
    CHECK_EQ_U(c[0].second, 3);
    CHECK_EQ_U(c[3].first, 1);
    CHECK_EQ_U(c[3].second, 0);
    tg_order_places(order, 5, place);
    CHECK_EQ_U(place[4], 0);
    CHECK_EQ_U(place[0], 4);
}

TEST(a_path_of_edges_is_found_also_where_an_edge_leads_to_an_earlier_number)
{
    static struct model m;
    uint8_t seen[8];
    memset(&m, 0, sizeof m);
    model_add(&m, 1, (uint32_t[]){2}); /* 0 waits for 2 */
    model_add(&m, 1, (uint32_t[]){0}); /* 1 waits for 0 */
    model_add(&m, 0, NULL);
    struct tg_order_graph graph = model_graph(&m);
    tg_order_reach(&graph, 2, seen);
    CHECK(seen[0] && seen[1] && seen[2]);
    tg_order_reach(&graph, 1, seen);
    CHECK(!seen[0] && seen[1] && !seen[2]);
}

TEST_MAIN()
