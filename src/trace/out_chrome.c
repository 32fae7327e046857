/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as Chrome's trace event format, for chrome://tracing, Perfetto and programs that read JSON: one
 * event on each line. Tasks are complete events ("X"), everything else begins ("B") and ends ("E"); edges
 * are flows ("s" to "f"). Times are microseconds since the run began, with three digits behind the point:
 * exact nanoseconds.
 */
#include <stdio.h>

#include <taskglass/device.h>

#include "base/names.h"
#include "trace/json_bytes.h"
#include "trace/out.h"

enum { TID_RUN = 1 }; /* rows have the numbers behind it */

static void put_bool(struct tg_bytes *bytes, enum tg_trace_key key, bool value)
{
    tg_bytes_json_key(bytes, tg_trace_keys[key]);
    tg_bytes_text(bytes, value ? "true" : "false");
}

/* --- arguments ------------------------------------------------------------------------------- */

static void put_name(const struct tg_trace_out *out, struct tg_bytes *bytes, enum tg_trace_key key,
                     uint32_t name)
{
    if (name == TG_SPOOL_NO_NAME)
        return;
    tg_bytes_json_key(bytes, tg_trace_keys[key]);
    tg_bytes_json_string(bytes, out->name[name]);
}

static void put_task_text(struct tg_bytes *bytes, uint64_t id)
{
    char text[TG_TASK_TEXT];
    size_t length = tg_trace_task_text(id, text);
    TG_JSON_LITERAL(bytes, "\"");
    tg_bytes_put(bytes, text, length);
    TG_JSON_LITERAL(bytes, "\"");
}

static void put_task(struct tg_bytes *bytes, uint64_t id)
{
    char hex[16];
    tg_bytes_json_key(bytes, tg_trace_keys[TG_KEY_TASK]);
    put_task_text(bytes, id);
    tg_bytes_json_key(bytes, tg_trace_keys[TG_KEY_TASK_ID]);
    TG_JSON_LITERAL(bytes, "\"0x");
    tg_bytes_put(bytes, hex, (size_t)(tg_digits_hex16(hex, id) - hex));
    TG_JSON_LITERAL(bytes, "\"");
}

static void put_after(const struct tg_trace_out *out, struct tg_bytes *bytes,
                      const struct tg_trace_slice *slice)
{
    bool has_kinds = false;
    tg_bytes_json_key(bytes, tg_trace_keys[TG_KEY_AFTER]);
    for (size_t i = 0; i < slice->n_after; i++) {
        tg_bytes_text(bytes, i == 0 ? "[" : ",");
        put_task_text(bytes, slice->after[i].id);
        has_kinds |= slice->after[i].kind < TG_EDGE_KINDS;
    }
    TG_JSON_LITERAL(bytes, "]");
    if (!has_kinds)
        return;
    tg_bytes_json_key(bytes, tg_trace_keys[TG_KEY_WHY]);
    for (size_t i = 0; i < slice->n_after; i++) {
        uint32_t kind = slice->after[i].kind;
        tg_bytes_text(bytes, i == 0 ? "[" : ",");
        tg_bytes_json_string(
            bytes, out->name[kind < TG_EDGE_KINDS ? TG_WORD_EXPLICIT + kind : TG_WORD_UNKNOWN]);
    }
    TG_JSON_LITERAL(bytes, "]");
}

/* `"name":…,"cat":…,"args":{`, which stands behind the members that add_slice writes. */
static void begin_body(const struct tg_trace_out *out, struct tg_bytes *body,
                       enum tg_trace_category category, uint32_t name)
{
    TG_JSON_LITERAL(body, ",\"name\":");
    tg_bytes_json_string(body, out->name[name]);
    TG_JSON_LITERAL(body, ",\"cat\":");
    tg_bytes_json_string(body, tg_trace_categories[category]);
    TG_JSON_LITERAL(body, ",\"args\":{");
}

