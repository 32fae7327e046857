/* SPDX-License-Identifier: Apache-2.0 */
/* Makes histograms: of short types from the count of each code, of longer types in two passes. */
#include "workbench/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "base/error.h"
#include "base/files.h"
#include "workbench/elements.h"

enum {
    SHORT_BITS = 16,
    ASKED = 1 << 20, /* elements between two questions whether to go on */
    SIGN_AT = 63
};

/* The finite elements: their range, and how a bin is found. */
struct bins {
    unsigned dtype;
    bool is_whole; /* integers and bool */
    bool is_long;  /* 64-bit integers: doubles do not hold them, so `low` and `high` count */
    bool has_range;
    double least, most;
    uint64_t low, high; /* in the order of unsigned numbers */
    uint64_t width;     /* whole: numbers of each bin */
    double scale;       /* real: 0.5 if the range is too large for a double, else 1 */
    struct tg_histogram *histogram;
};

/* Moves the negative numbers below the others. */
static uint64_t order_of(unsigned dtype, uint64_t bits)
{
    return dtype == TG_INT64 ? bits ^ UINT64_C(1) << SIGN_AT : bits;
}

/* --- range ---------------------------------------------------------------------------------- */

static void widen(struct bins *bins, double value)
{
    if (!bins->has_range || value < bins->least)
        bins->least = value;
    if (!bins->has_range || value > bins->most)
        bins->most = value;
    bins->has_range = true;
}

static void widen_long(struct bins *bins, uint64_t order)
{
    if (!bins->has_range || order < bins->low)
        bins->low = order;
    if (!bins->has_range || order > bins->high)
        bins->high = order;
    bins->has_range = true;
}

static double number_of(unsigned dtype, uint64_t order)
{
    return tg_decode(dtype, order_of(dtype, order));
}

/* The range is known: makes the bins. */
static void divide(struct bins *bins, unsigned wanted)
{
    struct tg_histogram *histogram = bins->histogram;
    if (!bins->has_range)
        return;
    if (bins->is_long) {
        bins->least = number_of(bins->dtype, bins->low);
        bins->most = number_of(bins->dtype, bins->high);
    }
    histogram->from = bins->least;
    histogram->to = bins->most;
    histogram->bins = bins->least < bins->most ? wanted : 1;
    bins->scale = isinf(bins->most - bins->least) ? 0.5 : 1;
    if (!bins->is_whole)
        return;
    const uint64_t range =
        bins->is_long ? bins->high - bins->low : (uint64_t)(bins->most - bins->least);
    bins->width = range / wanted + 1;
    histogram->bins = (unsigned)(range / bins->width) + 1;
    histogram->to = bins->least + (double)histogram->bins * (double)bins->width;
}

static unsigned bin_of(const struct bins *bins, double value)
{
    const unsigned last = bins->histogram->bins - 1;
    if (bins->is_whole) /* of at most 32 bits */
        return (uint32_t)(value - bins->least) / (uint32_t)bins->width;
    if (last == 0)
        return 0;
    const double scale = bins->scale, least = bins->least * scale;
    const double part = (value * scale - least) / (bins->most * scale - least);
    const unsigned bin = (unsigned)(part * (double)(last + 1));
    return bin < last ? bin : last;
}

/* --- short types ---------------------------------------------------------------------------- */

static void count_codes(const void *bytes, int count, unsigned size, uint64_t *code)
{
    uint16_t word[TG_BLOCK];
    const unsigned char *byte = bytes;
    if (size == 1) {
        for (int i = 0; i < count; i++)
            code[byte[i]]++;
        return;
    }
    memcpy(word, bytes, (size_t)count * sizeof word[0]);
    for (int i = 0; i < count; i++)
        code[word[i]]++;
}

/* From counts of bytes to counts of nibbles. If the number of elements is odd, the last nibble is none. */
static void split_bytes(const unsigned char *last, bool is_odd, uint64_t *code)
{
    uint64_t nibble[16] = {0};
    for (unsigned i = 0; i < 256; i++) {
        nibble[i & 0xf] += code[i];
        nibble[i >> 4] += code[i];
    }
    if (is_odd)
        nibble[*last >> 4]--;
    memset(code, 0, 256 * sizeof *code);
    memcpy(code, nibble, sizeof nibble);
}

/* Counts the codes of the array; returns the number of elements that were looked at. */
static uint64_t count_all(const struct tg_array *array, const struct tg_array_asked *asked,
                          uint64_t *code)
{
    const unsigned bits = tg_bits_of(array->dtype), size = bits > 8 ? 2 : 1;
    const uint64_t units = array->size / size; /* bytes, or words of two */
    const unsigned char *bytes = array->bytes;
    uint64_t at = 0;
    for (bool goes_on = true; at < units && goes_on;) {
        int count = units - at < TG_BLOCK ? (int)(units - at) : TG_BLOCK;
        count_codes(bytes + at * size, count, size, code);
        tg_bytes_were_read(bytes + at * size, (size_t)count * size);
        at += (uint64_t)count;
        goes_on = at % ASKED != 0 || asked->goes_on(asked->context);
    }
    if (bits >= 8)
        return at;
    const bool is_odd = at == units && array->elements % 2 != 0;
    split_bytes(at > 0 ? bytes + at - 1 : NULL, is_odd, code);
    return 2 * at - is_odd;
}

