/* SPDX-License-Identifier: Apache-2.0 */
/* Reading scope stats: ours, another implementation's, and files that are neither. */
#define _GNU_SOURCE 1
#include "unit/scope/scope.h"

static struct tg_scope_stats stats;

#define HEAD                                                                    \
    "{\"version\": 6, \"fatal\": false, \"dropped\": 0, \"total\": 2, "         \
    "\"task_window_max\": [16, 16, 16, 16], \"heap_max\": [4096, 4096, 0, 0], " \
    "\"dep_pool_max\": [16, 16, 16, 16], \"tensormap_max\": 100}\n"
#define CURSORS                                                             \
    "\"task_window_start\": 1, \"task_window_end\": 4, \"heap_start\": 0, " \
    "\"heap_end\": 64, \"dep_pool_start\": 1, \"dep_pool_end\": 1, \"tensormap\": 2"
#define BEGIN \
    "{\"site\": \"a.c:1\", \"phase\": \"begin\", \"depth\": 0, \"ring\": 0, " CURSORS "}\n"
#define END "{\"site\": \"a.c:1\", \"phase\": \"end\", \"depth\": 0, \"ring\": 0, " CURSORS "}\n"

static void read_good(const char *text)
{
    tg_status status = scope_parse(text, &stats);
    if (status != TG_OK)
        fprintf(stderr, "%s\n", dump_error.text);
    REQUIRE(status == TG_OK);
}

static void read_bad(const char *text, const char *why)
{
    CHECK_EQ_I(scope_parse(text, &stats), TG_BAD_ARGUMENT);
    CHECK_HAS(dump_error.text, why);
    tg_scope_stats_free(&stats);
}

TEST(samples_without_peaks_are_read)
{
    read_good(HEAD BEGIN END);
    CHECK(tg_scope_stats_complete(&stats));
    CHECK_EQ_U(stats.ends_with_peak, 0);
    CHECK_EQ_U(stats.tally.samples, 2);
    CHECK_EQ_U(scope_row(&stats.tally, "a.c:1", 0)->peak[TG_SCOPE_TASK_WINDOW], 3);
    CHECK_EQ_U(scope_row(&stats.tally, "a.c:1", 0)->peak[TG_SCOPE_HEAP], 64);
    CHECK_EQ_U(scope_row(&stats.tally, "a.c:1", 0)->peak[TG_SCOPE_DEP_POOL], 0);
    CHECK_EQ_U(scope_row(&stats.tally, "a.c:1", 0)->peak[TG_SCOPE_TENSORMAP], 2);
    tg_scope_stats_free(&stats);
}

TEST(measured_peaks_are_read)
{
    read_good(HEAD BEGIN "{\"site\": \"a.c:1\", \"phase\": \"end\", \"depth\": 0, \"ring\": 0, "
                         "\"peak\": {\"heap\": 4000, \"later\": [1], \"tensormap\": 77}, " CURSORS
                         "}\n");
    CHECK_EQ_U(stats.ends_with_peak, 1);
    CHECK_EQ_U(scope_row(&stats.tally, "a.c:1", 0)->peak[TG_SCOPE_HEAP], 4000);
    CHECK_EQ_U(scope_row(&stats.tally, "a.c:1", 0)->peak[TG_SCOPE_TASK_WINDOW], 3);
    CHECK_EQ_U(scope_row(&stats.tally, "a.c:1", 0)->peak[TG_SCOPE_TENSORMAP], 77);
    tg_scope_stats_free(&stats);
}

TEST(a_peak_below_what_is_in_use_is_not_believed)
{
    read_good(HEAD BEGIN "{\"site\": \"a.c:1\", \"phase\": \"end\", \"depth\": 0, \"ring\": 0, "
                         "\"peak\": {\"task_window\": 1}, " CURSORS "}\n");
    CHECK_EQ_U(scope_row(&stats.tally, "a.c:1", 0)->peak[TG_SCOPE_TASK_WINDOW], 3);
    tg_scope_stats_free(&stats);
}

