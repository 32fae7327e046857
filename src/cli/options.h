/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a verb: a table says what they are called, what the help says about them, and where
 * their values go; one loop reads every verb's command line by its table.
 *
 *     static const struct cli_option options[] = {
 *         CLI_TEXT(struct request, out, "out", "PATH", "where to write"),
 *         CLI_FLAG(struct request, json, "json", "the result for programs"),
 *         CLI_CALL("repeat", "N", "run it N times", take_repeat),
 *     };
 *
 * `--name value` and `--name=value` are the same; flags stand alone, those of the settings also
 * as `--name=no`; `--` ends the options. Options that are settings are applied on the way and
 * not shown.
 */
#ifndef TG_CLI_OPTIONS_H
#define TG_CLI_OPTIONS_H

#include "cli/cli.h"

/* clang-format off */
#define CLI_OPTION_(name, value, help, take, member) {name, value, help, take, member, NULL}
/* The member is a bool, set to true. */
#define CLI_FLAG(type, member, name, help) \
    CLI_OPTION_(name, NULL, help, cli_take_flag, offsetof(type, member))
/* The member is a const char *; the last one given wins. */
#define CLI_TEXT(type, member, name, value, help) \
    CLI_OPTION_(name, value, help, cli_take_text, offsetof(type, member))
/* The member is a struct cli_count. */
#define CLI_COUNT(type, member, name, value, help) \
    CLI_OPTION_(name, value, help, cli_take_count, offsetof(type, member))
/* A function of the verb's own takes the value. */
#define CLI_CALL(name, value, help, take) CLI_OPTION_(name, value, help, take, 0)
/* The same for one of some words, which the help lists before its text. */
#define CLI_CHOICE(name, value, choice, help, take) {name, value, help, take, 0, choice}
/* clang-format on */

struct cli_choices {
    char text[300];
};
/* "npy, npz or txt", with that word before the last one. Gives choices->text. */
const char *cli_choices_format(cli_choice_fn choice, const char *or_and,
                               struct cli_choices *choices);

/* A whole number that may be absent. */
struct cli_count {
    uint64_t number;
    bool given;
};
/* "12" and nothing else; false for anything but a whole number. */
bool cli_parse_count(const char *text, uint64_t *number);

int cli_take_flag(void *request, const struct cli_option *option, const char *value);
int cli_take_text(void *request, const struct cli_option *option, const char *value);
int cli_take_count(void *request, const struct cli_option *option, const char *value);

/* For verbs that take one word at most: the verb's `member` is a const char *, NULL where there is
 * none, and its `noun` is what a second word is one too many of. */
int cli_take_one(const struct cli_verb *verb, void *request, const char *word);

/* The loop. *help: the help is wanted, and nothing else counts. Gives the exit code; what makes no
 * sense was said on stderr. */
int cli_options_read(const struct cli *cli, const struct cli_verb *verb, void *request, bool *help);

/* The words of a command line one by one, which the loop is made of. */
enum cli_token {
    CLI_BAD = -1, /* parser.error says why */
    CLI_END = 0,
    CLI_OPTION,  /* number parser.option of the verb's own; parser.value, NULL for a flag */
    CLI_OPERAND, /* parser.value */
    CLI_HELP     /* --help or -h */
};

struct cli_parser {
    const struct cli_verb *verb;
    struct tg_settings *settings;
    char *const *argv;
    int argc;
    int at;
    bool only_operands; /* "--" was there */
    size_t option;
    const char *value;
    char error[500];
};

void cli_parser_init(struct cli_parser *parser, const struct cli *cli, const struct cli_verb *verb);
enum cli_token cli_parser_next(struct cli_parser *parser);

#endif
