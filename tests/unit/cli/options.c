/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include "test.h"

static const struct cli_option options[] = {
    {"case", "NAME", "a value"},
    {"json", NULL, "a flag"},
};
static const struct cli_verb verb = {
    .name = "verb", .usage = "", .summary = "", .options = options, .n_options = 2};

/* A parser over the words, up to NULL. */
static struct cli_parser parse(char **words)
{
    struct cli_parser parser;
    struct cli cli = {.argv = words};
    while (words[cli.argc])
        cli.argc++;
    REQUIRE(tg_settings_create(&cli.settings, NULL) == TG_OK);
    cli_parser_init(&parser, &cli, &verb);
    return parser;
}

static void done(struct cli_parser *parser)
{
    CHECK_EQ_I(cli_parser_next(parser), CLI_END);
    tg_settings_destroy(parser->settings);
}

TEST(no_words_are_the_end)
{
    struct cli_parser p = parse((char *[]){NULL});
    done(&p);
}

TEST(an_option_takes_the_next_word)
{
    struct cli_parser p = parse((char *[]){"--case", "small", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPTION);
    CHECK_EQ_U(p.option, 0);
    CHECK_EQ_S(p.value, "small");
    done(&p);
}

TEST(an_option_takes_what_is_behind_the_equals_sign)
{
    struct cli_parser p = parse((char *[]){"--case=a=b", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPTION);
    CHECK_EQ_S(p.value, "a=b");
    done(&p);
}

TEST(a_value_may_be_empty)
{
    struct cli_parser p = parse((char *[]){"--case=", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPTION);
    CHECK_EQ_S(p.value, "");
    done(&p);
}

TEST(a_value_may_begin_with_a_hyphen)
{
    struct cli_parser p = parse((char *[]){"--case", "-1", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPTION);
    CHECK_EQ_S(p.value, "-1");
    done(&p);
}

TEST(a_flag_stands_alone)
{
    struct cli_parser p = parse((char *[]){"--json", "word", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPTION);
    CHECK_EQ_U(p.option, 1);
    CHECK(p.value == NULL);
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPERAND);
    done(&p);
}

TEST(words_are_operands_wherever_they_stand)
{
    struct cli_parser p = parse((char *[]){"a", "--json", "b", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPERAND);
    CHECK_EQ_S(p.value, "a");
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPTION);
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPERAND);
    CHECK_EQ_S(p.value, "b");
    done(&p);
}

TEST(a_lone_hyphen_is_an_operand)
{
    struct cli_parser p = parse((char *[]){"-", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPERAND);
    done(&p);
}

TEST(behind_two_hyphens_everything_is_an_operand)
{
    struct cli_parser p = parse((char *[]){"--", "--json", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPERAND);
    CHECK_EQ_S(p.value, "--json");
    done(&p);
}

TEST(a_setting_is_applied_on_the_way)
{
    struct cli_parser p = parse((char *[]){"--cores", "6", "word", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPERAND);
    CHECK_EQ_U(tg_settings_count(p.settings, "cores"), 6);
    done(&p);
}

TEST(a_flag_of_the_settings_does_not_take_the_next_word)
{
    struct cli_parser p = parse((char *[]){"--deps", "no", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPERAND);
    CHECK(tg_settings_flag(p.settings, "deps"));
    done(&p);
}

TEST(a_flag_of_the_settings_can_be_switched_off)
{
    struct cli_parser p = parse((char *[]){"--deps", "--deps=no", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_END);
    CHECK(!tg_settings_flag(p.settings, "deps"));
    done(&p);
}

TEST(help_is_asked_for_by_either_name)
{
    struct cli_parser p = parse((char *[]){"--help", "-h", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_HELP);
    CHECK_EQ_I(cli_parser_next(&p), CLI_HELP);
    done(&p);
}

static void check_bad(char **words, const char *part)
{
    struct cli_parser p = parse(words);
    CHECK_EQ_I(cli_parser_next(&p), CLI_BAD);
    CHECK_HAS(p.error, part);
    tg_settings_destroy(p.settings);
}

TEST(a_mistyped_option_gets_the_nearest_name)
{
    check_bad((char *[]){"--caes", "x", NULL}, "did you mean --case?");
    check_bad((char *[]){"--plat", "x", NULL}, "did you mean --platform?");
    check_bad((char *[]){"--hlep", NULL}, "did you mean --help?");
}

TEST(an_option_that_is_near_nothing_gets_no_guess)
{
    check_bad((char *[]){"--xyzzy", NULL}, "'taskglass verb --help'");
}

TEST(a_missing_value_is_named)
{
    check_bad((char *[]){"--case", NULL}, "--case NAME");
    check_bad((char *[]){"--case", "--json", NULL}, "--case NAME");
    check_bad((char *[]){"--cores", NULL}, "--cores");
}

TEST(a_flag_with_a_value_is_refused)
{
    check_bad((char *[]){"--json=1", NULL}, "--json takes no value");
}

TEST(a_value_that_does_not_fit_its_setting_is_refused)
{
    check_bad((char *[]){"--cores", "many", NULL}, "many");
}

TEST(a_short_option_is_refused)
{
    check_bad((char *[]){"-j", NULL}, "-j");
}

TEST_MAIN()