TEST(keys_may_come_in_any_order_and_unknown_ones_are_passed_over)
{
    read_good("{\"new\": {\"a\": [1, {}]}, \"tensormap_max\": 100, \"task_window_max\": [8], "
              "\"version\": 6}\n"
              "{" CURSORS ", \"new\": null, \"ring\": 1, \"depth\": 1, \"phase\": \"begin\", "
              "\"site\": \"z\"}\n");
    CHECK_EQ_U(scope_row(&stats.tally, "z", 1)->count, 1);
    CHECK_EQ_U(stats.tally.limits.n_rings, 1);
    CHECK_EQ_U(stats.tally.limits.task_window[0], 8);
    tg_scope_stats_free(&stats);
}

TEST(a_file_of_one_line_has_no_scopes)
{
    read_good("{\"version\": 6, \"total\": 0, \"task_window_max\": [0, 0, 0, 0]}\n");
    CHECK(tg_scope_stats_complete(&stats));
    CHECK_EQ_U(stats.tally.n_rows, 0);
    tg_scope_stats_free(&stats);
}

TEST(blank_lines_and_a_missing_last_newline_do_not_matter)
{
    read_good(HEAD "\n" BEGIN " \t\r\n" END);
    CHECK_EQ_U(stats.tally.samples, 2);
    tg_scope_stats_free(&stats);
    char text[] = HEAD BEGIN END;
    text[strlen(text) - 1] = '\0';
    read_good(text);
    CHECK_EQ_U(stats.tally.samples, 2);
    CHECK(!stats.torn);
    tg_scope_stats_free(&stats);
}

/* Wherever the file is cut, the whole lines are read. */
TEST(a_file_that_was_cut_is_read_up_to_there)
{
    static const char text[] = HEAD BEGIN END;
    size_t head = strlen(HEAD), begin = strlen(BEGIN);
    for (size_t size = head; size < strlen(text); size++) {
        tg_status status =
            tg_scope_stats_parse("file", text, size, NULL, NULL, &stats, &dump_error);
        CHECK_EQ_I(status, TG_OK);
        CHECK_EQ_U(stats.tally.samples,
                   (uint64_t)(size >= head + begin - 1) + (size >= head + begin + strlen(END) - 1));
        CHECK(stats.tally.samples == 2 || !tg_scope_stats_complete(&stats));
        tg_scope_stats_free(&stats);
    }
    for (size_t size = 0; size + 1 < head; size++) {
        CHECK_EQ_I(tg_scope_stats_parse("file", text, size, NULL, NULL, &stats, &dump_error),
                   TG_BAD_ARGUMENT);
        tg_scope_stats_free(&stats);
    }
}

TEST(zeros_at_the_end_are_a_cut)
{
    char text[sizeof HEAD BEGIN + 100] = HEAD BEGIN;
    CHECK_EQ_I(tg_scope_stats_parse("file", text, sizeof text, NULL, NULL, &stats, &dump_error),
               TG_OK);
    CHECK(stats.torn);
    CHECK_EQ_U(stats.tally.samples, 1);
    tg_scope_stats_free(&stats);
}

TEST(fewer_samples_than_were_taken_are_incomplete)
{
    read_good(HEAD BEGIN);
    CHECK(!tg_scope_stats_complete(&stats));
    CHECK_EQ_U(stats.tally.left_open, 1);
    tg_scope_stats_free(&stats);
}

TEST(dropped_samples_may_be_in_the_total_or_not)
{
    read_good("{\"version\": 6, \"dropped\": 3, \"total\": 4, \"task_window_max\": []}\n" BEGIN);
    CHECK(tg_scope_stats_complete(&stats));
    tg_scope_stats_free(&stats);
    read_good("{\"version\": 6, \"dropped\": 3, \"total\": 1, \"task_window_max\": []}\n" BEGIN);
    CHECK(tg_scope_stats_complete(&stats));
    tg_scope_stats_free(&stats);
}

TEST(numbers_of_64_bits_are_exact)
{
    read_good(HEAD
              "{\"site\": \"far\", \"phase\": \"end\", \"depth\": 3, \"ring\": 3, "
              "\"task_window_start\": 18446744073709551600, "
              "\"task_window_end\": 18446744073709551615, \"heap_start\": \"9007199254740993\","
              "\"heap_end\": 9007199254740995, \"dep_pool_start\": 0, "
              "\"dep_pool_end\": 4294967297, \"tensormap\": 0}\n");
    CHECK_EQ_U(scope_row(&stats.tally, "far", 3)->peak[TG_SCOPE_TASK_WINDOW], 15);
    CHECK_EQ_U(scope_row(&stats.tally, "far", 3)->peak[TG_SCOPE_HEAP], 2);
    CHECK_EQ_U(scope_row(&stats.tally, "far", 3)->peak[TG_SCOPE_DEP_POOL], 4294967297);
    tg_scope_stats_free(&stats);
}

