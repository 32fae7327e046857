/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of `taskglass check` by kernel. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/replay.h>

#include "cli/check.h"
#include "cli/table.h"

enum { KERNEL, CHECKED, WRONG, FAILED, NOT_CHECKED, MAX_ULP, MAX_RELATIVE, COLUMNS };

static const struct cli_column columns[COLUMNS] = {
    [KERNEL] = {"kernel", .least = 10, .cut = CLI_CUT_MIDDLE},
    [CHECKED] = {"checked", .rank = 2, .right = true},
    [WRONG] = {"wrong", .rank = 1, .right = true},
    [FAILED] = {"failed", .rank = 3, .right = true},
    [NOT_CHECKED] = {"not checked", .rank = 4, .right = true},
    [MAX_ULP] = {"max ulp", .rank = 6, .right = true},
    [MAX_RELATIVE] = {"max relative", .rank = 5, .right = true},
};

static void put_errors(struct cli_table *table, const struct tg_reference_counts *is)
{
    if (is->good + is->wrong == 0) {
        cli_table_cell(table, MAX_ULP, "-");
        cli_table_cell(table, MAX_RELATIVE, "-");
        return;
    }
    if (is->max_ulp == TG_ULP_UNDEFINED)
        cli_table_cell(table, MAX_ULP, "nan");
    else
        cli_table_cell(table, MAX_ULP, "%" PRIu64, is->max_ulp);
    cli_table_cell(table, MAX_RELATIVE, "%.3g", is->max_relative);
}

void check_kernels_print(const struct check_tally *tally)
{
    struct cli_table table;
    cli_table_begin(&table, stdout, columns, COLUMNS, 2);
    for (size_t i = 0; i < tally->n_kernels; i++) {
        const struct tg_reference_counts *is = &tally->kernel[i].is;
        cli_table_cell(&table, KERNEL, "%s", *tally->kernel[i].name ? tally->kernel[i].name : "?");
        cli_table_cell(&table, CHECKED, "%" PRIu64, is->good + is->wrong);
        cli_table_cell(&table, WRONG, "%" PRIu64, is->wrong);
        cli_table_cell(&table, FAILED, "%" PRIu64, is->failed);
        cli_table_cell(&table, NOT_CHECKED, "%" PRIu64, is->without + is->incomplete + is->empty);
        put_errors(&table, is);
        cli_table_end_row(&table);
    }
    cli_table_end(&table);
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
        const struct tg_reference_counts *is = &tally->kernel[i].is;
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
