/* SPDX-License-Identifier: Apache-2.0 */
/* The words that files and screens use for recordings, and the content hash of bytes. */
#include <taskglass/recording.h>
#include <taskglass/wire/stream.h>

#include "base/files.h"
#include "common/hash.h"
#include "recording/record.h"

/* The word of a number, by the table of its kind. */
#define WORD(constant, number, word, ...) [number] = (word),
#define WORD_OF(map, number)                        \
    static const char *const words[] = {map(WORD)}; \
    return (number) < sizeof words / sizeof words[0] && words[number] ? words[number] : "unknown"

const char *tg_stage_name(unsigned stage)
{
    WORD_OF(TG_STAGE_MAP, stage);
}

const char *tg_record_role_name(unsigned role)
{
    WORD_OF(TG_ROLE_MAP, role);
}

const char *tg_role_name(unsigned role)
{
#define OPTION(constant, number, word, option) [number] = (option),
    static const char *const words[] = {"scalar", TG_ROLE_MAP(OPTION)};
    return role < sizeof words / sizeof words[0] ? words[role] : "nothing";
}

const char *tg_kind_name(unsigned kind)
{
    WORD_OF(TG_KIND_MAP, kind);
}

const char *tg_level_name(unsigned level)
{
    WORD_OF(TG_LEVEL_MAP, level);
}

const char *tg_policy_name(unsigned policy)
{
    WORD_OF(TG_POLICY_MAP, policy);
}

const char *tg_loss_name(unsigned cause)
{
    WORD_OF(TG_LOSS_MAP, cause);
}

const char *tg_recording_state_name(unsigned state)
{
    WORD_OF(TG_RECORDING_STATE_MAP, state);
}

const char *tg_edge_name(unsigned kind)
{
    WORD_OF(TG_EDGE_MAP, kind);
}

uint64_t tg_content_hash(const void *bytes, size_t size)
{
    struct tg_hash hash;
    if (bytes == NULL)
        size = 0;
    tg_hash_init(&hash);
    for (size_t at = 0; at < size; at += TG_READ_PIECE) {
        const unsigned char *from = (const unsigned char *)bytes + at;
        size_t piece = size - at < TG_READ_PIECE ? size - at : TG_READ_PIECE;
        tg_hash_update(&hash, from, piece);
        tg_bytes_were_read(from, piece);
    }
    return tg_hash_final(&hash, size);
}
