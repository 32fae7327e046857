/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "recording/ranks.h"

#include <taskglass/dtype.h>

#include "recording.h"

#define HEAD "{\"version\":1,\"rank\":1,\"ranks\":4}\n"

static struct tg_ranks *ranks;
static struct tg_calls *calls;

static tg_status read_ranks(const char *text)
{
    return tg_ranks_read("dir", text, strlen(text), &ranks, &dump_error);
}

static tg_status read_calls(const char *text)
{
    return tg_calls_read("comm.jsonl", text, strlen(text), &calls, &dump_error);
}

/* ── ranks.json ────────────────────────────────────────────────────────────────────────── */

TEST(a_ranks_json_says_how_each_rank_ended)
{
    struct tg_ranks_info info;
    struct tg_ranks_rank rank;
    REQUIRE(read_ranks(
                "{\"version\": 1, \"workload\": \"mlp\", \"case\": \"small\", \"ranks\": 3, "
                "\"transport\": \"local\", \"about\": \"shared memory\", \"status\": \"HANG\", "
                "\"rank\": [{\"rank\": 1, \"folder\": \"rank1\", \"host\": \"node\", \"pid\": 7, "
                "\"local_rank\": 1, \"status\": \"RANK_LOST\", \"error\": \"gone\", "
                "\"ended_ns\": \"12\", \"clock\": {\"offset_ns\": \"-5\", \"drift\": 1e-6, "
                "\"at_ns\": \"100\", \"error_ns\": 9, \"samples\": 4}}]}") == TG_OK);
    tg_ranks_get_info(ranks, &info);
    CHECK(info.ranks == 3 && info.status == TG_HANG && info.has_status && !info.is_running);
    CHECK_EQ_S(info.about, "shared memory");
    REQUIRE(tg_ranks_get(ranks, 1, &rank));
    CHECK(rank.is_listed && rank.status == TG_RANK_LOST && rank.pid == 7 && rank.ended_ns == 12);
    CHECK_EQ_S(rank.dir, "dir/rank1");
    CHECK(rank.clock.is_known && rank.clock.error_ns == 9);
    REQUIRE(tg_ranks_get(ranks, 2, &rank));
    CHECK(!rank.is_listed && !rank.has_status && !rank.clock.is_known);
    CHECK_EQ_S(rank.folder, "rank2");
    CHECK(!tg_ranks_get(ranks, 3, &rank));
    tg_ranks_close(ranks);
}

TEST(a_run_that_has_not_ended_is_running_and_has_no_status)
{
    struct tg_ranks_info info;
    REQUIRE(read_ranks("{\"version\":1,\"ranks\":1,\"status\":\"RUNNING\",\"rank\":[]}") == TG_OK);
    tg_ranks_get_info(ranks, &info);
    CHECK(info.is_running && !info.has_status);
    tg_ranks_close(ranks);
}

TEST(a_ranks_json_that_lies_is_refused_with_the_line)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"version\":2,\"ranks\":1}",
        "{\"version\":1,\"ranks\":0}",
        "{\"version\":1,\"ranks\":4097}",
        "{\"version\":1,\"ranks\":1,\"rank\":{}}",
        "{\"version\":1,\"ranks\":1,\"rank\":[{}]}",
        "{\"version\":1,\"ranks\":1,\"rank\":[{\"rank\":1}]}",
        "{\"version\":1,\"ranks\":2,\"rank\":[{\"rank\":1},{\"rank\":1}]}",
        "{\"version\":1,\"ranks\":1,\"rank\":[{\"rank\":0,\"folder\":\"a/b\"}]}",
        "{\"version\":1,\"ranks\":1,\"rank\":[{\"rank\":0,\"folder\":\"..\"}]}",
        "{\"version\":1,\"ranks\":1,\"rank\":[]} x",
        "{\"version\":1,\"ranks\":1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(read_ranks(bad[i]) == TG_BAD_ARGUMENT);
        CHECK(ranks == NULL && strstr(dump_error.text, "line 1"));
    }
}

TEST(a_clock_gives_the_time_of_rank_0_and_never_overflows)
{
    struct tg_ranks_clock clock = {
        .is_known = true, .offset_ns = -50, .at_ns = 1000, .drift = 1e-3};
    CHECK_EQ_I(tg_ranks_time(&clock, 2000), 1951);
    clock.offset_ns = INT64_MIN;
    CHECK(tg_ranks_time(&clock, INT64_MIN) == INT64_MIN);
    clock.offset_ns = INT64_MAX;
    CHECK(tg_ranks_time(&clock, INT64_MAX) == INT64_MAX);
    clock.is_known = false;
    CHECK_EQ_I(tg_ranks_time(&clock, 7), 7);
}

