/* SPDX-License-Identifier: Apache-2.0 */
/* The two files that a run leaves. */
#define _GNU_SOURCE 1
#include "unit/scope/scope.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static struct tg_scope_stats stats;

/* A run with everything in it: rings, measured peaks, numbers past 2^32, names that need
 * escapes. */
static void write_golden(struct tg_scope_writer *writer)
{
    struct tg_scope_sample sample = scope_begin("main.c:10", 0, 0);
    scope_write(writer, sample);
    for (uint32_t i = 0; i < 3; i++) {
        scope_write(writer, scope_sample("layers/attention.c:42", false, 1, i, 64 * i, 3 * i, i));
        scope_write(writer, scope_sample("a \"quoted\" \\ name", false, 2, 0, 0, 0, i));
        sample = scope_sample("a \"quoted\" \\ name", true, 2, 5, 640, 7, i + 2);
        sample.peak[TG_SCOPE_TASK_WINDOW] = 60;
        sample.peak[TG_SCOPE_TENSORMAP] = 20 + i;
        scope_write(writer, sample);
        sample = scope_sample("layers/attention.c:42", true, 1, i + 9, 4096, 4 * i, i);
        sample.heap_start += UINT64_C(5) << 32;
        sample.heap_end += UINT64_C(5) << 32;
        scope_write(writer, sample);
    }
    sample = scope_end("main.c:10", 0, 2, 15);
    scope_write(writer, sample);
}

static void check_golden(const char *folder, const char *name)
{
    char path[600];
    size_t size, wanted_size;
    snprintf(path, sizeof path, "%s/tests/golden/%s/scope_stats/%s", TASKGLASS_TEST_SOURCE_DIR,
             folder, name);
    char *wanted = dump_read_file(path, &wanted_size);
    char *text = dump_read_file(scope_path(name), &size);
    CHECK_EQ_U(size, wanted_size);
    if (!CHECK_EQ_S(text, wanted))
        fprintf(stderr, "%s is what was written\n%s\n", name, text);
    free(text);
    free(wanted);
}

TEST(the_files_are_those_that_they_always_were)
{
    struct tg_scope_writer *writer = scope_create(&scope_limits);
    struct tg_scope_fatal fatal = {.on = true,
                                   .resource = TG_SCOPE_HEAP,
                                   .ring = 1,
                                   .site = "layers/attention.c:42",
                                   .used = 8000,
                                   .capacity = 8192,
                                   .wanted = 4096,
                                   .advice = "--ring-heap 20K",
                                   .error = "HEAP_RING_DEADLOCK"};
    write_golden(writer);
    scope_finish(writer, 1, 15, &fatal);
    check_golden("scope_stats_v6", TG_SCOPE_SAMPLES);
    check_golden("scope_stats_v6", TG_SCOPE_SUMMARY);
}

/* What runs say since they measure waiting: keys that older readers pass over. */
TEST(the_files_of_a_run_that_waited_are_those_that_they_always_were)
{
    struct tg_scope_limits limits = scope_limits;
    limits.memory = (struct tg_scope_memory){
        .size = 4 << 20, .used = 1 << 20, .task = 2944, .dep = 8, .entry = 216};
    struct tg_scope_writer *writer = scope_create(&limits);
    scope_write(writer, scope_begin("main.c:10", 0, 0));
    scope_write(writer, scope_begin("model.c:59", 1, 0));
    scope_write(writer, scope_begin("layer.c:7", 2, 1));
    struct tg_scope_sample sample = scope_sample("layer.c:7", true, 2, 4, 640, 7, 2);
    sample.peak[TG_SCOPE_TASK_WINDOW] = 64;
    sample.asked_dep_pool[2] = 70;
    sample.asked_tensormap = 90;
    sample.rings = 1 << 2;
    scope_write(writer, scope_waited(sample, TG_SCOPE_TASK_WINDOW, 12));
    sample = scope_sample("model.c:59", true, 1, 0, 0, 0, 2);
    sample.rings = 1 << 2;
    scope_write(writer, scope_waited(sample, TG_SCOPE_HEAP, 0));
    sample = scope_sample("main.c:10", true, 0, 0, 0, 0, 2);
    sample.asked_dep_pool[2] = 71;
    sample.asked_tensormap = 91;
    sample.rings = 1 << 0 | 1 << 2;
    scope_write(writer, scope_waited(sample, TG_SCOPE_TENSORMAP, 3));
    scope_finish(writer, 0, 6, NULL);
    check_golden("scope_stats_v6_waits", TG_SCOPE_SAMPLES);
    check_golden("scope_stats_v6_waits", TG_SCOPE_SUMMARY);
}

