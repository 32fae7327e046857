/* SPDX-License-Identifier: Apache-2.0 */
/* Parts that are summands of the whole. A double does not hold every integer of 64 bits, so that integers are
 * never converted to one. */
#include <stdlib.h>
#include <taskglass/numeric.h>

#include "analysis/ranks_shard.h"

static bool reduce_truths(uint32_t operation, bool a, bool b)
{
    return operation == TG_SUM || operation == TG_MAX ? a || b : a && b;
}

static bool is_less(unsigned dtype, uint64_t a, uint64_t b)
{
    unsigned bits = tg_bits_of(dtype);
    return tg_number_of(dtype) == TG_NUMBER_SIGNED
               ? tg_sign_extend(bits, a) < tg_sign_extend(bits, b)
               : a < b;
}

/* Bits of both elements; those beyond the type are cut off when the result is stored. */
static uint64_t reduce_integers(unsigned dtype, uint32_t operation, uint64_t a, uint64_t b)
{
    switch (operation) {
    case TG_SUM:
        return a + b;
    case TG_PRODUCT:
        return a * b;
    case TG_MIN:
        return is_less(dtype, a, b) ? a : b;
    default:
        return is_less(dtype, a, b) ? b : a;
    }
}

static double reduce_floats(uint32_t operation, double a, double b)
{
    switch (operation) {
    case TG_SUM:
        return a + b;
    case TG_PRODUCT:
        return a * b;
    case TG_MIN:
        return tg_double_is_nan(a) || a < b ? a : b;
    default:
        return tg_double_is_nan(a) || a > b ? a : b;
    }
}

static uint64_t reduce_element(const struct tg_block *part, uint32_t n_ranks, uint32_t operation,
                               int64_t i)
{
    unsigned dtype = part->dtype;
    enum tg_number number = tg_number_of(dtype);
    uint64_t bits = tg_load_bits(dtype, part->bytes, i);
    double value = tg_decode(dtype, bits);
    for (uint32_t r = 1; r < n_ranks; r++) {
        uint64_t next = tg_load_bits(dtype, part[r].bytes, i);
        if (number == TG_NUMBER_TRUTH)
            bits = reduce_truths(operation, bits != 0, next != 0);
        else if (number == TG_NUMBER_SIGNED || number == TG_NUMBER_UNSIGNED)
            bits = reduce_integers(dtype, operation, bits, next);
        else
            value = reduce_floats(operation, value, tg_decode(dtype, next));
    }
    bool is_exact =
        number == TG_NUMBER_TRUTH || number == TG_NUMBER_SIGNED || number == TG_NUMBER_UNSIGNED;
    return is_exact ? bits : tg_encode(dtype, value);
}

void *tg_parts_reduce(const struct tg_block *part, uint32_t n_ranks, uint32_t operation)
{
    void *all = calloc(((size_t)part->elements * tg_bits_of(part->dtype) + 7) / 8 + 1, 1);
    for (int64_t i = 0; all && i < part->elements; i++)
        tg_store_bits(part->dtype, all, i, reduce_element(part, n_ranks, operation, i));
    return all;
}
