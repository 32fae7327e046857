/* SPDX-License-Identifier: Apache-2.0 */
/* Drains the trace of a device that writes what it likes: cursors, events, both at random. */
#define _GNU_SOURCE 1
#include "unit/trace/made.h"
#include "unit/host/graph_fake.h"
#include "common/stream_word.h"
#include "host/trace_drain.h"

enum { EVENTS = 256, LANES = 3, ROUNDS = 400 };

static struct tg_trace_head *head;
static struct tg_trace_event *events;
static struct tg_trace_area area;
static struct tg_trace_room room;
static uint64_t state = 1;

static uint64_t any(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state >> 33 ^ state << 20;
}

static struct tg_trace_drain open_stream(uint32_t index, struct tg_spool *spool)
{
    struct tg_trace_drain drain;
    tg_graph_destroy(fake_graph());
    fake_device.head.n_lanes = LANES;
    area = (struct tg_trace_area){
        .device = &fake_device,
        .setup = {.n_streams = LANES + 1,
                  .n_events = EVENTS,
                  .stream_size = sizeof *head + EVENTS * sizeof *events,
                  .streams =
                      FAKE_BASE + FAKE_CONTROL - index * (sizeof *head + EVENTS * sizeof *events)},
    };
    memset(&room, 0, sizeof room);
    tg_trace_drain_init(&drain, &area, index, spool, &room);
    head = (struct tg_trace_head *)(void *)(fake.memory + FAKE_CONTROL);
    events = (struct tg_trace_event *)(void *)(head + 1);
    head->written = head->freed = tg_word_seal(0);
    return drain;
}

static uint64_t freed(void)
{
    uint64_t value = UINT64_MAX;
    CHECK(tg_word_open(head->freed, &value));
    return value;
}

static void write_trace(struct tg_spool *spool)
{
    struct tg_trace_result result;
    char path[128];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, i ? "x.json" : "x.pftrace");
        struct tg_trace_target target = {.path = path, .format = tg_trace_format_of(path)};
        CHECK_EQ_I(tg_trace_write(spool, &made_run, &target, &result, &error), TG_OK);
        unlink(path);
    }
    tg_spool_destroy(spool);
    rmdir(folder);
}

TEST(a_cursor_that_cannot_be_moves_nothing)
{
    struct tg_spool *spool = made_begin();
    struct tg_trace_drain drain = open_stream(LANES, spool);
    memset(events, 0, EVENTS * sizeof *events);
    for (uint32_t i = 0; i < EVENTS; i++)
        events[i] = (struct tg_trace_event){.type = TG_TRACE_SUBMIT, .task_id = i};
    head->written = tg_word_seal(2);
    CHECK_EQ_U(tg_trace_drain_run(&drain), 2);
    const uint64_t wrong[] = {tg_word_seal(1), tg_word_seal(2 + EVENTS + 1), 0, tg_word_seal(2) ^ 1,
                              UINT64_MAX,      tg_word_seal(UINT32_MAX)};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        head->written = wrong[i];
        CHECK_EQ_U(tg_trace_drain_run(&drain), 0);
        CHECK_EQ_U(freed(), 2);
    }
    head->written = tg_word_seal(2 + EVENTS);
    CHECK_EQ_U(tg_trace_drain_run(&drain), EVENTS);
    CHECK_EQ_U(freed(), 2 + EVENTS);
    CHECK_EQ_U(room.corrupt, 0);
    write_trace(spool);
}

/* A lane may only say that it ran tasks, and the orchestrator anything else. */
TEST(events_of_another_worker_are_counted_and_left_out)
{
    struct tg_spool *spool = made_begin();
    struct tg_trace_drain drain = open_stream(1, spool);
    const struct tg_trace_event wrong[] = {
        {.type = TG_TRACE_SUBMIT, .worker = 1},
        {.type = TG_TRACE_RECORDER, .worker = 1},
        {.type = TG_TRACE_TASK, .worker = 2},
        {.type = TG_TRACE_TASK, .worker = 1, .part = TG_PARTS},
        {.type = TG_TRACE_TASK, .worker = 1, .begin = 2, .end = 1},
        {.type = TG_TRACE_TASK | TG_TRACE_PARTIAL, .worker = 1},
        {.type = 0},
        {.type = 255},
    };
    enum { WRONG = sizeof wrong / sizeof *wrong };
    memcpy(events, wrong, sizeof wrong);
    events[WRONG] = (struct tg_trace_event){
        .type = TG_TRACE_TASK, .worker = 1, .begin = 5, .end = 7, .task_id = 1};
    head->written = tg_word_seal(WRONG + 1);
    CHECK_EQ_U(tg_trace_drain_run(&drain), WRONG + 1);
    CHECK_EQ_U(room.corrupt, WRONG);
    CHECK_EQ_U(room.events, 1);
    CHECK_EQ_U(room.tasks, 1);
    write_trace(spool);
}

/* Small numbers now and then, because random ones are nearly always out of range. */
static struct tg_trace_event random_event(void)
{
    struct tg_trace_event e = {.task_id = any() % 2 ? any() : any() % 64,
                               .ready = any() % 2 ? any() : any() % 64,
                               .begin = any() % 2 ? any() : any() % 1000,
                               .end = any() % 2 ? any() : any() % 1000,
                               .kernel = any() % 2 ? (uint32_t)any() : (uint32_t)(any() % 4),
                               .worker = any() % 2 ? (uint16_t)any() : (uint16_t)(any() % 4),
                               .part = any() % 2 ? (uint8_t)any() : (uint8_t)(any() % 4),
                               .type =
                                   any() % 4 ? (uint8_t)(any() % TG_TRACE_TYPES) : (uint8_t)any()};
    return e;
}

TEST(random_memory_gives_a_trace_that_can_be_written)
{
    for (uint32_t index = 0; index <= LANES; index += LANES) {
        uint64_t ended[8] = {0}, moved = 0;
        struct tg_spool *spool = made_begin();
        struct tg_trace_drain drain = open_stream(index, spool);
        room.ended = ended;
        room.n_ended = 8;
        for (int i = 0; i < ROUNDS; i++) {
            uint64_t next = drain.read + any() % (2 * EVENTS);
            for (uint32_t k = 0; k < EVENTS; k++)
                events[k] = random_event();
            head->written = any() % 8 ? tg_word_seal(next) : any();
            moved += tg_trace_drain_run(&drain);
            CHECK_EQ_U(freed(), moved);
        }
        CHECK(moved > 0);
        CHECK(room.events + room.corrupt <= moved); /* a scope's first event is kept, not added */
        CHECK(room.corrupt > 0 && room.events > 0);
        struct tg_worker_status status = {.running = 1, .task_id = 7};
        tg_trace_drain_add_running(&drain, &status, 5);
        tg_trace_drain_end_scopes(&drain, 5);
        CHECK_EQ_U(drain.depth, 0);
        write_trace(spool);
    }
}

TEST_MAIN()
