/* SPDX-License-Identifier: Apache-2.0 */
/* The words that files and screens use for recordings, and the content hash of bytes. */
#include <taskglass/recording.h>
#include <taskglass/wire/stream.h>

#include "common/hash.h"
#include "recording/record.h"

#define WORD_OF(words, number) \
    ((number) < sizeof(words) / sizeof((words)[0]) ? (words)[number] : "unknown")

const char *tg_stage_name(unsigned stage)
{
    static const char *const words[] = {
        [TG_BEFORE_DISPATCH] = "before_dispatch",
        [TG_AFTER_COMPLETION] = "after_completion",
        [TG_STAGE_ORCHESTRATION] = "orchestration",
    };
    return WORD_OF(words, stage);
}

const char *tg_record_role_name(unsigned role)
{
    static const char *const words[] = {
        "unknown", [TG_IN] = "input", [TG_OUT] = "output", [TG_INOUT] = "inout"};
    return WORD_OF(words, role);
}

const char *tg_level_name(unsigned level)
{
    static const char *const words[] = {
        [TG_LEVEL_OFF] = "off",       [TG_LEVEL_META] = "meta",     [TG_LEVEL_HASH] = "hash",
        [TG_LEVEL_MARKED] = "marked", [TG_LEVEL_HYBRID] = "hybrid", [TG_LEVEL_FULL] = "full",
    };
    return WORD_OF(words, level);
}

const char *tg_policy_name(unsigned policy)
{
    static const char *const words[] = {
        [TG_POLICY_BLOCK] = "block",
        [TG_POLICY_DROP] = "drop",
        [TG_POLICY_OVERWRITE] = "overwrite",
    };
    return WORD_OF(words, policy);
}

const char *tg_loss_name(unsigned cause)
{
    static const char *const words[] = {
        [TG_LOSS_FULL] = "full",
        [TG_LOSS_GAVE_UP] = "gave_up",
        [TG_LOSS_OVERWRITTEN] = "overwritten",
        [TG_LOSS_DISK] = "disk",
        [TG_LOSS_CORRUPT] = "corrupt",
        [TG_LOSS_UNFINISHED] = "unfinished",
    };
    return WORD_OF(words, cause);
}

uint64_t tg_content_hash(const void *bytes, size_t size)
{
    struct tg_hash hash;
    tg_hash_init(&hash);
    tg_hash_update(&hash, bytes, size);
    return tg_hash_final(&hash, size);
}
