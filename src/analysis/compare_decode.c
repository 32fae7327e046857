/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare_decode.h"

#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "analysis/compare.h"
#include "analysis/compare_target.h"

/* Short codes use a table, except for types that a loop converts as fast. */
static bool has_table(unsigned dtype)
{
    switch (dtype) {
    case TG_FLOAT8_E4M3FN:
    case TG_FLOAT8_E5M2:
    case TG_INT8:
    case TG_UINT8:
        return false;
    default:
        return tg_bits_of(dtype) <= 8;
    }
}

void tg_decoder_init(struct tg_decoder *decoder, unsigned dtype)
{
    unsigned bits = tg_bits_of(dtype);
    uint32_t codes;
    decoder->has_table = has_table(dtype);
    codes = decoder->has_table ? 1u << bits : 0;
    decoder->dtype = dtype;
    decoder->is_float = tg_dtype_is_float((int)dtype);
    decoder->bits = bits;
    decoder->is_wide = bits == 64 || (bits == 32 && !decoder->is_float);
    for (uint32_t code = 0; code < codes; code++) {
        decoder->table[code] = (float)tg_decode(dtype, code);
        decoder->key[code] = decoder->is_float ? (int32_t)tg_element_key(dtype, code) : 0;
    }
}

uint64_t tg_decoder_bytes(const struct tg_decoder *decoder, uint64_t count)
{
    return (count * tg_bits_of(decoder->dtype) + 7) / 8;
}

/* --- codes as floats -------------------------------------------------------------------------- */

TG_LOOP float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

TG_LOOP uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/*
 * Widens a shorter float: its magnitude moves to the bits a float32 has for it. The exponent is
 * then too small by the difference of the two biases, and a multiplication by a power of two
 * corrects it for normal and denormal numbers alike. A magnitude of `special` or above gets an
 * exponent of all ones. There is no branch, because a branch would keep the compiler from using
 * vectors.
 */
TG_LOOP float widen(uint32_t sign, uint32_t magnitude, float scale, uint32_t special)
{
    uint32_t exponent = (0u - (uint32_t)(magnitude >= special)) & 0x7f800000u;
    return float_of(sign | exponent | bits_of(float_of(magnitude) * scale));
}

TG_LOOP float from_float16(uint32_t code)
{
    return widen((code & 0x8000) << 16, (code & 0x7fff) << 13, 0x1p112f, 0x7c00u << 13);
}

/* The type has no infinity and one NaN. */
TG_LOOP float from_float8_e4m3fn(uint32_t code)
{
    return widen((code & 0x80) << 24, (code & 0x7f) << 20, 0x1p120f, 0x7fu << 20);
}

#define DECODE(type, code, expression)                      \
    do {                                                    \
        type codes[TG_BLOCK];                               \
        memcpy(codes, bytes, (size_t)count * sizeof(type)); \
        for (int i = 0; i < count; i++) {                   \
            type code = codes[i];                           \
            value[i] = (expression);                        \
        }                                                   \
    } while (0)

TG_LOOP bool has_special(const float *value, int count)
{
    uint32_t found = 0;
    for (int i = 0; i < count; i++)
        found |= (uint32_t)((int32_t)(bits_of(value[i]) & INT32_MAX) >= 0x7f800000);
    return found != 0;
}

/* The payload may lie at any address, so codes are copied to an aligned buffer first. */
TG_LOOP bool narrow_loop(const struct tg_decoder *decoder, const void *bytes, int count,
                         float *value)
{
    const unsigned char *nibble = bytes;
    switch (decoder->dtype) {
    case TG_FLOAT32:
        memcpy(value, bytes, (size_t)count * sizeof *value);
        break;
    case TG_FLOAT16:
        DECODE(uint16_t, code, from_float16(code));
        break;
    case TG_BFLOAT16:
        DECODE(uint16_t, code, float_of((uint32_t)code << 16));
        break;
    case TG_FLOAT8_E4M3FN:
        DECODE(uint8_t, code, from_float8_e4m3fn(code));
        break;
    case TG_FLOAT8_E5M2: /* the upper half of a float16 */
        DECODE(uint8_t, code, from_float16((uint32_t)code << 8));
        break;
    case TG_INT16:
        DECODE(int16_t, code, (float)code);
        break;
    case TG_UINT16:
        DECODE(uint16_t, code, (float)code);
        break;
    case TG_INT8:
        DECODE(int8_t, code, (float)code);
        break;
    case TG_UINT8:
        DECODE(uint8_t, code, (float)code);
        break;
    default:
        if (decoder->bits == 4)
            for (int i = 0; i < count; i++)
                value[i] = decoder->table[nibble[i >> 1] >> ((i & 1) * 4) & 0xf];
        else if (decoder->bits == 8)
            DECODE(uint8_t, code, decoder->table[code]);
        else /* a type without a loop of its own */
            for (int i = 0; i < count; i++)
                value[i] = (float)tg_load(decoder->dtype, bytes, i);
        break;
    }
    for (int i = count; i < tg_block_lanes(count); i++)
        value[i] = 0;
    return decoder->is_float && has_special(value, count);
}
TG_FOR_TARGETS(bool, narrow,
               (const struct tg_decoder *decoder, const void *bytes, int count, float *value),
               (decoder, bytes, count, value))

