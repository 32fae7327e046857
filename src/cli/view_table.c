/* SPDX-License-Identifier: Apache-2.0 */
/* The table of records. */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "cli/format.h"
#include "cli/print.h"
#include "cli/table.h"
#include "cli/view.h"

enum { MOST_VALUES = 400 }; /* columns of them on the widest terminal */

enum column { INDEX, TASK, KERNEL, STAGE, ROLE, ARG, DTYPE, SHAPE, BYTES, VALUES, HASH, COLUMNS };

static const struct cli_column columns[COLUMNS] = {
    [INDEX] = {"index", .right = true},
    [TASK] = {"task", .right = true, .rank = 1},
    [KERNEL] = {"kernel", .rank = 1, .least = 10, .most = 60, .cut = CLI_CUT_MIDDLE},
    [STAGE] = {"stage", .rank = 4, .may_lack = true},
    [ROLE] = {"role", .rank = 6, .may_lack = true},
    [ARG] = {"arg", .rank = 2, .right = true},
    [DTYPE] = {"dtype", .rank = 7, .may_lack = true},
    [SHAPE] = {"shape", .rank = 5, .least = 10, .most = 60, .cut = CLI_CUT_MIDDLE,
               .may_lack = true},
    [BYTES] = {"bytes", .rank = 8, .right = true, .may_lack = true},
    [VALUES] = {"values", .rank = 3, .least = 12, .cut = CLI_CUT_WORDS, .fills = true,
                .may_lack = true},
    [HASH] = {"hash", .rank = 9, .may_lack = true},
};

/* "512", "4.0K", "152M": four digits at most. */
static void put_bytes(char *cell, size_t room, uint64_t bytes)
{
    static const char units[] = "KMGTPE";
    double value = (double)bytes / 1024;
    size_t unit = 0;
    if (bytes < 10000) {
        snprintf(cell, room, "%" PRIu64, bytes);
        return;
    }
    for (; value >= 1000 && unit + 2 < sizeof units; unit++)
        value /= 1024;
    snprintf(cell, room, "%.*f%c", value < 9.95 ? 1 : 0, value, units[unit]);
}

/* Four digits, so that odd values stand out; --index shows all digits. */
static void format_short(struct tg_value_text *text, unsigned dtype, uint64_t bits)
{
    if (tg_dtype_is_float((int)dtype))
        snprintf(text->text, sizeof text->text, "%.4g", tg_decode(dtype, bits));
    else
        tg_value_format(dtype, bits, text);
}

/* Prints as many values as fit, and "…" for the others. */
static void put_values(char *cell, int room, const struct tg_array *array)
{
    struct tg_value_text text;
    int at = 0;
    for (int64_t i = 0; i < array->elements; i++) {
        format_short(&text, array->dtype, tg_load_bits(array->dtype, array->bytes, i));
        int length = (int)strlen(text.text) + (at > 0);
        bool is_last = i + 1 == array->elements;
        if (at + length + (is_last ? 0 : 2) > room) {
            sprintf(cell + at, at > 0 ? " …" : "…");
            return;
        }
        at += sprintf(cell + at, "%s%s", at > 0 ? " " : "", text.text);
    }
}

static void add_values(struct cli_table *table, const struct view *view,
                       const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    const char *mark = cli_record_mark(record);
    int most = cli_table_room(table) < MOST_VALUES ? cli_table_room(table) : MOST_VALUES;
    char cell[MOST_VALUES + 8] = ""; /* one "…" has 3 bytes */
    struct tg_value_text value;
    struct tg_array array;
    if (record->kind == TG_KIND_SCALAR)
        snprintf(cell, sizeof cell, "%s", tg_scalar_format(record, &value));
    else if (tg_array_of(view->recording, entry, &array))
        put_values(cell, most, &array);
    cli_table_cell(table, VALUES, "%s%s%s", mark, *mark && *cell ? " " : "", cell);
    if (*mark)
        cli_table_color(table, VALUES, CLI_RED);
}

static void add_row(struct cli_table *table, const struct view *view, uint64_t index,
                    struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    struct cli_words words;
    char bytes[16];
    entry->record.flags &= (uint16_t)~TG_RECORD_EXCESS; /* a few values are read of each */
    cli_table_cell(table, INDEX, "%" PRIu64, index);
    cli_table_cell(table, TASK, "%s", cli_record_task(&words, record->task_id));
    cli_table_cell(table, KERNEL, "%s", cli_record_kernels(&words, entry));
    cli_table_cell(table, STAGE, "%s", cli_record_stage(record->stage));
    cli_table_cell(table, ROLE, "%s",
                   record->flags & TG_RECORD_READ ? "read" : cli_record_role(record->role));
    if (record->arg_index == TG_ARG_UNKNOWN)
        cli_table_cell(table, ARG, "?");
    else
        cli_table_cell(table, ARG, "%u", record->arg_index);
    cli_table_cell(table, DTYPE, "%s", tg_dtype_name(record->dtype));
    cli_table_cell(table, SHAPE, "%s", cli_record_shape(&words, record));
    if (record->kind == TG_KIND_TENSOR) {
        put_bytes(bytes, sizeof bytes, record->bytes);
        cli_table_cell(table, BYTES, "%s", bytes);
    }
    add_values(table, view, entry);
    if (record->flags & TG_RECORD_HASHED)
        cli_table_cell(table, HASH, "%08" PRIx64, record->hash >> 32);
    cli_table_end_row(table);
}

/* How many records from `from` on are selected. */
static uint64_t count_rest(const struct view *view, uint64_t from)
{
    struct tg_entry entry;
    uint64_t count = 0;
    if (tg_query_is_empty(view->query))
        return view->info.records - from;
    for (uint64_t i = from; tg_query_next(view->query, view->recording, &i, &entry); i++)
        count++;
    return count;
}

void view_print_table(const struct view *view)
{
    struct cli_table table;
    struct tg_entry entry;
    uint64_t shown = 0, i = 0;
    cli_table_begin(&table, stdout, columns, COLUMNS, 0);
    for (; shown < view->limit.number; i++, shown++) {
        if (!tg_query_next(view->query, view->recording, &i, &entry))
            break;
        add_row(&table, view, i, &entry);
    }
    cli_table_end(&table);
    uint64_t rest = shown == view->limit.number && i < view->info.records ? count_rest(view, i) : 0;
    if (shown == 0 && rest == 0)
        cli_print(view->info.records == 0 ? "The recording has no records.\n"
                                          : "No record matches.\n");
    else if (rest > 0)
        cli_print("and %" PRIu64 " more; --all shows them, --index NUMBER one in full\n", rest);
    cli_legend_print();
}
