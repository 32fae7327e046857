/* SPDX-License-Identifier: Apache-2.0 */
/* The device's end of a stream, with a host whose words may be wrong or half written. */
#include "device/stream.h"
#include "common/stream_word.h"
#include "test.h"
#include <pthread.h>
#include <time.h>

enum { BUFFERS = 2, PER_BUFFER = 4, ARENA = 1024 };

static struct {
    struct tg_stream_head head;
    uint32_t free_queue[BUFFERS], ready_queue[BUFFERS];
    struct tg_record record[BUFFERS * PER_BUFFER];
    _Alignas(64) char arena[ARENA];
} memory;

static struct tg_record_setup setup;
static struct tg_engine engine;

static struct tg_stream open_stream(void)
{
    struct tg_stream stream;
    char *base = (char *)&memory;
    memset(&memory, 0, sizeof memory);
    memory.head = (struct tg_stream_head){
        .n_buffers = BUFFERS,
        .per_buffer = PER_BUFFER,
        .free_queue = (uint64_t)((char *)memory.free_queue - base),
        .ready_queue = (uint64_t)((char *)memory.ready_queue - base),
        .buffers = (uint64_t)((char *)memory.record - base),
        .arena = (uint64_t)(memory.arena - base),
        .arena_size = ARENA,
        .piece_limit = ARENA / 4,
        .freed = tg_word_seal(0),
        .free_tail = tg_word_seal(BUFFERS),
    };
    for (uint32_t i = 0; i < BUFFERS; i++)
        memory.free_queue[i] = i;
    setup =
        (struct tg_record_setup){.policy = TG_POLICY_DROP, .streams = (uint64_t)(uintptr_t)&memory};
    tg_stream_open(&stream, &setup, 0, NULL);
    return stream;
}

static bool has_room(struct tg_stream *stream)
{
    uint64_t position;
    return tg_stream_reserve(&engine, stream, ARENA / 4, &position);
}

static void fill(struct tg_stream *stream)
{
    for (int i = 0; i < 4; i++)
        CHECK(has_room(stream));
    CHECK(!has_room(stream));
}

static uint64_t freed(uint64_t bytes)
{
    return tg_word_seal(bytes / TG_CURSOR_UNIT);
}

TEST(a_cursor_that_cannot_be_frees_nothing)
{
    static const uint64_t cannot_be[] = {UINT64_MAX, 0, ARENA, ARENA / TG_CURSOR_UNIT};
    struct tg_stream stream = open_stream();
    fill(&stream);
    for (size_t i = 0; i < sizeof cannot_be / sizeof cannot_be[0]; i++) {
        memory.head.freed = cannot_be[i]; /* without a check */
        CHECK(!has_room(&stream));
    }
    memory.head.freed = freed(2 * ARENA); /* more than was written */
    CHECK(!has_room(&stream));
    memory.head.freed = freed(ARENA / 4);
    CHECK(has_room(&stream));
    CHECK(!has_room(&stream));
    memory.head.freed = freed(0); /* less than before */
    CHECK(!has_room(&stream));
    memory.head.freed = freed(ARENA / 2);
    CHECK(has_room(&stream));
}

TEST(a_tail_that_cannot_be_gives_no_buffer)
{
    struct tg_stream stream = open_stream();
    for (int i = 0; i < BUFFERS * PER_BUFFER; i++) {
        REQUIRE(tg_stream_slot(&engine, &stream) != NULL);
        tg_stream_publish(&stream);
    }
    CHECK(tg_stream_slot(&engine, &stream) == NULL);
    memory.head.free_tail = BUFFERS + 1; /* without a check */
    CHECK(tg_stream_slot(&engine, &stream) == NULL);
    memory.head.free_tail = tg_word_seal(2 * BUFFERS + 1); /* more buffers than there are */
    CHECK(tg_stream_slot(&engine, &stream) == NULL);
    memory.head.free_tail = tg_word_seal(BUFFERS + 1);
    CHECK(tg_stream_slot(&engine, &stream) != NULL);
}

/* ── waiting for the host ──────────────────────────────────────────────────────────────── */

static uint64_t pulse;

/* A host that beats so often, some milliseconds apart, and then gives room. */
struct host {
    int beats;
    bool gives_room;
};

