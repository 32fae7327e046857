/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/query.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

tg_status serve_fail(struct tg_error *error, tg_status status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)vsnprintf(error->text, sizeof error->text, format, values);
    va_end(values);
    return error->status = status;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes in place. False: an escape is broken, or a control character comes out. */
static bool decode(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        unsigned char byte = (unsigned char)*from;
        if (*from == '%') {
            int high = digit(from[1]), low = high < 0 ? -1 : digit(from[2]);
            if (low < 0)
                return false;
            byte = (unsigned char)(high << 4 | low);
            from += 2;
        }
        if (byte < ' ' || byte == 0x7f)
            return false;
        *to++ = (char)byte;
    }
    *to = '\0';
    return true;
}

static tg_status take(struct serve_query *query, char *word, struct tg_error *error)
{
    char *value = strchr(word, '=');
    if (query->n == SERVE_MOST_PARAMETERS)
        return serve_fail(error, TG_BAD_ARGUMENT, "a request has at most %d parameters",
                          SERVE_MOST_PARAMETERS);
    if (value == NULL || value == word)
        return serve_fail(error, TG_BAD_ARGUMENT, "a parameter is written NAME=VALUE");
    *value++ = '\0';
    if (!decode(word) || !decode(value))
        return serve_fail(error, TG_BAD_ARGUMENT,
                          "a parameter has a broken escape or a control character");
    if (serve_query_get(query, word) != NULL)
        return serve_fail(error, TG_BAD_ARGUMENT, "a parameter comes twice");
    query->parameter[query->n++] = (struct serve_parameter){word, value};
    return TG_OK;
}

tg_status serve_query_read(const char *text, struct serve_query *query, struct tg_error *error)
{
    size_t length = strlen(text);
    tg_status status = TG_OK;
    query->n = 0;
    if (length > SERVE_MOST_ADDRESS)
        return serve_fail(error, TG_BAD_ARGUMENT, "the request is too long");
    memcpy(query->text, text, length + 1);
    for (char *word = query->text; status == TG_OK && word != NULL && *word != '\0';) {
        char *next = strchr(word, '&');
        if (next != NULL)
            *next++ = '\0';
        status = take(query, word, error);
        word = next;
    }
    return status;
}

const char *serve_query_get(const struct serve_query *query, const char *name)
{
    for (unsigned i = 0; i < query->n; i++)
        if (strcmp(query->parameter[i].name, name) == 0)
            return query->parameter[i].value;
    return NULL;
}
