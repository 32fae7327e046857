/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of ranks as one in Perfetto's format. Each rank's packets keep a sequence of their own, so their
 * names need no new numbers; tracks and flows get new ones. The calls are written to the same sequences, with
 * their names in full.
 */
#include <stdio.h>

#include <taskglass/device.h>

#include "base/names.h"
#include "trace/merge_out.h"
#include "trace/message.h"
#include "trace/perfetto.h"

/* Tracks of a rank: its trace's own, then those of its calls. */
enum { UUID_PROCESS = 1, UUID_ROWS = 0x7fff0000 };
/* Between the counters and the cores of the rank's trace (out_perfetto.c). */
enum { ORDER_ROWS = 32 };

static uint64_t uuid_of(const struct tg_merge_part *part, uint64_t uuid)
{
    return ((uint64_t)part->from->rank + 1) << 32 | (uuid & UINT32_MAX);
}

static size_t begin_packet(struct tg_merge_out *out, uint32_t number)
{
    size_t packet = tg_pb_begin(&out->bytes, TG_PF_PACKET);
    tg_pb_uint(&out->bytes, TG_PF_SEQUENCE_ID, (uint64_t)out->part[number].from->rank + 1);
    tg_pb_uint(&out->bytes, TG_PF_SEQUENCE_FLAGS, TG_PF_NEEDS_STATE);
    return packet;
}

/* --- arguments ------------------------------------------------------------------------------- */

static void put_text(struct tg_merge_out *out, const char *key, const char *text)
{
    char clean[1024];
    size_t at = tg_pb_begin(&out->bytes, TG_PF_ANNOTATIONS);
    tg_pb_string(&out->bytes, TG_PF_ANNOTATION_NAME, key);
    tg_name_clean(text, strlen(text), clean, sizeof clean);
    tg_pb_string(&out->bytes, TG_PF_STRING_VALUE, clean);
    tg_pb_end(&out->bytes, at);
}

static void put_number(struct tg_merge_out *out, const char *key, uint64_t value)
{
    size_t at = tg_pb_begin(&out->bytes, TG_PF_ANNOTATIONS);
    tg_pb_string(&out->bytes, TG_PF_ANNOTATION_NAME, key);
    tg_pb_uint(&out->bytes, TG_PF_UINT_VALUE, value);
    tg_pb_end(&out->bytes, at);
}

/* --- a rank's own packets -------------------------------------------------------------------- */

/* The field that was read last, as it stands in the file. */
static void copy_field(struct tg_merge_out *out, const struct tg_pb_message *message,
                       const unsigned char *from)
{
    tg_bytes_put(&out->bytes, from, (size_t)(message->at - from));
}

static void copy_event(struct tg_merge_out *out, struct tg_merge_part *part,
                       struct tg_pb_message event)
{
    uint64_t type = 0;
    const unsigned char *from = event.at;
    size_t at = tg_pb_begin(&out->bytes, TG_PF_TRACK_EVENT);
    for (; tg_pb_next_field(&event); from = event.at) {
        bool is_flow = event.field == TG_PF_FLOW_IDS || event.field == TG_PF_TERMINATING_FLOW_IDS;
        if (tg_pb_is_number(&event, TG_PF_TYPE))
            type = event.value;
        if (tg_pb_is_number(&event, TG_PF_TRACK_UUID))
            tg_pb_uint(&out->bytes, TG_PF_TRACK_UUID, uuid_of(part, event.value));
        else if (is_flow && event.wire == TG_PB_FIXED64)
            tg_pb_fixed64(&out->bytes, event.field, tg_merge_flow(part, event.value));
        else
            copy_field(out, &event, from);
    }
    /* The run's own slice is the first of a trace. */
    if (type == TG_PF_SLICE_BEGIN && !part->has_run) {
        part->has_run = true;
        tg_merge_put_rank(out, part);
    }
    tg_pb_end(&out->bytes, at);
}

static void put_process(struct tg_merge_out *out, const struct tg_merge_part *part)
{
    size_t process = tg_pb_begin(&out->bytes, TG_PF_PROCESS);
    tg_pb_uint(&out->bytes, TG_PF_PID, part->from->rank);
    tg_pb_string(&out->bytes, TG_PF_PROCESS_NAME, part->label);
    tg_pb_end(&out->bytes, process);
}

