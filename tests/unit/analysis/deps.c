/* SPDX-License-Identifier: Apache-2.0 */
/* Reading deps.json, and the orders that follow from its edges. */
#define _GNU_SOURCE 1
#include "test.h"

#include "analysis/deps.h"
#include "analysis/deps_graph.h"
#include "analysis/deps_read.h"
#include "analysis/deps_space.h"

#include <unistd.h>

static struct tg_error error;

static struct tg_deps *parse(const char *text)
{
    struct tg_deps *deps;
    error = (struct tg_error){0};
    tg_deps_parse(text, strlen(text), "deps.json", &deps, &error);
    return deps;
}

static void refuse(const char *text, const char *why)
{
    struct tg_deps *deps = parse(text);
    CHECK(!deps);
    CHECK_EQ_I(error.status, TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, why);
    tg_deps_free(deps);
}

#define TASK(id, more) "{\"task_id\": \"" id "\"" more "}"

TEST(tasks_come_with_kernels_scopes_and_edges)
{
    struct tg_deps *deps =
        parse("{\"version\": \"0\", \"lost\": 3, \"tasks\": [" TASK(
            "0x100000000", ", \"func_id\": [2, 1], \"kernel\": [\"mat\", \"add\"], "
                           "\"scope\": \"a.c:1\", \"after\": []") ", " //
              TASK("0x5", ", \"func_id\": [1], \"kernel\": [\"add\"], \"scope\": null, "
                          "\"after\": [\"0x100000000\"], \"kind\": [\"raw\"]") "]}");
    REQUIRE(deps);
    CHECK_EQ_U(deps->n_tasks, 2);
    CHECK_EQ_U(deps->lost, 3);
    CHECK_EQ_U(deps->task[0].id, UINT64_C(0x100000000));
    CHECK_EQ_S(deps->task[0].kernel[0], "mat");
    CHECK_EQ_S(deps->task[0].kernel[1], "add");
    CHECK(!deps->task[0].kernel[2]);
    CHECK_EQ_U(deps->task[0].func[1], 1);
    CHECK_EQ_S(deps->task[0].scope, "a.c:1");
    CHECK_EQ_S(deps->task[1].scope, "");
    CHECK_EQ_U(deps->task[1].n_edges, 1);
    CHECK_EQ_U(deps->before[deps->task[1].first_edge], 0);
    tg_deps_free(deps);
}

TEST(an_edge_may_lead_forward_and_one_that_leads_nowhere_is_left_out)
{
    struct tg_deps *deps =
        parse("{\"tasks\": [" TASK("1", ", \"after\": [\"9\", \"2\", \"1\"]") ", " //
              TASK("2", ", \"after\": [\"1\"]") "]}");
    REQUIRE(deps);
    CHECK_EQ_U(deps->unknown, 2);
    CHECK_EQ_U(deps->task[0].n_edges, 1);
    CHECK_EQ_U(deps->before[deps->task[0].first_edge], 1);
    CHECK_EQ_U(deps->task[1].n_edges, 1);
    CHECK_EQ_U(deps->before[deps->task[1].first_edge], 0);
    tg_deps_free(deps);
}

TEST(keys_that_are_not_known_are_passed_over_and_of_twins_the_last_counts)
{
    struct tg_deps *deps =
        parse("{\"more\": {\"tasks\": [1]}, \"tasks\": [" TASK("3", "") "], \"tasks\": ["    //
              TASK("1", ", \"x\": [{}], \"after\": [\"2\", \"2\"], \"after\": [\"2\"]") ", " //
              TASK("2", "") "]}");
    REQUIRE(deps);
    CHECK_EQ_U(deps->n_tasks, 2);
    CHECK_EQ_U(deps->n_edges, 1);
    CHECK_EQ_U(deps->task[0].id, 1);
    tg_deps_free(deps);
}

TEST(what_is_no_deps_json_is_refused_with_the_line)
{
    refuse("", "deps.json', line 1: ");
    refuse("[]", "a value of the wrong kind");
    refuse("{}", "no tasks");
    refuse("{\"tasks\": 1}", "a value of the wrong kind");
    refuse("{\"tasks\": [1]}", "a value of the wrong kind");
    refuse("{\"tasks\": [\n{}]}", "line 2: a task without a task_id");
    refuse("{\"tasks\": [" TASK("0xffffffffffffffff", "") "]}", "a task without a task_id");
    refuse("{\"tasks\": [" TASK("1", "") ", " TASK("1", "") "]}", "two tasks with the same");
    refuse("{\"tasks\": [" TASK("1", ", \"after\": [true]") "]}", "a value of the wrong kind");
    refuse("{\"tasks\": [" TASK("1", ", \"kernel\": \"add\"") "]}", "a value of the wrong kind");
    refuse("{\"lost\": \"some\", \"tasks\": []}", "a value of the wrong kind");
    refuse("{\"tasks\": [" TASK("1", ""), "line 1: ");
    refuse("{\"tasks\": []} x", "line 1: ");
}

