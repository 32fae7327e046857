/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One entry of a manifest, ours or another implementation's. Unknown keys are skipped; if a key
 * comes twice, the last one counts, as in most JSON readers. An unknown word makes a record whose
 * payload tg_record_confine drops; a value of the wrong type is an error.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "recording/reader.h"
#include "recording/record.h"

enum { UNKNOWN = 0xff };

struct reading {
    struct tg_pull *pull; /* at the first token of a value */
    struct tg_names *names;
    struct tg_read_entry *entry;
    struct tg_record *record;
    struct tg_pull value; /* of a scalar: decoded last, because the dtype may come after it */
    bool has_task, has_value, has_raw;
};

typedef bool (*read_fn)(struct reading *reading);

static bool wrong_kind(struct reading *r)
{
    return tg_pull_fail(r->pull, "a value of the wrong kind");
}

static bool good(struct reading *r, bool is_good)
{
    return is_good || wrong_kind(r);
}

static bool read_task_id(struct reading *r)
{
    r->has_task = true;
    return good(r, tg_pull_u64(r->pull, &r->record->task_id));
}

/* Reads a number or an array: calls `read` for each element with its place. */
static bool read_list(struct reading *r, bool (*read)(struct reading *r, size_t place))
{
    if (r->pull->token != TG_PULL_BEGIN_ARRAY)
        return good(r, read(r, 0));
    for (size_t place = 0;; place++) {
        enum tg_pull_token token = tg_pull_next(r->pull);
        if (token == TG_PULL_ERROR || token == TG_PULL_END_ARRAY)
            return token != TG_PULL_ERROR;
        if (!read(r, place))
            return wrong_kind(r);
    }
}

static bool read_func(struct reading *r, size_t place)
{
    int64_t number;
    if (!tg_pull_i64(r->pull, &number))
        return false;
    if (place < TG_PARTS && number >= 0 && number < TG_NO_KERNEL)
        r->record->kernel[place] = (uint32_t)number;
    return true;
}

static bool read_func_id(struct reading *r)
{
    return read_list(r, read_func);
}

static bool read_name(struct reading *r, size_t place)
{
    char name[TG_NAME_MAX + 1];
    if (r->pull->token != TG_PULL_STRING)
        return false;
    size_t length = tg_pull_text(r->pull, name, sizeof name);
    if (place >= TG_PARTS)
        return true;
    r->entry->kernel[place] = tg_names_add(r->names, name, length);
    return r->entry->kernel[place] || tg_pull_fail(r->pull, "out of host memory for its names");
}

static bool read_kernel(struct reading *r)
{
    return read_list(r, read_name);
}

/* Too many dimensions leave an ndim that tg_record_confine refuses later. */
static bool read_size(struct reading *r, size_t place)
{
    int64_t size;
    if (!tg_pull_i64(r->pull, &size))
        return false;
    if (place < TG_MAX_DIMS)
        r->record->shape[place] = size;
    r->record->ndim = (uint8_t)(place < TG_MAX_DIMS ? place + 1 : TG_MAX_DIMS + 1);
    return true;
}

static bool read_shape(struct reading *r)
{
    r->record->ndim = 0;
    return r->pull->token == TG_PULL_BEGIN_ARRAY ? read_list(r, read_size) : wrong_kind(r);
}

static bool read_stride(struct reading *r, size_t place)
{
    int64_t stride;
    if (!tg_pull_i64(r->pull, &stride))
        return false;
    if (place < TG_MAX_DIMS)
        r->record->strides[place] = stride;
    return true;
}

static bool read_strides(struct reading *r)
{
    return r->pull->token == TG_PULL_BEGIN_ARRAY ? read_list(r, read_stride) : wrong_kind(r);
}

static bool read_dtype(struct reading *r)
{
    char name[32];
    if (r->pull->token != TG_PULL_STRING)
        return wrong_kind(r);
    size_t length = tg_pull_text(r->pull, name, sizeof name);
    for (size_t i = 0; i < length; i++)
        name[i] = (char)tolower((unsigned char)name[i]);
    r->record->dtype = (uint8_t)tg_dtype_from_name(name);
    return true;
}