TEST(a_run_without_rings_says_so)
{
    static const struct tg_scope_limits none = {.no_rings = true};
    scope_finish(scope_create(&none), 0, 0, NULL);
    scope_read(&stats);
    CHECK(stats.tally.limits.no_rings && tg_scope_stats_complete(&stats));
    tg_scope_stats_free(&stats);
}

TEST(a_line_has_the_keys_of_the_other_implementation_in_their_order)
{
    struct tg_scope_writer *writer = scope_create(&scope_limits);
    struct tg_scope_sample sample = {.site = "a.c:1",
                                     .end = true,
                                     .depth = 2,
                                     .ring = 3,
                                     .task_window_start = 4,
                                     .task_window_end = 5,
                                     .heap_start = 6,
                                     .heap_end = UINT64_MAX,
                                     .dep_pool_start = 8,
                                     .dep_pool_end = 9,
                                     .tensormap = 10,
                                     .peak = {11, 0, 13, 14}};
    tg_scope_writer_add(writer, &sample);
    sample.end = false;
    sample.heap_end = 7;
    tg_scope_writer_add(writer, &sample);
    scope_finish(writer, 0, 2, NULL);
    char *text = scope_text(TG_SCOPE_SAMPLES);
    CHECK_HAS(text, "\n{\"site\": \"a.c:1\", \"phase\": \"end\", \"depth\": 2, \"ring\": 3, "
                    "\"task_window_start\": 4, \"task_window_end\": 5, \"heap_start\": 6, "
                    "\"heap_end\": 18446744073709551615, \"dep_pool_start\": 8, "
                    "\"dep_pool_end\": 9, \"tensormap\": 10, \"peak\": {\"task_window\": 11, "
                    "\"heap\": 18446744073709551609, \"dep_pool\": 13, \"tensormap\": 14}}\n");
    CHECK_HAS(text, "\n{\"site\": \"a.c:1\", \"phase\": \"begin\", \"depth\": 2, \"ring\": 3, "
                    "\"task_window_start\": 4, \"task_window_end\": 5, \"heap_start\": 6, "
                    "\"heap_end\": 7, \"dep_pool_start\": 8, \"dep_pool_end\": 9, "
                    "\"tensormap\": 10}\n");
    free(text);
}

TEST(the_first_line_is_rewritten_in_place)
{
    struct tg_scope_writer *writer = scope_create(&scope_limits);
    char *before = scope_text(TG_SCOPE_SAMPLES);
    scope_write(writer, scope_begin("a", 0, 1));
    scope_finish(writer, UINT64_MAX, UINT64_MAX - 1, NULL);
    char *after = scope_text(TG_SCOPE_SAMPLES);
    size_t length = strcspn(before, "\n");
    CHECK_EQ_U(strcspn(after, "\n"), length);
    CHECK_HAS(before, "{\"version\": 6, \"fatal\": false, \"dropped\": 0, \"total\": 0, "
                      "\"task_window_max\": [16, 32, 64, 128], \"heap_max\": [4096, 8192, 16384, "
                      "32768], \"dep_pool_max\": [100, 200, 300, 400], \"tensormap_max\": 1000 ");
    CHECK_HAS(after, "\"dropped\": 18446744073709551615, \"total\": 18446744073709551614, ");
    CHECK_HAS(after, "\"tensormap_max\": 1000}\n{\"site\": \"a\", ");
    free(before);
    free(after);
}

