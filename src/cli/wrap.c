/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/wrap.h"

#include <string.h>
#include <unistd.h>

#include "cli/term.h"

enum { PLAIN_WIDTH = 80, WIDEST = 100 };

int cli_wrap_width(void)
{
    int width = isatty(STDOUT_FILENO) ? cli_term_width() : PLAIN_WIDTH;
    return width < WIDEST ? width : WIDEST;
}

/* The columns of the first `size` bytes: all but the continuation bytes of UTF-8 count. */
static int columns_of(const char *text, size_t size)
{
    int columns = 0;
    for (size_t i = 0; i < size; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

static int new_line(FILE *stream, int indent)
{
    fprintf(stream, "\n%*s", indent, "");
    return indent;
}

void cli_wrap(FILE *stream, const char *text, int at, int indent, int width)
{
    int start = at; /* the column in which the line's own words begin */
    while (*text) {
        size_t gap = strspn(text, " \t");
        size_t size = strcspn(text + gap, " \t\n");
        int columns = columns_of(text + gap, size);
        if (size > 0) {
            if (at + (int)gap + columns > width && (at > start || start > indent))
                at = start = new_line(stream, indent);
            else
                at += fprintf(stream, "%*s", (int)gap, "");
            for (size_t i = gap; i < gap + size; i++)
                fputc(text[i] == CLI_WRAP_GLUE ? ' ' : text[i], stream);
            at += columns;
        }
        text += gap + size;
        if (*text == '\n') {
            text++;
            at = start = new_line(stream, *text && *text != '\n' ? indent : 0);
        }
    }
    fputc('\n', stream);
}

void cli_wrap_out(const char *text, int at, int indent)
{
    cli_wrap(stdout, text, at, indent, cli_wrap_width());
}
