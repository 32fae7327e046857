/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds outputs that look as if no task had written them. A recording does not show what was in
 * memory before an output was made, only what other records saw there:
 *
 *   same   an earlier record saw exactly these bytes at exactly this place, and no recorded task
 *          has written any of them since
 *   zero   all bytes are zero, as in fresh memory, and no earlier record saw anything there
 *   fill   one byte is repeated, in a type wider than a byte, as fills and poison leave it
 *
 * A kernel that computes the same values again, or zeros, looks the same.
 */
#include <string.h>
#include <taskglass/tensor.h>

#include "common/hash.h"
#include "analysis/find.h"
#include "recording/record.h"

/* A record with only a hash may claim any size; above MOST_ZEROS computing the hash of zeros takes
 * too long. */
enum { LEAST_FILL = 16, MOST_ZEROS = 1 << 30 };

static uint64_t hash_of_zeros(uint64_t size)
{
    static const unsigned char zeros[4096];
    struct tg_hash hash;
    tg_hash_init(&hash);
    for (uint64_t at = 0; at < size; at += sizeof zeros)
        tg_hash_update(&hash, zeros, (size_t)(size - at < sizeof zeros ? size - at : sizeof zeros));
    return tg_hash_final(&hash, size);
}

/* True if all bytes equal the first one; false if not all of it is stored. */
static bool is_fill(struct tg_find *find, const struct tg_entry *entry, unsigned char *byte)
{
    const unsigned char *bytes = tg_recording_payload(find->recording, entry);
    const struct tg_record *record = &entry->record;
    if (!bytes || record->stored < record->bytes)
        return false;
    tg_find_account(find, record->stored);
    *byte = bytes[0];
    return memcmp(bytes, bytes + 1, (size_t)record->stored - 1) == 0;
}

/* Decides by the stored bytes, or else by comparing the hash with that of zeros. */
static bool is_zero(struct tg_find *find, const struct tg_entry *entry)
{
    unsigned char byte;
    const struct tg_record *record = &entry->record;
    if (record->stored == record->bytes)
        return is_fill(find, entry, &byte) && byte == 0;
    return record->flags & TG_RECORD_HASHED && record->bytes <= MOST_ZEROS &&
           record->hash == hash_of_zeros(record->bytes);
}

static enum tg_sign sign_of(struct tg_find *find, const struct tg_flow_event *event,
                            const struct tg_entry *entry, uint64_t *before)
{
    uint64_t now, then;
    struct tg_entry earlier;
    unsigned char byte;
    *before = TG_NONE;
    if (event->seen != TG_NO_EVENT && event->is_unchanged) {
        *before = find->flow.event[event->seen].record;
        if (tg_recording_get(find->recording, *before, &earlier) &&
            tg_find_hash(find, entry, &now) && tg_find_hash(find, &earlier, &then) && now == then)
            return TG_SIGN_SAME;
    }
    if (event->seen == TG_NO_EVENT && event->n_writers == 0 && entry->record.data_ptr != 0 &&
        is_zero(find, entry))
        return TG_SIGN_ZERO;
    if (tg_bits_of(entry->record.dtype) > 8 && entry->record.bytes >= LEAST_FILL &&
        is_fill(find, entry, &byte) && byte != 0)
        return TG_SIGN_FILL;
    return TG_SIGN_NONE;
}

static bool look_at_output(struct tg_find *find, const struct tg_flow_event *event)
{
    struct tg_entry entry;
    uint64_t before;
    if (!event->is_write || !tg_recording_get(find->recording, event->record, &entry) ||
        entry.record.role != TG_OUT || entry.record.bytes == 0)
        return true;
    if (!(entry.record.flags & TG_RECORD_HASHED) && entry.record.stored < entry.record.bytes) {
        find->not_stored++;
        return true;
    }
    find->looked_at++;
    enum tg_sign sign = sign_of(find, event, &entry, &before);
    if (sign == TG_SIGN_NONE)
        return true;
    struct tg_find_finding finding = {.record = event->record,
                                      .trace = TG_TRACE_ORIGIN,
                                      .count = (uint64_t)tg_record_numel(&entry.record),
                                      .sign = sign,
                                      .before = sign == TG_SIGN_SAME ? before : TG_NONE,
                                      .writer = TG_NONE};
    return tg_find_add(find, &finding);
}

bool tg_find_unwritten(struct tg_find *find)
{
    for (uint32_t i = 0; i < find->flow.n_events; i++)
        if (!look_at_output(find, &find->flow.event[i]))
            return false;
    return true;
}