TEST(without_scopes_there_is_a_first_line_and_an_empty_summary)
{
    scope_finish(scope_create(&(struct tg_scope_limits){0}), 0, 0, NULL);
    char *text = scope_text(TG_SCOPE_SUMMARY);
    CHECK_EQ_S(text, "{\n  \"version\": 6,\n  \"fatal\": null,\n  \"dropped\": 0,\n"
                     "  \"total\": 0,\n  \"scopes\": []\n}\n");
    free(text);
    scope_read(&stats);
    CHECK(tg_scope_stats_complete(&stats));
    tg_scope_stats_free(&stats);
}

TEST(the_files_of_an_earlier_run_are_replaced)
{
    struct tg_scope_writer *writer = scope_create(&scope_limits);
    scope_write(writer, scope_begin("old", 0, 1));
    scope_finish(writer, 0, 1, NULL);
    CHECK_EQ_I(tg_scope_writer_create(dump_dir, &scope_limits, &writer, &dump_error), TG_OK);
    CHECK(access(scope_path(TG_SCOPE_SUMMARY), F_OK) != 0);
    tg_scope_writer_destroy(writer);
    char *text = scope_text(TG_SCOPE_SAMPLES);
    CHECK(!strstr(text, "old"));
    free(text);
}

TEST(a_host_that_ends_without_finish_leaves_what_it_had)
{
    struct tg_scope_writer *writer = scope_create(&scope_limits);
    scope_write(writer, scope_begin("a", 0, 1));
    tg_scope_writer_flush(writer);
    scope_write(writer, scope_end("a", 0, 2, 3));
    tg_scope_writer_destroy(writer);
    scope_read(&stats);
    CHECK_EQ_U(stats.tally.samples, 2);
    CHECK_EQ_U(stats.total, 0);
    CHECK(!tg_scope_stats_complete(&stats));
    CHECK(access(scope_path(TG_SCOPE_SUMMARY), F_OK) != 0);
    tg_scope_stats_free(&stats);
}

TEST(a_killed_host_leaves_what_was_flushed)
{
    struct tg_scope_writer *writer = scope_create(&scope_limits);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 5000; i++)
            scope_write(writer, scope_begin("a", 0, 1));
        tg_scope_writer_flush(writer);
        scope_write(writer, scope_begin("a", 0, 1));
        kill(getpid(), SIGKILL);
    }
    CHECK_EQ_I(waitpid(child, NULL, 0), child);
    scope_read(&stats);
    CHECK_EQ_U(stats.tally.samples, 5000);
    CHECK(!stats.torn);
    tg_scope_stats_free(&stats);
    tg_scope_writer_destroy(writer);
}

TEST(what_the_device_says_is_not_believed)
{
    struct tg_scope_writer *writer = scope_create(&scope_limits);
    struct tg_scope_sample sample = scope_begin("evil \x1b[31m\n\"", 77, 1);
    sample.ring = 4000000000u;
    sample.heap_start = sample.heap_end + 1;
    sample.task_window_start = UINT64_MAX;
    sample.dep_pool_start = sample.dep_pool_end + 5;
    tg_scope_writer_add(writer, &sample);
    sample.site = NULL;
    tg_scope_writer_add(writer, &sample);
    scope_finish(writer, 0, 2, NULL);
    scope_read(&stats);
    CHECK_EQ_U(scope_row(&stats.tally, "evil ?[31m?\"", 3)->peak[TG_SCOPE_HEAP], 0);
    CHECK_EQ_U(scope_row(&stats.tally, TG_SCOPE_NO_SITE, 3)->count, 1);
    tg_scope_stats_free(&stats);
}

