/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as text, for files of millions of lines. Each function writes at `to`, which has room enough,
 * and returns the end of what it wrote. There is no zero byte at the end.
 */
#ifndef TG_BASE_DIGITS_H
#define TG_BASE_DIGITS_H

#include <stdint.h>
#include <string.h>

enum { TG_MOST_DIGITS = 20 }; /* of a decimal number without its sign */

/* Two digits at a time: a division costs more than all else here. */
static inline char *tg_digits_uint(char *to, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    char digits[TG_MOST_DIGITS];
    unsigned first = TG_MOST_DIGITS;
    if (value < 10) {
        *to = (char)('0' + value);
        return to + 1;
    }
    for (; value >= 10; value /= 100) {
        first -= 2;
        memcpy(digits + first, pairs + 2 * (value % 100), 2);
    }
    if (value > 0)
        digits[--first] = (char)('0' + value);
    memcpy(to, digits + first, TG_MOST_DIGITS - first);
    return to + (TG_MOST_DIGITS - first);
}

static inline char *tg_digits_int(char *to, int64_t value)
{
    if (value < 0)
        *to++ = '-';
    return tg_digits_uint(to, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* 8 hexadecimal digits of 32 bits, as one word whose first byte in memory is the highest digit. */
static inline uint64_t tg_digits_hex8_(uint32_t value)
{
    uint64_t x = value, above;
    x = (x << 32 | x >> 16) & UINT64_C(0x0000FFFF0000FFFF); /* the high half goes to the low word */
    x = (x << 16 | x >> 8) & UINT64_C(0x00FF00FF00FF00FF);
    x = (x << 8 | x >> 4) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    above = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return x + UINT64_C(0x3030303030303030) + above * ('a' - '0' - 10);
}

/* 16 lower-case digits. */
static inline char *tg_digits_hex16(char *to, uint64_t value)
{
    uint64_t high = tg_digits_hex8_((uint32_t)(value >> 32)),
             low = tg_digits_hex8_((uint32_t)value);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    high = __builtin_bswap64(high);
    low = __builtin_bswap64(low);
#endif
    memcpy(to, &high, sizeof high);
    memcpy(to + 8, &low, sizeof low);
    return to + 16;
}

/* As many lower-case digits as the number needs. */
static inline char *tg_digits_hex(char *to, uint64_t value)
{
    char digits[16];
    unsigned skip = value == 0 ? 15 : (unsigned)__builtin_clzll(value) / 4;
    tg_digits_hex16(digits, value);
    memcpy(to, digits + skip, 16 - skip);
    return to + (16 - skip);
}

#endif
