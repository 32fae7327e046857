/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One entry of the manifest as text. A recording of a million records has only a few hundred different
 * arguments: what the records of one argument have in common is made once and copied afterwards.
 *
 *   {"task_id":"0x…",  func_id … overwritten  ,"start_offset":…,"bin_offset":… … ,"sum":"…"}
 *                      └─ common: a piece ──┘
 */
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/json.h>
#include <taskglass/numeric.h>

#include "base/digits.h"
#include "recording/manifest.h"
#include "recording/record.h"

static char *put(char *at, const char *text, size_t size)
{
    memcpy(at, text, size);
    return at + size;
}

#define PUT(at, literal) put(at, "" literal, sizeof(literal) - 1)

static char *put_word(char *at, const char *word)
{
    *at++ = '"';
    at = put(at, word, strlen(word));
    *at++ = '"';
    return at;
}

/* --- the piece that records of one argument share ------------------------------------------------ */

/* A name from a file may have any bytes: the JSON writer escapes them. */
static char *put_name(char *at, const char *name)
{
    struct tg_json json;
    tg_json_start_buffer(&json, at, TG_MANIFEST_LINE / TG_PARTS, -1, 0);
    tg_json_string(&json, name);
    return at + json.used;
}

static char *put_kernels(char *at, const struct tg_entry *entry)
{
    const char *separator = "";
    at = PUT(at, "\"func_id\":[");
    for (int part = 0; part < TG_PARTS; part++) {
        if (entry->record.kernel[part] == TG_NO_KERNEL)
            continue;
        at = put(at, separator, strlen(separator));
        at = tg_digits_uint(at, entry->record.kernel[part]);
        separator = ",";
    }
    at = PUT(at, "],\"kernel\":[");
    separator = "";
    for (int part = 0; part < TG_PARTS; part++) {
        if (entry->record.kernel[part] == TG_NO_KERNEL)
            continue;
        at = put(at, separator, strlen(separator));
        at = put_name(at, entry->kernel[part] ? entry->kernel[part] : "");
        separator = ",";
    }
    return PUT(at, "]");
}

static char *put_list(char *at, const int64_t *value, unsigned n)
{
    *at++ = '[';
    for (unsigned i = 0; i < n; i++) {
        if (i > 0)
            *at++ = ',';
        at = tg_digits_int(at, value[i]);
    }
    *at++ = ']';
    return at;
}

static char *put_bool(char *at, bool value)
{
    return value ? PUT(at, "true") : PUT(at, "false");
}

static char *put_flags(char *at, const struct tg_record *record)
{
    at = PUT(at, ",\"truncated\":");
    at = put_bool(at, record->flags & TG_RECORD_TRUNCATED);
    at = PUT(at, ",\"overwritten\":");
    at = put_bool(at, record->flags & TG_RECORD_OVERWRITTEN);
    if (record->flags & TG_RECORD_PARTIAL)
        at = PUT(at, ",\"partial\":true");
    if (record->flags & TG_RECORD_MARKED)
        at = PUT(at, ",\"marked\":true");
    if (record->flags & TG_RECORD_READ)
        at = PUT(at, ",\"read\":true");
    return at;
}

char *tg_manifest_put_common(char *at, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    bool is_scalar = record->kind == TG_KIND_SCALAR;
    at = put_kernels(at, entry);
    at = PUT(at, ",\"arg_index\":");
    at = tg_digits_uint(at, record->arg_index);
    at = put_word(PUT(at, ",\"role\":"), tg_record_role_name(record->role));
    at = put_word(PUT(at, ",\"stage\":"), tg_stage_name(record->stage));
    at = put_word(PUT(at, ",\"kind\":"), tg_kind_name(record->kind));
    at = put_word(PUT(at, ",\"dtype\":"), tg_dtype_name(record->dtype));
    at = PUT(at, ",\"is_contiguous\":");
    at = put_bool(at, is_scalar || (record->flags & TG_RECORD_CONTIGUOUS));
    if (is_scalar)
        at = PUT(at, ",\"ndims\":0");
    at = PUT(at, ",\"shape\":");
    at = put_list(at, record->shape, record->ndim);
    at = PUT(at, ",\"strides\":");
    at = put_list(at, record->strides, record->ndim);
    return put_flags(at, record);
}

