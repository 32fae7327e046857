/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the samples, line by line. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json_pull.h"
#include "base/names.h"
#include "scope/scope_parse.h"

/* The reader releases mapped memory after every so many bytes. */
enum { LET_GO = 16 << 20, LONG_NAME = 4096 };

/* The keys of a line whose values are numbers, then the other required keys. */
enum key {
    DEPTH,
    RING,
    TASK_WINDOW_START,
    TASK_WINDOW_END,
    HEAP_START,
    HEAP_END,
    DEP_POOL_START,
    DEP_POOL_END,
    TENSORMAP,
    NUMBERS, /* how many of them */
    PHASE = NUMBERS,
    SITE,
    PEAK, /* the keys from here on may be missing */
    WAITS,
    ASKED,
    INNER,
    FANIN_START,
    FANIN_END,
    FANIN_POOL_START,
    FANIN_POOL_END,
    KEYS
};

static const char *const keys[KEYS] = {
    "depth",           "ring",         "task_window_start",
    "task_window_end", "heap_start",   "heap_end",
    "dep_pool_start",  "dep_pool_end", "tensormap",
    "phase",           "site",         "peak",
    "waits",           "asked",        "rings",
    "fanin_start",     "fanin_end",    "fanin_pool_start",
    "fanin_pool_end",
};

struct reading {
    const char *name;
    struct tg_scope_stats *stats;
    tg_scope_sample_fn each;
    void *context;
    struct tg_pull pull; /* of one line */
    uint64_t line;
    enum key expected; /* guess for the next key: lines have their keys in the same order */
    char problem[200];
};

/* --- errors --------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static bool wrong(struct reading *reading, const char *format,
                                                        ...)
{
    va_list values;
    va_start(values, format);
    (void)vsnprintf(reading->problem, sizeof reading->problem, format, values);
    va_end(values);
    return false;
}

/* Reports a syntax error of the JSON itself first. */
static bool wrong_value(struct reading *reading, const char *key, const char *wanted)
{
    if (reading->pull.problem)
        return wrong(reading, "%s", reading->pull.problem);
    return wrong(reading, "'%s' is not %s", key, wanted);
}

static tg_status say(const struct reading *reading, struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT, "'%s', line %llu: %s", reading->name,
                        (unsigned long long)reading->line, reading->problem);
}

/* --- one value ------------------------------------------------------------------------------- */

static bool read_number(struct reading *reading, const char *key, uint64_t *number)
{
    tg_pull_next(&reading->pull);
    return tg_pull_u64(&reading->pull, number) ||
           wrong_value(reading, key, "a whole number of 64 bits");
}

static bool read_four(struct reading *reading, const char *key, uint64_t four[TG_SCOPE_RINGS])
{
    struct tg_pull *pull = &reading->pull;
    int n = 0;
    if (tg_pull_next(pull) != TG_PULL_BEGIN_ARRAY)
        return wrong_value(reading, key, "a list of numbers");
    for (; tg_pull_next(pull) != TG_PULL_END_ARRAY; n++)
        if (n == TG_SCOPE_RINGS || !tg_pull_u64(pull, &four[n]))
            return wrong_value(reading, key, "a list of up to four whole numbers");
    return true;
}

static bool read_flag(struct reading *reading, const char *key, bool *flag)
{
    enum tg_pull_token token = tg_pull_next(&reading->pull);
    *flag = token == TG_PULL_TRUE;
    return *flag || token == TG_PULL_FALSE || wrong_value(reading, key, "true or false");
}

static bool skip_value(struct reading *reading)
{
    tg_pull_next(&reading->pull);
    return tg_pull_skip(&reading->pull) || wrong(reading, "%s", reading->pull.problem);
}

static bool ends_here(struct reading *reading)
{
    return tg_pull_next(&reading->pull) == TG_PULL_END ||
           wrong(reading, "%s", reading->pull.problem);
}

static bool begins_object(struct reading *reading, const char *what)
{
    if (tg_pull_next(&reading->pull) == TG_PULL_BEGIN_OBJECT)
        return true;
    return wrong(reading, "%s", reading->pull.problem ? reading->pull.problem : what);
}

/* --- the first line -------------------------------------------------------------------------- */

enum { SEEN_VERSION = 1, SEEN_LIMITS = 2 };

/* One number of an object whose other members are skipped. */
struct member {
    const char *name;
    uint64_t *number;
};

