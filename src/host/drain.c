/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device that may have gone wrong wrote everything that is read here. The host copies each word,
 * checks it against the layout that the host itself made, and only then uses it. Small payloads
 * that are adjacent in the arena go to the file in one write.
 */
#include "host/drain.h"
#include "base/error.h"
#include "common/atomic.h"
#include "common/stream_word.h"
#include <string.h>

#define FIELD(name) offsetof(struct tg_stream_head, name)

/* How often to read a word that is not whole. */
enum { TRIES = 4 };

/* A view that repeats elements (a stride of 0) may be larger than device memory, but not than this. */
#define LARGEST_REPEATED (UINT64_C(1) << 40)

/* The flags that a recorder on the device may set for a tensor. */
enum {
    DEVICE_FLAGS = TG_RECORD_CONTIGUOUS | TG_RECORD_HASHED | TG_RECORD_PAYLOAD |
                   TG_RECORD_TRUNCATED | TG_RECORD_MARKED | TG_RECORD_MORE
};

/* Payload bytes that wait for one write: contiguous in the arena and in the file. */
struct batch {
    uint64_t from; /* arena cursor */
    uint64_t to;   /* file position */
    uint64_t size;
    struct tg_record record[TG_PER_BUFFER]; /* appended once the bytes are written */
    uint64_t piece[TG_PER_BUFFER]; /* per record: the arena cursor of its oldest piece here */
    uint32_t n_records;
};

void tg_drain_init(struct tg_drain *d, struct tg_record_area *area, uint32_t index,
                   struct tg_dump_writer *writer, char *bounce)
{
    *d = (struct tg_drain){
        .area = area,
        .writer = writer,
        .bounce = bounce,
        .address = tg_record_area_stream(area, index),
        .index = index,
        .free_tail = area->stream.n_buffers,
        .current = tg_current_value(TG_NO_BUFFER, 0),
        .part_buffer = TG_NO_BUFFER,
        .given = TG_NO_BUFFER,
        .file_end = UINT64_MAX,
    };
}

void tg_drain_init_other(struct tg_drain *d, struct tg_record_area *area, uint32_t index,
                         void (*other)(void *context, const struct tg_record *record),
                         void *context)
{
    tg_drain_init(d, area, index, NULL, NULL);
    d->other = other;
    d->context = context;
}

/* ── words shared with the device ──────────────────────────────────────────────────────── */

/* The host's address of the stream's memory; NULL if the host copies the stream instead. */
static void *mapping(struct tg_drain *d, uint64_t address, uint64_t size)
{
    return d->area->copied ? NULL : tg_device_map(d->area->device, address, size);
}

/* Reads 8 bytes of the stream. False if they cannot be read: the memory is lost with the device. */
static bool load(struct tg_drain *d, uint64_t field, uint64_t *word)
{
    const uint64_t *mapped = mapping(d, d->address + field, sizeof *mapped);
    if (mapped != NULL) {
        *word = tg_load_acquire(mapped);
        return true;
    }
    if (tg_device_copy_out(d->area->device, word, d->address + field, sizeof *word, NULL) != TG_OK)
        return false;
    tg_fence_host(); /* the copy acquires nothing */
    return true;
}

/* Reads a word that the device may be writing (W1, W3). *last is the last value that was believed; it
 * changes if the word can be believed now. A few tries are enough: the next pass reads it again. */
static bool read_word(struct tg_drain *d, uint64_t field, uint64_t *last)
{
    for (int i = 0; i < TRIES; i++) {
        uint64_t word, value;
        if (!load(d, field, &word))
            return false;
        if (tg_word_open(word, &value)) {
            *last = value;
            return true;
        }
    }
    return false;
}

static void store(struct tg_drain *d, uint64_t field, uint64_t word)
{
    uint64_t *mapped = mapping(d, d->address + field, sizeof *mapped);
    if (mapped != NULL) {
        tg_store_release(mapped, word);
        return;
    }
    tg_fence_host(); /* the copy releases nothing */
    tg_device_copy_in(d->area->device, d->address + field, &word, sizeof word, NULL);
}