bool tg_decode_narrow(const struct tg_decoder *decoder, const void *bytes, int count, float *value)
{
    return TG_BEST(narrow)(decoder, bytes, count, value);
}

/* --- as doubles ------------------------------------------------------------------------------- */

TG_LOOP bool has_special_wide(const double *value, int count)
{
    uint64_t found = 0;
    for (int i = 0; i < count; i++) {
        int64_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        found |= (uint64_t)((bits & INT64_MAX) >= INT64_C(0x7ff) << 52);
    }
    return found != 0;
}

TG_LOOP bool wide_loop(const struct tg_decoder *decoder, const void *bytes, int count,
                       double *value)
{
    switch (decoder->dtype) {
    case TG_INT32:
        DECODE(int32_t, code, (double)code);
        break;
    case TG_UINT32:
        DECODE(uint32_t, code, (double)code);
        break;
    case TG_INT64:
        DECODE(int64_t, code, (double)code);
        break;
    case TG_UINT64:
        DECODE(uint64_t, code, (double)code);
        break;
    default:
        memcpy(value, bytes, (size_t)count * sizeof *value);
        break;
    }
    for (int i = count; i < tg_block_lanes(count); i++)
        value[i] = 0;
    return decoder->is_float && has_special_wide(value, count);
}
TG_FOR_TARGETS(bool, wide,
               (const struct tg_decoder *decoder, const void *bytes, int count, double *value),
               (decoder, bytes, count, value))

bool tg_decode_wide(const struct tg_decoder *decoder, const void *bytes, int count, double *value)
{
    return TG_BEST(wide)(decoder, bytes, count, value);
}

/* --- as places in an order -------------------------------------------------------------------- */

TG_LOOP int32_t order_of(int32_t sign, int32_t magnitude)
{
    return (magnitude ^ sign) - sign; /* sign is 0 or -1 */
}

#define ORDER(type, most)                                              \
    do {                                                               \
        type codes[TG_BLOCK];                                          \
        memcpy(codes, bytes, (size_t)count * sizeof(type));            \
        for (int i = 0; i < count; i++)                                \
            key[i] = order_of(codes[i] < 0 ? -1 : 0, codes[i] & most); \
    } while (0)

TG_LOOP bool keys_loop(const struct tg_decoder *decoder, const void *bytes, int count, int32_t *key)
{
    const unsigned char *code = bytes;
    switch (decoder->bits) {
    case 32:
        ORDER(int32_t, INT32_MAX);
        break;
    case 16:
        ORDER(int16_t, INT16_MAX);
        break;
    case 8:
        if (!decoder->has_table)
            ORDER(int8_t, INT8_MAX);
        else
            for (int i = 0; i < count; i++)
                key[i] = decoder->key[code[i]];
        break;
    default:
        for (int i = 0; i < count; i++)
            key[i] = decoder->key[code[i >> 1] >> ((i & 1) * 4) & 0xf];
        break;
    }
    for (int i = count; i < tg_block_lanes(count); i++)
        key[i] = 0;
    return true;
}
TG_FOR_TARGETS(bool, keys,
               (const struct tg_decoder *decoder, const void *bytes, int count, int32_t *key),
               (decoder, bytes, count, key))

void tg_decode_keys(const struct tg_decoder *decoder, const void *bytes, int count, int32_t *key)
{
    (void)TG_BEST(keys)(decoder, bytes, count, key);
}

/* --- ends of types ---------------------------------------------------------------------------- */

double tg_smallest_normal(unsigned dtype)
{
    switch (tg_number_of(dtype)) {
    case TG_NUMBER_DOUBLE:
        return 0x1p-1022;
    case TG_NUMBER_SINGLE:
        return 0x1p-126;
    case TG_NUMBER_SHORT:
        return tg_power_of_two(1 - tg_float_bias(tg_float_format_of(dtype)));
    default:
        return 0;
    }
}

double tg_largest_finite(unsigned dtype)
{
    struct tg_float_format format = tg_float_format_of(dtype);
    int bits = (int)tg_bits_of(dtype);
    switch (tg_number_of(dtype)) {
    case TG_NUMBER_DOUBLE:
        return 0x1.fffffffffffffp1023;
    case TG_NUMBER_SINGLE:
        return 0x1.fffffep127;
    case TG_NUMBER_SHORT:
        return tg_float_decode(format, format.largest);
    case TG_NUMBER_POWER:
        return tg_e8m0_decode(TG_E8M0_LARGEST);
    case TG_NUMBER_SIGNED:
        return tg_power_of_two(bits - 1) - 1;
    case TG_NUMBER_UNSIGNED:
        return tg_power_of_two(bits) - 1;
    default:
        return 1;
    }
}