static tg_status make_short(const struct tg_array *array, unsigned wanted,
                            const struct tg_array_asked *asked, struct bins *bins,
                            struct tg_error *error)
{
    const unsigned codes = 1u << SHORT_BITS;
    uint64_t *code = calloc(codes, sizeof *code);
    if (!code)
        return tg_error_set(error, TG_NO_MEMORY, "out of memory");
    bins->histogram->looked_at = count_all(array, asked, code);
    for (unsigned i = 0; i < codes; i++)
        if (code[i] > 0 && isfinite(tg_decode(array->dtype, i)))
            widen(bins, tg_decode(array->dtype, i));
    divide(bins, wanted);
    for (unsigned i = 0; i < codes; i++)
        if (code[i] > 0 && isfinite(tg_decode(array->dtype, i)))
            bins->histogram->count[bin_of(bins, tg_decode(array->dtype, i))] += code[i];
    free(code);
    return TG_OK;
}

/* --- longer types --------------------------------------------------------------------------- */

/* One of the two passes over a block. */
typedef void (*pass_fn)(struct bins *bins, const double *value, int count);
typedef void (*long_pass_fn)(struct bins *bins, uint64_t order);

static void find_range(struct bins *bins, const double *value, int count)
{
    for (int i = 0; i < count; i++)
        if (!bins->has_range || value[i] < bins->least || value[i] > bins->most)
            if (isfinite(value[i]))
                widen(bins, value[i]);
}

static void count_values(struct bins *bins, const double *value, int count)
{
    for (int i = 0; i < count; i++)
        if (isfinite(value[i]))
            bins->histogram->count[bin_of(bins, value[i])]++;
}

static void count_long(struct bins *bins, uint64_t order)
{
    bins->histogram->count[(order - bins->low) / bins->width]++;
}

static void pass_block(struct bins *bins, struct tg_elements *reader, uint64_t at, int count,
                       pass_fn pass, long_pass_fn long_pass)
{
    double value[TG_BLOCK];
    if (!bins->is_long) {
        (void)tg_elements_read(reader, at, 1, count, value);
        pass(bins, value, count);
        return;
    }
    const void *bytes = tg_elements_packed(reader, at, 1, count);
    for (int i = 0; i < count; i++)
        long_pass(bins, order_of(bins->dtype, tg_load_bits(bins->dtype, bytes, i)));
}

/* Returns how many of the `elements` were passed before `asked` said not to go on. */
static uint64_t pass_all(struct bins *bins, struct tg_elements *reader, uint64_t elements,
                         const struct tg_array_asked *asked, pass_fn pass, long_pass_fn long_pass)
{
    uint64_t at = 0;
    for (bool goes_on = true; at < elements && goes_on;) {
        int count = elements - at < TG_BLOCK ? (int)(elements - at) : TG_BLOCK;
        pass_block(bins, reader, at, count, pass, long_pass);
        tg_bytes_were_read(reader->bytes + at * reader->bits / 8, (size_t)count * reader->bits / 8);
        at += (uint64_t)count;
        goes_on = at % ASKED != 0 || asked->goes_on(asked->context);
    }
    return at;
}

static void make_long(const struct tg_array *array, unsigned wanted,
                      const struct tg_array_asked asked[2], struct bins *bins)
{
    struct tg_elements reader;
    tg_elements_init(&reader, array);
    uint64_t passed =
        pass_all(bins, &reader, (uint64_t)array->elements, &asked[0], find_range, widen_long);
    divide(bins, wanted);
    if (bins->has_range)
        passed = pass_all(bins, &reader, passed, &asked[1], count_values, count_long);
    bins->histogram->looked_at = passed;
}

tg_status tg_histogram_make(const struct tg_array *array, unsigned wanted,
                            const struct tg_array_asked asked[2], struct tg_histogram *histogram,
                            struct tg_error *error)
{
    struct bins bins = {.dtype = array->dtype,
                        .is_whole = !tg_dtype_is_float((int)array->dtype),
                        .is_long = array->dtype == TG_INT64 || array->dtype == TG_UINT64,
                        .histogram = histogram};
    memset(histogram, 0, sizeof *histogram);
    if (tg_bits_of(array->dtype) <= SHORT_BITS)
        return make_short(array, wanted, &asked[1], &bins, error);
    make_long(array, wanted, asked, &bins);
    return TG_OK;
}
