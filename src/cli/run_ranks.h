/* SPDX-License-Identifier: Apache-2.0 */
/* `taskglass run` with several ranks: starting them, and what the rank that reports says about all. */
#ifndef TG_CLI_RUN_RANKS_H
#define TG_CLI_RUN_RANKS_H

#include <stdbool.h>
#include <stdio.h>
#include <taskglass/execute.h>

#include "cli/cli.h"

/* True if the settings ask for ranks, and this process is none yet. */
bool cli_ranks_wanted(const struct tg_settings *settings);
/* Starts the same command once for each rank, and waits. Returns the exit code. With --json the document is
 * rank 0's. If rank 0 could not print it this does; *unsaid is the failure if there is nothing to print it
 * from, and otherwise OK. */
int cli_ranks_launch(const struct cli *cli, bool json, struct tg_error *unsaid);
/* False: this process is a rank whose standard output is not the launcher's, which prints in its place. */
bool cli_ranks_has_stdout(void);
/* True in a rank of `--ranks` that is not rank 0. A program that it starts has its environment too, but not its
 * descriptors. */
bool cli_ranks_is_another(void);

/* Prints how the ranks ended, as rows of the report: one if all did well, else one for each that failed. */
void cli_ranks_summarize(FILE *to, const struct tg_execution_ranks *ranks);
/* Prints one JSON document: the job, and in it run.json of each rank that has one. `own` is this rank's. */
void cli_ranks_print_json(const struct tg_execution_ranks *ranks, const char *own);

/* Makes the one trace of all ranks, if there was to be one. False: it could not, and a warning said why. */
bool cli_ranks_merge_trace(const struct tg_execution_ranks *ranks, const char *trace);

#endif
