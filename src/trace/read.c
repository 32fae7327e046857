/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/read.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/spread.h"
#include "base/words.h"

enum { FIRST_SLOTS = 64, MOST_DEPTH = 1024 };

bool tg_trace_span_is(struct tg_trace_span span, const char *word)
{
    return span.length == strlen(word) && memcmp(span.text, word, span.length) == 0;
}

static bool begins_with(struct tg_trace_span span, const char *word)
{
    size_t length = strlen(word);
    return span.length >= length && memcmp(span.text, word, length) == 0;
}

uint64_t tg_trace_task_of(struct tg_trace_span span)
{
    uint64_t id;
    struct tg_word word = {span.text, span.length};
    return span.length > 0 && tg_word_task(word, &id) ? id : TG_TASK_NONE;
}

void tg_trace_args_clear(struct tg_trace_args *args)
{
    uint64_t *after = args->after;
    size_t room = args->after_room;
    *args = (struct tg_trace_args){
        .id = TG_TASK_NONE, .wait_ns = TG_TIME_UNKNOWN, .after = after, .after_room = room};
}

void tg_trace_reader_after(struct tg_trace_reader *reader, struct tg_trace_span task)
{
    struct tg_trace_args *args = &reader->args;
    if (!tg_grow(&args->after, &args->after_room, args->n_after + 1, sizeof *args->after))
        reader->no_memory = true;
    else
        args->after[args->n_after++] = tg_trace_task_of(task);
}

void tg_trace_reader_start(struct tg_trace_reader *reader, struct tg_timeline *timeline)
{
    *reader = (struct tg_trace_reader){.timeline = timeline};
    tg_trace_args_clear(&reader->args);
}

void tg_trace_reader_free(struct tg_trace_reader *reader)
{
    for (size_t i = 0; i < reader->n_lanes; i++)
        free(reader->lane[i].open);
    free(reader->lane);
    free(reader->slot);
    free(reader->args.after);
}

static bool is_over(const struct tg_trace_reader *reader)
{
    return reader->no_memory || reader->problem;
}

/* --- lanes ----------------------------------------------------------------------------------- */

static size_t place_of(const struct tg_trace_reader *reader, uint64_t key)
{
    size_t at = (size_t)tg_spread(key) & (reader->n_slots - 1);
    while (reader->slot[at] && reader->lane[reader->slot[at] - 1].key != key)
        at = (at + 1) & (reader->n_slots - 1);
    return at;
}

static bool make_slots(struct tg_trace_reader *reader)
{
    if (2 * (reader->n_lanes + 1) <= reader->n_slots)
        return true;
    size_t n_slots = reader->n_slots > 0 ? 2 * reader->n_slots : FIRST_SLOTS;
    uint32_t *slot = reader->n_lanes < UINT32_MAX / 2 ? calloc(n_slots, sizeof *slot) : NULL;
    if (!slot)
        return false;
    free(reader->slot);
    reader->slot = slot;
    reader->n_slots = n_slots;
    for (size_t i = 0; i < reader->n_lanes; i++)
        slot[place_of(reader, reader->lane[i].key)] = (uint32_t)i + 1;
    return true;
}

static struct tg_trace_lane *find_lane(const struct tg_trace_reader *reader, uint64_t key)
{
    uint32_t number = reader->n_slots > 0 ? reader->slot[place_of(reader, key)] : 0;
    return number > 0 ? &reader->lane[number - 1] : NULL;
}

/* "core 7 (AIV0)", "core 7 (AIV0), row 2". False if it is no core. */
static bool add_core(struct tg_trace_reader *reader, struct tg_trace_span name, uint32_t *core)
{
    static const char word[] = "core ";
    char text[TG_NAME_MAX + 1];
    uint64_t number = 0;
    size_t at = sizeof word - 1, first = at;
    if (!begins_with(name, word) || name.length > TG_NAME_MAX)
        return false;
    for (; at < name.length && name.text[at] >= '0' && name.text[at] <= '9'; at++)
        number = number < UINT32_MAX ? number * 10 + (uint64_t)(name.text[at] - '0') : number;
    if (at == first || number >= UINT32_MAX)
        return false;
    struct tg_trace_span rest = {name.text + at, name.length - at};
    uint32_t kind = begins_with(rest, " (AIC)")  ? TG_AIC
                    : begins_with(rest, " (AIV") ? TG_AIV
                                                 : TG_CORE_KINDS;
    const char *row = memchr(name.text, ',', name.length);
    size_t length = row ? (size_t)(row - name.text) : name.length;
    memcpy(text, name.text, length);
    text[length] = '\0';
    *core = tg_timeline_add_core(reader->timeline, (uint32_t)number, kind, text);
    reader->no_memory |= *core == TG_TIMELINE_NONE;
    return true;
}

