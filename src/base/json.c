/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/json.h>

#include "base/digits.h"
#include "base/files.h"
#include "base/utf8.h"

static void fail(struct tg_json *json, tg_status status, int cause)
{
    if (json->status != TG_OK)
        return;
    json->status = status;
    json->cause = cause;
}

void tg_json_flush(struct tg_json *json)
{
    if (json == NULL)
        return;
    int cause = 0;
    if (json->file || json->fd < 0)
        return;
    if (json->status == TG_OK)
        cause = tg_write_at(json->fd, json->buffer, json->used, json->position, NULL);
    if (cause)
        fail(json, TG_IO_ERROR, cause);
    json->position += json->used;
    json->used = 0;
}

/* Writes bytes that do not fit the rest of the buffer, or that go to a FILE. */
static void put_slowly(struct tg_json *json, const char *bytes, size_t size)
{
    if (json->file) {
        if (json->status == TG_OK && fwrite(bytes, 1, size, json->file) != size)
            fail(json, TG_IO_ERROR, errno);
        return;
    }
    if (json->fd < 0)
        fail(json, TG_NO_MEMORY, ENOMEM);
    while (size > 0 && json->status == TG_OK) {
        tg_json_flush(json);
        size_t piece = size < json->room ? size : json->room;
        memcpy(json->buffer, bytes, piece);
        json->used = piece;
        bytes += piece;
        size -= piece;
    }
}

static inline void put(struct tg_json *json, const char *bytes, size_t size)
{
    if (size > json->room - json->used) { /* always with a FILE: then there is no buffer */
        put_slowly(json, bytes, size);
    } else if (size > 0) { /* there is a buffer */
        memcpy(json->buffer + json->used, bytes, size);
        json->used += size;
    }
}

static inline void put_text(struct tg_json *json, const char *text)
{
    put(json, text, strlen(text));
}

static inline struct tg_json_level *innermost(struct tg_json *json)
{
    return &json->level[json->depth];
}

static void new_line(struct tg_json *json)
{
    put_text(json, "\n");
    for (unsigned i = 0; i < json->depth; i++)
        put_text(json, "  ");
}

/* Writes the comma and the white space before a member of the innermost container. */
static inline void separate(struct tg_json *json)
{
    struct tg_json_level *level = innermost(json);
    if (level->one_line) {
        if (level->has_members)
            put(json, ", ", 2);
    } else {
        if (level->has_members)
            put(json, ",", 1);
        if (json->depth > 0)
            new_line(json);
    }
    level->has_members = true;
}

/* Called before every value; fails if the grammar allows no value here. */
static inline void before_value(struct tg_json *json)
{
    const struct tg_json_level *level = innermost(json);
    bool second_document = json->depth == 0 && level->has_members;
    if (level->is_object != json->has_key || second_document)
        fail(json, TG_BAD_ARGUMENT, 0);
    if (!json->has_key)
        separate(json);
    json->has_key = false;
}

static void put_value(struct tg_json *json, const char *text)
{
    before_value(json);
    put_text(json, text);
}

/* What JSON wants escaped, and the bytes of characters that no terminal should see either. */
static inline size_t plain_length(const unsigned char *at)
{
    if (*at >= 0x80)
        return tg_utf8_inert_length(at, 4);
    return *at >= 0x20 && *at != 0x7f && *at != '"' && *at != '\\';
}

static void put_code(struct tg_json *json, uint32_t code)
{
    char text[16];
    if (code < 0x10000)
        (void)snprintf(text, sizeof text, "\\u%04x", (unsigned)code);
    else
        (void)snprintf(text, sizeof text, "\\u%04x\\u%04x",
                       (unsigned)(0xd800 + ((code - 0x10000) >> 10)),
                       (unsigned)(0xdc00 + ((code - 0x10000) & 0x3ff)));
    put_text(json, text);
}

/* Writes the character at `at`, which is not plain, and returns its length. A byte that is not UTF-8
 * becomes U+FFFD. */
static size_t put_escaped(struct tg_json *json, const unsigned char *at)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: the byte, its letter */
    size_t length = tg_utf8_length(at, 4);
    for (size_t i = 0; i + 1 < sizeof letters; i += 2)
        if ((unsigned char)letters[i] == *at) {
            const char text[] = {'\\', letters[i + 1]};
            put(json, text, sizeof text);
            return 1;
        }
    if (length > 0)
        put_code(json, tg_utf8_code(at, length));
    else
        put_text(json, "\xef\xbf\xbd"); /* U+FFFD */
    return length > 0 ? length : 1;
}

