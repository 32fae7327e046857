/* SPDX-License-Identifier: Apache-2.0 */
/* Drains the stream of a device that makes one store at a time; the host looks between the
 * stores. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"
#include "unit/host/graph_fake.h"
#include "common/stream_word.h"
#include "host/drain.h"

enum { BUFFERS = 2, PER_BUFFER = TG_PER_BUFFER };

/* The device's end of the stream. */
static struct tg_stream_head *head;
static struct tg_record_area area;
static uint32_t buffer, count;
static uint64_t ready_tail, free_head;
static uint64_t made, taken;

static uint32_t *queue(uint64_t offset)
{
    return (uint32_t *)(void *)((char *)head + offset);
}

static void set_current(uint32_t which, uint32_t records)
{
    buffer = which;
    count = records;
    head->current = tg_word_seal(tg_current_value(which, records));
}

/* Makes a record; its number is in `sequence`. */
static void make_record(void)
{
    struct tg_record *records = (struct tg_record *)(void *)((char *)head + head->buffers);
    if (buffer == TG_NO_BUFFER) {
        uint64_t free_tail;
        REQUIRE(tg_word_open(head->free_tail, &free_tail) && free_head != free_tail);
        set_current(queue(head->free_queue)[free_head % BUFFERS], 0);
        head->free_head = ++free_head;
    }
    records[buffer * PER_BUFFER + count] = (struct tg_record){.sequence = made++};
    set_current(buffer, count + 1);
}

/* The two stores that hand over a full buffer. */
static void say_ready(void)
{
    queue(head->ready_queue)[ready_tail % BUFFERS] = buffer;
    head->ready_tail = tg_word_seal(++ready_tail);
}

static void leave_buffer(void)
{
    set_current(TG_NO_BUFFER, 0);
}

static void make_records(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        make_record();
}

/* Fills a whole buffer and hands it over. */
static void make_buffer(void)
{
    make_records(PER_BUFFER);
    say_ready();
    leave_buffer();
}

/* Checks that each record comes once, in order. */
static void take(void *context, const struct tg_record *record)
{
    (void)context;
    CHECK_EQ_U(record->sequence, taken);
    taken++;
}

static struct tg_drain open_stream(void)
{
    struct tg_drain drain;
    uint64_t records = BUFFERS * PER_BUFFER * sizeof(struct tg_record);
    tg_graph_destroy(fake_graph());
    area = (struct tg_record_area){
        .device = &fake_device,
        .setup = {.streams = FAKE_BASE + FAKE_CONTROL},
        .stream = {.n_buffers = BUFFERS,
                   .per_buffer = PER_BUFFER,
                   .free_queue = 512,
                   .ready_queue = 768,
                   .buffers = 1024,
                   .arena = 1024 + records,
                   .arena_size = 4096,
                   .piece_limit = 1024,
                   .free_tail = tg_word_seal(BUFFERS),
                   .ready_tail = tg_word_seal(0),
                   .written = tg_word_seal(0),
                   .freed = tg_word_seal(0),
                   .current = tg_word_seal(tg_current_value(TG_NO_BUFFER, 0))},
    };
    head = (struct tg_stream_head *)(void *)(fake.memory + FAKE_CONTROL);
    *head = area.stream;
    for (uint32_t i = 0; i < BUFFERS; i++)
        queue(head->free_queue)[i] = i;
    buffer = TG_NO_BUFFER;
    count = ready_tail = free_head = 0;
    made = taken = 0;
    tg_drain_init_other(&drain, &area, 0, take, NULL);
    return drain;
}

TEST(records_come_as_they_are_made)
{
    struct tg_drain drain = open_stream();
    for (uint32_t i = 0; i < 5 * PER_BUFFER; i++) {
        make_record();
        CHECK_EQ_U(tg_drain_run(&drain), 1);
        if (count == PER_BUFFER) {
            say_ready();
            leave_buffer();
        }
    }
    CHECK_EQ_U(tg_drain_run(&drain), 0);
    tg_drain_end(&drain);
    CHECK_EQ_U(taken, made);
    CHECK_EQ_U(drain.corrupt, 0);
}

