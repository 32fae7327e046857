/* SPDX-License-Identifier: Apache-2.0 */
/* The answers to `timeline`, of recordings and of another implementation's times. */
#define _GNU_SOURCE 1
#include "unit/workbench/made.h"

TEST(the_columns_have_what_the_index_has)
{
    numbers_begin();
    made_task(UINT64_C(0x100000000), 1000, 3000);
    made_task(1, 2000, 2500);
    numbers_open();
    struct reply reply = ask("timeline?");
    CHECK_EQ_I(reply.answer.status, 200);
    CHECK_HAS(reply.text, "\"start_ns\": \"1000\"");
    CHECK_HAS(reply.text, "\"span_ns\": 2000");
    CHECK_HAS(reply.text, "\"source\": \"recording\"");
    CHECK_HAS(reply.text, "\"kernels\": [\"add\"]");
    CHECK_HAS(reply.text, "{\"number\": 1, \"kind\": \"AIV\", \"name\": \"core 1 (AIV0)\"}");
    CHECK_EQ_U(((const uint64_t *)reply_column(&reply, "id"))[1], UINT64_C(0x100000000));
    CHECK_EQ_U(((const uint32_t *)reply_column(&reply, "first_part"))[2], 2);
    CHECK_EQ_U(((const uint32_t *)reply_column(&reply, "records"))[0], 2);
    CHECK_EQ_U(((const uint32_t *)reply_column(&reply, "part_begin"))[0], 1000);
    CHECK_EQ_U(((const uint32_t *)reply_column(&reply, "part_end"))[1], 2000);
    reply_free(&reply);
    numbers_close();
}

TEST(a_kernel_without_a_name_has_its_number_in_every_answer)
{
    struct tg_record record = made_record(1, TG_BEFORE_DISPATCH, 10);
    record.kernel[TG_PART_AIV0] = 3;
    numbers_begin();
    made_add(&record);
    record.time = 0;
    record.task_id = 2;
    made_add(&record); /* a task without times */
    numbers_open();
    struct reply timeline = ask("timeline?"), timed = ask("task?task=1"),
                 other = ask("task?task=2");
    CHECK_HAS(timeline.text, "\"kernels\": [\"#3\"]");
    CHECK_HAS(timed.text, "\"kernels\": [\"#3\"]");
    CHECK_HAS(other.text, "\"kernels\": [\"#3\"]");
    reply_free(&timeline);
    reply_free(&timed);
    reply_free(&other);
    numbers_close();
}

TEST(a_mix_without_times_has_each_kernel_of_its_records)
{
    struct tg_record record = made_record(1, TG_BEFORE_DISPATCH, 0);
    record.kernel[TG_PART_AIC] = 3;
    numbers_begin();
    made_add(&record);
    made_file("deps.json", "{\"tasks\": [{\"task_id\": 1, \"kernel\": [\"\", \"add\"], "
                           "\"func_id\": [3, 0], \"after\": []}]}");
    numbers_open();
    struct reply reply = ask("task?task=1");
    CHECK_HAS(reply.text, "\"kernels\": [\"#3\", \"add\"]");
    reply_free(&reply);
    numbers_close();
}

TEST(the_columns_outlive_their_request_but_not_the_answer)
{
    numbers_begin();
    made_task(1, 10, 20);
    numbers_open();
    struct reply first = ask("timeline?"), second = ask("timeline?");
    CHECK(first.bytes == second.bytes); /* the run's own */
    reply_free(&first);
    CHECK_EQ_U(((const uint64_t *)reply_column(&second, "id"))[0], 1);
    reply_free(&second);
    numbers_close();
}

TEST(times_of_another_implementation_are_shown)
{
    numbers_begin();
    made_task(5, 10, 20);
    made_file("chip_swimlane_records.json",
              "{\"metadata\": {\"clock_freq_hz\": 1000000000, \"core_types\": [\"aic\"]}, "
              "\"aicore_tasks\": [[0, 1, 1, 1010, 1040]]}");
    numbers_open();
    struct reply reply = ask("timeline?");
    CHECK_EQ_I(reply.answer.status, 200);
    CHECK_HAS(reply.text, "\"source\": \"swimlane\"");
    CHECK_HAS(reply.text, "\"tasks\": 2"); /* 5 has records, and no time among these */
    const uint32_t *first = reply_column(&reply, "first_part");
    CHECK_EQ_U(first[1], 1);
    CHECK_EQ_U(first[2], 1);
    CHECK_EQ_U(((const uint32_t *)reply_column(&reply, "part_end"))[0], 30);
    CHECK_EQ_U(((const uint32_t *)reply_column(&reply, "records"))[1], 2);
    reply_free(&reply);
    numbers_close();
}

TEST(times_that_make_no_sense_leave_a_note)
{
    numbers_begin();
    made_task(5, 10, 20);
    made_file("chip_swimlane_records.json", "{\"aicore_tasks\": 7}");
    numbers_open();
    struct reply reply = ask("timeline?");
    CHECK_EQ_I(reply.answer.status, 200);
    CHECK_HAS(reply.text, "\"source\": \"recording\"");
    CHECK_HAS(reply.text, "chip_swimlane_records.json");
    reply_free(&reply);
    numbers_close();
}

TEST(a_run_without_a_recording_has_an_empty_timeline_that_says_why)
{
    dump_make_dir();
    made_file("run.json", "{\"workload\": \"w\", \"result\": {\"status\": \"OK\"}}");
    numbers_bench = NULL;
    REQUIRE(tg_workbench_open(&(struct tg_workbench_config){.path = dump_dir}, &numbers_bench,
                              &dump_error) == TG_OK);
    CHECK_REPLY(200, "has no recording", "timeline?");
    CHECK_REPLY(409, "has no recording", "records?");
    numbers_close();
}

TEST(an_unknown_parameter_is_refused)
{
    numbers_begin();
    made_task(1, 10, 20);
    numbers_open();
    CHECK_REPLY(400, "has no parameter 'tile'", "timeline?tile=1");
    numbers_close();
}

TEST_MAIN()
