/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of several ranks: one in the list, each rank by its key, and their calls. */
#define _GNU_SOURCE 1
#include "unit/workbench/made.h"

#include <sys/stat.h>

static struct tg_workbench *bench;
static struct tg_error error;

#define RANKS(clock)                                                                                             \
    "{\"version\":1,\"workload\":\"mlp\",\"case\":\"small\",\"ranks\":2,\"transport\":\"local\",\"about\":\"\"," \
    "\"status\":\"HANG\",\"rank\":[{\"rank\":0,\"folder\":\"rank0\",\"host\":\"a\",\"pid\":1,"                   \
    "\"local_rank\":0,\"status\":\"HANG\",\"error\":\"why\"},{\"rank\":1,\"folder\":\"rank1\","                  \
    "\"host\":\"b\",\"pid\":2,\"local_rank\":0,\"status\":\"OK\",\"error\":\"\"" clock "}]}"
#define HEAD(rank) "{\"version\":1,\"rank\":" rank ",\"ranks\":2}\n"
#define CALL(name, peer, posted, done, state)                                               \
    "{\"task\":\"0000000000000001\",\"call\":\"" name "\",\"peer\":" peer ",\"tag\":3,"     \
    "\"operation\":null,\"number\":0,\"dtype\":\"float32\",\"elements\":4,\"bytes\":16,"    \
    "\"site\":\"a.c:1\",\"posted_ns\":\"" posted "\",\"matched_ns\":null,\"done_ns\":" done \
    ",\"state\":\"" state "\"}\n"

static void make_rank(const char *name, const char *calls)
{
    char path[400];
    struct tg_dump_writer *writer;
    snprintf(path, sizeof path, "%s/job/%s", dump_dir, name);
    REQUIRE(mkdir(path, 0700) == 0);
    REQUIRE(tg_dump_create(path, TG_LEVEL_META, TG_POLICY_BLOCK, 0, &writer, &error) == TG_OK);
    CHECK_EQ_I(tg_dump_add_kernel(writer, 0, TG_AIV, "add"), TG_OK);
    struct tg_record record = made_record(1, TG_BEFORE_DISPATCH, 10);
    CHECK(tg_dump_append(writer, &record));
    CHECK_EQ_I(tg_dump_finish(writer, &error), TG_OK);
    tg_dump_destroy(writer);
    snprintf(path, sizeof path, "%s/job/%s/comm.jsonl", dump_dir, name);
    dump_write_file(path, calls, strlen(calls));
}

static void make_job(const char *ranks)
{
    char path[400];
    dump_make_dir();
    snprintf(path, sizeof path, "%s/job", dump_dir);
    REQUIRE(mkdir(path, 0700) == 0);
    made_file("job/ranks.json", ranks);
    make_rank("rank0", HEAD("0") CALL("tg_recv", "1", "1000", "null", "waits"));
    make_rank("rank1", HEAD("1") CALL("tg_send", "0", "5000000900", "\"5000000990\"", "done"));
    CHECK_EQ_S(tg_workbench_open(&(struct tg_workbench_config){.path = dump_dir}, &bench, &error) ==
                       TG_OK
                   ? ""
                   : error.text,
               "");
}

static void end_job(void)
{
    char command[500];
    tg_workbench_close(bench);
    snprintf(command, sizeof command, "rm -rf '%s'", dump_dir);
    CHECK_EQ_I(system(command), 0);
}

/* The text of an answer, or of its header; the caller frees it. */
static char *text_of(const char *request, int http)
{
    struct tg_workbench_answer made;
    tg_workbench_ask(bench, request, &made);
    CHECK_EQ_I(made.status, http);
    char *text = calloc(1, made.part[0].size + 1);
    REQUIRE(text);
    for (size_t i = 0; i < made.part[0].size; i++) { /* a header has zeros before it */
        char c = ((const char *)made.part[0].bytes)[i];
        text[i] = c ? c : ' ';
    }
    tg_workbench_answer_free(&made);
    return text;
}

static void check(const char *request, int http, const char *word)
{
    char *text = text_of(request, http);
    CHECK_HAS(text, word);
    free(text);
}

