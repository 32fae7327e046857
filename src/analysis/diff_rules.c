/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/dtype.h>

#include "base/error.h"
#include "analysis/diff.h"
#include "base/words.h"

/* --- from text -------------------------------------------------------------------------------- */

static const char *option_of(bool relative)
{
    return relative ? "--rtol" : "--atol";
}

static tg_status bad_rule(const char *text, bool relative, const char *why, struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "%s: '%.80s': %s; write 1e-3 or kernel=softmax,arg=2:1e-3",
                        option_of(relative), text, why);
}

static bool copy_word(struct tg_word word, char *text, size_t room)
{
    if (word.length == 0 || word.length >= room)
        return false;
    memcpy(text, word.text, word.length);
    text[word.length] = '\0';
    return true;
}

/* Reads a number with a decimal point, whatever the locale uses; strtod alone would also take
 * hexadecimal digits. */
static bool read_number(const char *text, double *number)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    char *end;
    *number = strtod(text, &end);
    bool plainly = text[strspn(text, "0123456789.eE+-")] == '\0' && *text >= '.' && *text <= '9';
    bool good = plainly && *end == '\0' && *number >= 0 && isfinite(*number);
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    return good;
}

static bool names_a_dtype(const char *pattern)
{
    for (int dtype = 1; dtype < TG_DTYPE_END; dtype++)
        if (tg_word_fits(tg_word_of(pattern), tg_dtype_name(dtype)))
            return true;
    return false;
}

/* Returns NULL, or what is wrong with the key or its value. */
static const char *read_key(struct tg_word key, struct tg_word value,
                            struct tg_tolerance_rule *rule)
{
    uint64_t first, last;
    if (tg_word_is(key, "kernel"))
        return copy_word(value, rule->kernel, sizeof rule->kernel)
                   ? NULL
                   : "the kernel's name is empty or too long";
    if (tg_word_is(key, "dtype"))
        return copy_word(value, rule->dtype, sizeof rule->dtype) && names_a_dtype(rule->dtype)
                   ? NULL
                   : "no dtype has this name";
    if (!tg_word_is(key, "arg"))
        return "the keys are kernel, arg and dtype";
    if (!tg_word_range(value, tg_word_number, &first, &last) || last > UINT8_MAX)
        return "arg takes a number or a range (0-2)";
    rule->first_arg = (uint32_t)first;
    rule->last_arg = (uint32_t)last;
    return NULL;
}

static const char *read_keys(struct tg_word keys, struct tg_tolerance_rule *rule)
{
    struct tg_word item, key;
    while (tg_word_next(&keys, ',', &item)) {
        struct tg_word rest = item;
        if (!memchr(item.text, '=', item.length))
            return "a key needs a value: kernel=NAME";
        tg_word_next(&rest, '=', &key);
        const char *wrong = read_key(key, rest, rule);
        if (wrong)
            return wrong;
    }
    return NULL;
}

tg_status tg_tolerance_rule_parse(const char *text, bool relative, struct tg_tolerance_rule *rule,
                                  struct tg_error *error)
{
    TG_REFUSE_NULL(error, text);
    TG_REFUSE_NULL(error, rule);
    const char *colon = strrchr(text, ':'), *wrong = NULL;
    double number;
    *rule = (struct tg_tolerance_rule){.last_arg = UINT32_MAX, .absolute = NAN, .relative = NAN};
    if (colon)
        wrong = read_keys((struct tg_word){text, (size_t)(colon - text)}, rule);
    if (!wrong && !read_number(colon ? colon + 1 : text, &number))
        wrong = "a tolerance is a number that is not negative, from 0 to 1.7e308";
    if (wrong)
        return bad_rule(text, relative, wrong, error);
    *(relative ? &rule->relative : &rule->absolute) = number;
    return TG_OK;
}

/* --- to an argument --------------------------------------------------------------------------- */

static bool fits_kernel(const struct tg_tolerance_rule *rule, const struct tg_entry *entry)
{
    for (int part = 0; part < TG_PARTS; part++)
        if (entry->kernel[part] && tg_word_fits(tg_word_of(rule->kernel), entry->kernel[part]))
            return true;
    return false;
}

static bool fits(const struct tg_tolerance_rule *rule, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    if (record->arg_index < rule->first_arg || record->arg_index > rule->last_arg)
        return false;
    if (rule->dtype[0] ? !tg_word_fits(tg_word_of(rule->dtype), tg_dtype_name(record->dtype))
                       : !tg_dtype_is_float(record->dtype))
        return false;
    return !rule->kernel[0] || fits_kernel(rule, entry);
}

/* How many keys the rule names: the most specific rule wins. */
static int weight(const struct tg_tolerance_rule *rule)
{
    return (rule->kernel[0] != '\0') + (rule->dtype[0] != '\0') +
           (rule->first_arg > 0 || rule->last_arg < UINT32_MAX);
}

struct tg_tolerance tg_rules_tolerance(const struct tg_tolerance_rule *rules, size_t n,
                                       const struct tg_entry *entry, struct tg_tolerance tolerance)
{
    int absolute = -1, relative = -1; /* weights of the rules in force */
    for (size_t i = 0; i < n; i++) {
        const struct tg_tolerance_rule *rule = &rules[i];
        if (!fits(rule, entry))
            continue;
        if (!isnan(rule->absolute) && weight(rule) >= absolute) {
            tolerance.absolute = rule->absolute;
            absolute = weight(rule);
        }
        if (!isnan(rule->relative) && weight(rule) >= relative) {
            tolerance.relative = rule->relative;
            relative = weight(rule);
        }
    }
    return tolerance;
}

struct tg_tolerance tg_diff_tolerance(const struct tg_diff *diff, const struct tg_entry *entry,
                                      double floor)
{
    struct tg_tolerance tolerance = tg_tolerance_default(entry->record.dtype);
    if (isfinite(floor))
        tolerance = (struct tg_tolerance){.absolute = TG_NOISE_MARGIN * floor};
    return tg_rules_tolerance(diff->rule, diff->n_rules, entry, tolerance);
}
