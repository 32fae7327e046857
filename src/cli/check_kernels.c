/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of `taskglass check` by kernel. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/replay.h>

#include "cli/check.h"
#include "cli/format.h"

enum { COLUMNS = 6, GAP = 2, CELL = 24, NARROWEST = 8 };
static const char *const heads[COLUMNS] = {"checked",     "wrong",   "failed",
                                           "not checked", "max ulp", "max relative"};

struct cells {
    char text[COLUMNS][CELL];
};

static void fill_cells(const struct check_counts *is, struct cells *cells)
{
    bool checked = is->good + is->wrong > 0;
    snprintf(cells->text[0], CELL, "%" PRIu64, is->good + is->wrong);
    snprintf(cells->text[1], CELL, "%" PRIu64, is->wrong);
    snprintf(cells->text[2], CELL, "%" PRIu64, is->failed);
    snprintf(cells->text[3], CELL, "%" PRIu64, is->without + is->incomplete + is->empty);
    if (!checked)
        snprintf(cells->text[4], CELL, "-");
    else if (is->max_ulp == TG_ULP_UNDEFINED)
        snprintf(cells->text[4], CELL, "nan");
    else
        snprintf(cells->text[4], CELL, "%" PRIu64, is->max_ulp);
    if (checked)
        snprintf(cells->text[5], CELL, "%.3g", is->max_relative);
    else
        snprintf(cells->text[5], CELL, "-");
}

/* Prints the name in that many columns, and its end as … if it is longer. Names are ASCII, or are shown
 * cut. */
static void print_name(const char *name, int width)
{
    int length = cli_format_width(name);
    if (length <= width)
        printf("  %s%*s", name, width - length, "");
    else
        printf("  %.*s…", cli_format_fit(name, width - 1), name);
}

void check_kernels_print(const struct check_tally *tally)
{
    int width[COLUMNS], name = (int)strlen("kernel"), rest = GAP;
    struct cells cells;
    for (int c = 0; c < COLUMNS; c++)
        width[c] = (int)strlen(heads[c]);
    for (size_t i = 0; i < tally->n_kernels; i++) {
        int length = cli_format_width(tally->kernel[i].name);
        name = length > name ? length : name;
        fill_cells(&tally->kernel[i].is, &cells);
        for (int c = 0; c < COLUMNS; c++)
            if ((int)strlen(cells.text[c]) > width[c])
                width[c] = (int)strlen(cells.text[c]);
    }
    for (int c = 0; c < COLUMNS; c++)
        rest += width[c] + GAP;
    if (name + rest > cli_term_width())
        name = cli_term_width() - rest > NARROWEST ? cli_term_width() - rest : NARROWEST;
    print_name("kernel", name);
    for (int c = 0; c < COLUMNS; c++)
        printf("%*s", width[c] + GAP, heads[c]);
    putchar('\n');
    for (size_t i = 0; i < tally->n_kernels; i++) {
        fill_cells(&tally->kernel[i].is, &cells);
        print_name(*tally->kernel[i].name ? tally->kernel[i].name : "?", name);
        for (int c = 0; c < COLUMNS; c++)
            printf("%*s", width[c] + GAP, cells.text[c]);
        putchar('\n');
    }
}

/* Distances beyond 2^53 are strings, as all 64-bit numbers in our files. */
static void put_ulp(struct tg_json *json, uint64_t ulp)
{
    char text[24];
    if (ulp <= UINT64_C(1) << 53) {
        tg_json_put_uint(json, "max_ulp", ulp);
        return;
    }
    snprintf(text, sizeof text, "%" PRIu64, ulp);
    tg_json_put_string(json, "max_ulp", ulp == TG_ULP_UNDEFINED ? "nan" : text);
}

void check_kernels_put(const struct check_tally *tally, struct tg_json *json)
{
    tg_json_key(json, "kernels");
    tg_json_begin_array(json);
    for (size_t i = 0; i < tally->n_kernels; i++) {
        const struct check_counts *is = &tally->kernel[i].is;
        tg_json_begin_line_object(json);
        tg_json_put_string(json, "kernel", tally->kernel[i].name);
        tg_json_put_uint(json, "tasks", is->tasks);
        tg_json_put_uint(json, "good", is->good);
        tg_json_put_uint(json, "wrong", is->wrong);
        tg_json_put_uint(json, "without_reference", is->without);
        tg_json_put_uint(json, "incomplete", is->incomplete);
        tg_json_put_uint(json, "failed", is->failed);
        tg_json_put_uint(json, "empty", is->empty);
        if (is->good + is->wrong > 0) {
            put_ulp(json, is->max_ulp);
            tg_json_put_real(json, "max_relative", is->max_relative);
            tg_json_put_real(json, "max_error", is->max_error);
        }
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}
