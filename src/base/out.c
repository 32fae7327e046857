/* SPDX-License-Identifier: Apache-2.0 */
#include "base/out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/files.h"

void tg_out_start(struct tg_out *out, int fd)
{
    out->fd = fd;
    out->cause = 0;
    out->written = 0;
    out->used = 0;
}

static void flush(struct tg_out *out)
{
    if (!out->cause)
        out->cause = tg_write_at(out->fd, out->buffer, out->used, out->written, NULL);
    out->written += out->used;
    out->used = 0;
}

int tg_out_finish(struct tg_out *out)
{
    flush(out);
    return out->cause;
}

char *tg_out_place(struct tg_out *out, size_t most)
{
    if (out->used + most > sizeof out->buffer)
        flush(out);
    return out->buffer + out->used;
}

void tg_out_bytes(struct tg_out *out, const char *bytes, size_t size)
{
    while (size > 0) {
        size_t piece = size < sizeof out->buffer ? size : sizeof out->buffer;
        memcpy(tg_out_place(out, piece), bytes, piece);
        out->used += piece;
        bytes += piece;
        size -= piece;
    }
}

void tg_out_uint(struct tg_out *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    tg_out_bytes(out, digits + at, sizeof digits - at);
}

void tg_out_int(struct tg_out *out, int64_t value)
{
    if (value < 0)
        tg_out_bytes(out, "-", 1);
    tg_out_uint(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void tg_out_hex(struct tg_out *out, uint64_t value)
{
    char text[20] = "\"0x";
    for (int i = 0; i < 16; i++)
        text[3 + i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    text[19] = '"';
    tg_out_bytes(out, text, sizeof text);
}

void tg_out_bool(struct tg_out *out, bool value)
{
    tg_out_text(out, value ? "true" : "false");
}

void tg_out_string(struct tg_out *out, const char *text)
{
    tg_out_bytes(out, "\"", 1);
    while (*text) {
        size_t plain = strcspn(text, "\"\\");
        tg_out_bytes(out, text, plain);
        text += plain;
        if (*text) {
            tg_out_bytes(out, "\\", 1);
            tg_out_bytes(out, text++, 1);
        }
    }
    tg_out_bytes(out, "\"", 1);
}

/* printf and strtod follow the locale of the program we live in; JSON has only the point. */
static void use_decimal_point(char *text)
{
    size_t point = strspn(text, "-0123456789");
    size_t rest = point + strcspn(text + point, "0123456789e");
    if (rest == point)
        return;
    text[point] = '.';
    memmove(text + point + 1, text + rest, strlen(text + rest) + 1);
}

/* What can be said without searching for digits. */
static bool put_simple(struct tg_out *out, double value)
{
    if (isnan(value))
        tg_out_text(out, "\"NaN\"");
    else if (isinf(value))
        tg_out_text(out, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    else if (fabs(value) < 1e6 && value == (double)(int64_t)value &&
             !(value == 0 && signbit(value)))
        tg_out_int(out, (int64_t)value), tg_out_text(out, ".0");
    else
        return false;
    return true;
}

static void put_real(struct tg_out *out, char *text)
{
    use_decimal_point(text);
    tg_out_text(out, text);
    if (!strpbrk(text, ".e"))
        tg_out_text(out, ".0");
}

void tg_out_float(struct tg_out *out, float value)
{
    char text[64];
    if (put_simple(out, (double)value))
        return;
    for (int digits = 6; digits <= 9; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    put_real(out, text);
}

void tg_out_double(struct tg_out *out, double value)
{
    char text[64];
    if (put_simple(out, value))
        return;
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    put_real(out, text);
}
