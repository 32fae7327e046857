/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of the values of a tensor. Each block has its own mean and sum of squares, which are
 * joined by the method of Chan, Golub and LeVeque: exact enough for any number of elements, and
 * never the difference of two large numbers.
 */
#include "analysis/stats.h"

#include <math.h>
#include <string.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "analysis/compare_decode.h"
#include "base/error.h"
#include "base/files.h"

/* Elements between two questions whether to go on. */
enum { ASKED = 1 << 20 };

struct measure {
    struct tg_decoder decoder;
    struct tg_tensor_stats *stats;
    double normal;            /* smallest normal magnitude of the type */
    double least, most;       /* as doubles, which are not exact for 64-bit integers */
    long double mean, spread; /* spread: sum of squares around the mean */
    float narrow[TG_BLOCK];
    double value[TG_BLOCK];
};

/* 64-bit integers are not exact as doubles, so they are compared as integers. */
static bool is_less(unsigned dtype, uint64_t a, uint64_t b)
{
    if (dtype == TG_INT64)
        return (int64_t)a < (int64_t)b;
    if (dtype == TG_UINT64)
        return a < b;
    return tg_decode(dtype, a) < tg_decode(dtype, b);
}

static void widen(struct measure *measure, uint64_t bits)
{
    struct tg_tensor_stats *stats = measure->stats;
    unsigned dtype = measure->decoder.dtype;
    if (!stats->has_range || is_less(dtype, bits, stats->least))
        stats->least = bits;
    if (!stats->has_range || is_less(dtype, stats->most, bits))
        stats->most = bits;
    stats->has_range = true;
    measure->least = tg_decode(dtype, stats->least);
    measure->most = tg_decode(dtype, stats->most);
}

/* Goes through the elements one by one only if the block has a new minimum or maximum. */
static void find_range(struct measure *measure, const void *bytes, int count)
{
    const struct tg_decoder *decoder = &measure->decoder;
    bool is_exact = decoder->dtype != TG_INT64 && decoder->dtype != TG_UINT64;
    int news = !measure->stats->has_range || !is_exact;
    for (int i = 0; !news && i < count; i++)
        news |= (measure->value[i] < measure->least) | (measure->value[i] > measure->most);
    for (int i = 0; news && i < count; i++)
        if (!isnan(measure->value[i]) &&
            (!is_exact || !measure->stats->has_range || measure->value[i] < measure->least ||
             measure->value[i] > measure->most))
            widen(measure, tg_load_bits(decoder->dtype, bytes, i));
}

/* Keeps the finite values, in order. */
static int leave_out_specials(struct measure *measure, int count)
{
    struct tg_tensor_stats *stats = measure->stats;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        double value = measure->value[i];
        stats->nan += isnan(value) != 0;
        stats->infinite += isinf(value) != 0;
        if (isfinite(value))
            measure->value[kept++] = value;
    }
    for (int i = kept; i < tg_block_lanes(kept); i++)
        measure->value[i] = 0;
    return kept;
}

static void count_small(struct measure *measure, int count)
{
    uint64_t zero = 0, small = 0;
    for (int i = 0; i < count; i++) {
        zero += measure->value[i] == 0;
        small += fabs(measure->value[i]) < measure->normal;
    }
    measure->stats->zero += zero;
    measure->stats->denormal += measure->normal > 0 ? small - zero : 0;
}

static double sum_of(const double *value, int count)
{
    double lane[TG_BLOCK_LANES] = {0}, sum = 0;
    for (int i = 0; i < count; i += TG_BLOCK_LANES)
        for (int l = 0; l < TG_BLOCK_LANES; l++)
            lane[l] += value[i + l];
    for (int l = 0; l < TG_BLOCK_LANES; l++)
        sum += lane[l];
    return sum;
}

static double spread_of(const double *value, int count, double mean)
{
    double lane[TG_BLOCK_LANES] = {0}, sum = 0;
    int whole = count - count % TG_BLOCK_LANES;
    for (int i = 0; i < whole; i += TG_BLOCK_LANES)
        for (int l = 0; l < TG_BLOCK_LANES; l++)
            lane[l] += (value[i + l] - mean) * (value[i + l] - mean);
    for (int i = whole; i < count; i++)
        lane[0] += (value[i] - mean) * (value[i] - mean);
    for (int l = 0; l < TG_BLOCK_LANES; l++)
        sum += lane[l];
    return sum;
}

/* A sum of float64 values may be too large for a double. */
static void moments_of(const double *value, int count, long double *mean, long double *spread)
{
    double sum = sum_of(value, tg_block_lanes(count));
    double middle = sum / count, squares = spread_of(value, count, middle);
    *mean = (long double)middle;
    *spread = (long double)squares;
    if (isfinite(squares))
        return;
    *mean = *spread = 0;
    for (int i = 0; i < count; i++)
        *mean += (long double)value[i] / count;
    for (int i = 0; i < count; i++)
        *spread += ((long double)value[i] - *mean) * ((long double)value[i] - *mean);
}

