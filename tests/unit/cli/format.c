/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/format.h"

#include "test.h"

static const char *seconds(double value)
{
    static struct cli_text text;
    return cli_format_seconds(&text, value);
}

TEST(a_time_has_three_digits_and_the_unit_that_fits)
{
    CHECK_EQ_S(seconds(870e-9), "870 ns");
    CHECK_EQ_S(seconds(41.234e-6), "41.2 µs");
    CHECK_EQ_S(seconds(3.051e-3), "3.05 ms");
    CHECK_EQ_S(seconds(1.25), "1.25 s");
    CHECK_EQ_S(seconds(93.42), "93.4 s");
}

TEST(a_long_time_stays_in_seconds)
{
    CHECK_EQ_S(seconds(12345), "12345 s");
}

TEST(no_time_is_no_nanoseconds)
{
    CHECK_EQ_S(seconds(0), "0 ns");
}

TEST(rounding_up_changes_the_unit_or_the_digits)
{
    CHECK_EQ_S(seconds(999.9e-6), "1.00 ms");
    CHECK_EQ_S(seconds(9.999e-3), "10.0 ms");
    CHECK_EQ_S(seconds(99.99e-3), "100 ms");
}

TEST(one_thing_has_no_plural)
{
    struct cli_text text;
    CHECK_EQ_S(cli_format_count(&text, 1, "task"), "1 task");
    CHECK_EQ_S(cli_format_count(&text, 0, "task"), "0 tasks");
    CHECK_EQ_S(cli_format_count(&text, UINT64_MAX, "task"), "18446744073709551615 tasks");
}

TEST(a_micro_sign_is_one_column_wide)
{
    CHECK_EQ_I(cli_format_width("41.2 µs"), 7);
    CHECK_EQ_I(cli_format_width(""), 0);
}

TEST(a_character_of_chinese_takes_two_columns_and_a_combining_mark_none)
{
    CHECK_EQ_I(cli_format_width("\xe5\x8a\xa0\xe6\xb3\x95"), 4);
    CHECK_EQ_I(cli_format_width("e\xcc\x81"), 1);
    CHECK_EQ_I(cli_format_width("\033[1;31mred\033[0m"), 3);
}

static const char *cut(const char *text, int columns, enum cli_cut how)
{
    static char cell[64];
    return cli_format_cut(cell, sizeof cell, text, columns, how);
}

TEST(a_text_that_fits_is_not_cut)
{
    CHECK_EQ_S(cut("kernel", 6, CLI_CUT_END), "kernel");
    CHECK_EQ_S(cut("", 3, CLI_CUT_MIDDLE), "");
}

TEST(a_text_is_cut_where_the_caller_says)
{
    CHECK_EQ_S(cut("abcdefghij", 6, CLI_CUT_END), "abcde…");
    CHECK_EQ_S(cut("abcdefghij", 6, CLI_CUT_BEGIN), "…fghij");
    CHECK_EQ_S(cut("abcdefghij", 6, CLI_CUT_MIDDLE), "ab…hij");
    CHECK_EQ_S(cut("abcdefghij", 1, CLI_CUT_MIDDLE), "…");
}

TEST(a_number_is_not_cut_between_its_digits)
{
    CHECK_EQ_S(cut("12 345 6789", 8, CLI_CUT_WORDS), "12 345 …");
    CHECK_EQ_S(cut("12 345 6789", 7, CLI_CUT_WORDS), "12 …");
    CHECK_EQ_S(cut("12345", 3, CLI_CUT_WORDS), "…");
}

TEST(a_wide_character_is_not_cut_in_half)
{
    CHECK_EQ_S(cut("\xe5\x8a\xa0\xe6\xb3\x95\xe5\x8a\xa0", 4, CLI_CUT_END), "\xe5\x8a\xa0…");
}

TEST(a_text_with_more_bytes_than_room_is_cut)
{
    char cell[8];
    CHECK_EQ_S(cli_format_cut(cell, sizeof cell, "abcdefghij", 80, CLI_CUT_END), "abcd…");
}

TEST_MAIN()