static void write_word(struct tg_drain *d, uint64_t field, uint64_t value) /* W2 */
{
    store(d, field, tg_word_seal(value));
}

/* An entry of a queue. The word that publishes it comes later, so it need not be whole at once. */
static uint32_t read_entry(struct tg_drain *d, uint64_t offset)
{
    uint32_t entry = TG_NO_BUFFER;
    tg_device_copy_out(d->area->device, &entry, d->address + offset, sizeof entry, NULL);
    return entry;
}

static void write_entry(struct tg_drain *d, uint64_t offset, uint32_t entry)
{
    tg_device_copy_in(d->area->device, d->address + offset, &entry, sizeof entry, NULL);
}

/* ── payloads ──────────────────────────────────────────────────────────────────────────── */

static uint64_t padded(uint64_t bytes)
{
    return (bytes + TG_CURSOR_UNIT - 1) / TG_CURSOR_UNIT * TG_CURSOR_UNIT;
}

static uint64_t arena_address(const struct tg_drain *d, uint64_t cursor)
{
    return d->address + d->area->stream.arena + cursor % d->area->stream.arena_size;
}

/* Writes through the mapping, or copies piece by piece. Returns how many bytes could be read: a
 * device that dies may take its memory with it. The writer itself keeps track of failed writes. */
static uint64_t write_bytes(struct tg_drain *d, uint64_t from, uint64_t to, uint64_t size)
{
    struct tg_device *device = d->area->device;
    uint64_t address = arena_address(d, from);
    const void *mapped = mapping(d, address, size);
    if (mapped != NULL) {
        tg_dump_payload(d->writer, to, mapped, size);
        return size;
    }
    for (uint64_t done = 0; done < size;) {
        uint64_t n = size - done < TG_BOUNCE ? size - done : TG_BOUNCE;
        if (tg_device_copy_out(device, d->bounce, address + done, n, NULL) != TG_OK)
            return done;
        if (!tg_dump_payload(d->writer, to + done, d->bounce, n))
            return size;
        done += n;
    }
    return size;
}

/* Under policy overwrite the device does not wait, so check after the read whether it has
 * overwritten the bytes meanwhile (W3). If it cannot be known, they count as overwritten. */
static bool was_overwritten(struct tg_drain *d, uint64_t piece)
{
    if (d->area->setup.policy != TG_POLICY_OVERWRITE)
        return false;
    tg_fence_host(); /* the caller's reads come before the load below */
    return !read_word(d, FIELD(written), &d->written) ||
           d->written * TG_CURSOR_UNIT > piece + d->area->stream.arena_size;
}

static void mark_overwritten(struct tg_record *record)
{
    record->flags = (uint16_t)(record->flags | TG_RECORD_OVERWRITTEN);
    record->stored = record->position = 0;
}

/* Shortens a record's payload if the file has nothing from `end` on. */
static void cut_off(struct tg_record *record, uint64_t end)
{
    uint64_t stored = end > record->position ? end - record->position : 0;
    if (record->stored <= stored)
        return;
    record->flags = (uint16_t)(record->flags | TG_RECORD_TRUNCATED);
    record->stored = stored;
    record->position = stored > 0 ? record->position : 0;
}

/* Writes the batch's bytes, then the records that waited for them. */
static void flush(struct tg_drain *d, struct batch *b)
{
    uint64_t end = b->size > 0 ? b->to + write_bytes(d, b->from, b->to, b->size) : 0;
    bool read = b->size == 0 || end == b->to + b->size;
    if (!read && end < d->file_end)
        d->file_end = end;
    if (d->open && b->size > 0 && was_overwritten(d, d->oldest))
        d->overwritten = true;
    for (uint32_t i = 0; i < b->n_records; i++) {
        if (b->record[i].stored > 0 && was_overwritten(d, b->piece[i]))
            mark_overwritten(&b->record[i]);
        if (!read)
            cut_off(&b->record[i], end);
        tg_dump_append(d->writer, &b->record[i]);
    }
    if (b->size > 0 && d->freed < b->from + padded(b->size)) {
        d->freed = b->from + padded(b->size);
        write_word(d, FIELD(freed), d->freed / TG_CURSOR_UNIT);
    }
    b->size = 0;
    b->n_records = 0;
}

