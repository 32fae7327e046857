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
enum { LET_GO = 16 << 20 };

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
    PEAK,
    KEYS
};

static const char *const keys[KEYS] = {
    "depth",    "ring",           "task_window_start", "task_window_end", "heap_start",
    "heap_end", "dep_pool_start", "dep_pool_end",      "tensormap",       "phase",
    "site",     "peak",
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
    char text[TG_NAME_MAX + 1];
    if (tg_pull_next(&reading->pull) != TG_PULL_STRING)
        return wrong_value(reading, "site", "a text");
    size_t length = tg_pull_text(&reading->pull, text, sizeof text);
    return tg_scope_tally_site(&reading->stats->tally, text, length, site) ||
           wrong(reading, "out of memory");
}

static bool read_peak(struct reading *reading, uint64_t peak[TG_SCOPE_RESOURCES])
{
    unsigned resource;
    if (tg_pull_next(&reading->pull) != TG_PULL_BEGIN_OBJECT)
        return wrong_value(reading, "peak", "an object");
    while (tg_pull_next(&reading->pull) == TG_PULL_KEY) {
        for (resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
            if (tg_pull_is(&reading->pull, tg_scope_resource_name(resource)))
                break;
        if (resource < TG_SCOPE_RESOURCES
                ? !read_number(reading, tg_scope_resource_name(resource), &peak[resource])
                : !skip_value(reading))
            return false;
    }
    return !reading->pull.problem || wrong(reading, "%s", reading->pull.problem);
}

struct line {
    uint64_t number[NUMBERS];
    uint32_t seen; /* bit k: key k */
    uint32_t site;
    bool end;
    uint64_t peak[TG_SCOPE_RESOURCES];
};

static bool read_line_value(struct reading *reading, struct line *line)
{
    enum key key = find_key(reading);
    if (key == KEYS)
        return skip_value(reading);
    line->seen |= 1u << key;
    switch (key) {
    case PHASE:
        return read_phase(reading, &line->end);
    case SITE:
        return read_site(reading, &line->site);
    case PEAK:
        return read_peak(reading, line->peak);
    default:
        return read_number(reading, keys[key], &line->number[key]);
    }
}

/* Every key is required except the peak. */
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
    if (line->number[RING] >= TG_SCOPE_RINGS)
        return wrong(reading, "ring %llu; there are 0 to %d",
                     (unsigned long long)line->number[RING], TG_SCOPE_RINGS - 1);
    if (line->number[DEPTH] > INT32_MAX)
        return wrong(reading, "a depth of %llu", (unsigned long long)line->number[DEPTH]);
    return true;
}

static struct tg_scope_sample to_sample(const struct line *line)
{
    struct tg_scope_sample sample = {.end = line->end,
                                     .depth = (uint32_t)line->number[DEPTH],
                                     .ring = (uint32_t)line->number[RING],
                                     .task_window_start = line->number[TASK_WINDOW_START],
                                     .task_window_end = line->number[TASK_WINDOW_END],
                                     .heap_start = line->number[HEAP_START],
                                     .heap_end = line->number[HEAP_END],
                                     .dep_pool_start = line->number[DEP_POOL_START],
                                     .dep_pool_end = line->number[DEP_POOL_END],
                                     .tensormap = line->number[TENSORMAP]};
    memcpy(sample.peak, line->peak, sizeof sample.peak);
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
    stats->ends_with_peak += line.end && line.seen >> PEAK & 1;
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
