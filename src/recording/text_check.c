/* SPDX-License-Identifier: Apache-2.0 */
/* The checks in a manifest: see reader.h. */
#include <string.h>

#include "common/hash.h"
#include "recording/manifest.h"
#include "recording/reader.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Text on its way into the hash, which takes whole blocks. */
struct piece {
    struct tg_hash hash;
    uint64_t size;
    size_t used;
    char bytes[1024];
};

static void put(struct piece *piece, char c)
{
    piece->bytes[piece->used++] = c;
    if (piece->used < sizeof piece->bytes)
        return;
    tg_hash_update(&piece->hash, piece->bytes, piece->used);
    piece->size += piece->used;
    piece->used = 0;
}

/* `spaced`: a space follows every comma and colon. */
static uint64_t hash_text(const char *text, size_t size, bool spaced)
{
    struct piece piece = {.size = 0};
    bool in_string = false;
    tg_hash_init(&piece.hash);
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (!in_string && is_space(c))
            continue;
        put(&piece, c);
        if (c == '"')
            in_string = !in_string;
        else if (in_string && c == '\\' && i + 1 < size)
            put(&piece, text[++i]);
        else if (spaced && !in_string && (c == ',' || c == ':'))
            put(&piece, ' ');
    }
    tg_hash_update(&piece.hash, piece.bytes, piece.used);
    return tg_hash_final(&piece.hash, piece.size + piece.used);
}

uint64_t tg_text_hash(const char *text, size_t size)
{
    return hash_text(text, size, true);
}

static uint32_t fold(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 24 ^ hash >> 48) & 0xffffff;
}

uint32_t tg_text_sum_plain(const char *text, size_t size)
{
    struct tg_hash hash;
    tg_hash_init(&hash);
    tg_hash_update(&hash, text, size);
    return fold(tg_hash_final(&hash, size));
}

void tg_text_sum_digits(uint32_t sum, char digits[TG_TEXT_SUM_DIGITS])
{
    static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (int i = 0; i < TG_TEXT_SUM_DIGITS; i++)
        digits[i] = all[sum >> (18 - 6 * i) & 63];
}

/* Nothing covers the digits of the check itself: they must be exactly as we write them. */
static bool is_lower(const struct tg_pull *value)
{
    for (size_t i = 0; i < value->length; i++)
        if (value->value[i] >= 'A' && value->value[i] <= 'Z')
            return false;
    return true;
}

/* The size of the text that the check covers: up to the comma before its key. */
static size_t covered(const char *begin, const char *key)
{
    const char *end = key - 1; /* the quote before it */
    while (end > begin && is_space(end[-1]))
        end--;
    if (end > begin && end[-1] == ',')
        end--;
    return (size_t)(end - begin);
}

enum tg_text_check tg_text_check(const struct tg_pull *value, const char *begin, const char *key)
{
    size_t size = covered(begin, key);
    uint64_t check;
    if (!tg_pull_u64(value, &check) || !is_lower(value))
        return TG_TEXT_DAMAGED;
    if (tg_content_hash(begin, size) == check) /* nearly always: it is as we wrote it */
        return TG_TEXT_INTACT;
    return tg_text_hash(begin, size) == check ? TG_TEXT_INTACT : TG_TEXT_DAMAGED;
}

enum tg_text_check tg_text_check_sum(const struct tg_pull *value, const char *begin,
                                     const char *key)
{
    size_t size = covered(begin, key);
    char digits[TG_TEXT_SUM_DIGITS];
    if (value->token != TG_PULL_STRING || value->length != sizeof digits)
        return TG_TEXT_DAMAGED;
    tg_text_sum_digits(fold(tg_content_hash(begin, size)), digits);
    if (memcmp(value->value, digits, sizeof digits) == 0)
        return TG_TEXT_INTACT;
    tg_text_sum_digits(fold(hash_text(begin, size, false)), digits);
    return memcmp(value->value, digits, sizeof digits) == 0 ? TG_TEXT_INTACT : TG_TEXT_DAMAGED;
}
