/* SPDX-License-Identifier: Apache-2.0 */
/* The public face; what the numbers are is a question for the reader, the tally and the advice. */
#define _GNU_SOURCE 1
#include "unit/scope/scope.h"

static void write_run(const struct tg_scope_fatal *fatal)
{
    struct tg_scope_writer *writer = scope_create(&scope_limits);
    scope_write(writer, scope_begin("main.c:1", 0, 0));
    scope_write(writer, scope_begin("loop.c:7", 1, 4));
    scope_write(writer, scope_end("loop.c:7", 1, 8, 24));
    scope_write(writer, scope_end("main.c:1", 0, 2, 4));
    scope_finish(writer, 0, 4, fatal);
}

static struct tg_scope_stats *open_run(struct tg_scope_stats_info *info)
{
    struct tg_scope_stats *stats;
    REQUIRE(tg_scope_stats_open(dump_dir, NULL, NULL, &stats, &dump_error) == TG_OK);
    tg_scope_stats_get_info(stats, info);
    return stats;
}

TEST(opened_stats_tell_sites_rows_and_capacities)
{
    struct tg_scope_stats_info info;
    struct tg_scope_row row;
    write_run(NULL);
    struct tg_scope_stats *stats = open_run(&info);
    CHECK(info.complete && !info.failed && !info.fatal && info.measured);
    CHECK(info.scopes == 2 && info.samples == 4 && info.sites == 2 && info.rows == 2);
    CHECK_HAS(info.file, "scope_stats.jsonl");
    REQUIRE(tg_scope_stats_get_row(stats, 0, &row));
    CHECK_EQ_S(tg_scope_stats_site(stats, row.site), "loop.c:7");
    CHECK_EQ_U(row.peak[TG_SCOPE_TASK_WINDOW], 24);
    CHECK_EQ_U(tg_scope_stats_nearest(stats, &row), TG_SCOPE_TASK_WINDOW);
    CHECK_EQ_U(tg_scope_stats_capacity(stats, TG_SCOPE_TASK_WINDOW, 1), 32);
    CHECK_EQ_U(tg_scope_stats_capacity(stats, TG_SCOPE_RESOURCES, 1), 0);
    CHECK(tg_scope_stats_get_row(stats, 1, &row) && !tg_scope_stats_get_row(stats, 2, &row));
    CHECK(tg_scope_stats_site(stats, 2) == NULL);
    tg_scope_stats_close(stats);
}

TEST(opened_stats_give_the_advice)
{
    struct tg_scope_stats_info info;
    struct tg_scope_need need;
    struct tg_scope_setting setting;
    write_run(NULL);
    struct tg_scope_stats *stats = open_run(&info);
    tg_scope_stats_get_need(stats, TG_SCOPE_TASK_WINDOW, 1, &need);
    CHECK(need.peak == 24 && need.capacity == 32 && need.verdict == TG_SCOPE_LARGER);
    tg_scope_stats_get_need(stats, TG_SCOPE_TASK_WINDOW, TG_SCOPE_RINGS, &need);
    CHECK_EQ_I(need.verdict, TG_SCOPE_ABSENT);
    tg_scope_stats_get_setting(stats, TG_SCOPE_TASK_WINDOW, &setting);
    CHECK_EQ_S(setting.present, "16,32,64,128");
    CHECK_EQ_S(setting.option, "--ring-task-window 4,24,4,4");
    CHECK(!setting.never && !setting.waits_known); /* a smaller size promises nothing */
    tg_scope_stats_get_memory(stats, &setting);
    CHECK_EQ_I(setting.verdict, TG_SCOPE_ABSENT);
    tg_scope_stats_close(stats);
}

TEST(opened_stats_name_what_ended_the_run)
{
    struct tg_scope_stats_info info;
    write_run(&(struct tg_scope_fatal){
        .on = true, .resource = TG_SCOPE_HEAP, .ring = 1, .site = "loop.c:7", .used = 5});
    struct tg_scope_stats *stats = open_run(&info);
    CHECK(info.failed);
    REQUIRE(info.fatal);
    CHECK_EQ_S(info.fatal->site, "loop.c:7");
    CHECK_EQ_U(info.fatal->resource, TG_SCOPE_HEAP);
    tg_scope_stats_close(stats);
}

TEST(no_stats_is_an_error_and_gives_no_handle)
{
    struct tg_scope_stats *stats = (void *)1;
    CHECK_EQ_I(tg_scope_stats_open("/nonexistent", NULL, NULL, &stats, &dump_error), TG_NOT_FOUND);
    CHECK(stats == NULL);
    tg_scope_stats_close(NULL);
}

TEST_MAIN()