TEST(a_buffer_that_was_given_back_is_not_taken_again_while_it_is_shown_as_current)
{
    struct tg_drain drain = open_stream();
    make_records(PER_BUFFER);
    say_ready();
    tg_drain_run(&drain);
    CHECK_EQ_U(taken, PER_BUFFER);
    CHECK_EQ_U(tg_drain_run(&drain), 0);
    leave_buffer();
    make_buffer(); /* fills the other buffer, then this one again, meanwhile */
    make_buffer();
    tg_drain_run(&drain);
    make_records(10);
    tg_drain_run(&drain);
    tg_drain_end(&drain);
    CHECK_EQ_U(taken, made);
    CHECK_EQ_U(drain.corrupt, 0);
}

TEST(a_full_buffer_of_a_device_that_died_before_it_said_so_is_taken)
{
    struct tg_drain drain = open_stream();
    make_buffer();
    tg_drain_run(&drain);
    make_buffer();
    make_records(PER_BUFFER); /* the first buffer again, up to its end */
    tg_drain_run(&drain);
    tg_drain_end(&drain);
    CHECK_EQ_U(taken, made);
}

/* The host looks after every store that the device makes. */
TEST(whenever_the_host_looks_each_record_comes_once)
{
    for (unsigned pattern = 0; pattern < 1u << 12; pattern++) {
        struct tg_drain drain = open_stream();
        unsigned step = 0;
        for (uint32_t i = 0; i < 4; i++) {
            make_records(PER_BUFFER);
            if (pattern >> step++ % 12 & 1)
                tg_drain_run(&drain);
            say_ready();
            if (i % 2 || pattern >> step++ % 12 & 1) /* else it would wait for a free buffer */
                tg_drain_run(&drain);
            if (pattern >> step++ % 12 & 1)
                tg_drain_run(&drain);
            leave_buffer();
        }
        tg_drain_run(&drain);
        tg_drain_end(&drain);
        CHECK_EQ_U(taken, made);
        CHECK_EQ_U(drain.corrupt, 0);
    }
}

/* ── memory that goes with the device ─────────────────────────────────────────────────────── */

enum { PAYLOAD = 256, ARENA = 4 * PAYLOAD };

/* Makes a record of a piece of a float32 tensor whose bytes are its task's number. */
static void make_piece(uint64_t task, uint64_t bytes, uint64_t done, uint64_t size)
{
    static uint64_t written;
    struct tg_record *records = (struct tg_record *)(void *)((char *)head + head->buffers);
    struct tg_record r = {.type = TG_RECORD_ARGUMENT,
                          .flags = TG_RECORD_CONTIGUOUS | TG_RECORD_PAYLOAD | TG_RECORD_HASHED,
                          .sequence = made,
                          .task_id = task,
                          .role = TG_IN,
                          .dtype = TG_FLOAT32,
                          .ndim = 1,
                          .shape = {(int64_t)bytes / 4},
                          .strides = {1},
                          .bytes = bytes,
                          .value = done,
                          .stored = size};
    char whole[ARENA];
    memset(whole, (int)task, sizeof whole);
    r.hash = tg_content_hash(whole, bytes);
    if (made == 0 && done == 0)
        written = 0;
    r.position = written;
    written += (size + TG_CURSOR_UNIT - 1) / TG_CURSOR_UNIT * TG_CURSOR_UNIT;
    if (done + size < bytes)
        r.flags |= TG_RECORD_MORE;
    else
        made++;
    memset((char *)head + head->arena + r.position, (int)task, size);
    if (buffer == TG_NO_BUFFER)
        set_current(0, 0);
    records[buffer * PER_BUFFER + count] = r;
    set_current(buffer, count + 1);
}

static struct tg_drain open_recording(struct tg_dump_writer **writer)
{
    static struct tg_drain_room room;
    struct tg_drain drain = open_stream();
    dump_make_dir();
    CHECK_EQ_I(tg_dump_create(dump_dir, TG_LEVEL_FULL, TG_POLICY_BLOCK, 0, writer, NULL), TG_OK);
    area.copied = true;
    tg_drain_init(&drain, &area, 0, *writer, &room);
    return drain;
}

/* Makes the arena unreadable from that byte on; ends the recording, which must be good. */
static struct tg_recording *end_recording(struct tg_drain *drain, struct tg_dump_writer *writer,
                                          uint64_t gone)
{
    fake.gone = drain->address + head->arena + gone;
    tg_drain_run(drain);
    tg_drain_end(drain);
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
    tg_dump_destroy(writer);
    return dump_open(dump_dir);
}

