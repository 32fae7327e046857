/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT, SIGTERM and SIGHUP during a run: the first asks the run to end, so that the device is
 * closed and the files are written; the second ends the program on the spot.
 */
#ifndef TG_CLI_INTERRUPT_H
#define TG_CLI_INTERRUPT_H

/* A signal that is ignored (nohup) stays ignored. */
void cli_interrupt_catch(void);
/* The signal that came, 0: none. */
int cli_interrupt_caught(void);
/* Ends the program by the signal that came, as if it had not been caught: whoever waits for us
 * must see that we were interrupted. Returns where none came. */
void cli_interrupt_pass_on(void);

#endif