static void nap(long milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

static void *host_main(void *argument)
{
    const struct host *host = argument;
    for (int i = 0; i < host->beats; i++) {
        nap(1);
        __atomic_add_fetch(&pulse, 1, __ATOMIC_RELAXED);
    }
    nap(50);
    if (host->gives_room)
        __atomic_store_n(&memory.head.freed, freed(ARENA / 4), __ATOMIC_RELEASE);
    return NULL;
}

/* A full stream whose limit is 16 periods of a millisecond. */
static bool finds_room(const struct host *host)
{
    struct tg_stream stream = open_stream();
    pthread_t thread;
    bool found;
    stream.policy = TG_POLICY_BLOCK;
    setup.wait_limit_ns = 16000000;
    setup.pulse = (uint64_t)(uintptr_t)&pulse;
    setup.pulse_ns = 1000000;
    for (int i = 0; i < 4; i++)
        CHECK(has_room(&stream));
    engine.phase = TG_RUNNING;
    REQUIRE(pthread_create(&thread, NULL, host_main, (void *)host) == 0);
    found = has_room(&stream);
    pthread_join(thread, NULL);
    return found;
}

TEST(a_host_that_does_not_run_is_waited_for)
{
    CHECK(finds_room(&(struct host){.beats = 0, .gives_room = true}));
}

TEST(a_host_that_stops_after_some_beats_is_waited_for)
{
    CHECK(finds_room(&(struct host){.beats = 6, .gives_room = true}));
}

TEST(a_host_that_runs_and_gives_no_room_is_given_up)
{
    CHECK(!finds_room(&(struct host){.beats = 1000, .gives_room = false}));
}

TEST(a_pulse_that_wraps_around_is_a_pulse)
{
    pulse = UINT64_MAX - 2;
    CHECK(!finds_room(&(struct host){.beats = 1000, .gives_room = false}));
}

TEST(what_the_device_shows_is_sealed)
{
    struct tg_stream stream = open_stream();
    uint64_t current, tail, written;
    CHECK(has_room(&stream));
    REQUIRE(tg_word_open(memory.head.written, &written));
    CHECK_EQ_U(written * TG_CURSOR_UNIT, ARENA / 4);
    for (uint32_t i = 0; i < PER_BUFFER; i++) {
        REQUIRE(tg_stream_slot(&engine, &stream) != NULL);
        REQUIRE(tg_word_open(memory.head.current, &current));
        CHECK_EQ_U(tg_current_buffer(current), 0);
        CHECK_EQ_U(tg_current_count(current), i);
        tg_stream_publish(&stream);
    }
    REQUIRE(tg_word_open(memory.head.current, &current));
    CHECK_EQ_U(tg_current_buffer(current), TG_NO_BUFFER);
    REQUIRE(tg_word_open(memory.head.ready_tail, &tail));
    CHECK_EQ_U(tail, 1);
}

/* ── telling the host ──────────────────────────────────────────────────────────────────── */

static uint32_t told_of(void)
{
    uint64_t current;
    return tg_word_open(memory.head.current, &current) ? tg_current_count(current) : UINT32_MAX;
}

static void put(struct tg_stream *stream)
{
    REQUIRE(tg_stream_slot(&engine, stream) != NULL);
    stream->recorded++;
    tg_stream_put(stream);
}

TEST(records_are_told_together)
{
    struct tg_stream stream = open_stream();
    put(&stream);
    put(&stream);
    CHECK_EQ_U(told_of(), 0);
    CHECK_EQ_U(memory.head.recorded, 0);
    tg_stream_tell(&stream);
    CHECK_EQ_U(told_of(), 2);
    CHECK_EQ_U(memory.head.recorded, 2);
}

TEST(a_full_buffer_is_told_at_once)
{
    struct tg_stream stream = open_stream();
    uint64_t tail;
    for (uint32_t i = 0; i < PER_BUFFER; i++)
        put(&stream);
    REQUIRE(tg_word_open(memory.head.ready_tail, &tail));
    CHECK_EQ_U(tail, 1);
}

TEST(records_are_told_before_their_stream_waits)
{
    struct tg_stream stream = open_stream();
    for (int i = 0; i < 4; i++)
        CHECK(has_room(&stream));
    put(&stream);
    stream.policy = TG_POLICY_BLOCK;
    setup.pulse = (uint64_t)(uintptr_t)&pulse;
    setup.wait_limit_ns = 0;
    CHECK(!has_room(&stream));
    CHECK_EQ_U(told_of(), 1);
}

TEST(a_piece_is_where_its_cursor_says)
{
    static const uint64_t sizes[] = {64, 192, 1, 256, 200, 100, 65, 256, 128, 256};
    struct tg_stream stream = open_stream();
    stream.policy = TG_POLICY_OVERWRITE;
    for (size_t i = 0; i < 10 * sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t size = sizes[i % (sizeof sizes / sizeof sizes[0])], position;
        REQUIRE(tg_stream_reserve(&engine, &stream, size, &position));
        CHECK(tg_stream_at(&stream, position) == memory.arena + position % ARENA);
        CHECK(position % ARENA + size <= ARENA);
    }
}

TEST_MAIN()
