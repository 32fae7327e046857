/* SPDX-License-Identifier: Apache-2.0 */
/* Terminals: colours where there is one, and a line of progress that is gone in the end. */
#ifndef TG_CLI_TERM_H
#define TG_CLI_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum cli_color { CLI_PLAIN, CLI_RED, CLI_GREEN, CLI_BOLD };

/* The sequence that switches to a colour, "" where the stream is no terminal that has them. */
const char *cli_color(FILE *stream, enum cli_color color);

/* Of the terminal that standard output is: columns for a line, within what a table can use, and lines,
 * 0 where there is no terminal to fit into. */
int cli_term_width(void);
int cli_term_height(void);

struct cli_progress {
    bool shown; /* stderr is a terminal that can erase a line */
    bool drawn; /* a line is there now */
};

void cli_progress_init(struct cli_progress *progress);
/* "run  512 of 1024 tasks"; total 0: just the label. */
void cli_progress_draw(struct cli_progress *progress, const char *label, uint64_t finished,
                       uint64_t total);
void cli_progress_erase(struct cli_progress *progress);

#endif
