/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of communication in the times of a run: one task each, which keeps no core while it waits. */
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include "analysis/timeline_calls.h"
#include "analysis/timing.h"

static struct tg_error error;
static struct tg_timeline line;
static char folder[64];

static void add(uint64_t id, uint32_t core, const char *kernel, uint64_t begin, uint64_t end,
                uint8_t flags)
{
    struct tg_timeline_part part = tg_timeline_part_of(id);
    part.core = tg_timeline_add_core(&line, core, TG_AIV, "");
    part.kernel = tg_timeline_add_kernel(&line, TG_TIMELINE_NONE, TG_CORE_KINDS, kernel);
    part.begin = begin;
    part.end = end;
    part.flags = flags;
    CHECK(tg_timeline_add_part(&line, &part));
}

/* A run whose task 2 is a receive: 1 on core 0 until 20; the receive is finished by core 1 at 60; then 3. */
static void start(const char *comm)
{
    char path[128];
    tg_timeline_start(&line);
    add(1, 0, "a", 10, 20, 0);
    add(3, 0, "a", 65, 80, 0);
    CHECK(tg_timeline_add_edge(&line, 1, 2));
    CHECK(tg_timeline_add_edge(&line, 2, 3));
    line.facts.has_edges = line.facts.host_built = true;
    line.facts.start = 0;
    snprintf(folder, sizeof folder, "/tmp/taskglass_test_calls_XXXXXX");
    REQUIRE(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/comm.jsonl", folder);
    if (!comm)
        return;
    FILE *file = fopen(path, "w");
    REQUIRE(file);
    fprintf(file, "{\"version\":1,\"rank\":1,\"ranks\":2}\n%s\n", comm);
    fclose(file);
}

static struct tg_timing *finish(struct tg_timing_info *info)
{
    char path[128];
    struct tg_timing *timing = NULL;
    CHECK_EQ_I(tg_timeline_finish(&line, &error), TG_OK);
    CHECK_EQ_I(tg_timeline_take_calls(&line, folder, &error), TG_OK);
    CHECK_EQ_I(tg_timing_of_timeline(&line, "here", &timing, &error), TG_OK);
    REQUIRE(timing);
    tg_timing_get_info(timing, info);
    snprintf(path, sizeof path, "%s/comm.jsonl", folder);
    (void)unlink(path);
    CHECK_EQ_I(rmdir(folder), 0);
    return timing;
}

#define CALL(posted, done)                                                                         \
    "{\"task\":\"0000000000000002\",\"call\":\"tg_recv\",\"peer\":0,\"tag\":3,\"operation\":null," \
    "\"number\":0,\"dtype\":\"float32\",\"elements\":4,\"bytes\":16,\"site\":\"a.c:1\","           \
    "\"posted_ns\":\"" posted "\",\"matched_ns\":null,\"done_ns\":\"" done                         \
    "\",\"state\":\"done\"}"

static void check_sum(const struct tg_timing_info *info)
{
    uint64_t sum = 0;
    for (int i = 0; i < TG_SPENT_KINDS; i++)
        sum += info->spent[i];
    CHECK_EQ_U(sum, info->end - info->start);
}

TEST(the_time_from_post_to_done_is_communication)
{
    struct tg_timing_info info;
    struct tg_timing_task task;
    struct tg_note note;
    start(CALL("25", "50"));
    add(2, 1, "tg_recv", 60, 62, 0);
    struct tg_timing *timing = finish(&info);
    CHECK_EQ_U(info.calls, 1);
    CHECK_EQ_U(info.comm, 25);
    CHECK_EQ_U(info.spent[TG_SPENT_COMM], 25);
    CHECK_EQ_U(info.spent[TG_SPENT_RUN], 10 + 2 + 15);
    check_sum(&info);
    CHECK(tg_timing_get_task(timing, 1, &task));
    CHECK_EQ_U(task.begin, 25);
    CHECK_EQ_U(task.end, 62);
    CHECK_EQ_U(task.comm, 25);
    CHECK_EQ_I(task.peer, 0);
    CHECK(task.is_call);
    bool is_said = false;
    for (unsigned i = 0; tg_timing_note(timing, i, &note); i++)
        is_said |= strstr(note.text, "longest in tg_recv from rank 0: 25 ns, task 0:2") != NULL;
    CHECK(is_said);
    tg_timing_close(timing);
}

TEST(a_core_is_idle_while_a_call_waits)
{
    struct tg_timing_info info;
    struct tg_timing_core core;
    start(CALL("25", "50"));
    add(2, 1, "tg_recv", 60, 62, 0);
    struct tg_timing *timing = finish(&info);
    CHECK(tg_timing_get_core(timing, 1, &core));
    CHECK_EQ_U(core.run, 2);
    CHECK_EQ_U(info.bound_chain, 10 + 2 + 15);
    tg_timing_close(timing);
}

TEST(without_a_list_of_calls_a_call_begins_when_it_was_ready)
{
    struct tg_timing_info info;
    start(NULL);
    add(2, 1, "tg_recv", 60, 62, 0);
    struct tg_timeline_task task = tg_timeline_task_of(2);
    task.ready = 20;
    CHECK(tg_timeline_add_task(&line, &task));
    struct tg_timing *timing = finish(&info);
    CHECK_EQ_U(info.spent[TG_SPENT_COMM], 40);
    check_sum(&info);
    tg_timing_close(timing);
}

/* A recording has nothing from before a receive, and nothing from after a send. */
TEST(a_call_that_was_recorded_once_gets_its_other_time_from_the_list)
{
    struct tg_timing_info info;
    start(CALL("25", "50"));
    add(2, 1, "tg_recv", 60, 60, TG_TIMELINE_NO_BEGIN);
    struct tg_timing *timing = finish(&info);
    CHECK_EQ_U(info.half_timed, 0);
    CHECK_EQ_U(info.spent[TG_SPENT_COMM], 25);
    check_sum(&info);
    tg_timing_close(timing);
    start(CALL("25", "50"));
    add(2, 1, "tg_recv", 24, 24, TG_TIMELINE_NO_END);
    timing = finish(&info);
    CHECK_EQ_U(info.half_timed, 0);
    check_sum(&info);
    tg_timing_close(timing);
}

TEST(times_of_another_clock_are_not_used)
{
    struct tg_timing_info info;
    start(CALL("9000000000000", "9000000000100"));
    add(2, 1, "tg_recv", 60, 62, 0);
    struct tg_timing *timing = finish(&info);
    CHECK_EQ_U(info.calls, 1);
    CHECK_EQ_U(info.comm, 0);
    check_sum(&info);
    tg_timing_close(timing);
}

TEST(a_list_that_contradicts_the_times_makes_no_nonsense)
{
    static const char *const lists[] = {CALL("70", "75"), CALL("0", "1"), CALL("50", "25"),
                                        CALL("61", "61"), "{]",           ""};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct tg_timing_info info;
        start(lists[i]);
        add(2, 1, "tg_recv", 60, 62, 0);
        struct tg_timing *timing = finish(&info);
        check_sum(&info);
        tg_timing_close(timing);
    }
}

TEST_MAIN()
