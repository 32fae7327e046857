/* SPDX-License-Identifier: Apache-2.0 */
#include <taskglass/array.h>

#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "base/files.h"
#include "query/array_pass.h"
#include "recording/record.h"

static void take_scalar(const struct tg_entry *entry, struct tg_array *array)
{
    array->elements = 1;
    array->bytes = &entry->record.value;
    array->size = tg_bytes_of(array->dtype, 1);
}

/* A truncated tensor is given as one dimension with the elements that are stored. */
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
    if (recording == NULL || entry == NULL || array == NULL)
        return false;
    const struct tg_record *record = &entry->record;
    *array = (struct tg_array){.dtype = record->dtype, .ndim = record->ndim};
    if (!tg_dtype_valid(record->dtype) || record->flags & TG_RECORD_NO_VALUE)
        return false;
    array->elements = tg_record_numel(record);
    if (array->elements < 0)
        return false;
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

void tg_array_count_read(const struct tg_array *array)
{
    uint64_t most = tg_bytes_of(array->dtype, TG_PASS);
    tg_bytes_were_read(array->bytes, (size_t)(array->size < most ? array->size : most));
}