TEST(what_is_no_first_line_is_refused)
{
    read_bad("", "line 1: the file is empty");
    read_bad("\n", "line 1: ");
    read_bad("[]\n", "line 1: not the metadata of scope stats");
    read_bad("{}\n", "line 1: not the metadata of scope stats: 'version' and 'task_window_max'");
    read_bad(BEGIN, "line 1: not the metadata");
    read_bad("{\"version\": 7, \"task_window_max\": []}\n",
             "version 7; this program reads version 6");
    read_bad("{\"version\": 6, \"task_window_max\": 5}\n", "'task_window_max' is not a list");
    read_bad("{\"version\": 6, \"task_window_max\": [1,2,3,4,5]}\n", "up to four whole numbers");
    read_bad("{\"version\": 6, \"task_window_max\": [-1]}\n", "up to four whole numbers");
    read_bad("{\"version\": 6, \"fatal\": 1, \"task_window_max\": []}\n", "'fatal' is not true or");
    read_bad("{\"version\": 6, \"total\": 1.5, \"task_window_max\": []}\n",
             "'total' is not a whole");
}

#define SAMPLE(fields) HEAD "{" fields "}\n" BEGIN
#define PLACE "\"site\": \"a\", \"phase\": \"end\", \"depth\": 0, "

TEST(what_is_no_sample_is_refused_with_its_line)
{
    read_bad(HEAD BEGIN "nonsense\n" BEGIN, "'file', line 3: something that is no JSON value");
    read_bad(HEAD "[1]\n" BEGIN, "line 2: not a sample");
    read_bad(HEAD BEGIN "{\"site\": \"a\"\n" BEGIN, "line 3: ");
    read_bad(SAMPLE(""), "line 2: a sample without 'depth'");
    read_bad(SAMPLE(PLACE CURSORS), "a sample without 'ring'");
    read_bad(SAMPLE(PLACE "\"ring\": 4, " CURSORS), "ring 4; there are 0 to 3");
    read_bad(SAMPLE(PLACE "\"ring\": \"x\", " CURSORS), "'ring' is not a whole number");
    read_bad(SAMPLE(PLACE "\"ring\": [0], " CURSORS), "'ring' is not a whole number");
    read_bad(SAMPLE(PLACE "\"ring\": 99999999999999999999, " CURSORS), "'ring' is not a whole");
    read_bad(SAMPLE(PLACE "\"ring\": 0, " CURSORS ", \"heap_start\": 65"),
             "'heap_start' is after 'heap_end'");
    read_bad(SAMPLE(PLACE "\"ring\": 0, " CURSORS ", \"depth\": 4294967296"),
             "a depth of 4294967296");
    read_bad(SAMPLE(PLACE "\"ring\": 0, " CURSORS ", \"phase\": \"middle\""),
             "'phase' is not \"begin\" or \"end\"");
    read_bad(SAMPLE(PLACE "\"ring\": 0, " CURSORS ", \"site\": 5"), "'site' is not a text");
    read_bad(SAMPLE(PLACE "\"ring\": 0, " CURSORS ", \"peak\": 5"), "'peak' is not an object");
    read_bad(SAMPLE(PLACE "\"ring\": 0, " CURSORS ", \"peak\": {\"heap\": null}"),
             "'heap' is not a whole number");
}

static bool stop_at_second(void *context, uint64_t index, uint32_t site,
                           const struct tg_scope_sample *sample)
{
    (void)site;
    CHECK_EQ_S(sample->site, "a.c:1");
    ++*(uint64_t *)context;
    return index < 1;
}

TEST(the_caller_gets_each_sample_and_can_end_the_reading)
{
    uint64_t calls = 0;
    const char *text = HEAD BEGIN END BEGIN;
    CHECK(tg_scope_stats_parse("file", text, strlen(text), stop_at_second, &calls, &stats,
                               &dump_error) != TG_OK);
    CHECK_EQ_U(calls, 2);
    tg_scope_stats_free(&stats);
}

