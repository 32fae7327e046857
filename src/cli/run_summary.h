/* SPDX-License-Identifier: Apache-2.0 */
/* What `taskglass run` tells a person. */
#ifndef TG_CLI_RUN_SUMMARY_H
#define TG_CLI_RUN_SUMMARY_H

#include <taskglass/execute.h>

/* On stdout, for a run that came to its check, whatever the check said. */
void cli_summarize_run(const char *workload, const char *runtime,
                       const struct tg_execution_info *info);

/* On stderr, under the line that names the error: what was running, what to do, where the files
 * are. Nothing for errors of input, which are one line. */
void cli_report_failure(const struct tg_execution_info *info);

/* What is missing from the recording, on standard error. */
void cli_warn_recording(const struct tg_record_result *record);
void cli_warn_scopes(const struct tg_scope_result *scopes);
void cli_warn_orchestration(const struct tg_orchestration_result *orchestration);

#endif
