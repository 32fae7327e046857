/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a trace in Perfetto's format that Taskglass wrote: one sequence, names before their use, the events of
 * a track in their order. Fields that it does not know are skipped.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "trace/message.h"
#include "trace/perfetto.h"
#include "trace/read.h"

static struct tg_trace_span text_of(const struct tg_pb_message *message)
{
    return (struct tg_trace_span){(const char *)message->bytes, message->size};
}

/* --- names ----------------------------------------------------------------------------------- */

/* Names by their number, from 1 on without gaps, as Taskglass writes them. */
struct table {
    struct tg_trace_span *name;
    size_t count, room;
};

struct state {
    struct tg_trace_reader *reader;
    struct table categories, events, keys, strings;
};

static struct tg_trace_span name_at(const struct table *table, uint64_t iid)
{
    return iid > 0 && iid <= table->count ? table->name[iid - 1] : (struct tg_trace_span){"", 0};
}

static void take_name(struct state *state, struct table *table, struct tg_pb_message entry)
{
    uint64_t iid = 0;
    struct tg_trace_span name = {"", 0};
    while (tg_pb_next_field(&entry)) {
        if (tg_pb_is_number(&entry, TG_PF_IID))
            iid = entry.value;
        if (tg_pb_is_bytes(&entry, TG_PF_TEXT))
            name = text_of(&entry);
    }
    if (entry.is_bad)
        state->reader->problem = "a name is broken";
    if (entry.is_bad || iid != table->count + 1)
        return; /* of another program, which the caller finds out by the facts */
    if (!tg_grow(&table->name, &table->room, table->count + 1, sizeof name))
        state->reader->no_memory = true;
    else
        table->name[table->count++] = name;
}

static void take_names(struct state *state, struct tg_pb_message data)
{
    while (tg_pb_next_field(&data)) {
        if (tg_pb_is_bytes(&data, TG_PF_EVENT_CATEGORIES))
            take_name(state, &state->categories, tg_pb_inner_message(&data));
        else if (tg_pb_is_bytes(&data, TG_PF_EVENT_NAMES))
            take_name(state, &state->events, tg_pb_inner_message(&data));
        else if (tg_pb_is_bytes(&data, TG_PF_ANNOTATION_NAMES))
            take_name(state, &state->keys, tg_pb_inner_message(&data));
        else if (tg_pb_is_bytes(&data, TG_PF_ANNOTATION_STRINGS))
            take_name(state, &state->strings, tg_pb_inner_message(&data));
    }
    if (data.is_bad)
        state->reader->problem = "the names are broken";
}

/* --- events ---------------------------------------------------------------------------------- */

static void take_track(struct state *state, struct tg_pb_message track)
{
    uint64_t uuid = 0;
    bool is_lane = true;
    struct tg_trace_span name = {"", 0};
    while (tg_pb_next_field(&track)) {
        if (tg_pb_is_number(&track, TG_PF_UUID))
            uuid = track.value;
        else if (tg_pb_is_bytes(&track, TG_PF_TRACK_NAME))
            name = text_of(&track);
        else if (tg_pb_is_bytes(&track, TG_PF_COUNTER) || tg_pb_is_bytes(&track, TG_PF_PROCESS))
            is_lane = false;
    }
    if (track.is_bad)
        state->reader->problem = "a track is broken";
    else if (is_lane)
        tg_trace_reader_lane(state->reader, uuid, name);
}

struct value {
    struct tg_trace_span key, text;
    uint64_t number;
};

static void take_value(struct state *state, const struct tg_pb_message *argument,
                       struct value *value)
{
    if (tg_pb_is_number(argument, TG_PF_ANNOTATION_NAME_IID))
        value->key = name_at(&state->keys, argument->value);
    else if (tg_pb_is_bytes(argument, TG_PF_ANNOTATION_NAME))
        value->key = text_of(argument);
    else if (tg_pb_is_bytes(argument, TG_PF_STRING_VALUE))
        value->text = text_of(argument);
    else if (tg_pb_is_number(argument, TG_PF_STRING_IID))
        value->text = name_at(&state->strings, argument->value);
    else if (argument->wire == TG_PB_VARINT)
        value->number = argument->value;
}

/* The key comes before its values, as Taskglass writes them. */
static void take_array_value(struct state *state, const struct value *value,
                             struct tg_pb_message element)
{
    while (tg_pb_next_field(&element))
        if (tg_pb_is_bytes(&element, TG_PF_STRING_VALUE) && tg_trace_span_is(value->key, "after"))
            tg_trace_reader_after(state->reader, text_of(&element));
    if (element.is_bad)
        state->reader->problem = "an argument is broken";
}

