/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a stream that one side writes while the other reads them (wire/stream.h): sealed with a
 * check when they are written, opened when they are read. */
#ifndef TG_COMMON_STREAM_WORD_H
#define TG_COMMON_STREAM_WORD_H

#include <stdbool.h>
#include <taskglass/target.h>
#include <taskglass/wire/stream.h>

#define TG_WORD_VALUE_ ((UINT64_C(1) << TG_WORD_BITS) - 1)

/* `value` has at most TG_WORD_BITS bits. */
TG_INLINE uint64_t tg_word_seal(uint64_t value)
{
    uint64_t mixed = (value ^ TG_WORD_SALT) * TG_WORD_FACTOR;
    return (mixed >> TG_WORD_BITS) << TG_WORD_BITS | value;
}

/* False if the word is not one that the other side has written. */
TG_INLINE bool tg_word_open(uint64_t word, uint64_t *value)
{
    *value = word & TG_WORD_VALUE_;
    return tg_word_seal(*value) == word;
}

/* The value of `current`. A buffer number beyond those that exist means: none. */
TG_INLINE uint64_t tg_current_value(uint32_t buffer, uint32_t count)
{
    return (uint64_t)buffer << TG_CURRENT_COUNT_BITS | count;
}

TG_INLINE uint32_t tg_current_buffer(uint64_t value)
{
    return (uint32_t)(value >> TG_CURRENT_COUNT_BITS);
}

TG_INLINE uint32_t tg_current_count(uint64_t value)
{
    return (uint32_t)value & ((1u << TG_CURRENT_COUNT_BITS) - 1);
}

#endif
