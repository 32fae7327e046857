/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of deps.json as columns, also of files that make no sense. */
#define _GNU_SOURCE 1
#include "unit/workbench/made.h"

#include "workbench/edges.h"

static struct tg_bench_run *run;

/* A run with tasks 1, 2 and 3 and this deps.json. */
static const struct tg_bench_edges *edges_of(const char *deps)
{
    const struct tg_bench_edges *edges = NULL;
    numbers_begin();
    made_task(1, 1000, 2000);
    made_task(2, 2000, 3000);
    made_task(3, 3000, 4000);
    made_file("deps.json", deps);
    numbers_open();
    (void)made_tasks(&run);
    dump_error = (struct tg_error){0};
    (void)tg_bench_edges_of(run, &edges, &dump_error);
    return edges;
}

static void end(void)
{
    tg_bench_give_back(run);
    numbers_close();
}

TEST(edges_are_indices_of_the_timeline)
{
    const struct tg_bench_edges *edges = edges_of(
        "{\"runtime\": \"r\", \"lost\": 4, \"tasks\": ["
        "{\"task_id\": 3, \"kernel\": [\"k\"], \"func_id\": [0], \"scope\": \"a.c:1\", "
        "\"line\": \"a.c:2\", \"after\": [], \"kind\": []},"
        "{\"task_id\": 1, \"kernel\": [\"k\", \"m\"], \"func_id\": [0, 1], \"after\": [3, 2], "
        "\"kind\": [\"war\", \"odd\"]}, {\"task_id\": 2, \"after\": [], \"kind\": []}]}");
    REQUIRE(edges);
    CHECK_EQ_U(edges->count, 3);
    CHECK_EQ_U(edges->known, 3);
    CHECK_EQ_U(edges->n_extra, 0);
    CHECK_EQ_U(edges->task[0], 2);
    CHECK_EQ_U(edges->task[1], 0);
    CHECK_EQ_U(edges->n_edges, 2);
    CHECK_EQ_U(edges->before[0], 2);
    CHECK_EQ_U(edges->after[0], 0);
    CHECK_EQ_U(edges->kind[0], TG_EDGE_WAR);
    CHECK_EQ_U(edges->before[1], 1);
    CHECK_EQ_U(edges->kind[1], UINT8_MAX);
    CHECK_EQ_S(edges->kernels.text[edges->kernel[1]], "k+m");
    CHECK_EQ_S(edges->scopes.text[edges->scope[0]], "a.c:1");
    CHECK_EQ_S(edges->lines.text[edges->line[0]], "a.c:2");
    CHECK_EQ_S(edges->runtime, "r");
    CHECK_EQ_U(edges->lost, 4);
    end();
}

TEST(tasks_that_only_the_file_has_follow_in_its_order)
{
    const struct tg_bench_edges *edges =
        edges_of("{\"tasks\": [{\"task_id\": 1, \"after\": [9, 77]},"
                 "{\"task_id\": 8, \"after\": []}, {\"task_id\": 9, \"after\": [8]}]}");
    REQUIRE(edges);
    CHECK_EQ_U(edges->n_extra, 2);
    CHECK_EQ_U(edges->extra_id[0] + edges->extra_id[1], 17);
    CHECK_EQ_U(edges->unknown, 1); /* 77 */
    CHECK_EQ_U(edges->n_edges, 2);
    CHECK_EQ_U(tg_bench_edges_id(edges, run->tasks, edges->before[0]), 9);
    CHECK_EQ_U(tg_bench_edges_id(edges, run->tasks, edges->after[0]), 1);
    CHECK_EQ_U(tg_bench_edges_id(edges, run->tasks, edges->before[1]), 8);
    CHECK_EQ_U(edges->row_of[1], TG_BENCH_NONE);
    CHECK_EQ_U(edges->row_of[edges->task[1]], 1);
    end();
}

TEST(times_of_submission_count_from_the_first_task)
{
    const struct tg_bench_edges *edges =
        edges_of("{\"tasks\": [{\"task_id\": 1, \"submitted\": 1500}, {\"task_id\": 2}]}");
    REQUIRE(edges);
    CHECK(!edges->is_wide);
    CHECK(tg_bench_submitted_at(edges, 0) == 500.0);
    CHECK(isnan(tg_bench_submitted_at(edges, 1)));
    end();
}

TEST(a_task_submitted_before_the_first_one_began_has_a_negative_time)
{
    const struct tg_bench_edges *edges =
        edges_of("{\"tasks\": [{\"task_id\": 1}, {\"task_id\": 2, \"submitted\": 900}]}");
    REQUIRE(edges);
    CHECK(edges->is_wide);
    CHECK(isnan(tg_bench_submitted_at(edges, 0)));
    CHECK(tg_bench_submitted_at(edges, 1) == -100.0);
    end();
}

TEST(of_several_lists_the_last_one_counts)
{
    const struct tg_bench_edges *edges =
        edges_of("{\"tasks\": [{\"task_id\": 50, \"after\": [51]}],"
                 "\"tasks\": [{\"task_id\": 2, \"after\": [1]}]}");
    REQUIRE(edges);
    CHECK_EQ_U(edges->count, 1);
    CHECK_EQ_U(edges->n_extra, 0);
    CHECK_EQ_U(edges->n_edges, 1);
    end();
}

TEST(edges_of_another_implementation_come_behind_its_tasks)
{
    const struct tg_bench_edges *edges =
        edges_of("{\"tasks\": [{\"task_id\": \"1\", \"kernel_ids\": [-1, 4, -1]}, {\"task_id\": "
                 "\"2\", \"kernel_ids\": [-1, 4, -1]}], \"edges\": [{\"pred\": \"1\", \"succ\": "
                 "\"2\", \"source\": \"creator\"}]}");
    REQUIRE(edges);
    CHECK_EQ_U(edges->count, 2);
    CHECK_EQ_S(edges->kernels.text[edges->kernel[0]], "#4");
    end();
}

TEST(a_file_that_is_none_is_not_there)
{
    CHECK(!edges_of("{\"tasks\": [{\"task_id\": }"));
    CHECK_EQ_I(dump_error.status, TG_BAD_ARGUMENT);
    CHECK_REPLY(409, "deps.json", "edges?");
    end();
}

TEST(a_run_without_the_file_says_so)
{
    numbers_begin();
    made_task(1, 10, 20);
    numbers_open();
    CHECK_REPLY(409, "the run has no deps.json", "edges?");
    numbers_close();
}

TEST_MAIN()
