/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device that may have gone wrong wrote everything that is read here. The host copies each word,
 * checks it against the layout that the host itself made, and only then uses it. Small payloads
 * that are adjacent in the arena go to the file in one write, and their records to the journal after it.
 * A buffer goes back to the device as soon as its records are copied.
 */
#include "host/drain.h"
#include "base/error.h"
#include "common/atomic.h"
#include "common/stream_word.h"
#include "recording/record.h"
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

/* A batch is written when it has so many bytes: the device may be waiting for its room. */
enum { LARGE_BATCH = 1 << 19 };

/* Marks a position that counts from the beginning of what the batch is going to reserve. The batch reserves
 * all of it at once when it is written, so that its bytes stay together in the file although other
 * threads reserve too. */
#define WITHIN_BATCH (UINT64_C(1) << 63)

void tg_drain_init(struct tg_drain *d, struct tg_record_area *area, uint32_t index,
                   struct tg_dump_writer *writer, struct tg_drain_room *room)
{
    *d = (struct tg_drain){
        .area = area,
        .writer = writer,
        .room = room,
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
        if (tg_device_copy_out(device, d->room->bounce, address + done, n, NULL) != TG_OK)
            return done;
        if (!tg_dump_payload(d->writer, to + done, d->room->bounce, n))
            return size;
        done += n;
    }
    return size;
}

/* Brings the parts together in the bounce buffer. False if they cannot be read at once. */
static bool gather(struct tg_drain *d, const struct tg_batch *b)
{
    uint64_t address = arena_address(d, b->from), done = 0;
    char *to = d->room->bounce;
    const char *from = mapping(d, address, b->span);
    if (from == NULL) {
        if (tg_device_copy_out(d->area->device, to, address, b->span, NULL) != TG_OK)
            return false;
        from = to;
    }
    for (uint32_t i = 0; i < b->n_parts; i++) {
        memmove(to + done, from + b->part[i].at, b->part[i].size);
        done += b->part[i].size;
    }
    return true;
}

/* Writes the bytes of a batch. Returns how many could be read. */
static uint64_t write_batch(struct tg_drain *d, const struct tg_batch *b)
{
    uint64_t done = 0;
    if (b->n_parts == 1)
        return write_bytes(d, b->from, b->to, b->size);
    if (gather(d, b)) {
        tg_dump_payload(d->writer, b->to, d->room->bounce, b->size);
        return b->size;
    }
    for (uint32_t i = 0; i < b->n_parts; i++) {
        uint64_t n = write_bytes(d, b->from + b->part[i].at, b->to + done, b->part[i].size);
        done += n;
        if (n < b->part[i].size)
            break;
    }
    return done;
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

/* The arrays stay unset: the counts say what is valid. */
static void clear(struct tg_batch *b)
{
    b->size = b->span = b->reserve = 0;
    b->n_parts = b->n_records = 0;
}

/* The writer reserves less than half of what a position can be, so no place has the mark. */
static void settle(uint64_t *position, uint64_t begin)
{
    if (*position & WITHIN_BATCH)
        *position = begin + (*position & ~WITHIN_BATCH);
}

/* Reserves the bytes of the tensors that begin in the batch. */
static void find_places(struct tg_drain *d, struct tg_batch *b)
{
    uint64_t begin = b->reserve > 0 ? tg_dump_reserve(d->writer, b->reserve) : 0;
    settle(&b->to, begin);
    settle(&d->position, begin);
    for (uint32_t i = 0; i < b->n_records; i++)
        settle(&b->record[i].position, begin);
    b->reserve = 0;
}

/* Writes the batch's bytes, then the records that waited for them. */
static void flush(struct tg_drain *d, struct tg_batch *b)
{
    find_places(d, b);
    uint64_t end = b->size > 0 ? b->to + write_batch(d, b) : 0;
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
    }
    if (b->n_records > 0)
        tg_dump_append_all(d->writer, b->record, b->n_records);
    if (b->size > 0 && d->freed < b->from + padded(b->span)) {
        d->freed = b->from + padded(b->span);
        write_word(d, FIELD(freed), d->freed / TG_CURSOR_UNIT);
    }
    clear(b);
}

/* True if the piece can follow the batch's bytes in the file, and as the same part or the next one in the
 * arena. Several parts have to fit the bounce buffer. */
