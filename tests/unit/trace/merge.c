/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of ranks that become one, and traces that are none. */
#include "unit/trace/made.h"

#include "recording/ranks.h"
#include "trace/merge.h"
#include "trace/read.h"

enum { RANKS = 2, SECOND = 1000000000 };
static const char *const names[] = {"x.pftrace", "x.json"};

/* One message from rank 0 to rank 1, one call of both, and a receive in vain. Rank 1's clock is a second ahead. */
static const char *const calls_text[RANKS] = {
    "{\"version\":1,\"rank\":0,\"ranks\":2}\n"
    "{\"task\":\"0000000000000001\",\"call\":\"tg_send\",\"peer\":1,\"tag\":3,\"operation\":null,\"number\":0,"
    "\"dtype\":\"float32\",\"elements\":4,\"bytes\":16,\"site\":\"a.c:1\",\"posted_ns\":\"1000020\","
    "\"matched_ns\":\"1000030\",\"done_ns\":\"1000040\",\"state\":\"done\"}\n"
    "{\"task\":\"0000000000000002\",\"call\":\"tg_all_reduce\",\"peer\":null,\"tag\":null,\"operation\":\"sum\","
    "\"number\":0,\"dtype\":\"float32\",\"elements\":4,\"bytes\":16,\"site\":\"a.c:2\","
    "\"posted_ns\":\"1000050\",\"matched_ns\":\"1000070\",\"done_ns\":\"1000080\",\"state\":\"done\"}\n"
    "{\"task\":\"0000000000000003\",\"call\":\"tg_recv\",\"peer\":1,\"tag\":9,\"operation\":null,\"number\":0,"
    "\"dtype\":\"float32\",\"elements\":4,\"bytes\":16,\"site\":\"a.c:3\",\"posted_ns\":\"1000085\","
    "\"matched_ns\":null,\"done_ns\":null,\"state\":\"waits\"}\n",
    "{\"version\":1,\"rank\":1,\"ranks\":2}\n"
    "{\"task\":\"0000000000000001\",\"call\":\"tg_recv\",\"peer\":0,\"tag\":3,\"operation\":null,\"number\":0,"
    "\"dtype\":\"float32\",\"elements\":4,\"bytes\":16,\"site\":\"b.c:1\",\"posted_ns\":\"1001000010\","
    "\"matched_ns\":\"1001000015\",\"done_ns\":\"1001000042\",\"state\":\"done\"}\n"
    "{\"task\":\"0000000000000002\",\"call\":\"tg_all_reduce\",\"peer\":null,\"tag\":null,\"operation\":\"sum\","
    "\"number\":0,\"dtype\":\"float32\",\"elements\":4,\"bytes\":16,\"site\":\"b.c:2\","
    "\"posted_ns\":\"1001000069\",\"matched_ns\":\"1001000070\",\"done_ns\":\"1001000081\","
    "\"state\":\"done\"}\n"};

/* What a merge needs, and what came of it. */
struct made {
    char path[RANKS][128];
    struct tg_merge_rank rank[RANKS];
    struct tg_calls *calls[RANKS];
    struct tg_merge_result result;
    char *text; /* the file */
    size_t size;
};

static void make_ranks(struct made *made, const char *name)
{
    struct tg_spool *spool = made_begin();
    made_fill(spool);
    for (uint32_t i = 0; i < RANKS; i++) {
        snprintf(made->path[i], sizeof made->path[i], "%s/%u%s", folder, i, name);
        struct tg_trace_target target = {.path = made->path[i], .format = tg_trace_format_of(name)};
        CHECK_EQ_I(tg_trace_write(spool, &made_run, &target, NULL, &error), TG_OK);
        CHECK_EQ_I(tg_calls_read("comm.jsonl", calls_text[i], strlen(calls_text[i]),
                                 &made->calls[i], &error),
                   TG_OK);
        made->rank[i] = (struct tg_merge_rank){
            .rank = i,
            .host = i == 0 ? "alpha" : "be\"ta\n",
            .path = made->path[i],
            .clock = {.is_known = true, .offset_ns = i ? -SECOND : 0, .error_ns = 900 * i},
            .calls = made->calls[i]};
    }
    tg_spool_destroy(spool);
}

