/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of small runs, of which every number can be computed by hand. */
#include "test.h"

#include "analysis/timing.h"

static struct tg_error error;
static struct tg_timeline line;

static void add(uint64_t id, uint32_t core, const char *kernel, uint64_t begin, uint64_t end)
{
    struct tg_timeline_part part = tg_timeline_part_of(id);
    part.core = tg_timeline_add_core(&line, core, core == 0 ? TG_AIC : TG_AIV, "");
    part.kernel = tg_timeline_add_kernel(&line, TG_TIMELINE_NONE, TG_CORE_KINDS, kernel);
    part.begin = begin;
    part.end = end;
    part.part = (uint8_t)core;
    CHECK(tg_timeline_add_part(&line, &part));
}

static void submit(uint64_t id, uint64_t time)
{
    struct tg_timeline_task task = tg_timeline_task_of(id);
    task.submit = time;
    CHECK(tg_timeline_add_task(&line, &task));
}

static void edge(uint64_t before, uint64_t after)
{
    CHECK(tg_timeline_add_edge(&line, before, after));
}

static struct tg_timing *finish(struct tg_timing_info *info)
{
    struct tg_timing *timing = NULL;
    line.facts.has_edges = true;
    line.facts.start = 0;
    CHECK_EQ_I(tg_timeline_finish(&line, &error), TG_OK);
    CHECK_EQ_I(tg_timing_of_timeline(&line, "here", &timing, &error), TG_OK);
    tg_timing_get_info(timing, info);
    return timing;
}

static uint64_t what_if(const struct tg_timing *timing, struct tg_timing_change change)
{
    uint64_t span = 0;
    CHECK_EQ_I(tg_timing_what_if(timing, &change, &span, &error), TG_OK);
    return span;
}

/*   core 0:  [1: 10–20]  [3: 22–30]
 *   core 1:  [2: 12–40]  [4: 45–50], which waits for 1 and 3 */
static struct tg_timing *two_cores(struct tg_timing_info *info)
{
    tg_timeline_start(&line);
    add(1, 0, "a", 10, 20);
    add(3, 0, "a", 22, 30);
    add(2, 1, "b", 12, 40);
    add(4, 1, "c", 45, 50);
    submit(1, 4);
    submit(2, 5);
    submit(3, 6);
    submit(4, 7);
    edge(1, 3);
    edge(1, 4);
    edge(3, 4);
    return finish(info);
}

TEST(each_moment_of_the_path_is_spent_in_one_way)
{
    struct tg_timing_info info;
    struct tg_timing *timing = two_cores(&info);
    struct tg_timing_step step = {0};
    CHECK_EQ_U(info.end - info.start, 50);
    CHECK_EQ_U(info.steps, 3); /* 1, 3, 4 */
    CHECK_EQ_U(info.spent[TG_SPENT_RUN], 10 + 8 + 5);
    CHECK_EQ_U(info.spent[TG_SPENT_ORCHESTRATOR], 4);
    CHECK_EQ_U(info.spent[TG_SPENT_BUSY], 10); /* 4 is ready at 30, core 1 is busy until 40 */
    CHECK_EQ_U(info.spent[TG_SPENT_LATENCY], 6 + 2 + 5); /* before 1, before 3, from 40 to 45 */
    CHECK(tg_timing_get_step(timing, 2, &step));
    CHECK_EQ_U(step.from, 30);
    CHECK(!step.by_orchestrator);
    CHECK(!tg_timing_get_step(timing, 3, &step));
    tg_timing_close(timing);
}

TEST(idle_time_has_a_cause)
{
    struct tg_timing_info info;
    struct tg_timing *timing = two_cores(&info);
    struct tg_timing_core core = {0};
    CHECK(tg_timing_get_core(timing, 1, &core));
    CHECK_EQ_U(core.idle, 12 + 5);
    CHECK_EQ_U(core.nothing, 4);     /* until 1 was submitted */
    CHECK_EQ_U(core.other, 1);       /* 1 was ready, but 2 not yet */
    CHECK_EQ_U(core.latency, 7 + 5); /* 2 from 5 to 12, 4 from 40 to 45 */
    CHECK_EQ_U(info.wait, 6 + 7 + 2 + 15);
    CHECK_EQ_U(info.wait_busy, 10);
    tg_timing_close(timing);
}

