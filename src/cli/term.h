/* SPDX-License-Identifier: Apache-2.0 */
/* Terminals: colours, and a progress line that is erased at the end. */
#ifndef TG_CLI_TERM_H
#define TG_CLI_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum cli_color { CLI_PLAIN, CLI_RED, CLI_GREEN, CLI_BOLD };

/* The escape sequence that switches to a colour; "" if the stream is not a terminal with colours. */
const char *cli_color(FILE *stream, enum cli_color color);

/* The size of the terminal on standard output. The width stays within the limits that tables can use;
 * the height is 0 if there is no terminal. */
int cli_term_width(void);
int cli_term_height(void);

struct cli_progress {
    bool shown; /* stderr is a terminal that can erase a line */
    bool drawn; /* the line is on the screen now */
};

void cli_progress_init(struct cli_progress *progress);
/* "run  [####....] 512 of 1024 tasks"; only the label if total is 0. */
void cli_progress_draw(struct cli_progress *progress, const char *label, uint64_t finished,
                       uint64_t total);
void cli_progress_erase(struct cli_progress *progress);

#endif
