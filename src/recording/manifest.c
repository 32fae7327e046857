/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "recording/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording/reader.h"
#include "recording/record.h"

/* Releases the memory of records that are written, every so many records: otherwise a host that
 * recorded for hours would need room for the whole journal at the end. */
static void let_go(const struct tg_recording *recording, uint64_t done)
{
    const uint64_t often = 16384;
    if (recording->info.from_journal && done % often == 0)
        tg_map_let_go(&recording->map, (size_t)(done * recording->slot_size));
}

static void count_records(const struct tg_recording *recording, struct tg_record_summary *counted)
{
    struct tg_entry entry;
    *counted = (struct tg_record_summary){0};
    for (uint64_t i = 0; tg_recording_get(recording, i, &entry); i++) {
        tg_record_count(counted, &entry.record);
        let_go(recording, i);
    }
}

static uint64_t lost_records(const struct tg_record_summary *summary)
{
    uint64_t lost = 0;
    for (int cause = 0; cause < TG_LOSS_CAUSES; cause++)
        if (cause != TG_LOSS_OVERWRITTEN)
            lost += summary->lost[cause];
    return lost;
}

static void put_losses(struct tg_json *json, const struct tg_record_summary *summary)
{
    tg_json_key(json, "lost");
    tg_json_begin_line_object(json);
    for (unsigned cause = 0; cause < TG_LOSS_CAUSES; cause++)
        tg_json_put_uint(json, tg_loss_name(cause), summary->lost[cause]);
    tg_json_end_object(json);
}

static void put_counters(struct tg_json *json, const struct tg_record_summary *counted,
                         const struct tg_record_summary *summary)
{
    tg_json_put_uint(json, "total_tensors", counted->recorded);
    tg_json_put_uint(json, "before_dispatch", counted->before_dispatch);
    tg_json_put_uint(json, "after_completion", counted->after_completion);
    tg_json_put_uint(json, "orchestration", counted->orchestration);
    tg_json_put_uint(json, "input_tensors", counted->inputs);
    tg_json_put_uint(json, "output_tensors", counted->outputs);
    tg_json_put_uint(json, "inout_tensors", counted->inouts);
    tg_json_put_uint(json, "scalars", counted->scalars);
    tg_json_put_uint(json, "truncated_tensors", counted->truncated);
    tg_json_put_uint(json, "overwritten_tensors", counted->overwritten);
    tg_json_put_uint(json, "dropped_records", lost_records(summary));
    tg_json_put_uint(json, "dropped_overwrite",
                     counted->overwritten + summary->lost[TG_LOSS_OVERWRITTEN]);
    put_losses(json, summary);
    tg_json_put_uint(json, "attempted", summary->attempted);
    tg_json_put_uint(json, "record_ns", summary->record_ns);
    tg_json_put_uint(json, "wait_ns", summary->wait_ns);
}

static void put_format(struct tg_json *json)
{
    tg_json_key(json, "bin_format");
    tg_json_begin_line_object(json);
    tg_json_put_string(json, "type", "logical_contiguous");
    tg_json_put_string(json, "byte_order", "little_endian");
    tg_json_end_object(json);
}

static void put_members(struct tg_json *json, const struct tg_recording *recording,
                        const struct tg_record_summary *counted)
{
    tg_json_put_uint(json, "version", TG_MANIFEST_VERSION);
    tg_json_put_string(json, "run_dir", recording->run_dir);
    put_format(json);
    tg_json_put_string(json, "hash_algorithm", "tg64");
    tg_json_put_string(json, "level", tg_level_name(recording->info.level));
    tg_json_put_string(json, "policy", tg_policy_name(recording->policy));
    if (recording->info.poison)
        tg_json_put_hex(json, "poison", recording->info.poison);
    tg_json_put_bool(json, "complete", recording->info.complete && recording->info.damaged == 0);
    if (recording->info.damaged > 0)
        tg_json_put_uint(json, "damaged_records", recording->info.damaged);
    if (recording->info.summary.flags & TG_SUMMARY_RESULT)
        tg_json_put_string(json, "result",
                           tg_status_name((tg_status)recording->info.summary.result));
    put_counters(json, counted, &recording->info.summary);
    tg_json_put_uint(json, "payload_bytes", recording->payload.size);
    tg_json_put_string(json, "bin_file",
                       recording->payload_name[0] ? recording->payload_name : TG_DUMP_PAYLOAD);
}

/* The document's text begins at the buffer's: nothing has been flushed yet. */
void tg_manifest_put_head(struct tg_json *json, const struct tg_recording *recording,
                          const struct tg_record_summary *counted)
{
    tg_json_begin_object(json);
    put_members(json, recording, counted);
    tg_json_put_hex(json, "check", tg_text_hash(json->buffer, json->used));
    tg_json_key(json, "tensors");
    tg_json_begin_array(json);
}

/* The text on its way to the file. */
struct out {
    int fd, cause;
    char *buffer;
    size_t used;
    uint64_t position;
    struct tg_manifest_pieces pieces;
};

enum { ROOM = 1 << 20 };

static void flush(struct out *out)
{
    if (out->cause == 0)
        out->cause = tg_write_at(out->fd, out->buffer, out->used, out->position, NULL);
    out->position += out->used;
    out->used = 0;
}

static void put_text(struct out *out, const char *text)
{
    size_t length = strlen(text);
    memcpy(out->buffer + out->used, text, length);
    out->used += length;
}

static void put_entries(struct out *out, const struct tg_recording *recording)
{
    struct tg_entry entry;
    for (uint64_t i = 0; out->cause == 0 && tg_recording_get(recording, i, &entry); i++) {
        if (ROOM - out->used < TG_MANIFEST_LINE)
            flush(out);
        put_text(out, i == 0 ? "\n" : ",\n");
        out->used += tg_manifest_put_entry(&out->pieces, &entry, out->buffer + out->used);
        let_go(recording, i);
    }
}

static int print_through(struct out *out, const struct tg_recording *recording)
{
    struct tg_record_summary counted;
    struct tg_json json;
    count_records(recording, &counted);
    tg_json_start_buffer(&json, out->buffer, ROOM, -1, 0);
    tg_manifest_put_head(&json, recording, &counted);
    if (json.status != TG_OK)
        return ENOMEM;
    out->used = json.used;
    put_entries(out, recording);
    put_text(out, counted.recorded > 0 ? "\n  ]\n}\n" : "]\n}\n");
    flush(out);
    return out->cause;
}

int tg_manifest_print(const struct tg_recording *recording, int fd)
{
    struct out *out = calloc(1, sizeof *out);
    int cause = ENOMEM;
    if (out && (out->buffer = malloc(ROOM)) != NULL) {
        out->fd = fd;
        cause = print_through(out, recording);
    }
    free(out ? out->buffer : NULL);
    free(out);
    return cause != 0 ? cause : tg_map_check(&recording->map);
}

static int print(int fd, const void *recording)
{
    return tg_manifest_print(recording, fd);
}

tg_status tg_manifest_write(const struct tg_recording *recording, const char *dir,
                            struct tg_error *error)
{
    return tg_file_write(dir, TG_DUMP_MANIFEST, print, recording, error);
}
