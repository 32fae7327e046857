/* SPDX-License-Identifier: Apache-2.0 */
/* The checks in a manifest: see reader.h. */
#include <string.h>

#include "common/hash.h"
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

uint64_t tg_text_hash(const char *text, size_t size)
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
        else if (!in_string && (c == ',' || c == ':'))
            put(&piece, ' ');
    }
    tg_hash_update(&piece.hash, piece.bytes, piece.used);
    return tg_hash_final(&piece.hash, piece.size + piece.used);
}

/* Nothing covers the digits of the check itself: they must be exactly as we write them. */
static bool is_lower(const struct tg_pull *value)
{
    for (size_t i = 0; i < value->length; i++)
        if (value->value[i] >= 'A' && value->value[i] <= 'Z')
            return false;
    return true;
}

enum tg_text_check tg_text_check(const struct tg_pull *value, const char *begin, const char *key)
{
    const char *end = key - 1; /* the quote before it */
    uint64_t check;
    while (end > begin && is_space(end[-1]))
        end--;
    if (end > begin && end[-1] == ',')
        end--;
    if (!tg_pull_u64(value, &check) || !is_lower(value))
        return TG_TEXT_DAMAGED;
    size_t size = (size_t)(end - begin);
    if (tg_content_hash(begin, size) == check) /* nearly always: it is as we wrote it */
        return TG_TEXT_INTACT;
    return tg_text_hash(begin, size) == check ? TG_TEXT_INTACT : TG_TEXT_DAMAGED;
}
