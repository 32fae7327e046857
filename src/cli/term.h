/* SPDX-License-Identifier: Apache-2.0 */
/* Terminals: colours and sizes. */
#ifndef TG_CLI_TERM_H
#define TG_CLI_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum cli_color { CLI_PLAIN, CLI_RED, CLI_GREEN, CLI_BOLD, CLI_DIM };

/* The escape sequence that switches to a colour; "" if the stream is not a terminal with colours. */
const char *cli_color(FILE *stream, enum cli_color color);

/* The columns of the terminal that the stream goes to; 0 if it goes elsewhere. */
int cli_stream_width(FILE *stream);
/* The columns that a table on the stream has: those of the terminal; otherwise what COLUMNS says, and 100
 * without it. *is_fixed: the table must not be wider; without a terminal and COLUMNS nothing breaks a longer
 * line. */
int cli_table_width(FILE *stream, bool *is_fixed);
/* The columns for standard output. */
int cli_term_width(void);
/* The lines of the terminal on standard output; 0 if there is none. */
int cli_term_height(void);

/* True for a terminal that understands escape sequences. */
bool cli_term_is_smart(FILE *stream);

#endif
