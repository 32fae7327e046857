/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as Perfetto's protobuf: one packet after the other, all of one sequence.
 *
 *   first packet     clears the sequence's state, and has all names that later packets name by number
 *   descriptors      the run as a process; its tracks, with their order; each before its first event
 *   events           begin and end of slices, values of counters
 *
 * Times are on the clock that packets without a clock have (BOOTTIME), whatever the device's clock is: a
 * viewer shows them from the first one on.
 */
#include <stdio.h>

#include "base/names.h"
#include <taskglass/device.h>

#include "base/digits.h"
#include "trace/out.h"
#include "trace/perfetto.h"

enum { SEQUENCE = 1, PID = 1 };
/* Numbers of tracks: the process, the run, counters, rows. */
enum { UUID_PROCESS = 1, UUID_RUN = 2, UUID_COUNTERS = 8, UUID_ROWS = 64 };
_Static_assert((int)UUID_COUNTERS + (int)TG_COUNTERS <= (int)UUID_ROWS,
               "tracks have numbers of their own");
/* The order of the tracks: the run, orchestrator, scopes, counters, cores. */
enum { RANK_COUNTERS = 16, RANK_CORES = 64 };

static size_t begin_packet(struct tg_trace_out *out, unsigned flags)
{
    size_t packet = tg_pb_begin(&out->bytes, TG_PF_PACKET);
    tg_pb_uint(&out->bytes, TG_PF_SEQUENCE_ID, SEQUENCE);
    tg_pb_uint(&out->bytes, TG_PF_SEQUENCE_FLAGS, flags);
    return packet;
}

/* --- arguments ------------------------------------------------------------------------------- */

static size_t begin_argument(struct tg_bytes *bytes, enum tg_trace_key key)
{
    size_t at = tg_pb_begin(bytes, TG_PF_ANNOTATIONS);
    tg_pb_uint(bytes, TG_PF_ANNOTATION_NAME_IID, (uint64_t)key + 1);
    return at;
}

static void put_number(struct tg_bytes *bytes, enum tg_trace_key key, unsigned field,
                       uint64_t value)
{
    size_t at = begin_argument(bytes, key);
    tg_pb_uint(bytes, field, value);
    tg_pb_end(bytes, at);
}

static void put_uint(struct tg_bytes *bytes, enum tg_trace_key key, uint64_t value)
{
    put_number(bytes, key, TG_PF_UINT_VALUE, value);
}

static void put_bool(struct tg_bytes *bytes, enum tg_trace_key key, bool value)
{
    put_number(bytes, key, TG_PF_BOOL_VALUE, value);
}

/* A name by its number; nothing if there is none. */
static void put_name(const struct tg_trace_out *out, struct tg_bytes *bytes, enum tg_trace_key key,
                     uint32_t name)
{
    (void)out;
    if (name != TG_SPOOL_NO_NAME)
        put_number(bytes, key, TG_PF_STRING_IID, (uint64_t)name + 1);
}

static void put_task(struct tg_bytes *bytes, uint64_t id)
{
    char text[TG_TASK_TEXT];
    size_t length = tg_trace_task_text(id, text), at = begin_argument(bytes, TG_KEY_TASK);
    tg_pb_bytes(bytes, TG_PF_STRING_VALUE, text, length);
    tg_pb_end(bytes, at);
    put_number(bytes, TG_KEY_TASK_ID, TG_PF_POINTER_VALUE, id);
}

static void put_after(const struct tg_trace_out *out, struct tg_bytes *bytes,
                      const struct tg_trace_slice *slice)
{
    (void)out;
    char text[TG_TASK_TEXT];
    bool has_kinds = false;
    size_t at = begin_argument(bytes, TG_KEY_AFTER);
    for (size_t i = 0; i < slice->n_after; i++) {
        size_t length = tg_trace_task_text(slice->after[i].id, text);
        size_t value = tg_pb_begin(bytes, TG_PF_ARRAY_VALUES);
        tg_pb_bytes(bytes, TG_PF_STRING_VALUE, text, length);
        tg_pb_end(bytes, value);
        has_kinds |= slice->after[i].kind < TG_EDGE_KINDS;
    }
    tg_pb_end(bytes, at);
    if (!has_kinds)
        return;
    at = begin_argument(bytes, TG_KEY_WHY);
    for (size_t i = 0; i < slice->n_after; i++) {
        uint32_t kind = slice->after[i].kind;
        size_t value = tg_pb_begin(bytes, TG_PF_ARRAY_VALUES);
        tg_pb_uint(bytes, TG_PF_STRING_IID,
                   1 + (kind < TG_EDGE_KINDS ? TG_WORD_EXPLICIT + kind : TG_WORD_UNKNOWN));
        tg_pb_end(bytes, value);
    }
    tg_pb_end(bytes, at);
}

