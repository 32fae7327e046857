/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much payload a recording has. The size of the payload file says more: a payload that was lost, cut
 * or overwritten leaves its place in the file, as a hole or with bytes of no record.
 */
#include "recording/reader.h"

/* Nothing was lost, so that the payloads fill the file without gaps. */
static bool is_filled(const struct tg_recording *recording)
{
    const struct tg_record_summary *summary = &recording->info.summary;
    uint64_t missing = summary->truncated + summary->overwritten;
    for (unsigned cause = 0; cause < TG_LOSS_CAUSES; cause++)
        missing += summary->lost[cause];
    return recording->info.from_journal && recording->info.complete && missing == 0;
}

uint64_t tg_recording_stored(const struct tg_recording *recording)
{
    if (recording == NULL)
        return 0;
    struct tg_entry entry;
    uint64_t size = recording->payload.size, stored = 0;
    if (is_filled(recording))
        return size;
    for (uint64_t i = 0; i < recording->info.records; i++)
        if (tg_recording_get(recording, i, &entry))
            stored += entry.record.stored < size - stored ? entry.record.stored : size - stored;
    return stored;
}

uint64_t tg_recording_cut_off(const struct tg_recording *recording)
{
    if (recording == NULL)
        return 0;
    uint64_t size = recording->payload.size, count = 0;
    if (is_filled(recording) && recording->info.summary.payload_bytes == size)
        return 0;
    for (uint64_t i = 0; i < recording->info.records; i++) {
        struct tg_record record = *tg_recording_at(recording, i);
        count += record.stored > 0 && record.kind == TG_KIND_TENSOR &&
                 (record.position > size || record.stored > size - record.position);
    }
    return count;
}
