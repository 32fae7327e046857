/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads TERM, NO_COLOR and COLUMNS here instead of in the settings: they address every program, so they are
 * not settings of Taskglass.
 */
#define _GNU_SOURCE 1
#include "cli/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PLAIN_WIDTH = 100, USUAL_WIDTH = 80, NARROWEST = 20, WIDEST = 1000 };

bool cli_term_is_smart(FILE *stream)
{
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) && term && *term && strcmp(term, "dumb") != 0;
}

const char *cli_color(FILE *stream, enum cli_color color)
{
    static const char *const sequences[] = {"\033[0m", "\033[1;31m", "\033[32m", "\033[1m",
                                            "\033[2m"};
    const char *no_color = getenv("NO_COLOR");
    if ((no_color && *no_color) || !cli_term_is_smart(stream))
        return "";
    return sequences[color];
}

static bool get_size(FILE *stream, struct winsize *size)
{
    int fd = fileno(stream);
    return isatty(fd) && ioctl(fd, TIOCGWINSZ, size) == 0;
}

/* What COLUMNS says, which shells set and programs like ls and man respect; 0 without a number. */
static int read_columns(void)
{
    const char *text = getenv("COLUMNS");
    long columns = text ? strtol(text, NULL, 10) : 0;
    return columns <= 0          ? 0
           : columns < NARROWEST ? NARROWEST
           : columns > WIDEST    ? WIDEST
                                 : (int)columns;
}

int cli_stream_width(FILE *stream)
{
    struct winsize size;
    if (!get_size(stream, &size))
        return 0;
    if (size.ws_col == 0) /* a terminal over a serial line does not know */
        return read_columns() > 0 ? read_columns() : USUAL_WIDTH;
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col > WIDEST ? WIDEST : size.ws_col;
}

int cli_table_width(FILE *stream, bool *is_fixed)
{
    int width = cli_stream_width(stream);
    width = width > 0 ? width : read_columns();
    *is_fixed = width > 0;
    return width > 0 ? width : PLAIN_WIDTH;
}

int cli_term_width(void)
{
    bool is_fixed;
    return cli_table_width(stdout, &is_fixed);
}

int cli_term_height(void)
{
    struct winsize size;
    return get_size(stdout, &size) ? size.ws_row : 0;
}