TEST(bounds_and_changes_are_what_they_say)
{
    struct tg_timing_info info;
    struct tg_timing *timing = two_cores(&info);
    struct tg_timing_kernel kernel = {0};
    CHECK_EQ_U(info.bound_chain, 28); /* task 2 alone; 1, 3 and 4 take 23 */
    CHECK_EQ_U(info.bound_work, 33);  /* 2 and 4 on the only core of their kind */
    CHECK_EQ_U(what_if(timing, (struct tg_timing_change){.kernel = TG_NONE, .percent = 100}), 50);
    /* 2 runs from 5 to 33, then 4. */
    CHECK_EQ_U(what_if(timing, (struct tg_timing_change){.no_latency = true, .kernel = TG_NONE}),
               38);
    /* 4 begins 5 after 3 ended at 30. 2 ends at 40 all the same. */
    CHECK_EQ_U(
        what_if(timing, (struct tg_timing_change){.unlimited_cores = true, .kernel = TG_NONE}), 40);
    /* 1 begins at 6, 2 at 7: all of it is 5 earlier. */
    CHECK_EQ_U(
        what_if(timing, (struct tg_timing_change){.no_orchestrator = true, .kernel = TG_NONE}), 45);
    for (uint64_t i = 0; tg_timing_get_kernel(timing, i, &kernel); i++)
        if (kernel.name[0] == 'b') /* 4 then begins 5 behind 3 */
            CHECK_EQ_U(what_if(timing, (struct tg_timing_change){.kernel = i, .percent = 50}), 40);
    tg_timing_close(timing);
}

TEST(the_path_goes_through_a_task_that_the_orchestrator_waited_for)
{
    struct tg_timing_info info;
    struct tg_timeline_wait wait = {.begin = 8, .end = 22, .task = 1, .cause = ""};
    struct tg_timing_step step = {0};
    tg_timeline_start(&line);
    add(1, 0, "a", 10, 20);
    add(2, 0, "a", 30, 35);
    submit(1, 5);
    submit(2, 25);
    CHECK(tg_timeline_add_wait(&line, &wait));
    struct tg_timing *timing = finish(&info);
    CHECK_EQ_U(info.steps, 2);
    CHECK(tg_timing_get_step(timing, 1, &step));
    CHECK(step.by_orchestrator);
    CHECK_EQ_U(step.after, 0);
    CHECK_EQ_U(step.spent[TG_SPENT_ORCHESTRATOR], 3); /* from 22 to 25 */
    CHECK_EQ_U(step.spent[TG_SPENT_HANDOVER], 2);     /* from 20 to 22 */
    CHECK_EQ_U(step.spent[TG_SPENT_LATENCY], 5);
    CHECK_EQ_U(info.spent[TG_SPENT_ROOM], 0);
    tg_timing_close(timing);
}

TEST(a_wait_for_an_unknown_task_is_a_wait_for_room)
{
    struct tg_timing_info info;
    struct tg_timeline_wait wait = {.begin = 8, .end = 22, .task = TG_TASK_NONE, .cause = ""};
    tg_timeline_start(&line);
    add(2, 0, "a", 30, 35);
    submit(2, 25);
    CHECK(tg_timeline_add_wait(&line, &wait));
    struct tg_timing *timing = finish(&info);
    CHECK_EQ_U(info.spent[TG_SPENT_ROOM], 14);
    CHECK_EQ_U(info.spent[TG_SPENT_ORCHESTRATOR], 8 + 3);
    tg_timing_close(timing);
}

TEST(a_mix_waits_for_cores_of_both_kinds)
{
    struct tg_timing_info info;
    tg_timeline_start(&line);
    add(1, 0, "a", 0, 10);
    add(2, 0, "m", 12, 20);
    add(2, 1, "n", 12, 20);
    submit(1, 0);
    submit(2, 0);
    struct tg_timing *timing = finish(&info);
    CHECK_EQ_U(info.wait_busy, 10);
    CHECK_EQ_U(info.wait, 12);
    CHECK_EQ_U(info.kernels, 2);
    tg_timing_close(timing);
}

TEST(a_run_without_a_time_is_not_known)
{
    struct tg_timing *timing = NULL;
    tg_timeline_start(&line);
    submit(1, 3);
    CHECK_EQ_I(tg_timeline_finish(&line, &error), TG_OK);
    CHECK_EQ_I(tg_timing_of_timeline(&line, "here", &timing, &error), TG_UNSUPPORTED);
    CHECK(!timing);
    CHECK_HAS(error.text, "here: no task in it has ended");
}

TEST(nonsense_is_refused)
{
    struct tg_timing_info info;
    struct tg_timing *timing = two_cores(&info);
    struct tg_timing_change change = {.kernel = 99, .percent = 100};
    uint64_t span;
    CHECK_EQ_I(tg_timing_what_if(timing, &change, &span, &error), TG_BAD_ARGUMENT);
    change = (struct tg_timing_change){.kernel = TG_NONE, .percent = 101};
    CHECK_EQ_I(tg_timing_what_if(timing, &change, &span, &error), TG_BAD_ARGUMENT);
    CHECK_EQ_I(tg_timing_what_if(NULL, &change, &span, &error), TG_BAD_ARGUMENT);
    CHECK_EQ_I(tg_timing_open(NULL, &timing, &error), TG_BAD_ARGUMENT);
    tg_timing_close(timing);
}

TEST_MAIN()
