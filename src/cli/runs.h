/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass runs`. */
#ifndef TG_CLI_RUNS_H
#define TG_CLI_RUNS_H

#include <stdbool.h>
#include <taskglass/json.h>
#include <taskglass/runs.h>

#include "cli/cli.h"
#include "cli/options.h"

struct runs {
    /* what the command line asks for */
    const char **operand;
    size_t operands;
    struct tg_runs_filter filter;
    struct cli_count limit, keep;
    bool all, remove, yes, json;
    /* what was found */
    const char *dir;
    struct tg_runs_entry *run; /* those that the filters select */
    size_t count;
    uint64_t bytes, unread;
};

/* Prints the first runs of those selected, at most `most`, and how many more there are. */
void runs_print_table(const struct runs *runs, size_t most);
void runs_put_run(struct tg_json *json, const struct tg_runs_entry *run);
/* "finished", "failed, HANG", "finished, MISMATCH". */
const char *runs_result(const struct tg_runs_entry *run, char *text, size_t room);

/* Asks and removes. Returns the exit code. */
int runs_remove(const struct runs *runs);

#endif
