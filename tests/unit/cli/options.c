/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include "test.h"

struct request {
    const char *word, *name;
    struct cli_count limit;
    bool json;
};

static int refuse(void *request, const struct cli_option *option, const char *value)
{
    (void)request;
    return cli_error("--%s refuses '%s'", option->name, value);
}

static const struct cli_option options[] = {
    CLI_TEXT(struct request, name, "case", "NAME", "a value"),
    CLI_FLAG(struct request, json, "json", "a flag"),
    CLI_COUNT(struct request, limit, "limit", "N", "a number"),
    CLI_CALL("refused", "X", refuse, "a function"),
    CLI_TEXT(struct request, name, "output", "FILE", "a value", .letter = 'o'),
    CLI_FLAG(struct request, json, "old", "a flag", .letter = 'j', .is_hidden = true),
};
static const struct cli_verb verb = {.name = "verb",
                                     .usage = "",
                                     .summary = "",
                                     .options = options,
                                     .n_options = sizeof options / sizeof options[0],
                                     .settings = "cores deps platform dump-tensor sandbox",
                                     .request_size = sizeof(struct request),
                                     .operand = cli_take_one,
                                     .noun = "word",
                                     .member = offsetof(struct request, word)};

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

TEST(a_setting_with_an_optional_value_takes_the_next_word_if_it_accepts_it)
{
    struct cli_parser p = parse((char *[]){"--dump-tensor", "meta", "--deps", "no", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_END);
    CHECK_EQ_S(tg_settings_text(p.settings, "dump-tensor"), "meta");
    CHECK(!tg_settings_flag(p.settings, "deps"));
    done(&p);
}

TEST(a_setting_with_an_optional_value_leaves_other_words_alone)
{
    struct cli_parser p = parse((char *[]){"--dump-tensor", "word", "--deps", "other", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPERAND);
    CHECK_EQ_S(p.value, "word");
    CHECK_EQ_S(tg_settings_text(p.settings, "dump-tensor"), "full");
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPERAND);
    CHECK_EQ_S(p.value, "other");
    CHECK(tg_settings_flag(p.settings, "deps"));
    done(&p);
}

TEST(a_short_option_takes_its_value_with_or_without_a_space)
{
    char *lines[][3] = {{"-o", "file", NULL}, {"-ofile", NULL}, {"-o=file", NULL}};
    for (size_t i = 0; i < 3; i++) {
        struct cli_parser p = parse(lines[i]);
        CHECK_EQ_I(cli_parser_next(&p), CLI_OPTION);
        CHECK_EQ_U(p.option, 4);
        CHECK_EQ_S(p.value, "file");
        done(&p);
    }
}

TEST(short_flags_stand_together_and_a_value_ends_them)
{
    struct cli_parser p = parse((char *[]){"-qjofile", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_COMMON);
    CHECK_EQ_S(p.common, "quiet");
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPTION);
    CHECK_EQ_U(p.option, 5);
    CHECK_EQ_I(cli_parser_next(&p), CLI_OPTION);
    CHECK_EQ_S(p.value, "file");
    done(&p);
    p = parse((char *[]){"-pa5sim", NULL});
    CHECK_EQ_I(cli_parser_next(&p), CLI_END);
    CHECK_EQ_S(tg_settings_text(p.settings, "platform"), "a5sim");
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
    CHECK_EQ_I(cli_parser_next(&p), CLI_COMMON);
    CHECK_EQ_S(p.common, "help");
    CHECK_EQ_I(cli_parser_next(&p), CLI_COMMON);
    CHECK_EQ_S(p.common, "help");
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
    check_bad((char *[]){"--sandbox", NULL}, "one of: on off");
}

TEST(a_flag_with_a_value_is_refused)
{
    check_bad((char *[]){"--json=1", NULL}, "--json takes no value");
}

TEST(a_value_that_does_not_fit_its_setting_is_refused)
{
    check_bad((char *[]){"--cores", "many", NULL}, "many");
}

TEST(an_unknown_short_option_is_refused)
{
    check_bad((char *[]){"-x", NULL}, "unknown option -x");
    check_bad((char *[]){"-o", NULL}, "--output FILE");
}

TEST(a_setting_that_does_not_apply_is_refused_with_the_verbs_that_take_it)
{
    check_bad((char *[]){"--schedulers", "2", NULL},
              "verb does not take --schedulers; it is an option of run, ");
}

TEST(an_option_of_another_verb_is_refused_with_its_verb)
{
    check_bad((char *[]){"--blame", NULL}, "verb does not take --blame; it is an option of diff");
}

TEST(an_older_name_is_never_suggested)
{
    check_bad((char *[]){"--odl", NULL}, "'taskglass verb --help'");
}

/* --- the loop: where the values go ------------------------------------------------------------ */

static int read_words(char **words, struct request *request, bool *help)
{
    struct cli cli = {.argv = words};
    while (words[cli.argc])
        cli.argc++;
    REQUIRE(tg_settings_create(&cli.settings, NULL) == TG_OK);
    *request = (struct request){0};
    int code = cli_options_read(&cli, &verb, request, help);
    tg_settings_destroy(cli.settings);
    return code;
}

TEST(the_loop_puts_each_value_where_its_option_says)
{
    struct request r;
    bool help;
    char *words[] = {"--case", "a", "--limit=12", "here", "--json", "--case=b", NULL};
    CHECK_EQ_I(read_words(words, &r, &help), CLI_OK);
    CHECK_EQ_S(r.name, "b");
    CHECK_EQ_S(r.word, "here");
    CHECK(r.json && r.limit.given && r.limit.number == 12 && !help);
}

TEST(the_loop_leaves_alone_what_was_not_given)
{
    struct request r;
    bool help;
    CHECK_EQ_I(read_words((char *[]){NULL}, &r, &help), CLI_OK);
    CHECK(!r.name && !r.word && !r.json && !r.limit.given && !help);
}

TEST(the_loop_refuses_quiet_with_verbose)
{
    struct request r;
    bool help;
    CHECK_EQ_I(read_words((char *[]){"-qv", NULL}, &r, &help), CLI_USAGE);
    CHECK_EQ_I(read_words((char *[]){"--quiet", "-q", NULL}, &r, &help), CLI_OK);
}

TEST(the_loop_ends_at_the_help)
{
    struct request r;
    bool help;
    CHECK_EQ_I(read_words((char *[]){"--help", "--nonsense", NULL}, &r, &help), CLI_OK);
    CHECK(help);
}

TEST(the_loop_ends_at_what_makes_no_sense)
{
    struct request r;
    bool help;
    CHECK_EQ_I(read_words((char *[]){"--limit", "-1", "--json", NULL}, &r, &help), CLI_USAGE);
    CHECK_EQ_I(read_words((char *[]){"--limit", "12x", NULL}, &r, &help), CLI_USAGE);
    CHECK_EQ_I(read_words((char *[]){"--refused", "y", "--json", NULL}, &r, &help), CLI_USAGE);
    CHECK(!r.json);
    CHECK_EQ_I(read_words((char *[]){"--nonsense", "--help", NULL}, &r, &help), CLI_USAGE);
    CHECK(!help);
    CHECK_EQ_I(read_words((char *[]){"one", "two", NULL}, &r, &help), CLI_USAGE);
    CHECK_EQ_S(r.word, "one");
}

TEST_MAIN()
