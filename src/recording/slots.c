/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/slots.h"

#include <string.h>
#include <taskglass/recording.h>
#include <taskglass/tensor.h>

#include "common/hash.h"
#include "recording/record.h"

enum {
    SAME = offsetof(struct tg_record, shape),
    HALF = sizeof(((struct tg_record_half *)0)->bytes)
};
TG_WIRE_ASSERT(SAME == offsetof(struct tg_record_packed, hash));
TG_WIRE_ASSERT((int)TG_PACKED_DIMS == (int)TG_MAX_DIMS);

/* --- in -------------------------------------------------------------------------------------------- */

/* Row-major strides. Wrong shapes of a stranger may wrap around. */
static void row_major(unsigned ndim, const int64_t *shape, int64_t *strides)
{
    uint64_t stride = 1;
    for (unsigned i = ndim; i-- > 0;) {
        strides[i] = (int64_t)stride;
        stride *= shape[i] > 0 ? (uint64_t)shape[i] : 1;
    }
}

/* The logical bytes of a tensor; 0 if type or shape make no sense. */
static uint64_t bytes_of(const struct tg_record *record)
{
    int64_t numel = tg_record_numel(record);
    return numel < 0 || tg_bits_of(record->dtype) == 0 ? 0 : tg_bytes_of(record->dtype, numel);
}

static bool has_more_dims(const struct tg_record *record)
{
    int64_t more = 0;
    for (unsigned i = record->ndim; i < TG_MAX_DIMS; i++)
        more |= record->shape[i] | record->strides[i];
    return more != 0;
}

/* False if shape and strides do not fit. */
static bool pack_dims(const struct tg_record *record, struct tg_record_packed *packed)
{
    int64_t strides[TG_MAX_DIMS], odd = 0;
    unsigned ndim = record->ndim;
    if (ndim > TG_MAX_DIMS || has_more_dims(record))
        return false;
    row_major(ndim, record->shape, strides);
    memset(packed->dims, 0, sizeof packed->dims);
    for (unsigned i = 0; i < ndim; i++) {
        if (record->shape[i] < 0 || record->shape[i] > UINT32_MAX)
            return false;
        packed->dims[i] = (uint32_t)record->shape[i];
        odd |= strides[i] ^ record->strides[i];
    }
    if (odd == 0) {
        packed->flags |= TG_PACKED_ROW_MAJOR;
        return true;
    }
    for (unsigned i = 0; i < ndim; i++) {
        int32_t stride = (int32_t)record->strides[i];
        if (ndim > TG_PACKED_DIMS / 2 || stride != record->strides[i])
            return false;
        packed->dims[TG_PACKED_DIMS / 2 + i] = (uint32_t)stride;
    }
    return true;
}

/* False if the record needs two slots. */
static bool pack(const struct tg_record *record, struct tg_record_packed *packed)
{
    bool is_scalar = record->kind == TG_KIND_SCALAR;
    if ((record->flags & (TG_RECORD_MORE | TG_PACKED_ROW_MAJOR)) != 0 ||
        (is_scalar ? record->bytes | record->hash : record->value) != 0 ||
        (record->reserved[0] | record->reserved[1]) != 0)
        return false;
    memcpy(packed, record, SAME);
    packed->hash = is_scalar ? record->value : record->hash;
    packed->stored = record->stored;
    packed->position = record->position;
    packed->time = record->time;
    return pack_dims(record, packed) && (is_scalar || record->bytes == bytes_of(record));
}

