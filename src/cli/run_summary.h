/* SPDX-License-Identifier: Apache-2.0 */
/* The text that `taskglass run` prints at the end. */
#ifndef TG_CLI_RUN_SUMMARY_H
#define TG_CLI_RUN_SUMMARY_H

#include <taskglass/execute.h>

/* Prints the report on stdout. For runs that reached the check of their outputs, passed or not. `trace` is
 * the file that the user wanted; NULL: none. */
void cli_summarize_run(const char *workload, const char *runtime, const char *trace,
                       const struct tg_execution_info *info);

/* Prints on stderr, under the line that names the error, what was running, what to do, and where the
 * files are. Prints nothing for input errors, which have one line only. */
void cli_report_failure(const char *trace, const struct tg_execution_info *info);

/* What the run's files lack, in one line of clean text: files that could not be written, lost records and
 * samples; "" if nothing. Returns `text`. */
enum { CLI_LOSSES = 1000 };
const char *cli_describe_losses(const struct tg_run_result *run, char text[CLI_LOSSES]);
/* Prints that line on standard error, as a warning, if there is one. */
void cli_warn_losses(const struct tg_run_result *run);
/* Warns if check and replay will not load the module unasked. */
void cli_warn_note(const struct tg_execution_info *info);
void cli_warn_orchestration(const struct tg_orchestration_result *orchestration);
void cli_warn_schedule(const struct tg_schedule_result *schedule);

#endif