static void put_text(struct tg_bytes *bytes, const char *key, const char *text)
{
    char clean[1024];
    size_t at = tg_pb_begin(bytes, TG_PF_ANNOTATIONS);
    tg_name_clean(key, strlen(key), clean, TG_NAME_MAX + 1);
    tg_pb_string(bytes, TG_PF_ANNOTATION_NAME, clean);
    tg_name_clean(text, strlen(text), clean, sizeof clean);
    tg_pb_string(bytes, TG_PF_STRING_VALUE, clean);
    tg_pb_end(bytes, at);
}

/* --- slices ---------------------------------------------------------------------------------- */

static void begin_body(const struct tg_trace_out *out, struct tg_bytes *bytes,
                       enum tg_trace_category category, uint32_t name)
{
    (void)out;
    tg_pb_uint(bytes, TG_PF_CATEGORY_IIDS, (uint64_t)category + 1);
    tg_pb_uint(bytes, TG_PF_NAME_IID, (uint64_t)name + 1);
}

static void end_body(struct tg_bytes *body)
{
    (void)body; /* the packet's end ends it */
}

static const struct tg_trace_body_ops body_ops = {
    .begin = begin_body,
    .put_task = put_task,
    .put_name = put_name,
    .put_number = put_uint,
    .put_bool = put_bool,
    .put_after = put_after,
    .put_text = put_text,
    .end = end_body,
};

static size_t begin_event(struct tg_trace_out *out, uint64_t time, unsigned type, uint64_t uuid,
                          size_t *packet)
{
    *packet = begin_packet(out, TG_PF_NEEDS_STATE);
    tg_pb_uint(&out->bytes, TG_PF_TIMESTAMP, time);
    size_t event = tg_pb_begin(&out->bytes, TG_PF_TRACK_EVENT);
    tg_pb_uint(&out->bytes, TG_PF_TYPE, type);
    tg_pb_uint(&out->bytes, TG_PF_TRACK_UUID, uuid);
    return event;
}

static void end_event(struct tg_trace_out *out, size_t event, size_t packet)
{
    tg_pb_end(&out->bytes, event);
    tg_pb_end(&out->bytes, packet);
}

static void add_slice(struct tg_trace_out *out, const struct tg_trace_row *row,
                      const struct tg_trace_item *item, const uint64_t *flow,
                      const unsigned char *body, size_t size)
{
    size_t packet,
        event = begin_event(out, item->begin, TG_PF_SLICE_BEGIN, UUID_ROWS + row->id, &packet);
    tg_bytes_put(&out->bytes, body, size);
    for (uint32_t i = 0; i < item->n_leaving; i++)
        tg_pb_fixed64(&out->bytes, TG_PF_FLOW_IDS, flow[i]);
    for (uint32_t i = 0; i < item->n_taken; i++)
        tg_pb_fixed64(&out->bytes, TG_PF_TERMINATING_FLOW_IDS, flow[item->n_leaving + i]);
    end_event(out, event, packet);
}

static void end_slice(struct tg_trace_out *out, const struct tg_trace_row *row, uint64_t time,
                      uint32_t type)
{
    (void)type;
    size_t packet, event = begin_event(out, time, TG_PF_SLICE_END, UUID_ROWS + row->id, &packet);
    end_event(out, event, packet);
}

/* --- tracks ---------------------------------------------------------------------------------- */

static size_t begin_track(struct tg_trace_out *out, uint64_t uuid, const char *name, uint64_t rank,
                          size_t *packet)
{
    *packet = begin_packet(out, TG_PF_NEEDS_STATE);
    size_t track = tg_pb_begin(&out->bytes, TG_PF_TRACK_DESCRIPTOR);
    tg_pb_uint(&out->bytes, TG_PF_UUID, uuid);
    tg_pb_string(&out->bytes, TG_PF_TRACK_NAME, name);
    if (uuid != UUID_PROCESS) {
        tg_pb_uint(&out->bytes, TG_PF_PARENT_UUID, UUID_PROCESS);
        tg_pb_uint(&out->bytes, TG_PF_ORDER_RANK, rank);
    }
    return track;
}

static void add_row(struct tg_trace_out *out, const struct tg_trace_row *row)
{
    char name[TG_NAME_MAX + 64];
    size_t packet;
    uint64_t rank = row->lane < TG_LANE_CORES
                        ? row->lane
                        : RANK_CORES + (uint64_t)(row->lane - TG_LANE_CORES) * 64 + row->number;
    tg_trace_row_name(out, row, name, sizeof name);
    size_t track = begin_track(out, UUID_ROWS + row->id, name, rank, &packet);
    end_event(out, track, packet);
}

static void describe_counter(struct tg_trace_out *out, uint32_t counter)
{
    struct tg_counter_info info;
    size_t packet;
    tg_trace_counter_info(out, counter, &info);
    size_t track =
        begin_track(out, UUID_COUNTERS + counter, info.name, RANK_COUNTERS + counter, &packet);
    size_t about = tg_pb_begin(&out->bytes, TG_PF_COUNTER);
    tg_pb_uint(&out->bytes, TG_PF_UNIT, info.is_bytes ? TG_PF_UNIT_BYTES : TG_PF_UNIT_COUNT);
    tg_pb_end(&out->bytes, about);
    end_event(out, track, packet);
    out->counter_known[counter] = true;
}

