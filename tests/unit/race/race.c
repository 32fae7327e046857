/* SPDX-License-Identifier: Apache-2.0 */
/* The races of random graphs, compared pair for pair with a checker that knows bytes as a set and order as a
 * matrix; and graphs of which the number of races follows from how they are made. */
#define _GNU_SOURCE 1
#include "test.h"

#include "race/race.h"

#include <stdlib.h>

enum { TASKS = 150, BYTES = 192, SPACES = 3, MOST_ACCESSES = 5 * TASKS };

static uint64_t state = 88172645463325252u;
static uint32_t next(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 20) % below);
}

/* --- the checker ------------------------------------------------------------------------------ */

struct graph {
    uint32_t n_tasks, n_accesses;
    bool order[TASKS][TASKS]; /* [a][b]: a is before b */
    struct tg_race_access access[MOST_ACCESSES];
    struct tg_tensor tensor[MOST_ACCESSES];
    bool touches[MOST_ACCESSES][BYTES];
};

static void close_order(struct graph *graph)
{
    for (uint32_t k = 0; k < graph->n_tasks; k++)
        for (uint32_t i = 0; i < graph->n_tasks; i++)
            for (uint32_t j = 0; graph->order[i][k] && j < graph->n_tasks; j++)
                graph->order[i][j] |= graph->order[k][j];
}

static void touch(struct graph *graph, uint32_t number)
{
    const struct tg_tensor *t = &graph->tensor[number];
    int64_t at[TG_MAX_DIMS] = {0}, bits = tg_bits_of(t->dtype);
    memset(graph->touches[number], 0, BYTES);
    for (;;) {
        int64_t element = t->start;
        int i = t->ndim - 1;
        for (int k = 0; k < t->ndim; k++)
            element += at[k] * t->strides[k];
        for (int64_t bit = element * bits; bit < (element + 1) * bits; bit++)
            graph->touches[number][(int64_t)t->addr - 4096 + bit / 8] = true;
        for (; i >= 0 && ++at[i] == t->shape[i]; i--)
            at[i] = 0;
        if (i < 0)
            return;
    }
}

static bool collide(const struct graph *graph, uint32_t a, uint32_t b)
{
    const struct tg_race_access *x = &graph->access[a], *y = &graph->access[b];
    if (x->space != y->space || (!x->writes && !y->writes))
        return false;
    for (int i = 0; i < BYTES; i++)
        if (graph->touches[a][i] && graph->touches[b][i])
            return true;
    return false;
}

static uint64_t common(const struct graph *graph, uint32_t a, uint32_t b)
{
    uint64_t count = 0;
    for (int i = 0; i < BYTES; i++)
        count += graph->touches[a][i] && graph->touches[b][i];
    return count;
}

static bool races(const struct graph *graph, uint32_t a, uint32_t b)
{
    if (a == b || graph->order[a][b] || graph->order[b][a])
        return false;
    for (uint32_t i = 0; i < graph->n_accesses; i++)
        for (uint32_t j = 0; graph->access[i].task == a && j < graph->n_accesses; j++)
            if (graph->access[j].task == b && collide(graph, i, j))
                return true;
    return false;
}

/* --- random graphs ---------------------------------------------------------------------------- */

/* A view that stays in the first BYTES bytes. */
static void random_view(struct tg_tensor *t)
{
    static const unsigned dtypes[] = {TG_UINT8, TG_INT16, TG_FLOAT32, TG_INT4, TG_INT4};
    for (;;) {
        int64_t lo, hi;
        tg_tensor_clear(t);
        t->addr = 4096 + next(next(2) ? 4 : 64);
        t->storage_bytes = BYTES;
        t->dtype = (uint8_t)dtypes[next(sizeof dtypes / sizeof dtypes[0])];
        t->ndim = (uint8_t)next(4);
        t->start = next(24);
        for (int i = 0; i < t->ndim; i++) {
            t->shape[i] = 1 + next(5);
            t->strides[i] = (int64_t)next(14) - 2;
        }
        if (tg_tensor_footprint(t, &lo, &hi) && lo >= 0 &&
            t->addr - 4096 + tg_bytes_of(t->dtype, hi + 1) <= BYTES)
            return;
    }
}

