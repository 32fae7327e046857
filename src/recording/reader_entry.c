/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One entry of a manifest, ours or another implementation's. Unknown keys are skipped; if a key
 * comes twice, the last one counts, as in most JSON readers. An unknown word makes a record whose
 * payload tg_record_confine drops; a value of the wrong type is an error.
 *
 * The other implementation's manifests had three forms. The first one lists what the orchestration was
 * given: no task ids, "type" for "kind", "shapes" for "shape". The second one describes a view by the
 * shape of its storage and the offsets in it ("raw_shape", "offsets") instead of strides. The third one
 * has the keys that we have, and "scalar_value" or "value" for a scalar.
 */
#include <ctype.h>
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
    enum { NO_VALUE, VALUE, SCALAR_VALUE, RAW } has; /* the best key for it so far */
    bool is_foreign;
    bool has_task, has_kind, has_stage, has_arg;
    const char *begin, *key; /* in the text: the entry's brace, the last key */
    bool has_strides, has_storage, has_contiguous;
    int64_t storage[TG_MAX_DIMS], offset[TG_MAX_DIMS]; /* of "raw_shape" and "offsets" */
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

/* Reads a number per dimension; those of too many dimensions are left out. */
static bool read_per_dim(struct reading *r, int64_t *list)
{
    if (r->pull->token != TG_PULL_BEGIN_ARRAY)
        return wrong_kind(r);
    for (size_t place = 0;; place++) {
        int64_t number;
        enum tg_pull_token token = tg_pull_next(r->pull);
        if (token == TG_PULL_ERROR || token == TG_PULL_END_ARRAY)
            return token != TG_PULL_ERROR;
        if (!tg_pull_i64(r->pull, &number))
            return wrong_kind(r);
        if (place < TG_MAX_DIMS)
            list[place] = number;
    }
}

static bool read_strides(struct reading *r)
{
    r->has_strides = true;
    return read_per_dim(r, r->record->strides);
}

static bool read_storage(struct reading *r)
{
    r->has_storage = true;
    return read_per_dim(r, r->storage);
}

static bool read_offsets(struct reading *r)
{
    return read_per_dim(r, r->offset);
}

/* The last string in lower case. */
static void take_lower(const struct tg_pull *pull, char *text, size_t room)
{
    size_t length = tg_pull_text(pull, text, room);
    for (size_t i = 0; i < length; i++)
        text[i] = (char)tolower((unsigned char)text[i]);
}

/* A scalar of the other implementation may come without a type: null, or a word that is none. */
static bool read_dtype(struct reading *r)
{
    char name[32];
    r->record->dtype = TG_DTYPE_NONE;
    if (r->pull->token == TG_PULL_NULL)
        return true;
    if (r->pull->token != TG_PULL_STRING)
        return wrong_kind(r);
    take_lower(r->pull, name, sizeof name);
    r->record->dtype = (uint8_t)tg_dtype_from_name(name);
    return true;
}

/* Finds which of a few words the value is, in small or capital letters. */
static bool read_word(struct reading *r, const char *(*name)(unsigned), unsigned first,
                      unsigned last, uint8_t *word)
{
    char text[32];
    if (r->pull->token != TG_PULL_STRING)
        return wrong_kind(r);
    *word = UNKNOWN;
    for (unsigned i = first; i <= last; i++)
        if (tg_pull_is(r->pull, name(i)))
            *word = (uint8_t)i;
    if (*word != UNKNOWN)
        return true;
    take_lower(r->pull, text, sizeof text);
    for (unsigned i = first; i <= last; i++)
        if (strcmp(text, name(i)) == 0)
            *word = (uint8_t)i;
    return true;
}

static bool read_stage(struct reading *r)
{
    r->has_stage = true;
    return read_word(r, tg_stage_name, TG_BEFORE_DISPATCH, TG_STAGE_ORCHESTRATION,
                     &r->record->stage);
}

static bool read_role(struct reading *r)
{
    return read_word(r, tg_record_role_name, TG_IN, TG_INOUT, &r->record->role);
}

static bool read_kind(struct reading *r)
{
    r->has_kind = true;
    return read_word(r, tg_kind_name, TG_KIND_TENSOR, TG_KIND_SCALAR, &r->record->kind);
}