static void put_key_number(struct tg_bytes *body, enum tg_trace_key key, uint64_t value)
{
    tg_bytes_json_number(body, tg_trace_keys[key], value);
}

static void put_text(struct tg_bytes *body, const char *key, const char *text)
{
    TG_JSON_LITERAL(body, ",");
    tg_bytes_json_string(body, key);
    TG_JSON_LITERAL(body, ":");
    tg_bytes_json_string(body, text);
}

static void end_body(struct tg_bytes *body)
{
    TG_JSON_LITERAL(body, "}");
}

static const struct tg_trace_body_ops body_ops = {
    .begin = begin_body,
    .put_task = put_task,
    .put_name = put_name,
    .put_number = put_key_number,
    .put_bool = put_bool,
    .put_after = put_after,
    .put_text = put_text,
    .end = end_body,
};

/* --- events ---------------------------------------------------------------------------------- */

static void begin_event(struct tg_trace_out *out, const char *kind, uint64_t tid)
{
    tg_bytes_text(&out->bytes, out->has_events ? ",\n{" : "{");
    out->has_events = true;
    tg_bytes_json_key(&out->bytes, "ph");
    tg_bytes_json_string(&out->bytes, kind);
    tg_bytes_json_number(&out->bytes, "pid", 1);
    tg_bytes_json_number(&out->bytes, "tid", tid);
}

static void begin_timed(struct tg_trace_out *out, const char *kind, uint64_t tid, uint64_t time)
{
    begin_event(out, kind, tid);
    tg_bytes_json_microseconds(&out->bytes, "ts", time > out->begin ? time - out->begin : 0);
}

/* An arrow's end is bound to the slice around its time, so it leaves just before the slice ends. */
static void add_flow(struct tg_trace_out *out, const struct tg_trace_row *row,
                     const struct tg_trace_item *item, uint64_t flow, bool is_leaving)
{
    uint64_t leaves = item->end > item->begin ? item->end - 1 : item->end;
    begin_timed(out, is_leaving ? "s" : "f", TID_RUN + row->id, is_leaving ? leaves : item->begin);
    TG_JSON_LITERAL(&out->bytes, ",\"name\":\"edge\",\"cat\":\"edge\"");
    tg_bytes_json_number(&out->bytes, "id", flow);
    tg_bytes_text(&out->bytes, is_leaving ? "}" : ",\"bp\":\"e\"}");
}

static void add_slice(struct tg_trace_out *out, const struct tg_trace_row *row,
                      const struct tg_trace_item *item, const uint64_t *flow,
                      const unsigned char *body, size_t size)
{
    bool is_task = item->type == TG_SPOOL_TASK;
    begin_timed(out, is_task ? "X" : "B", TID_RUN + row->id, item->begin);
    if (is_task)
        tg_bytes_json_microseconds(&out->bytes, "dur", item->end - item->begin);
    tg_bytes_put(&out->bytes, body, size);
    TG_JSON_LITERAL(&out->bytes, "}");
    for (uint32_t i = 0; i < item->n_leaving + item->n_taken; i++)
        add_flow(out, row, item, flow[i], i < item->n_leaving);
}

static void end_slice(struct tg_trace_out *out, const struct tg_trace_row *row, uint64_t time,
                      uint32_t type)
{
    if (type == TG_SPOOL_TASK)
        return;
    begin_timed(out, "E", TID_RUN + row->id, time);
    TG_JSON_LITERAL(&out->bytes, ",\"name\":");
    tg_bytes_json_string(&out->bytes, type == TG_SPOOL_SCOPE    ? "scope"
                                      : type == TG_SPOOL_SUBMIT ? "submit"
                                                                : "wait");
    TG_JSON_LITERAL(&out->bytes, "}");
}

