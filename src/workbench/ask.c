/* SPDX-License-Identifier: Apache-2.0 */
/* Parses requests. */
#include "workbench/ask.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

/* --- decoding ------------------------------------------------------------------------------- */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes in place: %20, and '+' for a space, as forms send it. False: a broken escape, or a zero byte. */
static bool decode(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++, to++) {
        *to = *from == '+' ? ' ' : *from;
        if (*from != '%')
            continue;
        int high = digit_of(from[1]), low = high < 0 ? -1 : digit_of(from[2]);
        if (low < 0 || (high == 0 && low == 0))
            return false;
        *to = (char)(high << 4 | low);
        from += 2;
    }
    *to = '\0';
    return true;
}

static bool is_text(const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t length = tg_utf8_length((const unsigned char *)text, left);
        if (length == 0)
            return false;
        text += length;
        left -= length;
    }
    return true;
}

/* --- parsing -------------------------------------------------------------------------------- */

static struct tg_ask_parameter *find(struct tg_ask *ask, const char *name)
{
    for (unsigned i = 0; i < ask->n_parameters; i++)
        if (strcmp(ask->parameter[i].name, name) == 0)
            return &ask->parameter[i];
    return NULL;
}

static tg_status add(struct tg_ask *ask, char *word, struct tg_error *error)
{
    char *value = strchr(word, '=');
    if (!value)
        return tg_error_set(error, TG_BAD_ARGUMENT, "'%s' is no parameter; they are NAME=VALUE",
                            word);
    *value++ = '\0';
    if (!decode(word) || !decode(value) || !is_text(word) || !is_text(value))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "a parameter of the request is not UTF-8 with escapes like %%20");
    if (find(ask, word))
        return tg_error_set(error, TG_BAD_ARGUMENT, "parameter '%s' comes twice", word);
    if (ask->n_parameters == TG_ASK_PARAMETERS)
        return tg_error_set(error, TG_BAD_ARGUMENT, "a request has at most %d parameters",
                            TG_ASK_PARAMETERS);
    ask->parameter[ask->n_parameters++] = (struct tg_ask_parameter){.name = word, .value = value};
    return TG_OK;
}

tg_status tg_ask_parse(const char *request, struct tg_ask *ask, struct tg_error *error)
{
    size_t length = strlen(request);
    *ask = (struct tg_ask){.name = ask->text};
    if (length > TG_ASK_TEXT)
        return tg_error_set(error, TG_BAD_ARGUMENT, "a request has at most %d bytes", TG_ASK_TEXT);
    memcpy(ask->text, request, length + 1);
    char *rest = strchr(ask->text, '?');
    if (rest)
        *rest++ = '\0';
    while (rest && *rest) {
        char *word = rest;
        rest = strchr(rest, '&');
        if (rest)
            *rest++ = '\0';
        tg_status status = add(ask, word, error);
        if (status != TG_OK)
            return status;
    }
    return TG_OK;
}

/* --- parameters ----------------------------------------------------------------------------- */

const char *tg_ask_text(struct tg_ask *ask, const char *name)
{
    struct tg_ask_parameter *parameter = find(ask, name);
    if (!parameter)
        return NULL;
    parameter->is_used = true;
    return parameter->value;
}

tg_status tg_ask_need(struct tg_ask *ask, const char *name, const char **value,
                      struct tg_error *error)
{
    *value = tg_ask_text(ask, name);
    return *value ? TG_OK
                  : tg_error_set(error, TG_BAD_ARGUMENT, "request '%s' needs the parameter '%s'",
                                 ask->name, name);
}

tg_status tg_ask_uint(struct tg_ask *ask, const char *name, uint64_t least, uint64_t most,
                      uint64_t fallback, uint64_t *value, struct tg_error *error)
{
    const char *text = tg_ask_text(ask, name);
    *value = fallback;
    if (!text && fallback != UINT64_MAX)
        return TG_OK;
    if (!text)
        return tg_ask_need(ask, name, &text, error);
    uint64_t number = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9' && number <= (UINT64_MAX - 9) / 10; c++)
        number = 10 * number + (uint64_t)(*c - '0');
    if (c == text || *c || number < least || number > most)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "parameter '%s' is a number from %llu to %llu, not '%s'", name,
                            (unsigned long long)least, (unsigned long long)most, text);
    *value = number;
    return TG_OK;
}

tg_status tg_ask_check_all_used(const struct tg_ask *ask, struct tg_error *error)
{
    for (unsigned i = 0; i < ask->n_parameters; i++)
        if (!ask->parameter[i].is_used)
            return tg_error_set(error, TG_BAD_ARGUMENT, "request '%s' has no parameter '%s'",
                                ask->name, ask->parameter[i].name);
    return TG_OK;
}
