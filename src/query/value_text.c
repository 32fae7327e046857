/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

/*
 * The number of decimal digits that survive the way from text to the type and back. A value whose
 * shortest text has at most that many digits is printed as that text, so the search may start
 * there.
 */
static int safe_digits(unsigned dtype)
{
    switch (dtype) {
    case TG_FLOAT64:
        return 15;
    case TG_FLOAT32:
        return 6;
    case TG_FLOAT16:
        return 3;
    case TG_BFLOAT16:
        return 2;
    default:
        return 1;
    }
}

static void format_float(struct tg_value_text *text, unsigned dtype, uint64_t bits)
{
    double value = tg_decode(dtype, bits);
    if (isnan(value) || isinf(value)) {
        snprintf(text->text, sizeof text->text, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    for (int digits = safe_digits(dtype); digits <= 17; digits++) {
        snprintf(text->text, sizeof text->text, "%.*g", digits, value);
        if (tg_encode(dtype, strtod(text->text, NULL)) == bits)
            return;
    }
}

const char *tg_value_format(unsigned dtype, uint64_t bits, struct tg_value_text *text)
{
    if (text == NULL)
        return "?";
    unsigned width = tg_bits_of(dtype);
    text->text[0] = '\0';
    if (width == 0)
        return text->text;
    bits &= UINT64_MAX >> (64 - width);
    if (dtype == TG_BOOL)
        snprintf(text->text, sizeof text->text, "%s", bits ? "true" : "false");
    else if (tg_dtype_is_float((int)dtype))
        format_float(text, dtype, bits);
    else if (tg_dtype_is_signed((int)dtype))
        snprintf(text->text, sizeof text->text, "%" PRId64, tg_sign_extend(width, bits));
    else
        snprintf(text->text, sizeof text->text, "%" PRIu64, bits);
    return text->text;
}

const char *tg_scalar_format(const struct tg_record *record, struct tg_value_text *text)
{
    if (record == NULL || text == NULL)
        return "?";
    if (record->flags & TG_RECORD_NO_VALUE)
        snprintf(text->text, sizeof text->text, "unknown");
    else if (!tg_dtype_valid(record->dtype))
        snprintf(text->text, sizeof text->text, "0x%016" PRIx64, record->value);
    else if (tg_dtype_is_float(record->dtype) && tg_bits_of(record->dtype) < 32)
        tg_value_format(TG_FLOAT32, tg_encode(TG_FLOAT32, tg_decode(record->dtype, record->value)),
                        text);
    else
        tg_value_format(record->dtype, record->value, text);
    return text->text;
}
