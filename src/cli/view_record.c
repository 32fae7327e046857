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
#include "cli/term.h"
#include "cli/view.h"

static void put_label(const char *label)
{
    printf("  %-10s", label);
}

static void put_numbers(const int64_t *number, int count)
{
    putchar('[');
    for (int i = 0; i < count; i++)
        printf("%s%" PRId64, i > 0 ? ", " : "", number[i]);
    putchar(']');
}

static void put_whose(uint64_t index, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    struct cli_words words;
    printf("%srecord %" PRIu64 "%s\n", cli_color(stdout, CLI_BOLD), index,
           cli_color(stdout, CLI_PLAIN));
    put_label("task");
    if (record->task_id == TG_TASK_NONE && record->flags & TG_RECORD_READ)
        printf("none: no task is known to have written the value\n");
    else if (record->task_id == TG_TASK_NONE)
        printf("none: given to the orchestration\n");
    else
        printf("%s (0x%016" PRIx64 ")\n", cli_record_task(&words, record->task_id),
               record->task_id);
    if (*cli_record_kernels(&words, entry)) {
        put_label("kernel");
        printf("%s\n", cli_record_kernels(&words, entry));
    }
    put_label("argument");
    if (record->flags & TG_RECORD_READ) {
        if (record->arg_index == TG_ARG_UNKNOWN)
            printf("not known");
        else
            printf("%u", record->arg_index);
        printf(", read by the orchestration after the task completed\n");
        return;
    }
    printf("%u, %s %s, %s%s\n", record->arg_index, tg_record_role_name(record->role),
           record->kind == TG_KIND_SCALAR ? "scalar" : "tensor", tg_stage_name(record->stage),
           record->flags & TG_RECORD_MARKED ? ", marked" : "");
}

static void put_scalar(const struct tg_record *record)
{
    struct tg_value_text value;
    put_label("value");
    if (record->flags & TG_RECORD_NO_VALUE)
        puts("unknown: the recording does not have it");
    else if (!tg_dtype_valid(record->dtype))
        printf("%s, of an unknown type\n", tg_scalar_format(record, &value));
    else
        printf("%s (0x%016" PRIx64 ")\n", tg_scalar_format(record, &value), record->value);
    if (record->flags & TG_RECORD_READ) {
        put_label("address");
        printf("0x%016" PRIx64 ", element %" PRId64 "\n", record->data_ptr, record->start);
    }
}

static void put_where(const struct view *view, const struct tg_record *record)
{
    put_label("shape");
    put_numbers(record->shape, record->ndim);
    printf(", strides ");
    put_numbers(record->strides, record->ndim);
    printf(", start %" PRId64 "%s\n", record->start,
           record->flags & TG_RECORD_CONTIGUOUS ? "" : ": not contiguous");
    if (record->data_ptr != 0) {
        put_label("address");
        printf("0x%016" PRIx64, record->data_ptr);
        if (view->info.from_journal) /* a manifest does not name lanes */
            printf(", lane %" PRIu32, record->core);
        putchar('\n');
    }
}

/* How much is stored, or why nothing is. */
static void put_payload(const struct view *view, const struct tg_record *record)
{
    const char *mark = cli_record_mark(record);
    struct cli_text bytes, stored;
    put_label("bytes");
    printf("%s", cli_format_bytes(&bytes, record->bytes));
    if (record->stored > 0)
        printf(", %s at %" PRIu64 " of %s",
               record->stored == record->bytes ? "all" : cli_format_bytes(&stored, record->stored),
               record->position, view->info.payload);
    else if (record->bytes > 0 && !*mark)
        printf(", not stored%s",
               view->info.level == TG_LEVEL_META || view->info.level == TG_LEVEL_HASH
                   ? " at this level"
                   : "");
    if (*mark)
        printf(", %s%s%s", cli_color(stdout, CLI_RED), mark, cli_color(stdout, CLI_PLAIN));
    if (record->flags & TG_RECORD_PARTIAL)
        printf(" (its task had not finished)");
    putchar('\n');
    if (record->flags & TG_RECORD_HASHED) {
        put_label("hash");
        printf("0x%016" PRIx64 "\n", record->hash);
    }
}

static void put_statistics(const struct tg_array *array)
{
    struct tg_tensor_stats statistics;
    struct cli_words least, most;
    (void)tg_tensor_measure((int)array->dtype, array->bytes, array->elements, &statistics, NULL);
    put_label("values");
    printf("%" PRId64 "%s", array->elements, array->cut ? ", the first of them" : "");
    if (statistics.has_range)
        printf(": min %s, max %s", cli_value_words(&least, array->dtype, statistics.least),
               cli_value_words(&most, array->dtype, statistics.most));
    if (statistics.finite > 0)
        printf(", mean %.9g", statistics.mean);
    if (tg_dtype_is_float((int)array->dtype)) {
        bool odd = statistics.nan > 0 || statistics.infinite > 0;
        printf(", %s%" PRIu64 " NaN, %" PRIu64 " Inf%s", odd ? cli_color(stdout, CLI_RED) : "",
               statistics.nan, statistics.infinite, odd ? cli_color(stdout, CLI_PLAIN) : "");
    }
    printf(", %" PRIu64 " zero\n", statistics.zero);
}

static void put_record(const struct view *view, uint64_t index, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    const struct tg_array_layout layout = {
        .width = 100, .most = view->all ? INT64_MAX : 1000, .edge = 3};
    struct tg_array array;
    put_whose(index, entry);
    put_label("dtype");
    printf("%s\n", tg_dtype_name(record->dtype));
    if (record->kind == TG_KIND_SCALAR) {
        put_scalar(record);
        return;
    }
    put_where(view, record);
    put_payload(view, record);
    if (!tg_array_of(view->recording, entry, &array)) {
        if (record->flags & TG_RECORD_EXCESS) {
            put_label("values");
            puts("not read: other records have the same bytes, or they are a hole of the file");
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
            putchar('\n');
        cli_entry_allow(&view->info, &used, &entry);
        put_record(view, i, &entry);
    }
    if (shown == 0)
        puts("No record matches.");
    else if (tg_query_next(view->query, view->recording, &i, &entry))
        printf("\nand more; --limit or --all shows them\n");
}
