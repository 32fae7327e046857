/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option_table.h"

/* An option of the command line, split: --name or --name=value. */
struct word {
    char name[64];
    const char *value; /* NULL if there is no '=' */
};

void cli_parser_init(struct cli_parser *parser, const struct cli *cli, const struct cli_verb *verb)
{
    *parser = (struct cli_parser){
        .verb = verb,
        .settings = cli->settings,
        .argv = cli->argv,
        .argc = cli->argc,
        .at = cli->first,
    };
}

__attribute__((format(printf, 2, 3))) static enum cli_token bad(struct cli_parser *parser,
                                                                const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(parser->error, sizeof parser->error, format, values);
    va_end(values);
    return CLI_BAD;
}

/* Takes the value after '=', or else the next argument. False if there is neither. */
static bool take_value(struct cli_parser *parser, const struct word *word)
{
    parser->value = word->value;
    if (!parser->value && parser->at < parser->argc &&
        strncmp(parser->argv[parser->at], "--", 2) != 0)
        parser->value = parser->argv[parser->at++];
    return parser->value != NULL;
}

static enum cli_token own_option(struct cli_parser *parser, const struct cli_option *option,
                                 const struct word *word)
{
    parser->option = (size_t)(option - parser->verb->options);
    parser->value = NULL;
    if (!option->value && word->value)
        return bad(parser, "--%s takes no value", word->name);
    if (option->value && !take_value(parser, word))
        return bad(parser, "--%s needs a value: --%s %s", word->name, word->name, option->value);
    return CLI_OPTION;
}

/* A setting whose value may be left out takes the next word only if it accepts it, because an operand may
 * follow: `run --dump-tensor vector_add`. */
static bool takes_next(struct cli_parser *parser, const struct tg_setting_info *info)
{
    const char *next = parser->at < parser->argc ? parser->argv[parser->at] : NULL;
    if (!next || *next == '-' || tg_settings_set(parser->settings, info->name, next, NULL) != TG_OK)
        return false;
    parser->at++;
    return true;
}

/* Applies a setting. Returns CLI_END on success. */
static enum cli_token setting(struct cli_parser *parser, const struct tg_setting_info *info,
                              const struct word *word)
{
    struct tg_error error;
    if (info->alone && !word->value && takes_next(parser, info))
        return CLI_END;
    if (info->alone)
        parser->value = word->value ? word->value : info->alone;
    else if (!take_value(parser, word))
        return info->choices
                   ? bad(parser, "--%s needs a value, one of: %s", word->name, info->choices)
                   : bad(parser, "--%s needs a value: %s", word->name, info->help);
    if (tg_settings_set(parser->settings, info->name, parser->value, &error) != TG_OK)
        return bad(parser, "%s", error.text);
    return CLI_END;
}

static bool split(const char *argument, struct word *word)
{
    const char *name = argument + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    if (length >= sizeof word->name)
        return false;
    memcpy(word->name, name, length);
    word->name[length] = '\0';
    word->value = equals ? equals + 1 : NULL;
    return true;
}

/* Returns CLI_END for a setting that was applied. */
static enum cli_token named_option(struct cli_parser *parser, const struct word *word)
{
    const struct cli_option *option = cli_option_named(parser->verb, word->name);
    struct tg_setting_info info;
    if (option)
        return own_option(parser, option, word);
    for (size_t i = 0; (option = cli_common_option(i)); i++)
        if (strcmp(option->name, word->name) == 0) {
            parser->common = option->name;
            return word->value ? bad(parser, "--%s takes no value", word->name) : CLI_COMMON;
        }
    for (uint32_t i = 0; tg_settings_get(parser->settings, i, &info); i++)
        if (strcmp(info.name, word->name) == 0 && cli_setting_applies(parser->verb, info.name))
            return setting(parser, &info, word);
    cli_option_unknown(parser->verb, parser->settings, word->name, parser->error,
                       sizeof parser->error);
    return CLI_BAD;
}

static enum cli_token long_option(struct cli_parser *parser, const char *argument)
{
    struct word word;
    if (!split(argument, &word))
        return bad(parser, "unknown option %.60s…; 'taskglass %s --help' lists the options",
                   argument, parser->verb->name);
    return named_option(parser, &word);
}

/* Whether the option of a letter does: an own one says it, a common one does not, and each setting that has
 * a letter does. */
static bool takes_value(const struct cli_parser *parser, const char *name)
{
    const struct cli_option *option = cli_option_named(parser->verb, name);
    return option ? option->value != NULL : cli_setting_letter(name) != 0;
}

