/* SPDX-License-Identifier: Apache-2.0 */
/* Text in lines that fit: breaks lines between words, never within one. */
#ifndef TG_CLI_WRAP_H
#define TG_CLI_WRAP_H

#include <stdio.h>

/* Printed as a space at which no line is broken. */
enum { CLI_WRAP_GLUE = '\x1f' };

/*
 * Prints the text and a line break. The first line already has `at` columns; the others begin with `indent`
 * spaces. No line is longer than `width` columns, except that a word which is longer than a whole line
 * stands there alone, unbroken (a path must stay one that can be copied). A '\n' in the text begins a new
 * line. Spaces between words stay as they are, except where a line is broken; a tab counts as a space.
 * Every character of UTF-8 counts as one column.
 */
void cli_wrap(FILE *stream, const char *text, int at, int indent, int width);

/* The same at the width of the terminal on standard output: cli_term_width(). */
void cli_wrap_out(const char *text, int at, int indent);

/* How wide lines of text for people are: the terminal's width, but at most 100 columns, because longer
 * lines are hard to read; 80 if standard output is not a terminal. */
int cli_wrap_width(void);

#endif
