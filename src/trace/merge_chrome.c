/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of ranks as one in Chrome's JSON. Each event of a rank is written again with its process, its times
 * and its flow changed; all other members stay as they are, letter by letter.
 */
#include <stdio.h>
#include <string.h>
#include <taskglass/device.h>

#include "base/json_pull.h"
#include "trace/json_bytes.h"
#include "trace/merge_out.h"

/* Rows of calls have these numbers of threads, which come before those of cores. */
enum { TID_ROWS = 1 << 30, SORT_ROWS = 2 };

/* --- reading --------------------------------------------------------------------------------- */

/* Microseconds with up to three digits behind the point, as exact nanoseconds. */
static bool take_time(const struct tg_pull *pull, uint64_t *ns)
{
    uint64_t value = 0;
    int digits = -1; /* behind the point */
    if (pull->token != TG_PULL_NUMBER)
        return false;
    for (size_t i = 0; i < pull->length; i++) {
        char c = pull->value[i];
        if (c == '.' && digits < 0) {
            digits = 0;
            continue;
        }
        if (c < '0' || c > '9' || value > UINT64_MAX / 20000)
            return false;
        if (digits == 3)
            continue;
        value = value * 10 + (uint64_t)(c - '0');
        digits += digits >= 0;
    }
    for (digits = digits < 0 ? 0 : digits; digits < 3; digits++)
        value *= 10;
    *ns = value;
    return true;
}

/* Goes to a member of the object that the last token began; false if it has none. */
static bool find_member(struct tg_pull *pull, const char *key)
{
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        bool is = tg_pull_is(pull, key);
        if (tg_pull_next(pull) == TG_PULL_ERROR)
            return false;
        if (is)
            return true;
        if (!tg_pull_skip(pull))
            return false;
    }
    return false;
}

/* The clock stands before the events. */
static const char *look(struct tg_merge_part *part)
{
    struct tg_pull pull;
    tg_pull_start(&pull, (const char *)part->map.bytes, part->map.size);
    if (tg_pull_next(&pull) != TG_PULL_BEGIN_OBJECT || !find_member(&pull, "taskglass") ||
        pull.token != TG_PULL_BEGIN_OBJECT || !find_member(&pull, "clock_begin_ns") ||
        !tg_pull_u64(&pull, &part->first) || part->first > INT64_MAX)
        return "it does not say when it began";
    return NULL;
}

/* --- events ---------------------------------------------------------------------------------- */

static void begin_event(struct tg_merge_out *out)
{
    tg_bytes_text(&out->bytes, out->has_events ? ",\n{" : "{");
    out->has_events = true;
}

static void put_time(struct tg_merge_out *out, const char *key, uint64_t time)
{
    tg_bytes_json_microseconds(&out->bytes, key, time > out->begin ? time - out->begin : 0);
}

/* An event of a rank, as far as the merger must know it. */
struct event {
    char kind;
    bool has_time, has_length, has_flow, is_process_name;
    uint64_t begin, length, flow;
    const char *args; /* as they stand in the file */
    size_t args_length;
};

static const char *put_raw(struct tg_merge_out *out, const struct tg_pull *key, const char *from,
                           size_t length)
{
    TG_JSON_LITERAL(&out->bytes, ",\"");
    tg_bytes_put(&out->bytes, key->value, key->length);
    TG_JSON_LITERAL(&out->bytes, "\":");
    tg_bytes_put(&out->bytes, from, length);
    return NULL;
}

/* Takes one member, or copies it. A problem, or NULL. */
static const char *take_member(struct tg_merge_out *out, struct tg_pull *pull, struct event *event)
{
    struct tg_pull key = *pull;
    if (tg_pull_next(pull) == TG_PULL_ERROR)
        return pull->problem;
    const char *from = pull->token == TG_PULL_STRING ? pull->value - 1
                       : pull->token == TG_PULL_NUMBER
                           ? pull->value
                           : pull->text + pull->at - 1; /* a bracket, or a word: see below */
    bool is_plain = pull->token == TG_PULL_STRING || pull->token == TG_PULL_NUMBER;
    if (tg_pull_is(&key, "ph") && pull->token == TG_PULL_STRING && pull->length == 1)
        event->kind = pull->value[0];
    if (tg_pull_is(&key, "name") && pull->token == TG_PULL_STRING)
        event->is_process_name = tg_pull_is(pull, "process_name");
    if (tg_pull_is(&key, "pid"))
        return tg_pull_skip(pull) ? NULL : pull->problem;
    if (tg_pull_is(&key, "ts"))
        return (event->has_time = take_time(pull, &event->begin)) ? NULL : "a time is none";
    if (tg_pull_is(&key, "dur"))
        return (event->has_length = take_time(pull, &event->length)) ? NULL : "a time is none";
    if (tg_pull_is(&key, "id"))
        return (event->has_flow = tg_pull_u64(pull, &event->flow)) ? NULL : "a flow has no number";
    if (!is_plain && pull->token != TG_PULL_BEGIN_OBJECT && pull->token != TG_PULL_BEGIN_ARRAY)
        return "a member of an event is neither a text, a number nor an object";
    if (!tg_pull_skip(pull))
        return pull->problem;
    size_t length = (size_t)(pull->text + pull->at - from);
    if (!tg_pull_is(&key, "args"))
        return put_raw(out, &key, from, length);
    event->args = from;
    event->args_length = length;
    return NULL;
}

