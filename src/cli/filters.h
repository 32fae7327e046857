/* SPDX-License-Identifier: Apache-2.0 */
/* The options by which verbs select records, by the names that taskglass/query.h knows. */
#ifndef TG_CLI_FILTERS_H
#define TG_CLI_FILTERS_H

#include <taskglass/query.h>

#include "cli/options.h"

/* The first rows of a verb's options; --index, whose help differs, follows them. */
#define CLI_FILTERS                                                                          \
    {"task", "IDS", "these tasks: 12, 0x10000000c, 1:12, 1:0-1:99, or several with commas"}, \
        {"kernel", "NAMES", "tasks with these kernels; * stands for any characters"},        \
        {"stage", "STAGES", "before, after, orchestration"},                                 \
        {"role", "ROLES", "in, out, inout, scalar"}, {"kind", "KINDS", "tensor, scalar"},    \
    {                                                                                        \
        "arg", "NUMBERS", "these arguments: 0, 0-2, 0,3"                                     \
    }

/* Adds one of them to *query, which is made where it is NULL, and which the verb destroys. Gives the
 * exit code. */
int cli_take_filter(struct tg_query **query, const struct cli_parser *parser);

/* The same for any option and text. */
tg_status cli_query_add(struct tg_query **query, const char *option, const char *text,
                        struct tg_error *error);

/* Whether records are asked for by their numbers. */
bool cli_query_has_index(const struct tg_query *query);

#endif