/* Checks that reading the samples gives what the summary says. */
static void check_summary_agrees(void)
{
    char *text = scope_text(TG_SCOPE_SUMMARY), wanted[200];
    const char *at = strstr(text, "\"scopes\"");
    for (uint32_t i = 0; i < stats.tally.n_rows; i++) {
        const struct tg_scope_row *row = &stats.tally.row[i];
        snprintf(wanted, sizeof wanted,
                 "{\"site\": \"%s\", \"ring\": %u, \"count\": %llu, \"depth\": [%u, %u], "
                 "\"task_window\": \"%llu/",
                 stats.tally.site[row->site].name, (unsigned)row->ring,
                 (unsigned long long)row->count, (unsigned)row->depth_min, (unsigned)row->depth_max,
                 (unsigned long long)row->peak[0]);
        at = strstr(at, wanted); /* and in the same order */
        if (!CHECK(at))
            break;
    }
    free(text);
}

TEST(the_summary_says_what_the_samples_say)
{
    struct tg_scope_writer *writer = scope_create(&scope_limits);
    uint64_t seed = 1, total = 20000;
    char name[16];
    for (uint64_t i = 0; i < total; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        snprintf(name, sizeof name, "s%u", (unsigned)(seed >> 40) % 20);
        struct tg_scope_sample sample =
            scope_sample(name, seed >> 33 & 1, (uint32_t)(seed >> 35) % 6, seed >> 50 & 127,
                         seed >> 45 & 8191, seed >> 55 & 63, seed >> 54);
        sample.peak[TG_SCOPE_TASK_WINDOW] = seed >> 48 & 255;
        tg_scope_writer_add(writer, &sample);
    }
    scope_finish(writer, 0, total, NULL);
    scope_read(&stats);
    CHECK_EQ_U(stats.tally.samples, total);
    check_summary_agrees();
    tg_scope_stats_free(&stats);
}

TEST(a_directory_that_is_not_there_is_named)
{
    struct tg_scope_writer *writer;
    dump_make_dir();
    char path[300];
    snprintf(path, sizeof path, "%s/missing", dump_dir);
    CHECK_EQ_I(tg_scope_writer_create(path, &scope_limits, &writer, &dump_error), TG_IO_ERROR);
    CHECK(!writer);
    CHECK_HAS(dump_error.text, "missing/scope_stats': No such file or directory");
}

/* Limits the size of files; returns the limit from before. */
static struct rlimit limit_files(rlim_t bytes)
{
    struct rlimit limit, old;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    limit = old;
    limit.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    return old;
}

TEST(without_room_for_its_first_line_there_is_no_file)
{
    struct tg_scope_writer *writer;
    dump_make_dir();
    struct rlimit old = limit_files(100);
    tg_status status = tg_scope_writer_create(dump_dir, &scope_limits, &writer, &dump_error);
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK_EQ_I(status, TG_IO_ERROR);
    CHECK(!writer);
    CHECK_HAS(dump_error.text, "scope_stats.jsonl': File too large");
    CHECK(access(scope_path(TG_SCOPE_SAMPLES), F_OK) != 0);
}

TEST(a_full_disk_is_reported_once_and_the_files_stay_readable)
{
    struct tg_scope_writer *writer = scope_create(&scope_limits);
    struct rlimit old = limit_files(100000);
    for (int i = 0; i < 5000; i++)
        scope_write(writer, scope_begin("a", 0, 1));
    tg_status status = tg_scope_writer_finish(writer, 0, 5000, NULL, &dump_error);
    setrlimit(RLIMIT_FSIZE, &old);
    tg_scope_writer_destroy(writer);
    CHECK_EQ_I(status, TG_IO_ERROR);
    CHECK_HAS(dump_error.text, "scope_stats.jsonl': File too large; its samples end early");
    scope_read(&stats);
    CHECK(stats.torn && stats.tally.samples > 100 && stats.tally.samples < 5000);
    CHECK_EQ_U(stats.total, 5000);
    tg_scope_stats_free(&stats);
}

TEST_MAIN()