/* Finds which of a few words the value is. */
static bool read_word(struct reading *r, const char *(*name)(unsigned), unsigned first,
                      unsigned last, uint8_t *word)
{
    if (r->pull->token != TG_PULL_STRING)
        return wrong_kind(r);
    *word = UNKNOWN;
    for (unsigned i = first; i <= last; i++)
        if (tg_pull_is(r->pull, name(i)))
            *word = (uint8_t)i;
    return true;
}

static bool read_stage(struct reading *r)
{
    return read_word(r, tg_stage_name, TG_BEFORE_DISPATCH, TG_STAGE_ORCHESTRATION,
                     &r->record->stage);
}

static bool read_role(struct reading *r)
{
    return read_word(r, tg_record_role_name, TG_IN, TG_INOUT, &r->record->role);
}

static bool read_kind(struct reading *r)
{
    return read_word(r, tg_kind_name, TG_KIND_TENSOR, TG_KIND_SCALAR, &r->record->kind);
}

static bool read_arg_index(struct reading *r)
{
    uint64_t index;
    if (!tg_pull_u64(r->pull, &index))
        return wrong_kind(r);
    r->record->arg_index = (uint8_t)(index < UNKNOWN ? index : UNKNOWN);
    return true;
}

static bool read_start(struct reading *r)
{
    return good(r, tg_pull_i64(r->pull, &r->record->start));
}

static bool read_position(struct reading *r)
{
    return good(r, tg_pull_u64(r->pull, &r->record->position));
}

static bool read_stored(struct reading *r)
{
    return good(r, tg_pull_u64(r->pull, &r->record->stored));
}

static bool read_data_ptr(struct reading *r)
{
    return good(r, tg_pull_u64(r->pull, &r->record->data_ptr));
}

static bool read_flag(struct reading *r, unsigned flag)
{
    if (r->pull->token != TG_PULL_TRUE && r->pull->token != TG_PULL_FALSE)
        return wrong_kind(r);
    r->record->flags &= (uint16_t)~flag;
    if (r->pull->token == TG_PULL_TRUE)
        r->record->flags |= (uint16_t)flag;
    return true;
}

static bool read_contiguous(struct reading *r)
{
    return read_flag(r, TG_RECORD_CONTIGUOUS);
}

static bool read_truncated(struct reading *r)
{
    return read_flag(r, TG_RECORD_TRUNCATED);
}

static bool read_overwritten(struct reading *r)
{
    return read_flag(r, TG_RECORD_OVERWRITTEN);
}

static bool read_partial(struct reading *r)
{
    return read_flag(r, TG_RECORD_PARTIAL);
}

static bool read_marked(struct reading *r)
{
    return read_flag(r, TG_RECORD_MARKED);
}

static bool read_read(struct reading *r)
{
    return read_flag(r, TG_RECORD_READ);
}

static bool read_hash(struct reading *r)
{
    bool has_hash = r->pull->token != TG_PULL_NULL;
    if (has_hash)
        r->record->flags |= TG_RECORD_HASHED;
    return good(r, !has_hash || tg_pull_u64(r->pull, &r->record->hash));
}

static bool read_raw(struct reading *r)
{
    r->has_raw = true;
    return good(r, tg_pull_u64(r->pull, &r->record->value));
}

static bool read_value(struct reading *r)
{
    r->value = *r->pull;
    r->has_value = true;
    return tg_pull_skip(r->pull);
}

static const struct key {
    const char *name;
    read_fn read;
} keys[] = {
    /* in the order of the keys in manifests: each search starts where the last one ended */
    {"task_id", read_task_id},
    {"func_id", read_func_id},
    {"kernel", read_kernel},
    {"arg_index", read_arg_index},
    {"role", read_role},
    {"stage", read_stage},
    {"kind", read_kind},
    {"dtype", read_dtype},
    {"value", read_value},
    {"raw", read_raw},
    {"is_contiguous", read_contiguous},
    {"shape", read_shape},
    {"strides", read_strides},
    {"start_offset", read_start},
    {"bin_offset", read_position},
    {"bin_size", read_stored},
    {"truncated", read_truncated},
    {"overwritten", read_overwritten},
    {"partial", read_partial},
    {"marked", read_marked},
    {"read", read_read},
    {"hash", read_hash},
    {"data_ptr", read_data_ptr},
};

