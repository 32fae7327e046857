/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads drain full streams: nothing is lost, doubled or out of order. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"
#include "unit/host/graph_fake.h"
#include "common/stream_word.h"
#include "host/pump.h"

enum { STREAMS = 5, BUFFERS = 2, TENSORS = 16, BYTES = 4096, ROUNDS = 20 };

static struct tg_record_area area;
static struct tg_drain drains[STREAMS];
static struct tg_drain_room room;

static struct tg_stream_head *head_of(uint32_t stream)
{
    return (struct tg_stream_head *)(void *)(fake.memory + FAKE_CONTROL +
                                             stream * area.setup.stream_size);
}

static void open_streams(struct tg_dump_writer *writer)
{
    uint64_t records = BUFFERS * TG_PER_BUFFER * sizeof(struct tg_record);
    area = (struct tg_record_area){
        .device = &fake_device,
        .copied = true,
        .setup = {.streams = FAKE_BASE + FAKE_CONTROL,
                  .n_streams = STREAMS,
                  .stream_size = 1024 + records + TENSORS * BYTES},
        .stream = {.n_buffers = BUFFERS,
                   .per_buffer = TG_PER_BUFFER,
                   .free_queue = 512,
                   .ready_queue = 768,
                   .buffers = 1024,
                   .arena = 1024 + records,
                   .arena_size = TENSORS * BYTES,
                   .piece_limit = TENSORS * BYTES / 4,
                   .free_tail = tg_word_seal(BUFFERS),
                   .ready_tail = tg_word_seal(0),
                   .written = tg_word_seal(0),
                   .freed = tg_word_seal(0),
                   .current = tg_word_seal(tg_current_value(TG_NO_BUFFER, 0))},
    };
    for (uint32_t i = 0; i < STREAMS; i++) {
        *head_of(i) = area.stream;
        tg_drain_init(&drains[i], &area, i, writer, &room);
    }
}

/* A tensor's bytes say which stream and which of its records it is. */
static void fill_tensor(uint32_t *to, uint32_t stream, uint64_t number)
{
    for (uint32_t i = 0; i < BYTES / 4; i++)
        to[i] = stream << 24 | (uint32_t)number << 12 | i;
}

/* Fills the arena: the records of a round are the first of a buffer, which the last round left. */
static void fill_stream(uint32_t stream, uint64_t round)
{
    struct tg_stream_head *head = head_of(stream);
    struct tg_record *records =
        (struct tg_record *)(void *)((char *)head + head->buffers +
                                     round % BUFFERS * TG_PER_BUFFER * sizeof(struct tg_record));
    for (uint64_t i = 0; i < TENSORS; i++) {
        uint32_t *bytes = (uint32_t *)(void *)((char *)head + head->arena + i * BYTES);
        uint64_t number = round * TENSORS + i;
        fill_tensor(bytes, stream, number);
        records[i] =
            (struct tg_record){.type = TG_RECORD_ARGUMENT,
                               .flags = TG_RECORD_CONTIGUOUS | TG_RECORD_PAYLOAD | TG_RECORD_HASHED,
                               .stream = (uint16_t)stream,
                               .sequence = number,
                               .task_id = number,
                               .role = TG_IN,
                               .dtype = TG_UINT32,
                               .ndim = 1,
                               .shape = {BYTES / 4},
                               .strides = {1},
                               .bytes = BYTES,
                               .stored = BYTES,
                               .hash = tg_content_hash(bytes, BYTES),
                               .position = number * BYTES};
    }
    head->current = tg_word_seal(tg_current_value((uint32_t)(round % BUFFERS), TENSORS));
}

static void drain_round(struct tg_dump_writer *writer, uint32_t threads, uint64_t round)
{
    struct tg_pump pump = {.drains = drains, .n = STREAMS, .threads = threads, .room = &room};
    for (uint32_t i = 0; i < STREAMS; i++)
        fill_stream(i, round);
    REQUIRE(tg_pump_start(&pump, NULL) == TG_OK);
    if (round % 2) /* else it is stopped before it has seen anything */
        while (tg_pump_progress(&pump) < STREAMS * TENSORS)
            usleep(100);
    tg_pump_stop(&pump);
    CHECK_EQ_U(tg_pump_progress(&pump), STREAMS * TENSORS);
    CHECK_EQ_U(tg_pump_freed(&pump), STREAMS * TENSORS * BYTES);
    CHECK(tg_dump_flush(writer));
    for (uint32_t i = 0; i < STREAMS; i++) {
        CHECK_EQ_U(drains[i].corrupt, 0);
        drains[i].part_buffer =
            TG_NO_BUFFER; /* the device fills the other one from its beginning */
    }
}

static void check_tensor(const struct tg_recording *recording, uint64_t index, uint64_t *next)
{
    static uint32_t expected[BYTES / 4];
    struct tg_entry entry;
    REQUIRE(tg_recording_get(recording, index, &entry));
    uint32_t stream = entry.record.stream;
    REQUIRE(stream < STREAMS);
    CHECK_EQ_U(entry.record.task_id, next[stream]);
    fill_tensor(expected, stream, next[stream]++);
    CHECK_EQ_U(entry.record.stored, BYTES);
    CHECK_EQ_MEM(tg_recording_payload(recording, &entry), expected, BYTES);
}

static void record(uint32_t threads)
{
    struct tg_dump_writer *writer;
    uint64_t next[STREAMS] = {0};
    tg_graph_destroy(fake_graph());
    fake_device.head.n_lanes = STREAMS;
    dump_make_dir();
    REQUIRE(tg_dump_create(dump_dir, TG_LEVEL_FULL, TG_POLICY_BLOCK, 0, &writer, NULL) == TG_OK);
    open_streams(writer);
    for (uint64_t round = 0; round < ROUNDS; round++)
        drain_round(writer, threads, round);
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
    tg_dump_destroy(writer);
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_U(dump_info(recording).records, STREAMS * TENSORS * ROUNDS);
    CHECK_EQ_U(dump_info(recording).payload_bytes, STREAMS * TENSORS * ROUNDS * BYTES);
    for (uint64_t i = 0; i < STREAMS * TENSORS * ROUNDS; i++)
        check_tensor(recording, i, next);
    tg_recording_close(recording);
}

TEST(one_thread_drains_everything)
{
    record(1);
}

TEST(several_threads_drain_what_one_would)
{
    record(2);
    record(TG_PUMP_MOST_THREADS);
}

TEST(there_are_no_more_threads_than_streams)
{
    CHECK_EQ_U(tg_pump_threads(1), 1);
    CHECK(tg_pump_threads(1000) >= 1 && tg_pump_threads(1000) <= TG_PUMP_MOST_THREADS);
}

TEST_MAIN()