static void add_access(struct graph *graph, uint32_t task, uint32_t argument)
{
    uint32_t number = graph->n_accesses++, from = number ? next(number) : 0;
    if (number > 0 && next(3) > 0)
        graph->tensor[number] = graph->tensor[from]; /* views come again */
    else
        random_view(&graph->tensor[number]);
    graph->access[number] = (struct tg_race_access){.task = task,
                                                    .argument = argument,
                                                    .reads = next(2) == 0,
                                                    .space = next(SPACES),
                                                    .tensor = &graph->tensor[number]};
    graph->access[number].writes = !graph->access[number].reads || next(4) == 0;
    touch(graph, number);
}

/* Most graphs have edges to later tasks only, as those that a device builds; some any, but no cycle. */
static bool add_order(struct graph *graph, struct tg_race_search *search)
{
    uint32_t place[TASKS], density = 1 + next(12);
    bool good = true, any = next(4) == 0, sees = !any && next(2) == 0;
    for (uint32_t i = 0; i < graph->n_tasks; i++)
        place[i] = i;
    for (uint32_t i = graph->n_tasks - 1; any && i > 0; i--) {
        uint32_t with = next(i + 1), kept = place[i];
        place[i] = place[with];
        place[with] = kept;
    }
    for (uint32_t i = 0; i < graph->n_tasks; i++)
        for (uint32_t j = i + 1; j < graph->n_tasks; j++)
            if (next(16) < density && next(graph->n_tasks) < 6) {
                graph->order[place[i]][place[j]] = true;
                good = good && tg_race_add_edge(search, place[i], place[j]);
            }
    for (uint32_t j = 1; sees && j < graph->n_tasks; j++)
        for (uint32_t n = next(6) == 0 ? next(4) : 0; n > 0; n--) {
            uint32_t seen = next(j);
            good = good && tg_race_add_seen(search, seen, j);
            for (uint32_t k = j; k < graph->n_tasks; k++)
                graph->order[seen][k] = true;
        }
    close_order(graph);
    return good;
}

struct told {
    const struct graph *graph;
    bool pair[TASKS][TASKS];
    uint64_t pairs, in_groups, groups, twice, wrong;
    uint32_t last;
};

static int tell_pair(void *context, uint32_t first, uint32_t second)
{
    struct told *told = context;
    told->twice += told->pair[first][second] || first >= second;
    told->pair[first][second] = true;
    told->pairs++;
    return 0;
}

static uint32_t find_access(const struct graph *graph, const struct tg_race_end *end)
{
    for (uint32_t i = 0; i < graph->n_accesses; i++)
        if (graph->access[i].task == end->task && graph->access[i].argument == end->argument)
            return i;
    return 0;
}

static int tell_group(void *context, const struct tg_race_group *group)
{
    struct told *told = context;
    uint32_t a = find_access(told->graph, &group->first),
             b = find_access(told->graph, &group->second);
    told->groups++;
    told->in_groups += group->pairs;
    told->wrong += !races(told->graph, group->first.task, group->second.task) ||
                   group->first.task >= group->second.task || group->second.task < told->last ||
                   !collide(told->graph, a, b) || common(told->graph, a, b) != group->bytes ||
                   group->first.writes != told->graph->access[a].writes ||
                   group->second.reads != told->graph->access[b].reads;
    told->last = group->second.task;
    return 0;
}