enum { KEYS = sizeof keys / sizeof keys[0] };

/* The key's place in the table, searched from `from` on; KEYS if it is unknown. */
static unsigned find_key(const struct tg_pull *pull, unsigned from)
{
    for (unsigned i = 0; i < KEYS; i++) {
        unsigned place = from + i < KEYS ? from + i : from + i - KEYS;
        if (tg_pull_is(pull, keys[place].name))
            return place;
    }
    return KEYS;
}

/* --- the value of a scalar -------------------------------------------------------------------- */

/* "NaN", "-Infinity", "$Inf" …: as different writers spell them. */
static bool special_real(const struct tg_pull *pull, double *value)
{
    char text[16];
    size_t at = 0, length = tg_pull_text(pull, text, sizeof text);
    for (size_t i = 0; i < length; i++)
        text[i] = (char)tolower((unsigned char)text[i]);
    at += text[at] == '-';
    at += text[at] == '$';
    at += text[at] == '-';
    if (strcmp(text + at, "nan") == 0)
        *value = NAN;
    else if (strcmp(text + at, "inf") == 0 || strcmp(text + at, "infinity") == 0)
        *value = strchr(text, '-') ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

static bool real_bits(const struct tg_pull *pull, unsigned dtype, uint64_t *bits)
{
    double value = NAN;
    if (pull->token == TG_PULL_STRING && !special_real(pull, &value))
        return false;
    if (pull->token == TG_PULL_NUMBER && !tg_pull_double(pull, &value))
        return false;
    *bits = tg_encode(dtype, value);
    return pull->token == TG_PULL_STRING || pull->token == TG_PULL_NUMBER ||
           pull->token == TG_PULL_NULL;
}

static bool integer_bits(const struct tg_pull *pull, uint64_t *bits)
{
    int64_t value;
    if (tg_pull_u64(pull, bits))
        return true;
    if (!tg_pull_i64(pull, &value))
        return false;
    *bits = (uint64_t)value;
    return true;
}

static bool scalar_bits(const struct tg_pull *pull, unsigned dtype, uint64_t *bits)
{
    if (pull->token == TG_PULL_TRUE || pull->token == TG_PULL_FALSE) {
        *bits = pull->token == TG_PULL_TRUE;
        return true;
    }
    return tg_dtype_is_float((int)dtype) ? real_bits(pull, dtype, bits) : integer_bits(pull, bits);
}

/* --- the entry ----------------------------------------------------------------------------------- */

static void complete(struct reading *r)
{
    struct tg_record *record = r->record;
    int64_t numel = tg_record_numel(record);
    if (record->kind == TG_KIND_SCALAR && r->has_value && !r->has_raw &&
        !scalar_bits(&r->value, record->dtype, &record->value))
        record->flags |= TG_RECORD_TRUNCATED;
    if (numel >= 0)
        record->bytes = tg_bytes_of(record->dtype, numel);
    if (record->stored > 0 || record->flags & TG_RECORD_TRUNCATED)
        record->flags |= TG_RECORD_PAYLOAD;
    for (int part = 0; part < TG_PARTS; part++)
        if (record->kernel[part] != TG_NO_KERNEL && !r->entry->kernel[part])
            r->entry->kernel[part] = "";
}

bool tg_manifest_read_entry(struct tg_pull *pull, struct tg_names *names,
                            struct tg_read_entry *entry)
{
    struct reading r = {.pull = pull, .names = names, .entry = entry, .record = &entry->record};
    unsigned place = 0;
    *entry = (struct tg_read_entry){.record = {.type = TG_RECORD_ARGUMENT, .role = TG_IN}};
    for (int part = 0; part < TG_PARTS; part++)
        entry->record.kernel[part] = TG_NO_KERNEL;
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        unsigned found = find_key(pull, place);
        if (tg_pull_next(pull) == TG_PULL_ERROR)
            return false;
        if (found < KEYS ? !keys[found].read(&r) : !tg_pull_skip(pull))
            return false;
        place = found < KEYS ? found + 1 : place;
    }
    if (pull->token == TG_PULL_ERROR)
        return false;
    if (!r.has_task)
        return tg_pull_fail(pull, "an entry without a task_id");
    complete(&r);
    return true;
}
