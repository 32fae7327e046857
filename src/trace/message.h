/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading messages of protocol buffers, field by field. The bytes are not trusted: a field that goes beyond
 * its message ends it, with `is_bad` set.
 */
#ifndef TG_TRACE_MESSAGE_H
#define TG_TRACE_MESSAGE_H

#include "trace/bytes.h"

/* A message that is being read, and its field at hand. */
struct tg_pb_message {
    const unsigned char *at, *end;
    bool is_bad;
    unsigned field, wire;
    uint64_t value;             /* of a number */
    const unsigned char *bytes; /* of a text or a message */
    size_t size;
};

static inline struct tg_pb_message tg_pb_message_of(const unsigned char *bytes, size_t size)
{
    return (struct tg_pb_message){.at = bytes, .end = bytes + size};
}

static inline bool tg_pb_take_varint(struct tg_pb_message *message, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 70 && message->at < message->end; shift += 7) {
        unsigned char byte = *message->at++;
        *value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (!(byte & 0x80))
            return true;
    }
    message->is_bad = true;
    return false;
}

static inline bool tg_pb_take_fixed(struct tg_pb_message *message, size_t size)
{
    message->value = 0;
    if ((size_t)(message->end - message->at) < size) {
        message->is_bad = true;
        return false;
    }
    for (size_t i = 0; i < size; i++)
        message->value |= (uint64_t)message->at[i] << 8 * i;
    message->at += size;
    return true;
}

static inline bool tg_pb_take_bytes(struct tg_pb_message *message)
{
    uint64_t size;
    if (!tg_pb_take_varint(message, &size) || size > (uint64_t)(message->end - message->at)) {
        message->is_bad = true;
        return false;
    }
    message->bytes = message->at;
    message->size = (size_t)size;
    message->at += size;
    return true;
}

/* The next field; false at the end, and where the bytes are no message. */
static inline bool tg_pb_next_field(struct tg_pb_message *message)
{
    uint64_t tag;
    if (message->is_bad || message->at == message->end || !tg_pb_take_varint(message, &tag))
        return false;
    message->field = tag >> 3 <= 0xffff ? (unsigned)(tag >> 3) : 0;
    message->wire = (unsigned)(tag & 7);
    switch (message->wire) {
    case TG_PB_VARINT:
        return tg_pb_take_varint(message, &message->value);
    case TG_PB_FIXED64:
        return tg_pb_take_fixed(message, 8);
    case TG_PB_FIXED32:
        return tg_pb_take_fixed(message, 4);
    case TG_PB_LENGTH:
        return tg_pb_take_bytes(message);
    default:
        message->is_bad = true;
        return false;
    }
}

static inline bool tg_pb_is_bytes(const struct tg_pb_message *message, unsigned field)
{
    return message->field == field && message->wire == TG_PB_LENGTH;
}

static inline bool tg_pb_is_number(const struct tg_pb_message *message, unsigned field)
{
    return message->field == field && message->wire == TG_PB_VARINT;
}

static inline struct tg_pb_message tg_pb_inner_message(const struct tg_pb_message *message)
{
    return tg_pb_message_of(message->bytes, message->size);
}

#endif
