/* SPDX-License-Identifier: Apache-2.0 */
#include "query/filter.h"

#include <string.h>

#include "base/error.h"
#include "base/words.h"

enum { MOST_ARGUMENTS = TG_MAX_TENSORS + TG_MAX_SCALARS };

/* For `%.*s`: cuts a word of the user's text, which may be long. */
#define SHOWN(word) (int)((word).length < 60 ? (word).length : 60), (word).text

static tg_status bad_value(struct tg_word word, const char *key, const char *right,
                           struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT, "dump-filter: '%.*s' is not a valid %s; %s",
                        SHOWN(word), key, right);
}

static tg_status take_task(struct tg_word value, struct tg_filter_spec *spec,
                           struct tg_error *error)
{
    if (tg_word_range(value, tg_word_task, &spec->filter.first_task, &spec->filter.last_task))
        return TG_OK;
    return bad_value(value, "task", "write an id (12, 0x10000000c, 1:12) or a range (1:0-1:99)",
                     error);
}

static tg_status take_kernel(struct tg_word value, struct tg_filter_spec *spec,
                             struct tg_error *error)
{
    if (value.length == 0 || value.length >= sizeof spec->kernel)
        return bad_value(value, "kernel", "write a name, with * for any characters", error);
    memcpy(spec->kernel, value.text, value.length);
    spec->kernel[value.length] = '\0';
    return TG_OK;
}

/* Reads words joined by '+'; each word sets bits. */
static tg_status take_bits(struct tg_word value, const char *key, const char *right,
                           uint32_t (*bits_of)(struct tg_word), uint32_t *bits,
                           struct tg_error *error)
{
    struct tg_word word;
    *bits = 0;
    while (tg_word_next(&value, '+', &word)) {
        uint32_t more = bits_of(word);
        if (more == 0)
            return bad_value(word, key, right, error);
        *bits |= more;
    }
    return TG_OK;
}

static tg_status take_stage(struct tg_word value, struct tg_filter_spec *spec,
                            struct tg_error *error)
{
    uint32_t bits;
    tg_status status =
        take_bits(value, "stage", "it takes before, after and orchestration, joined by +",
                  tg_word_stage, &bits, error);
    spec->filter.stages = (uint8_t)bits;
    return status;
}

static tg_status take_role(struct tg_word value, struct tg_filter_spec *spec,
                           struct tg_error *error)
{
    uint32_t bits;
    tg_status status = take_bits(value, "role", "it takes in, out, inout and scalar, joined by +",
                                 tg_word_role, &bits, error);
    spec->filter.roles = (uint8_t)bits;
    return status;
}

static uint32_t argument_bits(struct tg_word word)
{
    uint64_t first, last;
    if (!tg_word_range(word, tg_word_number, &first, &last) || last >= MOST_ARGUMENTS)
        return 0;
    return (uint32_t)((UINT64_C(2) << last) - (UINT64_C(1) << first));
}

static tg_status take_arg(struct tg_word value, struct tg_filter_spec *spec, struct tg_error *error)
{
    return take_bits(value, "argument", "it takes numbers from 0 to 31 and ranges, joined by +",
                     argument_bits, &spec->filter.arguments, error);
}

static const struct key {
    const char *name;
    tg_status (*take)(struct tg_word value, struct tg_filter_spec *spec, struct tg_error *error);
} keys[] = {
    {"task", take_task}, {"kernel", take_kernel}, {"stage", take_stage},
    {"role", take_role}, {"arg", take_arg},
};
enum { KEYS = sizeof keys / sizeof keys[0] };

/* Reads one key=value; `seen` has a bit for each key that came before. */
static tg_status take_term(struct tg_word term, uint32_t *seen, struct tg_filter_spec *spec,
                           struct tg_error *error)
{
    const char *equals = memchr(term.text, '=', term.length);
    if (!equals)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "dump-filter: '%.*s' is not key=value; the keys are task, kernel, "
                            "stage, role and arg",
                            SHOWN(term));
    struct tg_word key = {term.text, (size_t)(equals - term.text)};
    struct tg_word value = {equals + 1, term.length - key.length - 1};
    for (unsigned i = 0; i < KEYS; i++) {
        if (!tg_word_is(key, keys[i].name))
            continue;
        if (*seen & 1u << i)
            return tg_error_set(error, TG_BAD_ARGUMENT,
                                "dump-filter: %s appears twice in one filter; a ';' separates "
                                "filters, one of which must match",
                                keys[i].name);
        *seen |= 1u << i;
        return keys[i].take(value, spec, error);
    }
    return tg_error_set(
        error, TG_BAD_ARGUMENT,
        "dump-filter: '%.*s' is not a key; the keys are task, kernel, stage, role and arg",
        SHOWN(key));
}

static tg_status take_filter(struct tg_word filter, struct tg_filter_spec *spec,
                             struct tg_error *error)
{
    struct tg_word term;
    uint32_t seen = 0;
    *spec = (struct tg_filter_spec){
        .filter = {.last_task = UINT64_MAX, .arguments = UINT32_MAX, .stages = 7, .roles = 15}};
    while (tg_word_next(&filter, ',', &term)) {
        tg_status status = take_term(term, &seen, spec, error);
        if (status != TG_OK)
            return status;
    }
    return TG_OK;
}

tg_status tg_filter_parse(const char *text, struct tg_filter_spec specs[TG_MAX_FILTERS],
                          uint32_t *count, struct tg_error *error)
{
    struct tg_word rest = tg_word_of(text), filter;
    uint32_t found = 0;
    *count = 0;
    if (rest.length == 0)
        return TG_OK;
    while (tg_word_next(&rest, ';', &filter)) {
        if (found == TG_MAX_FILTERS)
            return tg_error_set(error, TG_BAD_ARGUMENT,
                                "dump-filter: '%.*s' is one filter too many; the limit is %d",
                                SHOWN(filter), TG_MAX_FILTERS);
        tg_status status = take_filter(filter, &specs[found++], error);
        if (status != TG_OK)
            return status;
    }
    *count = found;
    return TG_OK;
}

bool tg_filter_kernel_matches(const struct tg_filter_spec *spec, const char *kernel)
{
    struct tg_word pattern = tg_word_of(spec->kernel);
    return pattern.length == 0 || tg_word_fits(pattern, kernel);
}
