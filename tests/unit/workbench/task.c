/* SPDX-License-Identifier: Apache-2.0 */
/* The answers to `task` and `records`. */
#define _GNU_SOURCE 1
#include "unit/workbench/made.h"

/* Tasks 1 and 1:2, which waited for it; deps.json also has 7. */
static void open_run(void)
{
    struct tg_record argument = made_record(TG_TASK_NONE, TG_STAGE_ORCHESTRATION, 0);
    argument.shape[0] = 8;
    argument.bytes = 32;
    argument.data_ptr = 0x5000;
    numbers_begin();
    made_add(&argument);
    struct tg_record before = made_record(1, TG_BEFORE_DISPATCH, 100);
    before.data_ptr = 0x5008;
    made_add(&before);
    made_task(1, 0, 400);
    made_task(UINT64_C(0x100000002), 500, 900);
    made_file("run.json", "{\"workload\": \"w\", \"result\": {\"status\": \"OK\"}, \"tensors\": "
                          "[{\"name\": \"x<b>\", \"arg\": 0, \"dtype\": \"float32\", \"bytes\": "
                          "32, \"address\": \"0x5000\"}]}");
    made_file("deps.json",
              "{\"tasks\": [{\"task_id\": 1, \"kernel\": [\"add\"], \"func_id\": [0], \"scope\": "
              "\"s.c:1\", \"line\": \"s.c:2\", \"submitted\": 50, \"after\": [], \"kind\": []},"
              "{\"task_id\": 4294967298, \"kernel\": [\"add\"], \"func_id\": [0], \"after\": [1], "
              "\"kind\": [\"raw\"]}, {\"task_id\": 7, \"kernel\": [\"late\"], \"func_id\": [1], "
              "\"after\": [1], \"kind\": [\"explicit\"]}]}");
    numbers_open();
}

TEST(a_task_has_its_times_its_neighbours_and_its_records)
{
    open_run();
    struct reply reply = ask("task?task=1");
    CHECK_EQ_I(reply.answer.status, 200);
    CHECK_HAS(reply.text, "\"id\": \"1\"");
    CHECK_HAS(reply.text, "\"hex\": \"0x0000000000000001\"");
    CHECK_HAS(reply.text, "\"kernels\": [\"add\"]");
    CHECK_HAS(reply.text, "\"begin_ns\": 0");
    CHECK_HAS(reply.text, "\"end_ns\": 300");
    CHECK_HAS(reply.text, "\"submitted_ns\": -50");
    CHECK_HAS(reply.text, "\"scope\": \"s.c:1\"");
    CHECK_HAS(reply.text, "\"n_waits_for\": 0");
    CHECK_HAS(reply.text, "{\"id\": \"1:2\", \"kernel\": \"add\", \"kind\": \"raw\"}");
    CHECK_HAS(reply.text, "{\"id\": \"7\", \"kernel\": \"late\", \"kind\": \"explicit\"}");
    CHECK_HAS(reply.text, "\"n_waited_by\": 2");
    CHECK_HAS(reply.text, "\"index\": 1, \"task\": \"1\"");
    CHECK_HAS(reply.text, "\"index\": 2, \"task\": \"1\"");
    reply_free(&reply);
    numbers_close();
}

TEST(a_task_is_found_in_every_notation)
{
    open_run();
    CHECK_REPLY(200, "\"id\": \"1:2\"", "task?task=1:2");
    CHECK_REPLY(200, "\"id\": \"1:2\"", "task?task=0x100000002");
    CHECK_REPLY(200, "\"id\": \"1:2\"", "task?task=4294967298");
    CHECK_REPLY(400, "is not one task", "task?task=1-2");
    CHECK_REPLY(400, "is not one task", "task?task=1,7");
    CHECK_REPLY(400, "'x'", "task?task=x");
    CHECK_REPLY(404, "the run has no task 99", "task?task=99");
    CHECK_REPLY(400, "needs the parameter 'task'", "task?");
    numbers_close();
}

TEST(a_task_that_only_deps_json_has_is_shown)
{
    open_run();
    struct reply reply = ask("task?task=7");
    CHECK_EQ_I(reply.answer.status, 200);
    CHECK_HAS(reply.text, "\"kernels\": [\"late\"]");
    CHECK_HAS(reply.text, "\"begin_ns\": null");
    CHECK_HAS(reply.text, "\"records\": []");
    reply_free(&reply);
    numbers_close();
}

TEST(without_deps_json_neighbours_are_not_known)
{
    numbers_begin();
    made_task(1, 10, 20);
    numbers_open();
    struct reply reply = ask("task?task=1");
    CHECK_EQ_I(reply.answer.status, 200);
    CHECK_HAS(reply.text, "\"n_waits_for\": null");
    CHECK_HAS(reply.text, "\"edges_error\": \"the run has no deps.json");
    reply_free(&reply);
    numbers_close();
}

TEST(a_view_is_named_as_the_case_names_it)
{
    open_run();
    CHECK_REPLY(200, "\"name\": \"x<b>[2:4]\"", "records?task=1&stage=before");
    CHECK_REPLY(200, "\"name\": \"x<b>\"", "records?stage=orchestration");
    numbers_close();
}

TEST(records_come_in_pages)
{
    open_run();
    CHECK_REPLY(200, "\"next\": 2", "records?first=0&count=2");
    CHECK_REPLY(200, "\"index\": 2", "records?first=2&count=2");
    CHECK_REPLY(200, "\"next\": null", "records?first=4&count=500");
    CHECK_REPLY(200, "\"records\": []", "records?first=1000000&count=500");
    CHECK_REPLY(200, "\"total\": 5", "records?");
    CHECK_REPLY(400, "from 1 to 500", "records?count=501");
    numbers_close();
}

TEST(filters_select_records)
{
    open_run();
    struct reply reply = ask("records?stage=after&task=1");
    CHECK_EQ_I(reply.answer.status, 200);
    CHECK_HAS(reply.text, "\"index\": 2");
    CHECK(!strstr(reply.text, "\"index\": 1,"));
    CHECK(!strstr(reply.text, "\"index\": 4,"));
    reply_free(&reply);
    CHECK_REPLY(400, "is not a valid stage", "records?stage=middle");
    numbers_close();
}

TEST_MAIN()
