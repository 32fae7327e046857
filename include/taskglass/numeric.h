/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts one element to and from double, for every type of wire/dtype.h. The functions are inline
 * and freestanding: the same code runs in kernels on every device and on the host, so that a
 * recorded value means the same everywhere.
 *
 *     double x = tg_load(TG_FLOAT16, base, i);
 *     tg_store(TG_FLOAT8_E4M3FN, base, i, x);
 *
 *                     exponent  mantissa  too large    NaN             range
 *   float16           5         10        infinity     kept            6e-8   … 65504
 *   bfloat16          8          7        infinity     kept            9e-41  … 3.4e38
 *   float8_e5m2       5          2        infinity     kept            1.5e-5 … 57344
 *   float8_e4m3fn     4          3        largest      kept            0.002  … 448
 *   float4_e2m1fn     2          1        largest      0, has none     0.5    … 6
 *   float8_e8m0fnu    8          0        largest      kept            2^-127 … 2^127
 *
 * To a float: the nearest value, ties to even, rounded once from double; subnormals included.
 * float8_e8m0fnu has neither zero nor sign: zero becomes its smallest value, negatives NaN.
 * A NaN keeps its sign but not its payload; in float32 on a GPU it keeps neither. To an integer:
 * toward zero, saturating; NaN becomes 0. To bool: true if it differs from zero, which NaN does.
 *
 * The functions read and write signs, exponents and NaN as bits, so that all of this also holds for
 * kernels compiled with -ffast-math.
 */
#ifndef TASKGLASS_NUMERIC_H
#define TASKGLASS_NUMERIC_H

#include <taskglass/target.h>
#include <taskglass/tensor.h>
#include <taskglass/wire/dtype.h>

/*
 * A float of at most 16 bits: sign, exponent, mantissa, with the exponent's bias in the middle
 * of its range as in IEEE 754. Codes are bit patterns without the sign; they have the order of the
 * values, so rounding up is an increment.
 */
struct tg_float_format {
    uint32_t exponent_bits;
    uint32_t mantissa_bits;
    uint32_t largest;   /* the largest finite code */
    uint32_t too_large; /* the code for larger values: infinity, or the largest again */
    uint32_t nan;       /* the code of NaN */
};

/* A format from its members. */
TG_INLINE struct tg_float_format tg_float_format_make(uint32_t exponent_bits,
                                                      uint32_t mantissa_bits, uint32_t largest,
                                                      uint32_t too_large, uint32_t nan)
{
    struct tg_float_format format;
    format.exponent_bits = exponent_bits;
    format.mantissa_bits = mantissa_bits;
    format.largest = largest;
    format.too_large = too_large;
    format.nan = nan;
    return format;
}

/* For types that are TG_NUMBER_SHORT; all zero for any other type. */
TG_INLINE struct tg_float_format tg_float_format_of(unsigned dtype)
{
    switch (dtype) {
    case TG_FLOAT16:
        return tg_float_format_make(5, 10, 0x7bff, 0x7c00, 0x7e00);
    case TG_BFLOAT16:
        return tg_float_format_make(8, 7, 0x7f7f, 0x7f80, 0x7fc0);
    case TG_FLOAT8_E5M2:
        return tg_float_format_make(5, 2, 0x7b, 0x7c, 0x7e);
    case TG_FLOAT8_E4M3FN:
        return tg_float_format_make(4, 3, 0x7e, 0x7e, 0x7f);
    case TG_FLOAT4_E2M1FN:
        return tg_float_format_make(2, 1, 0x7, 0x7, 0x0);
    default:
        return tg_float_format_make(0, 0, 0, 0, 0);
    }
}

/* The bits of a double; with a builtin, because a kernel has no <string.h>. */
enum { TG_DOUBLE_MANTISSA = 52, TG_DOUBLE_BIAS = 1023, TG_DOUBLE_EXPONENT_MAX = 2047 };

