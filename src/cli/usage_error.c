/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/text.h>

#include "cli/cli.h"
#include "cli/print.h"
#include "cli/term.h"

/* A longer message loses its middle: what it quotes is long then, and what to do stands at the end. */
enum { LONGEST = 800, END = 300 };

static bool has_spoken, has_fault;
static char subject[32];

void cli_error_set_subject(const char *text)
{
    snprintf(subject, sizeof subject, "%s", text);
}

bool cli_has_spoken(void)
{
    return has_spoken;
}

/* Messages quote what the user typed and what files contain, so the whole line is cleaned. */
static void put_line(const char *text)
{
    char begin[LONGEST], end[END] = "";
    size_t length = strlen(text);
    bool is_long = length >= sizeof begin;
    const char *rest = text + length - (is_long ? sizeof end - 1 : 0);
    while (((unsigned char)*rest & 0xc0) == 0x80) /* not in the middle of a character */
        rest++;
    tg_text_clean(text, begin, is_long ? sizeof begin - sizeof end : sizeof begin);
    tg_text_clean(rest, end, sizeof end);
    if (has_fault)
        return; /* it has been said what failed first */
    has_spoken = true;
    cli_print_to(stderr, "%staskglass:%s %s%s%s\n", cli_color(stderr, CLI_RED),
                 cli_color(stderr, CLI_PLAIN), subject, begin, end);
}

int cli_error(const char *format, ...)
{
    va_list values;
    char *text = NULL;
    va_start(values, format);
    int length = vasprintf(&text, format, values);
    va_end(values);
    put_line(length < 0 ? "out of memory for an error message" : text);
    free(length < 0 ? NULL : text);
    return CLI_USAGE;
}

void cli_fault(const char *what, int cause)
{
    if (!has_fault)
        (void)cli_error("cannot %s: %s", what, strerror(cause));
    has_fault = true;
}

void cli_fault_of(const struct tg_error *error)
{
    if (!has_fault)
        (void)cli_fail(error);
    has_fault = true;
}

bool cli_has_fault(void)
{
    return has_fault;
}

int cli_fail(const struct tg_error *error)
{
    char text[sizeof error->text + 40];
    (void)snprintf(text, sizeof text, "%s: %s", tg_status_name(error->status), error->text);
    put_line(text);
    return tg_status_exit_code(error->status);
}
