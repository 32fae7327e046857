/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "base/json_pull.h"

#include "base/files.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the grammar allows next. */
enum {
    A_VALUE,
    VALUE_OR_END, /* right after [ */
    KEY_OR_END,   /* right after { */
    COMMA_OR_END, /* after a member */
    NOTHING       /* after the document's value */
};

/* What may stay in memory of a mapped text, and the longest tokens. */
enum { KEPT = 8 << 20, LONGEST_STRING = 64 << 20, LONGEST_NUMBER = 1 << 20 };

void tg_pull_start(struct tg_pull *pull, const char *text, size_t size)
{
    *pull = (struct tg_pull){.text = text, .size = size, .token = TG_PULL_END, .expects = A_VALUE};
}

void tg_pull_start_map(struct tg_pull *pull, const struct tg_map *map)
{
    tg_pull_start(pull, (const char *)map->bytes, map->size);
    pull->map = map;
}

static void let_go(struct tg_pull *pull)
{
    if (pull->map && pull->at > pull->released && pull->at - pull->released > KEPT) {
        tg_map_let_go_part(pull->map, pull->released, pull->at);
        pull->released = pull->at;
    }
}

enum tg_pull_token tg_pull_fail(struct tg_pull *pull, const char *problem)
{
    if (!pull->problem)
        pull->problem = problem;
    return pull->token = TG_PULL_ERROR;
}

static void pass_space(struct tg_pull *pull)
{
    for (;;) {
        size_t end = pull->size - pull->at > KEPT ? pull->at + KEPT : pull->size;
        while (pull->at < end) {
            char c = pull->text[pull->at];
            if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
                return;
            pull->at++;
        }
        if (end == pull->size)
            return;
        let_go(pull);
    }
}

/* The next character that is not a space; 0 at the end of the text, and for a zero byte, which JSON
 * does not allow anywhere. */
static char peek(struct tg_pull *pull)
{
    if (pull->at < pull->size && (unsigned char)pull->text[pull->at] > ' ')
        return pull->text[pull->at]; /* most often there is no space */
    pass_space(pull);
    return pull->at < pull->size ? pull->text[pull->at] : '\0';
}

static bool in_object(const struct tg_pull *pull)
{
    return pull->depth > 0 && pull->is_object >> (pull->depth - 1) & 1;
}

