/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank prints, line by line, with its number in front. */
#ifndef TG_HOST_JOB_LINES_H
#define TG_HOST_JOB_LINES_H

#include <stddef.h>
#include <stdint.h>

struct tg_lines {
    int fd; /* -1: there is none, or it has ended */
    uint32_t rank;
    size_t used;
    char text[4096]; /* the line that has not ended; a longer one is cut into several */
};

/* Takes the descriptor, which may be -1. */
void tg_lines_start(struct tg_lines *lines, int fd, uint32_t rank);
/* Reads what is there, and prints the whole lines of it on standard error. May wait if nothing is there. */
void tg_lines_read(struct tg_lines *lines);
/* Prints the rest, and closes. */
void tg_lines_end(struct tg_lines *lines);

#endif
