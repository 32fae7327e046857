/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/format.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/text.h>

/* Chooses the unit after rounding to three digits: 999.9 µs becomes 1.00 ms. */
const char *cli_format_seconds(struct cli_text *buffer, double seconds)
{
    static const struct {
        double size;
        const char *name;
    } units[] = {{1e-9, "ns"}, {1e-6, "µs"}, {1e-3, "ms"}, {1, "s"}};
    int unit = 0;
    while (unit < 3 && seconds >= units[unit].size * 999.5)
        unit++;
    double value = seconds / units[unit].size;
    int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(buffer->text, sizeof buffer->text, "%.*f %s", unit == 0 ? 0 : digits, value,
             units[unit].name);
    return buffer->text;
}

const char *cli_format_count(struct cli_text *buffer, uint64_t count, const char *noun)
{
    snprintf(buffer->text, sizeof buffer->text, "%" PRIu64 " %s%s", count, noun,
             count == 1 ? "" : "s");
    return buffer->text;
}

/* The bytes of the character at `text`, and its columns. A sequence of colour counts as a character. */
static size_t measure(const char *text, int *columns)
{
    static const struct {
        uint32_t first, last;
        int columns;
    } ranges[] = {
        {0x300, 0x36f, 0},     {0x1ab0, 0x1aff, 0},   {0x1dc0, 0x1dff, 0},   {0x20d0, 0x20ff, 0},
        {0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0},   {0x1100, 0x115f, 2},   {0x2329, 0x232a, 2},
        {0x231a, 0x231b, 2},   {0x23e9, 0x23f3, 2},   {0x25fd, 0x25fe, 2},   {0x2614, 0x27bf, 2},
        {0x2b1b, 0x2b55, 2},   {0x2e80, 0x303e, 2},   {0x3041, 0xa4cf, 2},   {0xa960, 0xa97f, 2},
        {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},   {0xfe10, 0xfe19, 2},   {0xfe30, 0xfe6f, 2},
        {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},   {0x16fe0, 0x18cff, 2}, {0x1aff0, 0x1b2ff, 2},
        {0x1f000, 0x1faff, 2}, {0x20000, 0x3fffd, 2},
    };
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length = 1;
    *columns = 1;
    if (bytes[0] != 033 && bytes[0] < 0xc0)
        return 1;
    *columns = 0;
    if (bytes[0] == 033 && bytes[1] == '[')
        return 2 + strcspn(text + 2, "mK") + (text[2 + strcspn(text + 2, "mK")] != '\0');
    *columns = 1;
    uint32_t code = bytes[0] & (bytes[0] < 0xe0 ? 0x1f : bytes[0] < 0xf0 ? 0x0f : 0x07);
    for (; length < 4 && (bytes[length] & 0xc0) == 0x80; length++)
        code = code << 6 | (bytes[length] & 0x3f);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            *columns = ranges[i].columns;
    return length;
}

int cli_format_width(const char *text)
{
    int width = 0, columns;
    for (; *text; width += columns)
        text += measure(text, &columns);
    return width;
}

size_t cli_format_begin(const char *text, int columns)
{
    int width = 0, next;
    size_t at = 0;
    while (text[at]) {
        size_t length = measure(text + at, &next);
        if (width + next > columns)
            break;
        width += next;
        at += length;
    }
    return at;
}

/* Where the longest end begins that takes at most that many columns. */
static size_t fit_end(const char *text, int columns)
{
    int left = cli_format_width(text), next;
    size_t at = 0;
    while (text[at] && left > columns) {
        at += measure(text + at, &next);
        left -= next;
    }
    return at;
}

/* The bytes that stay at the beginning and where the end that stays begins. */
static size_t cut(const char *text, int columns, enum cli_cut how, size_t *end)
{
    size_t begin = 0;
    *end = strlen(text);
    if (how == CLI_CUT_MIDDLE) {
        begin = cli_format_begin(text, columns / 2);
        *end = fit_end(text, columns - columns / 2);
    } else if (how == CLI_CUT_BEGIN) {
        *end = fit_end(text, columns);
    } else {
        begin = cli_format_begin(text, how == CLI_CUT_WORDS ? columns - 1 : columns);
    }
    if (how == CLI_CUT_WORDS && text[begin] == ' ')
        return begin + 1;
    while (how == CLI_CUT_WORDS && begin > 0 && text[begin - 1] != ' ')
        begin--;
    return begin;
}

const char *cli_format_cut(char *cell, size_t room, const char *text, int columns, enum cli_cut how)
{
    /* The text, if it takes more bytes than there is room for, is cut as if it had fewer columns. */
    bool fits = cli_format_width(text) <= columns;
    if (fits && strlen(text) < room) {
        strcpy(cell, text);
        return cell;
    }
    if (fits)
        columns = cli_format_width(text);
    for (columns--; columns > 0; columns--) {
        size_t end, begin = cut(text, columns, how, &end);
        if (begin + strlen(text + end) + sizeof "…" <= room) {
            snprintf(cell, room, "%.*s…%s", (int)begin, text, text + end);
            return cell;
        }
    }
    snprintf(cell, room, "%s", room > sizeof "…" ? "…" : "");
    return cell;
}

int cli_format_fit(const char *text, int most)
{
    int bytes = (int)strnlen(text, (size_t)most);
    while (bytes > 0 && ((unsigned char)text[bytes] & 0xc0) == 0x80)
        bytes--;
    return bytes;
}

const char *cli_format_bytes(struct cli_text *buffer, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    size_t unit = 0;
    if (bytes < 1024)
        return cli_format_count(buffer, bytes, "byte");
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        value /= 1024;
    snprintf(buffer->text, sizeof buffer->text, "%.*f %s",
             value < 10    ? 2
             : value < 100 ? 1
                           : 0,
             value, units[unit]);
    return buffer->text;
}

const char *cli_show(struct cli_shown *shown, const char *text)
{
    return tg_text_clean(text, shown->text, sizeof shown->text);
}

const char *cli_show_word(struct cli_shown *shown, const char *path)
{
    return tg_text_shell_word(path, shown->text, sizeof shown->text) ? shown->text : "DIR";
}
