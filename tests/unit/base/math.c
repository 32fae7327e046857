/* SPDX-License-Identifier: Apache-2.0 */
/* The ends of taskglass/math.h: zeros and their signs, infinities, NaN, subnormal numbers, and where
 * results overflow or vanish. tests/math measures the errors of everything in between. */
#include "test.h"
#include <taskglass/math.h>

/* The same value, and the same sign of a zero; every NaN must be the one without payload. */
static bool same_f32(float got, float want)
{
    return tg_float32_bits(got) == (isnan(want) ? 0x7fc00000u : tg_float32_bits(want));
}
static bool same_f64(double got, double want)
{
    return tg_double_bits(got) == (isnan(want) ? 0x7ff8000000000000u : tg_double_bits(want));
}

#define CHECK_BOTH(name, x, want)                                    \
    do {                                                             \
        CHECK(same_f32(tg_##name##_f32((float)(x)), (float)(want))); \
        CHECK(same_f64(tg_##name##_f64(x), want));                   \
    } while (0)

TEST(nan_gives_the_nan_without_payload)
{
#define NAN_(name, ulp32, ulp64)                                                             \
    CHECK(same_f32(tg_##name##_f32(tg_float32_from_bits(0xffc12345u)), NAN));                \
    CHECK(same_f32(tg_##name##_f32(tg_float32_from_bits(0x7f800001u)), NAN));                \
    CHECK(same_f64(tg_##name##_f64(tg_double_from_bits(0xfff8000000012345u)), (double)NAN)); \
    CHECK(same_f64(tg_##name##_f64(tg_double_from_bits(0x7ff0000000000001u)), (double)NAN));
    TG_MATH_MAP(NAN_)
}

TEST(infinities_give_limits)
{
    CHECK_BOTH(exp, -INFINITY, 0.0);
    CHECK_BOTH(exp, INFINITY, INFINITY);
    CHECK_BOTH(exp2, -INFINITY, 0.0);
    CHECK_BOTH(exp2, INFINITY, INFINITY);
    CHECK_BOTH(log, INFINITY, INFINITY);
    CHECK_BOTH(log, -INFINITY, NAN);
    CHECK_BOTH(log2, INFINITY, INFINITY);
    CHECK_BOTH(log2, -INFINITY, NAN);
    CHECK_BOTH(sqrt, INFINITY, INFINITY);
    CHECK_BOTH(sqrt, -INFINITY, NAN);
    CHECK_BOTH(rsqrt, INFINITY, 0.0);
    CHECK_BOTH(rsqrt, -INFINITY, NAN);
    CHECK_BOTH(tanh, INFINITY, 1.0);
    CHECK_BOTH(tanh, -INFINITY, -1.0);
    CHECK_BOTH(erf, INFINITY, 1.0);
    CHECK_BOTH(erf, -INFINITY, -1.0);
    CHECK_BOTH(sin, INFINITY, NAN);
    CHECK_BOTH(sin, -INFINITY, NAN);
    CHECK_BOTH(cos, INFINITY, NAN);
    CHECK_BOTH(cos, -INFINITY, NAN);
    CHECK_BOTH(sigmoid, INFINITY, 1.0);
    CHECK_BOTH(sigmoid, -INFINITY, 0.0);
    CHECK_BOTH(gelu, INFINITY, INFINITY);
    CHECK_BOTH(gelu, -INFINITY, -0.0);
    CHECK_BOTH(gelu_tanh, INFINITY, INFINITY);
    CHECK_BOTH(gelu_tanh, -INFINITY, -0.0);
}

TEST(zeros_keep_their_sign_where_the_function_is_odd)
{
    for (int negative = 0; negative < 2; negative++) {
        double zero = negative ? -0.0 : 0.0;
        CHECK_BOTH(exp, zero, 1.0);
        CHECK_BOTH(exp2, zero, 1.0);
        CHECK_BOTH(log, zero, -INFINITY);
        CHECK_BOTH(log2, zero, -INFINITY);
        CHECK_BOTH(sqrt, zero, zero);
        CHECK_BOTH(rsqrt, zero, negative ? -INFINITY : INFINITY);
        CHECK_BOTH(tanh, zero, zero);
        CHECK_BOTH(erf, zero, zero);
        CHECK_BOTH(sin, zero, zero);
        CHECK_BOTH(cos, zero, 1.0);
        CHECK_BOTH(sigmoid, zero, 0.5);
        CHECK_BOTH(gelu, zero, zero);
        CHECK_BOTH(gelu_tanh, zero, zero);
    }
}

TEST(negative_numbers_have_neither_logarithm_nor_root)
{
    CHECK_BOTH(log, -1.0, NAN);
    CHECK_BOTH(log2, -1.0, NAN);
    CHECK_BOTH(sqrt, -1.0, NAN);
    CHECK_BOTH(rsqrt, -1.0, NAN);
    CHECK(same_f64(tg_log_f64(-0x1p-1074), (double)NAN));
    CHECK(same_f64(tg_sqrt_f64(-0x1p-1074), (double)NAN));
    CHECK(same_f32(tg_rsqrt_f32(-0x1p-149f), NAN));
}

TEST(exact_results_are_exact)
{
    for (int k = -1074; k <= 1023; k++) {
        CHECK(same_f64(tg_exp2_f64(k), ldexp(1, k)));
        CHECK(same_f64(tg_log2_f64(ldexp(1, k)), k));
        CHECK(same_f64(tg_pow_f64(2, k), ldexp(1, k)));
        CHECK(same_f32(tg_exp2_f32((float)k), (float)ldexp(1, k)));
    }
    for (int k = -149; k <= 127; k++) {
        CHECK(same_f32(tg_log2_f32(ldexpf(1, k)), (float)k));
        CHECK(same_f32(tg_pow_f32(2, (float)k), ldexpf(1, k)));
    }
    CHECK_BOTH(log, 1.0, 0.0);
    CHECK_BOTH(exp, 0.0, 1.0);
    CHECK(same_f64(tg_pow_f64(-3, 5), -243));
    CHECK(same_f64(tg_pow_f64(9, 0.5), 3));
    CHECK(same_f32(tg_pow_f32(10, 10), 1e10f));
}

TEST(exp_overflows_and_vanishes_at_the_right_argument)
{
    CHECK(same_f32(tg_exp_f32(0x1.62e42ep6f), 0x1.ffff08p127f)); /* the last finite one */
    CHECK(same_f32(tg_exp_f32(0x1.62e430p6f), INFINITY));
    CHECK(same_f32(tg_exp_f32(-0x1.9fe368p6f), 0x1p-149f)); /* the last that is not 0 */
    CHECK(same_f32(tg_exp_f32(-0x1.9fe36ap6f), 0));
    CHECK(same_f64(tg_exp_f64(0x1.62e42fefa39f0p9), (double)INFINITY));
    CHECK(tg_exp_f64(0x1.62e42fefa39efp9) < (double)INFINITY);
    CHECK(same_f64(tg_exp_f64(-0x1.74910d52d3051p9), 0x1p-1074));
    CHECK(same_f64(tg_exp_f64(-0x1.74910d52d3052p9), 0));
    CHECK(same_f32(tg_exp2_f32(-149), 0x1p-149f));
    CHECK(same_f32(tg_exp2_f32(-150), 0));
    CHECK(same_f32(tg_exp2_f32(128), INFINITY));
    CHECK(same_f64(tg_exp2_f64(-1075), 0));
    CHECK(same_f64(tg_exp2_f64(1024), (double)INFINITY));
}

TEST(subnormal_arguments_are_not_lost)
{
    CHECK(same_f32(tg_sin_f32(0x1p-149f), 0x1p-149f));
    CHECK(same_f32(tg_tanh_f32(-0x1p-149f), -0x1p-149f));
    CHECK(same_f64(tg_sin_f64(0x1p-1074), 0x1p-1074));
    CHECK(same_f64(tg_tanh_f64(-0x1p-1074), -0x1p-1074));
    CHECK(same_f64(tg_sqrt_f64(0x1p-1074), 0x1p-537));
    CHECK(same_f64(tg_rsqrt_f64(0x1p-1074), 0x1p537));
    CHECK(same_f32(tg_rsqrt_f32(0x1p-148f), 0x1p74f));
    CHECK(same_f64(tg_log2_f64(0x1p-1074), -1074));
    CHECK(same_f64(tg_pow_f64(0x1p-1074, 0.5), 0x1p-537));
}

/* The arguments closest to a multiple of π/2; the results are known to 20 digits. */
TEST(sin_and_cos_reduce_arguments_of_any_size)
{
    CHECK(same_f32(tg_cos_f32(0x1.f37d0ap95f), (float)cos(0x1.f37d0ap95)));
    CHECK(same_f64(tg_cos_f64(6381956970095103.0 * 0x1p797), -4.6871659242546277e-19));
    CHECK(same_f64(tg_sin_f64(0x1.fffffffffffffp1023), 0.0049619547891840618));
    CHECK(same_f64(tg_sin_f64(3.1415926535897931), 1.2246467991473532e-16));
}

/* C's annex F.10.4.4, with every y of a kind for every x of a kind. */
TEST(pow_follows_annex_f)
{
    static const double odd[] = {1, 3, -1, -5, 9007199254740991.0};
    static const double even_or_none[] = {2, -4, 0.5, -2.5, 1e300, -1e300};
    for (int i = 0; i < 5; i++) {
        double end = odd[i] < 0 ? (double)INFINITY : 0, other = odd[i] < 0 ? 0 : (double)INFINITY;
        CHECK(same_f64(tg_pow_f64(0.0, odd[i]), end));
        CHECK(same_f64(tg_pow_f64(-0.0, odd[i]), -end));
        CHECK(same_f64(tg_pow_f64((double)INFINITY, odd[i]), other));
        CHECK(same_f64(tg_pow_f64(-(double)INFINITY, odd[i]), -other));
    }
    for (int i = 0; i < 6; i++) {
        double y = even_or_none[i];
        double end = y < 0 ? (double)INFINITY : 0, other = y < 0 ? 0 : (double)INFINITY;
        CHECK(same_f64(tg_pow_f64(0.0, y), end));
        CHECK(same_f64(tg_pow_f64(-0.0, y), end));
        CHECK(same_f64(tg_pow_f64((double)INFINITY, y), other));
        CHECK(same_f64(tg_pow_f64(-(double)INFINITY, y), other));
    }
    for (int sign = -1; sign <= 1; sign += 2) {
        CHECK(same_f64(tg_pow_f64(-1, sign * (double)INFINITY), 1));
        CHECK(same_f64(tg_pow_f64(sign * 0.5, (double)INFINITY), 0));
        CHECK(same_f64(tg_pow_f64(sign * 0.5, -(double)INFINITY), (double)INFINITY));
        CHECK(same_f64(tg_pow_f64(sign * 2, (double)INFINITY), (double)INFINITY));
        CHECK(same_f64(tg_pow_f64(sign * 2, -(double)INFINITY), 0));
        CHECK(same_f64(tg_pow_f64((double)NAN, sign * 0.0), 1));
        CHECK(same_f32(tg_pow_f32(NAN, (float)sign * 0.0f), 1));
    }
    CHECK(same_f64(tg_pow_f64(1, (double)NAN), 1));
    CHECK(same_f32(tg_pow_f32(1, NAN), 1));
    CHECK(same_f64(tg_pow_f64(-1, (double)NAN), (double)NAN));
    CHECK(same_f64(tg_pow_f64((double)NAN, 2), (double)NAN));
    CHECK(same_f64(tg_pow_f64(-2, 0.5), (double)NAN));
    CHECK(same_f64(tg_pow_f64(-0x1p-1074, 1.5), (double)NAN));
    CHECK(same_f32(tg_pow_f32(-2, 0.5f), NAN));
}

/* libm has the same special cases. */
TEST(pow_agrees_with_libm_on_all_pairs_of_ends)
{
    static const double ends[] = {0.0,
                                  0x1p-1074,
                                  0x1p-149,
                                  0x1p-126,
                                  0.5,
                                  1.0,
                                  1.5,
                                  2.0,
                                  3.0,
                                  0x1.fffffep23,
                                  0x1p24,
                                  0x1.fffffffffffffp52,
                                  0x1p53,
                                  0x1.fffffep127,
                                  0x1.fffffffffffffp1023,
                                  INFINITY,
                                  NAN};
    enum { N = 2 * sizeof ends / sizeof *ends };
    for (int i = 0; i < N * N; i++) {
        double x = copysign(ends[i / N / 2], i / N % 2 ? -1 : 1);
        double y = copysign(ends[i % N / 2], i % 2 ? -1 : 1);
        double want = pow(x, y), narrow = pow((double)(float)x, (double)(float)y);
        double got = tg_pow_f64(x, y), got32 = (double)tg_pow_f32((float)x, (float)y);
        if (isnan(want) || isinf(want) || want == 0)
            CHECK(same_f64(got, want));
        else
            CHECK(fabs(got - want) <= fabs(want) * 0x1p-52);
        CHECK(same_f32((float)got32, (float)narrow));
    }
}

TEST_MAIN()