TEST(no_task_at_all_is_a_graph)
{
    struct tg_deps *deps = parse("{\"tasks\": []}");
    REQUIRE(deps);
    CHECK_EQ_U(deps->n_tasks, 0);
    tg_deps_free(deps);
}

TEST(a_reader_gives_each_edge_with_its_kind)
{
    static const char text[] =
        "{\"tasks\": [" TASK("1", ", \"kind\": [\"raw\"], \"after\": [\"7\", \"8\"]") ", " //
        TASK("2", ", \"after\": [\"1\", \"1\"], \"after\": [\"1\"], \"kind\": [\"war\"]") "]}";
    struct tg_deps_reader reader;
    bool more;
    REQUIRE(tg_deps_reader_start(text, strlen(text), "deps.json", &reader, &error) == TG_OK);
    REQUIRE(tg_deps_reader_next(&reader, &more, &error) == TG_OK && more);
    CHECK_EQ_U(reader.task.n_edges, 2);
    CHECK_EQ_U(reader.task.edge[1].before, 8);
    CHECK_EQ_S(reader.task.edge[0].kind, "raw");
    CHECK_EQ_S(reader.task.edge[1].kind, "");
    REQUIRE(tg_deps_reader_next(&reader, &more, &error) == TG_OK && more);
    CHECK_EQ_U(reader.task.n_edges, 1);
    CHECK_EQ_S(reader.task.edge[0].kind, "war");
    CHECK(tg_deps_reader_next(&reader, &more, &error) == TG_OK && !more);
    CHECK(tg_deps_reader_next(&reader, &more, &error) == TG_OK && !more);
    tg_deps_reader_close(&reader);
}

TEST(a_deps_json_of_the_other_implementation_is_read)
{
    struct tg_map map;
    struct tg_deps *deps;
    const char *path = TASKGLASS_TEST_SOURCE_DIR "/../shared/fixtures/peer/tmr_deps_fan/deps.json";
    if (access(path, R_OK) != 0)
        SKIP("no recordings of another implementation beside this tree");
    REQUIRE(tg_map_open(path, TG_LINKS_FOLLOW, &map) == 0);
    CHECK_EQ_I(tg_deps_parse((const char *)map.bytes, map.size, path, &deps, &error), TG_OK);
    CHECK(deps && deps->n_tasks > 0);
    CHECK_EQ_S(deps->task[0].scope, "auto");
    tg_deps_free(deps);
    tg_map_close(&map);
}

TEST(its_edges_are_listed_behind_its_tasks)
{
    struct tg_map map;
    struct tg_deps *deps;
    const char *path = TASKGLASS_TEST_SOURCE_DIR "/tests/golden/peer/meta/deps.json";
    REQUIRE(tg_map_open(path, TG_LINKS_FOLLOW, &map) == 0);
    REQUIRE(tg_deps_parse((const char *)map.bytes, map.size, path, &deps, &error) == TG_OK);
    CHECK_EQ_U(deps->n_tasks, 2);
    CHECK_EQ_U(deps->task[0].func[0], 0);
    CHECK_EQ_U(deps->task[0].func[1], TG_NO_KERNEL);
    CHECK_EQ_S(deps->task[1].kernel[0], "");
    CHECK_EQ_U(deps->task[0].n_edges, 0);
    CHECK_EQ_U(deps->task[1].n_edges, 1);
    CHECK_EQ_U(deps->before[deps->task[1].first_edge], 0);
    tg_deps_free(deps);
    tg_map_close(&map);
}

#define LISTED(pred, succ) \
    "{\"pred\": " pred ", \"succ\": " succ ", \"arg\": 0, \"source\": \"creator\"}"

TEST(an_edge_that_several_arguments_make_is_one_edge)
{
    struct tg_deps *deps = parse("{\"edges\": [" LISTED("\"2\"", "3") ", " LISTED("1", "3") ", " //
                                 LISTED("2", "3") "], \"tasks\": [" TASK("1", "") ", "           //
                                 TASK("2", "") ", " TASK("3", "") "]}");
    REQUIRE(deps);
    CHECK_EQ_U(deps->n_edges, 2);
    CHECK_EQ_U(deps->task[2].n_edges, 2);
    tg_deps_free(deps);
}