TEST(the_summary_names_the_scope_that_failed)
{
    struct tg_scope_guilty guilty;
    static const char text[] =
        "{\"scopes\": [{\"fatal\": 1}], \"fatal\": {\"error\": \"SCOPE_DEADLOCK\", \"resource\": "
        "\"task_window\", \"ring\": 2, \"site\": \"x\\u001b.c:1\", \"used\": 16, \"capacity\": 16, "
        "\"wanted\": 1, \"advice\": \"--ring-task-window 40\", \"more\": [{}]}}";
    CHECK(!tg_scope_guilty_parse(text, strlen(text), &guilty));
    REQUIRE(guilty.known);
    CHECK_EQ_S(guilty.fatal.error, "SCOPE_DEADLOCK");
    CHECK_EQ_U(guilty.fatal.resource, TG_SCOPE_TASK_WINDOW);
    CHECK_EQ_U(guilty.fatal.ring, 2);
    CHECK_EQ_S(guilty.fatal.site, "x?.c:1");
    CHECK_EQ_U(guilty.fatal.used, 16);
    CHECK_EQ_U(guilty.fatal.wanted, 1);
    CHECK_EQ_S(guilty.fatal.advice, "--ring-task-window 40");
}

TEST(a_summary_of_a_good_run_names_no_scope)
{
    struct tg_scope_guilty guilty;
    static const char text[] = "{\"version\": 6, \"fatal\": null, \"scopes\": []}";
    CHECK(!tg_scope_guilty_parse(text, strlen(text), &guilty));
    CHECK(!guilty.known);
}

TEST(an_invalid_summary_is_ignored)
{
    static const char *const texts[] = {
        "",      "[]",    "{", "{\"fatal\": {\"error\": \"x\"}", "{\"fatal\": {\"ring\": [}}",
        "{} {}", "\0\0\0"};
    struct tg_scope_guilty guilty;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CHECK(tg_scope_guilty_parse(texts[i], strlen(texts[i]), &guilty));
        CHECK(!guilty.known);
    }
}

TEST(odd_values_in_a_summary_are_left_out)
{
    struct tg_scope_guilty guilty;
    static const char text[] = "{\"fatal\": {\"error\": 5, \"resource\": \"magic\", \"ring\": 900, "
                               "\"site\": [\"deep\"], \"used\": \"many\", \"advice\": null}}";
    CHECK(!tg_scope_guilty_parse(text, strlen(text), &guilty));
    REQUIRE(guilty.known);
    CHECK(!guilty.fatal.error && !guilty.fatal.site && !guilty.fatal.advice);
    CHECK_EQ_U(guilty.fatal.resource, TG_SCOPE_RESOURCES);
    CHECK_EQ_U(guilty.fatal.ring, 0);
    CHECK_EQ_U(guilty.fatal.used, 0);
}

static void write_in(const char *name, const char *text)
{
    dump_write_file(scope_path(name), text, strlen(text));
}

TEST(a_run_its_folder_and_its_file_are_the_same)
{
    char folder[300], *file;
    dump_make_dir();
    snprintf(folder, sizeof folder, "%s/scope_stats", dump_dir);
    REQUIRE(mkdir(folder, 0777) == 0);
    write_in(TG_SCOPE_SAMPLES, HEAD BEGIN END);
    const char *const paths[] = {dump_dir, folder, scope_path(TG_SCOPE_SAMPLES)};
    for (int i = 0; i < 3; i++) {
        CHECK_EQ_I(tg_scope_stats_read(paths[i], NULL, NULL, &stats, &file, &dump_error), TG_OK);
        CHECK_EQ_U(stats.tally.samples, 2);
        CHECK_HAS(file, "/scope_stats/scope_stats.jsonl");
        free(file);
        tg_scope_stats_free(&stats);
    }
}

TEST(a_broken_summary_is_reported_and_the_samples_are_read)
{
    char folder[300];
    dump_make_dir();
    snprintf(folder, sizeof folder, "%s/scope_stats", dump_dir);
    REQUIRE(mkdir(folder, 0777) == 0);
    write_in(TG_SCOPE_SAMPLES, HEAD BEGIN END);
    write_in(TG_SCOPE_SUMMARY, "{\"fatal\": {");
    scope_read(&stats);
    CHECK_EQ_U(stats.tally.samples, 2);
    CHECK(stats.summary_problem[0] && !stats.guilty.known);
    tg_scope_stats_free(&stats);
}

