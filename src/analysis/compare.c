/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare.h"

#include <math.h>
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "analysis/compare_block.h"
#include "base/error.h"
#include "base/files.h"
#include "base/tolerance.h"

static const struct tg_mismatch nowhere = {TG_NONE, 0, 0};

void tg_comparer_init(struct tg_comparer *comparer, unsigned dtype, const void *a, const void *b,
                      uint64_t elements, const struct tg_tolerance *tolerance, bool equal_nan,
                      struct tg_comparison *result)
{
    tg_decoder_init(&comparer->decoder, dtype);
    comparer->tolerance = *tolerance;
    comparer->equal_nan = equal_nan;
    comparer->a = a;
    comparer->b = b;
    comparer->elements = elements;
    comparer->at = 0;
    comparer->is_equal = true;
    comparer->sums = (struct tg_compare_sums){0};
    comparer->result = result;
    *result = (struct tg_comparison){.elements = elements,
                                     .max_abs_at = nowhere,
                                     .max_rel_at = nowhere,
                                     .max_ulp_at = nowhere,
                                     .cosine = NAN,
                                     .sqnr = INFINITY};
}

/* --- a block ---------------------------------------------------------------------------------- */

/* The elements of the block that begins at comparer->at. */
struct block {
    const unsigned char *a, *b;
    int count;
    int lanes; /* count, rounded up to whole lanes */
};

static struct tg_mismatch mismatch_at(const struct tg_comparer *comparer, const struct block *block,
                                      int i)
{
    unsigned dtype = comparer->decoder.dtype;
    return (struct tg_mismatch){.element = comparer->at + (uint64_t)i,
                                .a = tg_load_bits(dtype, block->a, i),
                                .b = tg_load_bits(dtype, block->b, i)};
}

static double value_of(const struct tg_comparer *comparer, bool second, int i)
{
    if (comparer->decoder.is_wide)
        return second ? comparer->y.wide[i] : comparer->x.wide[i];
    return (double)(second ? comparer->y.narrow[i] : comparer->x.narrow[i]);
}

/* Elements that are not finite are counted first and then left out of sums and extremes. */
static void leave_out(struct tg_comparer *comparer, int i)
{
    if (comparer->decoder.is_wide)
        comparer->x.wide[i] = comparer->y.wide[i] = 0;
    else
        comparer->x.narrow[i] = comparer->y.narrow[i] = 0;
    comparer->key_x[i] = comparer->key_y[i] = 0;
}

/* True for an element that leave_out cleared because it was not finite on one side or both; also
 * for two zeros, whose distance is 0 anyway. */
static bool is_left_out(const struct tg_comparer *comparer, int i)
{
    return value_of(comparer, false, i) == 0 && value_of(comparer, true, i) == 0;
}

/* Counts the elements that are not finite, and returns how many of them mismatch. */
static uint64_t sift_specials(struct tg_comparer *comparer, const struct block *block)
{
    struct tg_comparison *result = comparer->result;
    uint64_t mismatches = 0;
    for (int i = 0; i < block->count; i++) {
        double x = value_of(comparer, false, i), y = value_of(comparer, true, i);
        if (isfinite(x) && isfinite(y))
            continue;
        result->nan_a += isnan(x) != 0;
        result->nan_b += isnan(y) != 0;
        result->inf_a += isinf(x) != 0;
        result->inf_b += isinf(y) != 0;
        struct tg_mismatch at = mismatch_at(comparer, block, i);
        mismatches += !tg_elements_agree(comparer->decoder.dtype, at.a, at.b, &comparer->tolerance,
                                         comparer->equal_nan);
        leave_out(comparer, i);
    }
    result->special += mismatches;
    return mismatches;
}

/* The bits of a float32 are ordered already, and a bfloat16 is the upper half of a float32. */
static bool needs_keys(const struct tg_decoder *decoder)
{
    return decoder->is_float && decoder->dtype != TG_FLOAT32 && decoder->dtype != TG_BFLOAT16;
}

