/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/format.h"

#include <inttypes.h>
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

int cli_format_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80; /* do not count continuation bytes */
    return width;
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