void tg_trace_reader_lane(struct tg_trace_reader *reader, uint64_t key, struct tg_trace_span name)
{
    struct tg_trace_lane lane = {.key = key, .core = TG_TIMELINE_NONE};
    if (is_over(reader) || find_lane(reader, key))
        return;
    if (add_core(reader, name, &lane.core))
        lane.kind = TG_LANE_IS_CORE;
    else if (tg_trace_span_is(name, "run"))
        lane.kind = TG_LANE_IS_RUN;
    else if (begins_with(name, "orchestrator"))
        lane.kind = TG_LANE_IS_ORCHESTRATOR;
    if (!make_slots(reader) ||
        !tg_grow(&reader->lane, &reader->lane_room, reader->n_lanes + 1, sizeof lane)) {
        reader->no_memory = true;
        return;
    }
    size_t place = place_of(reader, key);
    reader->lane[reader->n_lanes++] = lane;
    reader->slot[place] = (uint32_t)reader->n_lanes;
}

/* --- facts ----------------------------------------------------------------------------------- */

static void keep_text(struct tg_trace_reader *reader, struct tg_trace_span text, const char **kept)
{
    const char *name = tg_timeline_name(reader->timeline, text.text, text.length);
    if (name)
        *kept = name;
    reader->no_memory |= name == NULL;
}

void tg_trace_reader_fact(struct tg_trace_reader *reader, struct tg_trace_span key,
                          struct tg_trace_span text, uint64_t number)
{
    struct tg_timeline_facts *facts = &reader->timeline->facts;
    struct {
        const char *key;
        const char **text;
    } texts[] = {{"workload", &facts->workload}, {"case", &facts->case_name},
                 {"platform", &facts->platform}, {"runtime", &facts->runtime},
                 {"version", &facts->version},   {"result", &facts->result}};
    if (is_over(reader))
        return;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (tg_trace_span_is(key, texts[i].key) && text.length > 0)
            keep_text(reader, text, texts[i].text);
    if (tg_trace_span_is(key, "program"))
        reader->is_ours = tg_trace_span_is(text, "taskglass");
    if (tg_trace_span_is(key, "source"))
        reader->of_recording = tg_trace_span_is(text, "recording");
    if (tg_trace_span_is(key, "lost_events") || tg_trace_span_is(key, "lost_records"))
        facts->lost = number;
    if (tg_trace_span_is(key, "ranks"))
        reader->ranks = number;
    if (tg_trace_span_is(key, "clock_resolution_ns"))
        facts->clock_step = number;
}

/* --- slices ---------------------------------------------------------------------------------- */

static uint8_t part_of(struct tg_trace_span part)
{
    return tg_trace_span_is(part, "AIV0")   ? TG_PART_AIV0
           : tg_trace_span_is(part, "AIV1") ? TG_PART_AIV1
                                            : TG_PART_AIC;
}

/* Which cores may run the kernel, as far as this slice shows. */
static uint32_t kind_of(const struct tg_trace_reader *reader, const struct tg_trace_lane *lane)
{
    uint32_t core = reader->timeline->core[lane->core].kind;
    if (reader->args.part.length == 0)
        return TG_CORE_KINDS;
    if (part_of(reader->args.part) == TG_PART_AIC)
        return TG_AIC;
    return core == TG_AIC ? TG_EITHER : TG_AIV;
}

static bool add_task(struct tg_trace_reader *reader, const struct tg_timeline_task *known)
{
    struct tg_timeline_task task = *known;
    if (reader->args.scope.length > 0)
        keep_text(reader, reader->args.scope, &task.scope);
    return !reader->no_memory && tg_timeline_add_task(reader->timeline, &task);
}

