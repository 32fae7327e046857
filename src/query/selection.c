/* SPDX-License-Identifier: Apache-2.0 */
#include "query/selection.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/words.h"

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory for the selection");
}

static tg_status bad_word(struct tg_word word, const char *option, const char *right,
                          struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT, "--%s: '%.*s' is none; right are %s", option,
                        (int)(word.length < 60 ? word.length : 60), word.text, right);
}

static int by_first(const void *a, const void *b)
{
    const struct tg_span *left = a, *right = b;
    return (left->first > right->first) - (left->first < right->first);
}

/* In order and apart from each other, so that a search can halve them. */
static void put_in_order(struct tg_spans *spans)
{
    size_t kept = 0;
    qsort(spans->at, spans->count, sizeof spans->at[0], by_first);
    for (size_t i = 1; i < spans->count; i++) {
        struct tg_span *last = &spans->at[kept];
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

static tg_status add_spans(struct tg_spans *spans, tg_word_parse_fn parse, const char *option,
                           const char *text, const char *right, struct tg_error *error)
{
    struct tg_word rest = tg_word_of(text), word;
    size_t room = spans->count + commas(text) + 1;
    struct tg_span *at = realloc(spans->at, room * sizeof *at);
    if (!at)
        return no_memory(error);
    spans->at = at;
    while (tg_word_next(&rest, ',', &word)) {
        struct tg_span *span = &at[spans->count];
        if (!tg_word_range(word, parse, &span->first, &span->last))
            return bad_word(word, option, right, error);
        spans->count++;
    }
    put_in_order(spans);
    return TG_OK;
}

static tg_status add_bits(uint32_t *bits, uint32_t (*bit_of)(struct tg_word), const char *option,
                          const char *text, const char *right, struct tg_error *error)
{
    struct tg_word rest = tg_word_of(text), word;
    while (tg_word_next(&rest, ',', &word)) {
        uint32_t bit = bit_of(word);
        if (bit == 0)
            return bad_word(word, option, right, error);
        *bits |= bit;
    }
    return TG_OK;
}

static tg_status add_kernels(struct tg_selection *selection, const char *text,
                             struct tg_error *error)
{
    struct tg_word rest = tg_word_of(text), word;
    const char **kernel =
        realloc(selection->kernel, (selection->n_kernels + 1) * sizeof *selection->kernel);
    if (!kernel)
        return no_memory(error);
    selection->kernel = kernel;
    while (tg_word_next(&rest, ',', &word))
        if (word.length == 0)
            return bad_word(word, "kernel", "names, with * for any characters, and numbers", error);
    kernel[selection->n_kernels++] = text;
    return TG_OK;
}

tg_status tg_selection_add(struct tg_selection *selection, const char *option, const char *text,
                           struct tg_error *error)
{
    if (strcmp(option, "task") == 0)
        return add_spans(&selection->task, tg_word_task, option, text,
                         "ids (12, 0x10000000c, 1:12), ranges (1:0-1:99) and lists", error);
    if (strcmp(option, "index") == 0)
        return add_spans(&selection->index, tg_word_number, option, text,
                         "numbers, ranges (0-99) and lists (1,5,7)", error);
    if (strcmp(option, "arg") == 0)
        return add_spans(&selection->arg, tg_word_number, option, text,
                         "numbers, ranges (0-2) and lists (0,3)", error);
    if (strcmp(option, "stage") == 0)
        return add_bits(&selection->stages, tg_word_stage, option, text,
                        "before, after and orchestration", error);
    if (strcmp(option, "role") == 0)
        return add_bits(&selection->roles, tg_word_role, option, text, "in, out, inout and scalar",
                        error);
    if (strcmp(option, "kind") == 0)
        return add_bits(&selection->kinds, tg_word_kind, option, text, "tensor and scalar", error);
    if (strcmp(option, "kernel") == 0)
        return add_kernels(selection, text, error);
    return tg_error_set(error, TG_NOT_FOUND, "records cannot be selected by '%s'", option);
}

void tg_selection_free(struct tg_selection *selection)
{
    free(selection->task.at);
    free(selection->index.at);
    free(selection->arg.at);
    free(selection->kernel);
    *selection = (struct tg_selection){0};
}

bool tg_selection_is_empty(const struct tg_selection *selection)
{
    return selection->task.count == 0 && selection->index.count == 0 && selection->arg.count == 0 &&
           selection->n_kernels == 0 && !selection->stages && !selection->roles &&
           !selection->kinds;
}

/* The first span that does not end before the number; `count` where there is none. */
static size_t find_span(const struct tg_spans *spans, uint64_t number)
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

static bool in_spans(const struct tg_spans *spans, uint64_t number)
{
    size_t at = find_span(spans, number);
    return spans->count == 0 || (at < spans->count && spans->at[at].first <= number);
}

/* A number may also be the beginning of a name: both are tried. */
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

static bool fits_kernels(const struct tg_selection *selection, const struct tg_entry *entry)
{
    for (size_t i = 0; i < selection->n_kernels; i++) {
        struct tg_word rest = tg_word_of(selection->kernel[i]), word;
        while (tg_word_next(&rest, ',', &word))
            if (fits_kernel(word, entry))
                return true;
    }
    return selection->n_kernels == 0;
}

static bool has_bit(uint32_t bits, unsigned number)
{
    return bits == 0 || (number < 32 && bits >> number & 1);
}

bool tg_selection_match(const struct tg_selection *selection, uint64_t index,
                        const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    bool role = has_bit(selection->roles, record->role) ||
                (selection->roles & 1 && record->kind == TG_KIND_SCALAR);
    return role && has_bit(selection->stages, record->stage) &&
           has_bit(selection->kinds, record->kind) && in_spans(&selection->task, record->task_id) &&
           in_spans(&selection->arg, record->arg_index) && in_spans(&selection->index, index) &&
           fits_kernels(selection, entry);
}

/* Moves on to what --index has; false where it has nothing more. */
static bool skip_to_index(const struct tg_spans *spans, uint64_t *index)
{
    if (spans->count == 0)
        return true;
    size_t at = find_span(spans, *index);
    if (at == spans->count)
        return false;
    if (spans->at[at].first > *index)
        *index = spans->at[at].first;
    return true;
}

bool tg_selection_next(const struct tg_selection *selection, const struct tg_recording *recording,
                       uint64_t *index, struct tg_entry *entry)
{
    struct tg_recording_info info;
    tg_recording_get_info(recording, &info);
    for (; skip_to_index(&selection->index, index) && *index < info.records; (*index)++)
        if (tg_recording_get(recording, *index, entry) &&
            tg_selection_match(selection, *index, entry))
            return true;
    return false;
}