static bool is_process(struct tg_pb_message track)
{
    bool is = false;
    while (tg_pb_next_field(&track))
        is |= tg_pb_is_bytes(&track, TG_PF_PROCESS);
    return is;
}

static void copy_track(struct tg_merge_out *out, const struct tg_merge_part *part,
                       struct tg_pb_message track)
{
    bool is_rank = is_process(track);
    const unsigned char *from = track.at;
    size_t at = tg_pb_begin(&out->bytes, TG_PF_TRACK_DESCRIPTOR);
    for (; tg_pb_next_field(&track); from = track.at) {
        if (tg_pb_is_number(&track, TG_PF_UUID) || tg_pb_is_number(&track, TG_PF_PARENT_UUID))
            tg_pb_uint(&out->bytes, track.field, uuid_of(part, track.value));
        else if (tg_pb_is_bytes(&track, TG_PF_PROCESS))
            put_process(out, part);
        else if (is_rank && tg_pb_is_bytes(&track, TG_PF_TRACK_NAME))
            tg_pb_string(&out->bytes, TG_PF_TRACK_NAME, part->label);
        else
            copy_field(out, &track, from);
    }
    tg_pb_end(&out->bytes, at);
}

static bool copy_packet(struct tg_merge_out *out, struct tg_merge_part *part,
                        struct tg_pb_message packet)
{
    const unsigned char *from = packet.at;
    size_t at = tg_pb_begin(&out->bytes, TG_PF_PACKET);
    for (; tg_pb_next_field(&packet); from = packet.at) {
        if (tg_pb_is_number(&packet, TG_PF_TIMESTAMP))
            tg_pb_uint(&out->bytes, TG_PF_TIMESTAMP, tg_merge_time(part, packet.value));
        else if (tg_pb_is_number(&packet, TG_PF_SEQUENCE_ID))
            tg_pb_uint(&out->bytes, TG_PF_SEQUENCE_ID, (uint64_t)part->from->rank + 1);
        else if (tg_pb_is_bytes(&packet, TG_PF_TRACK_EVENT))
            copy_event(out, part, tg_pb_inner_message(&packet));
        else if (tg_pb_is_bytes(&packet, TG_PF_TRACK_DESCRIPTOR))
            copy_track(out, part, tg_pb_inner_message(&packet));
        else
            copy_field(out, &packet, from);
    }
    tg_pb_end(&out->bytes, at);
    return !packet.is_bad;
}

/* The process of a rank that left no trace; clears the state that its sequence does not have. */
static void name_process(struct tg_merge_out *out, const struct tg_merge_part *part)
{
    struct tg_bytes *bytes = &out->bytes;
    size_t packet = tg_pb_begin(bytes, TG_PF_PACKET);
    tg_pb_uint(bytes, TG_PF_SEQUENCE_ID, (uint64_t)part->from->rank + 1);
    tg_pb_uint(bytes, TG_PF_SEQUENCE_FLAGS, TG_PF_STATE_CLEARED | TG_PF_NEEDS_STATE);
    size_t track = tg_pb_begin(bytes, TG_PF_TRACK_DESCRIPTOR);
    tg_pb_uint(bytes, TG_PF_UUID, uuid_of(part, UUID_PROCESS));
    tg_pb_string(bytes, TG_PF_TRACK_NAME, part->label);
    put_process(out, part);
    tg_pb_uint(bytes, TG_PF_CHILD_ORDERING, TG_PF_ORDER_EXPLICIT);
    tg_pb_end(bytes, track);
    tg_pb_end(bytes, packet);
}

static const char *copy(struct tg_merge_out *out, uint32_t number, uint64_t *at)
{
    struct tg_merge_part *part = &out->part[number];
    struct tg_pb_message trace = tg_pb_message_of(part->map.bytes, part->map.size);
    if (part->map.size == 0) {
        name_process(out, part);
        return NULL;
    }
    while (trace.at != trace.end && tg_merge_goes_on(out)) {
        *at = (uint64_t)(trace.at - part->map.bytes);
        if (!tg_pb_next_field(&trace))
            return "the file ends within a packet, or these are none";
        if (tg_pb_is_bytes(&trace, TG_PF_PACKET) &&
            !copy_packet(out, part, tg_pb_inner_message(&trace)))
            return "a packet is broken";
        tg_merge_flush(out, false);
        tg_map_let_go(&part->map, (size_t)*at);
    }
    return NULL;
}

