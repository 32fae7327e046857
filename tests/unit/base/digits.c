/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text, compared with printf. */
#include "test.h"

#include "base/digits.h"

#include <inttypes.h>

static void check(uint64_t value)
{
    char ours[32], theirs[32];
    *tg_digits_uint(ours, value) = '\0';
    snprintf(theirs, sizeof theirs, "%" PRIu64, value);
    CHECK_EQ_S(ours, theirs);
    *tg_digits_int(ours, (int64_t)value) = '\0';
    snprintf(theirs, sizeof theirs, "%" PRId64, (int64_t)value);
    CHECK_EQ_S(ours, theirs);
    *tg_digits_hex16(ours, value) = '\0';
    snprintf(theirs, sizeof theirs, "%016" PRIx64, value);
    CHECK_EQ_S(ours, theirs);
    *tg_digits_hex(ours, value) = '\0';
    snprintf(theirs, sizeof theirs, "%" PRIx64, value);
    CHECK_EQ_S(ours, theirs);
}

TEST(numbers_of_every_length_are_as_printf_writes_them)
{
    uint64_t power = 1;
    for (int i = 0; i < 20; i++, power *= 10) {
        check(power - 1);
        check(power);
        check(power + 7);
        check(0 - power);
    }
    for (int bit = 0; bit < 64; bit++) {
        check(UINT64_C(1) << bit);
        check((UINT64_C(1) << bit) - 1);
        check(UINT64_C(0x123456789abcdef0) >> bit);
        check(UINT64_C(0xfedcba9876543210) >> bit);
    }
}

TEST_MAIN()
