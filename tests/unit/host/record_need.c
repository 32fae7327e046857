/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory the streams of a recording get where it has to be locked. */
#include "unit/host/graph_fake.h"

enum { STREAMS = 127 };
#define MOST_ARENA (UINT64_C(4) << 20)
enum { MOST_BUFFERS = 16 };

static struct tg_stream_room fit(uint64_t records, uint64_t bytes, struct tg_stream_room before)
{
    struct tg_stream_room room = {MOST_ARENA, MOST_BUFFERS};
    struct tg_record_need need = {.records = records, .bytes = bytes};
    tg_record_fit(&room, &need, STREAMS, before);
    CHECK(room.arena >= 4096 && room.arena <= MOST_ARENA && room.arena % 1024 == 0);
    CHECK(room.buffers >= 2 && room.buffers <= MOST_BUFFERS);
    return room;
}

static const struct tg_stream_room nothing = {0, 0};

TEST(one_core_may_record_all_of_a_small_graph_without_waiting)
{
    CHECK(fit(17, 12288, nothing).arena >= 12288);
    CHECK_EQ_U(fit(17, 0, nothing).arena, 4096);
}

TEST(what_is_locked_grows_with_what_is_recorded_up_to_the_most)
{
    struct tg_stream_room last = nothing;
    for (uint64_t bytes = 1; bytes < UINT64_C(1) << 45; bytes *= 3) {
        struct tg_stream_room room = fit(bytes / 4096 + 1, bytes, nothing);
        CHECK(room.arena >= last.arena && room.buffers >= last.buffers);
        CHECK(STREAMS * room.arena <= 2 * bytes + STREAMS * (UINT64_C(132) << 10));
        last = room;
    }
    CHECK_EQ_U(last.arena, MOST_ARENA);
    CHECK_EQ_U(last.buffers, MOST_BUFFERS);
}

TEST(a_graph_that_is_not_known_gets_what_its_last_run_should_have_had)
{
    CHECK(fit(0, 0, nothing).arena < MOST_ARENA);
    CHECK_EQ_U(fit(0, 0, (struct tg_stream_room){1 << 20, 8}).arena, 1 << 20);
    CHECK_EQ_U(fit(0, 0, (struct tg_stream_room){1 << 20, 8}).buffers, 8);
    CHECK_EQ_U(fit(0, 0, (struct tg_stream_room){64 << 20, 900}).arena, MOST_ARENA);
    CHECK_EQ_U(fit(0, 0, (struct tg_stream_room){64 << 20, 900}).buffers, MOST_BUFFERS);
}

static struct tg_record_need need_of(uint32_t level, uint32_t tasks)
{
    const int64_t words = 1000;
    struct tg_record_setup setup = {.level = level};
    struct tg_graph *graph = fake_graph();
    for (uint32_t i = 0; i < tasks; i++) {
        struct tg_args args;
        tg_args_init(&args);
        tg_args_in(&args, tg_tensor_make(FAKE_BASE + FAKE_CONTROL, TG_UINT32, 1, &words));
        tg_args_inout(&args, tg_tensor_make(FAKE_BASE + FAKE_CONTROL, TG_UINT8, 1, &words));
        tg_args_i32(&args, 1);
        REQUIRE(tg_graph_add(graph, 0, &args, NULL, NULL) == TG_OK);
    }
    struct tg_record_need need = tg_record_need_of(graph, &setup, NULL);
    tg_graph_destroy(graph);
    return need;
}

TEST(the_need_of_a_graph_is_what_its_tasks_record)
{
    struct tg_record_need full = need_of(TG_LEVEL_FULL, 10);
    CHECK_EQ_U(full.records, 10 * 4 + 1);
    CHECK_EQ_U(full.bytes, 10 * (4032 + 2 * 1024));
    CHECK_EQ_U(need_of(TG_LEVEL_META, 10).records, 10 * 4 + 1);
    CHECK_EQ_U(need_of(TG_LEVEL_META, 10).bytes, 0);
    CHECK_EQ_U(need_of(TG_LEVEL_MARKED, 10).bytes, 0);
    CHECK_EQ_U(need_of(TG_LEVEL_FULL, 0).records, 1);
}

TEST(a_few_tasks_tell_what_many_need)
{
    CHECK_EQ_U(need_of(TG_LEVEL_FULL, 2000).bytes, 2000 * (4032 + 2 * 1024));
}

/* Tasks of which each `every`th has a tensor of 1 KiB, and the others a scalar. */
static uint64_t bytes_of_every(uint32_t every, uint32_t first, uint32_t tasks)
{
    const int64_t bytes = 1024;
    struct tg_record_setup setup = {.level = TG_LEVEL_FULL};
    struct tg_graph *graph = fake_graph();
    for (uint32_t i = 0; i < tasks; i++) {
        struct tg_args args;
        tg_args_init(&args);
        if (i % every == first)
            tg_args_in(&args, tg_tensor_make(FAKE_BASE + FAKE_CONTROL, TG_UINT8, 1, &bytes));
        else
            tg_args_i32(&args, 1);
        REQUIRE(tg_graph_add(graph, 0, &args, NULL, NULL) == TG_OK);
    }
    struct tg_record_need need = tg_record_need_of(graph, &setup, NULL);
    tg_graph_destroy(graph);
    return need.bytes;
}

TEST(what_a_graph_repeats_is_seen_however_often_it_does)
{
    for (uint32_t every = 2; every <= 8; every *= 2)
        for (uint32_t first = 0; first < every; first++) {
            uint64_t bytes = bytes_of_every(every, first, 2048);
            CHECK(bytes >= 2048 * 1024 / every / 2 && bytes <= 2048 * 1024 / every * 2);
        }
}

TEST_MAIN()
