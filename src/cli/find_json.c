/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of `taskglass find` as JSON. */
#include <stdio.h>

#include "cli/find.h"

static void put_record(const struct cli_find *find, struct tg_json *json, uint64_t record)
{
    struct tg_entry entry;
    cli_json_index(json, "record", record);
    if (!tg_recording_get(find->recording, record, &entry))
        return;
    tg_json_put_hex(json, "task_id", entry.record.task_id);
    cli_json_argument(json, &entry);
}

static void put_feeds(const struct cli_find *find, struct tg_json *json, uint64_t number)
{
    struct tg_find_feed feed;
    struct tg_entry entry;
    tg_json_key(json, "inputs");
    tg_json_begin_array(json);
    for (uint64_t i = 0; tg_find_get_feed(find->find, number, i, &feed); i++) {
        tg_json_begin_line_object(json);
        put_record(find, json, feed.record);
        tg_json_key(json, "count");
        if (feed.is_known)
            tg_json_uint(json, feed.count);
        else
            tg_json_null(json);
        cli_json_index(json, "from_record", feed.from);
        tg_json_key(json, "from_task");
        if (feed.from != TG_NONE && tg_recording_get(find->recording, feed.from, &entry))
            tg_json_hex(json, entry.record.task_id);
        else
            tg_json_null(json);
        tg_json_put_bool(json, "from_outside", feed.is_outside);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_between(const struct cli_find *find, struct tg_json *json, uint64_t number)
{
    struct tg_find_between between;
    struct tg_entry entry;
    tg_json_key(json, "between");
    tg_json_begin_array(json);
    for (uint64_t i = 0; tg_find_get_between(find->find, number, i, &between); i++) {
        tg_json_begin_line_object(json);
        tg_json_put_hex(json, "task_id", between.task_id);
        tg_json_key(json, "kernel");
        tg_json_begin_line_array(json);
        if (tg_recording_get(find->recording, between.record, &entry))
            for (int part = 0; part < TG_PARTS; part++)
                if (entry.kernel[part])
                    tg_json_string(json, entry.kernel[part]);
        tg_json_end_array(json);
        tg_json_put_bool(json, "writes", between.writes);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_finding(const struct cli_find *find, struct tg_json *json, uint64_t number,
                        const struct tg_find_finding *finding, const struct tg_entry *entry)
{
    bool is_stomp = find->find_kind == TG_FIND_STOMP,
         is_sign = find->find_kind == TG_FIND_UNWRITTEN;
    tg_json_begin_object(json);
    put_record(find, json, finding->record);
    tg_json_put_string(json, "trace", tg_trace_name(finding->trace));
    cli_json_index(json, "count", is_stomp && finding->first == TG_NONE ? TG_NONE : finding->count);
    cli_json_at(json, "first", &entry->record, finding->first);
    if (is_sign) {
        tg_json_put_string(json, "sign", tg_sign_name(finding->sign));
        tg_json_put_bool(json, "proved", finding->is_proved);
    }
    if (is_sign || is_stomp)
        cli_json_index(json, "before", finding->before);
    if (is_stomp) {
        cli_json_index(json, "writer", finding->writer);
        /* Reports that memory ran out, which the functions below cannot. */
        (void)tg_find_answer_rank(find->answer, number, find->trouble);
        put_between(find, json, number);
        cli_find_json_suspects(find, json, number);
    } else {
        put_feeds(find, json, number);
    }
    tg_json_end_object(json);
}

static void put_left_out(const struct cli_find *find, struct tg_json *json)
{
    struct tg_recording_info info;
    struct tg_note note;
    tg_recording_get_info(find->recording, &info);
    tg_json_key(json, "left_out");
    tg_json_begin_array(json);
    for (unsigned i = 0; tg_find_answer_note(find->answer, i, &note); i++)
        tg_json_string(json, note.text);
    cli_json_notes(json, &info);
    tg_json_end_array(json);
}

void cli_find_print_json(const struct cli_find *find)
{
    struct tg_json json;
    struct tg_find_finding finding;
    struct tg_entry entry;
    uint64_t shown = 0;
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    cli_json_recording(&json, "recording", find->recording);
    tg_json_put_string(&json, "what", tg_find_kind_name(find->find_kind));
    tg_json_put_string(&json, "result", find->is.result);
    tg_json_put_string(&json, "reason", *find->is.reason ? find->is.reason : NULL);
    tg_json_put_string(&json, "order", find->info.order);
    tg_json_put_uint(&json, "looked_at", find->is.looked_at);
    tg_json_put_uint(&json, "not_stored", find->is.not_stored);
    tg_json_put_uint(&json, "found", find->is.found);
    if (find->find_kind == TG_FIND_UNWRITTEN) {
        tg_json_put_uint(&json, "proved", find->is.proved);
        tg_json_put_uint(&json, "possible", find->is.possible);
        tg_json_put_uint(&json, "passed_on", find->is.passed_on);
    }
    if (find->find_kind == TG_FIND_STOMP)
        tg_json_put_string(&json, "not_replayed", *find->not_replayed ? find->not_replayed : NULL);
    put_left_out(find, &json);
    tg_json_put_string(&json, "deps_error", *find->info.deps_error ? find->info.deps_error : NULL);
    tg_json_key(&json, "findings");
    tg_json_begin_array(&json);
    for (uint64_t i = 0;
         shown < find->limit.number && tg_find_answer_next(find->answer, &i, &finding, &entry);
         i++, shown++)
        put_finding(find, &json, i, &finding, &entry);
    tg_json_end_array(&json);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
}
