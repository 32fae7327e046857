/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a trace in Chrome's JSON format that Taskglass wrote: the facts stand before the events. */
#include <string.h>

#include "base/json_pull.h"
#include "base/names.h"
#include "trace/read.h"

/* An event, as far as it was read. Its texts have room of their own. */
struct event {
    char kind; /* "ph" */
    uint64_t tid, begin, length;
    char name[TG_NAME_MAX + 1], category[32], kernel[TG_NAME_MAX + 1], part[16];
    char scope[TG_NAME_MAX + 1], resource[64], label[TG_NAME_MAX + 1];
};

struct state {
    struct tg_trace_reader *reader;
    struct tg_pull pull;
    uint64_t clock; /* of the first event */
    struct event event;
};

static struct tg_trace_span span_of(const char *text)
{
    return (struct tg_trace_span){text, strlen(text)};
}

static void take_text(const struct tg_pull *pull, char *text, size_t room)
{
    text[0] = '\0';
    if (pull->token == TG_PULL_STRING)
        (void)tg_pull_text(pull, text, room);
}

/* Microseconds with up to three digits behind the point, as exact nanoseconds. */
static bool take_time(const struct tg_pull *pull, uint64_t *ns)
{
    const char *text = pull->value;
    size_t at = 0, digits = 0;
    uint64_t value = 0;
    bool is_fraction = false;
    if (pull->token != TG_PULL_NUMBER)
        return false;
    for (; at < pull->length; at++) {
        if (text[at] == '.' && !is_fraction) {
            is_fraction = true;
            continue;
        }
        if (text[at] < '0' || text[at] > '9' || value > UINT64_MAX / 20000)
            return false;
        if (is_fraction && digits == 3)
            continue;
        value = value * 10 + (uint64_t)(text[at] - '0');
        digits += is_fraction;
    }
    for (; digits < 3; digits++)
        value *= 10;
    *ns = value;
    return true;
}

static bool is_true(const struct tg_pull *pull)
{
    return pull->token == TG_PULL_TRUE;
}

/* --- arguments ------------------------------------------------------------------------------- */

static void take_after(struct state *state)
{
    struct tg_pull *pull = &state->pull;
    char text[TG_NAME_MAX + 1];
    if (pull->token != TG_PULL_BEGIN_ARRAY)
        return;
    while (tg_pull_next(pull) == TG_PULL_STRING) {
        take_text(pull, text, sizeof text);
        tg_trace_reader_after(state->reader, span_of(text));
    }
    if (pull->token != TG_PULL_END_ARRAY && pull->token != TG_PULL_ERROR)
        (void)tg_pull_fail(pull, "\"after\" has something else than tasks");
}

static void take_argument(struct state *state, const char *key)
{
    struct tg_pull *pull = &state->pull;
    struct tg_trace_args *args = &state->reader->args;
    struct event *event = &state->event;
    char text[TG_NAME_MAX + 1];
    if (strcmp(key, "task_id") == 0) {
        take_text(pull, text, sizeof text);
        args->id = tg_trace_task_of(span_of(text));
    } else if (strcmp(key, "kernel") == 0) {
        take_text(pull, event->kernel, sizeof event->kernel);
    } else if (strcmp(key, "part") == 0) {
        take_text(pull, event->part, sizeof event->part);
    } else if (strcmp(key, "scope") == 0) {
        take_text(pull, event->scope, sizeof event->scope);
    } else if (strcmp(key, "resource") == 0) {
        take_text(pull, event->resource, sizeof event->resource);
    } else if (strcmp(key, "name") == 0) {
        take_text(pull, event->label, sizeof event->label);
    } else if (strcmp(key, "wait_ns") == 0) {
        (void)tg_pull_u64(pull, &args->wait_ns);
    } else if (strcmp(key, "completed") == 0) {
        args->is_partial = !is_true(pull);
    } else if (strcmp(key, "began") == 0) {
        args->no_begin = !is_true(pull);
    } else if (strcmp(key, "after") == 0) {
        take_after(state);
    }
}

/* Goes through the members of the object that the last token began. `take` leaves behind the value, or at its
 * first token. */
static void each_member(struct state *state, void (*take)(struct state *, const char *))
{
    struct tg_pull *pull = &state->pull;
    char key[64];
    if (pull->token != TG_PULL_BEGIN_OBJECT) {
        (void)tg_pull_fail(pull, "an object is missing");
        return;
    }
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        (void)tg_pull_text(pull, key, sizeof key);
        if (tg_pull_next(pull) == TG_PULL_ERROR)
            return;
        unsigned depth = pull->depth;
        bool is_container =
            pull->token == TG_PULL_BEGIN_OBJECT || pull->token == TG_PULL_BEGIN_ARRAY;
        take(state, key);
        if (pull->token == TG_PULL_ERROR)
            return;
        if (is_container && pull->depth == depth && !tg_pull_skip(pull))
            return; /* nobody has gone into it */
    }
}

/* --- events ---------------------------------------------------------------------------------- */

