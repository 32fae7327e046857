/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "recording/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "recording/reader.h"
#include "recording/record.h"

/* Every so many records, those that are done with leave memory: a host that records for hours must
 * not need the room of the whole journal in the end. */
static void let_go(const struct tg_recording *recording, uint64_t done)
{
    const uint64_t often = 16384;
    if (recording->arguments && done % often == 0)
        tg_map_let_go(&recording->map, (size_t)(recording->arguments - recording->map.bytes) +
                                           done * sizeof(struct tg_record));
}

/* What is readable, counted. False where the journal ends before its count says. */
static bool count_records(const struct tg_recording *recording, struct tg_record_summary *counted)
{
    struct tg_entry entry;
    *counted = (struct tg_record_summary){0};
    for (uint64_t i = 0; i < recording->info.records; i++) {
        if (!tg_recording_get(recording, i, &entry))
            return false;
        tg_record_count(counted, &entry.record);
        let_go(recording, i);
    }
    return true;
}

static void put_uint(struct tg_out *out, const char *key, uint64_t value)
{
    tg_out_text(out, "  \"");
    tg_out_text(out, key);
    tg_out_text(out, "\": ");
    tg_out_uint(out, value);
    tg_out_text(out, ",\n");
}

static void put_string(struct tg_out *out, const char *key, const char *value)
{
    tg_out_text(out, "  \"");
    tg_out_text(out, key);
    tg_out_text(out, "\": ");
    tg_out_string(out, value);
    tg_out_text(out, ",\n");
}

static uint64_t lost_records(const struct tg_record_summary *summary)
{
    uint64_t lost = 0;
    for (int cause = 0; cause < TG_LOSS_CAUSES; cause++)
        if (cause != TG_LOSS_OVERWRITTEN)
            lost += summary->lost[cause];
    return lost;
}

static void put_losses(struct tg_out *out, const struct tg_record_summary *summary)
{
    tg_out_text(out, "  \"lost\": {");
    for (unsigned cause = 0; cause < TG_LOSS_CAUSES; cause++) {
        tg_out_text(out, cause > 0 ? ", \"" : "\"");
        tg_out_text(out, tg_loss_name(cause));
        tg_out_text(out, "\": ");
        tg_out_uint(out, summary->lost[cause]);
    }
    tg_out_text(out, "},\n");
}

static void put_counters(struct tg_out *out, const struct tg_record_summary *counted,
                         const struct tg_record_summary *summary)
{
    put_uint(out, "total_tensors", counted->recorded);
    put_uint(out, "before_dispatch", counted->before_dispatch);
    put_uint(out, "after_completion", counted->after_completion);
    put_uint(out, "orchestration", counted->orchestration);
    put_uint(out, "input_tensors", counted->inputs);
    put_uint(out, "output_tensors", counted->outputs);
    put_uint(out, "inout_tensors", counted->inouts);
    put_uint(out, "scalars", counted->scalars);
    put_uint(out, "truncated_tensors", counted->truncated);
    put_uint(out, "overwritten_tensors", counted->overwritten);
    put_uint(out, "dropped_records", lost_records(summary));
    put_uint(out, "dropped_overwrite", counted->overwritten + summary->lost[TG_LOSS_OVERWRITTEN]);
    put_losses(out, summary);
    put_uint(out, "attempted", summary->attempted);
    put_uint(out, "record_ns", summary->record_ns);
    put_uint(out, "wait_ns", summary->wait_ns);
}

static void put_head(struct tg_out *out, const struct tg_recording *recording,
                     const struct tg_record_summary *counted, bool is_complete)
{
    tg_out_text(out, "{\n");
    put_uint(out, "version", TG_MANIFEST_VERSION);
    put_string(out, "run_dir", recording->run_dir);
    tg_out_text(out, "  \"bin_format\": {\"type\": \"logical_contiguous\", "
                     "\"byte_order\": \"little_endian\"},\n");
    put_string(out, "hash_algorithm", "tg64");
    put_string(out, "level", tg_level_name(recording->info.level));
    put_string(out, "policy", tg_policy_name(recording->policy));
    tg_out_text(out, is_complete ? "  \"complete\": true,\n" : "  \"complete\": false,\n");
    put_counters(out, counted, &recording->info.summary);
    put_uint(out, "payload_bytes", recording->payload.size);
    put_string(out, "bin_file",
               recording->payload_name[0] ? recording->payload_name : TG_DUMP_PAYLOAD);
}

static void put_entries(struct tg_out *out, const struct tg_recording *recording, uint64_t n)
{
    struct tg_entry entry;
    tg_out_text(out, "  \"tensors\": [");
    for (uint64_t i = 0; i < n && tg_recording_get(recording, i, &entry); i++) {
        tg_out_text(out, i > 0 ? ",\n    " : "\n    ");
        tg_manifest_put_entry(out, &entry);
        let_go(recording, i);
    }
    tg_out_text(out, n > 0 ? "\n  ]\n}\n" : "]\n}\n");
}

int tg_manifest_print(const struct tg_recording *recording, int fd)
{
    struct tg_record_summary counted;
    struct tg_out *out = malloc(sizeof *out);
    if (!out)
        return ENOMEM;
    bool is_complete = count_records(recording, &counted) && recording->info.complete;
    tg_out_start(out, fd);
    put_head(out, recording, &counted, is_complete);
    put_entries(out, recording, counted.recorded);
    int cause = tg_out_finish(out);
    free(out);
    return cause;
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
