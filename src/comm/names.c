/* SPDX-License-Identifier: Apache-2.0 */
/* The names of calls and operations, and a call as one phrase of a report. */
#include <inttypes.h>
#include <stdio.h>

#include "comm/message.h"

const char *tg_comm_kind_name(uint32_t kind)
{
    static const char *const names[TG_COMM_KINDS] = {
        "tg_send",           "tg_recv",       "tg_broadcast",  "tg_all_reduce",
        "tg_reduce_scatter", "tg_all_gather", "tg_all_to_all",
    };
    return kind < TG_COMM_KINDS ? names[kind] : NULL;
}

const char *tg_reduction_name(uint32_t operation)
{
    static const char *const names[TG_REDUCTIONS] = {"sum", "product", "min", "max"};
    return operation < TG_REDUCTIONS ? names[operation] : NULL;
}

/* "tg_send to rank 1, tag 5 (number 2), of 1024 float32 at orchestrate.c:30" */
void tg_message_describe(const struct tg_message *call, bool with_values, char *text, size_t room)
{
    char where[TG_COMM_SITE + 8] = "", values[64] = "", what[96];
    const char *name = tg_comm_kind_name(call->call_kind);
    const char *operation = tg_reduction_name((uint32_t)call->operation);
    if (call->text[0])
        snprintf(where, sizeof where, " at %.*s", TG_COMM_SITE - 1, call->text);
    if (with_values)
        snprintf(values, sizeof values, " of %" PRIu64 " %s", call->elements,
                 tg_dtype_name(call->dtype));
    switch (call->call_kind) {
    case TG_COMM_SEND:
    case TG_COMM_RECV:
        snprintf(what, sizeof what,
                 "%s %s rank %" PRId32 ", tag %" PRId32 " (number %" PRIu64 ")%s", name,
                 call->call_kind == TG_COMM_SEND ? "to" : "from", call->peer, call->tag,
                 call->number, with_values ? "," : "");
        break;
    case TG_COMM_BROADCAST:
        snprintf(what, sizeof what, "%s from rank %" PRId32, name, call->peer);
        break;
    default:
        snprintf(what, sizeof what, operation ? "%s(%s)" : "%s", name ? name : "?", operation);
        break;
    }
    snprintf(text, room, "%s%s%s", what, values, where);
}