TEST(broken_edges_behind_the_tasks_are_refused)
{
    refuse("{\"tasks\": [" TASK("1", "") "], \"edges\": 1}", "where the edges belong");
    refuse("{\"tasks\": [" TASK("1", "") "], \"edges\": [1]}", "where an edge belongs");
    refuse("{\"tasks\": [" TASK("1", "") "], \"edges\": [{\"pred\": 1}]}", "without the ids");
    refuse("{\"tasks\": [" TASK("1", ", \"kernel_ids\": [\"x\"]") "]}", "kernel_ids");
    refuse("{\"tasks\": [" TASK("1", "") "], \"edges\": [", "");
}

/* --- orders ----------------------------------------------------------------------------------- */

TEST(nothing_comes_before_what_it_waits_for)
{
    const struct tg_link link[] = {{3, 0}, {3, 1}, {1, 2}, {0, 2}, {9, 1}, {1, 9}, {2, 2}};
    struct tg_links links;
    uint32_t rank[5], depth[5];
    REQUIRE(tg_links_make(5, link, sizeof link / sizeof link[0], &links));
    CHECK_EQ_U(links.first[5], 4); /* edges to unknown tasks and to itself are dropped */
    REQUIRE(tg_links_rank(&links, rank, depth));
    for (size_t i = 0; i < 4; i++)
        CHECK(rank[link[i].before] < rank[link[i].after]);
    CHECK_EQ_U(depth[3], 0);
    CHECK_EQ_U(depth[1], 1);
    CHECK_EQ_U(depth[2], 2);
    CHECK_EQ_U(depth[4], 0);
    CHECK(rank[3] < rank[4]); /* both are ready: the smaller number comes first */
    tg_links_free(&links);
}

TEST(what_lies_in_a_circle_comes_last)
{
    const struct tg_link link[] = {{0, 1}, {1, 0}, {1, 2}, {3, 4}};
    struct tg_links links;
    uint32_t rank[5];
    REQUIRE(tg_links_make(5, link, 4, &links));
    REQUIRE(tg_links_rank(&links, rank, NULL));
    CHECK_EQ_U(rank[3], 0);
    CHECK_EQ_U(rank[4], 1);
    CHECK_EQ_U(rank[0], 2);
    CHECK_EQ_U(rank[2], 4);
    tg_links_free(&links);
}

TEST(turning_edges_round_twice_gives_them_back)
{
    const struct tg_link link[] = {{0, 2}, {1, 2}, {0, 3}, {2, 3}};
    struct tg_links links, turned, back;
    REQUIRE(tg_links_make(4, link, 4, &links) && tg_links_turn(&links, &turned) &&
            tg_links_turn(&turned, &back));
    CHECK_EQ_U(turned.first[1] - turned.first[0], 2);
    CHECK_EQ_MEM(back.first, links.first, 5 * sizeof *links.first);
    CHECK_EQ_MEM(back.before, links.before, 4 * sizeof *links.before);
    tg_links_free(&links);
    tg_links_free(&turned);
    tg_links_free(&back);
}

/* --- what the orchestrator knew ------------------------------------------------------------- */

#define PIECE(address, bytes, given) \
    "{\"address\": \"" address "\", \"bytes\": " bytes ", \"ring\": 0, \"given\": " given "}"

TEST(a_task_has_the_line_that_submitted_it)
{
    struct tg_deps *deps = parse("{\"tasks\": [" TASK("0", ", \"line\": \"a.c:7\"") ", " //
                                 TASK("1", ", \"line\": null") ", " TASK("2", "") "]}");
    REQUIRE(deps);
    CHECK_EQ_S(deps->task[0].line, "a.c:7");
    CHECK_EQ_S(deps->task[1].line, "");
    CHECK_EQ_S(deps->task[2].line, "");
    CHECK(!deps->knows_memory);
    CHECK(!tg_deps_seen_by(deps, 2));
    tg_deps_free(deps);
}

