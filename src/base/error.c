/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"

#define ELLIPSIS "…"

static bool is_utf8_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Replaces the end of the text with an ellipsis, without leaving half a character before it. */
static void end_in_ellipsis(char *text, size_t size)
{
    size_t cut = size - sizeof ELLIPSIS;
    while (cut > 0 && is_utf8_continuation(text[cut]))
        cut--;
    memcpy(text + cut, ELLIPSIS, sizeof ELLIPSIS);
}

/* A control character of ASCII becomes a space, because most of them only separated words; other
 * characters that a terminal must not get become '?'. */
static void keep_to_one_line(char *text, size_t size)
{
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = ' ';
    tg_name_clean(text, strlen(text), text, size);
}

tg_status tg_error_set(struct tg_error *error, tg_status status, const char *format, ...)
{
    /* Formats into a second buffer, because an argument may point to the old text. */
    char text[sizeof error->text];
    va_list arguments;
    int length;

    if (!error)
        return status;
    va_start(arguments, format);
    length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0)
        (void)snprintf(text, sizeof text, "%s", tg_status_text(status));
    else if ((size_t)length >= sizeof text)
        end_in_ellipsis(text, sizeof text);
    keep_to_one_line(text, sizeof text);
    memcpy(error->text, text, sizeof text);
    error->status = status;
    return status;
}

tg_status tg_error_null(struct tg_error *error, const char *function, const char *argument)
{
    return tg_error_set(error, TG_BAD_ARGUMENT, "%s: the argument '%s' is NULL", function,
                        argument);
}
