/* SPDX-License-Identifier: Apache-2.0 */
/* Traces from spools. tests/e2e/test_trace_files.py looks at whole files as a viewer does. */
#include "unit/trace/made.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

#include "trace/steps.h"

static int count_files(void)
{
    int n = 0;
    DIR *dir = opendir(folder);
    while (dir && readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

static void check_line(const char *text, const char *line)
{
    if (!CHECK(strstr(text, line)))
        fprintf(stderr, "not there: %s\n%s\n", line, text);
}

TEST(chrome_json_has_a_line_for_each_event)
{
    struct tg_spool *spool = made_begin();
    size_t size;
    made_fill(spool);
    char *text = made_write(spool, &made_run, "x.json", 0, &size);
    check_line(text, "{\"ph\":\"X\",\"pid\":1,\"tid\":4,\"ts\":0.010,\"dur\":0.040,\"name\":\"#2\","
                     "\"cat\":\"task\",\"args\":{\"task\":\"0:1\","
                     "\"task_id\":\"0x0000000000000001\",\"kernel\":\"#2\",\"part\":\"AIC\","
                     "\"wait_ns\":10,\"completed\":true,\"arg0\":\"float32[4] in\"}}");
    check_line(text, "{\"ph\":\"s\",\"pid\":1,\"tid\":4,\"ts\":0.049,\"name\":\"edge\","
                     "\"cat\":\"edge\",\"id\":1}");
    check_line(text, "\"name\":\"add \\\"x\\\"?\",\"cat\":\"task\",\"args\":{\"task\":\"1:3\"");
    check_line(text, "\"wait_ns\":10,\"after\":[\"0:1\",\"1:2\"],\"why\":[\"raw\",\"unknown\"],"
                     "\"completed\":true}}");
    check_line(text, "\"wait_ns\":11,\"after\":[\"0:1\",\"1:2\"],\"why\":[\"raw\",\"unknown\"],"
                     "\"completed\":false}}");
    check_line(text, "\"name\":\"wait for heap\"");
    check_line(text, "{\"ph\":\"C\",\"pid\":1,\"tid\":0,\"ts\":0.009,\"name\":\"ring 1 heap\","
                     "\"args\":{\"bytes\":4096}}");
    check_line(text, "{\"ph\":\"C\",\"pid\":1,\"tid\":0,\"ts\":0.010,\"name\":\"running tasks\","
                     "\"args\":{\"count\":1}}");
    check_line(text, "\"otherData\":{\"program\":\"taskglass\",\"version\":");
    check_line(text, "\"workload\":\"made\",\"lost_events\":3}");
    check_line(text, "\"clock_begin_ns\":\"1000000\"");
    free(text);
    made_end(spool);
}

/* The memory decides how much is sorted at once, and nothing else. */
TEST(the_file_does_not_depend_on_the_memory)
{
    enum { TASKS = 3000 };
    struct tg_spool *spool = made_begin();
    for (uint64_t i = 0; i < TASKS; i++) {
        uint64_t n = i * 7 % TASKS, at = n / 3 * 10;
        made_add(spool, (struct tg_spool_event){.type = TG_SPOOL_TASK,
                                                .id = n,
                                                .at = at,
                                                .begin = at,
                                                .end = at + 10 - n % 2,
                                                .core = (uint32_t)(n % 3)});
        if (n >= 3)
            made_add(spool, (struct tg_spool_event){.type = TG_SPOOL_EDGE, .id = n, .at = n - 3});
    }
    for (int format = 0; format < 2; format++) {
        size_t large, small;
        const char *name = format ? "x.json" : "x.pftrace";
        char *one = made_write(spool, &made_run, name, 0, &large);
        char *other = made_write(spool, &made_run, name, 1, &small);
        CHECK(large == small && memcmp(one, other, large) == 0);
        free(one);
        free(other);
    }
    made_end(spool);
}

TEST(events_that_make_no_sense_are_counted_and_left_out)
{
    static const struct tg_spool_event bad[] = {
        {.type = TG_SPOOL_TASK, .id = 1, .begin = 2, .end = 1},
        {.type = TG_SPOOL_TASK, .id = 1, .begin = 1, .end = 2, .core = 3},
        {.type = TG_SPOOL_TASK, .id = TG_TASK_NONE, .begin = 1, .end = 2},
        {.type = TG_SPOOL_TASK, .id = 1, .begin = 1, .end = UINT64_MAX},
        {.type = TG_SPOOL_EDGE, .id = 1, .at = 1},
        {.type = TG_SPOOL_SCOPE, .begin = 5, .end = 4},
        {.type = TG_SPOOL_RINGS, .core = 4},
        {.type = TG_SPOOL_RECORDER, .begin = UINT64_MAX},
    };
    enum { BAD = sizeof bad / sizeof bad[0] };
    struct tg_spool *spool = made_begin();
    struct tg_trace_result result;
    char path[128];
    tg_spool_add_many(spool, bad, BAD);
    snprintf(path, sizeof path, "%s/x", folder);
    struct tg_trace_target target = {.path = path};
    CHECK(tg_trace_write(spool, &made_run, &target, &result, &error) == TG_OK);
    CHECK_EQ_U(result.left_out, BAD);
    CHECK_EQ_U(result.tasks, 0);
    unlink(path);
    made_end(spool);
}

TEST(slices_that_overlap_have_rows_of_their_own_up_to_a_limit)
{
    enum { TASKS = 70 };
    struct tg_spool *spool = made_begin();
    struct tg_trace_result result;
    char path[128];
    for (uint64_t i = 0; i < TASKS; i++)
        made_add(spool, (struct tg_spool_event){
                            .type = TG_SPOOL_TASK, .id = i, .begin = i, .end = 1000 + i});
    snprintf(path, sizeof path, "%s/x", folder);
    struct tg_trace_target target = {.path = path};
    CHECK(tg_trace_write(spool, &made_run, &target, &result, &error) == TG_OK);
    CHECK_EQ_U(result.left_out, TASKS - 64);
    unlink(path);
    made_end(spool);
}

static bool stops(void *context)
{
    (void)context;
    return false;
}

TEST(a_trace_that_fails_leaves_no_file)
{
    struct tg_spool *spool = made_begin();
    struct rlimit old, small;
    char path[128];
    for (uint64_t i = 0; i < 20000; i++)
        made_add(spool,
                 (struct tg_spool_event){.type = TG_SPOOL_TASK, .id = i, .begin = i, .end = i + 1});
    snprintf(path, sizeof path, "%s/x.json", folder);
    struct tg_trace_target target = {.path = path, .format = TG_TRACE_CHROME};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
    small = (struct rlimit){1 << 16, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    /* The spool has more than it may write, so let it be written first. */
    struct tg_spool_reader reader;
    CHECK(tg_spool_read(spool, &reader, &error) == TG_OK);
    tg_spool_reader_end(&reader);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(tg_trace_write(spool, &made_run, &target, NULL, &error) == TG_IO_ERROR);
    CHECK_HAS(error.text, path);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK_EQ_I(count_files(), 0);
    target.goes_on = stops;
    CHECK(tg_trace_write(spool, &made_run, &target, NULL, &error) == TG_CANCELLED);
    CHECK_EQ_I(count_files(), 0);
    made_end(spool);
}

TEST(a_counter_of_many_changes_is_exact_where_it_is_shown)
{
    enum { CHANGES = TG_STEPS };
    struct tg_steps steps;
    REQUIRE(tg_steps_start(&steps, 100, 101 + 3 * CHANGES, 2 * CHANGES));
    for (uint64_t i = 0; i < CHANGES; i++) { /* the one that begins at t runs until t + 4 */
        tg_steps_add(&steps, 100 + 3 * i, 1);
        tg_steps_add(&steps, 100 + 3 * i + 4, -1);
    }
    tg_steps_finish(&steps);
    CHECK(steps.count > 0 && steps.count <= TG_STEPS);
    for (size_t i = 0; i < steps.count; i++) {
        uint64_t t = steps.step[i].time - 100, begun = t / 3 + 1;
        uint64_t ended = t >= 4 ? (t - 4) / 3 + 1 : 0;
        begun = begun < CHANGES ? begun : CHANGES;
        CHECK_EQ_I(steps.step[i].change, (int64_t)(begun - ended));
    }
    tg_steps_free(&steps);
}

TEST_MAIN()