/* A value has ended; what may follow depends on the container that it is in. */
static enum tg_pull_token value_done(struct tg_pull *pull, enum tg_pull_token token)
{
    pull->expects = pull->depth == 0 ? NOTHING : COMMA_OR_END;
    return pull->token = token;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The number of characters of the escape after the backslash at `at`; 0 if it is no valid
 * escape. */
static size_t escape_length(const struct tg_pull *pull, size_t at)
{
    if (at + 1 >= pull->size)
        return 0;
    char c = pull->text[at + 1];
    if (c != 'u')
        return c != '\0' && strchr("\"\\/bfnrt", c) ? 1 : 0;
    if (pull->size - at < 6)
        return 0;
    for (size_t i = at + 2; i < at + 6; i++)
        if (!is_hex(pull->text[i]))
            return 0;
    return 5;
}

/* True for a byte of a string that stands for itself. */
static bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

/* The reader stands at an opening quote. */
static bool read_string(struct tg_pull *pull)
{
    size_t at = pull->at + 1;
    size_t end = pull->size - pull->at > LONGEST_STRING ? pull->at + LONGEST_STRING : pull->size;
    pull->value = pull->text + at;
    for (;; at++) {
        while (at < end && is_plain(pull->text[at]))
            at++;
        if (at >= end || pull->text[at] == '"')
            break;
        if ((unsigned char)pull->text[at] < 0x20) {
            pull->at = at;
            return tg_pull_fail(pull, "a control character in a string");
        }
        size_t length = escape_length(pull, at);
        if (length == 0) {
            pull->at = at;
            return tg_pull_fail(pull, "an escape that JSON does not have");
        }
        at += length;
    }
    if (at >= end)
        return tg_pull_fail(pull, end < pull->size ? "a string that is too long"
                                                   : "a string that does not end");
    pull->length = (size_t)(pull->text + at - pull->value);
    pull->at = at + 1;
    return true;
}

static size_t digits(const struct tg_pull *pull, size_t at)
{
    size_t begin = at, end = pull->size;
    if (end > at && end - at > LONGEST_NUMBER)
        end = at + LONGEST_NUMBER;
    while (at < end && pull->text[at] >= '0' && pull->text[at] <= '9')
        at++;
    return at - begin;
}

static bool has(const struct tg_pull *pull, size_t at, char one, char other)
{
    return at < pull->size && (pull->text[at] == one || pull->text[at] == other);
}

static enum tg_pull_token read_number(struct tg_pull *pull)
{
    size_t begin = pull->at, at = begin + has(pull, begin, '-', '-'), n = digits(pull, at);
    bool good = n > 0 && (n == 1 || pull->text[at] != '0');
    at += n;
    if (has(pull, at, '.', '.')) {
        n = digits(pull, at + 1);
        good = good && n > 0;
        at += 1 + n;
    }
    if (has(pull, at, 'e', 'E')) {
        at += 1 + has(pull, at + 1, '+', '-');
        n = digits(pull, at);
        good = good && n > 0;
        at += n;
    }
    if (!good)
        return tg_pull_fail(pull, "something that is no JSON value");
    pull->value = pull->text + begin;
    pull->length = at - begin;
    pull->at = at;
    return value_done(pull, TG_PULL_NUMBER);
}

static enum tg_pull_token read_word(struct tg_pull *pull, const char *word,
                                    enum tg_pull_token token)
{
    size_t length = strlen(word);
    if (pull->size - pull->at < length || memcmp(pull->text + pull->at, word, length) != 0)
        return tg_pull_fail(pull, "something that is no JSON value");
    pull->at += length;
    return value_done(pull, token);
}

static enum tg_pull_token begin(struct tg_pull *pull, bool is_object)
{
    if (pull->depth == TG_PULL_MAX_DEPTH)
        return tg_pull_fail(pull, "nested too deep");
    uint64_t bit = (uint64_t)1 << pull->depth++;
    pull->is_object = is_object ? pull->is_object | bit : pull->is_object & ~bit;
    pull->at++;
    pull->expects = is_object ? KEY_OR_END : VALUE_OR_END;
    return pull->token = is_object ? TG_PULL_BEGIN_OBJECT : TG_PULL_BEGIN_ARRAY;
}

static enum tg_pull_token end(struct tg_pull *pull)
{
    enum tg_pull_token token = in_object(pull) ? TG_PULL_END_OBJECT : TG_PULL_END_ARRAY;
    pull->at++;
    pull->depth--;
    return value_done(pull, token);
}

static enum tg_pull_token read_value(struct tg_pull *pull)
{
    switch (peek(pull)) {
    case '{':
        return begin(pull, true);
    case '[':
        return begin(pull, false);
    case '"':
        return read_string(pull) ? value_done(pull, TG_PULL_STRING) : TG_PULL_ERROR;
    case 't':
        return read_word(pull, "true", TG_PULL_TRUE);
    case 'f':
        return read_word(pull, "false", TG_PULL_FALSE);
    case 'n':
        return read_word(pull, "null", TG_PULL_NULL);
    default:
        return read_number(pull);
    }
}

static enum tg_pull_token read_key(struct tg_pull *pull)
{
    if (peek(pull) != '"')
        return tg_pull_fail(pull, "a member without a name");
    if (!read_string(pull))
        return TG_PULL_ERROR;
    if (peek(pull) != ':')
        return tg_pull_fail(pull, "a name without a value");
    pull->at++;
    pull->expects = A_VALUE;
    return pull->token = TG_PULL_KEY;
}

static enum tg_pull_token read_member(struct tg_pull *pull)
{
    return in_object(pull) ? read_key(pull) : read_value(pull);
}

static enum tg_pull_token after_member(struct tg_pull *pull)
{
    char c = peek(pull);
    if (c == (in_object(pull) ? '}' : ']'))
        return end(pull);
    if (c != ',')
        return tg_pull_fail(pull, "a comma or the end of the list is missing");
    pull->at++;
    return read_member(pull);
}

static enum tg_pull_token after_document(struct tg_pull *pull)
{
    pass_space(pull);
    if (pull->at < pull->size)
        return tg_pull_fail(pull, "something after the end");
    return pull->token = TG_PULL_END;
}

enum tg_pull_token tg_pull_next(struct tg_pull *pull)
{
    if (pull->problem)
        return TG_PULL_ERROR;
    let_go(pull);
    switch (pull->expects) {
    case VALUE_OR_END:
        return peek(pull) == ']' ? end(pull) : read_value(pull);
    case KEY_OR_END:
        return peek(pull) == '}' ? end(pull) : read_key(pull);
    case COMMA_OR_END:
        return after_member(pull);
    case NOTHING:
        return after_document(pull);
    default:
        return read_value(pull);
    }
}

bool tg_pull_skip(struct tg_pull *pull)
{
    if (pull->token != TG_PULL_BEGIN_OBJECT && pull->token != TG_PULL_BEGIN_ARRAY)
        return pull->token != TG_PULL_ERROR;
    unsigned outside = pull->depth - 1;
    while (pull->depth > outside)
        if (tg_pull_next(pull) == TG_PULL_ERROR)
            return false;
    return true;
}

unsigned long tg_pull_line(const struct tg_pull *pull)
{
    unsigned long line = 1;
    for (size_t i = 0; i < pull->at && i < pull->size; i++) {
        line += pull->text[i] == '\n';
        if (i % KEPT == KEPT - 1 && pull->map)
            tg_map_let_go_part(pull->map, i + 1 - KEPT, i + 1);
    }
    return line;
}

/* --- values ------------------------------------------------------------------------------------ */

static unsigned hex_digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
}