static bool add_part(struct tg_trace_reader *reader, const struct tg_trace_lane *lane,
                     uint64_t time)
{
    struct tg_trace_args *args = &reader->args;
    struct tg_timeline_part part = tg_timeline_part_of(args->id);
    struct tg_timeline_task task = tg_timeline_task_of(args->id);
    char kernel[TG_NAME_MAX + 1];
    size_t length = args->kernel.length < TG_NAME_MAX ? args->kernel.length : TG_NAME_MAX;
    if (length > 0)
        memcpy(kernel, args->kernel.text, length);
    kernel[length] = '\0';
    part.begin = time;
    part.core = lane->core;
    part.part = part_of(args->part);
    part.flags = (uint8_t)((args->is_partial ? TG_TIMELINE_PARTIAL : 0) |
                           (args->no_begin ? TG_TIMELINE_NO_BEGIN : 0));
    uint32_t kind = kind_of(reader, lane);
    part.kernel = tg_timeline_add_kernel(reader->timeline, TG_TIMELINE_NONE, kind, kernel);
    if (part.kernel == TG_TIMELINE_NONE)
        return false;
    if (kind == TG_EITHER)
        reader->timeline->kernel[part.kernel].kind = TG_EITHER;
    if (args->wait_ns <= time)
        task.ready = time - args->wait_ns;
    for (size_t i = 0; i < args->n_after; i++)
        if (!tg_timeline_add_edge(reader->timeline, args->after[i], args->id))
            return false;
    reader->has_edges |= args->n_after > 0;
    return add_task(reader, &task) && tg_timeline_add_part(reader->timeline, &part);
}

static bool add_submit(struct tg_trace_reader *reader, uint64_t time)
{
    struct tg_timeline_task task = tg_timeline_task_of(reader->args.id);
    task.submit_begin = time;
    reader->has_submits = true;
    return add_task(reader, &task);
}

static bool add_wait(struct tg_trace_reader *reader, uint64_t time)
{
    struct tg_timeline_wait wait = {
        .begin = time, .end = TG_TIME_UNKNOWN, .task = reader->args.id, .cause = ""};
    if (reader->args.resource.length > 0)
        keep_text(reader, reader->args.resource, &wait.cause);
    return !reader->no_memory && tg_timeline_add_wait(reader->timeline, &wait);
}

/* Adds what the slice is to the timeline, and says where. */
static struct tg_trace_open open_slice(struct tg_trace_reader *reader,
                                       const struct tg_trace_lane *lane,
                                       struct tg_trace_span category, struct tg_trace_span name,
                                       uint64_t time)
{
    struct tg_timeline *timeline = reader->timeline;
    struct tg_trace_open open = {.what = TG_OPEN_OTHER};
    bool good = true;
    if (lane->kind == TG_LANE_IS_RUN) {
        timeline->facts.start = time;
        open.what = TG_OPEN_RUN;
    } else if (lane->kind == TG_LANE_IS_CORE && reader->args.id != TG_TASK_NONE) {
        open = (struct tg_trace_open){TG_OPEN_PART, timeline->n_parts};
        good = add_part(reader, lane, time);
    } else if (lane->kind == TG_LANE_IS_ORCHESTRATOR && tg_trace_span_is(name, "submit") &&
               reader->args.id != TG_TASK_NONE) {
        open = (struct tg_trace_open){TG_OPEN_SUBMIT, timeline->n_tasks};
        good = add_submit(reader, time);
    } else if (lane->kind == TG_LANE_IS_ORCHESTRATOR && begins_with(name, "wait") &&
               tg_trace_span_is(category, "orchestrator")) {
        open = (struct tg_trace_open){TG_OPEN_WAIT, timeline->n_waits};
        good = add_wait(reader, time);
    }
    reader->no_memory |= !good;
    return open;
}

void tg_trace_reader_begin(struct tg_trace_reader *reader, uint64_t key,
                           struct tg_trace_span category, struct tg_trace_span name, uint64_t time)
{
    struct tg_trace_lane *lane = find_lane(reader, key);
    if (is_over(reader))
        return;
    if (!lane || lane->depth == MOST_DEPTH) {
        reader->problem = lane ? "slices are nested too deep" : "a slice has no track";
        return;
    }
    struct tg_trace_open open = open_slice(reader, lane, category, name, time);
    if (!tg_grow(&lane->open, &lane->room, lane->depth + 1, sizeof open))
        reader->no_memory = true;
    if (!reader->no_memory)
        lane->open[lane->depth++] = open;
}

