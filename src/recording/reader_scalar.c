/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of a scalar in a manifest that does not give its bits. Two keys have it:
 *
 *   "value"         the number itself. The other implementation prints a FLOAT32 always with a point or
 *                   an exponent, NaN as null, and gives the bits of its shorter floats. In ours null
 *                   says that the value is unknown.
 *   "scalar_value"  64 bits as an unsigned number, whatever the type; in its first form also a number
 *                   with a sign, a point or an exponent, which is then the value itself.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "recording/reader.h"

/* "NaN", "-Infinity", "$Inf" …: as different writers spell them. */
static bool special_real(const char *given, double *value)
{
    char text[16];
    size_t at = 0, length = strlen(given);
    if (length >= sizeof text)
        return false;
    for (size_t i = 0; i <= length; i++)
        text[i] = (char)tolower((unsigned char)given[i]);
    at += text[at] == '-';
    at += text[at] == '$';
    at += text[at] == '-';
    if (strcmp(text + at, "nan") == 0)
        *value = NAN;
    else if (strcmp(text + at, "inf") == 0 || strcmp(text + at, "infinity") == 0)
        *value = strchr(text, '-') ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

/* A number, with or without quotes, or a word for a special one. */
static bool real_of(const struct tg_pull *pull, double *value)
{
    struct tg_pull quoted;
    char text[64];
    if (pull->token != TG_PULL_STRING)
        return tg_pull_double(pull, value);
    size_t length = tg_pull_text(pull, text, sizeof text);
    if (special_real(text, value))
        return true;
    tg_pull_start(&quoted, text, length);
    return tg_pull_next(&quoted) == TG_PULL_NUMBER && tg_pull_double(&quoted, value) &&
           tg_pull_next(&quoted) == TG_PULL_END;
}

static bool integer_bits(const struct tg_pull *pull, uint64_t *bits)
{
    int64_t value;
    if (tg_pull_u64(pull, bits))
        return true;
    if (!tg_pull_i64(pull, &value))
        return false;
    *bits = (uint64_t)value;
    return true;
}

/* The other implementation prints a FLOAT32 with a point or an exponent, and gives the bits of its shorter
 * floats. It has no float64, so that one is taken as a number. */
static bool may_be_bits(unsigned dtype, enum tg_scalar_form form)
{
    return form == TG_SCALAR_RAW ||
           (form == TG_SCALAR_FOREIGN && dtype != TG_FLOAT32 && dtype != TG_FLOAT64);
}

static bool float_bits(const struct tg_pull *pull, enum tg_scalar_form form, unsigned dtype,
                       uint64_t *bits)
{
    double value = NAN;
    bool is_nan = pull->token == TG_PULL_NULL && form == TG_SCALAR_FOREIGN;
    if (may_be_bits(dtype, form) && tg_pull_u64(pull, bits))
        return true;
    if (!is_nan && !real_of(pull, &value))
        return false;
    *bits = tg_encode(dtype, value);
    return true;
}

bool tg_manifest_scalar(const struct tg_pull *pull, enum tg_scalar_form form, unsigned dtype,
                        uint64_t *bits)
{
    if (pull->token == TG_PULL_TRUE || pull->token == TG_PULL_FALSE) {
        *bits = pull->token == TG_PULL_TRUE;
        return !tg_dtype_is_float((int)dtype);
    }
    if (tg_dtype_is_float((int)dtype))
        return float_bits(pull, form, dtype, bits);
    if (!integer_bits(pull, bits))
        return false;
    if (dtype == TG_BOOL) /* any of its 64 bits makes it true */
        *bits = *bits != 0;
    return true;
}