static void take_member(struct state *state, const char *key)
{
    struct tg_pull *pull = &state->pull;
    struct event *event = &state->event;
    bool good = true;
    if (strcmp(key, "ph") == 0)
        event->kind = pull->token == TG_PULL_STRING && pull->length == 1 ? pull->value[0] : '?';
    else if (strcmp(key, "tid") == 0)
        good = tg_pull_u64(pull, &event->tid);
    else if (strcmp(key, "ts") == 0)
        good = take_time(pull, &event->begin);
    else if (strcmp(key, "dur") == 0)
        good = take_time(pull, &event->length);
    else if (strcmp(key, "name") == 0)
        take_text(pull, event->name, sizeof event->name);
    else if (strcmp(key, "cat") == 0)
        take_text(pull, event->category, sizeof event->category);
    else if (strcmp(key, "args") == 0)
        each_member(state, take_argument);
    if (!good && pull->token != TG_PULL_ERROR)
        (void)tg_pull_fail(pull, "a time or the number of a thread is none");
}

static void begin_slice(struct state *state, uint64_t time)
{
    struct event *event = &state->event;
    struct tg_trace_args *args = &state->reader->args;
    args->kernel = span_of(event->kernel);
    args->part = span_of(event->part);
    args->scope = span_of(event->scope);
    args->resource = span_of(event->resource);
    tg_trace_reader_begin(state->reader, event->tid, span_of(event->category), span_of(event->name),
                          time);
}

static void use_event(struct state *state)
{
    struct event *event = &state->event;
    struct tg_trace_reader *reader = state->reader;
    if (event->begin > UINT64_MAX / 4 || event->length > UINT64_MAX / 4 ||
        state->clock > UINT64_MAX / 4) {
        reader->problem = "a time is too large";
        return;
    }
    uint64_t time = state->clock + event->begin;
    if (event->kind == 'M' && strcmp(event->name, "thread_name") == 0)
        tg_trace_reader_lane(reader, event->tid, span_of(event->label));
    if (event->kind == 'X' || event->kind == 'B')
        begin_slice(state, time);
    if (event->kind == 'X' || event->kind == 'E')
        tg_trace_reader_end(reader, event->tid, time + event->length);
}

static void take_events(struct state *state)
{
    struct tg_pull *pull = &state->pull;
    if (pull->token != TG_PULL_BEGIN_ARRAY)
        return;
    while (tg_pull_next(pull) == TG_PULL_BEGIN_OBJECT) {
        struct event *event = &state->event;
        event->kind = '?';
        event->tid = event->begin = event->length = 0;
        event->name[0] = event->category[0] = event->kernel[0] = event->part[0] = '\0';
        event->scope[0] = event->resource[0] = event->label[0] = '\0';
        tg_trace_args_clear(&state->reader->args);
        each_member(state, take_member);
        if (pull->token == TG_PULL_ERROR)
            return;
        use_event(state);
        if (state->reader->problem || state->reader->no_memory)
            (void)tg_pull_fail(pull, state->reader->problem ? state->reader->problem : "no memory");
    }
    if (pull->token != TG_PULL_END_ARRAY && pull->token != TG_PULL_ERROR)
        (void)tg_pull_fail(pull, "an event is no object");
}

/* --- the document ---------------------------------------------------------------------------- */

static void take_fact(struct state *state, const char *key)
{
    char text[TG_NAME_MAX + 1];
    uint64_t number = 0;
    take_text(&state->pull, text, sizeof text);
    if (state->pull.token == TG_PULL_NUMBER)
        (void)tg_pull_u64(&state->pull, &number);
    tg_trace_reader_fact(state->reader, span_of(key), span_of(text), number);
}

static void take_clock(struct state *state, const char *key)
{
    if (strcmp(key, "clock_begin_ns") == 0 && !tg_pull_u64(&state->pull, &state->clock))
        (void)tg_pull_fail(&state->pull, "\"clock_begin_ns\" is no time");
}

static void take_document(struct state *state, const char *key)
{
    if (strcmp(key, "otherData") == 0)
        each_member(state, take_fact);
    else if (strcmp(key, "taskglass") == 0)
        each_member(state, take_clock);
    else if (strcmp(key, "traceEvents") == 0 && !state->reader->is_ours)
        (void)tg_pull_fail(&state->pull, "nothing before the events says who wrote them");
    else if (strcmp(key, "traceEvents") == 0)
        take_events(state);
}

void tg_trace_read_chrome(struct tg_trace_reader *reader, const struct tg_map *map, uint64_t *at)
{
    struct state state = {.reader = reader};
    tg_pull_start(&state.pull, (const char *)map->bytes, map->size);
    if (tg_pull_next(&state.pull) == TG_PULL_BEGIN_OBJECT)
        each_member(&state, take_document);
    if (state.pull.token != TG_PULL_ERROR)
        (void)tg_pull_next(&state.pull);
    if (state.pull.token != TG_PULL_END && !reader->problem)
        reader->problem = state.pull.problem ? state.pull.problem : "it is not one object of JSON";
    *at = state.pull.at;
}
