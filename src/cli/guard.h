/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protects `taskglass run` from the workload's own functions (prepare, golden, the orchestration where it
 * runs on the host, and the module's constructors). A workload is a user's code in the command's process: it may crash, loop,
 * or call exit(). The guard leaves such a function, and the command ends as after any other failure:
 * one line names the function, run.json is written, the device is closed.
 *
 *     cli_guard_start      before tg_execute; installs signal handlers and starts the watchdog thread
 *     cli_guard_call       the tg_guard_fn for tg_execute; calls one function
 *     cli_guard_end        restores the handlers, ends the thread
 *
 * A function that was left may hold a lock or have overwritten memory. If the rest of the command then
 * crashes too, or takes longer than a few seconds, the guard prints the line itself and ends the
 * process.
 */
#ifndef TG_CLI_GUARD_H
#define TG_CLI_GUARD_H

#include <taskglass/execute.h>

/* `limit`: seconds that one function may take. NO_MEMORY: nothing was started. */
tg_status cli_guard_start(double limit, struct tg_error *error);
/* A call without a case is about the module itself. */
tg_status cli_guard_call(void *context, const struct tg_workload_call *call,
                         struct tg_error *error);
/* The command has printed its error, and ends with that exit code. If a function was left, this ends the
 * process without freeing anything: what the function was about to change may be in any state. */
void cli_guard_reported(int code);
void cli_guard_end(void);
/* Ends the program without the destructors of modules that it has loaded: they are a user's code too,
 * and the command has said its result. Returns if no function was ever called in the guard. */
void cli_guard_leave(int code);
/* Seconds that a function of a workload may take on the host: the timeout that the user gave. A golden
 * function is often slow, so the default gives it ten times as long as a task. */
double cli_guard_limit(const struct tg_settings *settings);

/* Called instead of exit() and the like, see guard_exit.c. Returns if no guarded function is running. */
void cli_guard_left(const char *function, int status);

#endif