static void add_counter(struct tg_trace_out *out, uint32_t counter, uint64_t time, uint64_t value)
{
    size_t packet;
    if (!out->counter_known[counter])
        describe_counter(out, counter);
    size_t event = begin_event(out, time, TG_PF_COUNTER_EVENT, UUID_COUNTERS + counter, &packet);
    tg_pb_uint(&out->bytes, TG_PF_COUNTER_VALUE, value);
    end_event(out, event, packet);
}

/* --- the run --------------------------------------------------------------------------------- */

static void put_interned(struct tg_bytes *bytes, unsigned field, uint64_t iid, const char *text)
{
    size_t at = tg_pb_begin(bytes, field);
    tg_pb_uint(bytes, TG_PF_IID, iid);
    tg_pb_string(bytes, TG_PF_TEXT, text);
    tg_pb_end(bytes, at);
}

static void put_names(struct tg_trace_out *out)
{
    struct tg_bytes *bytes = &out->bytes;
    size_t packet = begin_packet(out, TG_PF_STATE_CLEARED | TG_PF_NEEDS_STATE);
    size_t data = tg_pb_begin(bytes, TG_PF_INTERNED_DATA);
    for (uint32_t i = 0; i < TG_TRACE_CATEGORIES; i++)
        put_interned(bytes, TG_PF_EVENT_CATEGORIES, i + 1, tg_trace_categories[i]);
    for (uint32_t i = 0; i < TG_TRACE_KEYS; i++)
        put_interned(bytes, TG_PF_ANNOTATION_NAMES, i + 1, tg_trace_keys[i]);
    for (uint32_t i = 0; i < out->n_names; i++) {
        put_interned(bytes, TG_PF_EVENT_NAMES, (uint64_t)i + 1, out->name[i]);
        put_interned(bytes, TG_PF_ANNOTATION_STRINGS, (uint64_t)i + 1, out->name[i]);
    }
    tg_pb_end(bytes, data);
    tg_pb_end(bytes, packet);
}

static void put_process(struct tg_trace_out *out)
{
    char name[TG_NAME_MAX + 1];
    const char *run = out->run->name ? out->run->name : "";
    size_t packet;
    tg_name_clean(run, strlen(run), name, sizeof name);
    size_t track = begin_track(out, UUID_PROCESS, name, 0, &packet);
    size_t process = tg_pb_begin(&out->bytes, TG_PF_PROCESS);
    tg_pb_uint(&out->bytes, TG_PF_PID, PID);
    tg_pb_string(&out->bytes, TG_PF_PROCESS_NAME, name);
    tg_pb_end(&out->bytes, process);
    tg_pb_uint(&out->bytes, TG_PF_CHILD_ORDERING, TG_PF_ORDER_EXPLICIT);
    end_event(out, track, packet);
}

static void put_fact(struct tg_bytes *bytes, const struct tg_trace_fact *fact)
{
    if (fact->text) {
        put_text(bytes, fact->key, fact->text);
        return;
    }
    size_t at = tg_pb_begin(bytes, TG_PF_ANNOTATIONS);
    tg_pb_string(bytes, TG_PF_ANNOTATION_NAME, fact->key);
    tg_pb_uint(bytes, TG_PF_UINT_VALUE, fact->number);
    tg_pb_end(bytes, at);
}

/* The run's own slice begins first, so that a reader has the facts before any task. */
static void begin(struct tg_trace_out *out)
{
    const struct tg_trace_run *run = out->run;
    size_t packet;
    put_names(out);
    put_process(out);
    size_t track = begin_track(out, UUID_RUN, "run", 0, &packet);
    end_event(out, track, packet);
    size_t event = begin_event(out, out->begin, TG_PF_SLICE_BEGIN, UUID_RUN, &packet);
    begin_body(out, &out->bytes, TG_CATEGORY_RUN, TG_WORD_RUN);
    put_text(&out->bytes, "program", "taskglass");
    put_text(&out->bytes, "version", tg_version());
    for (uint32_t i = 0; i < run->n_facts; i++)
        put_fact(&out->bytes, &run->fact[i]);
    end_event(out, event, packet);
}

static void end(struct tg_trace_out *out)
{
    size_t packet, event = begin_event(out, out->end, TG_PF_SLICE_END, UUID_RUN, &packet);
    end_event(out, event, packet);
}

const struct tg_trace_ops tg_trace_perfetto = {
    .begin = begin,
    .body = &body_ops,
    .add_row = add_row,
    .add_slice = add_slice,
    .end_slice = end_slice,
    .add_counter = add_counter,
    .end = end,
};