static void check_entry(const struct tg_recording *recording, uint64_t index, uint64_t stored,
                        bool truncated)
{
    struct tg_entry entry;
    REQUIRE(tg_recording_get(recording, index, &entry));
    CHECK_EQ_U(entry.record.stored, stored);
    CHECK_EQ_I((entry.record.flags & TG_RECORD_TRUNCATED) != 0, truncated);
}

TEST(payload_that_was_lost_with_the_device_is_reported_missing)
{
    struct tg_dump_writer *writer;
    struct tg_drain drain = open_recording(&writer);
    make_piece(1, PAYLOAD, 0, PAYLOAD);
    tg_drain_run(&drain);
    make_piece(2, PAYLOAD, 0, PAYLOAD);
    make_piece(3, PAYLOAD, 0, PAYLOAD);
    struct tg_recording *recording = end_recording(&drain, writer, PAYLOAD);
    check_entry(recording, 0, PAYLOAD, false);
    check_entry(recording, 1, 0, true);
    check_entry(recording, 2, 0, true);
    CHECK_EQ_U(dump_info(recording).summary.truncated, 2);
    tg_recording_close(recording);
}

TEST(pieces_that_were_read_before_stay)
{
    struct tg_dump_writer *writer;
    struct tg_drain drain = open_recording(&writer);
    make_piece(1, 2 * PAYLOAD, 0, PAYLOAD);
    tg_drain_run(&drain);
    make_piece(1, 2 * PAYLOAD, PAYLOAD, PAYLOAD);
    make_piece(2, PAYLOAD, 0, PAYLOAD);
    struct tg_recording *recording = end_recording(&drain, writer, PAYLOAD);
    check_entry(recording, 0, PAYLOAD, true);
    check_entry(recording, 1, 0, true);
    tg_recording_close(recording);
}

static void check_bytes(const struct tg_recording *recording, uint64_t index, int byte)
{
    struct tg_entry entry;
    REQUIRE(tg_recording_get(recording, index, &entry));
    const unsigned char *bytes = tg_recording_payload(recording, &entry);
    REQUIRE(bytes || entry.record.stored == 0);
    for (uint64_t i = 0; i < entry.record.stored; i++)
        CHECK_EQ_I(bytes[i], byte);
}

/* Such payloads lie apart in the arena and side by side in the file. */
TEST(payloads_of_odd_sizes_are_written_together)
{
    static const uint64_t size[] = {100, 4, 64, 68, 128, 200, 12};
    for (int copied = 0; copied < 2; copied++) {
        struct tg_dump_writer *writer;
        struct tg_drain drain = open_recording(&writer);
        area.copied = copied;
        for (unsigned i = 0; i < 7; i++) {
            make_piece(i + 1, size[i], 0, size[i]);
            if (i == 4)
                tg_drain_run(&drain);
        }
        struct tg_recording *recording = end_recording(&drain, writer, ARENA);
        for (unsigned i = 0; i < 7; i++) {
            check_entry(recording, i, size[i], false);
            check_bytes(recording, i, (int)i + 1);
        }
        CHECK_EQ_U(dump_info(recording).payload_bytes, 576);
        tg_recording_close(recording);
    }
}

/* How often this process has called write and its like; 0 where that cannot be read. */
static uint64_t count_writes(void)
{
    char line[64];
    unsigned long long calls = 0;
    FILE *file = fopen("/proc/self/io", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "syscw: %llu", &calls);
    if (file)
        fclose(file);
    return calls;
}

TEST(payloads_that_lie_side_by_side_take_one_write)
{
    struct tg_dump_writer *writer;
    struct tg_drain drain = open_recording(&writer);
    for (unsigned i = 0; i < 4; i++)
        make_piece(i + 1, PAYLOAD, 0, PAYLOAD);
    uint64_t before = count_writes();
    tg_drain_run(&drain);
    CHECK(count_writes() - before <= 1);
    tg_recording_close(end_recording(&drain, writer, ARENA));
}