/* The first event of a trace is the begin of its run. */
static const char *look(struct tg_merge_part *part)
{
    struct tg_pb_message trace = tg_pb_message_of(part->map.bytes, part->map.size);
    while (part->first == TG_SPOOL_NO_TIME && tg_pb_next_field(&trace)) {
        if (!tg_pb_is_bytes(&trace, TG_PF_PACKET))
            continue;
        struct tg_pb_message packet = tg_pb_inner_message(&trace);
        while (tg_pb_next_field(&packet))
            if (tg_pb_is_number(&packet, TG_PF_TIMESTAMP))
                part->first = packet.value;
    }
    return part->first == TG_SPOOL_NO_TIME ? "no event in it has a time" : NULL;
}

/* --- calls ----------------------------------------------------------------------------------- */

static void add_row(struct tg_merge_out *out, struct tg_merge_place place)
{
    const struct tg_merge_part *part = &out->part[place.part];
    char name[64] = "communication";
    size_t packet = begin_packet(out, place.part);
    size_t track = tg_pb_begin(&out->bytes, TG_PF_TRACK_DESCRIPTOR);
    if (place.row > 0)
        (void)snprintf(name, sizeof name, "communication, row %u", place.row + 1);
    tg_pb_uint(&out->bytes, TG_PF_UUID, uuid_of(part, UUID_ROWS + (uint64_t)place.row));
    tg_pb_string(&out->bytes, TG_PF_TRACK_NAME, name);
    tg_pb_uint(&out->bytes, TG_PF_PARENT_UUID, uuid_of(part, UUID_PROCESS));
    tg_pb_uint(&out->bytes, TG_PF_ORDER_RANK, ORDER_ROWS + place.row);
    tg_pb_end(&out->bytes, track);
    tg_pb_end(&out->bytes, packet);
}

static void begin_event(struct tg_merge_out *out, struct tg_merge_place place, uint64_t time,
                        unsigned type)
{
    const struct tg_merge_part *part = &out->part[place.part];
    out->packet = begin_packet(out, place.part);
    tg_pb_uint(&out->bytes, TG_PF_TIMESTAMP, time);
    out->event = tg_pb_begin(&out->bytes, TG_PF_TRACK_EVENT);
    tg_pb_uint(&out->bytes, TG_PF_TYPE, type);
    tg_pb_uint(&out->bytes, TG_PF_TRACK_UUID, uuid_of(part, UUID_ROWS + (uint64_t)place.row));
}

static void end_event(struct tg_merge_out *out)
{
    tg_pb_end(&out->bytes, out->event);
    tg_pb_end(&out->bytes, out->packet);
}

static void begin_slice(struct tg_merge_out *out, struct tg_merge_place place, uint64_t time,
                        const char *name)
{
    begin_event(out, place, time, TG_PF_SLICE_BEGIN);
    tg_pb_string(&out->bytes, TG_PF_CATEGORIES, "communication");
    tg_pb_string(&out->bytes, TG_PF_NAME, name);
}

static void begun(struct tg_merge_out *out, struct tg_merge_place place, uint64_t time,
                  const struct tg_merge_call *flows)
{
    (void)place;
    (void)time;
    for (uint64_t i = 0; i < flows->n_flows; i++)
        tg_pb_fixed64(&out->bytes, TG_PF_FLOW_IDS, flows->first_flow + i);
    if (flows->flow)
        tg_pb_fixed64(&out->bytes, TG_PF_TERMINATING_FLOW_IDS, flows->flow);
    end_event(out);
}

static void end_slice(struct tg_merge_out *out, struct tg_merge_place place, uint64_t time,
                      const char *name)
{
    (void)name;
    begin_event(out, place, time, TG_PF_SLICE_END);
    end_event(out);
}

static void nothing(struct tg_merge_out *out)
{
    (void)out; /* a trace is a row of packets: it has no head and no end */
}

const struct tg_merge_ops tg_merge_perfetto = {
    .look = look,
    .begin = nothing,
    .copy = copy,
    .add_row = add_row,
    .begin_slice = begin_slice,
    .put_text = put_text,
    .put_number = put_number,
    .begun = begun,
    .end_slice = end_slice,
    .end = nothing,
};