TEST(where_nothing_is_that_is_said)
{
    dump_make_dir();
    CHECK_EQ_I(tg_scope_stats_read(dump_dir, NULL, NULL, &stats, NULL, &dump_error), TG_NOT_FOUND);
    CHECK_HAS(dump_error.text, "has no scope stats; a run has them with --enable-scope-stats");
    CHECK_EQ_I(tg_scope_stats_read("/no/where", NULL, NULL, &stats, NULL, &dump_error),
               TG_NOT_FOUND);
    CHECK_HAS(dump_error.text, "there is no '/no/where'");
    CHECK_EQ_I(tg_scope_stats_read("/dev/null", NULL, NULL, &stats, NULL, &dump_error),
               TG_IO_ERROR);
    tg_scope_stats_free(&stats);
}

#define END_WITH(more) \
    "{\"site\": \"a.c:1\", \"phase\": \"end\", \"depth\": 0, \"ring\": 0, " more CURSORS "}\n"

TEST(waits_and_rings_of_a_scope_are_read)
{
    read_good(HEAD BEGIN END_WITH(
        "\"waits\": {\"heap\": 3, \"tensormap\": 2, \"nanoseconds\": 99, \"later\": {}}, "
        "\"asked\": {\"dep_pool\": [5], \"new\": 1, \"tensormap\": 6}, "
        "\"rings\": {\"3\": {\"task_window\": 8, \"heap\": 64}, \"9\": {}}, "));
    const struct tg_scope_row *row = scope_row(&stats.tally, "a.c:1", 0);
    CHECK_EQ_U(row->waits[TG_SCOPE_HEAP], 3);
    CHECK_EQ_U(row->wait_ns, 99);
    CHECK_EQ_U(stats.tally.waits[0][TG_SCOPE_TENSORMAP], 2);
    CHECK_EQ_U(stats.tally.asked_dep_pool[0], 5);
    CHECK_EQ_U(stats.tally.asked_tensormap, 6);
    CHECK_EQ_U(scope_row(&stats.tally, "a.c:1", 3)->peak[TG_SCOPE_TASK_WINDOW], 8);
    CHECK_EQ_U(scope_row(&stats.tally, "a.c:1", 3)->touched, 1);
    tg_scope_stats_free(&stats);
}

TEST(a_fanin_pool_of_another_implementation_is_read)
{
    static const char *const names[] = {"fanin", "fanin_pool"};
    for (size_t i = 0; i < 2; i++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "{\"version\": 6, \"total\": 1, \"task_window_max\": [16], \"%s_max\": [50]}\n"
                 "{\"site\": \"a.c:1\", \"phase\": \"end\", \"depth\": 0, \"ring\": 0, "
                 "\"%s_start\": 2, \"%s_end\": 9, %s}\n",
                 names[i], names[i], names[i], CURSORS);
        read_good(text);
        CHECK(stats.has_fanin);
        CHECK_EQ_U(stats.tally.limits.fanin[0], 50);
        CHECK_EQ_U(scope_row(&stats.tally, "a.c:1", 0)->fanin, 7);
        tg_scope_stats_free(&stats);
    }
    read_good(HEAD BEGIN END);
    CHECK(!stats.has_fanin);
    tg_scope_stats_free(&stats);
}

TEST(wrong_values_of_the_newer_keys_are_errors)
{
    read_bad(HEAD END_WITH("\"waits\": 3, "), "line 2: 'waits' is not an object");
    read_bad(HEAD END_WITH("\"waits\": {\"heap\": -3}, "), "'heap' is not a whole number");
    read_bad(HEAD END_WITH("\"rings\": [], "), "'rings' is not an object");
    read_bad(HEAD END_WITH("\"rings\": {\"1\": 5}, "), "'rings' is not an object");
    read_bad(HEAD END_WITH("\"asked\": null, "), "'asked' is not an object");
    read_bad(HEAD END_WITH("\"fanin_start\": 5, \"fanin_end\": 4, "),
             "'fanin_start' is after 'fanin_end'");
    read_bad("{\"version\": 6, \"task_window_max\": [], \"device_memory\": 7}\n",
             "'device_memory' is not an object");
}

TEST_MAIN()