static void compare_one(struct graph *graph, uint32_t n_tasks, bool lists)
{
    struct tg_race_search *search;
    struct tg_race_result result;
    struct tg_error error;
    static struct told told;
    uint64_t want = 0;
    told = (struct told){.graph = graph};
    struct tg_race_config config = {
        .group = tell_group, .pair = lists ? tell_pair : NULL, .context = &told};
    memset(graph->order, 0, sizeof graph->order);
    graph->n_tasks = n_tasks;
    graph->n_accesses = 0;
    REQUIRE(tg_race_search_new(graph->n_tasks, &search, &error) == TG_OK);
    CHECK(add_order(graph, search));
    for (uint32_t task = 0; task < graph->n_tasks; task++)
        for (uint32_t n = next(5), i = 0; i < n; i++)
            add_access(graph, task, i);
    for (uint32_t i = 0; i < graph->n_accesses; i++)
        CHECK(tg_race_add_access(search, &graph->access[i]));
    REQUIRE(tg_race_search_run(search, &config, &result, &error) == TG_OK);
    for (uint32_t a = 0; a < graph->n_tasks; a++)
        for (uint32_t b = a + 1; b < graph->n_tasks; b++) {
            want += races(graph, a, b);
            if (lists)
                CHECK_EQ_I(told.pair[a][b], races(graph, a, b));
        }
    CHECK_EQ_U(result.pairs, want);
    CHECK_EQ_U(told.in_groups, want);
    CHECK_EQ_U(told.groups, result.groups);
    CHECK_EQ_U(told.twice, 0);
    CHECK_EQ_U(told.wrong, 0);
    CHECK(result.is_exact);
    CHECK_EQ_U(result.unclear, 0);
    CHECK_EQ_U(result.judged, graph->n_tasks);
    tg_race_search_free(search);
}

TEST(ten_thousand_random_graphs_have_the_races_that_brute_force_finds)
{
    static struct graph graph;
    for (int i = 0; i < 10000 && test_failures_ == 0; i++)
        compare_one(&graph, 2 + next(next(4) ? 14 : 38), i % 2 == 0);
}

/* So many tasks that a history has many chains, of which most views are few. */
TEST(larger_random_graphs_have_the_races_that_brute_force_finds)
{
    static struct graph graph;
    for (int i = 0; i < 40 && test_failures_ == 0; i++)
        compare_one(&graph, TASKS - next(40), i % 2 == 0);
}

/* --- graphs whose races follow from how they are made ----------------------------------------- */

static struct tg_tensor bytes_at(uint64_t address, int64_t count)
{
    struct tg_tensor t = tg_tensor_none();
    t.addr = address;
    t.storage_bytes = (uint64_t)count;
    t.dtype = TG_UINT8;
    t.ndim = 1;
    t.shape[0] = count;
    t.strides[0] = 1;
    return t;
}

static bool add_bytes(struct tg_race_search *search, uint32_t task, uint64_t address, int64_t count,
                      bool writes)
{
    struct tg_tensor tensor = bytes_at(address, count);
    return tg_race_add_access(
        search, &(struct tg_race_access){
                    .task = task, .reads = !writes, .writes = writes, .tensor = &tensor});
}

static struct tg_race_result run(struct tg_race_search *search)
{
    struct tg_race_result result = {0};
    struct tg_error error = {TG_OK, ""};
    CHECK(tg_race_search_run(search, &(struct tg_race_config){0}, &result, &error) == TG_OK);
    CHECK_EQ_S(error.text, "");
    tg_race_search_free(search);
    return result;
}

static struct tg_race_search *begin(uint32_t n_tasks)
{
    struct tg_race_search *search;
    struct tg_error error;
    CHECK(tg_race_search_new(n_tasks, &search, &error) == TG_OK);
    return search;
}

TEST(unordered_writers_of_the_same_bytes_are_counted_without_looking_at_each_pair)
{
    const uint32_t n = 200000;
    struct tg_race_search *search = begin(n);
    for (uint32_t i = 0; i < n; i++)
        for (uint64_t k = 0; k < 3; k++)
            CHECK(add_bytes(search, i, 4096 + 64 * k, 64, true));
    struct tg_race_result result = run(search);
    CHECK_EQ_U(result.pairs, (uint64_t)n * (n - 1) / 2);
    CHECK_EQ_U(result.groups, 1);
    CHECK(result.is_exact);
}