static void add_metadata(struct tg_trace_out *out, const char *what, uint64_t tid, const char *name)
{
    begin_event(out, "M", tid);
    tg_bytes_json_key(&out->bytes, "name");
    tg_bytes_json_string(&out->bytes, what);
    TG_JSON_LITERAL(&out->bytes, ",\"args\":{\"name\":");
    tg_bytes_json_string(&out->bytes, name);
    TG_JSON_LITERAL(&out->bytes, "}}");
}

static void add_thread(struct tg_trace_out *out, uint64_t tid, const char *name, uint64_t rank)
{
    add_metadata(out, "thread_name", tid, name);
    begin_event(out, "M", tid);
    TG_JSON_LITERAL(&out->bytes, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":");
    tg_bytes_json_uint(&out->bytes, rank);
    TG_JSON_LITERAL(&out->bytes, "}}");
}

static void add_row(struct tg_trace_out *out, const struct tg_trace_row *row)
{
    char name[TG_NAME_MAX + 64];
    tg_trace_row_name(out, row, name, sizeof name);
    add_thread(out, TID_RUN + row->id, name, (uint64_t)row->lane * 64 + row->number);
}

static void add_counter(struct tg_trace_out *out, uint32_t counter, uint64_t time, uint64_t value)
{
    struct tg_counter_info info;
    tg_trace_counter_info(out, counter, &info);
    begin_timed(out, "C", 0, time);
    tg_bytes_json_key(&out->bytes, "name");
    tg_bytes_json_string(&out->bytes, info.name);
    TG_JSON_LITERAL(&out->bytes, ",\"args\":{");
    tg_bytes_json_number(&out->bytes, info.is_bytes ? "bytes" : "count", value);
    TG_JSON_LITERAL(&out->bytes, "}}");
}

/* --- the run --------------------------------------------------------------------------------- */

static void put_facts(struct tg_trace_out *out)
{
    const struct tg_trace_run *run = out->run;
    struct tg_bytes *bytes = &out->bytes;
    TG_JSON_LITERAL(bytes, "{\"program\":\"taskglass\",\"version\":");
    tg_bytes_json_string(bytes, tg_version());
    for (uint32_t i = 0; i < run->n_facts; i++) {
        TG_JSON_LITERAL(bytes, ",");
        tg_bytes_json_string(bytes, run->fact[i].key);
        TG_JSON_LITERAL(bytes, ":");
        if (run->fact[i].text)
            tg_bytes_json_string(bytes, run->fact[i].text);
        else
            tg_bytes_json_uint(bytes, run->fact[i].number);
    }
    TG_JSON_LITERAL(bytes, "}");
}

static void begin(struct tg_trace_out *out)
{
    struct tg_bytes *bytes = &out->bytes;
    TG_JSON_LITERAL(bytes, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":");
    put_facts(out);
    /* A string, because the clock may be beyond what a double holds. */
    TG_JSON_LITERAL(bytes, ",\n\"taskglass\":{\"clock_begin_ns\":\"");
    tg_bytes_json_uint(bytes, out->begin);
    TG_JSON_LITERAL(bytes, "\"},\n\"traceEvents\":[\n");
    add_metadata(out, "process_name", 0, out->run->name ? out->run->name : "");
    add_thread(out, TID_RUN, "run", 0);
    begin_timed(out, "B", TID_RUN, out->begin);
    TG_JSON_LITERAL(bytes, ",\"name\":\"run\",\"cat\":\"run\",\"args\":");
    put_facts(out);
    TG_JSON_LITERAL(bytes, "}");
}

static void end(struct tg_trace_out *out)
{
    begin_timed(out, "E", TID_RUN, out->end);
    TG_JSON_LITERAL(&out->bytes, ",\"name\":\"run\"}\n]}\n");
}

const struct tg_trace_ops tg_trace_chrome = {
    .begin = begin,
    .body = &body_ops,
    .add_row = add_row,
    .add_slice = add_slice,
    .end_slice = end_slice,
    .add_counter = add_counter,
    .end = end,
};
