/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector's reader with arbitrary device memory: the input determines every byte of a stream,
 * and the first byte whether the platform maps the stream or copies it. The writer is a fake that
 * checks what the real one assumes.
 */
#include "common/stream_word.h"
#include "host/drain.h"
#include "host/module.h"
#include <stdlib.h>
#include <string.h>

enum { MEMORY = 1 << 17, ARENA = 1 << 14, BUFFERS = 4 };

static _Alignas(64) char memory[MEMORY];
static bool mapped;

/* ── a platform that is an array ───────────────────────────────────────────────────────── */

static bool inside(uint64_t address, uint64_t size)
{
    return address <= MEMORY && size <= MEMORY - address;
}

static tg_status copy_in(void *state, uint64_t address, const void *bytes, uint64_t size,
                         struct tg_error *error)
{
    (void)state;
    (void)error;
    if (!inside(address, size))
        abort(); /* the collector writes only what it has allocated */
    memcpy(memory + address, bytes, size);
    return TG_OK;
}

static tg_status copy_out(void *state, void *bytes, uint64_t address, uint64_t size,
                          struct tg_error *error)
{
    (void)state;
    (void)error;
    if (!inside(address, size))
        abort();
    memcpy(bytes, memory + address, size);
    return TG_OK;
}

static void *map(void *state, uint64_t address, uint64_t size)
{
    (void)state;
    if (!inside(address, size))
        abort();
    return mapped ? memory + address : NULL;
}

static const struct tg_platform_ops ops = {
    .name = "array",
    .copy_in = copy_in,
    .copy_out = copy_out,
    .map = map,
};

/* ── a writer that only checks ─────────────────────────────────────────────────────────── */

struct tg_dump_writer {
    uint64_t end;
    uint64_t records;
};

uint64_t tg_dump_reserve(struct tg_dump_writer *writer, uint64_t bytes)
{
    uint64_t at = writer->end;
    writer->end += bytes;
    return at;
}

bool tg_dump_payload(struct tg_dump_writer *writer, uint64_t position, const void *bytes,
                     uint64_t size)
{
    static volatile unsigned char sum;
    if (position > writer->end || size > writer->end - position)
        abort(); /* outside the reserved range */
    for (uint64_t i = 0; i < size; i++)
        sum = (unsigned char)(sum + ((const unsigned char *)bytes)[i]);
    return true;
}

bool tg_dump_append(struct tg_dump_writer *writer, const struct tg_record *record)
{
    if (record->ndim > TG_MAX_DIMS || record->stored > record->bytes ||
        record->position > writer->end || record->stored > writer->end - record->position ||
        (record->flags & TG_RECORD_MORE))
        abort();
    writer->records++;
    return true;
}

bool tg_dump_append_all(struct tg_dump_writer *writer, const struct tg_record *records, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        tg_dump_append(writer, &records[i]);
    return true;
}

/* ── the target ────────────────────────────────────────────────────────────────────────── */

static void lay_out(struct tg_record_area *area, struct tg_device *device)
{
    struct tg_stream_head *s = &area->stream;
    memset(area, 0, sizeof *area);
    area->device = device;
    *s = (struct tg_stream_head){
        .n_buffers = BUFFERS,
        .per_buffer = 64,
        .record_size = sizeof(struct tg_record),
        .free_queue = 512,
        .ready_queue = 768,
        .buffers = 1024,
        .arena = 1024 + BUFFERS * 64 * sizeof(struct tg_record),
        .arena_size = ARENA,
        .piece_limit = ARENA / 4,
    };
    area->setup.n_streams = 1;
    area->setup.stream_size = MEMORY;
}

/* Gives the words that the device writes a good check, which an input would hardly have. */
static void seal_words(void)
{
    struct tg_stream_head *head = (struct tg_stream_head *)(void *)memory;
    uint64_t current = head->current;
    head->current =
        tg_word_seal(tg_current_value((uint32_t)(current >> 32), (uint32_t)current & 0xffff));
    head->ready_tail = tg_word_seal((uint32_t)head->ready_tail);
    head->written = tg_word_seal(head->written / TG_CURSOR_UNIT & UINT32_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tg_drain_room room;
    struct tg_device device = {.ops = &ops, .head = {.memory_end = MEMORY}};
    struct tg_record_area area;
    struct tg_dump_writer writer = {0, 0};
    struct tg_drain drain;
    if (size < 2)
        return 0;
    mapped = data[0] & 1;
    lay_out(&area, &device);
    area.setup.policy = data[0] >> 1 & 3;
    memset(memory, 0, sizeof memory);
    for (size_t i = 1; i < size && i - 1 < MEMORY; i++)
        memory[i - 1] = (char)data[i];
    if (!(data[0] & 8))
        seal_words();
    tg_drain_init(&drain, &area, 0, &writer, &room);
    for (int pass = 0; pass < 4; pass++)
        tg_drain_run(&drain);
    tg_drain_end(&drain);
    return 0;
}
