/* SPDX-License-Identifier: Apache-2.0 */
/* The options with which verbs select records; taskglass/query.h defines their names and values. */
#ifndef TG_CLI_FILTERS_H
#define TG_CLI_FILTERS_H

#include <taskglass/query.h>

#include "cli/options.h"

/* Rows for a verb's table of options. The member is a struct tg_query *, NULL at first, which the verb
 * destroys. Each verb adds --index itself, because its help text differs. */
#define CLI_FILTER(type, member, name, value, help) \
    CLI_OPTION_(name, value, help, cli_take_filter, offsetof(type, member))
#define CLI_FILTERS(type, member)                                                       \
    CLI_FILTER(type, member, "task", "IDS",                                             \
               "these tasks: 12, 0x10000000c, 1:12, 1:0-1:99, or several with commas"), \
        CLI_FILTERS_BUT_TASK(type, member)
#define CLI_FILTERS_BUT_TASK(type, member)                                           \
    CLI_FILTER(type, member, "kernel", "NAMES",                                      \
               "tasks with these kernels; * stands for any characters"),             \
        CLI_FILTER(type, member, "stage", "STAGES", "before, after, orchestration"), \
        CLI_FILTER(type, member, "role", "ROLES", "in, out, inout, scalar"),         \
        CLI_FILTER(type, member, "kind", "KINDS", "tensor, scalar"),                 \
        CLI_FILTER(type, member, "arg", "NUMBERS", "these arguments: 0, 0-2, 0,3")

int cli_take_filter(void *request, const struct cli_option *option, const char *value);

/* Adds a condition to *query; creates the query if *query is NULL. */
tg_status cli_query_add(struct tg_query **query, const char *option, const char *text,
                        struct tg_error *error);

/* True if --index selects records. */
bool cli_query_has_index(const struct tg_query *query);

#endif
