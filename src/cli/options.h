/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a verb, one after the other:
 *
 *     struct cli_parser parser;
 *     cli_parser_init(&parser, cli, &cli_verb_run);
 *     while ((token = cli_parser_next(&parser)) > CLI_END)
 *         …
 *
 * `--name value` and `--name=value` are the same; flags stand alone, those of the settings also
 * as `--name=no`; `--` ends the options. Options that are settings are applied on the way and
 * not shown.
 */
#ifndef TG_CLI_OPTIONS_H
#define TG_CLI_OPTIONS_H

#include "cli/cli.h"

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
