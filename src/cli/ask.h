/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the user. */
#ifndef TG_CLI_ASK_H
#define TG_CLI_ASK_H

#include <stdbool.h>

/* True if somebody can answer: standard input and standard error are terminals. */
bool cli_ask_can(void);
/* Waits for the answer to a question that was printed on stderr. True for a line that begins with y or Y;
 * false for any other, at the end of the input and after Ctrl-C. */
bool cli_ask_yes(void);

#endif