static uint32_t check_of(const struct tg_record_half *slot, uint32_t seed)
{
    struct tg_record_half copy = *slot;
    copy.check = seed;
    return tg_record_check(&copy, sizeof copy);
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

static unsigned halve(const unsigned char *record, struct tg_record_half half[TG_MOST_SLOTS])
{
    memcpy(&half[0].type, record, sizeof half[0].type);
    memcpy(&half[0].flags, record + 2, sizeof half[0].flags);
    memcpy(half[0].bytes, record + 8, HALF);
    memcpy(half[1].bytes, record + 8 + HALF, HALF);
    half[0].flags &= (uint16_t)~TG_RECORD_MORE;
    if (half[0].type == TG_RECORD_KERNEL && is_zero(half[1].bytes, HALF)) {
        half[0].check = check_of(&half[0], 0);
        return 1;
    }
    half[0].flags |= TG_RECORD_MORE;
    half[0].check = check_of(&half[0], 0);
    half[1].type = TG_RECORD_REST;
    half[1].flags = 0;
    half[1].check = check_of(&half[1], half[0].check);
    return 2;
}

unsigned tg_slots_put(const void *record, unsigned char slots[TG_MOST_SLOTS * TG_JOURNAL_SLOT])
{
    struct tg_record_half half[TG_MOST_SLOTS];
    struct tg_record_packed packed;
    uint16_t type;
    memcpy(&type, record, sizeof type);
    if (type == TG_RECORD_ARGUMENT && pack(record, &packed)) {
        packed.check = 0;
        packed.check = tg_record_check(&packed, sizeof packed);
        memcpy(slots, &packed, sizeof packed);
        return 1;
    }
    unsigned n = halve(record, half);
    memcpy(slots, half, n * sizeof half[0]);
    return n;
}

unsigned tg_slot_count(const unsigned char *slot)
{
    uint16_t flags;
    memcpy(&flags, slot + offsetof(struct tg_record_half, flags), sizeof flags);
    return flags & TG_RECORD_MORE ? TG_MOST_SLOTS : 1;
}

/* --- out ------------------------------------------------------------------------------------------- */

static void unpack(const struct tg_record_packed *packed, struct tg_record *record)
{
    bool is_scalar = packed->kind == TG_KIND_SCALAR;
    unsigned ndim = packed->ndim < TG_MAX_DIMS ? packed->ndim : TG_MAX_DIMS;
    memset(record->shape, 0, sizeof *record - SAME);
    memcpy(record, packed, SAME);
    record->flags &= (uint16_t)~TG_PACKED_ROW_MAJOR;
    *(is_scalar ? &record->value : &record->hash) = packed->hash;
    record->stored = packed->stored;
    record->position = packed->position;
    record->time = packed->time;
    for (unsigned i = 0; i < ndim; i++)
        record->shape[i] = packed->dims[i];
    if (packed->flags & TG_PACKED_ROW_MAJOR)
        row_major(ndim, record->shape, record->strides);
    for (unsigned i = 0; i < TG_PACKED_DIMS / 2 && !(packed->flags & TG_PACKED_ROW_MAJOR); i++) {
        record->shape[TG_PACKED_DIMS / 2 + i] = 0;
        record->strides[i] = (int32_t)packed->dims[TG_PACKED_DIMS / 2 + i];
    }
    if (!is_scalar)
        record->bytes = bytes_of(record);
}

static void join(const struct tg_record_half half[TG_MOST_SLOTS], struct tg_record *record)
{
    bool has_rest = half[0].flags & TG_RECORD_MORE;
    unsigned char bytes[sizeof *record] = {0};
    memcpy(bytes, &half[0], 8);
    memcpy(bytes + 8, half[0].bytes, HALF);
    if (has_rest)
        memcpy(bytes + 8 + HALF, half[1].bytes, HALF);
    memcpy(record, bytes, sizeof bytes);
    record->flags &= (uint16_t)~TG_RECORD_MORE;
}

static bool is_rest(const struct tg_record_half half[TG_MOST_SLOTS])
{
    return half[0].type != TG_RECORD_REST && (half[0].flags & TG_RECORD_MORE) &&
           half[1].type == TG_RECORD_REST && half[1].check == check_of(&half[1], half[0].check);
}

/* Only a first half sets half[1]. */
static void load(const unsigned char *slots, uint64_t i, uint64_t n,
                 struct tg_record_half half[TG_MOST_SLOTS])
{
    memcpy(&half[0], slots + i * TG_JOURNAL_SLOT, TG_JOURNAL_SLOT);
    if (!(half[0].flags & TG_RECORD_MORE))
        return;
    if (i + 1 < n)
        memcpy(&half[1], slots + (i + 1) * TG_JOURNAL_SLOT, TG_JOURNAL_SLOT);
    else
        memset(&half[1], 0, sizeof half[1]);
}

static bool is_packed(const struct tg_record_half *slot)
{
    return slot->type == TG_RECORD_ARGUMENT && !(slot->flags & TG_RECORD_MORE);
}

static void open_slot(const struct tg_record_half half[TG_MOST_SLOTS], struct tg_record *record)
{
    struct tg_record_packed packed;
    if (!is_packed(&half[0])) {
        join(half, record);
        return;
    }
    memcpy(&packed, &half[0], sizeof packed);
    unpack(&packed, record);
}

static enum tg_slot take_v1(const unsigned char *slots, uint64_t i, struct tg_record *record)
{
    memcpy(record, slots + i * TG_JOURNAL_SLOT_V1, sizeof *record);
    return tg_record_intact(record, sizeof *record) ? TG_SLOT_RECORD : TG_SLOT_DAMAGED;
}

/* True if slot `i` is the rest of an intact half before it. */
static bool belongs_to_last(const unsigned char *slots, uint64_t i)
{
    struct tg_record_half half[TG_MOST_SLOTS];
    if (i == 0)
        return false;
    load(slots, i - 1, i + 1, half);
    return half[0].check == check_of(&half[0], 0) && is_rest(half);
}

enum tg_slot tg_slot_take(const unsigned char *slots, size_t size, uint64_t i, uint64_t n,
                          struct tg_record *record)
{
    struct tg_record_half half[TG_MOST_SLOTS];
    if (size == TG_JOURNAL_SLOT_V1)
        return take_v1(slots, i, record);
    load(slots, i, n, half);
    if (half[0].type == TG_RECORD_REST)
        return belongs_to_last(slots, i) ? TG_SLOT_REST : TG_SLOT_DAMAGED;
    if (half[0].check != check_of(&half[0], 0))
        return TG_SLOT_DAMAGED;
    if ((half[0].flags & TG_RECORD_MORE) && !is_rest(half))
        return TG_SLOT_CUT;
    open_slot(half, record);
    return TG_SLOT_RECORD;
}

void tg_slot_read(const unsigned char *slots, size_t size, uint64_t i, uint64_t n,
                  struct tg_record *record)
{
    struct tg_record_half half[TG_MOST_SLOTS];
    if (size == TG_JOURNAL_SLOT_V1) {
        memcpy(record, slots + i * TG_JOURNAL_SLOT_V1, sizeof *record);
        return;
    }
    load(slots, i, n, half);
    open_slot(half, record);
}
