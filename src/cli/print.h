/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prose for people. On a terminal it is broken between words, so that no line is longer than the terminal;
 * in a pipe and in a file every line stays one line.
 *
 * A continued line is indented by two columns more than its first line, or begins below the text after a
 * label, if the line has one: two spaces or more end a label.
 *
 *     taskglass: BAD_ARGUMENT: task 12 …           record   12 records, 4.00 KiB in
 *       and the rest of the message                         tensor_dump.bin
 *
 * A path that is longer than the terminal stays whole, because somebody may copy it; another word is broken.
 * Colours take no room. Only one thread prints.
 */
#ifndef TG_CLI_PRINT_H
#define TG_CLI_PRINT_H

#include <stdarg.h>
#include <stdio.h>

/* printf and vfprintf for prose. The last word of a text without a line end is held back until the next
 * text, because it may go on there: print whole lines with these functions before other functions print on
 * the same stream, or call cli_print_flush. */
__attribute__((format(printf, 1, 2))) void cli_print(const char *format, ...);
__attribute__((format(printf, 2, 3))) void cli_print_to(FILE *stream, const char *format, ...);
void cli_vprint_to(FILE *stream, const char *format, va_list values);

/* Prints what is held back of standard output and standard error, and flushes both. */
void cli_print_flush(void);
/* Says that the user has ended the line on standard error, by typing the answer to a question. */
void cli_print_answered(void);

#endif