/* The run's own slice is the first of a trace: its arguments also say which rank it is. */
static void put_args(struct tg_merge_out *out, struct tg_merge_part *part,
                     const struct event *event)
{
    struct tg_bytes *bytes = &out->bytes;
    bool is_run = event->kind == 'B' && !part->has_run;
    if (!event->args || event->args_length < 2)
        return;
    TG_JSON_LITERAL(bytes, ",\"args\":");
    tg_bytes_put(bytes, event->args, event->args_length - 1);
    if (is_run && event->args[0] == '{') {
        part->has_run = true;
        tg_merge_put_rank(out, part);
    }
    tg_bytes_put(bytes, event->args + event->args_length - 1, 1);
}

static const char *copy_event(struct tg_merge_out *out, struct tg_merge_part *part,
                              struct tg_pull *pull)
{
    struct event event = {.kind = '?'};
    size_t before = out->bytes.used;
    bool had_events = out->has_events;
    begin_event(out);
    TG_JSON_LITERAL(&out->bytes, "\"pid\":");
    tg_bytes_json_uint(&out->bytes, part->from->rank);
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        const char *problem = take_member(out, pull, &event);
        if (problem)
            return problem;
    }
    if (pull->token != TG_PULL_END_OBJECT)
        return "an event is no object";
    if (event.kind == 'M' && event.is_process_name) { /* it has a name already */
        out->bytes.used = before;
        out->has_events = had_events;
        return NULL;
    }
    uint64_t begin = event.begin, end;
    if (begin > INT64_MAX / 4 || event.length > INT64_MAX / 4 || part->first > INT64_MAX / 4)
        return "a time is too large";
    begin = tg_merge_time(part, part->first + event.begin);
    end = tg_merge_time(part, part->first + event.begin + event.length);
    if (event.has_time)
        put_time(out, "ts", begin);
    /* A stranger's clock may turn time around, where it is cut to what an int64_t holds. */
    if (event.has_length)
        tg_bytes_json_microseconds(&out->bytes, "dur", end > begin ? end - begin : 0);
    if (event.has_flow)
        tg_bytes_json_number(&out->bytes, "id", tg_merge_flow(part, event.flow));
    put_args(out, part, &event);
    TG_JSON_LITERAL(&out->bytes, "}");
    return NULL;
}

static void name_process(struct tg_merge_out *out, const struct tg_merge_part *part)
{
    static const char *const what[] = {"process_name", "process_sort_index"};
    for (int i = 0; i < 2; i++) {
        begin_event(out);
        TG_JSON_LITERAL(&out->bytes, "\"ph\":\"M\"");
        tg_bytes_json_number(&out->bytes, "pid", part->from->rank);
        TG_JSON_LITERAL(&out->bytes, ",\"tid\":0,\"name\":");
        tg_bytes_json_string(&out->bytes, what[i]);
        tg_bytes_text(&out->bytes, i == 0 ? ",\"args\":{\"name\":" : ",\"args\":{\"sort_index\":");
        if (i == 0)
            tg_bytes_json_string(&out->bytes, part->label);
        else
            tg_bytes_json_uint(&out->bytes, part->from->rank);
        TG_JSON_LITERAL(&out->bytes, "}}");
    }
}

static const char *copy(struct tg_merge_out *out, uint32_t number, uint64_t *at)
{
    struct tg_merge_part *part = &out->part[number];
    struct tg_pull pull;
    name_process(out, part);
    if (part->map.size == 0)
        return NULL;
    tg_pull_start_map(&pull, &part->map);
    const char *problem = NULL;
    if (tg_pull_next(&pull) != TG_PULL_BEGIN_OBJECT || !find_member(&pull, "traceEvents") ||
        pull.token != TG_PULL_BEGIN_ARRAY)
        problem = pull.problem ? pull.problem : "there are no events";
    while (!problem && tg_merge_goes_on(out) && tg_pull_next(&pull) == TG_PULL_BEGIN_OBJECT) {
        problem = copy_event(out, part, &pull);
        tg_merge_flush(out, false);
    }
    if (!problem && pull.token != TG_PULL_END_ARRAY)
        problem = pull.problem ? pull.problem : "an event is no object";
    *at = pull.at;
    return problem;
}

/* --- calls ----------------------------------------------------------------------------------- */

