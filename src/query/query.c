/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/query.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/words.h"

/* Both inclusive. */
struct span {
    uint64_t first, last;
};

struct spans {
    struct span *at; /* in order, without overlap */
    size_t count, room;
};

/* A query of all zeros selects everything. */
struct tg_query {
    struct spans task, index, arg;
    uint32_t stages; /* bit s: enum tg_stage s; 0: any */
    uint32_t roles;  /* bit r: enum tg_role r; bit 0: scalars */
    uint32_t kinds;  /* bit k: enum tg_kind k */
    char **kernel;   /* comma lists of patterns, owned */
    size_t n_kernels, room;
};

/* The options that a query takes. `parse` or `bit_of` says which kind of member the words go to;
 * kernels have neither. */
struct option {
    const char *name, *right;
    size_t member;
    tg_word_parse_fn parse;
    uint32_t (*bit_of)(struct tg_word);
};
static const struct option options[] = {
    {"task", "ids (12, 0x10000000c, 1:12), ranges (1:0-1:99) and lists",
     offsetof(struct tg_query, task), tg_word_task, NULL},
    {"index", "numbers, ranges (0-99) and lists (1,5,7)", offsetof(struct tg_query, index),
     tg_word_number, NULL},
    {"arg", "numbers, ranges (0-2) and lists (0,3)", offsetof(struct tg_query, arg), tg_word_number,
     NULL},
    {"stage", "before, after and orchestration", offsetof(struct tg_query, stages), NULL,
     tg_word_stage},
    {"role", "in, out, inout and scalar", offsetof(struct tg_query, roles), NULL, tg_word_role},
    {"kind", "tensor and scalar", offsetof(struct tg_query, kinds), NULL, tg_word_kind},
    {"kernel", "names, with * for any characters, and numbers", offsetof(struct tg_query, kernel),
     NULL, NULL},
};

static const struct option *find_option(const char *name)
{
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (strcmp(options[i].name, name) == 0)
            return &options[i];
    return NULL;
}

static void *member_of(struct tg_query *query, const struct option *option)
{
    return (char *)query + option->member;
}

static const void *peek(const struct tg_query *query, const struct option *option)
{
    return (const char *)query + option->member;
}

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory for the query");
}

static tg_status bad_word(struct tg_word word, const struct option *option, struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT, "--%s: '%.*s' is not a valid %s; it takes %s",
                        option->name, (int)(word.length < 60 ? word.length : 60), word.text,
                        option->name, option->right);
}

/* --- adding ------------------------------------------------------------------------------------ */

static int by_first(const void *a, const void *b)
{
    const struct span *left = a, *right = b;
    return (left->first > right->first) - (left->first < right->first);
}

/* Sorts the spans and joins those that overlap, so that find_span can use a binary search. */
static void put_in_order(struct spans *spans)
{
    size_t kept = 0;
    qsort(spans->at, spans->count, sizeof spans->at[0], by_first);
    for (size_t i = 1; i < spans->count; i++) {
        struct span *last = &spans->at[kept];
        if (spans->at[i].first > last->last)
            spans->at[++kept] = spans->at[i];
        else if (spans->at[i].last > last->last)
            last->last = spans->at[i].last;
    }
    spans->count = kept + 1;
}

static size_t commas(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == ',';
    return count;
}

static tg_status add_spans(struct spans *spans, const struct option *option, const char *text,
                           struct tg_error *error)
{
    struct tg_word rest = tg_word_of(text), word;
    if (!tg_grow(&spans->at, &spans->room, spans->count + commas(text) + 1, sizeof *spans->at))
        return no_memory(error);
    while (tg_word_next(&rest, ',', &word)) {
        struct span *span = &spans->at[spans->count];
        if (!tg_word_range(word, option->parse, &span->first, &span->last))
            return bad_word(word, option, error);
        spans->count++;
    }
    put_in_order(spans);
    return TG_OK;
}

static tg_status add_bits(uint32_t *bits, const struct option *option, const char *text,
                          struct tg_error *error)
{
    struct tg_word rest = tg_word_of(text), word;
    while (tg_word_next(&rest, ',', &word)) {
        uint32_t bit = option->bit_of(word);
        if (bit == 0)
            return bad_word(word, option, error);
        *bits |= bit;
    }
    return TG_OK;
}

static tg_status add_kernels(struct tg_query *query, const struct option *option, const char *text,
                             struct tg_error *error)
{
    struct tg_word rest = tg_word_of(text), word;
    if (!tg_grow(&query->kernel, &query->room, query->n_kernels + 1, sizeof *query->kernel))
        return no_memory(error);
    while (tg_word_next(&rest, ',', &word))
        if (word.length == 0)
            return bad_word(word, option, error);
    query->kernel[query->n_kernels] = strdup(text);
    if (!query->kernel[query->n_kernels])
        return no_memory(error);
    query->n_kernels++;
    return TG_OK;
}

tg_status tg_query_create(struct tg_query **query, struct tg_error *error)
{
    TG_REFUSE_NULL(error, query);
    *query = calloc(1, sizeof **query);
    return *query ? TG_OK : no_memory(error);
}

tg_status tg_query_add(struct tg_query *query, const char *name, const char *text,
                       struct tg_error *error)
{
    TG_REFUSE_NULL(error, query);
    TG_REFUSE_NULL(error, name);
    TG_REFUSE_NULL(error, text);
    const struct option *option = find_option(name);
    if (!option)
        return tg_error_set(error, TG_NOT_FOUND, "records cannot be selected by '%s'", name);
    if (option->parse)
        return add_spans(member_of(query, option), option, text, error);
    if (option->bit_of)
        return add_bits(member_of(query, option), option, text, error);
    return add_kernels(query, option, text, error);
}