TEST(what_was_seen_holds_for_all_later_tasks)
{
    struct tg_deps *deps = parse(
        "{\"tasks\": [" TASK("0", "") ", " TASK("0x100000000", "") ", " //
        TASK("1", ", \"seen\": {\"rings\": [1]}") ", " TASK("2", "") ", " TASK(
            "3",
            ", \"seen\": {\"tasks\": [\"0x100000000\", \"2\", \"77\"], \"rings\": [0, 1]}") ", " TASK("4",
                                                                                                      "") "]}");
    REQUIRE(deps);
    CHECK(!tg_deps_seen_by(deps, 1));
    REQUIRE(tg_deps_seen_by(deps, 3));
    CHECK_EQ_U(tg_deps_seen_by(deps, 3)->at, 2);
    CHECK_EQ_U(tg_deps_seen_by(deps, 3)->done[0], 1);
    CHECK_EQ_U(tg_deps_seen_by(deps, 3)->n_tasks, 0);
    CHECK_EQ_U(tg_deps_seen_by(deps, 5)->at, 4);
    CHECK_EQ_U(tg_deps_seen_by(deps, 5)->done[0], 1); /* it never becomes less */
    CHECK_EQ_U(tg_deps_seen_by(deps, 5)->done[1], 1);
    CHECK_EQ_U(tg_deps_seen_by(deps, 5)->n_tasks, 2);
    CHECK_EQ_U(deps->seen_task[0], 1);
    CHECK_EQ_U(deps->seen_task[1], 3);
    CHECK_EQ_U(deps->unknown, 1);
    tg_deps_free(deps);
}

#define RELEASED(text) \
    "{\"tasks\": [" TASK("0", "") ", " TASK("1", "") "], \"released\": [" text "]}"

TEST(held_tasks_come_with_what_was_known_when_they_were_let_go)
{
    struct tg_deps *deps = parse(RELEASED(
        "{\"at\": 1, \"tasks\": [\"0\"]}, {\"at\": 2, \"tasks\": [\"9\", \"1\"], \"seen\": "
        "{\"tasks\": [\"0\"], \"rings\": [1]}}"));
    REQUIRE(deps && deps->n_releases == 2);
    CHECK(deps->release[0].n_held == 1 && deps->release[0].n_seen == 0);
    CHECK(deps->release[1].n_held == 1 && deps->release[1].n_seen == 1);
    CHECK(deps->release[1].at == 2 && deps->release[1].done[0] == 1);
    CHECK(deps->release_task[0] == 0 && deps->release_task[1] == 0 && deps->release_task[2] == 1);
    CHECK_EQ_U(deps->unknown, 1);
    tg_deps_free(deps);
}

TEST(what_could_not_have_been_let_go_is_refused)
{
    refuse(RELEASED("1"), "takes objects");
    refuse(RELEASED("{\"tasks\": [\"0\"]}"), "need \"at\"");
    refuse(RELEASED("{\"at\": 1, \"tasks\": [\"1\"]}"), "was not submitted before");
    refuse(RELEASED("{\"at\": 1, \"seen\": {\"tasks\": [\"1\"]}}"), "was not submitted before");
    refuse(RELEASED("{\"at\": 1, \"seen\": {\"rings\": [2]}}"), "was not submitted before");
    refuse(RELEASED("{\"at\": 2}, {\"at\": 1}"), "listed before them");
    refuse("{\"tasks\": [], \"released\": 3}", "it takes a list");
}

TEST(what_could_not_have_been_seen_is_refused)
{
    refuse("{\"tasks\": [" TASK("0", "") ",\n" TASK("1", ", \"seen\": {\"rings\": [2]}") "]}",
           "line 2: \"seen\" counts tasks that were not submitted before");
    refuse("{\"tasks\": [" TASK("0", ", \"seen\": {\"tasks\": [\"1\"]}") ", " TASK("1", "") "]}",
           "\"seen\" names a task that was not submitted before");
    refuse("{\"tasks\": [" TASK("0", ", \"seen\": {\"rings\": [0, 0, 0, 0, 0]}") "]}",
           "more than four counts");
    refuse("{\"tasks\": [" TASK("0", ", \"seen\": {\"rings\": [-1]}") "]}", "takes counts");
    refuse("{\"tasks\": [" TASK("0", ", \"seen\": {\"rings\": 1}") "]}", "a list of counts");
    refuse("{\"tasks\": [" TASK("0", ", \"seen\": {\"tasks\": [{}]}") "]}", "takes task ids");
    refuse("{\"tasks\": [" TASK("0", ", \"seen\": {\"tasks\": 5}") "]}", "list of task ids");
    refuse("{\"tasks\": [" TASK("0", ", \"seen\": []") "]}", "takes an object");
}