/* ── comm.jsonl ────────────────────────────────────────────────────────────────────────── */

static const char some[] = HEAD
    "{\"task\":\"0000000100000005\",\"call\":\"tg_send\",\"peer\":2,\"tag\":3,\"operation\":null,"
    "\"number\":1,\"dtype\":\"float32\",\"elements\":4,\"bytes\":16,\"site\":\"a.c:3\","
    "\"posted_ns\":\"10\",\"matched_ns\":null,\"done_ns\":null,\"state\":\"waits\"}\n"
    "{\"task\":\"6\",\"call\":\"tg_all_reduce\",\"operation\":\"max\",\"number\":0,"
    "\"dtype\":\"int8\",\"elements\":1,\"bytes\":1,\"state\":\"done\"}\n";

TEST(calls_are_found_by_task_by_message_and_by_number)
{
    struct tg_call call;
    struct tg_calls_info info;
    REQUIRE(read_calls(some) == TG_OK);
    tg_calls_get_info(calls, &info);
    CHECK(info.rank == 1 && info.ranks == 4 && info.calls == 2 && info.damaged == 0);
    REQUIRE(tg_calls_of_task(calls, UINT64_C(0x100000005), &call));
    CHECK(call.kind == TG_COMM_SEND && call.peer == 2 && call.tag == 3 && call.number == 1);
    CHECK(call.state == TG_CALL_WAITS && call.posted_ns == 10 && call.matched_ns == TG_CALL_NEVER);
    CHECK(call.operation == TG_COMM_NONE && call.dtype == TG_FLOAT32);
    CHECK_EQ_S(call.site, "a.c:3");
    CHECK(tg_calls_find(calls, TG_COMM_SEND, 2, 3, 1, &call));
    CHECK(!tg_calls_find(calls, TG_COMM_RECV, 2, 3, 1, &call));
    CHECK(!tg_calls_find(calls, TG_COMM_SEND, 2, 3, 0, &call));
    REQUIRE(tg_calls_collective(calls, 0, &call));
    CHECK(call.task == 6 && call.operation == TG_MAX && call.peer == TG_COMM_NONE);
    CHECK(!tg_calls_collective(calls, 1, NULL) && !tg_calls_of_task(calls, 7, NULL));
    tg_calls_close(calls);
}

TEST(the_other_side_of_a_send_is_the_receive_with_its_tag_and_number)
{
    struct tg_call send = {.kind = TG_COMM_SEND, .peer = 1, .tag = 5, .number = 0}, other;
    REQUIRE(read_calls(HEAD
                       "{\"task\":\"1\",\"call\":\"tg_recv\",\"peer\":3,\"tag\":5,\"number\":0,"
                       "\"state\":\"done\"}\n") == TG_OK);
    CHECK(tg_calls_other_side(calls, 3, &send, &other) && other.task == 1);
    CHECK(!tg_calls_other_side(calls, 2, &send, &other));
    send.number = 1;
    CHECK(!tg_calls_other_side(calls, 3, &send, &other));
    tg_calls_close(calls);
}

TEST(lines_that_no_rank_can_have_written_are_left_out_and_counted)
{
    static const char *const bad[] = {
        "{",
        "[]",
        "{\"task\":\"1\"}",
        "x",
        "{\"task\":\"1\",\"call\":\"tg_send\",\"peer\":4,\"tag\":0,\"number\":0,\"state\":\"done\"}",
        "{\"task\":\"1\",\"call\":\"tg_send\",\"peer\":1,\"number\":0,\"state\":\"done\"}",
        "{\"task\":\"1\",\"call\":\"tg_all_reduce\",\"number\":0,\"state\":\"done\"}",
        "{\"task\":\"g\",\"call\":\"tg_all_gather\",\"number\":0,\"state\":\"done\"}",
        "{\"task\":\"1\",\"call\":\"tg_all_gather\",\"number\":0,\"state\":\"gone\"}",
        "{\"task\":\"1\",\"call\":\"tg_what\",\"number\":0,\"state\":\"done\"}",
        "{\"task\":\"1\",\"call\":\"tg_all_gather\",\"number\":-1,\"state\":\"done\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[2000];
        struct tg_calls_info info;
        snprintf(text, sizeof text, "%s%s\n", some, bad[i]);
        REQUIRE(read_calls(text) == TG_OK);
        tg_calls_get_info(calls, &info);
        CHECK(info.calls == 2 && info.damaged == 1);
        tg_calls_close(calls);
    }
}

