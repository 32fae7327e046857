/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads TERM and NO_COLOR here instead of in the settings: they address every program, so they are not
 * settings of Taskglass.
 */
#define _GNU_SOURCE 1
#include "cli/term.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR_WIDTH = 24, PLAIN_WIDTH = 100, NARROWEST = 80, WIDEST = 200 };

/* True for a terminal that understands escape sequences. */
static bool is_smart(FILE *stream)
{
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) && term && *term && strcmp(term, "dumb") != 0;
}

const char *cli_color(FILE *stream, enum cli_color color)
{
    static const char *const sequences[] = {"\033[0m", "\033[1;31m", "\033[32m", "\033[1m"};
    const char *no_color = getenv("NO_COLOR");
    if ((no_color && *no_color) || !is_smart(stream))
        return "";
    return sequences[color];
}

static bool get_size(struct winsize *size)
{
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, size) == 0;
}

int cli_term_width(void)
{
    struct winsize size;
    if (!get_size(&size) || size.ws_col == 0)
        return PLAIN_WIDTH;
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col > WIDEST ? WIDEST : size.ws_col;
}

int cli_term_height(void)
{
    struct winsize size;
    return get_size(&size) ? size.ws_row : 0;
}

void cli_progress_init(struct cli_progress *progress)
{
    progress->shown = is_smart(stderr);
    progress->drawn = false;
}

static void put_bar(uint64_t finished, uint64_t total)
{
    int full = (int)((double)finished / (double)total * BAR_WIDTH);
    for (int i = 0; i < BAR_WIDTH; i++)
        fputc(i < full ? '#' : '.', stderr);
}

void cli_progress_draw(struct cli_progress *progress, const char *label, uint64_t finished,
                       uint64_t total)
{
    if (!progress->shown)
        return;
    fprintf(stderr, "\r\033[K%s", label);
    if (total > 0) {
        fputs("  [", stderr);
        put_bar(finished < total ? finished : total, total);
        fprintf(stderr, "] %" PRIu64 " of %" PRIu64 " tasks", finished, total);
    }
    fflush(stderr);
    progress->drawn = true;
}

void cli_progress_erase(struct cli_progress *progress)
{
    if (!progress->drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress->drawn = false;
}