static tg_status merge(struct made *made, const char *name)
{
    FILE *file = open_memstream(&made->text, &made->size);
    REQUIRE(file);
    struct tg_merge_config config = {.rank = made->rank,
                                     .n_ranks = RANKS,
                                     .path = "all",
                                     .file = file,
                                     .format = tg_trace_format_of(name)};
    tg_status status = tg_trace_merge(&config, &made->result, &error);
    fclose(file);
    return status;
}

static void end_ranks(struct made *made)
{
    for (uint32_t i = 0; i < RANKS; i++) {
        (void)unlink(made->path[i]);
        tg_calls_close(made->calls[i]);
    }
    (void)rmdir(folder);
    free(made->text);
    *made = (struct made){0};
}

static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;
    while ((text = strstr(text, word)) != NULL) {
        n++;
        text += strlen(word);
    }
    return n;
}

TEST(ranks_become_processes_on_one_clock)
{
    struct made made = {0};
    make_ranks(&made, names[1]);
    CHECK_EQ_S(merge(&made, names[1]) == TG_OK ? "" : error.text, "");
    CHECK_EQ_U(made.result.traces, RANKS);
    CHECK_EQ_U(made.result.unsure, 0);
    CHECK_HAS(made.text, "{\"name\":\"rank 0 (alpha)\"}");
    CHECK_HAS(made.text, "{\"name\":\"rank 1 (be\\\"ta?)\"}");
    CHECK_HAS(made.text, "\"clock_error_ns\":900");
    /* Rank 1's times are a second earlier than its own clock says, so the file begins with them. */
    CHECK_EQ_U(count(made.text, "\"cat\":\"run\""), RANKS);
    CHECK_EQ_U(count(made.text, "\"ranks\":2"), 2 * RANKS + 1);
    end_ranks(&made);
}

TEST(messages_are_arrows_from_the_send_to_the_receive)
{
    for (int i = 0; i < 2; i++) {
        struct made made = {0};
        make_ranks(&made, names[i]);
        CHECK_EQ_I(merge(&made, names[i]), TG_OK);
        CHECK_EQ_U(made.result.calls, 5);
        CHECK_EQ_U(made.result.arrows, 2);
        CHECK_EQ_U(made.result.backward, 0);
        CHECK_EQ_U(made.result.left_out, 0);
        CHECK_EQ_U(made.result.bytes, made.size);
        end_ranks(&made);
    }
}

TEST(an_arrow_never_ends_before_it_begins)
{
    struct made made = {0};
    make_ranks(&made, names[1]);
    CHECK_EQ_I(merge(&made, names[1]), TG_OK);
    /* The receive knew of the send at 15 by its clock, which is off: the send was posted at 20. */
    CHECK_EQ_U(count(made.text, "\"ph\":\"s\",\"pid\":0,\"tid\":1073741824"), 1);
    CHECK_EQ_U(count(made.text, "\"ph\":\"f\",\"pid\":1,\"tid\":1073741824"), 1);
    free(made.text);
    made.text = NULL;
    made.rank[1].clock.offset_ns -= 1000; /* now both calls were done before the other side began */
    CHECK_EQ_I(merge(&made, names[1]), TG_OK);
    CHECK_EQ_U(made.result.backward, 2);
    CHECK_EQ_U(made.result.arrows, 0);
    end_ranks(&made);
}

/* Rank 0 sends one message after the other; all receives of rank 1 are under way at the same time. */
static void make_many(struct made *made, int n)
{
    for (int i = 0; i < RANKS; i++) {
        size_t size;
        char *text;
        FILE *file = open_memstream(&text, &size);
        REQUIRE(file);
        fprintf(file, "{\"version\":1,\"rank\":%d,\"ranks\":2}\n", i);
        for (int k = 0; k < n; k++)
            fprintf(
                file,
                "{\"task\":\"%x\",\"call\":\"%s\",\"peer\":%d,\"tag\":3,\"number\":%d,"
                "\"posted_ns\":\"%d\",\"matched_ns\":\"%d\",\"done_ns\":\"%d\",\"state\":\"done\"}\n",
                (unsigned)k, i == 0 ? "tg_send" : "tg_recv", 1 - i, k,
                i == 0 ? 1000020 + 10 * k : 1001000010, i == 0 ? 1000025 + 10 * k : 1001009000,
                i == 0 ? 1000028 + 10 * k : 1001009999);
        fclose(file);
        tg_calls_close(made->calls[i]);
        CHECK_EQ_I(tg_calls_read("comm.jsonl", text, size, &made->calls[i], &error), TG_OK);
        made->rank[i].calls = made->calls[i];
        free(text);
    }
}

