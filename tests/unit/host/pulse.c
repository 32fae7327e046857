/* SPDX-License-Identifier: Apache-2.0 */
#include "host/pulse.h"

#include "test.h"

enum { MS = 1000000 };

TEST(a_period_is_a_small_part_of_its_limit)
{
    CHECK_EQ_U(tg_pulse_period(640 * MS), 10 * MS);
    CHECK_EQ_U(tg_pulse_period(64 * MS), 1 * MS);
}

TEST(a_period_is_neither_too_short_nor_too_long)
{
    CHECK_EQ_U(tg_pulse_period(0), 1 * MS);
    CHECK_EQ_U(tg_pulse_period(3200ull * MS), 50 * MS);
    CHECK_EQ_U(tg_pulse_period(60000ull * MS), 50 * MS);
    CHECK_EQ_U(tg_pulse_period(UINT64_MAX), 50 * MS);
}

TEST_MAIN()