/* A piece is made of this much of an entry and of nothing else. */
static void take_key(struct tg_manifest_key *key, const struct tg_entry *entry)
{
    const struct tg_record *record = &entry->record;
    memset(key, 0, sizeof *key);
    memcpy(key->kernel, record->kernel, sizeof key->kernel);
    key->words = (uint64_t)record->flags << 48 | (uint64_t)record->ndim << 40 |
                 (uint64_t)record->arg_index << 32 | (uint64_t)record->stage << 24 |
                 (uint64_t)record->role << 16 | (uint64_t)record->kind << 8 | record->dtype;
    memcpy((void *)key->name, (const void *)entry->kernel, sizeof key->name);
    memcpy(key->shape, record->shape, record->ndim * sizeof key->shape[0]);
    memcpy(key->strides, record->strides, record->ndim * sizeof key->strides[0]);
}

static unsigned place_of(const struct tg_manifest_key *key)
{
    uint64_t x = key->words ^ (uint64_t)key->kernel[0] << 20 ^ (uint64_t)key->shape[0] << 7 ^
                 (uint64_t)key->shape[1] ^ (uint64_t)key->strides[0] << 3;
    return tg_manifest_place(x);
}

static char *put_piece(struct tg_manifest_pieces *pieces, char *at, const struct tg_entry *entry)
{
    struct tg_manifest_key key;
    take_key(&key, entry);
    struct tg_manifest_piece *piece = &pieces->piece[place_of(&key)];
    if (piece->size > 0 && memcmp(&piece->key, &key, sizeof key) == 0)
        return put(at, piece->text, piece->size);
    char *end = tg_manifest_put_common(at, entry);
    if ((size_t)(end - at) <= sizeof piece->text) {
        piece->key = key;
        piece->size = (uint32_t)(end - at);
        memcpy(piece->text, at, piece->size);
    }
    return end;
}

/* --- what differs from record to record ---------------------------------------------------------- */

/* The text of a float shorter than float64 is the shortest one that a reader of float32 reads exactly;
 * "raw" has the bits. */
static char *put_scalar(char *at, const struct tg_record *record)
{
    bool is_known = !(record->flags & TG_RECORD_NO_VALUE);
    unsigned dtype = is_known ? record->dtype : TG_DTYPE_NONE;
    struct tg_json json;
    at = PUT(at, ",\"value\":");
    tg_json_start_buffer(&json, at, 64, -1, 0);
    if (dtype != TG_FLOAT64 && tg_dtype_is_float((int)dtype))
        tg_json_float(&json,
                      (float)tg_decode(dtype, record->value)); /* exact: none has more bits */
    else
        tg_json_value(&json, dtype, record->value);
    at += json.used;
    if (!is_known)
        return PUT(at, ",\"raw\":null");
    at = tg_digits_hex16(PUT(at, ",\"raw\":\"0x"), record->value);
    return PUT(at, "\"");
}

static char *put_own(char *at, const struct tg_record *record)
{
    at = tg_digits_int(PUT(at, ",\"start_offset\":"), record->start);
    at = tg_digits_uint(PUT(at, ",\"bin_offset\":"), record->position);
    at = tg_digits_uint(PUT(at, ",\"bin_size\":"), record->stored);
    if (record->kind == TG_KIND_SCALAR)
        at = put_scalar(at, record);
    if (record->flags & TG_RECORD_HASHED)
        at = PUT(tg_digits_hex16(PUT(at, ",\"hash\":\"0x"), record->hash), "\"");
    else
        at = PUT(at, ",\"hash\":null");
    at = tg_digits_hex(PUT(at, ",\"data_ptr\":\"0x"), record->data_ptr);
    return PUT(at, "\"");
}

size_t tg_manifest_put_entry(struct tg_manifest_pieces *pieces, const struct tg_entry *entry,
                             char *to)
{
    char *at = PUT(to, "{\"task_id\":\"0x");
    at = PUT(tg_digits_hex16(at, entry->record.task_id), "\",");
    at = put_piece(pieces, at, entry);
    at = put_own(at, &entry->record);
    size_t size = (size_t)(at - to); /* without the brace: what the sum covers */
    at = PUT(at, ",\"sum\":\"");
    tg_text_sum_digits(tg_text_sum_plain(to, size), at);
    at = PUT(at + TG_TEXT_SUM_DIGITS, "\"}");
    return (size_t)(at - to);
}