/* Adds a piece. Flushes the batch first unless the piece continues it in arena and file. */
static void add_piece(struct tg_drain *d, struct batch *b, const struct tg_record *r, uint64_t to)
{
    bool joins = b->size > 0 && b->from + b->size == r->position && b->to + b->size == to &&
                 r->position % d->area->stream.arena_size != 0;
    if (r->stored == 0)
        return;
    if (!joins)
        flush(d, b);
    if (b->size == 0 || !d->open)
        d->oldest = r->position;
    if (b->size == 0) {
        b->from = r->position;
        b->to = to;
    }
    b->size += r->stored;
}

static void add_record(struct tg_drain *d, struct batch *b, const struct tg_record *r)
{
    if (b->n_records == sizeof b->record / sizeof b->record[0])
        flush(d, b);
    b->record[b->n_records] = *r;
    b->piece[b->n_records++] = d->oldest;
}

/* ── records ───────────────────────────────────────────────────────────────────────────── */

/* A payload is reserved in the file before it is there, so its size must be possible. */
static bool size_is_possible(const struct tg_drain *d, const struct tg_tensor *t, uint64_t bytes)
{
    const struct tg_control_head *head = &d->area->device->head;
    uint64_t memory = head->memory_end - head->memory_start;
    return bytes <= memory || (tg_tensor_repeats(t) && bytes <= LARGEST_REPEATED);
}

static bool tensor_makes_sense(const struct tg_drain *d, const struct tg_record *r)
{
    struct tg_tensor t = {.dtype = r->dtype, .ndim = r->ndim};
    int64_t n;
    if (r->ndim > TG_MAX_DIMS)
        return false;
    memcpy(t.shape, r->shape, sizeof t.shape);
    memcpy(t.strides, r->strides, sizeof t.strides);
    n = tg_tensor_numel(&t);
    return n >= 0 && tg_bits_of(r->dtype) != 0 && r->bytes == tg_bytes_of(r->dtype, n) &&
           size_is_possible(d, &t, r->bytes);
}

static bool argument_makes_sense(const struct tg_record *r)
{
    return !(r->flags & TG_RECORD_READ) && r->stage <= TG_AFTER_COMPLETION &&
           r->kind <= TG_KIND_SCALAR && r->role >= TG_IN && r->role <= TG_INOUT &&
           r->arg_index < TG_MAX_TENSORS + TG_MAX_SCALARS;
}

/* A value that the orchestration has read: the only records of the stream after the lanes'. */
static bool read_makes_sense(const struct tg_record *r)
{
    return r->stage == TG_STAGE_ORCHESTRATION && r->kind == TG_KIND_SCALAR && r->role == TG_IN &&
           r->flags == TG_RECORD_READ &&
           (r->arg_index < TG_MAX_TENSORS || r->arg_index == TG_ARG_UNKNOWN);
}

/* True if the recorder can have written this as the stream's next record. */
static bool makes_sense(const struct tg_drain *d, const struct tg_record *r)
{
    const struct tg_stream_head *s = &d->area->stream;
    bool is_read = d->index == d->area->device->head.n_lanes;
    if (r->type != TG_RECORD_ARGUMENT || r->sequence != d->sequence || r->stream != d->index ||
        !(is_read ? read_makes_sense(r) : argument_makes_sense(r)))
        return false;
    if (r->kind == TG_KIND_SCALAR)
        return !d->open && (r->flags & ~(TG_RECORD_MARKED | TG_RECORD_READ)) == 0 && r->ndim == 0 &&
               r->stored == 0 && r->bytes == 0 && r->position == 0 && tg_bits_of(r->dtype) >= 8;
    if ((r->flags & ~DEVICE_FLAGS) != 0 ||
        (!(r->flags & TG_RECORD_PAYLOAD) && (r->stored > 0 || (r->flags & TG_RECORD_MORE))))
        return false;
    return tensor_makes_sense(d, r) && r->position % TG_CURSOR_UNIT == 0 &&
           r->stored <= s->piece_limit && r->value <= r->bytes &&
           r->stored <= r->bytes - r->value &&
           r->position % s->arena_size + r->stored <= s->arena_size &&
           (d->open ? r->value == d->record.value + d->record.stored && r->bytes == d->record.bytes
                    : r->value == 0);
}

