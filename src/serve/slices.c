/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/slices.h"

#include <string.h>

enum { MOST_DEPTH = 64 };

/* Each function takes where it begins and returns where it ends; NULL: the text is no JSON. */

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

static bool is_hexadecimal(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Behind the backslash. */
static const char *skip_escape(const char *at, const char *end)
{
    if (at >= end)
        return NULL;
    if (*at != 'u')
        return strchr("\"\\/bfnrt", *at) != NULL && *at != '\0' ? at + 1 : NULL;
    for (int i = 1; i <= 4; i++)
        if (at + i >= end || !is_hexadecimal(at[i]))
            return NULL;
    return at + 5;
}

static const char *skip_string(const char *at, const char *end)
{
    if (at >= end || *at != '"')
        return NULL;
    for (at++; at != NULL && at < end;) {
        if (*at == '"')
            return at + 1;
        if ((unsigned char)*at < ' ')
            return NULL;
        at = *at == '\\' ? skip_escape(at + 1, end) : at + 1;
    }
    return NULL;
}

static const char *skip_digits(const char *at, const char *end)
{
    if (!is_digit(at, end))
        return NULL;
    while (is_digit(at, end))
        at++;
    return at;
}

static const char *skip_number(const char *at, const char *end)
{
    at += at < end && *at == '-';
    at = at < end && *at == '0' ? at + 1 : skip_digits(at, end);
    if (at != NULL && at < end && *at == '.')
        at = skip_digits(at + 1, end);
    if (at != NULL && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        at = skip_digits(at, end);
    }
    return at;
}

static const char *skip_word(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0 ? at + length : NULL;
}

static const char *skip_value(const char *at, const char *end, unsigned depth);

/* Behind the name of a member: the place of its value. */
static const char *skip_colon(const char *at, const char *end)
{
    at = at != NULL ? skip_space(at, end) : NULL;
    return at != NULL && at < end && *at == ':' ? skip_space(at + 1, end) : NULL;
}

/* An object or an array, whose first character is there. */
static const char *skip_container(const char *at, const char *end, unsigned depth)
{
    const bool is_object = *at == '{';
    const char last = is_object ? '}' : ']';
    if (depth == 0)
        return NULL;
    at = skip_space(at + 1, end);
    if (at < end && *at == last)
        return at + 1;
    for (;;) {
        if (is_object)
            at = skip_colon(skip_string(at, end), end);
        if (at != NULL)
            at = skip_value(at, end, depth - 1);
        if (at == NULL)
            return NULL;
        at = skip_space(at, end);
        if (at < end && *at == last)
            return at + 1;
        if (at >= end || *at != ',')
            return NULL;
        at = skip_space(at + 1, end);
    }
}

static const char *skip_value(const char *at, const char *end, unsigned depth)
{
    if (at >= end)
        return NULL;
    switch (*at) {
    case '{':
    case '[':
        return skip_container(at, end, depth);
    case '"':
        return skip_string(at, end);
    case 't':
        return skip_word(at, end, "true");
    case 'f':
        return skip_word(at, end, "false");
    case 'n':
        return skip_word(at, end, "null");
    default:
        return skip_number(at, end);
    }
}

bool serve_slice_is_json(struct serve_slice text)
{
    const char *end = text.at + text.size;
    const char *at = skip_value(skip_space(text.at, end), end, MOST_DEPTH);
    return at != NULL && skip_space(at, end) == end;
}

/* At the begin of an object or array: its first member, or NULL. */
static const char *enter(struct serve_slice container, char first, const char **end)
{
    const char *at = container.at;
    *end = at + container.size;
    at = skip_space(at, *end);
    if (at >= *end || *at != first)
        return NULL;
    return skip_space(at + 1, *end);
}

bool serve_slice_member(struct serve_slice object, const char *name, struct serve_slice *value)
{
    const char *end, *at = enter(object, '{', &end);
    size_t length = strlen(name);
    while (at != NULL && at < end && *at == '"') {
        const char *name_end = skip_string(at, end), *begin = skip_colon(name_end, end);
        const char *value_end = begin != NULL ? skip_value(begin, end, MOST_DEPTH) : NULL;
        if (value_end == NULL)
            return false;
        if ((size_t)(name_end - at) == length + 2 && memcmp(at + 1, name, length) == 0) {
            *value = (struct serve_slice){begin, (size_t)(value_end - begin)};
            return true;
        }
        at = skip_space(value_end, end);
        at = at < end && *at == ',' ? skip_space(at + 1, end) : NULL;
    }
    return false;
}

bool serve_slice_next(struct serve_slice *rest, struct serve_slice *element)
{
    const char *end = rest->at + rest->size, *at = skip_space(rest->at, end), *after;
    if (at >= end || (*at != '[' && *at != ','))
        return false;
    at = skip_space(at + 1, end);
    after = skip_value(at, end, MOST_DEPTH);
    if (after == NULL)
        return false;
    *element = (struct serve_slice){at, (size_t)(after - at)};
    *rest = (struct serve_slice){after, (size_t)(end - after)};
    return true;
}

bool serve_slice_is(struct serve_slice value, const char *text)
{
    return strlen(text) == value.size && memcmp(text, value.at, value.size) == 0;
}
