/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a command prints: --quiet and --verbose.
 *
 * With --quiet, a verb's report on stdout goes nowhere, unless the user asked for data there: --json, or an
 * export to "-". Errors and warnings on stderr stay, and so does the exit code. Progress is not shown.
 * With --verbose, every verb says on stderr what it uses; the answer on stdout stays the same.
 */
#ifndef TG_CLI_VOICE_H
#define TG_CLI_VOICE_H

#include "cli/cli.h"

/* Before the verb runs. Returns false if it failed; the error is already printed. */
bool cli_voice_start(const struct cli_verb *verb, const struct cli *cli, const void *request);

bool cli_is_quiet(void);
bool cli_is_verbose(void);

/* A line "taskglass: …" on stderr, only with --verbose. */
__attribute__((format(printf, 1, 2))) void cli_detail(const char *format, ...);

#endif