static void put_quoted(struct tg_json *json, const char *value)
{
    const unsigned char *at = (const unsigned char *)value;
    put(json, "\"", 1);
    while (*at) {
        const unsigned char *plain = at;
        size_t length;
        while (*at && (length = plain_length(at)) > 0)
            at += length;
        put(json, (const char *)plain, (size_t)(at - plain));
        if (*at)
            at += put_escaped(json, at);
    }
    put(json, "\"", 1);
}

static void begin(struct tg_json *json, bool is_object, bool one_line)
{
    before_value(json);
    put(json, is_object ? "{" : "[", 1);
    one_line = one_line || innermost(json)->one_line;
    if (json->depth == TG_JSON_MAX_DEPTH) {
        fail(json, TG_BAD_ARGUMENT, 0);
        return;
    }
    json->depth++;
    *innermost(json) = (struct tg_json_level){.is_object = is_object, .one_line = one_line};
}

static void end(struct tg_json *json, bool is_object)
{
    struct tg_json_level closed = *innermost(json);
    if (json->depth == 0 || closed.is_object != is_object || json->has_key) {
        fail(json, TG_BAD_ARGUMENT, 0);
        return;
    }
    json->depth--;
    if (closed.has_members && !closed.one_line)
        new_line(json);
    put(json, is_object ? "}" : "]", 1);
}

/* Starts a new document in the same output and clears the error of the last one. */
static void start_document(struct tg_json *json)
{
    json->status = TG_OK;
    json->cause = 0;
    json->depth = 0;
    json->has_key = false;
    json->ended_line = false;
    json->level[0] = (struct tg_json_level){0};
}

void tg_json_start(struct tg_json *json, FILE *file)
{
    if (json == NULL)
        return;
    memset(json, 0, sizeof *json);
    json->file = file;
    json->fd = -1;
    start_document(json);
}

void tg_json_start_buffer(struct tg_json *json, char *buffer, size_t room, int fd,
                          uint64_t position)
{
    if (json == NULL)
        return;
    tg_json_start(json, NULL);
    json->buffer = buffer;
    json->room = room;
    json->fd = fd;
    json->position = position;
}

/* Fails if the calls so far do not make a complete document. */
static void end_document(struct tg_json *json)
{
    if (json->depth != 0 || !json->level[0].has_members)
        fail(json, TG_BAD_ARGUMENT, 0);
    put(json, "\n", 1);
}

void tg_json_end_line(struct tg_json *json)
{
    if (json == NULL)
        return;
    end_document(json);
    json->depth = 0;
    json->has_key = false;
    json->ended_line = true;
    json->level[0] = (struct tg_json_level){0};
}

tg_status tg_json_finish(struct tg_json *json)
{
    if (json == NULL)
        return TG_BAD_ARGUMENT;
    tg_status status;
    int cause;
    if (!json->ended_line || json->level[0].has_members)
        end_document(json);
    if (json->file && fflush(json->file) != 0)
        fail(json, TG_IO_ERROR, errno);
    tg_json_flush(json);
    status = json->status;
    cause = json->cause;
    start_document(json);
    if (cause != 0)
        errno = cause;
    return status;
}

void tg_json_begin_object(struct tg_json *json)
{
    if (json == NULL)
        return;
    begin(json, true, false);
}

void tg_json_begin_line_object(struct tg_json *json)
{
    if (json == NULL)
        return;
    begin(json, true, true);
}

void tg_json_end_object(struct tg_json *json)
{
    if (json == NULL)
        return;
    end(json, true);
}

void tg_json_begin_array(struct tg_json *json)
{
    if (json == NULL)
        return;
    begin(json, false, false);
}

void tg_json_begin_line_array(struct tg_json *json)
{
    if (json == NULL)
        return;
    begin(json, false, true);
}

void tg_json_end_array(struct tg_json *json)
{
    if (json == NULL)
        return;
    end(json, false);
}

void tg_json_key(struct tg_json *json, const char *key)
{
    if (json == NULL || key == NULL)
        return;
    if (!innermost(json)->is_object || json->has_key)
        fail(json, TG_BAD_ARGUMENT, 0);
    separate(json);
    put_quoted(json, key);
    put_text(json, ": ");
    json->has_key = true;
}

void tg_json_plain_key(struct tg_json *json, const char *key, size_t length)
{
    if (json == NULL || key == NULL)
        return;
    if (!innermost(json)->is_object || json->has_key)
        fail(json, TG_BAD_ARGUMENT, 0);
    separate(json);
    json->has_key = true;
    if (length + 4 > json->room - json->used) {
        put(json, "\"", 1);
        put(json, key, length);
        put(json, "\": ", 3);
        return;
    }
    char *at = json->buffer + json->used; /* writes all at once for speed */
    *at++ = '"';
    memcpy(at, key, length);
    at[length] = '"';
    at[length + 1] = ':';
    at[length + 2] = ' ';
    json->used += length + 4;
}