TEST(no_arrow_leads_to_a_call_that_is_left_out)
{
    enum { MANY = 40, SHOWN = 32 };
    struct made made = {0};
    make_ranks(&made, names[1]);
    make_many(&made, MANY);
    CHECK_EQ_I(merge(&made, names[1]), TG_OK);
    CHECK_EQ_U(made.result.left_out, MANY - SHOWN);
    CHECK_EQ_U(made.result.arrows, SHOWN);
    CHECK_EQ_U(count(made.text, "\"cat\":\"message\",\"id\":"), 2 * SHOWN);
    CHECK_EQ_U(count(made.text, "\"ph\":\"s\",\"pid\":0,\"tid\":1073741824"), SHOWN);
    end_ranks(&made);
}

TEST(a_rank_without_a_trace_has_its_calls)
{
    for (int i = 0; i < 2; i++) {
        struct made made = {0};
        make_ranks(&made, names[i]);
        made.rank[1].path = NULL;
        CHECK_EQ_I(merge(&made, names[i]), TG_OK);
        CHECK_EQ_U(made.result.traces, 1);
        CHECK_EQ_U(made.result.calls, 5);
        end_ranks(&made);
    }
}

TEST(an_unknown_clock_is_known_on_the_same_machine_alone)
{
    struct made made = {0};
    make_ranks(&made, names[0]);
    made.rank[1].clock.is_known = false;
    CHECK_EQ_I(merge(&made, names[0]), TG_OK);
    CHECK_EQ_U(made.result.unsure, 1);
    free(made.text);
    made.rank[1].host = "alpha";
    CHECK_EQ_I(merge(&made, names[0]), TG_OK);
    CHECK_EQ_U(made.result.unsure, 0);
    end_ranks(&made);
}

TEST(a_clock_that_turns_time_around_makes_no_endless_slice)
{
    struct made made = {0};
    make_ranks(&made, names[1]);
    made.rank[1].clock.offset_ns = INT64_MAX;
    made.rank[1].clock.drift = -0.99;
    CHECK_EQ_I(merge(&made, names[1]), TG_OK);
    CHECK(count(made.text, "\"dur\":") > 0);
    CHECK_EQ_U(count(made.text, "\"dur\":18446744"), 0);
    end_ranks(&made);
}

TEST(the_trace_of_several_ranks_is_not_read_as_that_of_one)
{
    for (int i = 0; i < 2; i++) {
        struct made made = {0};
        struct tg_timeline timeline;
        make_ranks(&made, names[i]);
        CHECK_EQ_I(merge(&made, names[i]), TG_OK);
        struct tg_map map = {.bytes = (const unsigned char *)made.text, .size = made.size};
        CHECK_EQ_I(tg_timeline_read_bytes(&map, "all", &timeline, &error), TG_UNSUPPORTED);
        CHECK_HAS(error.text, "2 ranks together");
        end_ranks(&made);
    }
}

TEST(a_trace_of_the_other_format_is_refused)
{
    struct made made = {0};
    make_ranks(&made, names[0]);
    CHECK_EQ_I(merge(&made, names[1]), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "is no trace in Chrome's JSON");
    end_ranks(&made);
}

/* Every cut of the file is refused or leaves a whole number of packets or events. */
TEST(a_trace_that_is_cut_or_broken_is_harmless)
{
    for (int i = 0; i < 2; i++) {
        struct made made = {0};
        make_ranks(&made, names[i]);
        FILE *file = fopen(made.path[1], "rb");
        REQUIRE(file);
        static unsigned char bytes[1 << 16];
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        for (size_t at = 0; at < size; at += 13) {
            file = fopen(made.path[1], "wb");
            REQUIRE(file);
            bytes[at] ^= 0x5a;
            fwrite(bytes, 1, at % 2 ? at : size, file);
            bytes[at] ^= 0x5a;
            fclose(file);
            tg_status status = merge(&made, names[i]);
            CHECK(status == TG_OK || status == TG_BAD_ARGUMENT);
            free(made.text);
            made.text = NULL;
        }
        end_ranks(&made);
    }
}

TEST_MAIN()