static bool read_members(struct reading *reading, const char *key, const struct member *members,
                         size_t n)
{
    if (tg_pull_next(&reading->pull) != TG_PULL_BEGIN_OBJECT)
        return wrong_value(reading, key, "an object");
    while (tg_pull_next(&reading->pull) == TG_PULL_KEY) {
        size_t i = 0;
        while (i < n && !tg_pull_is(&reading->pull, members[i].name))
            i++;
        if (i < n ? !read_number(reading, members[i].name, members[i].number)
                  : !skip_value(reading))
            return false;
    }
    return !reading->pull.problem || wrong(reading, "%s", reading->pull.problem);
}

static bool read_memory(struct reading *reading, struct tg_scope_memory *memory)
{
    const struct member members[] = {{"size", &memory->size},
                                     {"used", &memory->used},
                                     {"per_task", &memory->task},
                                     {"per_dep", &memory->dep},
                                     {"per_entry", &memory->entry}};
    return read_members(reading, "device_memory", members, sizeof members / sizeof members[0]);
}

static bool read_head_value(struct reading *reading, unsigned *seen)
{
    struct tg_scope_stats *stats = reading->stats;
    struct tg_scope_limits *limits = &stats->tally.limits;
    const struct tg_pull *pull = &reading->pull;
    uint64_t version = 0;
    if (tg_pull_is(pull, "version")) {
        *seen |= SEEN_VERSION;
        if (!read_number(reading, "version", &version))
            return false;
        return version == TG_SCOPE_VERSION ||
               wrong(reading, "version %llu; this program reads version %d",
                     (unsigned long long)version, TG_SCOPE_VERSION);
    }
    if (tg_pull_is(pull, "fatal"))
        return read_flag(reading, "fatal", &stats->fatal);
    if (tg_pull_is(pull, "dropped"))
        return read_number(reading, "dropped", &stats->dropped);
    if (tg_pull_is(pull, "total"))
        return read_number(reading, "total", &stats->total);
    if (tg_pull_is(pull, "task_window_max")) {
        *seen |= SEEN_LIMITS;
        return read_four(reading, "task_window_max", limits->task_window);
    }
    if (tg_pull_is(pull, "heap_max"))
        return read_four(reading, "heap_max", limits->heap);
    if (tg_pull_is(pull, "dep_pool_max"))
        return read_four(reading, "dep_pool_max", limits->dep_pool);
    if (tg_pull_is(pull, "tensormap_max"))
        return read_number(reading, "tensormap_max", &limits->tensormap);
    if (tg_pull_is(pull, "fanin_max") || tg_pull_is(pull, "fanin_pool_max")) {
        stats->has_fanin = true;
        return read_four(reading, "fanin_max", limits->fanin);
    }
    if (tg_pull_is(pull, "no_rings"))
        return read_flag(reading, "no_rings", &limits->no_rings);
    if (tg_pull_is(pull, "device_memory"))
        return read_memory(reading, &limits->memory);
    return skip_value(reading);
}

/* The file gives the sizes of the rings, but not their number. */
static uint32_t count_rings(const struct tg_scope_limits *limits)
{
    uint32_t n = 0;
    for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++)
        if (limits->task_window[ring] || limits->heap[ring] || limits->dep_pool[ring])
            n = ring + 1;
    return n;
}

static bool read_head(struct reading *reading)
{
    struct tg_scope_limits *limits = &reading->stats->tally.limits;
    unsigned seen = 0;
    if (!begins_object(reading, "not the metadata of scope stats"))
        return false;
    while (tg_pull_next(&reading->pull) == TG_PULL_KEY)
        if (!read_head_value(reading, &seen))
            return false;
    if (reading->pull.problem)
        return wrong(reading, "%s", reading->pull.problem);
    if (!(seen & SEEN_VERSION) || !(seen & SEEN_LIMITS))
        return wrong(reading,
                     "not the metadata of scope stats: 'version' and 'task_window_max' belong "
                     "there");
    limits->n_rings = count_rings(limits);
    return ends_here(reading);
}

/* --- a sample -------------------------------------------------------------------------------- */

static enum key find_key(struct reading *reading)
{
    enum key at = reading->expected;
    for (int i = 0; i < KEYS; i++, at = at + 1 == KEYS ? 0 : at + 1)
        if (tg_pull_is(&reading->pull, keys[at])) {
            reading->expected = at + 1 == KEYS ? 0 : at + 1;
            return at;
        }
    return KEYS;
}

static bool read_phase(struct reading *reading, bool *end)
{
    const struct tg_pull *pull = &reading->pull;
    bool is_string = tg_pull_next(&reading->pull) == TG_PULL_STRING;
    *end = is_string && tg_pull_is(pull, "end");
    return *end || (is_string && tg_pull_is(pull, "begin")) ||
           wrong_value(reading, "phase", "\"begin\" or \"end\"");
}

