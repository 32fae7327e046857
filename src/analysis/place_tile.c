/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether one side writes in several tiles, or as part of a larger one, what the other side writes at
 * once. Each element of the part is looked for in all outputs of the other side.
 */
#include <stdlib.h>
#include <string.h>
#include <taskglass/dtype.h>

#include "analysis/diff.h"
#include "analysis/place.h"
#include "recording/reader.h"

/* Each part is compared with all outputs of the other side. In larger runs that would take too long. */
enum { MOST_LOOKS = 1 << 24, MOST_ELEMENTS = 1 << 22 };

/* The elements from the first to the last of a part; those between them may belong to others. */
struct part {
    const struct tg_object *object;
    int64_t first, count; /* counted in elements from the object's address */
    uint32_t size;        /* of an element */
    uint32_t *index; /* of the element in `bytes`, + 1; 0: not of this part, or found already */
    const char *bytes;
    uint64_t left; /* elements not found yet */
    bool same, differs;
};

typedef void (*element_fn)(struct part *part, int64_t at, uint64_t index, const char *bytes);

/* Where the record's storage begins in the object, in elements; false if that is no whole number. */
static bool base_of(const struct tg_object *object, const struct tg_record *record, uint32_t size,
                    int64_t *base)
{
    uint64_t offset = record->data_ptr - object->address;
    *base = (int64_t)(offset / size);
    return offset % size == 0;
}

static uint64_t count_of(const struct tg_record *record)
{
    uint64_t count = 1;
    for (int i = 0; i < record->ndim && count <= MOST_ELEMENTS; i++)
        count = record->shape[i] < 0 || record->shape[i] > MOST_ELEMENTS
                    ? (uint64_t)MOST_ELEMENTS + 1
                    : count * (uint64_t)record->shape[i];
    return count;
}

/* Takes the elements in row-major order, as the payload has them. */
static void walk(struct part *part, const struct tg_record *record, int64_t base, const char *bytes,
                 element_fn take)
{
    int64_t at[TG_MAX_DIMS] = {0};
    uint64_t count = count_of(record), place = (uint64_t)base + (uint64_t)record->start;
    for (uint64_t n = 0; n < count; n++) {
        take(part, (int64_t)place, n, bytes);
        for (int i = record->ndim - 1; i >= 0; i--) {
            place += (uint64_t)record->strides[i];
            if (++at[i] < record->shape[i])
                break;
            place -= (uint64_t)at[i] * (uint64_t)record->strides[i];
            at[i] = 0;
        }
    }
}

static void note_element(struct part *part, int64_t at, uint64_t index, const char *bytes)
{
    (void)bytes;
    if (at < part->first || at - part->first >= part->count)
        return;
    part->left += part->index[at - part->first] == 0;
    part->index[at - part->first] = (uint32_t)index + 1;
}

static void find_element(struct part *part, int64_t at, uint64_t index, const char *bytes)
{
    if (at < part->first || at - part->first >= part->count)
        return;
    uint32_t *mine = &part->index[at - part->first];
    if (*mine == 0)
        return;
    if (part->same && memcmp(part->bytes + (uint64_t)(*mine - 1) * part->size,
                             bytes + index * part->size, part->size) != 0) {
        part->differs = true;
        return;
    }
    *mine = 0;
    part->left--;
}

static const char *bytes_of(const struct tg_recording *recording, const struct tg_entry *entry)
{
    return entry->record.stored == entry->record.bytes ? tg_recording_payload(recording, entry)
                                                       : NULL;
}

static bool open_part(const struct tg_diff *diff, int side, const struct tg_entry *entry,
                      struct part *part)
{
    const struct tg_record *record = &entry->record;
    unsigned bits = tg_dtype_valid((int)record->dtype) ? tg_dtype_bits((int)record->dtype) : 0;
    uint64_t count = count_of(record);
    int64_t base;
    part->object =
        tg_sources_object(side == 0 ? &diff->source_a : &diff->source_b, record->data_ptr);
    part->size = bits / 8;
    part->bytes = bytes_of((side == 0 ? &diff->a : &diff->b)->recording, entry);
    if (!part->object || bits == 0 || bits % 8 != 0 || (part->same && !part->bytes) || count == 0 ||
        count > MOST_ELEMENTS || !base_of(part->object, record, part->size, &base))
        return false;
    part->first = base + record->start;
    part->count = 1;
    for (int i = 0; i < record->ndim; i++) {
        if (record->strides[i] < 0 || record->strides[i] > MOST_ELEMENTS)
            return false;
        part->count += (record->shape[i] - 1) * record->strides[i];
    }
    if (part->count > MOST_ELEMENTS)
        return false;
    part->index = calloc((size_t)part->count, sizeof *part->index);
    if (part->index)
        walk(part, record, base, NULL, note_element);
    return part->index != NULL;
}

static void look_at(const struct tg_diff *diff, int side, const struct tg_entry *entry,
                    unsigned dtype, struct part *part)
{
    const struct tg_object *object =
        tg_sources_object(side == 0 ? &diff->source_a : &diff->source_b, entry->record.data_ptr);
    const char *bytes = bytes_of((side == 0 ? &diff->a : &diff->b)->recording, entry);
    int64_t base;
    if (object && tg_object_is(object, part->object) && entry->record.dtype == dtype &&
        (!part->same || bytes) && count_of(&entry->record) <= MOST_ELEMENTS &&
        base_of(object, &entry->record, part->size, &base))
        walk(part, &entry->record, base, bytes, find_element);
}

bool tg_place_is_tiled(struct tg_diff *diff, int side, const struct tg_entry *entry, bool same)
{
    const struct tg_tasks *tasks = side == 0 ? &diff->b : &diff->a;
    struct tg_places *places = &diff->places[side];
    struct part part = {.same = same};
    struct tg_entry other;
    if (places->looks > MOST_LOOKS || !open_part(diff, side, entry, &part))
        return false;
    for (uint64_t i = 0; i < tasks->n_refs && part.left > 0 && !part.differs; i++, places->looks++)
        if (tg_record_ref_stage(&tasks->ref[i]) == TG_AFTER_COMPLETION &&
            tg_recording_get(tasks->recording, tasks->ref[i].index, &other) &&
            other.record.kind == TG_KIND_TENSOR)
            look_at(diff, 1 - side, &other, entry->record.dtype, &part);
    free(part.index);
    return part.left == 0 && !part.differs;
}