/* The next option of an argument such as "-qv" or "-ofile". */
static enum cli_token short_option(struct cli_parser *parser)
{
    const char *letter = parser->letters++, *rest = parser->letters;
    const char *name = cli_letter_name(parser->verb, *letter);
    struct word word = {.value = NULL};
    if (!name) {
        cli_letter_unknown(parser->verb, letter, parser->error, sizeof parser->error);
        return CLI_BAD;
    }
    snprintf(word.name, sizeof word.name, "%s", name);
    if (*rest && takes_value(parser, name)) {
        word.value = rest + (*rest == '=');
        parser->letters = NULL;
    } else if (!*rest) {
        parser->letters = NULL;
    }
    return named_option(parser, &word);
}

static enum cli_token next_argument(struct cli_parser *parser)
{
    const char *argument = parser->argv[parser->at++];
    if (parser->only_operands || argument[0] != '-' || argument[1] == '\0') {
        parser->value = argument;
        return CLI_OPERAND;
    }
    if (argument[1] != '-') {
        parser->letters = argument + 1;
        return short_option(parser);
    }
    if (argument[2] != '\0')
        return long_option(parser, argument);
    parser->only_operands = true;
    return CLI_END;
}

enum cli_token cli_parser_next(struct cli_parser *parser)
{
    enum cli_token token = CLI_END;
    while (token == CLI_END && (parser->letters || parser->at < parser->argc))
        token = parser->letters ? short_option(parser) : next_argument(parser);
    return token;
}

/* --- the loop -------------------------------------------------------------------------------- */

/* After the last option, because an option overrides the environment and an earlier option. */
static int check_settings(const struct cli *cli)
{
    struct tg_error error;
    return tg_settings_check(cli->settings, &error) == TG_OK ? CLI_OK : cli_error("%s", error.text);
}

/* Takes an option that every verb has. */
static int take_common(struct cli *cli, const char *name, bool *help)
{
    *help |= strcmp(name, "help") == 0;
    cli->is_quiet |= strcmp(name, "quiet") == 0;
    cli->is_verbose |= strcmp(name, "verbose") == 0;
    if (cli->is_quiet && cli->is_verbose)
        return cli_error("--quiet and --verbose contradict each other; leave one out");
    return CLI_OK;
}

static int take_own(struct cli *cli, const struct cli_option *option, void *request,
                    const char *value)
{
    cli->has_data |= option->is_data;
    return option->take(request, option, value);
}

int cli_options_read(struct cli *cli, const struct cli_verb *verb, void *request, bool *help)
{
    struct cli_parser parser;
    enum cli_token token;
    int code = CLI_OK;
    *help = false;
    cli_parser_init(&parser, cli, verb);
    while (code == CLI_OK && !*help && (token = cli_parser_next(&parser)) != CLI_END) {
        if (token == CLI_BAD)
            code = cli_error("%s", parser.error);
        else if (token == CLI_COMMON)
            code = take_common(cli, parser.common, help);
        else if (token == CLI_OPERAND)
            code = verb->operand(verb, request, parser.value);
        else
            code = take_own(cli, &verb->options[parser.option], request, parser.value);
    }
    return code == CLI_OK && !*help ? check_settings(cli) : code;
}

static void *member_of(void *request, size_t member)
{
    return (char *)request + member;
}

int cli_take_flag(void *request, const struct cli_option *option, const char *value)
{
    (void)value;
    *(bool *)member_of(request, option->member) = true;
    return CLI_OK;
}

int cli_take_text(void *request, const struct cli_option *option, const char *value)
{
    *(const char **)member_of(request, option->member) = value;
    return CLI_OK;
}

bool cli_parse_count(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

int cli_take_count(void *request, const struct cli_option *option, const char *value)
{
    struct cli_count *count = member_of(request, option->member);
    count->given = true;
    if (cli_parse_count(value, &count->number))
        return CLI_OK;
    return cli_error("--%s needs a whole number from 0 to " CLI_MOST_COUNT ", not '%s'",
                     option->name, value);
}

const char *cli_choices_format(cli_choice_fn choice, const char *or_and,
                               struct cli_choices *choices)
{
    const size_t room = sizeof choices->text;
    size_t at = 0;
    choices->text[0] = '\0';
    for (unsigned i = 0; choice(i) && at < room; i++) {
        bool is_last = !choice(i + 1);
        const char *gap = i == 0 ? "" : is_last ? " " : ", ";
        at += (size_t)snprintf(choices->text + at, room - at, "%s%s%s%s", gap,
                               i > 0 && is_last ? or_and : "", i > 0 && is_last ? " " : "",
                               choice(i));
    }
    return choices->text;
}

int cli_take_one(const struct cli_verb *verb, void *request, const char *word)
{
    const char **one = member_of(request, verb->member);
    if (*one)
        return cli_error("%s takes one %s; '%s' is one too many", verb->name, verb->noun, word);
    *one = word;
    return CLI_OK;
}