/* The record for the journal, of a tensor with `stored` bytes in the file. */
static struct tg_record final_form(const struct tg_record *piece, uint64_t position,
                                   uint64_t stored)
{
    struct tg_record r = *piece;
    r.flags = (uint16_t)(r.flags & ~TG_RECORD_MORE);
    r.stored = stored;
    r.position = stored > 0 ? position : 0;
    r.value = 0;
    r.check = 0;
    return r;
}

/* Ends the open tensor; `record` is its form for the journal. */
static void close_tensor(struct tg_drain *d, struct batch *b, const struct tg_record *record)
{
    add_record(d, b, record);
    cut_off(&b->record[b->n_records - 1], d->file_end);
    if (d->overwritten)
        mark_overwritten(&b->record[b->n_records - 1]);
    d->open = d->overwritten = false;
    d->sequence++;
}

static void close_truncated(struct tg_drain *d, struct batch *b)
{
    struct tg_record r = final_form(&d->record, d->position, d->record.value + d->record.stored);
    r.flags = (uint16_t)(r.flags | TG_RECORD_TRUNCATED);
    close_tensor(d, b, &r);
}

static void take_tensor(struct tg_drain *d, struct batch *b, const struct tg_record *r)
{
    if (!d->open)
        d->position = tg_dump_reserve(d->writer, (r->flags & TG_RECORD_PAYLOAD) ? r->bytes : 0);
    add_piece(d, b, r, d->position + r->value);
    if (!d->open)
        d->file_end = UINT64_MAX; /* an earlier read error was another tensor's */
    if (r->flags & TG_RECORD_MORE) {
        d->open = true;
        d->record = *r;
        return;
    }
    struct tg_record last = final_form(r, d->position, r->value + r->stored);
    close_tensor(d, b, &last);
}

static void take(struct tg_drain *d, struct batch *b, const struct tg_record *r)
{
    if (d->other != NULL) {
        d->other(d->context, r);
        d->sequence++;
        return;
    }
    if (d->open && r->sequence == d->sequence + 1)
        close_truncated(d, b); /* the recorder found no room for the rest */
    if (r->type == TG_RECORD_ARGUMENT && r->stream == d->index && r->sequence < d->sequence)
        return; /* taken earlier, when its buffer was not full yet */
    if (!makes_sense(d, r)) {
        d->corrupt++;
        if (r->type == TG_RECORD_ARGUMENT && r->stream == d->index && r->sequence > d->sequence)
            d->sequence = r->sequence; /* records were skipped: continue from this one */
        if (!d->open)
            d->sequence++;
        return;
    }
    if (r->kind == TG_KIND_TENSOR) {
        take_tensor(d, b, r);
        return;
    }
    add_record(d, b, r);
    d->sequence++;
}

/* Records [first, end) of a buffer. */
static void take_records(struct tg_drain *d, struct batch *b, uint32_t buffer, uint32_t first,
                         uint32_t end)
{
    struct tg_record records[TG_PER_BUFFER];
    const struct tg_stream_head *s = &d->area->stream;
    uint64_t address =
        d->address + s->buffers + ((uint64_t)buffer * s->per_buffer + first) * sizeof records[0];
    if (first >= end || end > s->per_buffer || end > TG_PER_BUFFER ||
        tg_device_copy_out(d->area->device, records, address, (end - first) * sizeof records[0],
                           NULL) != TG_OK)
        return;
    for (uint32_t i = 0; i < end - first; i++)
        take(d, b, &records[i]);
}