static bool read_site(struct reading *reading, uint32_t *site)
{
    char text[LONG_NAME];
    const char *name = text;
    if (tg_pull_next(&reading->pull) != TG_PULL_STRING)
        return wrong_value(reading, "site", "a text");
    size_t length = reading->pull.length;
    if (length < sizeof text)
        length = tg_pull_text(&reading->pull, text, sizeof text);
    else
        name = reading->pull.value; /* as it is in the file: only its end is shown */
    return tg_scope_tally_site(&reading->stats->tally, name, length, site) ||
           wrong(reading, "out of memory");
}

/* Reads a number for each resource, and one more member if `name` is not NULL. */
static bool read_resources(struct reading *reading, const char *key, uint64_t *of, unsigned n,
                           const char *name, uint64_t *more)
{
    struct member members[TG_SCOPE_RESOURCES + 1];
    for (unsigned resource = 0; resource < n; resource++)
        members[resource] = (struct member){tg_scope_resource_name(resource), &of[resource]};
    if (name)
        members[n] = (struct member){name, more};
    return read_members(reading, key, members, n + (name != NULL));
}

/* The peaks of the rings that scopes inside the scope used: {"1": {"task_window": 5, …}}. */
static bool read_rings(struct reading *reading, struct tg_scope_sample *sample)
{
    static const char *const names[TG_SCOPE_RINGS] = {"0", "1", "2", "3"};
    if (tg_pull_next(&reading->pull) != TG_PULL_BEGIN_OBJECT)
        return wrong_value(reading, "rings", "an object");
    while (tg_pull_next(&reading->pull) == TG_PULL_KEY) {
        uint32_t ring = 0;
        while (ring < TG_SCOPE_RINGS && !tg_pull_is(&reading->pull, names[ring]))
            ring++;
        if (ring == TG_SCOPE_RINGS ? !skip_value(reading)
                                   : !read_resources(reading, "rings", sample->ring_peak[ring],
                                                     TG_SCOPE_TENSORMAP, NULL, NULL))
            return false;
        if (ring < TG_SCOPE_RINGS)
            sample->rings |= 1u << ring;
    }
    return !reading->pull.problem || wrong(reading, "%s", reading->pull.problem);
}

/* What tasks asked for: {"dep_pool": [5, 0, 0, 0], "tensormap": 6}. */
static bool read_asked(struct reading *reading, struct tg_scope_sample *sample)
{
    if (tg_pull_next(&reading->pull) != TG_PULL_BEGIN_OBJECT)
        return wrong_value(reading, "asked", "an object");
    while (tg_pull_next(&reading->pull) == TG_PULL_KEY) {
        bool good = tg_pull_is(&reading->pull, "dep_pool")
                        ? read_four(reading, "dep_pool", sample->asked_dep_pool)
                    : tg_pull_is(&reading->pull, "tensormap")
                        ? read_number(reading, "tensormap", &sample->asked_tensormap)
                        : skip_value(reading);
        if (!good)
            return false;
    }
    return !reading->pull.problem || wrong(reading, "%s", reading->pull.problem);
}

struct line {
    uint64_t number[NUMBERS];
    uint32_t seen; /* bit k: key k */
    uint32_t site;
    struct tg_scope_sample sample; /* what the keys besides the numbers say */
};

static bool read_line_value(struct reading *reading, struct line *line)
{
    enum key key = find_key(reading);
    if (key == KEYS)
        return skip_value(reading);
    line->seen |= 1u << key;
    struct tg_scope_sample *sample = &line->sample;
    switch (key) {
    case PHASE:
        return read_phase(reading, &sample->end);
    case SITE:
        return read_site(reading, &line->site);
    case PEAK:
        return read_resources(reading, "peak", sample->peak, TG_SCOPE_RESOURCES, NULL, NULL);
    case WAITS:
        sample->waits_known = true;
        return read_resources(reading, "waits", sample->waits, TG_SCOPE_RESOURCES, "nanoseconds",
                              &sample->wait_ns);
    case ASKED:
        return read_asked(reading, sample);
    case INNER:
        return read_rings(reading, sample);
    case FANIN_START:
    case FANIN_POOL_START:
        return read_number(reading, keys[key], &sample->fanin_start);
    case FANIN_END:
    case FANIN_POOL_END:
        reading->stats->has_fanin = true;
        return read_number(reading, keys[key], &sample->fanin_end);
    default:
        return read_number(reading, keys[key], &line->number[key]);
    }
}

/* Every key before the peak is required. */
static bool check_keys(struct reading *reading, const struct line *line)
{
    for (int key = 0; key < PEAK; key++)
        if (!(line->seen >> key & 1))
            return wrong(reading, "a sample without '%s'", keys[key]);
    return true;
}

