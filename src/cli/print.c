/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/print.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/term.h"

enum { DEEP = 6 }; /* a line that begins with more spaces continues another one */

/* The line that is being printed. The end of a word is known when the next space comes. */
struct line {
    int width;  /* of the terminal; measured where a line begins */
    int column; /* what the line has so far */
    int indent; /* of the lines that continue it */
    int lead;   /* the same for words that are too long to stand below the text after a label */
    int spaces; /* in front of the word */
    bool is_aligned, has_words;
    size_t length;   /* of the word */
    char word[4200]; /* a longer one goes out in pieces */
};

static struct line lines[2]; /* of standard output and standard error */

/* Breaks a word that is longer than a line and no path, such as the name of a kernel made by a template. */
static void put_pieces(FILE *stream, struct line *line)
{
    const char *text = line->word;
    while (line->column + cli_format_width(text) > line->width && line->column < line->width) {
        size_t piece = cli_format_begin(text, line->width - line->column);
        if (piece == 0)
            break;
        fprintf(stream, "%.*s\n%*s", (int)piece, text, line->indent, "");
        text += piece;
        line->column = line->indent;
    }
    fputs(text, stream);
    line->column -= cli_format_width(line->word) - cli_format_width(text);
}

static void put_word(FILE *stream, struct line *line)
{
    if (line->length == 0)
        return;
    line->word[line->length] = '\0';
    int width = cli_format_width(line->word);
    if (line->column == 0) {
        line->lead = line->indent = line->spaces + (line->spaces < DEEP ? 2 : 0);
    } else if (line->spaces > 1 && !line->is_aligned) {
        /* Text after a label that takes half of the line would be a narrow strip. */
        int text = line->column + line->spaces;
        line->indent = text <= line->width / 2 ? text : line->indent;
        line->is_aligned = true;
    }
    if (line->has_words && line->column + line->spaces + width > line->width) {
        fputc('\n', stream);
        line->column = 0;
        line->spaces = line->indent + width > line->width ? line->lead : line->indent;
    }
    fprintf(stream, "%*s", line->spaces, "");
    line->column += line->spaces;
    if (line->column + width > line->width && !strchr(line->word, '/'))
        put_pieces(stream, line);
    else
        fputs(line->word, stream);
    line->column += width;
    line->spaces = 0;
    line->length = 0;
    line->has_words = true;
}

static void put_byte(FILE *stream, struct line *line, char byte)
{
    if (byte == '\n') {
        put_word(stream, line);
        fputc('\n', stream);
        line->column = line->spaces = 0;
        line->is_aligned = line->has_words = false;
    } else if (byte == ' ') {
        put_word(stream, line);
        line->spaces++;
    } else {
        if (line->length + 1 == sizeof line->word)
            put_word(stream, line);
        line->word[line->length++] = byte;
    }
}

void cli_vprint_to(FILE *stream, const char *format, va_list values)
{
    struct line *line = &lines[stream == stderr];
    char *text;
    if (line->column == 0 && line->length == 0)
        line->width = cli_stream_width(stream);
    if (line->width == 0) {
        vfprintf(stream, format, values);
        return;
    }
    if (vasprintf(&text, format, values) < 0) {
        cli_fault("print", errno);
        return;
    }
    for (const char *at = text; *at; at++)
        put_byte(stream, line, *at);
    free(text);
}

void cli_print_to(FILE *stream, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    cli_vprint_to(stream, format, values);
    va_end(values);
}

void cli_print(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    cli_vprint_to(stdout, format, values);
    va_end(values);
}

void cli_print_flush(void)
{
    put_word(stdout, &lines[0]);
    put_word(stderr, &lines[1]);
    fprintf(stdout, "%*s", lines[0].spaces, "");
    fprintf(stderr, "%*s", lines[1].spaces, "");
    lines[0].column += lines[0].spaces;
    lines[1].column += lines[1].spaces;
    lines[0].spaces = lines[1].spaces = 0;
    fflush(stdout);
    fflush(stderr);
}

void cli_print_answered(void)
{
    lines[1].column = lines[1].spaces = 0;
    lines[1].is_aligned = lines[1].has_words = false;
}
