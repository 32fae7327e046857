/* SPDX-License-Identifier: Apache-2.0 */
/* The options by which verbs select records, by the names that query/selection.h knows. */
#ifndef TG_CLI_FILTERS_H
#define TG_CLI_FILTERS_H

#include "cli/options.h"
#include "query/selection.h"

/* The first rows of a verb's options; --index, whose help differs, follows them. */
#define CLI_FILTERS                                                                          \
    {"task", "IDS", "these tasks: 12, 0x10000000c, 1:12, 1:0-1:99, or several with commas"}, \
        {"kernel", "NAMES", "tasks with these kernels; * stands for any characters"},        \
        {"stage", "STAGES", "before, after, orchestration"},                                 \
        {"role", "ROLES", "in, out, inout, scalar"}, {"kind", "KINDS", "tensor, scalar"},    \
    {                                                                                        \
        "arg", "NUMBERS", "these arguments: 0, 0-2, 0,3"                                     \
    }

/* Takes the option that the parser has come to for one of them. Gives the exit code. */
int cli_take_filter(struct tg_selection *selection, const struct cli_parser *parser);

#endif
