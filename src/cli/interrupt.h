/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT, SIGTERM and SIGHUP during a run. The first signal asks the run to end, so that the program
 * closes the device and writes its files; the second one kills the program at once.
 *
 * SIGTSTP (Ctrl-Z) stops the program and, with it, the processes of devices and references.
 */
#ifndef TG_CLI_INTERRUPT_H
#define TG_CLI_INTERRUPT_H

/* Leaves a signal alone that is ignored, as nohup does. */
void cli_interrupt_catch(void);
/* The signal that was caught; 0: none. */
int cli_interrupt_caught(void);
/* "SIGINT"; "" if none was caught. */
const char *cli_interrupt_name(void);
/* Kills the program with the signal that was caught, so that the parent process sees that the program
 * was interrupted. Returns if no signal was caught. */
void cli_interrupt_pass_on(void);

#endif
