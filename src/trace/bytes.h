/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that grow, and the wire format of protocol buffers in them. A message is a row of fields; a field is
 * a tag (its number and how its value lies there) and the value.
 *
 * If memory runs out, the buffer remembers that and takes nothing more, so only the end needs a check.
 */
#ifndef TG_TRACE_BYTES_H
#define TG_TRACE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/grow.h"

struct tg_bytes {
    unsigned char *at; /* the caller frees it */
    size_t used, room;
    bool no_memory;
};

/* Room for `size` more bytes, which the caller fills; NULL if memory ran out. */
static inline unsigned char *tg_bytes_more(struct tg_bytes *bytes, size_t size)
{
    if (bytes->no_memory || !tg_grow(&bytes->at, &bytes->room, bytes->used + size, 1)) {
        bytes->no_memory = true;
        return NULL;
    }
    return bytes->at + bytes->used;
}

static inline void tg_bytes_put(struct tg_bytes *bytes, const void *from, size_t size)
{
    unsigned char *to = tg_bytes_more(bytes, size);
    if (to && size > 0)
        memcpy(to, from, size);
    if (to)
        bytes->used += size;
}

static inline void tg_bytes_text(struct tg_bytes *bytes, const char *text)
{
    tg_bytes_put(bytes, text, strlen(text));
}

/* --- protocol buffers ------------------------------------------------------------------------ */

enum tg_pb_wire { TG_PB_VARINT = 0, TG_PB_FIXED64 = 1, TG_PB_LENGTH = 2, TG_PB_FIXED32 = 5 };

/* Seven bits a byte, the lowest first; the highest bit says that more follow. */
enum { TG_PB_MOST = 10 };
static inline unsigned tg_pb_encode(unsigned char *to, uint64_t value)
{
    unsigned n = 0;
    for (; value >= 0x80; value >>= 7)
        to[n++] = (unsigned char)(value | 0x80);
    to[n++] = (unsigned char)value;
    return n;
}

static inline void tg_pb_varint(struct tg_bytes *bytes, uint64_t value)
{
    unsigned char *to = tg_bytes_more(bytes, TG_PB_MOST);
    if (to)
        bytes->used += tg_pb_encode(to, value);
}

static inline void tg_pb_tag(struct tg_bytes *bytes, unsigned field, enum tg_pb_wire wire)
{
    tg_pb_varint(bytes, (uint64_t)field << 3 | wire);
}

/* For all integers, enums and bool. */
static inline void tg_pb_uint(struct tg_bytes *bytes, unsigned field, uint64_t value)
{
    tg_pb_tag(bytes, field, TG_PB_VARINT);
    tg_pb_varint(bytes, value);
}

static inline void tg_pb_fixed64(struct tg_bytes *bytes, unsigned field, uint64_t value)
{
    unsigned char little[8];
    for (unsigned i = 0; i < 8; i++)
        little[i] = (unsigned char)(value >> 8 * i);
    tg_pb_tag(bytes, field, TG_PB_FIXED64);
    tg_bytes_put(bytes, little, sizeof little);
}

static inline void tg_pb_bytes(struct tg_bytes *bytes, unsigned field, const void *from,
                               size_t size)
{
    tg_pb_tag(bytes, field, TG_PB_LENGTH);
    tg_pb_varint(bytes, size);
    tg_bytes_put(bytes, from, size);
}

/* `text` must be UTF-8. */
static inline void tg_pb_string(struct tg_bytes *bytes, unsigned field, const char *text)
{
    tg_pb_bytes(bytes, field, text, strlen(text));
}

/* A message within the message: begin gives what end needs. */
static inline size_t tg_pb_begin(struct tg_bytes *bytes, unsigned field)
{
    static const unsigned char room_for_length[1];
    tg_pb_tag(bytes, field, TG_PB_LENGTH);
    tg_bytes_put(bytes, room_for_length, 1);
    return bytes->used;
}

/* Most messages are shorter than 128 bytes, whose length takes one byte; others are moved. */
static inline void tg_pb_end(struct tg_bytes *bytes, size_t begin)
{
    unsigned char length[TG_PB_MOST];
    if (bytes->no_memory)
        return;
    size_t size = bytes->used - begin;
    unsigned n = tg_pb_encode(length, size);
    if (n > 1 && !tg_bytes_more(bytes, n - 1))
        return;
    if (n > 1)
        memmove(bytes->at + begin + n - 1, bytes->at + begin, size);
    memcpy(bytes->at + begin - 1, length, n);
    bytes->used += n - 1;
}

#endif