static void put_place(struct tg_merge_out *out, const char *kind, struct tg_merge_place place)
{
    begin_event(out);
    TG_JSON_LITERAL(&out->bytes, "\"ph\":");
    tg_bytes_json_string(&out->bytes, kind);
    tg_bytes_json_number(&out->bytes, "pid", out->part[place.part].from->rank);
    tg_bytes_json_number(&out->bytes, "tid", TID_ROWS + (uint64_t)place.row);
}

static void add_row(struct tg_merge_out *out, struct tg_merge_place place)
{
    char name[64] = "communication";
    if (place.row > 0)
        (void)snprintf(name, sizeof name, "communication, row %u", place.row + 1);
    put_place(out, "M", place);
    TG_JSON_LITERAL(&out->bytes, ",\"name\":\"thread_name\",\"args\":{\"name\":");
    tg_bytes_json_string(&out->bytes, name);
    TG_JSON_LITERAL(&out->bytes, "}}");
    put_place(out, "M", place);
    TG_JSON_LITERAL(&out->bytes, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":");
    tg_bytes_json_uint(&out->bytes, SORT_ROWS);
    TG_JSON_LITERAL(&out->bytes, "}}");
}

static void begin_slice(struct tg_merge_out *out, struct tg_merge_place place, uint64_t time,
                        const char *name)
{
    put_place(out, "B", place);
    put_time(out, "ts", time);
    TG_JSON_LITERAL(&out->bytes, ",\"name\":");
    tg_bytes_json_string(&out->bytes, name);
    TG_JSON_LITERAL(&out->bytes, ",\"cat\":\"communication\",\"args\":{");
}

static void put_text(struct tg_merge_out *out, const char *key, const char *text)
{
    tg_bytes_json_key(&out->bytes, key);
    tg_bytes_json_string(&out->bytes, text);
}

static void put_number(struct tg_merge_out *out, const char *key, uint64_t value)
{
    tg_bytes_json_number(&out->bytes, key, value);
}

static void add_flow(struct tg_merge_out *out, struct tg_merge_place place, uint64_t time,
                     uint64_t flow, bool is_leaving)
{
    put_place(out, is_leaving ? "s" : "f", place);
    put_time(out, "ts", time);
    TG_JSON_LITERAL(&out->bytes, ",\"name\":\"message\",\"cat\":\"message\"");
    tg_bytes_json_number(&out->bytes, "id", flow);
    tg_bytes_text(&out->bytes, is_leaving ? "}" : ",\"bp\":\"e\"}");
}

static void begun(struct tg_merge_out *out, struct tg_merge_place place, uint64_t time,
                  const struct tg_merge_call *flows)
{
    TG_JSON_LITERAL(&out->bytes, "}}");
    for (uint64_t i = 0; i < flows->n_flows; i++)
        add_flow(out, place, time, flows->first_flow + i, true);
    if (flows->flow)
        add_flow(out, place, time, flows->flow, false);
}

static void end_slice(struct tg_merge_out *out, struct tg_merge_place place, uint64_t time,
                      const char *name)
{
    put_place(out, "E", place);
    put_time(out, "ts", time);
    TG_JSON_LITERAL(&out->bytes, ",\"name\":");
    tg_bytes_json_string(&out->bytes, name);
    TG_JSON_LITERAL(&out->bytes, "}");
}

/* --- the whole ------------------------------------------------------------------------------- */

static void put_ranks(struct tg_merge_out *out)
{
    struct tg_bytes *bytes = &out->bytes;
    TG_JSON_LITERAL(bytes, ",\n\"rank\":[");
    for (uint32_t i = 0; i < out->config->n_ranks; i++) {
        tg_bytes_text(bytes, i > 0 ? ",\n{" : "\n{");
        tg_merge_put_rank(out, &out->part[i]);
        TG_JSON_LITERAL(bytes, "}");
    }
    TG_JSON_LITERAL(bytes, "]");
}

static void begin(struct tg_merge_out *out)
{
    struct tg_bytes *bytes = &out->bytes;
    const struct tg_merge_config *config = out->config;
    TG_JSON_LITERAL(bytes, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{");
    put_text(out, "program", "taskglass");
    put_text(out, "version", tg_version());
    if (config->workload)
        put_text(out, "workload", config->workload);
    put_number(out, "ranks", config->n_ranks);
    if (config->transport)
        put_text(out, "transport", config->transport);
    TG_JSON_LITERAL(bytes, "},\n\"taskglass\":{\"clock_begin_ns\":\"");
    tg_bytes_json_uint(bytes, out->begin);
    TG_JSON_LITERAL(bytes, "\"");
    put_ranks(out);
    TG_JSON_LITERAL(bytes, "},\n\"traceEvents\":[\n");
}

static void end(struct tg_merge_out *out)
{
    TG_JSON_LITERAL(&out->bytes, "\n]}\n");
}

const struct tg_merge_ops tg_merge_chrome = {
    .look = look,
    .begin = begin,
    .copy = copy,
    .add_row = add_row,
    .begin_slice = begin_slice,
    .put_text = put_text,
    .put_number = put_number,
    .begun = begun,
    .end_slice = end_slice,
    .end = end,
};
