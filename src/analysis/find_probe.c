/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "analysis/compare_decode.h"
#include "analysis/find.h"
#include "base/files.h"
#include "recording/reader.h"

/* --- one tensor ------------------------------------------------------------------------------- */

/* False for types with so few values that the largest one is common and does not show an
 * overflow. */
static bool can_overflow(unsigned dtype)
{
    return dtype != TG_BOOL && tg_bits_of(dtype) >= 8 &&
           (tg_dtype_is_float((int)dtype) || tg_bits_of(dtype) >= 16);
}

static bool is_at_the_end(unsigned dtype, uint64_t bits)
{
    unsigned width = tg_bits_of(dtype);
    uint64_t most = UINT64_MAX >> (64 - width);
    if (tg_dtype_is_float((int)dtype))
        return fabs(tg_decode(dtype, bits)) >= tg_largest_finite(dtype);
    if (!tg_dtype_is_signed((int)dtype))
        return bits == most;
    return bits == most >> 1 || bits == (most >> 1) + 1;
}

static bool has_it(enum tg_find_kind find_kind, unsigned dtype, uint64_t bits)
{
    if (find_kind == TG_FIND_OVERFLOW)
        return is_at_the_end(dtype, bits);
    double value = tg_decode(dtype, bits);
    return find_kind == TG_FIND_NAN ? isnan(value) : isinf(value);
}

/* A quick test: false if the block certainly has none, which is true of most blocks. */
static bool is_suspicious(const struct tg_decoder *decoder, enum tg_find_kind find_kind,
                          const void *bytes, int count)
{
    float narrow[TG_BLOCK];
    double wide[TG_BLOCK];
    float limit = (float)tg_largest_finite(decoder->dtype);
    int found = 0;
    if (!decoder->is_float)
        return true;
    if (decoder->is_wide) {
        bool special = tg_decode_wide(decoder, bytes, count, wide);
        for (int i = 0; i < count && find_kind == TG_FIND_OVERFLOW; i++)
            found |= fabs(wide[i]) >= 0x1.fffffffffffffp1023;
        return found || special;
    }
    bool special = tg_decode_narrow(decoder, bytes, count, narrow);
    for (int i = 0; i < count && find_kind == TG_FIND_OVERFLOW; i++)
        found |= fabsf(narrow[i]) >= limit;
    return found || special;
}

static void probe_elements(enum tg_find_kind find_kind, const struct tg_array *array,
                           struct tg_probe *probe)
{
    const unsigned char *bytes = array->bytes;
    struct tg_decoder decoder;
    tg_decoder_init(&decoder, array->dtype);
    const void *kept = bytes;
    for (uint64_t at = 0, end = (uint64_t)array->elements; at < end; at += TG_BLOCK) {
        int count = end - at < TG_BLOCK ? (int)(end - at) : TG_BLOCK;
        const unsigned char *block = bytes + tg_decoder_bytes(&decoder, at);
        tg_bytes_reach(&kept, block);
        if (!is_suspicious(&decoder, find_kind, block, count))
            continue;
        for (int i = 0; i < count; i++)
            if (has_it(find_kind, array->dtype, tg_load_bits(array->dtype, block, i))) {
                probe->first = probe->count == 0 ? at + (uint64_t)i : probe->first;
                probe->count++;
            }
    }
}

/* Compares each element with the next one: all bytes with the bytes one element further on. */
static bool is_constant(const struct tg_array *array)
{
    const unsigned char *bytes = array->bytes;
    size_t size = tg_bits_of(array->dtype) / 8, all = (size_t)array->size;
    if (array->elements < 2)
        return false;
    if (size > 0)
        return tg_bytes_equal(bytes, bytes + size, all - size);
    bool is_odd = array->elements % 2; /* the last byte holds only one element */
    if ((bytes[0] & 0xf) != bytes[0] >> 4 || (is_odd && (bytes[all - 1] & 0xf) != bytes[0] >> 4))
        return false;
    return tg_bytes_equal(bytes, bytes + 1, all - 1 - is_odd);
}

