/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An entry of the manifest straight from a slot of the journal. The slots of one argument differ in a few
 * numbers only, so all that lies between these numbers is made once, of a record that was checked, and
 * copied afterwards:
 *
 *   {"task_id":"0x…","func_id" … "start_offset":0,"bin_offset":…,"bin_size":256,"hash":"0x…","data_ptr":"0x…"
 *                    └───────── front ────────┘               └────── middle ──────┘
 */
#include <string.h>

#include "base/digits.h"
#include "recording/manifest.h"
#include "recording/record.h"
#include "recording/slots.h"

#define PUT(at, literal) put(at, "" literal, sizeof(literal) - 1)
static char *put(char *at, const char *text, size_t size)
{
    memcpy(at, text, size);
    return at + size;
}

/* All of the slot that front and middle depend on. */
static void take_key(const struct tg_record_packed *slot, uint64_t key[TG_MANIFEST_KEY])
{
    key[0] = slot->stored;
    key[1] = slot->flags | (uint64_t)slot->kernel[0] << 16;
    key[2] = slot->kernel[1] | (uint64_t)slot->kernel[2] << 32;
    key[3] = slot->stage | (uint64_t)slot->role << 8 | (uint64_t)slot->kind << 16 |
             (uint64_t)slot->dtype << 24 | (uint64_t)slot->ndim << 32 |
             (uint64_t)slot->arg_index << 40;
    memcpy(&key[4], slot->dims, sizeof slot->dims);
}

static unsigned place_of(const uint64_t key[TG_MANIFEST_KEY])
{
    uint64_t x = key[0] << 7 ^ key[1] ^ key[3] << 13 ^ key[4] << 3 ^ key[5] << 27 ^ key[6] << 5;
    return tg_manifest_place(x);
}

/* Copies more than there is, in steps of a known size: `at` has room for a line. */
static char *put_long(char *at, const struct tg_manifest_line *line)
{
    memcpy(at, line->front, 192);
    for (unsigned done = 192; done < line->front_size; done += 64)
        memcpy(at + done, line->front + done, 64);
    return at + line->front_size;
}

static size_t print(const struct tg_manifest_line *line, const struct tg_record_packed *slot,
                    char *to)
{
    char *at = PUT(to, "{\"task_id\":\"0x");
    at = PUT(tg_digits_hex16(at, slot->task_id), "\",");
    at = tg_digits_int(put_long(at, line), slot->start);
    at = tg_digits_uint(PUT(at, ",\"bin_offset\":"), slot->stored > 0 ? slot->position : 0);
    memcpy(at, line->middle, sizeof line->middle);
    at += line->middle_size;
    if (slot->flags & TG_RECORD_HASHED)
        at = PUT(tg_digits_hex16(at, slot->hash), "\"");
    at = tg_digits_hex(PUT(at, ",\"data_ptr\":\"0x"), slot->data_ptr);
    *at++ = '"';
    size_t size = (size_t)(at - to); /* without the brace: what the sum covers */
    at = PUT(at, ",\"sum\":\"");
    tg_text_sum_digits(tg_text_sum_plain(to, size), at);
    at = PUT(at + TG_TEXT_SUM_DIGITS, "\"}");
    return (size_t)(at - to);
}

size_t tg_manifest_put_slot(const struct tg_manifest_lines *lines,
                            const struct tg_record_packed *slot, char *to)
{
    uint64_t key[TG_MANIFEST_KEY];
    take_key(slot, key);
    const struct tg_manifest_line *line = &lines->line[place_of(key)];
    if (line->front_size == 0 || (slot->position >> 63) != 0 ||
        memcmp(line->key, key, sizeof key) != 0)
        return 0;
    return print(line, slot, to);
}

/* Scalars have a text of their own each. Of a slot that the check of its record had to change, the next one is
 * checked again. */
static bool can_learn(const struct tg_record_packed *slot, const struct tg_record *record)
{
    return slot->type == TG_RECORD_ARGUMENT && !(slot->flags & TG_RECORD_MORE) &&
           slot->kind == TG_KIND_TENSOR && record->kind == TG_KIND_TENSOR &&
           slot->stored == record->stored &&
           (slot->flags & TG_RECORD_HASHED) == (record->flags & TG_RECORD_HASHED);
}

void tg_manifest_learn(struct tg_manifest_lines *lines, const struct tg_record_packed *slot,
                       const struct tg_entry *entry)
{
    char text[TG_MANIFEST_LINE];
    struct tg_manifest_line *line;
    uint64_t key[TG_MANIFEST_KEY];
    if (!can_learn(slot, &entry->record))
        return;
    take_key(slot, key);
    line = &lines->line[place_of(key)];
    size_t size = (size_t)(PUT(tg_manifest_put_common(text, entry), ",\"start_offset\":") - text);
    line->front_size = size <= sizeof line->front ? (uint32_t)size : 0;
    memcpy(line->front, text, line->front_size);
    memcpy(line->key, key, sizeof line->key);
    char *at = tg_digits_uint(PUT(line->middle, ",\"bin_size\":"), slot->stored);
    at = slot->flags & TG_RECORD_HASHED ? PUT(at, ",\"hash\":\"0x") : PUT(at, ",\"hash\":null");
    line->middle_size = (uint32_t)(at - line->middle);
}
