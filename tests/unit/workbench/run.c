/* SPDX-License-Identifier: Apache-2.0 */
/* The answers to `run`, `rings` and `explain`: what a run is and has. */
#define _GNU_SOURCE 1
#include "unit/workbench/made.h"

static const char run_json[] =
    "{\"workload\": \"w\", \"command_line\": [\"taskglass\", \"run\", \"w\"], \"result\": "
    "{\"status\": \"OK\"}, \"odd\": \"</script>\\u001b[2J\"}";

TEST(a_run_tells_what_it_has_and_what_not)
{
    numbers_begin();
    made_task(1, 10, 20);
    made_file("run.json", run_json);
    made_file("deps.json", "{\"tasks\": []}");
    numbers_open();
    struct reply reply = ask("run?");
    CHECK_EQ_I(reply.answer.status, 200);
    CHECK_HAS(reply.text, "\"times\": \"\"");
    CHECK_HAS(reply.text, "\"edges\": \"\"");
    CHECK_HAS(reply.text, "\"scopes\": \"the run took no scope stats");
    CHECK_HAS(reply.text, "\"level\": \"full\"");
    CHECK_HAS(reply.text, "\"no_recording\": \"\"");
    CHECK_HAS(reply.text, "\"workload\": \"w\"");
    CHECK_HAS(reply.text, "\"live\": false");
    CHECK_HAS(reply.text, "\"generation\": 1");
    CHECK(!strchr(reply.text, '\x1b'));
    reply_free(&reply);
    numbers_close();
}

TEST(a_run_without_a_recording_says_why)
{
    dump_make_dir();
    made_file("run.json", run_json);
    REQUIRE(tg_workbench_open(&(struct tg_workbench_config){.path = dump_dir}, &numbers_bench,
                              &dump_error) == TG_OK);
    struct reply reply = ask("run?");
    CHECK_EQ_I(reply.answer.status, 200);
    CHECK_HAS(reply.text, "\"recording\": null");
    CHECK_HAS(reply.text, "has no recording");
    CHECK_HAS(reply.text, "\"workload\": \"w\"");
    reply_free(&reply);
    numbers_close();
}

TEST(a_broken_run_json_is_null)
{
    numbers_begin();
    made_task(1, 10, 20);
    made_file("run.json", "{\"workload\": ");
    numbers_open();
    CHECK_REPLY(200, "\"run_json\": null", "run?");
    numbers_close();
}

TEST(scopes_are_the_document_of_the_scope_page)
{
    REQUIRE(tg_workbench_open(&(struct tg_workbench_config){.path = TASKGLASS_TEST_SOURCE_DIR
                                                            "/tests/golden/scope_stats_v6"},
                              &numbers_bench, &dump_error) == TG_OK);
    struct reply reply = ask("rings?");
    CHECK_EQ_I(reply.answer.status, 200);
    CHECK_HAS(reply.text, "\"capacity\": [[");
    CHECK_HAS(reply.text, "\"sites\": [\"");
    CHECK_HAS(reply.text, "\"stream\": \"");
    reply_free(&reply);
    numbers_close();
}

TEST(scope_stats_that_are_none_are_the_files_fault)
{
    char path[400];
    numbers_begin();
    made_task(1, 10, 20);
    snprintf(path, sizeof path, "%s/scope_stats", dump_dir);
    REQUIRE(mkdir(path, 0700) == 0);
    made_file("scope_stats/scope_stats.jsonl", "nonsense");
    numbers_open();
    CHECK_REPLY(409, "scope_stats.jsonl", "rings?");
    numbers_close();
}

TEST(a_run_without_scope_stats_says_so)
{
    numbers_begin();
    made_task(1, 10, 20);
    numbers_open();
    CHECK_REPLY(409, "took no scope stats", "rings?");
    numbers_close();
}

TEST(a_run_is_explained_from_its_run_json)
{
    numbers_begin();
    made_task(1, 10, 20);
    made_file("run.json", run_json);
    numbers_open();
    CHECK_REPLY(200, "\"result\": \"ended well\"", "explain?");
    numbers_close();
}

TEST(a_run_that_left_nothing_behind_cannot_be_explained)
{
    numbers_begin();
    made_task(1, 10, 20);
    numbers_open();
    CHECK_REPLY(409, "nothing is known about how this run ended", "explain?");
    numbers_close();
}

TEST_MAIN()
