/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress line of long work, on stderr, if that is a terminal:
 *
 *     verify  1.20 GiB of 4.00 GiB, 850 MiB/s, 4 s left
 *     run  [########................] 512 of 1024 tasks, 240 tasks/s, 2 s left
 *
 * The line comes after half a second, so that short work does not flicker, is drawn ten times a second however
 * often the work reports, and is erased at the end.
 */
#ifndef TG_CLI_PROGRESS_H
#define TG_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_progress {
    bool shown;        /* stderr is a terminal that can erase a line */
    bool drawn;        /* the line is on the screen now */
    const char *label; /* what is done now: the verb, or a phase of it */
    const char *unit;  /* "task", "%"; NULL: bytes */
    uint64_t began_ms, drawn_ms;
    uint64_t first_ms; /* when the label's work began, for its rate */
};

void cli_progress_init(struct cli_progress *progress, const char *label, const char *unit);
/* Other work begins, with a rate of its own. Does nothing if it is the same label. */
void cli_progress_next(struct cli_progress *progress, const char *label);
/* So much is done. Total 0: not known. It has the type of the library's progress functions. */
void cli_progress_show(void *progress, uint64_t done, uint64_t total);
/* Before anything else is printed, and at the end. */
void cli_progress_erase(struct cli_progress *progress);

#endif