static void use_value(struct state *state, const struct value *value)
{
    struct tg_trace_args *args = &state->reader->args;
    if (tg_trace_span_is(value->key, "task_id"))
        args->id = value->number;
    else if (tg_trace_span_is(value->key, "kernel"))
        args->kernel = value->text;
    else if (tg_trace_span_is(value->key, "part"))
        args->part = value->text;
    else if (tg_trace_span_is(value->key, "scope"))
        args->scope = value->text;
    else if (tg_trace_span_is(value->key, "resource"))
        args->resource = value->text;
    else if (tg_trace_span_is(value->key, "wait_ns"))
        args->wait_ns = value->number;
    else if (tg_trace_span_is(value->key, "completed"))
        args->is_partial = value->number == 0;
    else if (tg_trace_span_is(value->key, "began"))
        args->no_begin = value->number == 0;
}

static void take_argument(struct state *state, struct tg_pb_message argument, bool is_run)
{
    struct value value = {.key = {"", 0}, .text = {"", 0}};
    while (tg_pb_next_field(&argument)) {
        if (tg_pb_is_bytes(&argument, TG_PF_ARRAY_VALUES))
            take_array_value(state, &value, tg_pb_inner_message(&argument));
        else
            take_value(state, &argument, &value);
    }
    if (argument.is_bad)
        state->reader->problem = "an argument is broken";
    else if (is_run)
        tg_trace_reader_fact(state->reader, value.key, value.text, value.number);
    else
        use_value(state, &value);
}

/* Category and name come before the arguments, as Taskglass writes them. */
static void take_event(struct state *state, struct tg_pb_message event, uint64_t time)
{
    uint64_t type = 0, uuid = 0;
    struct tg_trace_span name = {"", 0}, category = {"", 0};
    tg_trace_args_clear(&state->reader->args);
    while (tg_pb_next_field(&event)) {
        if (tg_pb_is_number(&event, TG_PF_TYPE))
            type = event.value;
        else if (tg_pb_is_number(&event, TG_PF_TRACK_UUID))
            uuid = event.value;
        else if (tg_pb_is_number(&event, TG_PF_NAME_IID))
            name = name_at(&state->events, event.value);
        else if (tg_pb_is_number(&event, TG_PF_CATEGORY_IIDS))
            category = name_at(&state->categories, event.value);
        else if (tg_pb_is_bytes(&event, TG_PF_ANNOTATIONS))
            take_argument(state, tg_pb_inner_message(&event), tg_trace_span_is(category, "run"));
    }
    if (event.is_bad)
        state->reader->problem = "an event is broken";
    else if (type == TG_PF_SLICE_BEGIN)
        tg_trace_reader_begin(state->reader, uuid, category, name, time);
    else if (type == TG_PF_SLICE_END)
        tg_trace_reader_end(state->reader, uuid, time);
}

static void take_packet(struct state *state, struct tg_pb_message packet)
{
    uint64_t time = 0;
    struct tg_pb_message event = {.at = NULL};
    while (tg_pb_next_field(&packet) && !state->reader->problem) {
        if (tg_pb_is_number(&packet, TG_PF_TIMESTAMP))
            time = packet.value;
        else if (tg_pb_is_bytes(&packet, TG_PF_TRACK_EVENT))
            event = tg_pb_inner_message(&packet);
        else if (tg_pb_is_bytes(&packet, TG_PF_INTERNED_DATA))
            take_names(state, tg_pb_inner_message(&packet));
        else if (tg_pb_is_bytes(&packet, TG_PF_TRACK_DESCRIPTOR))
            take_track(state, tg_pb_inner_message(&packet));
    }
    if (packet.is_bad)
        state->reader->problem = "a packet is broken";
    else if (event.at && !state->reader->problem)
        take_event(state, event, time);
}

void tg_trace_read_perfetto(struct tg_trace_reader *reader, const struct tg_map *map, uint64_t *at)
{
    struct state state = {.reader = reader};
    struct tg_pb_message trace = tg_pb_message_of(map->bytes, map->size);
    const unsigned char *begin = map->bytes;
    while (!reader->problem && !reader->no_memory && trace.at != trace.end) {
        begin = trace.at;
        if (!tg_pb_next_field(&trace)) {
            reader->problem = "the file ends within a packet, or these are none";
            break;
        }
        if (tg_pb_is_bytes(&trace, TG_PF_PACKET))
            take_packet(&state, tg_pb_inner_message(&trace));
    }
    *at = (uint64_t)(begin - map->bytes);
    free(state.categories.name);
    free(state.events.name);
    free(state.keys.name);
    free(state.strings.name);
}