/* Returns true if an element of the block is not finite. */
static bool decode(struct tg_comparer *comparer, const struct block *block)
{
    const struct tg_decoder *decoder = &comparer->decoder;
    bool special;
    if (decoder->is_wide) {
        special = tg_decode_wide(decoder, block->a, block->count, comparer->x.wide);
        return tg_decode_wide(decoder, block->b, block->count, comparer->y.wide) || special;
    }
    special = tg_decode_narrow(decoder, block->a, block->count, comparer->x.narrow);
    special = tg_decode_narrow(decoder, block->b, block->count, comparer->y.narrow) || special;
    if (needs_keys(decoder)) {
        tg_decode_keys(decoder, block->a, block->count, comparer->key_x);
        tg_decode_keys(decoder, block->b, block->count, comparer->key_y);
    }
    return special;
}

static void find_max_abs(struct tg_comparer *comparer, const struct block *block, double most)
{
    struct tg_comparison *result = comparer->result;
    if (!(most > result->max_abs))
        return;
    result->max_abs = most;
    for (int i = 0; i < block->count; i++)
        if (fabs(value_of(comparer, false, i) - value_of(comparer, true, i)) == most) {
            result->max_abs_at = mismatch_at(comparer, block, i);
            return;
        }
}

static void find_max_rel(struct tg_comparer *comparer, const struct block *block, double most)
{
    struct tg_comparison *result = comparer->result;
    if (!(most > result->max_rel))
        return;
    result->max_rel = most;
    for (int i = 0; i < block->count; i++) {
        double x = value_of(comparer, false, i), y = value_of(comparer, true, i);
        if (tg_relative_error(fabs(x - y), y) == most) {
            result->max_rel_at = mismatch_at(comparer, block, i);
            return;
        }
    }
}

static uint64_t largest_distance(const struct tg_comparer *comparer, const struct block *block)
{
    switch (comparer->decoder.dtype) {
    case TG_FLOAT64:
        return tg_block_distance_wide(comparer->x.wide, comparer->y.wide, block->lanes);
    case TG_FLOAT32:
        return tg_block_distance_floats(comparer->x.narrow, comparer->y.narrow, block->lanes);
    case TG_BFLOAT16:
        return tg_block_distance_floats(comparer->x.narrow, comparer->y.narrow, block->lanes) >> 16;
    default:
        return tg_block_distance(comparer->key_x, comparer->key_y, block->lanes);
    }
}

static void find_max_ulp(struct tg_comparer *comparer, const struct block *block)
{
    struct tg_comparison *result = comparer->result;
    uint64_t most = largest_distance(comparer, block);
    if (most <= result->max_ulp)
        return;
    result->max_ulp = most;
    for (int i = 0; i < block->count; i++) {
        struct tg_mismatch at = mismatch_at(comparer, block, i);
        if (tg_ulp_distance(comparer->decoder.dtype, at.a, at.b) == most &&
            !is_left_out(comparer, i)) {
            result->max_ulp_at = at;
            return;
        }
    }
}

/* Doubles do not hold every 64-bit integer, so the errors that the loops found are computed
 * again. */
static void correct_integers(struct tg_comparer *comparer, const struct block *block,
                             struct tg_block_result *sums)
{
    unsigned dtype = comparer->decoder.dtype;
    const struct tg_tolerance *tolerance = &comparer->tolerance;
    struct tg_comparison *result = comparer->result;
    sums->mismatches = 0;
    sums->max_abs = 0;
    for (int i = 0; i < block->count; i++) {
        struct tg_mismatch at = mismatch_at(comparer, block, i);
        double distance = (double)tg_integer_distance(dtype, at.a, at.b);
        sums->mismatches +=
            tg_is_beyond(distance, comparer->y.wide[i], tolerance->absolute, tolerance->relative);
        if (distance > result->max_abs) {
            result->max_abs = distance;
            result->max_abs_at = at;
        }
    }
}

