/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cli/stats.h"

static void put_stats(struct tg_json *json, unsigned dtype, const struct tg_tensor_stats *stats)
{
    tg_json_put_uint(json, "count", stats->elements);
    tg_json_key(json, "min");
    tg_json_value(json, stats->has_range ? dtype : TG_DTYPE_NONE, stats->least);
    tg_json_key(json, "max");
    tg_json_value(json, stats->has_range ? dtype : TG_DTYPE_NONE, stats->most);
    cli_json_real(json, "mean", stats->mean);
    cli_json_real(json, "std", stats->deviation);
    tg_json_put_uint(json, "nan", stats->nan);
    tg_json_put_uint(json, "inf", stats->infinite);
    tg_json_put_uint(json, "zero", stats->zero);
    tg_json_put_uint(json, "denormal", stats->denormal);
}

static void put_record(struct tg_json *json, const struct cli_stats *stats, uint64_t index,
                       const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    struct tg_tensor_stats numbers;
    tg_json_begin_line_object(json);
    tg_json_put_uint(json, "index", index);
    tg_json_put_hex(json, "task_id", record->task_id);
    cli_json_argument(json, entry);
    bool is_stored = tg_entry_measure(stats->recording, entry, &numbers);
    tg_json_put_bool(json, "stored", is_stored);
    tg_json_put_bool(json, "cut", record->stored < record->bytes && record->stored > 0);
    if (is_stored)
        put_stats(json, record->dtype, &numbers);
    tg_json_end_object(json);
}

int cli_stats_print_json(struct cli_stats *stats)
{
    struct tg_recording_info info;
    struct tg_json json;
    struct tg_entry entry;
    uint64_t index;
    tg_recording_get_info(stats->recording, &info);
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    cli_json_recording(&json, "recording", stats->recording);
    tg_json_key(&json, "tensors");
    tg_json_begin_array(&json);
    for (uint64_t shown = 0;
         shown < stats->limit.number && tg_stats_walk_next(&stats->walk, &index, &entry); shown++)
        put_record(&json, stats, index, &entry);
    tg_json_end_array(&json);
    tg_json_key(&json, "left_out");
    tg_json_begin_array(&json);
    cli_json_notes(&json, &info);
    tg_json_end_array(&json);
    int code = cli_json_loss(&json, stats->recording);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
    return code;
}