/* The bits of a double. */
TG_INLINE uint64_t tg_double_bits(double value)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The double with these bits. */
TG_INLINE double tg_double_from_bits(uint64_t bits)
{
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

/* The exponent's bits, with the bias. */
TG_INLINE int tg_double_exponent(uint64_t bits)
{
    return (int)(bits >> TG_DOUBLE_MANTISSA) & TG_DOUBLE_EXPONENT_MAX;
}

/* The mantissa's bits, without the leading one. */
TG_INLINE uint64_t tg_double_mantissa(uint64_t bits)
{
    return bits & (((uint64_t)1 << TG_DOUBLE_MANTISSA) - 1);
}

/* Whether it is NaN. */
TG_INLINE bool tg_double_is_nan(double value)
{
    uint64_t bits = tg_double_bits(value);
    return tg_double_exponent(bits) == TG_DOUBLE_EXPONENT_MAX && tg_double_mantissa(bits) != 0;
}

/* Infinity with the sign of the low bit of `negative`, or a NaN. */
TG_INLINE double tg_double_special(uint64_t negative, bool is_nan)
{
    return tg_double_from_bits(negative << 63 |
                               (uint64_t)TG_DOUBLE_EXPONENT_MAX << TG_DOUBLE_MANTISSA |
                               (uint64_t)is_nan << (TG_DOUBLE_MANTISSA - 1));
}

/* 2^exponent, for the exponents of normal doubles. */
TG_INLINE double tg_power_of_two(int exponent)
{
    return tg_double_from_bits((uint64_t)(exponent + TG_DOUBLE_BIAS) << TG_DOUBLE_MANTISSA);
}

/* What is added to the exponents of this format. */
TG_INLINE int tg_float_bias(struct tg_float_format format)
{
    return (1 << (format.exponent_bits - 1)) - 1;
}

/* The value of a code of this format; exact. */
TG_INLINE double tg_float_decode(struct tg_float_format format, uint32_t bits)
{
    uint32_t sign_at = format.exponent_bits + format.mantissa_bits;
    uint64_t negative = bits >> sign_at & 1;
    uint32_t code = bits & ((1u << sign_at) - 1);
    uint32_t mantissa = code & ((1u << format.mantissa_bits) - 1);
    int exponent = (int)(code >> format.mantissa_bits);
    double magnitude;
    if (code > format.largest)
        return tg_double_special(negative, code != format.too_large);
    if (exponent > 0)
        mantissa += 1u << format.mantissa_bits;
    else
        exponent = 1; /* subnormals count in the same unit as the smallest normals */
    magnitude = (double)mantissa *
                tg_power_of_two(exponent - tg_float_bias(format) - (int)format.mantissa_bits);
    return tg_double_from_bits(tg_double_bits(magnitude) | negative << 63);
}

/*
 * The code of a finite magnitude, rounded to nearest, ties to even; may lie beyond the largest.
 * `exponent` is the target's biased exponent. It is below 1 for values that are subnormal there, and
 * each step below costs the significand one more bit.
 */
TG_INLINE uint32_t tg_float_round(uint32_t mantissa_bits, int exponent, uint64_t mantissa)
{
    uint64_t significand = mantissa | (uint64_t)1 << TG_DOUBLE_MANTISSA;
    int shift = TG_DOUBLE_MANTISSA - (int)mantissa_bits + (exponent < 1 ? 1 - exponent : 0);
    uint64_t half, rest, code;
    if (shift > TG_DOUBLE_MANTISSA + 1)
        return 0; /* less than half of the smallest */
    half = (uint64_t)1 << (shift - 1);
    rest = significand & (2 * half - 1);
    /* Add instead of OR, because the significand's leading bit counts as one exponent step. */
    code = significand >> shift;
    if (exponent > 1)
        code += (uint64_t)(exponent - 1) << mantissa_bits;
    return (uint32_t)(code + (rest > half || (rest == half && (code & 1))));
}

/* The code of this format that is nearest to `value`, ties to even. */
TG_INLINE uint32_t tg_float_encode(struct tg_float_format format, double value)
{
    uint64_t bits = tg_double_bits(value);
    uint64_t mantissa = tg_double_mantissa(bits);
    int exponent = tg_double_exponent(bits);
    uint32_t sign = (uint32_t)(bits >> 63) << (format.exponent_bits + format.mantissa_bits);
    uint32_t code;
    if (tg_double_is_nan(value))
        return format.nan ? sign | format.nan : 0;
    if (exponent == 0)
        return sign; /* zero, and doubles far below every type's smallest */
    code = tg_float_round(format.mantissa_bits, exponent - TG_DOUBLE_BIAS + tg_float_bias(format),
                          mantissa);
    return sign | (code > format.largest ? format.too_large : code);
}

/* float8_e8m0fnu has only an exponent, so it needs functions of its own. */
enum { TG_E8M0_BIAS = 127, TG_E8M0_LARGEST = 0xfe, TG_E8M0_NAN = 0xff };

/* The value of a code; exact. */
TG_INLINE double tg_e8m0_decode(uint32_t bits)
{
    return bits == TG_E8M0_NAN ? tg_double_special(0, true)
                               : tg_power_of_two((int)bits - TG_E8M0_BIAS);
}

/* The nearest code, ties to even; negative values and NaN become NaN. */
TG_INLINE uint32_t tg_e8m0_encode(double value)
{
    const uint64_t half = (uint64_t)1 << (TG_DOUBLE_MANTISSA - 1);
    uint64_t bits = tg_double_bits(value);
    uint64_t mantissa = tg_double_mantissa(bits);
    int code = tg_double_exponent(bits) - TG_DOUBLE_BIAS + TG_E8M0_BIAS;
    if (tg_double_is_nan(value) || value < 0)
        return TG_E8M0_NAN;
    if (code < 0)
        return 0;
    code += mantissa > half || (mantissa == half && (code & 1));
    return (uint32_t)(code > TG_E8M0_LARGEST ? TG_E8M0_LARGEST : code);
}

/* The machine has float32; its bits are the low 32. */
TG_INLINE double tg_float32_decode(uint32_t bits)
{
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* The nearest float32, as its bits. */
TG_INLINE uint32_t tg_float32_encode(double value)
{
    float narrow = (float)value;
    uint32_t bits;
    __builtin_memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

/* To an integer of `bits` bits: rounds toward zero and saturates; NaN becomes 0. */
TG_INLINE int64_t tg_to_signed(unsigned bits, double value)
{
    const uint64_t limit = (uint64_t)1 << (bits - 1);
    if (tg_double_is_nan(value))
        return 0;
    if (value >= (double)limit)
        return (int64_t)(limit - 1);
    if (value <= -(double)limit)
        return -(int64_t)(limit - 1) - 1;
    return (int64_t)value;
}

/* The same for an unsigned integer; negative values become 0. */
TG_INLINE uint64_t tg_to_unsigned(unsigned bits, double value)
{
    const uint64_t largest = UINT64_MAX >> (64 - bits);
    if (tg_double_is_nan(value) || value <= 0)
        return 0;
    return value >= tg_power_of_two((int)bits) ? largest : (uint64_t)value;
}

/* The low `bits` bits as a signed number. */
TG_INLINE int64_t tg_sign_extend(unsigned bits, uint64_t value)
{
    const uint64_t sign = (uint64_t)1 << (bits - 1);
    value &= UINT64_MAX >> (64 - bits);
    return (int64_t)((value ^ sign) - sign);
}

/* The kind of number that a type's elements are; TG_NUMBER_NONE for an invalid type. */
TG_INLINE enum tg_number tg_number_of(unsigned dtype)
{
    switch (dtype) {
#define TG_NUMBER_CASE_(constant, number, bits, name, kind) \
    case TG_##constant:                                     \
        return TG_NUMBER_##kind;
        TG_DTYPE_MAP(TG_NUMBER_CASE_)
#undef TG_NUMBER_CASE_
    default:
        return TG_NUMBER_NONE;
    }
}

/* The value of a bit pattern; bits above the type's width are ignored. 0 for an invalid type. */
TG_INLINE double tg_decode(unsigned dtype, uint64_t bits)
{
    switch (tg_number_of(dtype)) {
    case TG_NUMBER_DOUBLE:
        return tg_double_from_bits(bits);
    case TG_NUMBER_SINGLE:
        return tg_float32_decode((uint32_t)bits);
    case TG_NUMBER_SHORT:
        return tg_float_decode(tg_float_format_of(dtype), (uint32_t)bits);
    case TG_NUMBER_POWER:
        return tg_e8m0_decode((uint32_t)bits & 0xff);
    case TG_NUMBER_SIGNED:
        return (double)tg_sign_extend(tg_bits_of(dtype), bits);
    case TG_NUMBER_UNSIGNED:
        return (double)(bits & (UINT64_MAX >> (64 - tg_bits_of(dtype))));
    case TG_NUMBER_TRUTH:
        return (bits & 0xff) != 0;
    default:
        return 0;
    }
}

/* The bit pattern of the nearest element; bits above the type's width are 0. 0 for an invalid type. */
TG_INLINE uint64_t tg_encode(unsigned dtype, double value)
{
    switch (tg_number_of(dtype)) {
    case TG_NUMBER_DOUBLE:
        return tg_double_bits(value);
    case TG_NUMBER_SINGLE:
        return tg_float32_encode(value);
    case TG_NUMBER_SHORT:
        return tg_float_encode(tg_float_format_of(dtype), value);
    case TG_NUMBER_POWER:
        return tg_e8m0_encode(value);
    case TG_NUMBER_SIGNED:
        return (uint64_t)tg_to_signed(tg_bits_of(dtype), value) &
               (UINT64_MAX >> (64 - tg_bits_of(dtype)));
    case TG_NUMBER_UNSIGNED:
        return tg_to_unsigned(tg_bits_of(dtype), value);
    case TG_NUMBER_TRUTH:
        return tg_double_is_nan(value) || value != 0;
    default:
        return 0;
    }
}

/* The bits of element `index` of a packed array, which may have any alignment. In 4-bit types the
 * element with the even index is the low nibble. */
TG_INLINE uint64_t tg_load_bits(unsigned dtype, const void *base, int64_t index)
{
    const unsigned char *bytes = (const unsigned char *)base;
    uint16_t word;
    uint32_t dword;
    uint64_t qword;
    switch (tg_bits_of(dtype)) {
    case 4:
        return (uint64_t)bytes[index >> 1] >> ((index & 1) * 4) & 0xf;
    case 8:
        return bytes[index];
    case 16:
        __builtin_memcpy(&word, bytes + index * 2, sizeof word);
        return word;
    case 32:
        __builtin_memcpy(&dword, bytes + index * 4, sizeof dword);
        return dword;
    case 64:
        __builtin_memcpy(&qword, bytes + index * 8, sizeof qword);
        return qword;
    default:
        return 0;
    }
}

/* Storing a nibble also reads and writes the other nibble of its byte, so two threads must not store
 * the two at the same time. Elements of all other types are independent. */
TG_INLINE void tg_store_bits(unsigned dtype, void *base, int64_t index, uint64_t bits)
{
    unsigned char *bytes = (unsigned char *)base;
    uint16_t word = (uint16_t)bits;
    uint32_t dword = (uint32_t)bits;
    int shift = (int)(index & 1) * 4;
    switch (tg_bits_of(dtype)) {
    case 4:
        bytes += index >> 1;
        *bytes = (unsigned char)((*bytes & (0xf0 >> shift)) | (int)(bits & 0xf) << shift);
        break;
    case 8:
        bytes[index] = (unsigned char)bits;
        break;
    case 16:
        __builtin_memcpy(bytes + index * 2, &word, sizeof word);
        break;
    case 32:
        __builtin_memcpy(bytes + index * 4, &dword, sizeof dword);
        break;
    case 64:
        __builtin_memcpy(bytes + index * 8, &bits, sizeof bits);
        break;
    default:
        break;
    }
}

/* Element `index` of a packed array as a double: exact except for int64 and uint64 beyond 2^53. */
TG_INLINE double tg_load(unsigned dtype, const void *base, int64_t index)
{
    return tg_decode(dtype, tg_load_bits(dtype, base, index));
}

/* Stores `value` as element `index` of a packed array, converted to its type. */
TG_INLINE void tg_store(unsigned dtype, void *base, int64_t index, double value)
{
    tg_store_bits(dtype, base, index, tg_encode(dtype, value));
}

/*
 * Functions by name, for kernels whose type is fixed: tg_float16_to_float(bits),
 * tg_float16_from_float(x), tg_float16_from_double(x), and the same for the others below.
 * Converting a double through a float would round twice, so use from_double for it.
 */
#define TG_NAMED_FLOAT_(name, dtype, storage)               \
    TG_INLINE float tg_##name##_to_float(storage bits)      \
    {                                                       \
        return (float)tg_decode(dtype, bits);               \
    }                                                       \
    TG_INLINE storage tg_##name##_from_double(double value) \
    {                                                       \
        return (storage)tg_encode(dtype, value);            \
    }                                                       \
    TG_INLINE storage tg_##name##_from_float(float value)   \
    {                                                       \
        return (storage)tg_encode(dtype, (double)value);    \
    }
TG_NAMED_FLOAT_(float16, TG_FLOAT16, uint16_t)
TG_NAMED_FLOAT_(bfloat16, TG_BFLOAT16, uint16_t)
TG_NAMED_FLOAT_(float8_e4m3fn, TG_FLOAT8_E4M3FN, uint8_t)
TG_NAMED_FLOAT_(float8_e5m2, TG_FLOAT8_E5M2, uint8_t)
TG_NAMED_FLOAT_(float8_e8m0fnu, TG_FLOAT8_E8M0FNU, uint8_t)
TG_NAMED_FLOAT_(float4_e2m1fn, TG_FLOAT4_E2M1FN, uint8_t)
#undef TG_NAMED_FLOAT_

#endif