static void list_mismatches(struct tg_comparer *comparer, const struct block *block)
{
    struct tg_comparison *result = comparer->result;
    for (int i = 0; i < block->count && result->n_first < TG_FIRST_MISMATCHES; i++) {
        struct tg_mismatch at = mismatch_at(comparer, block, i);
        if (!tg_elements_agree(comparer->decoder.dtype, at.a, at.b, &comparer->tolerance,
                               comparer->equal_nan))
            result->first[result->n_first++] = at;
    }
}

/* Squares of float64 values may leave the range of a double; squares of other types never do. */
static void add_exactly(struct tg_comparer *comparer, const struct block *block)
{
    for (int i = 0; i < block->count; i++) {
        long double x = comparer->x.wide[i], y = comparer->y.wide[i];
        comparer->sums.aa += x * x;
        comparer->sums.bb += y * y;
        comparer->sums.ab += x * y;
        comparer->sums.dd += (x - y) * (x - y);
    }
}

/* 0 counts too: it may be the sum of squares that were too small for a double. */
static bool is_out_of_range(double sum)
{
    return !(sum < 0x1p1000) || sum < 0x1p-900;
}

static void add_sums(struct tg_comparer *comparer, const struct block *block,
                     const struct tg_block_result *sums)
{
    if (comparer->decoder.dtype == TG_FLOAT64 &&
        (is_out_of_range(sums->aa) || is_out_of_range(sums->bb) ||
         (sums->max_abs > 0 && is_out_of_range(sums->dd)))) {
        add_exactly(comparer, block);
        return;
    }
    comparer->sums.aa += (long double)sums->aa;
    comparer->sums.bb += (long double)sums->bb;
    comparer->sums.ab += (long double)sums->ab;
    comparer->sums.dd += (long double)sums->dd;
}

static void compare_block(struct tg_comparer *comparer, const struct block *block)
{
    const struct tg_decoder *decoder = &comparer->decoder;
    const struct tg_tolerance *tolerance = &comparer->tolerance;
    struct tg_block_result sums;
    uint64_t special = decode(comparer, block) ? sift_specials(comparer, block) : 0;
    if (decoder->is_wide)
        tg_block_compare_wide(comparer->x.wide, comparer->y.wide, block->lanes, tolerance->absolute,
                              tolerance->relative, &sums);
    else
        tg_block_compare(comparer->x.narrow, comparer->y.narrow, block->lanes, tolerance->absolute,
                         tolerance->relative, &sums);
    add_sums(comparer, block, &sums);
    if (decoder->dtype == TG_INT64 || decoder->dtype == TG_UINT64)
        correct_integers(comparer, block, &sums);
    find_max_abs(comparer, block, sums.max_abs);
    find_max_rel(comparer, block, sums.max_rel);
    if (decoder->is_float)
        find_max_ulp(comparer, block);
    comparer->result->mismatches += sums.mismatches + special;
    if (sums.mismatches + special > 0 && comparer->result->n_first < TG_FIRST_MISMATCHES)
        list_mismatches(comparer, block);
}

/* The bytes of both sides are equal, so one side is decoded, and only the sums and counts grow. */
static void add_equal_block(struct tg_comparer *comparer, const struct block *block)
{
    const struct tg_decoder *decoder = &comparer->decoder;
    bool special;
    if (decoder->is_wide)
        special = tg_decode_wide(decoder, block->a, block->count, comparer->x.wide);
    else
        special = tg_decode_narrow(decoder, block->a, block->count, comparer->x.narrow);
    if (special) {
        decode(comparer, block);
        sift_specials(comparer, block);
    }
    double squares = decoder->is_wide ? tg_block_squares_wide(comparer->x.wide, block->lanes)
                                      : tg_block_squares(comparer->x.narrow, block->lanes);
    struct tg_block_result sums = {.aa = squares, .bb = squares, .ab = squares};
    if (decoder->dtype == TG_FLOAT64 && is_out_of_range(squares))
        memcpy(comparer->y.wide, comparer->x.wide, sizeof comparer->y.wide);
    add_sums(comparer, block, &sums);
}