static bool is_complete(const char *lines)
{
    char text[2000];
    struct tg_calls_info info = {0};
    snprintf(text, sizeof text, "%s%s", some, lines);
    if (read_calls(text) == TG_OK)
        tg_calls_get_info(calls, &info);
    tg_calls_close(calls);
    return info.is_complete;
}

TEST(a_file_is_complete_if_its_last_line_counts_its_calls)
{
    CHECK(is_complete("{\"end\":true,\"calls\":2}\n"));
    CHECK(is_complete("{\"end\":true,\"calls\":2}"));
    CHECK(!is_complete(""));
    CHECK(!is_complete("{\"end\":true,\"calls\":3}\n"));
    CHECK(!is_complete("{\"end\":true}\n"));
    CHECK(!is_complete("{\"end\":false,\"calls\":2}\n"));
    CHECK(!is_complete("{\"end\":true,\"calls\":2}\n{\"end\":true,\"calls\":2}\n"));
}

TEST(the_second_line_of_a_task_or_of_a_call_is_left_out_and_counted)
{
    static const char *const again[] = {
        "{\"task\":\"6\",\"call\":\"tg_all_gather\",\"number\":9,\"state\":\"done\"}",
        "{\"task\":\"8\",\"call\":\"tg_all_gather\",\"number\":0,\"state\":\"done\"}",
        "{\"task\":\"9\",\"call\":\"tg_send\",\"peer\":2,\"tag\":3,\"number\":1,\"state\":\"done\"}"};
    for (size_t i = 0; i < sizeof again / sizeof again[0]; i++) {
        char text[2000];
        struct tg_calls_info info;
        struct tg_call call;
        snprintf(text, sizeof text, "%s%s\n{\"end\":true,\"calls\":3}\n", some, again[i]);
        REQUIRE(read_calls(text) == TG_OK);
        tg_calls_get_info(calls, &info);
        CHECK(info.calls == 2 && info.damaged == 1 && !info.is_complete);
        CHECK(tg_calls_collective(calls, 0, &call) && call.kind == TG_COMM_ALL_REDUCE);
        tg_calls_close(calls);
    }
}

TEST(a_file_without_its_first_line_is_none)
{
    static const char *const bad[] = {"", "\n", "{}\n", "{\"version\":2,\"rank\":0,\"ranks\":1}\n",
                                      "{\"version\":1,\"rank\":1,\"ranks\":1}\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(read_calls(bad[i]) == TG_BAD_ARGUMENT && calls == NULL);
}

/* ── directories ───────────────────────────────────────────────────────────────────────── */

TEST(a_directory_knows_which_folders_of_ranks_are_there)
{
    struct tg_ranks_rank rank;
    char path[600];
    bool is = true;
    dump_make_dir();
    CHECK(tg_ranks_look(dump_dir, &is, &dump_error) == TG_OK && !is);
    CHECK(tg_ranks_open(dump_dir, &ranks, &dump_error) == TG_NOT_FOUND);
    snprintf(path, sizeof path, "%s/rank1", dump_dir);
    REQUIRE(mkdir(path, 0700) == 0);
    CHECK(tg_calls_open(path, &calls, &dump_error) == TG_NOT_FOUND);
    snprintf(path, sizeof path, "%s/ranks.json", dump_dir);
    FILE *file = fopen(path, "w");
    REQUIRE(file);
    fputs("{\"version\":1,\"ranks\":2,\"rank\":[]}", file);
    fclose(file);
    CHECK(tg_ranks_look(dump_dir, &is, &dump_error) == TG_OK && is);
    REQUIRE(tg_ranks_open(dump_dir, &ranks, &dump_error) == TG_OK);
    CHECK(tg_ranks_get(ranks, 0, &rank) && !rank.is_there);
    CHECK(tg_ranks_get(ranks, 1, &rank) && rank.is_there);
    tg_ranks_close(ranks);
}

TEST_MAIN()