void tg_trace_reader_end(struct tg_trace_reader *reader, uint64_t key, uint64_t time)
{
    struct tg_timeline *timeline = reader->timeline;
    struct tg_trace_lane *lane = find_lane(reader, key);
    if (is_over(reader))
        return;
    if (!lane || lane->depth == 0) {
        reader->problem = "a slice ends that has not begun";
        return;
    }
    struct tg_trace_open open = lane->open[--lane->depth];
    switch (open.what) {
    case TG_OPEN_PART:
        timeline->part[open.index].end = time;
        break;
    case TG_OPEN_SUBMIT:
        timeline->task[open.index].submit = time;
        break;
    case TG_OPEN_WAIT:
        timeline->wait[open.index].end = time;
        break;
    case TG_OPEN_RUN:
        timeline->facts.end = time;
        break;
    default:
        break;
    }
}

/* --- the whole ------------------------------------------------------------------------------- */

static tg_status conclude(const struct tg_trace_reader *reader, const char *name, uint64_t at,
                          struct tg_error *error)
{
    if (reader->no_memory)
        return tg_file_no_memory(error);
    if (!reader->is_ours)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "'%s' is not a trace that Taskglass wrote, so it does not say which "
                            "tasks there were",
                            name);
    if (reader->ranks > 0) /* tasks of different ranks have the same numbers */
        return tg_error_set(
            error, TG_UNSUPPORTED,
            "'%s' is the trace of %llu ranks together; give that of one rank, in its "
            "folder of the run's directory",
            name, (unsigned long long)reader->ranks);
    const char *problem = reader->problem;
    if (!problem && reader->timeline->facts.end == TG_TIME_UNKNOWN)
        problem = "the file ends before the run does"; /* its end is what a writer writes last */
    if (problem)
        return tg_error_set(error, TG_BAD_ARGUMENT, "'%s' is damaged at byte %llu: %s", name,
                            (unsigned long long)at, problem);
    return TG_OK;
}

static tg_status finish(struct tg_trace_reader *reader, struct tg_error *error)
{
    struct tg_timeline_facts *facts = &reader->timeline->facts;
    facts->source = "trace";
    facts->host_built = !reader->has_submits;
    facts->has_edges = reader->has_edges || !reader->of_recording;
    return tg_timeline_finish(reader->timeline, error);
}

static bool is_json(const struct tg_map *map)
{
    size_t at = 0;
    while (at < map->size && (map->bytes[at] == ' ' || map->bytes[at] == '\n' ||
                              map->bytes[at] == '\r' || map->bytes[at] == '\t'))
        at++;
    return at < map->size && (map->bytes[at] == '{' || map->bytes[at] == '[');
}

tg_status tg_timeline_read_bytes(const struct tg_map *map, const char *name,
                                 struct tg_timeline *timeline, struct tg_error *error)
{
    struct tg_trace_reader reader;
    uint64_t at = 0;
    tg_timeline_start(timeline);
    tg_trace_reader_start(&reader, timeline);
    if (is_json(map))
        tg_trace_read_chrome(&reader, map, &at);
    else
        tg_trace_read_perfetto(&reader, map, &at);
    tg_status status = conclude(&reader, name, at, error);
    if (status == TG_OK)
        status = finish(&reader, error);
    tg_trace_reader_free(&reader);
    if (status != TG_OK)
        tg_timeline_free(timeline);
    return status;
}

tg_status tg_timeline_read_file(const char *path, struct tg_timeline *timeline,
                                struct tg_error *error)
{
    struct tg_map map;
    int cause = tg_map_open(path, TG_LINKS_FOLLOW, &map);
    if (cause != 0) {
        (void)tg_file_error(error, "read", path, cause);
        return tg_cause_is_fault(cause) ? TG_IO_ERROR
                                        : tg_error_set(error, TG_NOT_FOUND, "cannot read '%s': %s",
                                                       path, tg_cause_text(cause));
    }
    tg_status status = tg_timeline_read_bytes(&map, path, timeline, error);
    struct tg_error lost;
    if (tg_map_report(&map, path, &lost) != TG_OK) {
        if (status == TG_OK)
            tg_timeline_free(timeline);
        status = tg_error_set(error, lost.status, "%s", lost.text);
    }
    tg_map_close(&map);
    return status;
}