void tg_probe_array(enum tg_find_kind find_kind, const struct tg_array *array,
                    struct tg_probe *probe)
{
    bool is_float = tg_dtype_is_float((int)array->dtype);
    *probe = (struct tg_probe){.first = TG_NONE};
    if (find_kind == TG_FIND_CONSTANT && !array->cut && is_constant(array))
        *probe = (struct tg_probe){.count = (uint64_t)array->elements};
    else if (find_kind == TG_FIND_OVERFLOW ? can_overflow(array->dtype)
                                           : find_kind != TG_FIND_CONSTANT && is_float)
        probe_elements(find_kind, array, probe);
    probe->is_known = !array->cut || probe->count > 0;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Tensors by hash and type, so that one need not be read twice, or not at all. */
struct known {
    uint64_t hash;
    uint64_t record; /* TG_NONE: an empty slot */
    unsigned dtype;
};

struct table {
    struct known *slot;
    uint64_t n_slots; /* a power of two, at least twice the number of entries */
};

static bool make_table(struct table *table, uint64_t entries)
{
    table->n_slots = 64;
    while (table->n_slots < 2 * entries)
        table->n_slots *= 2;
    table->slot = malloc((size_t)table->n_slots * sizeof *table->slot);
    for (uint64_t i = 0; table->slot && i < table->n_slots; i++)
        table->slot[i].record = TG_NONE;
    return table->slot != NULL;
}

/* The entry of that hash and type, or the empty slot where it belongs. */
static struct known *look_up(const struct table *table, const struct tg_record *record)
{
    uint64_t at = record->hash & (table->n_slots - 1);
    for (;; at = (at + 1) & (table->n_slots - 1)) {
        struct known *known = &table->slot[at];
        if (known->record == TG_NONE ||
            (known->hash == record->hash && known->dtype == record->dtype))
            return known;
    }
}

/* A payload of this size takes longer to read than to look up. */
enum { WORTH_KNOWING = 4096 };

static bool is_large(const struct tg_record *record)
{
    return record->kind == TG_KIND_TENSOR && record->flags & TG_RECORD_HASHED &&
           record->stored == record->bytes && record->bytes >= WORTH_KNOWING;
}

/* A tensor is often recorded twice, as the output of one task and the input of another. */
static void probe_record(struct tg_find *find, const struct table *large, uint64_t index,
                         const struct tg_entry *entry)
{
    struct tg_probe *probe = &find->probe[index];
    struct known *known = is_large(&entry->record) ? look_up(large, &entry->record) : NULL;
    struct tg_array array;
    if (known && known->record != TG_NONE) {
        *probe = find->probe[known->record];
    } else if (tg_array_of(find->recording, entry, &array) &&
               tg_recording_intact(find->recording, entry)) {
        tg_probe_array(find->find_kind, &array, probe);
        tg_find_account(find, entry->record.stored);
        if (known)
            *known = (struct known){entry->record.hash, index, entry->record.dtype};
    }
}

/* True for a tensor that could not be searched, but may be equal to one that was. */
static bool is_only_hashed(const struct tg_find *find, uint64_t index, const struct tg_entry *entry)
{
    return !find->probe[index].is_known && entry->record.flags & TG_RECORD_HASHED &&
           entry->record.kind == TG_KIND_TENSOR && entry->record.stage != TG_STAGE_ORCHESTRATION;
}

/* Takes what is known of equal tensors over to those that have only a hash. */
static bool probe_by_hash(struct tg_find *find, uint64_t only_hashed)
{
    struct table wanted;
    struct tg_entry entry;
    uint64_t records = find->tasks.info.records;
    if (only_hashed == 0)
        return true;
    if (!make_table(&wanted, only_hashed))
        return false;
    for (uint64_t i = 0; i < records; i++)
        if (tg_recording_get(find->recording, i, &entry) && is_only_hashed(find, i, &entry))
            *look_up(&wanted, &entry.record) =
                (struct known){entry.record.hash, i, entry.record.dtype};
    for (uint64_t i = 0; i < records; i++) {
        if (!tg_recording_get(find->recording, i, &entry) || !find->probe[i].is_known ||
            entry.record.kind != TG_KIND_TENSOR || !(entry.record.flags & TG_RECORD_HASHED))
            continue;
        struct known *known = look_up(&wanted, &entry.record);
        if (known->record != TG_NONE)
            known->record = i;
    }
    for (uint64_t i = 0; i < records; i++)
        if (tg_recording_get(find->recording, i, &entry) && is_only_hashed(find, i, &entry)) {
            find->probe[i] = find->probe[look_up(&wanted, &entry.record)->record];
            find->looked_at += find->probe[i].is_known;
            find->not_stored -= find->probe[i].is_known;
        }
    free(wanted.slot);
    return true;
}

/* True for a scalar of the other implementation that may be a NaN, as far as its files say. */
static bool is_unknown_scalar(const struct tg_record *record)
{
    return record->dtype == TG_DTYPE_NONE ||
           (record->flags & TG_RECORD_NO_VALUE && tg_dtype_is_float(record->dtype));
}

bool tg_find_probe_all(struct tg_find *find)
{
    uint64_t records = find->tasks.info.records, only_hashed = 0;
    uint64_t most_large = find->tasks.info.payload_bytes / WORTH_KNOWING;
    struct table large = {0};
    struct tg_entry entry;
    find->probe = calloc((size_t)records + 1, sizeof *find->probe);
    if (!find->probe || !make_table(&large, most_large < records ? most_large : records))
        return false;
    for (uint64_t i = 0; i < records && !find->is_cancelled; i++) {
        find->probe[i].first = TG_NONE;
        if (!tg_recording_get(find->recording, i, &entry) ||
            entry.record.stage == TG_STAGE_ORCHESTRATION)
            continue;
        probe_record(find, &large, i, &entry);
        if (entry.record.kind == TG_KIND_TENSOR) {
            find->probe[i].is_known |= entry.record.bytes == 0;
            find->looked_at += find->probe[i].is_known;
            find->not_stored += !find->probe[i].is_known;
        } else if (find->find_kind != TG_FIND_CONSTANT && is_unknown_scalar(&entry.record)) {
            find->not_stored++;
        }
        only_hashed += is_only_hashed(find, i, &entry);
    }
    free(large.slot);
    return !find->is_cancelled && probe_by_hash(find, only_hashed);
}
