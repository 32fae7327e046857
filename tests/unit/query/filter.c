/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "query/filter.h"

#include <stdlib.h>

static struct tg_filter_spec specs[TG_MAX_FILTERS];
static uint32_t count;
static struct tg_error error;

static const struct tg_filter *parse(const char *text)
{
    memset(specs, 0xee, sizeof specs);
    REQUIRE(tg_filter_parse(text, specs, &count, &error) == TG_OK);
    return &specs[0].filter;
}

static const char *refuse(const char *text)
{
    count = 99;
    CHECK_EQ_I(tg_filter_parse(text, specs, &count, &error), TG_BAD_ARGUMENT);
    CHECK_EQ_U(count, 0);
    CHECK(!strchr(error.text, '\n'));
    return error.text;
}

TEST(no_text_is_no_filter)
{
    parse("");
    CHECK_EQ_U(count, 0);
}

TEST(what_is_not_said_lets_everything_pass)
{
    const struct tg_filter *filter = parse("kernel=add");
    CHECK_EQ_U(count, 1);
    CHECK_EQ_U(filter->first_task, 0);
    CHECK_EQ_U(filter->last_task, UINT64_MAX);
    CHECK_EQ_U(filter->arguments, UINT32_MAX);
    CHECK_EQ_U(filter->stages, 7);
    CHECK_EQ_U(filter->roles, 15);
    CHECK_EQ_S(specs[0].kernel, "add");
}

TEST(a_task_is_a_number_a_hex_number_or_ring_and_index)
{
    CHECK_EQ_U(parse("task=12")->first_task, 12);
    CHECK_EQ_U(specs[0].filter.last_task, 12);
    CHECK_EQ_U(parse("task=0x10000000C")->first_task, 0x10000000c);
    CHECK_EQ_U(parse("task=1:12")->last_task, 0x10000000c);
}

TEST(a_range_of_tasks_has_both_ends)
{
    const struct tg_filter *filter = parse("task=1:0-1:99");
    CHECK_EQ_U(filter->first_task, 0x100000000);
    CHECK_EQ_U(filter->last_task, 0x100000063);
}

TEST(stages_roles_and_arguments_are_joined_by_plus)
{
    const struct tg_filter *filter =
        parse("stage=before+after_completion,role=in+scalar,arg=0+2-4");
    CHECK_EQ_U(filter->stages, 1u << TG_BEFORE_DISPATCH | 1u << TG_AFTER_COMPLETION);
    CHECK_EQ_U(filter->roles, 1u << TG_IN | 1u);
    CHECK_EQ_U(filter->arguments, 0x1d);
}

TEST(the_last_argument_there_can_be_is_31)
{
    CHECK_EQ_U(parse("arg=31")->arguments, 1u << 31);
    CHECK_EQ_U(parse("arg=0-31")->arguments, UINT32_MAX);
    CHECK_HAS(refuse("arg=32"), "'32' is not a valid argument; it takes numbers from 0 to 31");
}

TEST(filters_are_separated_by_semicolons)
{
    parse("kernel=a;task=3,role=out;stage=after");
    CHECK_EQ_U(count, 3);
    CHECK_EQ_S(specs[0].kernel, "a");
    CHECK_EQ_S(specs[1].kernel, "");
    CHECK_EQ_U(specs[1].filter.roles, 1u << TG_OUT);
    CHECK_EQ_U(specs[2].filter.first_task, 0);
}

TEST(eight_filters_are_enough)
{
    parse("arg=0;arg=1;arg=2;arg=3;arg=4;arg=5;arg=6;arg=7");
    CHECK_EQ_U(count, 8);
    CHECK_HAS(refuse("arg=0;arg=1;arg=2;arg=3;arg=4;arg=5;arg=6;arg=7;arg=8"),
              "'arg=8' is one filter too many; the limit is 8");
}

TEST(what_makes_no_sense_is_named_with_what_would)
{
    CHECK_HAS(refuse("kernl=add"),
              "'kernl' is not a key; the keys are task, kernel, stage, role and arg");
    CHECK_HAS(refuse("add"), "'add' is not key=value");
    CHECK_HAS(refuse("task=5-3"), "'5-3' is not a valid task");
    CHECK_HAS(refuse("task="), "'' is not a valid task");
    CHECK_HAS(refuse("task=0x"), "'0x' is not a valid task");
    CHECK_HAS(refuse("task=99999999999999999999"), "is not a valid task");
    CHECK_HAS(refuse("task=1:4294967296"), "is not a valid task");
    CHECK_HAS(refuse("stage=during"), "'during' is not a valid stage; it takes before, after");
    CHECK_HAS(refuse("role=in+"), "'' is not a valid role; it takes in, out, inout and scalar");
    CHECK_HAS(refuse("arg=2-1"), "'2-1' is not a valid argument");
    CHECK_HAS(refuse("kernel="), "'' is not a valid kernel");
    CHECK_HAS(refuse("arg=1,,arg=2"), "'' is not key=value");
    CHECK_HAS(refuse(";"), "'' is not key=value");
    CHECK_HAS(refuse("arg=1,arg=2"), "arg appears twice");
}

TEST(a_long_word_stays_in_one_line)
{
    char text[4000] = "task=";
    memset(text + 5, '\n', sizeof text - 6);
    CHECK(strlen(refuse(text)) < sizeof error.text);
}

TEST(a_kernel_is_a_pattern)
{
    static const struct {
        const char *text, *name;
        bool matches;
    } rows[] = {
        {"kernel=add", "add", true},      {"kernel=add", "add2", false},
        {"kernel=add*", "add2", true},    {"kernel=*", "", true},
        {"kernel=a*d*z", "abdcdz", true}, {"kernel=a*d*z", "abdcdzy", false},
        {"kernel=?dd", "add", true},      {"kernel=?dd", "dd", false},
        {"kernel=*a*", "bbb", false},     {"task=1", "anything", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        parse(rows[i].text);
        if (!CHECK(tg_filter_kernel_matches(&specs[0], rows[i].name) == rows[i].matches))
            fprintf(stderr, "    %s for %s\n", rows[i].text, rows[i].name);
    }
}

TEST_MAIN()
