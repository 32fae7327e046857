/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a verb. A table has their names, their help texts, and where in the verb's request
 * their values go. One loop reads the command line of every verb with the verb's table.
 *
 *     static const struct cli_option options[] = {
 *         CLI_TEXT(struct request, output, "output", "PATH", "where to write", .letter = 'o'),
 *         CLI_JSON(struct request, json, "print the result for programs"),
 *         CLI_CALL("repeat", "N", take_repeat, "run it N times", .fallback = "1"),
 *     };
 *
 * After the help text any member of struct cli_option may follow, as `.letter` does above.
 *
 * `--name value` and `--name=value` are the same, and so are `-o value` and `-ovalue`; flags may stand
 * together, as in `-qv`. A flag takes no value; if it is a setting, `--name=no` turns it off. A setting
 * whose value may be left out takes the next word only if it accepts that word: `--dump-tensor full`.
 * `--` ends the options. The loop applies settings itself, so verbs never see them.
 */
#ifndef TG_CLI_OPTIONS_H
#define TG_CLI_OPTIONS_H

#include "cli/cli.h"

/* clang-format off */
/* The member is a bool; the flag sets it to true. */
#define CLI_FLAG(type, to, option, ...) \
    {.name = option, .take = cli_take_flag, .member = offsetof(type, to), .help = __VA_ARGS__}
/* The flag --json, which every verb writes alike. */
#define CLI_JSON(type, to, ...) CLI_FLAG(type, to, "json", __VA_ARGS__, .is_data = true)
/* The member is a const char *; if the option is repeated, the last value wins. */
#define CLI_TEXT(type, to, option, word, ...) \
    {.name = option, .value = word, .take = cli_take_text, .member = offsetof(type, to), \
     .help = __VA_ARGS__}
/* The member is a struct cli_count. The help names the range. */
#define CLI_COUNT(type, to, option, word, ...) \
    {.name = option, .value = word, .take = cli_take_count, .member = offsetof(type, to), \
     .range = "from 0 to " CLI_MOST_COUNT, .help = __VA_ARGS__}
/* The verb's own function takes the value. */
#define CLI_CALL(option, word, function, ...) \
    {.name = option, .value = word, .take = function, .help = __VA_ARGS__}
/* The same for an option that accepts only certain words; the help lists them after its text. */
#define CLI_CHOICE(option, word, words, function, ...) \
    {.name = option, .value = word, .take = function, .choice = words, .expects = CLI_WORDS, \
     .help = __VA_ARGS__}
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
int cli_options_read(struct cli *cli, const struct cli_verb *verb, void *request, bool *help);

/* The parser under the loop: it returns one token of the command line at a time. */
enum cli_token {
    CLI_BAD = -1, /* parser.error says why */
    CLI_END = 0,
    CLI_OPTION,  /* parser.option: its number in the verb's table; parser.value: NULL for a flag */
    CLI_OPERAND, /* parser.value */
    CLI_COMMON   /* parser.common: an option that every verb has */
};

struct cli_parser {
    const struct cli_verb *verb;
    struct tg_settings *settings;
    char *const *argv;
    int argc;
    int at;
    const char *letters; /* the rest of an argument such as "-qv"; NULL: none */
    bool only_operands;  /* "--" has ended the options */
    size_t option;
    const char *common; /* "help", "quiet", "verbose" */
    const char *value;
    char error[500];
};

void cli_parser_init(struct cli_parser *parser, const struct cli *cli, const struct cli_verb *verb);
enum cli_token cli_parser_next(struct cli_parser *parser);

#endif
