/* SPDX-License-Identifier: Apache-2.0 */
/* The device's end of a stream of events, with a host that reads, does not read, or writes nonsense. */
#include "device/trace.h"
#include "common/stream_word.h"
#include "test.h"

enum { EVENTS = 8 };

static struct {
    struct tg_trace_head head;
    struct tg_trace_event event[EVENTS];
} memory;

static uint64_t pulse;
static struct tg_trace_setup setup;
static struct tg_engine engine;
static struct tg_tracer tracer[1];

/* The pulse stands still, so that a wait would not end: these tests let nobody wait. */
static void open_stream(void)
{
    memset(&memory, 0, sizeof memory);
    memory.head.freed = memory.head.written = tg_word_seal(0);
    setup = (struct tg_trace_setup){.n_streams = 1,
                                    .n_events = EVENTS,
                                    .streams = (uint64_t)(uintptr_t)&memory,
                                    .pulse = (uint64_t)(uintptr_t)&pulse,
                                    .pulse_ns = 1000};
    engine =
        (struct tg_engine){.n_lanes = 1, .trace = &setup, .tracers = tracer, .phase = TG_STOPPED};
    tg_trace_open(&engine, 0);
}

static bool put(uint64_t task)
{
    struct tg_trace_event *event = tg_trace_slot(&engine, tracer);
    if (event == NULL)
        return false;
    event->task_id = task;
    tg_trace_publish(tracer);
    return true;
}

static uint64_t written(void)
{
    uint64_t value = UINT64_MAX;
    CHECK(tg_word_open(memory.head.written, &value));
    return value;
}

static void fill(void)
{
    for (uint64_t i = 0; i < EVENTS; i++)
        CHECK(put(i));
}

TEST(the_cursor_counts_every_event_at_once)
{
    open_stream();
    for (uint64_t i = 0; i < EVENTS; i++) {
        CHECK(put(i));
        CHECK(written() == i + 1);
    }
}

TEST(events_that_are_kept_come_with_the_next_one)
{
    open_stream();
    CHECK(tg_trace_slot(&engine, tracer) == &memory.event[0]);
    tg_trace_keep(tracer);
    CHECK(written() == 0);
    CHECK(put(1));
    CHECK(written() == 2);
}

TEST(a_stream_that_nobody_reads_counts_what_it_loses)
{
    open_stream();
    fill();
    CHECK(!put(8) && !put(9));
    CHECK(memory.head.lost == 2);
    CHECK(written() == EVENTS && memory.event[0].task_id == 0);
}

TEST(events_that_are_kept_in_a_full_stream_reach_the_host)
{
    open_stream();
    for (uint64_t i = 0; i < EVENTS; i++) {
        CHECK(tg_trace_slot(&engine, tracer) != NULL);
        tg_trace_keep(tracer);
    }
    CHECK(!put(8));
    CHECK(written() == EVENTS); /* or the host could never make room */
}

TEST(what_the_host_has_read_is_room_again)
{
    open_stream();
    fill();
    memory.head.freed = tg_word_seal(3);
    for (uint64_t i = 0; i < 3; i++)
        CHECK(put(EVENTS + i));
    CHECK(!put(11) && memory.head.lost == 1);
    CHECK(memory.event[2].task_id == EVENTS + 2 && memory.event[3].task_id == 3);
    memory.head.freed = tg_word_seal(4); /* after a loss it goes on */
    CHECK(put(12));
}

TEST(a_word_of_the_host_that_cannot_be_makes_no_room)
{
    const uint64_t words[] = {3, ~tg_word_seal(3), tg_word_seal(EVENTS + 1),
                              tg_word_seal((UINT64_C(1) << 48) - 1)};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        open_stream();
        fill();
        memory.head.freed = words[i];
        CHECK(!put(8));
    }
}

TEST(a_ready_time_only_grows)
{
    uint64_t ready[2] = {0, 0};
    open_stream();
    engine.ready = ready;
    tg_trace_raise(&engine, 1, 20);
    tg_trace_raise(&engine, 1, 10);
    CHECK(ready[1] == 20 && ready[0] == 0);
    tg_trace_raise(&engine, 1, 30);
    CHECK(ready[1] == 30);
}

TEST_MAIN()
