/* SPDX-License-Identifier: Apache-2.0 */
/* Traces that are read back, and files that are none. */
#include "unit/trace/made.h"

#include "trace/read.h"

static const char *const names[] = {"x.pftrace", "x.json"};

static char *made_trace(const char *name, size_t *size)
{
    struct tg_spool *spool = made_begin();
    made_fill(spool);
    char *bytes = made_write(spool, &made_run, name, 0, size);
    made_end(spool);
    return bytes;
}

static tg_status read_bytes(const void *bytes, size_t size, struct tg_timeline *timeline)
{
    struct tg_map map = {.bytes = bytes, .size = size};
    return tg_timeline_read_bytes(&map, "x", timeline, &error);
}

static const struct tg_timeline_task *task_of(const struct tg_timeline *timeline, uint64_t id)
{
    for (size_t i = 0; i < timeline->n_tasks; i++)
        if (timeline->task[i].id == id)
            return &timeline->task[i];
    REQUIRE(!"there is no such task");
    return NULL;
}

static void check_mix(const struct tg_timeline *timeline)
{
    const struct tg_timeline_task *mix = task_of(timeline, made_id(1, 3));
    CHECK_EQ_U(mix->submit_begin, 1000002);
    CHECK_EQ_U(mix->submit, 1000008);
    CHECK_EQ_U(mix->ready, 1000060);
    CHECK_EQ_S(mix->scope, "main.c:9");
    REQUIRE(mix->n_parts == 2 && mix->n_edges == 2);
    const struct tg_timeline_part *part = &timeline->part[mix->first_part];
    CHECK_EQ_U(part[0].begin, 1000070);
    CHECK_EQ_U(part[0].end, 1000090);
    CHECK_EQ_S(timeline->kernel[part[0].kernel].name, "mul");
    CHECK_EQ_S(timeline->core[part[0].core].name, "core 0 (AIC)");
    CHECK_EQ_U(part[0].flags, 0);
    CHECK_EQ_U(part[1].part, TG_PART_AIV0);
    CHECK_EQ_U(part[1].flags, TG_TIMELINE_PARTIAL);
    CHECK_EQ_S(timeline->kernel[part[1].kernel].name, "add \"x\"?");
    CHECK_EQ_U(timeline->task[timeline->before[mix->first_edge]].id, made_id(0, 1));
    CHECK_EQ_U(timeline->task[timeline->before[mix->first_edge + 1]].id, made_id(1, 2));
}

TEST(a_trace_is_read_back_as_it_was)
{
    for (int i = 0; i < 2; i++) {
        struct tg_timeline timeline;
        size_t size;
        char *bytes = made_trace(names[i], &size);
        CHECK_EQ_S(read_bytes(bytes, size, &timeline) == TG_OK ? "" : error.text, "");
        CHECK_EQ_S(timeline.facts.source, "trace");
        CHECK_EQ_S(timeline.facts.workload, "made");
        CHECK_EQ_U(timeline.facts.lost, 3);
        CHECK_EQ_U(timeline.facts.start, 1000000);
        CHECK_EQ_U(timeline.facts.end, 1000095);
        CHECK(timeline.facts.has_edges && !timeline.facts.host_built);
        CHECK_EQ_U(timeline.n_cores, 3);
        CHECK_EQ_U(timeline.n_tasks, 3);
        CHECK_EQ_U(timeline.n_parts, 4);
        CHECK_EQ_U(timeline.twins + timeline.unknown_edges + timeline.backward, 0);
        check_mix(&timeline);
        CHECK_EQ_U(task_of(&timeline, made_id(0, 1))->ready, 1000000);
        REQUIRE(timeline.n_waits == 1);
        CHECK_EQ_S(timeline.wait[0].cause, "heap");
        CHECK_EQ_U(timeline.wait[0].begin, 1000003);
        CHECK_EQ_U(timeline.wait[0].end, 1000007);
        tg_timeline_free(&timeline);
        free(bytes);
    }
}

/* A part of a file is never taken for the whole, and nothing is read behind its end. */
TEST(a_trace_that_was_cut_is_refused_or_says_less)
{
    for (int i = 0; i < 2; i++) {
        size_t size, good = 0;
        char *bytes = made_trace(names[i], &size);
        for (size_t cut = 0; cut < size - 2; cut++) {
            struct tg_timeline timeline;
            char *part = malloc(cut + 1); /* so that a sanitizer sees a byte too many */
            REQUIRE(part);
            memcpy(part, bytes, cut);
            char *exact = realloc(part, cut ? cut : 1);
            REQUIRE(exact);
            if (read_bytes(exact, cut, &timeline) == TG_OK) {
                good++; /* between two packets */
                tg_timeline_free(&timeline);
            } else {
                CHECK(strstr(error.text, "'x' is "));
            }
            free(exact);
        }
        CHECK(i == 0 ? good < 60 : good == 0);
        free(bytes);
    }
}

TEST(a_trace_with_wrong_bytes_does_no_harm)
{
    uint64_t state = 1;
    for (int i = 0; i < 2; i++) {
        size_t size;
        char *bytes = made_trace(names[i], &size);
        for (int turn = 0; turn < 5000; turn++) {
            struct tg_timeline timeline;
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            size_t at = (size_t)(state >> 33) % size;
            char old = bytes[at];
            bytes[at] = (char)(state >> 25);
            if (read_bytes(bytes, size, &timeline) == TG_OK)
                tg_timeline_free(&timeline);
            bytes[at] = old;
        }
        free(bytes);
    }
}

TEST(what_taskglass_did_not_write_is_refused_with_one_line)
{
    static const char *const foreign[] = {
        "",
        "[]",
        "{}",
        "{\"traceEvents\":[]}",
        "[{\"ph\":\"X\"}]",
        "text",
        "\n\x02\x40\x01",
        "{\"otherData\":{\"program\":\"other\"},\"traceEvents\":[]}",
    };
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        struct tg_timeline timeline;
        CHECK(read_bytes(foreign[i], strlen(foreign[i]), &timeline) == TG_BAD_ARGUMENT);
        CHECK_HAS(error.text, "'x' is not a trace that Taskglass wrote");
        CHECK(!strchr(error.text, '\n'));
    }
    struct tg_timeline timeline;
    CHECK(tg_timeline_read_file("/tmp/taskglass_test_none/x", &timeline, &error) == TG_NOT_FOUND);
}

TEST(what_is_damaged_says_where)
{
    struct tg_timeline timeline;
    static const char damaged[] =
        "{\"otherData\":{\"program\":\"taskglass\"},\"traceEvents\":[{\"ph\":\"E\",\"ts\":1}]}";
    CHECK(read_bytes(damaged, sizeof damaged - 1, &timeline) == TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "'x' is damaged at byte ");
    CHECK_HAS(error.text, "a slice ends that has not begun");
}

TEST_MAIN()