static bool follows(const struct tg_drain *d, const struct tg_batch *b, const struct tg_record *r,
                    uint64_t to)
{
    const struct tg_stream_head *s = &d->area->stream;
    uint64_t end = b->from + b->span,
             most = LARGE_BATCH < s->piece_limit ? LARGE_BATCH : s->piece_limit;
    if (b->size == 0 || b->size >= most || b->to + b->size != to ||
        r->position % s->arena_size == 0)
        return false;
    if (b->n_parts == 1 && end == r->position)
        return true;
    return padded(end) == r->position && r->position + r->stored - b->from <= TG_BOUNCE &&
           b->n_parts < TG_BATCH;
}

static void add_part(struct tg_batch *b, const struct tg_record *r)
{
    bool is_new = b->n_parts == 0 || b->from + b->span != r->position;
    if (is_new) {
        b->part[b->n_parts].at = (uint32_t)(r->position - b->from);
        b->part[b->n_parts++].size = 0;
    }
    b->part[b->n_parts - 1].size +=
        (uint32_t)r->stored; /* may wrap in a single one, which has none */
    b->span = r->position + r->stored - b->from;
    b->size += r->stored;
}

/* Adds a piece of the tensor at d->position. Flushes the batch first if it is of an open tensor and does not
 * continue the batch; begin_tensor has done so for one that begins. */
static void add_piece(struct tg_drain *d, struct tg_batch *b, const struct tg_record *r)
{
    if (r->stored == 0)
        return;
    if (d->open && !follows(d, b, r, d->position + r->value))
        flush(d, b);
    if (b->size == 0 || !d->open)
        d->oldest = r->position;
    if (b->size == 0) {
        b->from = r->position;
        b->to = d->position + r->value;
    }
    add_part(b, r);
}

/* `r` often is where it goes: see take_records. */
static struct tg_record *add_record(struct tg_drain *d, struct tg_batch *b,
                                    const struct tg_record *r)
{
    struct tg_record *to = &b->record[b->n_records];
    b->piece[b->n_records++] = d->oldest;
    if (to != r)
        *to = *r;
    return to;
}

/* ── records ───────────────────────────────────────────────────────────────────────────── */

/* A payload is reserved in the file before it is there, so its size must be possible. */
static bool size_is_possible(const struct tg_drain *d, const struct tg_record *r)
{
    const struct tg_control_head *head = &d->area->device->head;
    struct tg_tensor t = {.dtype = r->dtype, .ndim = r->ndim};
    if (r->bytes <= head->memory_end - head->memory_start)
        return true;
    memcpy(t.shape, r->shape, sizeof t.shape);
    memcpy(t.strides, r->strides, sizeof t.strides);
    return tg_tensor_repeats(&t) && r->bytes <= LARGEST_REPEATED;
}

