/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT, SIGTERM and SIGHUP during a run. The first signal asks the run to end, so that the program
 * closes the device and writes its files; the second one kills the program at once.
 *
 * A verb that writes files where the user said has to remove them, so there a second signal kills the
 * program only if it comes seconds after the first.
 *
 * From the first signal on, nothing waits for the reader of standard output or error: if the pipe is full,
 * what is left goes nowhere.
 *
 * SIGTSTP (Ctrl-Z) stops the program and, with it, the processes of devices and references.
 */
#ifndef TG_CLI_INTERRUPT_H
#define TG_CLI_INTERRUPT_H

/* Leaves a signal alone that is ignored, as nohup does. */
void cli_interrupt_catch(void);
/* The same for a verb that writes files. System calls are not restarted, so a write that waits for the
 * reader of a pipe fails with EINTR. */
void cli_interrupt_catch_writing(void);
/* The same for one of several processes: whoever started them and the terminal may both tell it to end, so
 * that a second signal kills it only if it comes seconds after the first. */
void cli_interrupt_catch_patiently(void);
/* The signal that was caught; 0: none. */
int cli_interrupt_caught(void);
/* "SIGINT"; "" if none was caught. */
const char *cli_interrupt_name(void);
/* Kills the program with the signal that was caught, so that the parent process sees that the program
 * was interrupted. Returns if no signal was caught. */
void cli_interrupt_pass_on(void);

#endif