TEST(payloads_of_odd_sizes_stay_as_far_as_they_can_be_read)
{
    struct tg_dump_writer *writer;
    struct tg_drain drain = open_recording(&writer);
    for (unsigned i = 0; i < 3; i++)
        make_piece(i + 1, 100, 0, 100);
    struct tg_recording *recording = end_recording(&drain, writer, 256);
    check_entry(recording, 0, 100, false);
    check_entry(recording, 1, 100, false);
    check_entry(recording, 2, 0, true);
    check_bytes(recording, 1, 2);
    tg_recording_close(recording);
}

/* The device dies between two reads of the host: what was announced can no longer be read, and how much
 * the device had made is not known. */
TEST(buffers_that_were_lost_with_the_device_are_not_called_corrupt)
{
    struct tg_drain drain = open_stream();
    area.copied = true;
    make_buffer();
    make_buffer();
    fake.gone = drain.address + head->ready_queue;
    CHECK_EQ_U(tg_drain_run(&drain), 0);
    fake.gone = drain.address;
    tg_drain_end(&drain);
    CHECK_EQ_U(drain.corrupt, 0);
}

/* ── words that are not read whole ────────────────────────────────────────────────────────── */

/* A word of which the first bytes are those of one word and the rest those of another. */
static uint64_t torn(uint64_t first, uint64_t rest, unsigned bytes)
{
    uint64_t low = (UINT64_C(1) << 8 * bytes) - 1;
    return (first & low) | (rest & ~low);
}

/* The host looks after each record, but finds a mixture of the old `current` and the new one. */
TEST(a_current_that_is_not_read_whole_loses_nothing)
{
    for (unsigned bytes = 1; bytes < 8; bytes++) {
        struct tg_drain drain = open_stream();
        for (uint32_t i = 0; i < 5 * PER_BUFFER; i++) {
            uint64_t before = head->current, after;
            make_record();
            after = head->current;
            head->current = torn(before, after, bytes);
            tg_drain_run(&drain);
            head->current = torn(after, before, bytes);
            tg_drain_run(&drain);
            head->current = after;
            if (count == PER_BUFFER) {
                say_ready();
                tg_drain_run(&drain);
                leave_buffer();
            }
        }
        tg_drain_run(&drain);
        tg_drain_end(&drain);
        CHECK_EQ_U(taken, made);
        CHECK_EQ_U(drain.corrupt, 0);
    }
}

TEST(a_ready_tail_that_is_not_read_whole_is_read_later)
{
    struct tg_drain drain = open_stream();
    uint64_t before = head->ready_tail, after;
    make_records(PER_BUFFER);
    say_ready();
    leave_buffer();
    after = head->ready_tail;
    for (unsigned bytes = 1; bytes < 8; bytes++) {
        head->ready_tail = torn(before, after, bytes);
        if (head->ready_tail == before || head->ready_tail == after)
            continue;
        CHECK_EQ_U(tg_drain_run(&drain), 0);
    }
    head->ready_tail = after;
    CHECK_EQ_U(tg_drain_run(&drain), PER_BUFFER);
    tg_drain_end(&drain);
    CHECK_EQ_U(taken, made);
}

TEST(what_the_host_frees_is_sealed)
{
    struct tg_dump_writer *writer;
    struct tg_drain drain = open_recording(&writer);
    uint64_t freed, free_tail;
    make_piece(1, PAYLOAD, 0, PAYLOAD);
    tg_drain_run(&drain);
    REQUIRE(tg_word_open(head->freed, &freed));
    CHECK_EQ_U(freed * TG_CURSOR_UNIT, PAYLOAD);
    make_records(PER_BUFFER - 1);
    say_ready();
    leave_buffer();
    tg_drain_run(&drain);
    REQUIRE(tg_word_open(head->free_tail, &free_tail));
    CHECK_EQ_U(free_tail, BUFFERS + 1);
    tg_drain_end(&drain);
    tg_dump_destroy(writer);
}

TEST(the_check_of_a_word_notices_any_mixture_of_two)
{
    for (uint64_t i = 0; i < 70000; i += 7) {
        uint64_t a = tg_word_seal(tg_current_value((uint32_t)(i / 64), (uint32_t)(i % 64))),
                 b = tg_word_seal(tg_current_value((uint32_t)(i / 64) + 1, 0));
        for (unsigned bytes = 1; bytes < 8; bytes++) {
            uint64_t word = torn(a, b, bytes), value;
            CHECK(word == a || word == b || !tg_word_open(word, &value));
        }
    }
}