/* --- windows ---------------------------------------------------------------------------------- */

static void compare_window(struct tg_comparer *comparer, uint64_t end)
{
    const struct tg_decoder *decoder = &comparer->decoder;
    const uint64_t begin = tg_decoder_bytes(decoder, comparer->at);
    while (comparer->at < end) {
        uint64_t left = end - comparer->at, offset = tg_decoder_bytes(decoder, comparer->at);
        struct block block = {.a = comparer->a + offset,
                              .b = comparer->b + offset,
                              .count = left < TG_BLOCK ? (int)left : TG_BLOCK};
        block.lanes = tg_block_lanes(block.count);
        size_t bytes = (size_t)tg_decoder_bytes(decoder, (uint64_t)block.count);
        if (memcmp(block.a, block.b, bytes) == 0)
            add_equal_block(comparer, &block);
        else
            compare_block(comparer, &block);
        comparer->at += (uint64_t)block.count;
    }
    size_t size = (size_t)(tg_decoder_bytes(decoder, end) - begin);
    tg_bytes_were_read(comparer->a + begin, size);
    tg_bytes_were_read(comparer->b + begin, size);
}

static bool is_window_equal(const struct tg_comparer *comparer, uint64_t end)
{
    uint64_t begin = tg_decoder_bytes(&comparer->decoder, comparer->at);
    uint64_t size = tg_decoder_bytes(&comparer->decoder, end) - begin;
    return tg_bytes_equal(comparer->a + begin, comparer->b + begin, (size_t)size);
}

static void finish(struct tg_comparer *comparer)
{
    const struct tg_compare_sums *sums = &comparer->sums;
    struct tg_comparison *result = comparer->result;
    result->identical = comparer->is_equal;
    if (comparer->is_equal)
        return;
    if (sums->aa > 0 && sums->bb > 0) {
        long double cosine = sums->ab / (sqrtl(sums->aa) * sqrtl(sums->bb));
        result->cosine = (double)(cosine > 1 ? 1 : cosine < -1 ? -1 : cosine);
    }
    if (sums->dd > 0)
        result->sqnr = (double)(10 * log10l(sums->bb / sums->dd));
}

bool tg_comparer_step(struct tg_comparer *comparer)
{
    uint64_t left = comparer->elements - comparer->at;
    uint64_t end = comparer->at + (left < TG_COMPARE_WINDOW ? left : TG_COMPARE_WINDOW);
    if (comparer->is_equal && comparer->at < end && !is_window_equal(comparer, end)) {
        comparer->is_equal = false;
        comparer->at = 0;
        return true;
    }
    if (comparer->is_equal)
        comparer->at = end;
    else
        compare_window(comparer, end);
    if (comparer->at < comparer->elements)
        return true;
    finish(comparer);
    return false;
}

tg_status tg_tensor_compare(int dtype, const void *a, const void *b, int64_t elements,
                            const struct tg_tolerance *tolerance, bool equal_nan,
                            struct tg_comparison *comparison, struct tg_error *error)
{
    TG_REFUSE_NULL(error, comparison);
    if ((a == NULL || b == NULL) && elements > 0)
        return tg_error_null(error, __func__, "a or b");
    struct tg_tolerance usual = tg_tolerance_default(dtype);
    struct tg_comparer comparer;
    if (!tg_dtype_valid(dtype))
        return tg_error_set(error, TG_BAD_ARGUMENT, "%d is not a dtype", dtype);
    if (elements < 0)
        return tg_error_set(error, TG_BAD_ARGUMENT, "an array cannot have %lld elements",
                            (long long)elements);
    tg_comparer_init(&comparer, (unsigned)dtype, a, b, (uint64_t)elements,
                     tolerance ? tolerance : &usual, equal_nan, comparison);
    while (tg_comparer_step(&comparer))
        ;
    return TG_OK;
}
