/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes elements in blocks into numbers for fast loops. Types of at most 16 bits, and float32,
 * become floats, which hold all their values exactly; the other types become doubles. A block is
 * filled up with zeros to a multiple of TG_BLOCK_LANES, so that loops need no remainder.
 */
#ifndef TG_ANALYSIS_COMPARE_DECODE_H
#define TG_ANALYSIS_COMPARE_DECODE_H

#include <stdbool.h>
#include <stdint.h>

enum { TG_BLOCK = 1024, TG_BLOCK_LANES = 8 };

/* How to decode one type, with its table if it uses one. */
struct tg_decoder {
    unsigned dtype;
    bool is_float;
    bool is_wide; /* decodes to doubles, not floats */
    bool has_table;
    unsigned bits; /* of one element */
    /* One for each code of the type; not set if there is no table, which keeps small tensors cheap. */
    float table[256];
    int32_t key[256];
};

/* `dtype` must be valid. */
void tg_decoder_init(struct tg_decoder *decoder, unsigned dtype);

/* The number of bytes of `count` elements, the first of which begins at a byte. */
uint64_t tg_decoder_bytes(const struct tg_decoder *decoder, uint64_t count);

/* Decodes `count` elements, at most TG_BLOCK, of a type that is not wide (second function: is
 * wide). Returns true if one of them is NaN or infinite. */
bool tg_decode_narrow(const struct tg_decoder *decoder, const void *bytes, int count, float *value);
bool tg_decode_wide(const struct tg_decoder *decoder, const void *bytes, int count, double *value);

/* For float types that are not wide: the position of each value in the order of all values of
 * the type, 0 for both zeros. The difference of two keys is the number of steps between the two
 * values. */
void tg_decode_keys(const struct tg_decoder *decoder, const void *bytes, int count, int32_t *key);

/* Rounded up to whole lanes. */
static inline int tg_block_lanes(int count)
{
    return (count + TG_BLOCK_LANES - 1) / TG_BLOCK_LANES * TG_BLOCK_LANES;
}

/* The smallest normal magnitude of a float type; 0 for types without denormals. */
double tg_smallest_normal(unsigned dtype);
/* The largest finite magnitude of a type. */
double tg_largest_finite(unsigned dtype);

#endif
