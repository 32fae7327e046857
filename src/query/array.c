/* SPDX-License-Identifier: Apache-2.0 */
#include "query/array.h"

#include <math.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "recording/record.h"

static void take_scalar(const struct tg_entry *entry, struct tg_array *array)
{
    array->elements = 1;
    array->bytes = &entry->record.value;
    array->size = tg_bytes_of(array->dtype, 1);
}

/* What is there of a tensor that was cut off has no shape but a length. */
static void take_first(uint64_t stored, struct tg_array *array)
{
    array->cut = true;
    array->elements = (int64_t)(stored * 8 / tg_bits_of(array->dtype));
    array->ndim = 1;
    array->shape[0] = array->elements;
    array->size = tg_bytes_of(array->dtype, array->elements);
}

bool tg_array_of(const struct tg_recording *recording, const struct tg_entry *entry,
                 struct tg_array *array)
{
    const struct tg_record *record = &entry->record;
    *array = (struct tg_array){.dtype = record->dtype, .ndim = record->ndim};
    if (!tg_dtype_valid(record->dtype))
        return false;
    array->elements = tg_record_numel(record);
    if (record->kind == TG_KIND_SCALAR) {
        array->ndim = 0;
        take_scalar(entry, array);
        return true;
    }
    for (int i = 0; i < array->ndim; i++)
        array->shape[i] = record->shape[i];
    array->size = tg_bytes_of(array->dtype, array->elements);
    if (array->size == 0)
        return true;
    array->bytes = tg_recording_payload(recording, entry);
    if (!array->bytes || record->stored == 0)
        return false;
    if (record->stored < array->size)
        take_first(record->stored, array);
    return array->elements > 0;
}

/* Sums in the order of the elements; `long double` keeps the mean of 2^24 floats exact enough to
 * print. */
struct measure {
    struct tg_array_statistics *statistics;
    unsigned dtype;
    long double sum;
};

/* 64-bit integers are not exact as doubles, so they compare as what they are. */
static bool is_less(unsigned dtype, uint64_t a, uint64_t b)
{
    if (dtype == TG_INT64)
        return (int64_t)a < (int64_t)b;
    if (dtype == TG_UINT64)
        return a < b;
    return tg_decode(dtype, a) < tg_decode(dtype, b);
}

static void measure_range(struct measure *measure, uint64_t bits)
{
    struct tg_array_statistics *statistics = measure->statistics;
    if (!statistics->has_range || is_less(measure->dtype, bits, statistics->least))
        statistics->least = bits;
    if (!statistics->has_range || is_less(measure->dtype, statistics->most, bits))
        statistics->most = bits;
    statistics->has_range = true;
}

static void measure_element(struct measure *measure, uint64_t bits)
{
    struct tg_array_statistics *statistics = measure->statistics;
    double value = tg_decode(measure->dtype, bits);
    if (isnan(value)) {
        statistics->nan++;
        return;
    }
    measure_range(measure, bits);
    if (isinf(value)) {
        statistics->infinite++;
        return;
    }
    statistics->zero += value == 0;
    statistics->finite++;
    measure->sum += (long double)value;
}

void tg_array_measure(const struct tg_array *array, struct tg_array_statistics *statistics)
{
    struct measure measure = {.statistics = statistics, .dtype = array->dtype};
    *statistics = (struct tg_array_statistics){0};
    for (int64_t i = 0; i < array->elements; i++)
        measure_element(&measure, tg_load_bits(array->dtype, array->bytes, i));
    if (statistics->finite > 0)
        statistics->mean = (double)(measure.sum / (long double)statistics->finite);
}