TEST(two_chains_that_do_not_know_of_each_other_race_everywhere)
{
    const uint32_t n = 50000;
    for (int turns = 0; turns < 2; turns++) { /* one chain after the other, and by turns */
        struct tg_race_search *search = begin(2 * n);
        for (uint32_t i = 0; i < 2 * n; i++) {
            CHECK(add_bytes(search, i, 4096, 64, true));
            if (turns ? i >= 2 : i != 0 && i != n)
                CHECK(tg_race_add_edge(search, turns ? i - 2 : i - 1, i));
        }
        struct tg_race_result result = run(search);
        CHECK_EQ_U(result.pairs, (uint64_t)n * n);
        CHECK(result.is_exact);
    }
}

TEST(readers_of_what_nobody_writes_cost_nothing)
{
    const uint32_t n = 200000;
    struct tg_race_search *search = begin(n);
    for (uint32_t i = 0; i < n; i++)
        CHECK(add_bytes(search, i, 4096, 64, false) &&
              add_bytes(search, i, 65536 + 64 * (uint64_t)i, 64, true));
    struct tg_race_result result = run(search);
    CHECK_EQ_U(result.pairs, 0);
    CHECK(result.is_exact);
}

TEST(what_the_orchestrator_saw_orders_all_later_tasks)
{
    struct tg_race_search *search = begin(5);
    for (uint32_t i = 0; i < 5; i++)
        CHECK(add_bytes(search, i, 4096, 4, true));
    CHECK(tg_race_add_seen(search, 0, 3) && tg_race_add_seen(search, 1, 3));
    CHECK(tg_race_add_seen(search, 4, 4) && tg_race_add_seen(search, 9, 4)); /* say nothing */
    CHECK_EQ_U(run(search).pairs, 10 - 4);
}

TEST(what_was_seen_before_held_tasks_were_let_go_comes_before_them)
{
    struct tg_race_search *search = begin(6);
    uint32_t gate;
    for (uint32_t i = 0; i < 6; i++)
        CHECK(add_bytes(search, i, 4096, 4, true));
    CHECK(tg_race_add_gate(search, 4, &gate)); /* 0 is before 2, and before 4 and 5 */
    CHECK(tg_race_gate_seen(search, gate, 0) && tg_race_gate_opens(search, gate, 2));
    CHECK(tg_race_add_seen(search, 1, 5)); /* before 5 alone */
    CHECK(tg_race_add_gate(search, 5, &gate));
    CHECK(tg_race_gate_seen(search, gate, 9) && tg_race_gate_opens(search, 7, 1)); /* say nothing */
    CHECK(tg_race_add_gate(search, 6, &gate)); /* 0 and 1 are before 3 */
    CHECK(tg_race_gate_opens(search, gate, 3));
    CHECK_EQ_U(run(search).pairs, 15 - 3 - 1 - 2);
}

TEST(a_gate_that_opens_for_nobody_orders_later_tasks_alone)
{
    struct tg_race_search *search = begin(3);
    uint32_t gate;
    for (uint32_t i = 0; i < 3; i++)
        CHECK(add_bytes(search, i, 4096, 4, true));
    CHECK(tg_race_add_gate(search, 2, &gate) && tg_race_gate_seen(search, gate, 0));
    CHECK(tg_race_add_gate(search, 3, &gate) && tg_race_gate_seen(search, gate, 1));
    CHECK_EQ_U(run(search).pairs, 2);
}

