/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>
#include <taskglass/numeric.h>

#include "comm/reduce.h"

static uint64_t one(uint32_t dtype, uint32_t operation, uint64_t a, uint64_t b)
{
    unsigned char x[8] = {0}, y[8] = {0}, r[8] = {0};
    tg_store_bits(dtype, x, 0, a);
    tg_store_bits(dtype, y, 0, b);
    tg_comm_reduce(dtype, operation, r, x, y, 1);
    return tg_load_bits(dtype, r, 0);
}

static double of(uint32_t dtype, uint32_t operation, double a, double b)
{
    return tg_decode(dtype, one(dtype, operation, tg_encode(dtype, a), tg_encode(dtype, b)));
}

TEST(integers_wrap_around)
{
    CHECK_EQ_U(one(TG_INT8, TG_SUM, 127, 1), 0x80);
    CHECK_EQ_U(one(TG_UINT16, TG_SUM, 65535, 2), 1);
    CHECK_EQ_U(one(TG_UINT16, TG_PRODUCT, 65535, 65535), 1);
    CHECK_EQ_U(one(TG_INT32, TG_PRODUCT, 1u << 31, 3), 1u << 31);
    CHECK_EQ_U(one(TG_INT64, TG_SUM, UINT64_MAX, 1), 0);
    CHECK_EQ_U(one(TG_INT4, TG_SUM, 7, 1), 8);
    CHECK_EQ_U(one(TG_INT4, TG_MIN, 7, 8), 8); /* 8 is -8 */
    CHECK_EQ_U(one(TG_INT8, TG_MAX, 0x80, 1), 1);
    CHECK_EQ_U(one(TG_UINT8, TG_MAX, 0x80, 1), 0x80);
}

TEST(truth_is_or_and_and)
{
    for (unsigned a = 0; a < 3; a++)
        for (unsigned b = 0; b < 3; b++) {
            CHECK_EQ_U(one(TG_BOOL, TG_SUM, a, b), a || b);
            CHECK_EQ_U(one(TG_BOOL, TG_MAX, a, b), a || b);
            CHECK_EQ_U(one(TG_BOOL, TG_PRODUCT, a, b), a && b);
            CHECK_EQ_U(one(TG_BOOL, TG_MIN, a, b), a && b);
        }
}

TEST(nan_wins)
{
    static const uint32_t floats[] = {TG_FLOAT64,  TG_FLOAT32,       TG_FLOAT16,
                                      TG_BFLOAT16, TG_FLOAT8_E4M3FN, TG_FLOAT8_E5M2};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        for (uint32_t operation = 0; operation < TG_REDUCTIONS; operation++) {
            CHECK(isnan(of(floats[i], operation, NAN, 1)));
            CHECK(isnan(of(floats[i], operation, 1, NAN)));
            CHECK(isnan(of(floats[i], operation, NAN, NAN)));
            CHECK_NEAR(of(floats[i], TG_MIN, -1, 2), -1, 0);
            CHECK_NEAR(of(floats[i], TG_MAX, -1, 2), 2, 0);
        }
}

/* A short float is as if the exact result had been rounded once. */
TEST(short_floats_are_rounded_once)
{
    static const uint32_t floats[] = {TG_FLOAT16, TG_BFLOAT16, TG_FLOAT8_E4M3FN, TG_FLOAT8_E5M2,
                                      TG_FLOAT4_E2M1FN};
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        for (int k = 0; k < 200000; k++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const uint64_t mask = (UINT64_C(1) << tg_bits_of(floats[i])) - 1;
            const uint64_t a = seed >> 20 & mask, b = seed >> 40 & mask;
            const double x = tg_decode(floats[i], a), y = tg_decode(floats[i], b);
            const uint64_t sum = one(floats[i], TG_SUM, a, b);
            const uint64_t product = one(floats[i], TG_PRODUCT, a, b);
            if (!isnan(x + y) && !CHECK_EQ_U(sum, tg_encode(floats[i], x + y)))
                return;
            if (!isnan(x * y) && !CHECK_EQ_U(product, tg_encode(floats[i], x * y)))
                return;
        }
}

/* Whatever the alignment, and whether `to` is an operand. */
TEST(any_alignment_and_any_target_gives_the_same_bits)
{
    static unsigned char a[4100], b[4100], to[4100], want[4100];
    for (uint32_t dtype = 1; dtype < TG_DTYPE_END; dtype++)
        for (uint32_t operation = 0; operation < TG_REDUCTIONS; operation++)
            for (int shift = 0; shift < 5; shift++) {
                const int64_t n = 333;
                const size_t bytes = tg_bytes_of(dtype, n + n % 2);
                for (size_t i = 0; i < sizeof a; i++)
                    a[i] = (unsigned char)(i * 37), b[i] = (unsigned char)(i * 91 + 5);
                memset(to, 0, sizeof to);
                memset(want, 0, sizeof want);
                for (int64_t i = 0; i < n; i++)
                    tg_store_bits(dtype, want, i,
                                  one(dtype, operation, tg_load_bits(dtype, a, i),
                                      tg_load_bits(dtype, b, i)));
                memmove(a + shift, a, bytes);
                tg_comm_reduce(dtype, operation, to + 4 - shift, a + shift, b, n);
                if (!CHECK_EQ_MEM(to + 4 - shift, want, tg_bytes_of(dtype, n - n % 2)))
                    return;
                tg_comm_reduce(dtype, operation, b, a + shift, b, n);
                if (!CHECK_EQ_MEM(b, want, tg_bytes_of(dtype, n - n % 2)))
                    return;
            }
}

TEST_MAIN()
