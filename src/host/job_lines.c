/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/job_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* One write, so that lines of several processes do not mix. */
static void put(const struct tg_lines *lines, const char *text, size_t length)
{
    char line[sizeof lines->text + 40];
    int head = snprintf(line, sizeof line, "rank %u: ", lines->rank);
    memcpy(line + head, text, length);
    line[(size_t)head + length] = '\n';
    (void)!write(STDERR_FILENO, line, (size_t)head + length + 1);
}

/* The bytes up to the last line end go out. */
static void put_whole(struct tg_lines *lines)
{
    size_t begin = 0;
    for (size_t i = 0; i < lines->used; i++)
        if (lines->text[i] == '\n') {
            put(lines, lines->text + begin, i - begin);
            begin = i + 1;
        }
    memmove(lines->text, lines->text + begin, lines->used - begin);
    lines->used -= begin;
    if (lines->used == sizeof lines->text) {
        put(lines, lines->text, lines->used);
        lines->used = 0;
    }
}

void tg_lines_start(struct tg_lines *lines, int fd, uint32_t rank)
{
    lines->fd = fd;
    lines->rank = rank;
    lines->used = 0;
}

void tg_lines_read(struct tg_lines *lines)
{
    ssize_t got = read(lines->fd, lines->text + lines->used, sizeof lines->text - lines->used);
    if (got > 0) {
        lines->used += (size_t)got;
        put_whole(lines);
    } else if (got == 0 || errno != EINTR) {
        tg_lines_end(lines);
    }
}

void tg_lines_end(struct tg_lines *lines)
{
    if (lines->fd < 0)
        return;
    if (lines->used > 0)
        put(lines, lines->text, lines->used);
    lines->used = 0;
    close(lines->fd);
    lines->fd = -1;
}