TEST(edges_in_a_circle_are_refused)
{
    struct tg_race_search *search = begin(3);
    struct tg_race_result result;
    struct tg_error error;
    CHECK(tg_race_add_edge(search, 0, 1) && tg_race_add_edge(search, 1, 2) &&
          tg_race_add_edge(search, 2, 0));
    CHECK(tg_race_search_run(search, &(struct tg_race_config){0}, &result, &error) ==
          TG_BAD_ARGUMENT);
    tg_race_search_free(search);
}

/* Every column of a matrix with a million rows. */
static bool add_column(struct tg_race_search *search, uint32_t task, int64_t column, int64_t width)
{
    struct tg_tensor t = bytes_at(4096, 1);
    t.storage_bytes = UINT64_C(1) << 30;
    t.dtype = TG_FLOAT32;
    t.ndim = 2;
    t.start = column;
    t.shape[0] = 1000000;
    t.strides[0] = 100;
    t.shape[1] = width;
    return t.strides[1] = 1,
           tg_race_add_access(search,
                              &(struct tg_race_access){.task = task, .writes = true, .tensor = &t});
}

TEST(columns_that_lie_between_each_other_do_not_collide)
{
    struct tg_race_search *search = begin(100);
    for (uint32_t i = 0; i < 100; i++)
        CHECK(add_column(search, i, i, 1));
    CHECK_EQ_U(run(search).pairs, 0);
    search = begin(50);
    for (uint32_t i = 0; i < 50; i++)
        CHECK(add_column(search, i, 2 * i, i == 20 ? 3 : 2));
    CHECK_EQ_U(run(search).pairs, 1);
}

TEST(lines_with_different_steps_meet_where_arithmetic_says_so)
{
    /* 6i and 10j + 1 never meet; 6i and 15j + 3 do, but only from the second step on. */
    for (int meets = 0; meets < 2; meets++) {
        struct tg_race_search *search = begin(2);
        for (uint32_t task = 0; task < 2; task++) {
            struct tg_tensor t = bytes_at(4096, 10000000);
            t.storage_bytes = UINT64_C(1) << 40;
            t.start = task == 0 ? 0 : meets ? 3 : 1;
            t.strides[0] = task == 0 ? 6 : meets ? 15 : 10;
            CHECK(tg_race_add_access(
                search, &(struct tg_race_access){.task = task, .writes = true, .tensor = &t}));
        }
        struct tg_race_result result = run(search);
        CHECK_EQ_U(result.pairs, meets);
        CHECK(result.is_exact);
    }
}

TEST(a_view_that_leaves_the_address_space_is_left_out_and_said)
{
    struct tg_race_search *search = begin(2);
    struct tg_tensor t = bytes_at(UINT64_MAX - 3, 8);
    CHECK(tg_race_add_access(search,
                             &(struct tg_race_access){.task = 0, .writes = true, .tensor = &t}));
    t.dtype = 255;
    CHECK(tg_race_add_access(search,
                             &(struct tg_race_access){.task = 1, .writes = true, .tensor = &t}));
    struct tg_race_result result = run(search);
    CHECK_EQ_U(result.left_out, 2);
    CHECK(!result.is_exact);
}

static int stop(void *context, uint64_t done, uint64_t total)
{
    (void)context, (void)done, (void)total;
    return 1;
}

TEST(a_search_can_be_cancelled_and_its_work_limited)
{
    struct tg_race_result result;
    struct tg_error error;
    struct tg_race_search *search = begin(1000);
    CHECK(tg_race_search_run(search, &(struct tg_race_config){.watch = stop}, &result, &error) ==
          TG_CANCELLED);
    tg_race_search_free(search);
    search = begin(1000);
    for (uint32_t i = 0; i < 1000; i++)
        CHECK(add_bytes(search, i, 4096 + i, 64, true));
    CHECK(tg_race_search_run(search, &(struct tg_race_config){.work = 500}, &result, &error) ==
          TG_OK);
    CHECK(!result.is_exact);
    tg_race_search_free(search);
}

TEST_MAIN()
