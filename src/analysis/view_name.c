/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/view_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <taskglass/dtype.h>
#include <taskglass/tensor.h>

enum { NAME = 150 };

/* --- slices ------------------------------------------------------------------------------------- */

/* Where a view lies in a tensor of the case: an index, or a range of one, for each dimension. */
struct slice {
    int ndim;
    int64_t at[TG_MAX_DIMS], count[TG_MAX_DIMS], step[TG_MAX_DIMS], length[TG_MAX_DIMS];
};

/* The dimension of the tensor that a dimension of the view goes along: the widest that its stride is a whole
 * number of steps of, and whose end it does not pass. -1: none, as after a reshape. */
static int dimension_along(const struct slice *slice, const int64_t *strides, int64_t count,
                           int64_t stride)
{
    int found = -1;
    for (int k = 0; k < slice->ndim; k++)
        if (strides[k] > 0 && stride > 0 && stride % strides[k] == 0 && slice->count[k] == 1 &&
            (found < 0 || strides[k] > strides[found]) && slice->length[k] > 1 &&
            count - 1 <= (slice->length[k] - 1 - slice->at[k]) / (stride / strides[k]))
            found = k;
    return found;
}

/* `record` is that of the whole tensor, which is row-major and has elements. False if the view is no slice of
 * it. */
static bool find_slice(const struct tg_record *record, const struct tg_tensor *view,
                       struct slice *slice)
{
    const int64_t size = tg_bits_of(view->dtype) / 8;
    *slice = (struct slice){.ndim = record->ndim};
    if (record->dtype != view->dtype || size == 0 || view->addr < record->data_ptr ||
        (view->addr - record->data_ptr) % (uint64_t)size != 0)
        return false;
    /* Both starts come from a file. */
    int64_t offset = (int64_t)((view->addr - record->data_ptr) / (uint64_t)size);
    if (__builtin_add_overflow(offset, view->start, &offset) ||
        __builtin_sub_overflow(offset, record->start, &offset))
        return false;
    for (int i = 0; i < record->ndim; i++) {
        if (offset < 0 || record->strides[i] <= 0 || record->shape[i] <= 0)
            return false;
        slice->length[i] = record->shape[i];
        slice->count[i] = slice->step[i] = 1;
        slice->at[i] = record->shape[i] > 1 ? offset / record->strides[i] : 0;
        offset -= slice->at[i] * record->strides[i];
        if (slice->at[i] >= record->shape[i])
            return false;
    }
    for (int i = 0; i < view->ndim; i++) {
        if (view->shape[i] == 1)
            continue;
        int along = dimension_along(slice, record->strides, view->shape[i], view->strides[i]);
        if (along < 0)
            return false;
        slice->count[along] = view->shape[i];
        slice->step[along] = view->strides[i] / record->strides[along];
    }
    return offset == 0;
}

static size_t put_dimension(const struct slice *slice, int i, char *text, size_t room)
{
    int64_t end = slice->at[i] + (slice->count[i] - 1) * slice->step[i] + 1;
    int n;
    if (slice->count[i] == 1 && slice->length[i] > 1)
        n = snprintf(text, room, "%" PRId64, slice->at[i]);
    else if (slice->count[i] == slice->length[i])
        n = snprintf(text, room, ":");
    else if (slice->step[i] == 1)
        n = snprintf(text, room, "%" PRId64 ":%" PRId64, slice->at[i], end);
    else
        n = snprintf(text, room, "%" PRId64 ":%" PRId64 ":%" PRId64, slice->at[i], end,
                     slice->step[i]);
    return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

/* "x[0:16, 3]"; "x" for all of it. */
static void put_slice(const char *name, const struct slice *slice, char *text, size_t room)
{
    bool is_all = true;
    size_t at = (size_t)snprintf(text, room, "%.*s", NAME, name);
    for (int i = 0; i < slice->ndim; i++)
        is_all = is_all && slice->count[i] == slice->length[i];
    for (int i = 0; !is_all && i < slice->ndim && at + 64 < room; i++) {
        at += (size_t)snprintf(text + at, room - at, "%s", i == 0 ? "[" : ", ");
        at += put_dimension(slice, i, text + at, room - at);
    }
    if (!is_all)
        snprintf(text + at, room - at, "]");
}

/* --- names -------------------------------------------------------------------------------------- */

bool tg_view_hull(const struct tg_tensor *view, int64_t *lo, int64_t *hi)
{
    int64_t first, last;
    unsigned bits = tg_bits_of(view->dtype);
    if (bits == 0 || !tg_tensor_footprint(view, &first, &last) || last > INT64_MAX / 256 ||
        first < INT64_MIN / 256)
        return false;
    *lo = first * (int64_t)bits / 8;
    *hi = ((last + 1) * (int64_t)bits + 7) / 8;
    return true;
}

bool tg_view_name(const struct tg_recording *recording, const struct tg_sources *sources,
                  const struct tg_tensor *view, char *text, size_t room)
{
    const struct tg_object *object = tg_sources_object(sources, view->addr);
    struct tg_entry entry;
    struct slice slice;
    char name[NAME];
    int64_t lo, hi;
    *text = '\0';
    if (!object)
        return false;
    if (*object->name || object->arg == TG_NO_ARGUMENT)
        snprintf(name, sizeof name, "%s", *object->name ? object->name : "a tensor of the case");
    else
        snprintf(name, sizeof name, "argument %" PRIu32 " of the orchestration", object->arg);
    if (object->record != TG_NONE && tg_recording_get(recording, object->record, &entry) &&
        find_slice(&entry.record, view, &slice))
        put_slice(name, &slice, text, room);
    else if (tg_view_hull(view, &lo, &hi))
        snprintf(text, room, "%s, bytes %" PRIu64 " to %" PRIu64, name,
                 view->addr - object->address + (uint64_t)lo,
                 view->addr - object->address + (uint64_t)hi);
    else
        snprintf(text, room, "%s", name);
    return true;
}
