/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles are found anywhere in a graph, and named in the direction of their edges. */
#include "unit/host/graph_fake.h"

/* The task numbers in the message, in its order; stops at the first word that is not a number. */
static int named(const char *text, unsigned long *tasks, int room)
{
    int n = 0;
    const char *at = strchr(text, ':');
    REQUIRE(at != NULL);
    for (at += 2; n < room; n++) {
        char *end;
        if (strncmp(at, "… → ", strlen("… → ")) == 0)
            at += strlen("… → ");
        tasks[n] = strtoul(at, &end, 10);
        if (end == at)
            break;
        at = strstr(end, " → ");
        if (at == NULL)
            return n + 1;
        at += strlen(" → ");
    }
    return n;
}

static bool has_edge(const struct tg_graph *graph, uint64_t before, uint64_t after)
{
    uint64_t n;
    const struct tg_edge *edge = tg_graph_edge_list(graph, &n);
    for (uint64_t i = 0; i < n; i++)
        if (edge[i].before == before && edge[i].after == after)
            return true;
    return false;
}

/* Checks that the message names a cycle of that length, and that every arrow in it is an edge of
 * the graph. */
static void finds_cycle_of(struct tg_graph *graph, unsigned length)
{
    struct tg_error error = {TG_OK, ""};
    unsigned long task[64];
    char count[40];
    int n;
    CHECK_EQ_I(tg_graph_check(graph, &error), TG_CYCLE);
    snprintf(count, sizeof count, "a cycle of %u tasks: ", length);
    CHECK_HAS(error.text, count);
    n = named(error.text, task, 64);
    CHECK_EQ_I(n, length <= 8 ? (int)length + 1 : 9);
    CHECK_EQ_U(task[0], task[n - 1]); /* it ends where it begins */
    for (int i = length <= 8 ? 0 : 1; i + 1 < n; i++)
        if (!CHECK(has_edge(graph, task[i], task[i + 1])))
            fprintf(stderr, "  in: %s\n", error.text);
}

/* Adds `length` tasks in a circle; the first is number `at`. */
static void add_circle(struct tg_graph *graph, uint64_t at, uint64_t length)
{
    for (uint64_t i = 0; i < length; i++)
        fake_edge(graph, at + i, at + (i + 1) % length);
}

TEST(a_graph_without_edges_has_no_cycle)
{
    struct tg_graph *graph = fake_graph();
    CHECK_EQ_I(tg_graph_check(graph, NULL), TG_OK);
    fake_add(graph, VEC, 10);
    CHECK_EQ_I(tg_graph_check(graph, NULL), TG_OK);
    CHECK_EQ_I(tg_graph_find_cycle(graph, NULL), TG_OK);
    tg_graph_destroy(graph);
}

