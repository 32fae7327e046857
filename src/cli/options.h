/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a verb. A table has their names, their help texts, and where in the verb's request
 * their values go. One loop reads the command line of every verb with the verb's table.
 *
 *     static const struct cli_option options[] = {
 *         CLI_TEXT(struct request, out, "out", "PATH", "where to write"),
 *         CLI_FLAG(struct request, json, "json", "print the result for programs"),
 *         CLI_CALL("repeat", "N", "run it N times", take_repeat),
 *     };
 *
 * `--name value` and `--name=value` are the same. A flag takes no value; if it is a setting, `--name=no`
 * turns it off. `--` ends the options. The loop applies settings itself, so verbs never see them.
 */
#ifndef TG_CLI_OPTIONS_H
#define TG_CLI_OPTIONS_H

#include "cli/cli.h"

/* clang-format off */
#define CLI_OPTION_(name, value, help, take, member) {name, value, help, take, member, NULL}
/* The member is a bool; the flag sets it to true. */
#define CLI_FLAG(type, member, name, help) \
    CLI_OPTION_(name, NULL, help, cli_take_flag, offsetof(type, member))
/* The member is a const char *; if the option is repeated, the last value wins. */
#define CLI_TEXT(type, member, name, value, help) \
    CLI_OPTION_(name, value, help, cli_take_text, offsetof(type, member))
/* The member is a struct cli_count. The help names the range. */
#define CLI_COUNT(type, member, name, value, help) \
    CLI_OPTION_(name, value, help "; from 0 to " CLI_MOST_COUNT, cli_take_count, offsetof(type, member))
/* The verb's own function takes the value. */
#define CLI_CALL(name, value, help, take) CLI_OPTION_(name, value, help, take, 0)
/* The same for an option that accepts only certain words; the help lists them before its text. */
#define CLI_CHOICE(name, value, choice, help, take) {name, value, help, take, 0, choice}
/* clang-format on */

/* The largest number that cli_parse_count takes. */
#define CLI_MOST_COUNT "18446744073709551615"

struct cli_choices {
    char text[300];
};
/* "npy, npz or txt" if or_and is "or". Returns choices->text. */
const char *cli_choices_format(cli_choice_fn choice, const char *or_and,
                               struct cli_choices *choices);

/* A whole number, and whether the user gave one. */
struct cli_count {
    uint64_t number;
    bool given;
};
/* "12" and nothing else; false for anything but a whole number. */
bool cli_parse_count(const char *text, uint64_t *number);

int cli_take_flag(void *request, const struct cli_option *option, const char *value);
int cli_take_text(void *request, const struct cli_option *option, const char *value);
int cli_take_count(void *request, const struct cli_option *option, const char *value);

/* The `operand` function of verbs that take at most one operand. The verb's `member` is a const char *,
 * NULL if there is no operand; `noun` says in the message about a second operand what it is. */
int cli_take_one(const struct cli_verb *verb, void *request, const char *word);

/* The loop. Sets *help and stops if the command line asks for help. Returns the exit code; an error is
 * already printed on stderr. */
int cli_options_read(const struct cli *cli, const struct cli_verb *verb, void *request, bool *help);

/* The parser under the loop: it returns one token of the command line at a time. */
enum cli_token {
    CLI_BAD = -1, /* parser.error says why */
    CLI_END = 0,
    CLI_OPTION,  /* parser.option: its number in the verb's table; parser.value: NULL for a flag */
    CLI_OPERAND, /* parser.value */
    CLI_HELP     /* --help or -h */
};

struct cli_parser {
    const struct cli_verb *verb;
    struct tg_settings *settings;
    char *const *argv;
    int argc;
    int at;
    bool only_operands; /* "--" has ended the options */
    size_t option;
    const char *value;
    char error[500];
};

void cli_parser_init(struct cli_parser *parser, const struct cli *cli, const struct cli_verb *verb);
enum cli_token cli_parser_next(struct cli_parser *parser);

#endif
