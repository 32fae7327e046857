/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/format.h"
#include "cli/term.h"
#include "cli/voice.h"

/* RATED_MS: a rate over less time says little. */
enum { PATIENCE_MS = 500, TICK_MS = 100, RATED_MS = 300, BAR_WIDTH = 24, WIDE = 72 };

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void cli_progress_init(struct cli_progress *progress, const char *label, const char *unit)
{
    *progress = (struct cli_progress){.label = label, .unit = unit};
    progress->shown = cli_term_is_smart(stderr) && !cli_is_quiet();
    progress->began_ms = progress->first_ms = now_ms();
}

void cli_progress_next(struct cli_progress *progress, const char *label)
{
    if (strcmp(progress->label, label) == 0)
        return;
    progress->label = label;
    progress->first_ms = now_ms();
}

/* The parts of the line, one after the other. */
struct line {
    char text[400];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int length = vsnprintf(line->text + line->used, sizeof line->text - line->used, format, values);
    va_end(values);
    line->used += length > 0 ? (size_t)length : 0;
    line->used = line->used < sizeof line->text ? line->used : sizeof line->text - 1;
}

static void add_bar(struct line *line, uint64_t done, uint64_t total)
{
    int full = (int)((double)done / (double)total * BAR_WIDTH);
    char bar[BAR_WIDTH + 1] = "";
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < full ? '#' : '.';
    add(line, "[%s] ", bar);
}

static void add_amount(struct line *line, const char *unit, uint64_t done, uint64_t total)
{
    struct cli_text a, b;
    if (unit && *unit == '%')
        add(line, "%" PRIu64 " %%", done < 100 ? done : 100);
    else if (!unit && total > 0)
        add(line, "%s of %s", cli_format_bytes(&a, done), cli_format_bytes(&b, total));
    else if (!unit)
        add(line, "%s", cli_format_bytes(&a, done));
    else if (total > 0)
        add(line, "%" PRIu64 " of %s", done, cli_format_count(&b, total, unit));
    else
        add(line, "%s", cli_format_count(&a, done, unit));
}

static void add_left(struct line *line, double seconds)
{
    uint64_t left = seconds < 1e9 ? (uint64_t)(seconds + 0.5) : 0;
    if (left == 0)
        return;
    if (left < 60)
        add(line, ", %" PRIu64 " s left", left);
    else if (left < 3600)
        add(line, ", %" PRIu64 " min %" PRIu64 " s left", left / 60, left % 60);
    else
        add(line, ", %" PRIu64 " h %" PRIu64 " min left", left / 3600, left / 60 % 60);
}

static void add_rate(struct line *line, const struct cli_progress *progress, uint64_t now,
                     uint64_t done, uint64_t total)
{
    struct cli_text text;
    uint64_t passed = now - progress->first_ms;
    if (passed < RATED_MS || done == 0)
        return;
    double rate = (double)done * 1000 / (double)passed;
    if (!progress->unit)
        add(line, ", %s/s", cli_format_bytes(&text, (uint64_t)rate));
    else if (*progress->unit != '%') /* percents in a second tell nothing */
        add(line, ", %.*f %ss/s", rate < 10 ? 1 : 0, rate, progress->unit);
    if (total > done)
        add_left(line, (double)(total - done) / rate);
}

static void draw(struct cli_progress *progress, uint64_t now, uint64_t done, uint64_t total)
{
    struct line line = {.used = 0};
    char cut[sizeof line.text];
    int width = cli_stream_width(stderr);
    if (total > 0 || done > 0) {
        add(&line, "  ");
        if (total > 0 && width > WIDE)
            add_bar(&line, done < total ? done : total, total);
        add_amount(&line, progress->unit, done, total);
        add_rate(&line, progress, now, done, total);
    }
    struct line whole = {.used = 0};
    add(&whole, "%s%s", progress->label, line.text);
    fprintf(stderr, "\r\033[K%s",
            cli_format_cut(cut, sizeof cut, whole.text, width > 1 ? width - 1 : 1, CLI_CUT_WORDS));
    fflush(stderr);
    progress->drawn = true;
    progress->drawn_ms = now;
}

void cli_progress_show(void *context, uint64_t done, uint64_t total)
{
    struct cli_progress *progress = context;
    if (!progress->shown)
        return;
    uint64_t now = now_ms();
    if (now - progress->began_ms < PATIENCE_MS || now - progress->drawn_ms < TICK_MS)
        return;
    draw(progress, now, done, total);
}

void cli_progress_erase(struct cli_progress *progress)
{
    if (!progress->drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress->drawn = false;
}