TEST(an_edge_from_a_task_to_itself_is_refused_when_it_is_added)
{
    struct tg_graph *graph = fake_graph();
    struct tg_error error;
    fake_add(graph, VEC, 2);
    CHECK_EQ_I(tg_graph_add_edge(graph, 1, 1, &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "task 1 to itself");
    CHECK_EQ_I(tg_graph_check(graph, NULL), TG_OK);
    tg_graph_destroy(graph);
}

TEST(cycles_of_two_to_twenty_tasks_are_named)
{
    for (unsigned length = 2; length <= 20; length++) {
        struct tg_graph *graph = fake_graph();
        fake_add(graph, VEC, length);
        add_circle(graph, 0, length);
        finds_cycle_of(graph, length);
        tg_graph_destroy(graph);
    }
}

TEST(a_cycle_among_other_tasks_is_named_without_them)
{
    for (unsigned length = 2; length <= 9; length++) {
        struct tg_graph *graph = fake_graph();
        fake_add(graph, VEC, 50);
        for (uint64_t i = 0; i + 1 < 20; i++)
            fake_edge(graph, i, i + 1);
        add_circle(graph, 20, length);
        for (uint64_t i = 35; i + 1 < 50; i++)
            fake_edge(graph, i, i + 1);
        finds_cycle_of(graph, length);
        tg_graph_destroy(graph);
    }
}

TEST(a_cycle_with_a_tail_before_and_behind_it_is_named_without_them)
{
    struct tg_graph *graph = fake_graph();
    fake_add(graph, VEC, 30);
    for (uint64_t i = 0; i < 10; i++)
        fake_edge(graph, i, i + 1);
    add_circle(graph, 10, 5);
    for (uint64_t i = 14; i + 1 < 30; i++) /* every later task waits forever, too */
        fake_edge(graph, i, i + 1);
    finds_cycle_of(graph, 5);
    tg_graph_destroy(graph);
}

TEST(a_task_behind_a_cycle_with_a_lower_number_is_not_named)
{
    struct tg_graph *graph = fake_graph();
    struct tg_error error;
    fake_add(graph, VEC, 3);
    fake_edge(graph, 1, 2);
    fake_edge(graph, 2, 1);
    fake_edge(graph, 2, 0);
    CHECK_EQ_I(tg_graph_check(graph, &error), TG_CYCLE);
    CHECK(strstr(error.text, " 0 (") == NULL);
    finds_cycle_of(graph, 2);
    tg_graph_destroy(graph);
}

TEST(of_two_cycles_one_is_named)
{
    struct tg_graph *graph = fake_graph();
    fake_add(graph, VEC, 20);
    add_circle(graph, 3, 4);
    add_circle(graph, 12, 4);
    finds_cycle_of(graph, 4);
    fake_edge(graph, 5, 13); /* an edge leads from one cycle to the other */
    finds_cycle_of(graph, 4);
    tg_graph_destroy(graph);
}

TEST(two_cycles_that_share_a_task_are_no_problem)
{
    struct tg_graph *graph = fake_graph();
    fake_add(graph, VEC, 3);
    fake_edge(graph, 0, 1);
    fake_edge(graph, 1, 0);
    fake_edge(graph, 1, 2);
    fake_edge(graph, 2, 1);
    finds_cycle_of(graph, 2);
    tg_graph_destroy(graph);
}

TEST(edges_that_are_there_twice_are_no_cycle)
{
    struct tg_graph *graph = fake_graph();
    fake_add(graph, VEC, 3);
    for (int i = 0; i < 3; i++) {
        fake_edge(graph, 2, 0);
        fake_edge(graph, 2, 1);
        fake_edge(graph, 1, 0);
    }
    CHECK_EQ_I(tg_graph_check(graph, NULL), TG_OK);
    tg_graph_destroy(graph);
}

TEST(each_task_of_a_cycle_is_named_with_its_kernel)
{
    struct tg_graph *graph = fake_graph();
    struct tg_error error;
    fake_add(graph, MAT, 1);
    fake_add(graph, VEC, 1);
    const uint32_t mix[] = {TG_NO_KERNEL, ADD, VEC};
    CHECK_EQ_I(tg_graph_add_mix(graph, mix, NULL, NULL, NULL), TG_OK);
    add_circle(graph, 0, 3);
    CHECK_EQ_I(tg_graph_check(graph, &error), TG_CYCLE);
    CHECK_HAS(error.text, "0 (mat)");
    CHECK_HAS(error.text, "1 (vec)");
    CHECK_HAS(error.text, "2 (add)");
    tg_graph_destroy(graph);
}

TEST(long_kernel_names_are_cut_between_characters)
{
    struct tg_graph *graph = fake_graph();
    struct tg_error error;
    char name[101];
    memset(name, 'k', 100);
    name[100] = '\0';
    fake_kernel_defs[VEC].name = name;
    for (int shorter = 0; shorter < 8; shorter++) {
        name[100 - shorter] = '\0';
        tg_graph_clear(graph);
        fake_add(graph, VEC, 12);
        add_circle(graph, 0, 12);
        CHECK_EQ_I(tg_graph_check(graph, &error), TG_CYCLE);
        for (const char *c = error.text; *c; c++) /* no arrow is cut: E2 86 92, or E2 80 A6 */
            if ((unsigned char)*c == 0xe2)
                CHECK(((unsigned char)c[1] == 0x86 && (unsigned char)c[2] == 0x92) ||
                      ((unsigned char)c[1] == 0x80 && (unsigned char)c[2] == 0xa6));
    }
    fake_kernel_defs[VEC].name = "vec";
    tg_graph_destroy(graph);
}

/* The check takes as many steps as there are tasks and edges, not their product: that would take
 * minutes. */
TEST(a_cycle_of_a_million_tasks_is_found)
{
    const uint64_t n = 1000000;
    struct tg_graph *graph = fake_graph();
    struct tg_error error;
    fake_add(graph, VEC, n);
    add_circle(graph, 0, n);
    CHECK_EQ_I(tg_graph_check(graph, &error), TG_CYCLE);
    CHECK_HAS(error.text, "a cycle of 1000000 tasks");
    tg_graph_destroy(graph);
}

TEST(random_graphs_have_a_cycle_exactly_where_one_was_closed)
{
    uint64_t seed = 1;
    for (int round = 0; round < 300; round++) {
        struct tg_graph *graph = fake_graph();
        uint64_t n = 2 + seed % 40, order[64];
        fake_add(graph, VEC, n);
        for (uint64_t i = 0; i < n; i++)
            order[i] = i;
        for (uint64_t i = n; i > 1; i--) { /* a random order that all edges respect */
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            uint64_t other = (seed >> 33) % i, swap = order[i - 1];
            order[i - 1] = order[other];
            order[other] = swap;
        }
        for (uint64_t k = 0; k < 2 * n; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            uint64_t a = (seed >> 33) % n, b = (seed >> 45) % n;
            if (a != b)
                fake_edge(graph, order[a < b ? a : b], order[a < b ? b : a]);
        }
        CHECK_EQ_I(tg_graph_check(graph, NULL), TG_OK);
        fake_edge(graph, order[0], order[n - 1]);
        fake_edge(graph, order[n - 1], order[0]);
        CHECK_EQ_I(tg_graph_check(graph, NULL), TG_CYCLE);
        tg_graph_destroy(graph);
    }
}

TEST(a_cleared_graph_has_forgotten_its_cycle)
{
    struct tg_graph *graph = fake_graph();
    fake_add(graph, VEC, 2);
    add_circle(graph, 0, 2);
    CHECK_EQ_I(tg_graph_check(graph, NULL), TG_CYCLE);
    tg_graph_clear(graph);
    fake_add(graph, VEC, 2);
    CHECK_EQ_I(tg_graph_check(graph, NULL), TG_OK);
    tg_graph_destroy(graph);
}

TEST_MAIN()