TEST(a_run_of_ranks_is_one_run_in_the_list)
{
    make_job(RANKS(
        ",\"clock\":{\"offset_ns\":\"-5000000000\",\"drift\":0,\"at_ns\":\"0\",\"error_ns\":900,\"samples\":4}"));
    char *text = text_of("runs", 200);
    CHECK_HAS(text, "\"key\": \"job\"");
    CHECK_HAS(text, "\"ranks\": 2");
    CHECK_HAS(text, "\"status\": \"HANG\"");
    CHECK(strstr(text, "rank0") == NULL && strstr(text, "job@") == NULL);
    free(text);
    check("run?run=job", 200, "\"ranks\": {\"key\": \"job\", \"rank\": null}");
    end_job();
}

TEST(a_rank_is_a_run_by_its_key)
{
    make_job(RANKS(""));
    check("run?run=job%401", 200, "\"ranks\": {\"key\": \"job\", \"rank\": 1}");
    check("task?run=job%400&task=1", 200, "\"kernels\": [\"add\"]");
    check("run?run=job%402", 404, "there is no run");
    check("run?run=job%40", 404, "there is no run");
    check("run?run=job%4001", 404, "there is no run");
    check("run?run=job%400%400", 404, "there is no run");
    check("run?run=job%40..", 404, "there is no run");
    end_job();
}

TEST(ranks_say_what_waits)
{
    make_job(RANKS(""));
    check("ranks?run=job", 200, "\"waiting\": 1");
    check("ranks?run=job", 200, "\"error\": \"why\"");
    check("ranks?run=job%401", 409, "has no ranks");
    check("calls?run=job%401", 409, "has no ranks");
    check("timeline?run=job", 200, "several ranks");
    end_job();
}

TEST(calls_are_on_the_clock_of_rank_0)
{
    make_job(RANKS(
        ",\"clock\":{\"offset_ns\":\"-5000000000\",\"drift\":0,\"at_ns\":\"0\",\"error_ns\":900,\"samples\":4}"));
    check("calls?run=job", 200, "\"start_ns\": \"900\"");
    check("calls?run=job", 200, "\"error_ns\": 900");
    check("calls?run=job", 200, "\"sites\": [\"a.c:1\"]");
    end_job();
}

TEST(a_rank_whose_clock_is_not_known_begins_with_rank_0)
{
    make_job(RANKS(""));
    check("calls?run=job", 200, "\"start_ns\": \"1000\"");
    check("calls?run=job", 200, "\"error_ns\": null");
    end_job();
}

TEST(a_clock_stays_unknown_where_rank_0_has_no_call_to_begin_with)
{
    char path[400];
    make_job(RANKS(""));
    snprintf(path, sizeof path, "%s/job/rank0/comm.jsonl", dump_dir);
    CHECK_EQ_I(unlink(path), 0);
    check("calls?run=job", 200, "\"error_ns\": null");
    end_job();
}

TEST(ranks_that_made_no_call_have_empty_columns)
{
    char path[400];
    make_job(RANKS(""));
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/job/rank%d/comm.jsonl", dump_dir, i);
        CHECK_EQ_I(unlink(path), 0);
    }
    check("calls?run=job", 200, "\"given\": 0");
    check("ranks?run=job", 200, "\"calls\": null");
    end_job();
}

TEST(a_ranks_json_that_is_none_is_harmless)
{
    make_job("{\"version\":1,\"ranks\":99999999999}");
    check("runs", 200, "\"job\"");
    check("ranks?run=job", 409, "has no ranks");
    check("run?run=job%400", 404, "there is no run");
    end_job();
}

/* The name of a rank's folder comes out of ranks.json: what is served must not leave the directory by it. */
TEST(a_folder_of_a_rank_that_is_a_link_is_not_served)
{
    char path[400], elsewhere[400];
    make_job(RANKS(""));
    snprintf(path, sizeof path, "%s/job/rank1", dump_dir);
    snprintf(elsewhere, sizeof elsewhere, "%s/job/elsewhere", dump_dir);
    REQUIRE(rename(path, elsewhere) == 0);
    REQUIRE(symlink("elsewhere", path) == 0);
    check("run?run=job%401", 404, "there is no run");
    check("ranks?run=job", 200, "\"calls\": null");
    check("calls?run=job", 200, "\"given\": 1");
    end_job();
}

TEST_MAIN()