void tg_json_string(struct tg_json *json, const char *value)
{
    if (json == NULL)
        return;
    if (!value) {
        tg_json_null(json);
        return;
    }
    before_value(json);
    put_quoted(json, value);
}

/* --- numbers ---------------------------------------------------------------------------------- */

static void put_uint(struct tg_json *json, uint64_t value)
{
    char digits[TG_MOST_DIGITS];
    put(json, digits, (size_t)(tg_digits_uint(digits, value) - digits));
}

static void put_int(struct tg_json *json, int64_t value)
{
    if (value < 0)
        put(json, "-", 1);
    put_uint(json, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void tg_json_int(struct tg_json *json, int64_t value)
{
    if (json == NULL)
        return;
    before_value(json);
    put_int(json, value);
}

void tg_json_uint(struct tg_json *json, uint64_t value)
{
    if (json == NULL)
        return;
    before_value(json);
    put_uint(json, value);
}

void tg_json_quoted_int(struct tg_json *json, int64_t value)
{
    if (json == NULL)
        return;
    before_value(json);
    put(json, "\"", 1);
    put_int(json, value);
    put(json, "\"", 1);
}

void tg_json_quoted_uint(struct tg_json *json, uint64_t value)
{
    if (json == NULL)
        return;
    before_value(json);
    put(json, "\"", 1);
    put_uint(json, value);
    put(json, "\"", 1);
}

void tg_json_hex(struct tg_json *json, uint64_t value)
{
    if (json == NULL)
        return;
    char text[20] = "\"0x";
    tg_digits_hex16(text + 3, value);
    text[19] = '"';
    before_value(json);
    put(json, text, sizeof text);
}

/* Replaces the decimal sign of the program's locale, which printf uses, by the point of JSON. */
static void use_decimal_point(char *text)
{
    size_t foreign = strspn(text, "-0123456789");
    size_t rest = foreign + strcspn(text + foreign, "0123456789e");
    if (rest == foreign)
        return;
    text[foreign] = '.';
    memmove(text + foreign + 1, text + rest, strlen(text + rest) + 1);
}

/* Writes values that need no search for the shortest digits; false for all others. */
static bool put_simple(struct tg_json *json, double value)
{
    if (isnan(value))
        put_text(json, "\"NaN\"");
    else if (isinf(value))
        put_text(json, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    else if (fabs(value) < 1e6 && value == (double)(int64_t)value &&
             !(value == 0 && signbit(value)))
        put_int(json, (int64_t)value), put_text(json, ".0");
    else
        return false;
    return true;
}

static void put_real(struct tg_json *json, char *text)
{
    use_decimal_point(text);
    put_text(json, text);
    if (!strpbrk(text, ".e"))
        put_text(json, ".0");
}

void tg_json_real(struct tg_json *json, double value)
{
    if (json == NULL)
        return;
    char text[64];
    before_value(json);
    if (put_simple(json, value))
        return;
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    put_real(json, text);
}

void tg_json_float(struct tg_json *json, float value)
{
    if (json == NULL)
        return;
    char text[64];
    before_value(json);
    if (put_simple(json, (double)value))
        return;
    for (int digits = 6; digits <= 9; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    put_real(json, text);
}

void tg_json_bool(struct tg_json *json, bool value)
{
    if (json == NULL)
        return;
    put_value(json, value ? "true" : "false");
}

void tg_json_null(struct tg_json *json)
{
    if (json == NULL)
        return;
    put_value(json, "null");
}

void tg_json_put_string(struct tg_json *json, const char *key, const char *value)
{
    if (json == NULL || key == NULL)
        return;
    tg_json_key(json, key);
    tg_json_string(json, value);
}

void tg_json_put_uint(struct tg_json *json, const char *key, uint64_t value)
{
    if (json == NULL || key == NULL)
        return;
    tg_json_key(json, key);
    tg_json_uint(json, value);
}

void tg_json_put_hex(struct tg_json *json, const char *key, uint64_t value)
{
    if (json == NULL || key == NULL)
        return;
    tg_json_key(json, key);
    tg_json_hex(json, value);
}

void tg_json_put_real(struct tg_json *json, const char *key, double value)
{
    if (json == NULL || key == NULL)
        return;
    tg_json_key(json, key);
    tg_json_real(json, value);
}

void tg_json_put_bool(struct tg_json *json, const char *key, bool value)
{
    if (json == NULL || key == NULL)
        return;
    tg_json_key(json, key);
    tg_json_bool(json, value);
}
