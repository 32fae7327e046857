/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a hash of the bits that each function of taskglass/math.h gives for many arguments: all
 * builds must print the same. The argument is the number of cases. */
#include <stdio.h>
#include <stdlib.h>
#include <taskglass/math.h>

static uint64_t mixed(uint64_t z)
{
    z = (z + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Argument i: zeros, infinities, NaN, the smallest and largest numbers, then random bits, of which
 * most have a common exponent. */
static uint64_t bits_f64(uint64_t i)
{
    static const uint64_t ends[] = {0x0000000000000000, 0x0000000000000001, 0x000fffffffffffff,
                                    0x0010000000000000, 0x3ff0000000000000, 0x7fefffffffffffff,
                                    0x7ff0000000000000, 0x7ff0000000000001, 0x7ff8000000000000};
    uint64_t random = mixed(i), exponent = 1023 - 40 + mixed(random) % 52;
    if (i < 18)
        return ends[i / 2] | i << 63;
    return i % 4 == 0 ? random : (random & 0x800fffffffffffff) | exponent << 52;
}

static uint32_t bits_f32(uint64_t i)
{
    static const uint32_t ends[] = {0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x3f800000,
                                    0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000};
    uint64_t random = mixed(i), exponent = 127 - 30 + mixed(random) % 42;
    if (i < 18)
        return ends[i / 2] | (uint32_t)i << 31;
    return i % 4 == 0 ? (uint32_t)random
                      : ((uint32_t)random & 0x807fffff) | (uint32_t)exponent << 23;
}

enum { BLOCK = 1024 };
static float x32[BLOCK], y32[BLOCK], z32[BLOCK];
static double x64[BLOCK], y64[BLOCK], z64[BLOCK];

static void fill(uint64_t from)
{
    for (uint64_t i = 0; i < BLOCK; i++) {
        x32[i] = tg_float32_from_bits(bits_f32(from + i));
        x64[i] = tg_double_from_bits(bits_f64(from + i));
        /* every special value meets every other one */
        y32[i] = tg_float32_from_bits(bits_f32(i < 18 * 18 ? i / 18 : mixed(from + i) >> 8));
        y64[i] = tg_double_from_bits(bits_f64(i < 18 * 18 ? i / 18 : mixed(from + i) >> 8));
    }
    for (uint64_t i = 0; from == 0 && i < 18 * 18; i++) {
        x32[i] = tg_float32_from_bits(bits_f32(i % 18));
        x64[i] = tg_double_from_bits(bits_f64(i % 18));
    }
}

static uint64_t add(uint64_t hash)
{
    for (int i = 0; i < BLOCK; i++) {
        hash = (hash ^ tg_float32_bits(z32[i])) * 0x100000001b3u;
        hash = (hash ^ tg_double_bits(z64[i])) * 0x100000001b3u;
    }
    return hash;
}

#define HASH(name, ulp32, ulp64)                          \
    static uint64_t hash_##name(uint64_t n)               \
    {                                                     \
        uint64_t hash = 0xcbf29ce484222325u;              \
        for (uint64_t at = 0; at < n; at += BLOCK) {      \
            fill(at);                                     \
            TG_FOR(i, BLOCK)                              \
                z32[i] = tg_##name##_f32(x32[i] CALL_32); \
            TG_FOR(i, BLOCK)                              \
                z64[i] = tg_##name##_f64(x64[i] CALL_64); \
            hash = add(hash);                             \
        }                                                 \
        return hash;                                      \
    }
#define CALL_32
#define CALL_64
TG_MATH_MAP(HASH)
#undef CALL_32
#undef CALL_64
#define CALL_32 , y32[i]
#define CALL_64 , y64[i]
HASH(pow, 0, 0)

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 0) : 100000;
#define PRINT(name, ulp32, ulp64) \
    printf("%-9s %016llx\n", #name, (unsigned long long)hash_##name(n));
    TG_MATH_MAP(PRINT)
    PRINT(pow, 0, 0)
    return 0;
}