static bool check_cursors(struct reading *reading, const struct line *line)
{
    for (int key = TASK_WINDOW_START; key < TENSORMAP; key += 2)
        if (line->number[key] > line->number[key + 1])
            return wrong(reading, "'%s' is after '%s'", keys[key], keys[key + 1]);
    if (line->sample.fanin_start > line->sample.fanin_end)
        return wrong(reading, "'fanin_start' is after 'fanin_end'");
    if (line->number[RING] >= TG_SCOPE_RINGS)
        return wrong(reading, "ring %llu; there are 0 to %d",
                     (unsigned long long)line->number[RING], TG_SCOPE_RINGS - 1);
    if (line->number[DEPTH] > INT32_MAX)
        return wrong(reading, "a depth of %llu", (unsigned long long)line->number[DEPTH]);
    return true;
}

static struct tg_scope_sample to_sample(const struct line *line)
{
    struct tg_scope_sample sample = line->sample;
    sample.depth = (uint32_t)line->number[DEPTH];
    sample.ring = (uint32_t)line->number[RING];
    sample.task_window_start = line->number[TASK_WINDOW_START];
    sample.task_window_end = line->number[TASK_WINDOW_END];
    sample.heap_start = line->number[HEAP_START];
    sample.heap_end = line->number[HEAP_END];
    sample.dep_pool_start = line->number[DEP_POOL_START];
    sample.dep_pool_end = line->number[DEP_POOL_END];
    sample.tensormap = line->number[TENSORMAP];
    return sample;
}

static bool read_sample(struct reading *reading)
{
    struct tg_scope_stats *stats = reading->stats;
    struct line line = {0};
    uint64_t index = stats->tally.samples;
    if (!begins_object(reading, "not a sample"))
        return false;
    reading->expected = SITE;
    while (tg_pull_next(&reading->pull) == TG_PULL_KEY)
        if (!read_line_value(reading, &line))
            return false;
    if (reading->pull.problem)
        return wrong(reading, "%s", reading->pull.problem);
    if (!ends_here(reading) || !check_keys(reading, &line) || !check_cursors(reading, &line))
        return false;
    struct tg_scope_sample sample = to_sample(&line);
    if (!tg_scope_tally_add(&stats->tally, line.site, &sample))
        return wrong(reading, "out of memory");
    sample.site = stats->tally.site[line.site].name;
    stats->ends_with_peak += sample.end && line.seen >> PEAK & 1;
    return !reading->each || reading->each(reading->context, index, line.site, &sample) ||
           wrong(reading, "out of memory");
}

/* --- the file -------------------------------------------------------------------------------- */

static bool is_blank(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
            return false;
    return true;
}

/* The end of the line that begins there: its newline, or the end of the file. */
static size_t line_end(const char *text, size_t begin, size_t size)
{
    const char *newline = memchr(text + begin, '\n', size - begin);
    return newline ? (size_t)(newline - text) : size;
}

static bool read_lines(struct reading *reading, const struct tg_map *map)
{
    const char *text = (const char *)map->bytes;
    size_t let_go = LET_GO;
    if (map->size == 0) {
        reading->line = 1;
        return wrong(reading, "the file is empty");
    }
    for (size_t begin = 0, end; begin < map->size; begin = end + 1) {
        end = line_end(text, begin, map->size);
        reading->line++;
        if (reading->line > 1 && is_blank(text + begin, end - begin))
            continue;
        tg_pull_start(&reading->pull, text + begin, end - begin);
        if (reading->line == 1 ? !read_head(reading) : !read_sample(reading)) {
            /* The host died while it wrote this line, so its JSON is cut short. */
            reading->stats->torn =
                reading->line > 1 && end == map->size && reading->pull.problem != NULL;
            return reading->stats->torn;
        }
        if (begin > let_go) {
            tg_map_let_go(map, begin);
            let_go = begin + LET_GO;
        }
    }
    return true;
}

tg_status tg_scope_parse_samples(const char *name, const struct tg_map *map,
                                 tg_scope_sample_fn each, void *context,
                                 struct tg_scope_stats *stats, struct tg_error *error)
{
    static const struct tg_scope_limits none;
    struct reading reading = {.name = name, .stats = stats, .each = each, .context = context};
    memset(stats, 0, sizeof *stats);
    tg_scope_tally_init(&stats->tally, &none);
    return read_lines(&reading, map) ? TG_OK : say(&reading, error);
}

tg_status tg_scope_stats_parse(const char *name, const void *bytes, size_t size,
                               tg_scope_sample_fn each, void *context, struct tg_scope_stats *stats,
                               struct tg_error *error)
{
    struct tg_map map = {.bytes = bytes, .size = size};
    tg_status status = tg_scope_parse_samples(name, &map, each, context, stats, error);
    tg_scope_tally_end(&stats->tally);
    return status;
}
