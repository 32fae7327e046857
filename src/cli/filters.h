/* SPDX-License-Identifier: Apache-2.0 */
/* The options with which verbs select records; taskglass/query.h defines their names and values. */
#ifndef TG_CLI_FILTERS_H
#define TG_CLI_FILTERS_H

#include <taskglass/query.h>

#include "cli/options.h"

/* Rows for a verb's table of options. The member is a struct tg_query *, NULL at first, which the verb
 * destroys. Each verb adds --index itself, because its help text differs. */
#define CLI_FILTER(type, to, option, word, ...)                                               \
    {                                                                                         \
        .name = option, .value = word, .take = cli_take_filter, .member = offsetof(type, to), \
        .help = __VA_ARGS__                                                                   \
    }
#define CLI_FILTER_WORDS(type, to, option, word, words, ...) \
    CLI_FILTER(type, to, option, word, __VA_ARGS__, .choice = words, .expects = CLI_WORDS)
#define CLI_FILTERS(type, to)                                                                \
    CLI_FILTER(type, to, "task", "IDS",                                                      \
               "these tasks: 12, 1:12 (ring:index), 0x10000000c, 1:0-1:99, or several with " \
               "commas"),                                                                    \
        CLI_FILTERS_BUT_TASK(type, to)
#define CLI_FILTERS_BUT_TASK(type, to)                                                 \
    CLI_FILTER(type, to, "kernel", "NAMES",                                            \
               "tasks with these kernels; * stands for any characters"),               \
        CLI_FILTER_WORDS(type, to, "stage", "STAGES", cli_stage_word, "these stages"), \
        CLI_FILTER_WORDS(type, to, "role", "ROLES", cli_role_word, "these roles"),     \
        CLI_FILTER_WORDS(type, to, "kind", "KINDS", cli_kind_word, "these kinds"),     \
        CLI_FILTER(type, to, "arg", "NUMBERS", "these arguments: 0, 0-2, 0,3")

/* The words that the filters take. */
const char *cli_stage_word(unsigned number);
const char *cli_role_word(unsigned number);
const char *cli_kind_word(unsigned number);

int cli_take_filter(void *request, const struct cli_option *option, const char *value);

/* Adds a condition to *query; creates the query if *query is NULL. */
tg_status cli_query_add(struct tg_query **query, const char *option, const char *text,
                        struct tg_error *error);

/* True if --index selects records. */
bool cli_query_has_index(const struct tg_query *query);

#endif
