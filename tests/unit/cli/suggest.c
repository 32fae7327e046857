/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suggest.h"

#include "test.h"

static const char *nearest(const char *typed, const char *const *known)
{
    struct cli_suggestion suggestion;
    cli_suggest_start(&suggestion, typed);
    while (*known)
        cli_suggest_consider(&suggestion, *known++);
    return suggestion.best;
}

TEST(equal_words_have_no_distance)
{
    CHECK_EQ_U(cli_suggest_distance("", ""), 0);
    CHECK_EQ_U(cli_suggest_distance("cores", "cores"), 0);
}

TEST(each_slip_counts_one)
{
    CHECK_EQ_U(cli_suggest_distance("core", "cores"), 1);
    CHECK_EQ_U(cli_suggest_distance("coores", "cores"), 1);
    CHECK_EQ_U(cli_suggest_distance("cares", "cores"), 1);
    CHECK_EQ_U(cli_suggest_distance("croes", "cores"), 1);
    CHECK_EQ_U(cli_suggest_distance("", "cores"), 5);
    CHECK_EQ_U(cli_suggest_distance("cores", ""), 5);
}

TEST(slips_add_up)
{
    CHECK_EQ_U(cli_suggest_distance("shcedluers", "schedulers"), 2);
    CHECK_EQ_U(cli_suggest_distance("kitten", "sitting"), 3);
}

TEST(a_word_too_long_to_be_a_name_is_far_from_everything)
{
    CHECK_EQ_U(cli_suggest_distance("0123456789012345678901234567890123456789x", "cores"), 1000);
}

TEST(the_nearest_name_is_suggested)
{
    CHECK_EQ_S(nearest("lst", (const char *[]){"run", "list", "config", NULL}), "list");
    CHECK_EQ_S(nearest("confg", (const char *[]){"run", "list", "config", NULL}), "config");
}

TEST(the_beginning_of_a_name_suggests_it)
{
    CHECK_EQ_S(nearest("conf", (const char *[]){"run", "config", NULL}), "config");
}

TEST(nothing_is_suggested_where_nothing_is_near)
{
    CHECK(nearest("explode", (const char *[]){"run", "list", "config", NULL}) == NULL);
    CHECK(nearest("", (const char *[]){"run", "list", NULL}) == NULL);
}

TEST_MAIN()
