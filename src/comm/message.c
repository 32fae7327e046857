/* SPDX-License-Identifier: Apache-2.0 */
#include "comm/message.h"

#include <string.h>
#include <taskglass/tensor.h>

struct tg_message tg_message_make(uint32_t kind, uint32_t epoch)
{
    struct tg_message message;
    memset(&message, 0, sizeof message); /* the padding goes to other ranks too */
    message.magic = TG_MESSAGE_MAGIC;
    message.version = TG_MESSAGE_VERSION;
    message.kind = (uint16_t)kind;
    message.epoch = epoch;
    message.peer = message.tag = message.operation = TG_COMM_NONE;
    return message;
}

void tg_message_set_text(struct tg_message *message, const char *text, size_t size)
{
    if (size > TG_MESSAGE_TEXT - 1)
        size = TG_MESSAGE_TEXT - 1;
    memcpy(message->text, text, size);
    message->text[size] = '\0';
    message->text_size = (uint32_t)size;
}

uint32_t tg_message_size(const struct tg_message *message)
{
    return (uint32_t)offsetof(struct tg_message, text) + message->text_size;
}

bool tg_message_has_call(uint32_t kind)
{
    return kind == TG_MESSAGE_CALL || kind == TG_MESSAGE_PART || kind == TG_MESSAGE_MATCHED ||
           kind == TG_MESSAGE_WAITS || kind == TG_MESSAGE_UNMATCHED;
}

static bool names_a_peer(uint32_t call_kind)
{
    return call_kind <= TG_COMM_BROADCAST;
}

static const char *call_problem(const struct tg_message *m, uint32_t ranks)
{
    if (m->call_kind >= TG_COMM_KINDS)
        return "its call is of no kind";
    if (tg_bits_of(m->dtype) == 0)
        return "its call is of no element type";
    if (m->elements > (uint64_t)TG_MAX_ELEMENTS)
        return "its call has too many elements";
    if (m->operation < TG_COMM_NONE || m->operation >= TG_REDUCTIONS)
        return "its call has no such operation";
    if (names_a_peer(m->call_kind) ? m->peer < 0 || (uint32_t)m->peer >= ranks
                                   : m->peer != TG_COMM_NONE)
        return "its call has no such peer";
    if (m->tag < TG_COMM_NONE || (m->call_kind <= TG_COMM_RECV && m->tag < 0))
        return "its call has no such tag";
    return m->text_size >= TG_COMM_SITE ? "its source line is too long" : NULL;
}

/* A report shows texts of other ranks, so they are kept plain. */
static void clean(char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] == 0x7f)
            text[i] = ' ';
    text[size] = '\0';
}

bool tg_message_read(const void *bytes, size_t size, uint32_t ranks, struct tg_message *message,
                     const char **why)
{
    const size_t fixed = offsetof(struct tg_message, text);
    memset(message, 0, sizeof *message);
    *why = "it is too short or too long";
    if (size < fixed || size > sizeof *message)
        return false;
    memcpy(message, bytes, size);
    if (message->magic != TG_MESSAGE_MAGIC)
        *why = message->magic == __builtin_bswap32(TG_MESSAGE_MAGIC)
                   ? "that machine has another byte order"
                   : "it does not begin as messages do";
    else if (message->version != TG_MESSAGE_VERSION)
        *why = "that rank has another version of Taskglass";
    else if (message->kind == 0 || message->kind >= TG_MESSAGE_KINDS)
        *why = "it is of no kind";
    else if (message->text_size >= TG_MESSAGE_TEXT || message->text_size != size - fixed)
        *why = "its text has another length";
    else if (tg_message_has_call(message->kind))
        *why = call_problem(message, ranks);
    else
        *why = NULL;
    if (*why)
        return false;
    clean(message->text, message->text_size);
    return true;
}