/* ── values that the orchestration read ───────────────────────────────────────────────────── */

static void put_record(struct tg_record r)
{
    struct tg_record *records = (struct tg_record *)(void *)((char *)head + head->buffers);
    r.type = TG_RECORD_ARGUMENT;
    r.sequence = made++;
    if (buffer == TG_NO_BUFFER)
        set_current(0, 0);
    records[buffer * PER_BUFFER + count] = r;
    set_current(buffer, count + 1);
}

static struct tg_record good_read(void)
{
    return (struct tg_record){.flags = TG_RECORD_READ,
                              .stage = TG_STAGE_ORCHESTRATION,
                              .role = TG_IN,
                              .kind = TG_KIND_SCALAR,
                              .dtype = TG_INT32,
                              .arg_index = TG_ARG_UNKNOWN};
}

/* Drains what is in the stream as the first one after the lanes', or as a lane's. */
static uint64_t count_corrupt(struct tg_drain *drain, struct tg_dump_writer *writer, bool is_lane)
{
    fake_device.head.n_lanes = is_lane ? FAKE_LANES : 0;
    tg_drain_run(drain);
    tg_drain_end(drain);
    fake_device.head.n_lanes = FAKE_LANES;
    CHECK_EQ_I(tg_dump_finish(writer, &dump_error), TG_OK);
    tg_dump_destroy(writer);
    return drain->corrupt;
}

TEST(the_stream_after_the_lanes_carries_only_reads)
{
    struct tg_dump_writer *writer;
    struct tg_drain drain = open_recording(&writer);
    struct tg_record argument = good_read(), tensor = good_read(), output = good_read(),
                     marked = good_read(), beyond = good_read();
    argument.flags = 0;
    argument.stage = TG_BEFORE_DISPATCH;
    argument.arg_index = 0;
    tensor.kind = TG_KIND_TENSOR;
    output.role = TG_OUT;
    marked.flags |= TG_RECORD_MARKED;
    beyond.arg_index = TG_MAX_TENSORS;
    put_record(good_read());
    put_record(argument);
    put_record(tensor);
    put_record(output);
    put_record(marked);
    put_record(beyond);
    put_record(good_read());
    CHECK_EQ_U(count_corrupt(&drain, writer, false), 5);
    CHECK_EQ_U(drain.sequence, 7);
}

TEST(a_lane_has_read_nothing_for_the_orchestration)
{
    struct tg_dump_writer *writer;
    struct tg_drain drain = open_recording(&writer);
    struct tg_record argument = good_read();
    argument.arg_index = 0;
    argument.stage = TG_BEFORE_DISPATCH;
    put_record(good_read());
    put_record(argument);
    argument.flags = 0;
    put_record(argument);
    CHECK_EQ_U(count_corrupt(&drain, writer, true), 2);
}

/* ── sizes that cannot be ──────────────────────────────────────────────────────────────────── */

static struct tg_record empty_payload(int64_t elements, int64_t stride)
{
    return (struct tg_record){.flags = TG_RECORD_PAYLOAD | TG_RECORD_TRUNCATED,
                              .role = TG_IN,
                              .dtype = TG_UINT8,
                              .ndim = 1,
                              .shape = {elements},
                              .strides = {stride},
                              .bytes = (uint64_t)elements};
}

TEST(a_tensor_that_memory_cannot_hold_takes_no_room_in_the_file)
{
    struct tg_dump_writer *writer;
    struct tg_drain drain = open_recording(&writer);
    struct tg_record crooked = empty_payload(8, 1);
    crooked.position = 8;
    put_record(empty_payload(8, 1));
    put_record(empty_payload(FAKE_BYTES, 1));
    put_record(empty_payload((int64_t)1 << 57, 1));
    put_record(empty_payload(2 * FAKE_BYTES, 0)); /* repeats one element */
    put_record(empty_payload((int64_t)1 << 57, 0));
    put_record(crooked);
    CHECK_EQ_U(count_corrupt(&drain, writer, true), 4);
    struct tg_recording *recording = dump_open(dump_dir);
    CHECK_EQ_U(dump_info(recording).records, 2);
    tg_recording_close(recording);
}

TEST_MAIN()
