/* SPDX-License-Identifier: Apache-2.0 */
/* All details of a record: what it is, its statistics, its values. */
#include <inttypes.h>
#include <stdio.h>
#include <taskglass/analysis.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>
#include <taskglass/wire/stream.h>

#include "cli/diff_words.h"
#include "cli/format.h"
#include "cli/print.h"
#include "cli/term.h"
#include "cli/view.h"

static void put_label(const char *label)
{
    cli_print("  %-10s", label);
}

static void put_numbers(const int64_t *number, int count)
{
    cli_print("[");
    for (int i = 0; i < count; i++)
        cli_print("%s%" PRId64, i > 0 ? ", " : "", number[i]);
    cli_print("]");
}

static void put_whose(uint64_t index, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    struct cli_words words;
    cli_print("%srecord %" PRIu64 "%s\n", cli_color(stdout, CLI_BOLD), index,
              cli_color(stdout, CLI_PLAIN));
    put_label("task");
    if (record->task_id == TG_TASK_NONE && record->flags & TG_RECORD_READ)
        cli_print("none: no task is known to have written the value\n");
    else if (record->task_id == TG_TASK_NONE)
        cli_print("none: given to the orchestration\n");
    else
        cli_print("%s\n", cli_record_task(&words, record->task_id));
    if (*cli_record_kernels(&words, entry)) {
        put_label("kernel");
        cli_print("%s\n", cli_record_kernels(&words, entry));
    }
    put_label("argument");
    if (record->flags & TG_RECORD_READ) {
        if (record->arg_index == TG_ARG_UNKNOWN)
            cli_print("not known");
        else
            cli_print("%u", record->arg_index);
        cli_print(", read by the orchestration after the task completed\n");
        return;
    }
    cli_print("%u, %s %s, %s%s\n", record->arg_index, tg_record_role_name(record->role),
              record->kind == TG_KIND_SCALAR ? "scalar" : "tensor", tg_stage_name(record->stage),
              record->flags & TG_RECORD_MARKED ? ", marked" : "");
}

static void put_scalar(const struct tg_record *record)
{
    struct tg_value_text value;
    put_label("value");
    if (record->flags & TG_RECORD_NO_VALUE)
        cli_print("unknown: the recording does not have it\n");
    else if (!tg_dtype_valid(record->dtype))
        cli_print("%s, of an unknown type\n", tg_scalar_format(record, &value));
    else
        cli_print("%s (0x%016" PRIx64 ")\n", tg_scalar_format(record, &value), record->value);
    if (record->flags & TG_RECORD_READ) {
        put_label("address");
        cli_print("0x%016" PRIx64 ", element %" PRId64 "\n", record->data_ptr, record->start);
    }
}

static void put_where(const struct view *view, const struct tg_record *record)
{
    put_label("shape");
    put_numbers(record->shape, record->ndim);
    cli_print(", strides ");
    put_numbers(record->strides, record->ndim);
    cli_print(", start %" PRId64 "%s\n", record->start,
              record->flags & TG_RECORD_CONTIGUOUS ? "" : ": not contiguous");
    if (record->data_ptr != 0) {
        put_label("address");
        cli_print("0x%016" PRIx64, record->data_ptr);
        if (view->info.from_journal) /* a manifest does not name lanes */
            cli_print(", lane %" PRIu32, record->core);
        cli_print("\n");
    }
}

/* How much is stored, or why nothing is. */
static void put_payload(const struct view *view, const struct tg_record *record)
{
    const char *mark = cli_record_mark(record);
    struct cli_text bytes, stored;
    put_label("bytes");
    cli_print("%s", cli_format_bytes(&bytes, record->bytes));
    if (record->stored > 0)
        cli_print(", %s at %" PRIu64 " of %s",
                  record->stored == record->bytes ? "all"
                                                  : cli_format_bytes(&stored, record->stored),
                  record->position, view->info.payload);
    else if (record->bytes > 0 && !*mark)
        cli_print(", not stored%s",
                  view->info.level == TG_LEVEL_META || view->info.level == TG_LEVEL_HASH
                      ? " at this level"
                      : "");
    if (*mark)
        cli_print(", %s%s%s", cli_color(stdout, CLI_RED), mark, cli_color(stdout, CLI_PLAIN));
    if (record->flags & TG_RECORD_PARTIAL)
        cli_print(" (its task had not finished)");
    cli_print("\n");
    if (record->flags & TG_RECORD_HASHED) {
        put_label("hash");
        cli_print("0x%016" PRIx64 "\n", record->hash);
    }
}

static void put_statistics(const struct tg_array *array)
{
    struct tg_tensor_stats statistics;
    struct cli_words least, most;
    (void)tg_tensor_measure((int)array->dtype, array->bytes, array->elements, &statistics, NULL);
    put_label("values");
    cli_print("%" PRId64 "%s", array->elements, array->cut ? ", the first of them" : "");
    if (statistics.has_range)
        cli_print(": min %s, max %s", cli_value_words(&least, array->dtype, statistics.least),
                  cli_value_words(&most, array->dtype, statistics.most));
    if (statistics.finite > 0)
        cli_print(", mean %.9g", statistics.mean);
    if (tg_dtype_is_float((int)array->dtype)) {
        bool odd = statistics.nan > 0 || statistics.infinite > 0;
        cli_print(", %s%" PRIu64 " NaN, %" PRIu64 " Inf%s", odd ? cli_color(stdout, CLI_RED) : "",
                  statistics.nan, statistics.infinite, odd ? cli_color(stdout, CLI_PLAIN) : "");
    }
    cli_print(", %" PRIu64 " zero\n", statistics.zero);
}

static void put_record(const struct view *view, uint64_t index, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    const struct tg_array_layout layout = {
        .width = cli_term_width(), .most = view->all ? INT64_MAX : 1000, .edge = 3};
    struct tg_array array;
    put_whose(index, entry);
    put_label("dtype");
    cli_print("%s\n", tg_dtype_name(record->dtype));
    if (record->kind == TG_KIND_SCALAR) {
        put_scalar(record);
        return;
    }
    put_where(view, record);
    put_payload(view, record);
    if (!tg_array_of(view->recording, entry, &array)) {
        if (record->flags & TG_RECORD_EXCESS) {
            put_label("values");
            cli_print(
                "not read: other records have the same bytes, or they are a hole of the file\n");
        }
        return;
    }
    if (array.elements > 0)
        put_statistics(&array);
    tg_array_print(stdout, &array, &layout);
}

void view_print_records(const struct view *view)
{
    struct tg_entry entry;
    uint64_t shown = 0, i = 0, used = 0;
    for (; shown < view->limit.number; i++, shown++) {
        if (!tg_query_next(view->query, view->recording, &i, &entry))
            break;
        if (shown > 0)
            cli_print("\n");
        tg_entry_allow(&view->info, &used, &entry);
        put_record(view, i, &entry);
    }
    if (shown == 0)
        cli_print("No record matches.\n");
    else if (tg_query_next(view->query, view->recording, &i, &entry))
        cli_print("\nand more; --limit or --all shows them\n");
}