static bool tensor_makes_sense(const struct tg_drain *d, const struct tg_record *r)
{
    int64_t n = tg_record_numel(r);
    return n >= 0 && tg_bits_of(r->dtype) != 0 && r->bytes == tg_bytes_of(r->dtype, n) &&
           size_is_possible(d, r);
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

/* Ends the open tensor, whose last piece is this: adds the record for the journal. */
static struct tg_record *close_tensor(struct tg_drain *d, struct tg_batch *b,
                                      const struct tg_record *piece)
{
    struct tg_record *r = add_record(d, b, piece);
    r->flags = (uint16_t)(r->flags & ~TG_RECORD_MORE);
    r->stored += r->value;
    r->position = r->stored > 0 ? d->position : 0; /* the flush settles it */
    r->value = 0;
    r->check = 0;
    cut_off(r, d->file_end);
    if (d->overwritten)
        mark_overwritten(r);
    d->open = d->overwritten = false;
    d->sequence++;
    return r;
}

static void close_truncated(struct tg_drain *d, struct tg_batch *b)
{
    struct tg_record *r = close_tensor(d, b, &d->record);
    r->flags = (uint16_t)(r->flags | TG_RECORD_TRUNCATED);
}

/* Finds a place in what the batch reserves; first flushes a batch that the tensor's bytes cannot continue,
 * because then they begin the next one. */
static void begin_tensor(struct tg_drain *d, struct tg_batch *b, const struct tg_record *r)
{
    if (r->stored > 0 && !follows(d, b, r, WITHIN_BATCH | b->reserve))
        flush(d, b);
    d->position = WITHIN_BATCH | b->reserve;
    b->reserve += (r->flags & TG_RECORD_PAYLOAD) ? r->bytes : 0;
}

static void take_tensor(struct tg_drain *d, struct tg_batch *b, const struct tg_record *r)
{
    if (!d->open)
        begin_tensor(d, b, r);
    add_piece(d, b, r);
    if (!d->open)
        d->file_end = UINT64_MAX; /* an earlier read error was another tensor's */
    if (r->flags & TG_RECORD_MORE) {
        d->open = true;
        d->record = *r;
        return;
    }
    close_tensor(d, b, r);
}

static void take(struct tg_drain *d, struct tg_batch *b, const struct tg_record *r)
{
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

/* Copies records [first, end) of a buffer; false if they cannot be read. */
static bool copy_records(const struct tg_drain *d, uint32_t buffer, uint32_t first, uint32_t end,
                         struct tg_record *to)
{
    const struct tg_stream_head *s = &d->area->stream;
    uint64_t address =
        d->address + s->buffers + ((uint64_t)buffer * s->per_buffer + first) * sizeof *to;
    return first < end && end <= s->per_buffer && end <= TG_PER_BUFFER &&
           tg_device_copy_out(d->area->device, to, address, (end - first) * sizeof *to, NULL) ==
               TG_OK;
}

static void pass_records(struct tg_drain *d, uint32_t buffer, uint32_t first, uint32_t end)
{
    struct tg_record records[TG_PER_BUFFER];
    if (!copy_records(d, buffer, first, end, records))
        return;
    for (uint32_t i = 0; i < end - first; i++, d->sequence++)
        d->other(d->context, &records[i]);
}

/* Copies the records behind those of the batch, so that nearly all of them are in their places already.
 * Each makes at most one record; only a tensor that is open from before may end with one more. */
static void take_records(struct tg_drain *d, uint32_t buffer, uint32_t first, uint32_t end)
{
    if (d->other != NULL) {
        pass_records(d, buffer, first, end);
        return;
    }
    struct tg_batch *b = &d->room->batch;
    if (b->n_records + TG_PER_BUFFER + 1 > TG_BATCH)
        flush(d, b);
    const struct tg_record *record = &b->record[b->n_records + d->open];
    if (!copy_records(d, buffer, first, end, &b->record[b->n_records + d->open]))
        return;
    for (uint32_t i = 0; i < end - first; i++)
        take(d, b, &record[i]);
    if (d->area->setup.policy == TG_POLICY_OVERWRITE)
        flush(d, b); /* the device does not wait for the host to read payloads */
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
static bool take_ready(struct tg_drain *d, uint32_t current, uint64_t *count)
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
        take_records(d, buffer, dealt_with(d, buffer), s->per_buffer);
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
static void take_current(struct tg_drain *d, uint32_t buffer, uint32_t end, uint64_t *count)
{
    const struct tg_stream_head *s = &d->area->stream;
    uint32_t first = dealt_with(d, buffer);
    if (is_outdated(d, buffer, end) || buffer >= s->n_buffers || end > s->per_buffer ||
        first >= end)
        return;
    *count += end - first;
    take_records(d, buffer, first, end);
    d->part_buffer = buffer;
    d->part_count = end;
}

static void begin_batch(struct tg_drain *d)
{
    if (d->room != NULL)
        clear(&d->room->batch);
}

static void end_batch(struct tg_drain *d)
{
    if (d->room != NULL)
        flush(d, &d->room->batch);
}

uint64_t tg_drain_run(struct tg_drain *d)
{
    /* Read `current` before the ready queue: a buffer that becomes full in between is then found
     * in the queue instead of missed. */
    bool believed = read_word(d, FIELD(current), &d->current);
    uint32_t buffer = tg_current_buffer(d->current);
    uint64_t count = 0;
    begin_batch(d);
    if (!take_ready(d, buffer, &count) && believed)
        take_current(d, buffer, tg_current_count(d->current), &count);
    end_batch(d);
    return count;
}

void tg_drain_end(struct tg_drain *d)
{
    /* Without the stream's memory it is not known what the device had made; the collector says so. */
    bool is_there = read_word(d, FIELD(ready_tail), &d->ready_tail);
    uint64_t left = is_there ? d->ready_tail - d->ready_head : 0;
    begin_batch(d);
    if (d->open)
        close_truncated(d, &d->room->batch);
    end_batch(d);
    if (left <= d->area->stream.n_buffers)
        d->corrupt += left * d->area->stream.per_buffer;
}
