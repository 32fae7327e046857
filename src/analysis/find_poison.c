/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the pattern that filled memory when it was handed out. Which bytes of the pattern an element
 * would have follows from its address, so views with gaps and packed types are compared as well.
 *
 * An element that has the pattern's bits counts only if chance cannot explain it: a float of 16 bits
 * or more would be a NaN that arithmetic does not make, so one is enough. Any other element needs
 * neighbours that have the pattern too, LEAST_RUN bytes together; a smaller tensor must have nothing
 * else, and even then one of less than LEAST_PROOF bytes proves nothing.
 */
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "common/hash.h"
#include "analysis/find.h"
#include "query/array_pass.h"
#include "recording/record.h"

enum { LEAST_RUN = 8, LEAST_PROOF = 4, MOST_HASHED = 1 << 30 };

/* Walks over the elements of a view in row-major order. Sums wrap around: only the low bits of an
 * address matter, and a hostile stride must not overflow. */
struct walk {
    const struct tg_record *record;
    uint64_t pattern; /* the 32-bit word twice */
    uint64_t offset;  /* of the element, in elements */
    int64_t at[TG_MAX_DIMS];
    unsigned bits;
};

static void start(struct walk *walk, const struct tg_record *record, uint32_t poison)
{
    *walk = (struct walk){.record = record,
                          .pattern = (uint64_t)poison << 32 | poison,
                          .offset = (uint64_t)record->start,
                          .bits = tg_bits_of(record->dtype)};
}

static void step(struct walk *walk)
{
    for (int i = walk->record->ndim - 1; i >= 0; i--) {
        walk->offset += (uint64_t)walk->record->strides[i];
        if (++walk->at[i] < walk->record->shape[i])
            return;
        walk->offset -= (uint64_t)walk->record->shape[i] * (uint64_t)walk->record->strides[i];
        walk->at[i] = 0;
    }
}

/* The bits that this element has if nothing was written to it. */
static uint64_t expected(const struct walk *walk)
{
    uint64_t bit = walk->offset * walk->bits;
    unsigned turn = (unsigned)((walk->record->data_ptr + (bit >> 3)) & 3) * 8;
    uint64_t word =
        turn == 0 ? walk->pattern : walk->pattern >> turn | walk->pattern << (64 - turn);
    return word >> (bit & 7) & (UINT64_MAX >> (64 - walk->bits));
}

/* The length of a run, in elements, from which on it cannot be chance. */
static uint64_t least_run(const struct tg_record *record, uint64_t elements)
{
    unsigned bits = tg_bits_of(record->dtype);
    uint64_t least = (LEAST_RUN * 8 + bits - 1) / bits;
    if (tg_dtype_is_float(record->dtype) && bits >= 16)
        return 1;
    return least < elements ? least : elements;
}

bool tg_poison_find(const struct tg_array *array, const struct tg_record *record, uint32_t poison,
                    struct tg_poison_traces *traces)
{
    uint64_t run = 0, elements = (uint64_t)array->elements, least = least_run(record, elements);
    struct walk walk;
    *traces = (struct tg_poison_traces){.first = TG_NONE};
    start(&walk, record, poison);
    for (uint64_t i = 0; i <= elements; i++) {
        tg_array_pass(array, (int64_t)i);
        if (i < elements &&
            tg_load_bits(array->dtype, array->bytes, (int64_t)i) == expected(&walk)) {
            run++;
        } else {
            if (run >= least && run > 0) {
                traces->first = traces->count == 0 ? i - run : traces->first;
                traces->count += run;
            }
            run = 0;
        }
        if (i < elements)
            step(&walk);
    }
    traces->is_proof = record->bytes >= LEAST_PROOF ||
                       (tg_dtype_is_float(record->dtype) && tg_bits_of(record->dtype) >= 16);
    return traces->count > 0;
}

bool tg_poison_hash(const struct tg_record *record, uint32_t poison, uint64_t *hash)
{
    uint64_t elements = (uint64_t)tg_record_numel(record), word = 0;
    unsigned filled = 0;
    struct tg_hash sum;
    struct walk walk;
    if (record->bytes == 0 || record->bytes > MOST_HASHED || tg_bits_of(record->dtype) == 0)
        return false;
    tg_hash_init(&sum);
    start(&walk, record, poison);
    for (uint64_t i = 0; i < elements; i++, step(&walk)) {
        word |= expected(&walk) << filled;
        filled += walk.bits;
        if (filled == 64 || i + 1 == elements) {
            tg_hash_word(&sum, word);
            word = filled = 0;
        }
    }
    *hash = tg_hash_final(&sum, record->bytes);
    return true;
}
