/* SPDX-License-Identifier: Apache-2.0 */
/* JSON in bytes that grow, for files of millions of lines. */
#ifndef TG_TRACE_JSON_BYTES_H
#define TG_TRACE_JSON_BYTES_H

#include "base/digits.h"
#include "base/utf8.h"
#include "trace/bytes.h"

#define TG_JSON_LITERAL(bytes, text) tg_bytes_put((bytes), "" text "", sizeof(text) - 1)

static inline void tg_bytes_json_uint(struct tg_bytes *bytes, uint64_t value)
{
    unsigned char *to = tg_bytes_more(bytes, TG_MOST_DIGITS);
    if (to)
        bytes->used += (size_t)(tg_digits_uint((char *)to, value) - (char *)to);
}

/* Characters that do something instead of being shown, and bytes that are none, become '?'. */
static inline void tg_bytes_json_string(struct tg_bytes *bytes, const char *text)
{
    size_t left = strlen(text);
    TG_JSON_LITERAL(bytes, "\"");
    while (left > 0) {
        size_t length = tg_utf8_inert_length((const unsigned char *)text, left);
        if (*text == '"' || *text == '\\')
            TG_JSON_LITERAL(bytes, "\\");
        if (length > 0)
            tg_bytes_put(bytes, text, length);
        else
            TG_JSON_LITERAL(bytes, "?");
        text += length > 0 ? length : 1;
        left -= length > 0 ? length : 1;
    }
    TG_JSON_LITERAL(bytes, "\"");
}

static inline void tg_bytes_json_key(struct tg_bytes *bytes, const char *key)
{
    if (bytes->used > 0 && bytes->at[bytes->used - 1] != '{')
        TG_JSON_LITERAL(bytes, ",");
    TG_JSON_LITERAL(bytes, "\"");
    tg_bytes_text(bytes, key);
    TG_JSON_LITERAL(bytes, "\":");
}

/* Numbers that a reader of doubles would round are strings. */
static inline void tg_bytes_json_number(struct tg_bytes *bytes, const char *key, uint64_t value)
{
    bool is_large = value > UINT64_C(1) << 53;
    tg_bytes_json_key(bytes, key);
    if (is_large)
        TG_JSON_LITERAL(bytes, "\"");
    tg_bytes_json_uint(bytes, value);
    if (is_large)
        TG_JSON_LITERAL(bytes, "\"");
}

static inline void tg_bytes_json_microseconds(struct tg_bytes *bytes, const char *key, uint64_t ns)
{
    char digits[3];
    tg_bytes_json_key(bytes, key);
    tg_bytes_json_uint(bytes, ns / 1000);
    for (unsigned i = 3; i-- > 0; ns /= 10)
        digits[i] = (char)('0' + ns % 10);
    TG_JSON_LITERAL(bytes, ".");
    tg_bytes_put(bytes, digits, sizeof digits);
}

#endif
