/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass scope`. */
#ifndef TG_CLI_SCOPE_H
#define TG_CLI_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/scope_stats.h>

#include "cli/options.h"

/* What the command line asks for, and the stats that were read. */
struct scope {
    const char *dir; /* NULL: the newest run */
    struct cli_count rank;
    const char *html_option; /* the option that the user typed: "output" or an older name */
    const char *html;        /* where to write the page; NULL: no page */
    bool json;
    bool force; /* overwrite the page */
    struct cli_count top;
    struct tg_scope_stats *stats;
    struct tg_scope_stats_info info; /* a summary of the stats */
};

/* "task window", "heap", … */
const char *scope_resource_label(unsigned resource);

/* These print on stdout. */
void scope_print_report(const struct scope *scope);
void scope_print_json(const struct scope *scope);

#endif