static bool read_arg_index(struct reading *r)
{
    uint64_t index;
    r->has_arg = true;
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
    return good(r, r->pull->token == TG_PULL_NULL || tg_pull_u64(r->pull, &r->record->data_ptr));
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
    r->has_contiguous = true;
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

/* null: the value is not known. */
static bool read_raw(struct reading *r)
{
    r->has = RAW;
    if (r->pull->token == TG_PULL_NULL) {
        r->record->flags |= TG_RECORD_NO_VALUE;
        return true;
    }
    return good(r, tg_pull_u64(r->pull, &r->record->value));
}

/* The check of the members before it. */
static bool read_check(struct reading *r)
{
    r->entry->check = tg_text_check(r->pull, r->begin, r->key);
    return tg_pull_skip(r->pull);
}

static bool read_sum(struct reading *r)
{
    r->entry->check = tg_text_check_sum(r->pull, r->begin, r->key);
    return tg_pull_skip(r->pull);
}

static bool read_value(struct reading *r)
{
    if (r->has <= VALUE) {
        r->value = *r->pull;
        r->has = VALUE;
    }
    return tg_pull_skip(r->pull);
}

/* Takes precedence over "value", which has fewer digits. */
static bool read_scalar_value(struct reading *r)
{
    if (r->has <= SCALAR_VALUE && r->pull->token != TG_PULL_NULL) {
        r->value = *r->pull;
        r->has = SCALAR_VALUE;
    }
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
    {"type", read_kind},
    {"dtype", read_dtype},
    {"is_contiguous", read_contiguous},
    {"shape", read_shape},
    {"shapes", read_shape},
    {"raw_shape", read_storage},
    {"offsets", read_offsets},
    {"strides", read_strides},
    {"truncated", read_truncated},
    {"overwritten", read_overwritten},
    {"partial", read_partial},
    {"marked", read_marked},
    {"read", read_read},
    {"start_offset", read_start},
    {"bin_offset", read_position},
    {"bin_size", read_stored},
    {"value", read_value},
    {"scalar_value", read_scalar_value},
    {"raw", read_raw},
    {"hash", read_hash},
    {"data_ptr", read_data_ptr},
    {"sum", read_sum},
    {"check", read_check}, /* of version 1 */
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

/* --- the entry ----------------------------------------------------------------------------------- */

/* Row-major strides of a storage of these sizes. False if they do not fit 64 bits. */
static bool row_major(const int64_t *size, unsigned ndim, int64_t *strides)
{
    int64_t stride = 1;
    for (unsigned i = ndim; i-- > 0;) {
        strides[i] = stride;
        if (size[i] < 0 || __builtin_mul_overflow(stride, size[i] > 0 ? size[i] : 1, &stride))
            return false;
    }
    return true;
}

/* Fills in the strides of the forms that do not give them. */
static void complete_view(struct reading *r)
{
    struct tg_record *record = r->record;
    int64_t strides[TG_MAX_DIMS] = {0}, start = 0, step;
    unsigned ndim = record->ndim;
    bool is_whole = !r->has_storage && !r->has_contiguous;
    if (r->has_strides || ndim > TG_MAX_DIMS || (!r->has_storage && !is_whole))
        return;
    if (!row_major(r->has_storage ? r->storage : record->shape, ndim, strides))
        return;
    for (unsigned i = 0; i < ndim; i++)
        if (__builtin_mul_overflow(r->offset[i], strides[i], &step) ||
            __builtin_add_overflow(start, step, &start))
            return;
    memcpy(record->strides, strides, sizeof strides);
    if (r->has_storage)
        record->start = start;
    if (is_whole)
        record->flags |= TG_RECORD_CONTIGUOUS;
}

/* What a value without a kind is, and whether it has one. */
static void complete_scalar(struct reading *r)
{
    struct tg_record *record = r->record;
    if (!r->has_kind && r->has != NO_VALUE && record->ndim == 0 && record->stored == 0)
        record->kind = TG_KIND_SCALAR;
    if (record->kind != TG_KIND_SCALAR || r->has == RAW)
        return;
    enum tg_scalar_form form = r->has == SCALAR_VALUE ? TG_SCALAR_RAW
                               : r->is_foreign        ? TG_SCALAR_FOREIGN
                                                      : TG_SCALAR_OURS;
    if (r->has == NO_VALUE || !tg_manifest_scalar(&r->value, form, record->dtype, &record->value)) {
        record->value = 0;
        record->flags |= TG_RECORD_NO_VALUE;
    }
}

static void complete(struct reading *r)
{
    struct tg_record *record = r->record;
    complete_scalar(r);
    complete_view(r);
    int64_t numel = tg_record_numel(record);
    if (numel >= 0)
        record->bytes = tg_bytes_of(record->dtype, numel);
    if (record->stored > 0 || record->flags & TG_RECORD_TRUNCATED)
        record->flags |= TG_RECORD_PAYLOAD;
    for (int part = 0; part < TG_PARTS; part++)
        if (record->kernel[part] != TG_NO_KERNEL && !r->entry->kernel[part])
            r->entry->kernel[part] = "";
}

/* In the first form of the other implementation, what the orchestration was given has no task. */
static bool take_no_task(struct reading *r)
{
    if (!r->has_arg || r->has_stage || r->record->kernel[0] != TG_NO_KERNEL)
        return tg_pull_fail(r->pull, "an entry without a task_id");
    r->record->task_id = TG_TASK_NONE;
    r->record->stage = TG_STAGE_ORCHESTRATION;
    return true;
}

bool tg_manifest_read_entry(struct tg_pull *pull, bool is_foreign, struct tg_names *names,
                            struct tg_read_entry *entry)
{
    struct reading r = {.is_foreign = is_foreign,
                        .pull = pull,
                        .names = names,
                        .entry = entry,
                        .record = &entry->record};
    unsigned place = 0;
    *entry = (struct tg_read_entry){.record = {.type = TG_RECORD_ARGUMENT, .role = TG_IN}};
    for (int part = 0; part < TG_PARTS; part++)
        entry->record.kernel[part] = TG_NO_KERNEL;
    r.begin = pull->text + pull->at - 1;
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        unsigned found = find_key(pull, place);
        r.key = pull->value;
        if (tg_pull_next(pull) == TG_PULL_ERROR)
            return false;
        if (found < KEYS ? !keys[found].read(&r) : !tg_pull_skip(pull))
            return false;
        place = found < KEYS ? found + 1 : place;
    }
    if (pull->token == TG_PULL_ERROR)
        return false;
    if (!r.has_task && !take_no_task(&r))
        return false;
    complete(&r);
    return true;
}