static void add_moments(struct measure *measure, int count)
{
    struct tg_tensor_stats *stats = measure->stats;
    long double mean, spread, before = (long double)stats->finite;
    if (count == 0)
        return;
    moments_of(measure->value, count, &mean, &spread);
    long double all = before + count, step = mean - measure->mean;
    measure->mean += step * count / all;
    measure->spread += spread + step * step * before * count / all;
    stats->finite += (uint64_t)count;
}

static void measure_block(struct measure *measure, const void *bytes, int count)
{
    const struct tg_decoder *decoder = &measure->decoder;
    bool special;
    if (decoder->is_wide) {
        special = tg_decode_wide(decoder, bytes, count, measure->value);
    } else {
        special = tg_decode_narrow(decoder, bytes, count, measure->narrow);
        for (int i = 0; i < tg_block_lanes(count); i++)
            measure->value[i] = (double)measure->narrow[i];
    }
    find_range(measure, bytes, count);
    if (special)
        count = leave_out_specials(measure, count);
    count_small(measure, count);
    add_moments(measure, count);
}

/* Leaves the blocks as they are: clearing them would take longer than a small tensor. */
static void begin(unsigned dtype, uint64_t elements, struct tg_tensor_stats *stats,
                  struct measure *measure)
{
    *stats = (struct tg_tensor_stats){.elements = elements};
    tg_decoder_init(&measure->decoder, dtype);
    measure->stats = stats;
    measure->normal = tg_smallest_normal(dtype);
    measure->least = measure->most = 0;
    measure->mean = measure->spread = 0;
}

/* The number of elements that were measured: fewer than all if `asked`, which may be NULL, said not to go on. */
static uint64_t measure_blocks(struct measure *measure, const unsigned char *bytes,
                               uint64_t elements, const struct tg_array_asked *asked)
{
    const struct tg_decoder *decoder = &measure->decoder;
    const void *kept = bytes;
    uint64_t at = 0;
    bool goes_on = true;
    while (at < elements && goes_on) {
        int count = elements - at < TG_BLOCK ? (int)(elements - at) : TG_BLOCK;
        const unsigned char *block = bytes + tg_decoder_bytes(decoder, at);
        measure_block(measure, block, count);
        tg_bytes_reach(&kept, block);
        at += (uint64_t)count;
        goes_on = !asked || at % ASKED != 0 || asked->goes_on(asked->context);
    }
    if (at > 0) /* else there may be no bytes at all */
        tg_bytes_were_read(
            kept, (size_t)(bytes + tg_decoder_bytes(decoder, at) - (const unsigned char *)kept));
    return at;
}

/* False if `asked` said not to go on. */
static bool measure_all(unsigned dtype, const unsigned char *bytes, uint64_t elements,
                        const struct tg_array_asked *asked, struct tg_tensor_stats *stats)
{
    struct measure measure;
    begin(dtype, elements, stats, &measure);
    stats->elements = measure_blocks(&measure, bytes, elements, asked);
    stats->mean = stats->finite > 0 ? (double)measure.mean : NAN;
    stats->deviation =
        stats->finite > 0 ? (double)sqrtl(measure.spread / (long double)stats->finite) : NAN;
    return stats->elements == elements;
}

bool tg_array_measure_asking(const struct tg_array *array, const struct tg_array_asked *asked,
                             struct tg_tensor_stats *stats)
{
    return measure_all(array->dtype, array->bytes, (uint64_t)array->elements, asked, stats);
}

tg_status tg_tensor_measure(int dtype, const void *bytes, int64_t elements,
                            struct tg_tensor_stats *stats, struct tg_error *error)
{
    TG_REFUSE_NULL(error, stats);
    if (bytes == NULL && elements > 0)
        return tg_error_null(error, __func__, "bytes");
    if (!tg_dtype_valid(dtype))
        return tg_error_set(error, TG_BAD_ARGUMENT, "%d is not a dtype", dtype);
    if (elements < 0)
        return tg_error_set(error, TG_BAD_ARGUMENT, "an array cannot have %lld elements",
                            (long long)elements);
    (void)measure_all((unsigned)dtype, bytes, (uint64_t)elements, NULL, stats);
    return TG_OK;
}

bool tg_entry_measure(const struct tg_recording *recording, const struct tg_entry *entry,
                      struct tg_tensor_stats *stats)
{
    if (recording == NULL || entry == NULL || stats == NULL)
        return false;
    struct tg_array array;
    if (!tg_array_of(recording, entry, &array))
        return false;
    return measure_all(array.dtype, array.bytes, (uint64_t)array.elements, NULL, stats);
}