static uint32_t hex4(const char *text)
{
    uint32_t code = 0;
    for (int i = 0; i < 4; i++)
        code = code << 4 | hex_digit(text[i]);
    return code;
}

/* Returns the character of the escape at *at (just after the backslash) and moves *at past it. */
static uint32_t unescape(const struct tg_pull *pull, size_t *at)
{
    static const char letters[] = "b\bf\fn\nr\rt\t";
    char c = pull->value[(*at)++];
    if (c != 'u') {
        for (size_t i = 0; i + 1 < sizeof letters; i += 2)
            if (letters[i] == c)
                return (unsigned char)letters[i + 1];
        return (unsigned char)c;
    }
    uint32_t code = hex4(pull->value + *at), low;
    *at += 4;
    if (code >= 0xd800 && code < 0xdc00 && pull->length - *at >= 6 && pull->value[*at] == '\\' &&
        pull->value[*at + 1] == 'u') {
        low = hex4(pull->value + *at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            *at += 6;
            return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return code == 0 || (code >= 0xd800 && code < 0xe000) ? 0xfffd : code;
}

static size_t put_utf8(char *bytes, uint32_t code)
{
    if (code < 0x80) {
        bytes[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)((0xf00 >> length & 0xff) | code);
    return length;
}

size_t tg_pull_text(const struct tg_pull *pull, char *text, size_t room)
{
    size_t used = 0;
    for (size_t at = 0; at < pull->length;) {
        char bytes[4] = {pull->value[at++]};
        size_t length = 1;
        if (bytes[0] == '\\')
            length = put_utf8(bytes, unescape(pull, &at));
        if (used + length >= room)
            break;
        memcpy(text + used, bytes, length);
        used += length;
    }
    text[used] = '\0';
    return used;
}

static bool parse_u64(const char *text, size_t length, unsigned base, uint64_t *value)
{
    uint64_t total = 0;
    for (size_t i = 0; i < length; i++) {
        if (!is_hex(text[i]) || hex_digit(text[i]) >= base)
            return false;
        if (__builtin_mul_overflow(total, base, &total) ||
            __builtin_add_overflow(total, hex_digit(text[i]), &total))
            return false;
    }
    *value = total;
    return length > 0;
}

static bool has_integer(const struct tg_pull *pull)
{
    return pull->token == TG_PULL_NUMBER || pull->token == TG_PULL_STRING;
}

bool tg_pull_u64(const struct tg_pull *pull, uint64_t *value)
{
    if (!has_integer(pull))
        return false;
    if (pull->length > 2 && pull->value[0] == '0' && (pull->value[1] | 0x20) == 'x')
        return parse_u64(pull->value + 2, pull->length - 2, 16, value);
    return parse_u64(pull->value, pull->length, 10, value);
}

bool tg_pull_i64(const struct tg_pull *pull, int64_t *value)
{
    uint64_t magnitude;
    bool negative = has_integer(pull) && pull->length > 0 && pull->value[0] == '-';
    uint64_t most = (uint64_t)INT64_MAX + negative;
    if (negative) {
        if (!parse_u64(pull->value + 1, pull->length - 1, 10, &magnitude))
            return false;
    } else if (!tg_pull_u64(pull, &magnitude)) {
        return false;
    }
    *value = (int64_t)(negative ? 0 - magnitude : magnitude);
    return magnitude <= most;
}

/* strtod uses the decimal point of the program's locale; JSON always writes '.'. */
static void use_local_point(char *text, size_t room)
{
    const char *point = localeconv()->decimal_point;
    char *at = strchr(text, '.');
    size_t length = strlen(point);
    if (!at || strlen(text) + length > room)
        return;
    memmove(at + length, at + 1, strlen(at));
    while (*point)
        *at++ = *point++;
}

bool tg_pull_double(const struct tg_pull *pull, double *value)
{
    char text[400]; /* more digits than any double needs to be written out */
    if (pull->token != TG_PULL_NUMBER || pull->length > sizeof text - 16)
        return false;
    (void)snprintf(text, sizeof text, "%.*s", (int)pull->length, pull->value);
    use_local_point(text, sizeof text);
    *value = strtod(text, NULL);
    return true;
}