/* ── buffers ───────────────────────────────────────────────────────────────────────────── */

static uint32_t dealt_with(const struct tg_drain *d, uint32_t buffer)
{
    return d->part_buffer == buffer ? d->part_count : 0;
}

static void give_back(struct tg_drain *d, uint32_t buffer)
{
    const struct tg_stream_head *s = &d->area->stream;
    write_entry(d, s->free_queue + d->free_tail % s->n_buffers * sizeof(uint32_t), buffer);
    write_word(d, FIELD(free_tail), ++d->free_tail);
    if (d->part_buffer == buffer)
        d->part_buffer = TG_NO_BUFFER;
    d->given = buffer;
}

/* Takes the full buffers, in order. True if `current` is one of them, or the queue is damaged. */
static bool take_ready(struct tg_drain *d, struct batch *b, uint32_t current, uint64_t *count)
{
    const struct tg_stream_head *s = &d->area->stream;
    bool seen = false;
    read_word(d, FIELD(ready_tail), &d->ready_tail);
    if (d->ready_tail - d->ready_head > s->n_buffers)
        return true; /* more than exist: the queue is damaged */
    for (; d->ready_head != d->ready_tail; d->ready_head++) {
        uint32_t buffer =
            read_entry(d, s->ready_queue + d->ready_head % s->n_buffers * sizeof(uint32_t));
        if (buffer >= s->n_buffers)
            break; /* not written yet, or damaged: tg_drain_end counts it as corrupt */
        *count += s->per_buffer - dealt_with(d, buffer);
        take_records(d, b, buffer, dealt_with(d, buffer), s->per_buffer);
        flush(d, b);
        give_back(d, buffer);
        seen |= buffer == current;
    }
    store(d, FIELD(ready_head), d->ready_head);
    return seen;
}

/* A device first queues a full buffer as ready and then updates `current`. Over a bus this may take
 * long, and until then `current` names a buffer that the host has already taken and returned. */
static bool is_outdated(struct tg_drain *d, uint32_t buffer, uint32_t end)
{
    if (buffer != d->given || end != d->area->stream.per_buffer)
        d->given = TG_NO_BUFFER; /* the device has moved on */
    return d->given != TG_NO_BUFFER;
}

/* Takes the new records of the buffer that the device is filling. */
static void take_current(struct tg_drain *d, struct batch *b, uint32_t buffer, uint32_t end,
                         uint64_t *count)
{
    const struct tg_stream_head *s = &d->area->stream;
    uint32_t first = dealt_with(d, buffer);
    if (is_outdated(d, buffer, end) || buffer >= s->n_buffers || end > s->per_buffer ||
        first >= end)
        return;
    *count += end - first;
    take_records(d, b, buffer, first, end);
    flush(d, b);
    d->part_buffer = buffer;
    d->part_count = end;
}

static void start(struct batch *b) /* the arrays stay unset: the counts say what is valid */
{
    b->size = 0;
    b->n_records = 0;
}

uint64_t tg_drain_run(struct tg_drain *d)
{
    struct batch b;
    /* Read `current` before the ready queue: a buffer that becomes full in between is then found
     * in the queue instead of missed. */
    bool believed = read_word(d, FIELD(current), &d->current);
    uint32_t buffer = tg_current_buffer(d->current);
    uint64_t count = 0;
    start(&b);
    if (!take_ready(d, &b, buffer, &count) && believed)
        take_current(d, &b, buffer, tg_current_count(d->current), &count);
    return count;
}

void tg_drain_end(struct tg_drain *d)
{
    struct batch b;
    /* Without the stream's memory it is not known what the device had made; the collector says so. */
    bool is_there = read_word(d, FIELD(ready_tail), &d->ready_tail);
    uint64_t left = is_there ? d->ready_tail - d->ready_head : 0;
    start(&b);
    if (d->open)
        close_truncated(d, &b);
    flush(d, &b);
    if (left <= d->area->stream.n_buffers)
        d->corrupt += left * d->area->stream.per_buffer;
}