TEST(tasks_that_the_run_lost_may_have_been_seen)
{
    struct tg_deps *deps = parse("{\"lost\": 1, \"tasks\": [" TASK("0", "") ", " //
                                 TASK("2", ", \"seen\": {\"rings\": [2]}") "]}");
    REQUIRE(deps);
    CHECK_EQ_U(tg_deps_seen_by(deps, 1)->done[0], 2);
    tg_deps_free(deps);
}

TEST(an_address_belongs_to_the_last_allocation_before_the_task)
{
    struct tg_deps_spaces spaces;
    struct tg_deps *deps = parse("{\"tasks\": [" TASK("0", "") ", " TASK("1", "") ", " TASK(
        "2", "") "], \"allocations\": [" PIECE("0x1000", "64",
                                               "0") ", " PIECE("0x1040", "64",
                                                               "0") ", " PIECE("0x1020", "64",
                                                                               "2") "]}");
    REQUIRE(deps);
    CHECK(deps->knows_memory);
    CHECK_EQ_U(deps->n_allocations, 3);
    REQUIRE(tg_deps_spaces_open(deps, &spaces));
    CHECK_EQ_U(tg_deps_space_of(&spaces, 0xfff, 0), 0);
    CHECK_EQ_U(tg_deps_space_of(&spaces, 0x1000, 0), 1);
    CHECK_EQ_U(tg_deps_space_of(&spaces, 0x103f, 1), 1);
    CHECK_EQ_U(tg_deps_space_of(&spaces, 0x1040, 1), 2);
    CHECK_EQ_U(tg_deps_space_of(&spaces, 0x107f, 1), 2);
    CHECK_EQ_U(tg_deps_space_of(&spaces, 0x1080, 1), 0);
    CHECK_EQ_U(tg_deps_space_of(&spaces, 0x101f, 2), 1);
    CHECK_EQ_U(tg_deps_space_of(&spaces, 0x1020, 2), 3);
    CHECK_EQ_U(tg_deps_space_of(&spaces, 0x105f, 2), 3);
    CHECK_EQ_U(tg_deps_space_of(&spaces, 0x1060, 2), 2);
    tg_deps_spaces_close(&spaces);
    tg_deps_free(deps);
}

TEST(spaces_are_those_that_a_search_through_all_allocations_finds)
{
    enum { COUNT = 300, TASKS = 40, RANGE = 200 };
    struct tg_deps_allocation allocation[COUNT];
    struct tg_deps deps = {.allocation = allocation, .n_allocations = COUNT, .n_tasks = TASKS};
    struct tg_deps_spaces spaces;
    uint64_t random = 1;
    for (size_t i = 0; i < COUNT; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        allocation[i] = (struct tg_deps_allocation){.address = 7 + (random >> 33) % RANGE,
                                                    .bytes = 1 + (random >> 53) % 30,
                                                    .given = i * TASKS / COUNT};
    }
    REQUIRE(tg_deps_spaces_open(&deps, &spaces));
    for (uint32_t task = 0; task < TASKS; task++) {
        for (uint64_t address = 0; address < RANGE + 50; address++) {
            uint64_t last = 0;
            for (size_t i = 0; i < COUNT; i++)
                if (allocation[i].given <= task && address >= allocation[i].address &&
                    address - allocation[i].address < allocation[i].bytes)
                    last = i + 1;
            REQUIRE(tg_deps_space_of(&spaces, address, task) == last);
        }
    }
    tg_deps_spaces_close(&spaces);
}

TEST(a_broken_allocation_is_refused)
{
    refuse("{\"tasks\": [],\n\"allocations\": [{\"address\": \"0x10\", \"bytes\": 4, \"ring\": 4, "
           "\"given\": 0}]}",
           "line 2: an allocation needs");
    refuse("{\"tasks\": [], \"allocations\": [{\"address\": \"0x10\"}]}", "an allocation needs");
    refuse("{\"tasks\": [], \"allocations\": [" PIECE("0x10", "0", "0") "]}", "is empty or");
    refuse("{\"tasks\": [], \"allocations\": [" PIECE("0xffffffffffffffff", "1", "0") "]}",
           "beyond the last address");
    refuse(
        "{\"tasks\": [], \"allocations\": [" PIECE("16", "1", "2") ", " PIECE("16", "1", "1") "]}",
        "given out before the one listed before it");
    refuse("{\"tasks\": [], \"allocations\": {}}", "takes a list");
    refuse("{\"tasks\": [], \"allocations\": [5]}", "takes objects");
}

TEST_MAIN()
