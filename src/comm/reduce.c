/* SPDX-License-Identifier: Apache-2.0 */
#include "comm/reduce.h"

#include <string.h>
#include <taskglass/numeric.h>

/* Arrays may have any alignment (views), so elements move by memcpy, which compiles to plain loads and
 * stores; the pragma lets gcc work on several at once although `to` may be `a` or `b`. clang looks at run time
 * whether arrays overlap, and its own pragma is a warning where it does not vectorise. */
#if defined(__GNUC__) && !defined(__clang__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

#define LOOP(name, type, expression)                                                    \
    static void name(unsigned char *to, const unsigned char *a, const unsigned char *b, \
                     int64_t count)                                                     \
    {                                                                                   \
        INDEPENDENT                                                                     \
        for (int64_t i = 0; i < count; i++) {                                           \
            type x, y, r;                                                               \
            memcpy(&x, a + i * (int64_t)sizeof x, sizeof x);                            \
            memcpy(&y, b + i * (int64_t)sizeof y, sizeof y);                            \
            r = (type)(expression);                                                     \
            memcpy(to + i * (int64_t)sizeof r, &r, sizeof r);                           \
        }                                                                               \
    }

/* Which of two NaN an addition keeps depends on the instruction; so it is always replaced by one. */
static inline float plain_f32(float x)
{
    return x != x ? __builtin_nanf("") : x;
}

static inline double plain_f64(double x)
{
    return x != x ? __builtin_nan("") : x;
}

/* The first operand wins if it is NaN; if the second is, no comparison holds, and it is taken. */
#define LESSER(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))
#define GREATER(x, y) ((x) > (y) || (x) != (x) ? (x) : (y))

LOOP(f32_sum, float, plain_f32(x + y))
LOOP(f32_product, float, plain_f32(x *y))
LOOP(f32_min, float, LESSER(x, y))
LOOP(f32_max, float, GREATER(x, y))
LOOP(f64_sum, double, plain_f64(x + y))
LOOP(f64_product, double, plain_f64(x *y))
LOOP(f64_min, double, LESSER(x, y))
LOOP(f64_max, double, GREATER(x, y))

/* Sums and products of integers wrap in unsigned arithmetic; 64 bits keep short types from becoming
 * a signed int. */
#define INTEGER_LOOPS(bits)                                           \
    LOOP(i##bits##_sum, uint##bits##_t, (uint64_t)x + (uint64_t)y)    \
    LOOP(i##bits##_product, uint##bits##_t, (uint64_t)x *(uint64_t)y) \
    LOOP(u##bits##_min, uint##bits##_t, x < y ? x : y)                \
    LOOP(u##bits##_max, uint##bits##_t, x > y ? x : y)                \
    LOOP(i##bits##_min, int##bits##_t, x < y ? x : y)                 \
    LOOP(i##bits##_max, int##bits##_t, x > y ? x : y)
INTEGER_LOOPS(8)
INTEGER_LOOPS(16)
INTEGER_LOOPS(32)
INTEGER_LOOPS(64)
LOOP(bool_or, uint8_t, x != 0 || y != 0)
LOOP(bool_and, uint8_t, x != 0 && y != 0)

/* float is wide enough: rounding a sum or product of two such numbers to float and then to the short
 * type gives what rounding it once would, because float has more than twice their digits and two. */
#define SHORT_LOOPS(name)                                                           \
    LOOP(name##_sum, uint16_t,                                                      \
         tg_##name##_from_float(tg_##name##_to_float(x) + tg_##name##_to_float(y))) \
    LOOP(name##_product, uint16_t,                                                  \
         tg_##name##_from_float(tg_##name##_to_float(x) * tg_##name##_to_float(y)))
SHORT_LOOPS(float16)
SHORT_LOOPS(bfloat16)

typedef void (*loop_fn)(unsigned char *to, const unsigned char *a, const unsigned char *b,
                        int64_t count);

static loop_fn loop_of(uint32_t dtype, uint32_t operation)
{
#define INTEGER_ROW(constant, sign, bits) \
    [constant] = { i##bits##_sum, i##bits##_product, sign##bits##_min, sign##bits##_max }
    static const loop_fn loops[TG_DTYPE_END][TG_REDUCTIONS] = {
        [TG_FLOAT64] = {f64_sum, f64_product, f64_min, f64_max},
        [TG_FLOAT32] = {f32_sum, f32_product, f32_min, f32_max},
        [TG_FLOAT16] = {float16_sum, float16_product},
        [TG_BFLOAT16] = {bfloat16_sum, bfloat16_product},
        INTEGER_ROW(TG_INT64, i, 64),
        INTEGER_ROW(TG_INT32, i, 32),
        INTEGER_ROW(TG_INT16, i, 16),
        INTEGER_ROW(TG_INT8, i, 8),
        INTEGER_ROW(TG_UINT64, u, 64),
        INTEGER_ROW(TG_UINT32, u, 32),
        INTEGER_ROW(TG_UINT16, u, 16),
        INTEGER_ROW(TG_UINT8, u, 8),
        [TG_BOOL] = {bool_or, bool_and, bool_and, bool_or},
    };
    return dtype < TG_DTYPE_END && operation < TG_REDUCTIONS ? loops[dtype][operation] : NULL;
}

static uint64_t combine_floats(uint32_t dtype, uint32_t operation, uint64_t x, uint64_t y)
{
    const double a = tg_decode(dtype, x), b = tg_decode(dtype, y);
    switch (operation) {
    case TG_SUM:
        return tg_encode(dtype, a + b);
    case TG_PRODUCT:
        return tg_encode(dtype, a * b);
    case TG_MIN:
        return a < b || tg_double_is_nan(a) ? x : y;
    default:
        return a > b || tg_double_is_nan(a) ? x : y;
    }
}

static uint64_t combine_integers(uint32_t dtype, uint32_t operation, uint64_t x, uint64_t y)
{
    const unsigned bits = tg_bits_of(dtype) ? tg_bits_of(dtype) : 8;
    const int64_t a = tg_sign_extend(bits, x), b = tg_sign_extend(bits, y);
    switch (operation) {
    case TG_SUM:
        return x + y;
    case TG_PRODUCT:
        return x * y;
    case TG_MIN:
        return a < b ? x : y;
    default:
        return a > b ? x : y;
    }
}

void tg_comm_reduce(uint32_t dtype, uint32_t operation, void *to, const void *a, const void *b,
                    int64_t count)
{
    const loop_fn loop = loop_of(dtype, operation);
    const bool is_integer = tg_number_of(dtype) == TG_NUMBER_SIGNED;
    if (loop) {
        loop(to, a, b, count);
        return;
    }
    if (!is_integer && tg_number_of(dtype) != TG_NUMBER_SHORT &&
        tg_number_of(dtype) != TG_NUMBER_POWER)
        return; /* no type is left */
    for (int64_t i = 0; i < count; i++) {
        const uint64_t x = tg_load_bits(dtype, a, i), y = tg_load_bits(dtype, b, i);
        tg_store_bits(dtype, to, i,
                      is_integer ? combine_integers(dtype, operation, x, y)
                                 : combine_floats(dtype, operation, x, y));
    }
}
