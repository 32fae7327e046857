/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/json.h>

static void fail(struct tg_json *json, tg_status status, int cause)
{
    if (json->status != TG_OK)
        return;
    json->status = status;
    json->cause = cause;
}

static void put(struct tg_json *json, const char *bytes, size_t size)
{
    if (json->status == TG_OK && fwrite(bytes, 1, size, json->file) != size)
        fail(json, TG_IO_ERROR, errno);
}

static void put_text(struct tg_json *json, const char *text)
{
    put(json, text, strlen(text));
}

static struct tg_json_level *innermost(struct tg_json *json)
{
    return &json->level[json->depth];
}

static void new_line(struct tg_json *json)
{
    put_text(json, "\n");
    for (unsigned i = 0; i < json->depth; i++)
        put_text(json, "  ");
}

/* The comma and the white space in front of a member of the innermost container. */
static void separate(struct tg_json *json)
{
    struct tg_json_level *level = innermost(json);
    if (level->has_members)
        put_text(json, level->one_line ? ", " : ",");
    if (json->depth > 0 && !level->one_line)
        new_line(json);
    level->has_members = true;
}

/* Before every value: only where the grammar has one. */
static void before_value(struct tg_json *json)
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

/*
 * Length of the UTF-8 character at `text`, 0 where the bytes there are none. Overlong forms,
 * surrogates and numbers past U+10FFFF are excluded by the range of the second byte. The
 * terminating 0 is no continuation, so this never reads past the end.
 */
static size_t utf8_length(const unsigned char *text)
{
    unsigned char first = text[0], low = 0x80, high = 0xbf;
    size_t length;
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first == 0xe0)
        low = 0xa0;
    else if (first == 0xed)
        high = 0x9f;
    else if (first == 0xf0)
        low = 0x90;
    else if (first == 0xf4)
        high = 0x8f;
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* What JSON wants escaped, and DEL, which no terminal should see either. */
static bool wants_escape(unsigned char c)
{
    return c < 0x20 || c == 0x7f || c == '"' || c == '\\';
}

static void put_escaped(struct tg_json *json, unsigned char c)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: the byte, its letter */
    char text[8];
    for (size_t i = 0; i + 1 < sizeof letters; i += 2)
        if ((unsigned char)letters[i] == c) {
            text[0] = '\\';
            text[1] = letters[i + 1];
            put(json, text, 2);
            return;
        }
    (void)snprintf(text, sizeof text, "\\u%04x", (unsigned)c);
    put_text(json, text);
}

static void put_quoted(struct tg_json *json, const char *value)
{
    const unsigned char *at = (const unsigned char *)value;
    put_text(json, "\"");
    while (*at) {
        const unsigned char *plain = at;
        size_t length;
        while (*at && !wants_escape(*at) && (length = utf8_length(at)) > 0)
            at += length;
        put(json, (const char *)plain, (size_t)(at - plain));
        if (!*at)
            break;
        if (wants_escape(*at))
            put_escaped(json, *at);
        else
            put_text(json, "\xef\xbf\xbd"); /* U+FFFD */
        at++;
    }
    put_text(json, "\"");
}

static void begin(struct tg_json *json, bool is_object, bool one_line)
{
    before_value(json);
    put_text(json, is_object ? "{" : "[");
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
    put_text(json, is_object ? "}" : "]");
}

void tg_json_start(struct tg_json *json, FILE *file)
{
    memset(json, 0, sizeof *json);
    json->file = file;
    json->status = TG_OK;
}

tg_status tg_json_finish(struct tg_json *json)
{
    tg_status status;
    int cause;
    if (json->depth != 0 || !json->level[0].has_members)
        fail(json, TG_BAD_ARGUMENT, 0);
    put_text(json, "\n");
    if (fflush(json->file) != 0)
        fail(json, TG_IO_ERROR, errno);
    status = json->status;
    cause = json->cause;
    tg_json_start(json, json->file);
    if (cause != 0)
        errno = cause;
    return status;
}

void tg_json_begin_object(struct tg_json *json)
{
    begin(json, true, false);
}

void tg_json_begin_line_object(struct tg_json *json)
{
    begin(json, true, true);
}

void tg_json_end_object(struct tg_json *json)
{
    end(json, true);
}

void tg_json_begin_array(struct tg_json *json)
{
    begin(json, false, false);
}

void tg_json_begin_line_array(struct tg_json *json)
{
    begin(json, false, true);
}

void tg_json_end_array(struct tg_json *json)
{
    end(json, false);
}

void tg_json_key(struct tg_json *json, const char *key)
{
    if (!innermost(json)->is_object || json->has_key)
        fail(json, TG_BAD_ARGUMENT, 0);
    separate(json);
    put_quoted(json, key);
    put_text(json, ": ");
    json->has_key = true;
}

void tg_json_string(struct tg_json *json, const char *value)
{
    if (!value) {
        tg_json_null(json);
        return;
    }
    before_value(json);
    put_quoted(json, value);
}

void tg_json_int(struct tg_json *json, int64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRId64, value);
    put_value(json, text);
}

void tg_json_uint(struct tg_json *json, uint64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    put_value(json, text);
}

void tg_json_hex(struct tg_json *json, uint64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "\"0x%016" PRIx64 "\"", value);
    put_value(json, text);
}

/* printf and strtod follow the locale of the program we live in; JSON has only the point. */
static void use_decimal_point(char *text)
{
    size_t foreign = strspn(text, "-0123456789");
    size_t rest = foreign + strcspn(text + foreign, "0123456789e");
    if (rest == foreign)
        return;
    text[foreign] = '.';
    memmove(text + foreign + 1, text + rest, strlen(text + rest) + 1);
}

static void format_real(double value, char *text, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    use_decimal_point(text);
    if (!strpbrk(text, ".e"))
        memcpy(text + strlen(text), ".0", sizeof ".0");
}

void tg_json_real(struct tg_json *json, double value)
{
    char text[64];
    if (isfinite(value)) {
        format_real(value, text, sizeof text);
        put_value(json, text);
    } else if (isnan(value)) {
        put_value(json, "\"NaN\"");
    } else {
        put_value(json, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    }
}

void tg_json_bool(struct tg_json *json, bool value)
{
    put_value(json, value ? "true" : "false");
}

void tg_json_null(struct tg_json *json)
{
    put_value(json, "null");
}

void tg_json_put_string(struct tg_json *json, const char *key, const char *value)
{
    tg_json_key(json, key);
    tg_json_string(json, value);
}

void tg_json_put_uint(struct tg_json *json, const char *key, uint64_t value)
{
    tg_json_key(json, key);
    tg_json_uint(json, value);
}

void tg_json_put_hex(struct tg_json *json, const char *key, uint64_t value)
{
    tg_json_key(json, key);
    tg_json_hex(json, value);
}

void tg_json_put_real(struct tg_json *json, const char *key, double value)
{
    tg_json_key(json, key);
    tg_json_real(json, value);
}

void tg_json_put_bool(struct tg_json *json, const char *key, bool value)
{
    tg_json_key(json, key);
    tg_json_bool(json, value);
}
