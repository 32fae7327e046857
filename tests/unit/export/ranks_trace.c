/* SPDX-License-Identifier: Apache-2.0 */
/* One trace of several ranks from their recordings, and what is missing. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

#include <sys/stat.h>
#include <taskglass/ranks_trace.h>

static struct tg_error error;
static char path[400];

static const char *at(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", dump_dir, name);
    return path;
}

static void make_rank(const char *name)
{
    char dir[400];
    struct tg_dump_writer *writer;
    snprintf(dir, sizeof dir, "%s/%s", dump_dir, name);
    REQUIRE(mkdir(dir, 0700) == 0);
    REQUIRE(tg_dump_create(dir, TG_LEVEL_META, TG_POLICY_BLOCK, 0, &writer, &error) == TG_OK);
    CHECK_EQ_I(tg_dump_add_kernel(writer, 0, TG_AIV, "add"), TG_OK);
    struct tg_record record = dump_tensor(1, 2, 0);
    record.time = 10;
    record.stored = 0;
    record.flags &= (uint16_t)~TG_RECORD_PAYLOAD;
    CHECK(tg_dump_append(writer, &record));
    CHECK_EQ_I(tg_dump_finish(writer, &error), TG_OK);
    tg_dump_destroy(writer);
}

static void make_job(void)
{
    static const char text[] =
        "{\"version\":1,\"workload\":\"w\",\"case\":\"c\",\"ranks\":2,\"transport\":\"local\","
        "\"about\":\"\",\"status\":\"OK\",\"rank\":["
        "{\"rank\":0,\"folder\":\"rank0\",\"host\":\"a\",\"pid\":1,\"local_rank\":0,\"status\":\"OK\"},"
        "{\"rank\":1,\"folder\":\"rank1\",\"host\":\"a\",\"pid\":2,\"local_rank\":1,\"status\":\"OK\"}]}";
    dump_make_dir();
    dump_write_file(at("ranks.json"), text, strlen(text));
}

static tg_status write_to(const char *name, struct tg_ranks_trace_result *result)
{
    char file[400];
    snprintf(file, sizeof file, "%s/%s", dump_dir, name);
    return tg_ranks_trace_write(&(struct tg_ranks_trace_config){.dir = dump_dir, .path = file},
                                result, &error);
}

static void end_job(void)
{
    char command[500];
    snprintf(command, sizeof command, "rm -rf '%s'", dump_dir);
    CHECK_EQ_I(system(command), 0);
}

TEST(recordings_of_ranks_become_one_trace)
{
    static const char *const names[] = {"all.json", "all.pftrace"};
    struct tg_ranks_trace_result result;
    make_job();
    make_rank("rank0");
    make_rank("rank1");
    for (int i = 0; i < 2; i++) {
        CHECK_EQ_S(write_to(names[i], &result) == TG_OK ? "" : error.text, "");
        CHECK_EQ_U(result.ranks, 2);
        CHECK_EQ_U(result.shown, 2);
        CHECK_EQ_S(result.why, "");
        CHECK_EQ_I(write_to(names[i], &result), TG_BAD_ARGUMENT); /* it exists */
    }
    end_job();
}

TEST(a_rank_that_is_missing_is_said)
{
    struct tg_ranks_trace_result result;
    make_job();
    make_rank("rank0");
    CHECK_EQ_I(write_to("all.json", &result), TG_OK);
    CHECK_EQ_U(result.shown, 1);
    CHECK_EQ_S(result.why, "rank 1: its folder is not here");
    end_job();
}

TEST(without_any_times_there_is_no_file)
{
    struct tg_ranks_trace_result result;
    struct stat info;
    make_job();
    CHECK_EQ_I(write_to("all.json", &result), TG_NOT_FOUND);
    CHECK_HAS(error.text, "has no times of any rank");
    CHECK(stat(at("all.json"), &info) != 0);
    end_job();
}

TEST(a_broken_trace_of_a_rank_is_named)
{
    struct tg_ranks_trace_result result;
    struct stat info;
    make_job();
    make_rank("rank0");
    make_rank("rank1");
    dump_write_file(at("rank1/trace.json"),
                    "{\"taskglass\":{\"clock_begin_ns\":\"5\"},\"traceEvents\":[{]}", 52);
    CHECK_EQ_I(write_to("all.json", &result), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "rank1/trace.json' is damaged");
    CHECK(stat(at("all.json"), &info) != 0);
    end_job();
}

TEST(the_ranks_own_traces_have_the_format_of_the_whole)
{
    CHECK_EQ_S(tg_ranks_trace_name("x.json"), "trace.json");
    CHECK_EQ_S(tg_ranks_trace_name("-"), "trace.json");
    CHECK_EQ_S(tg_ranks_trace_name("x.pftrace"), "trace.pftrace");
    CHECK_EQ_S(tg_ranks_trace_name("x"), "trace.pftrace");
}

TEST(nonsense_is_refused)
{
    CHECK_EQ_I(tg_ranks_trace_write(NULL, NULL, &error), TG_BAD_ARGUMENT);
    CHECK_EQ_I(tg_ranks_trace_write(&(struct tg_ranks_trace_config){.dir = "x"}, NULL, NULL),
               TG_BAD_ARGUMENT);
}

TEST_MAIN()