void tg_query_destroy(struct tg_query *query)
{
    if (!query)
        return;
    free(query->task.at);
    free(query->index.at);
    free(query->arg.at);
    for (size_t i = 0; i < query->n_kernels; i++)
        free(query->kernel[i]);
    free(query->kernel);
    free(query);
}

/* --- asking ------------------------------------------------------------------------------------ */

bool tg_query_is_empty(const struct tg_query *query)
{
    return !query || (query->task.count == 0 && query->index.count == 0 && query->arg.count == 0 &&
                      query->n_kernels == 0 && !query->stages && !query->roles && !query->kinds);
}

bool tg_query_get_range(const struct tg_query *query, const char *name, size_t number,
                        uint64_t *first, uint64_t *last)
{
    if (query == NULL || name == NULL || first == NULL || last == NULL)
        return false;
    const struct option *option = find_option(name);
    if (!query || !option || !option->parse)
        return false;
    const struct spans *spans = peek(query, option);
    if (number >= spans->count)
        return false;
    *first = spans->at[number].first;
    *last = spans->at[number].last;
    return true;
}

bool tg_query_has_word(const struct tg_query *query, const char *name, const char *word)
{
    if (query == NULL || name == NULL)
        return false;
    const struct option *option = find_option(name);
    if (!query || !option || !option->bit_of)
        return false;
    const uint32_t *bits = peek(query, option);
    return (word ? *bits & option->bit_of(tg_word_of(word)) : *bits) != 0;
}

/* --- matching ---------------------------------------------------------------------------------- */

/* The first span that does not end before the number; `count` if there is none. */
static size_t find_span(const struct spans *spans, uint64_t number)
{
    size_t low = 0, high = spans->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spans->at[middle].last < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool in_spans(const struct spans *spans, uint64_t number)
{
    size_t at = find_span(spans, number);
    return spans->count == 0 || (at < spans->count && spans->at[at].first <= number);
}

/* A kernel's name may begin with a digit, so a number is tried both as number and as name. */
static bool fits_kernel(struct tg_word pattern, const struct tg_entry *entry)
{
    uint64_t number;
    bool is_number = tg_word_number(pattern, &number);
    for (int part = 0; part < TG_PARTS; part++) {
        if (is_number && number < TG_NO_KERNEL && entry->record.kernel[part] == number)
            return true;
        if (entry->kernel[part] && tg_word_fits(pattern, entry->kernel[part]))
            return true;
    }
    return false;
}

static bool fits_kernels(const struct tg_query *query, const struct tg_entry *entry)
{
    for (size_t i = 0; i < query->n_kernels; i++) {
        struct tg_word rest = tg_word_of(query->kernel[i]), word;
        while (tg_word_next(&rest, ',', &word))
            if (fits_kernel(word, entry))
                return true;
    }
    return query->n_kernels == 0;
}

static bool has_bit(uint32_t bits, unsigned number)
{
    return bits == 0 || (number < 32 && bits >> number & 1);
}

bool tg_query_matches(const struct tg_query *query, uint64_t index, const struct tg_entry *entry)
{
    if (entry == NULL)
        return false;
    const struct tg_record *record = &entry->record;
    if (!query)
        return true;
    bool role =
        has_bit(query->roles, record->role) || (query->roles & 1 && record->kind == TG_KIND_SCALAR);
    return role && has_bit(query->stages, record->stage) && has_bit(query->kinds, record->kind) &&
           in_spans(&query->task, record->task_id) && in_spans(&query->arg, record->arg_index) &&
           in_spans(&query->index, index) && fits_kernels(query, entry);
}

/* Moves to the next index that --index names. Returns false if there is none. */
static bool skip_to_index(const struct tg_query *query, uint64_t *index)
{
    if (!query || query->index.count == 0)
        return true;
    const struct spans *spans = &query->index;
    size_t at = find_span(spans, *index);
    if (at == spans->count)
        return false;
    if (spans->at[at].first > *index)
        *index = spans->at[at].first;
    return true;
}

bool tg_query_next(const struct tg_query *query, const struct tg_recording *recording,
                   uint64_t *index, struct tg_entry *entry)
{
    if (recording == NULL || index == NULL || entry == NULL)
        return false;
    struct tg_recording_info info;
    tg_recording_get_info(recording, &info);
    for (; skip_to_index(query, index) && *index < info.records; (*index)++)
        if (tg_recording_get(recording, *index, entry) && tg_query_matches(query, *index, entry))
            return true;
    return false;
}

tg_status tg_query_check_index(const struct tg_query *query, const struct tg_recording *recording,
                               struct tg_error *error)
{
    struct tg_recording_info info;
    TG_REFUSE_NULL(error, recording);
    if (!query || query->index.count == 0)
        return TG_OK;
    uint64_t highest = query->index.at[query->index.count - 1].first;
    tg_recording_get_info(recording, &info);
    if (highest < info.records)
        return TG_OK;
    if (info.records == 0)
        return tg_error_set(error, TG_NOT_FOUND,
                            "there is no record %" PRIu64 "; the recording is empty", highest);
    return tg_error_set(error, TG_NOT_FOUND,
                        "there is no record %" PRIu64 "; the recording has 0 to %" PRIu64, highest,
                        info.records - 1);
}
