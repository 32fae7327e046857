/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/scope_stream.h"

#include <stdlib.h>

/* A sample takes at most two bytes and ten varints of 10 bytes each. */
enum { SAMPLE_ROOM = 128, FIRST_ROOM = 1 << 16 };

static bool make_room(struct tg_scope_stream *stream)
{
    size_t room = stream->room ? 2 * stream->room : FIRST_ROOM;
    if (stream->room - stream->size >= SAMPLE_ROOM)
        return true;
    unsigned char *moved = realloc(stream->bytes, room);
    if (!moved)
        return false;
    stream->bytes = moved;
    stream->room = room;
    return true;
}

static void put_byte(struct tg_scope_stream *stream, unsigned value)
{
    stream->bytes[stream->size++] = (unsigned char)value;
}

static void put_varint(struct tg_scope_stream *stream, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(stream, (unsigned)(value & 0x7f) | 0x80);
    put_byte(stream, (unsigned)value);
}

static void put_signed(struct tg_scope_stream *stream, uint64_t before, uint64_t now)
{
    put_varint(stream, now < before ? (before - now) << 1 | 1 : (now - before) << 1);
}

static uint64_t cut(uint64_t value)
{
    return value < TG_SCOPE_STREAM_MOST ? value : TG_SCOPE_STREAM_MOST;
}

static uint64_t *last_used(struct tg_scope_stream *stream, uint32_t ring, unsigned resource)
{
    return &stream->used[resource == TG_SCOPE_TENSORMAP ? 0 : ring][resource];
}

/* True if site and depth are those that the reader predicts. Updates the prediction. */
static bool expect(struct tg_scope_stream *stream, uint32_t site,
                   const struct tg_scope_sample *sample)
{
    uint32_t depth = stream->depth - (sample->end && stream->depth > 0);
    uint32_t at =
        sample->depth < TG_SCOPE_STREAM_DEPTHS ? sample->depth : TG_SCOPE_STREAM_DEPTHS - 1;
    bool expected = sample->depth == depth && stream->site[at] == site;
    stream->site[at] = site;
    stream->depth = sample->depth + !sample->end;
    return expected;
}

static void put_peaks(struct tg_scope_stream *stream, const struct tg_scope_sample *sample)
{
    uint64_t more[TG_SCOPE_RESOURCES];
    unsigned mask = 0;
    for (unsigned i = 0; i < TG_SCOPE_RESOURCES; i++) {
        more[i] = cut(sample->peak[i]) - cut(tg_scope_used(sample, i));
        mask |= more[i] > 0 ? 1u << i : 0;
    }
    put_byte(stream, mask);
    for (unsigned i = 0; i < TG_SCOPE_RESOURCES; i++)
        if (more[i] > 0)
            put_varint(stream, more[i]);
}

bool tg_scope_stream_add(struct tg_scope_stream *stream, uint32_t site,
                         const struct tg_scope_sample *sample)
{
    unsigned mask = 0;
    if (!make_room(stream))
        return false;
    for (unsigned i = 0; i < TG_SCOPE_RESOURCES; i++)
        if (*last_used(stream, sample->ring, i) != cut(tg_scope_used(sample, i)))
            mask |= 1u << i;
    bool expected = expect(stream, site, sample);
    put_byte(stream,
             (unsigned)sample->end | sample->ring << 1 | (unsigned)!expected << 3 | mask << 4);
    if (!expected) {
        put_varint(stream, site);
        put_varint(stream, sample->depth);
    }
    for (unsigned i = 0; i < TG_SCOPE_RESOURCES; i++)
        if (mask >> i & 1) {
            uint64_t *last = last_used(stream, sample->ring, i),
                     now = cut(tg_scope_used(sample, i));
            put_signed(stream, *last, now);
            *last = now;
        }
    if (sample->end)
        put_peaks(stream, sample);
    return true;
}

void tg_scope_stream_free(struct tg_scope_stream *stream)
{
    free(stream->bytes);
    stream->bytes = NULL;
    stream->size = stream->room = 0;
}
