/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/npy.h>
#include <taskglass/numeric.h>

#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/names.h"
#include "query/npy_type.h"

struct tg_npy_file {
    char *path; /* for messages */
    struct tg_map map;
    struct tg_npy *array;
    uint32_t n;
    size_t room;
};

static tg_status bad(const char *path, const char *what, struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT, "%s: %s", path, what);
}

static uint32_t little(const unsigned char *bytes, int n)
{
    uint32_t value = 0;
    for (int i = n - 1; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

/* ── the header of an array ────────────────────────────────────────────────────────────── */

static unsigned dtype_of(const char *descr)
{
    struct tg_npy_descr known;
    for (unsigned dtype = TG_DTYPE_NONE + 1; dtype < TG_DTYPE_END; dtype++)
        if (tg_npy_held_as(dtype) == dtype && strcmp(tg_npy_descr_of(dtype, &known), descr) == 0)
            return dtype;
    return TG_DTYPE_NONE;
}

/* The text after a key of the header's dictionary; NULL if the key is missing. */
static const char *find_key(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    if (at == NULL)
        return NULL;
    at += strlen(key);
    at += strspn(at, " :");
    return at;
}

static bool read_shape(const char *at, struct tg_npy *array)
{
    if (*at++ != '(')
        return false;
    array->elements = 1;
    for (;;) {
        char *end;
        long long extent;
        at += strspn(at, " ,");
        if (*at == ')')
            return true;
        extent = strtoll(at, &end, 10);
        if (end == at || extent < 0 || array->ndim == TG_MAX_DIMS ||
            (extent > 0 && array->elements > ((int64_t)1 << 48) / extent))
            return false;
        array->shape[array->ndim++] = extent;
        array->elements *= extent;
        at = end;
    }
}

/* "\x93NUMPY", version, length, a Python dictionary, the elements. */
static const char *parse(const unsigned char *bytes, size_t size, struct tg_npy *array)
{
    char header[1024], descr[16] = "";
    const char *at;
    size_t length, start;
    if (size < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return "is not an array that NumPy saved";
    start = bytes[6] == 1 ? 10 : 12;
    length = little(bytes + 8, bytes[6] == 1 ? 2 : 4);
    if (length >= sizeof header || start + length > size)
        return "has a header that is too long";
    memcpy(header, bytes + start, length);
    header[length] = '\0';
    at = find_key(header, "'descr'");
    if (at == NULL || sscanf(at, "'%15[^']'", descr) != 1)
        return "has no element type";
    array->dtype = dtype_of(descr);
    if (array->dtype == TG_DTYPE_NONE)
        return "has an element type that Taskglass lacks; save it as float64";
    at = find_key(header, "'fortran_order'");
    array->fortran = at != NULL && strncmp(at, "True", 4) == 0;
    at = find_key(header, "'shape'");
    if (at == NULL || !read_shape(at, array))
        return "has no valid shape";
    array->bytes = bytes + start + length;
    if (tg_bytes_of(array->dtype, array->elements) > size - start - length)
        return "ends before its last element";
    return NULL;
}

/* ── a zip of arrays ───────────────────────────────────────────────────────────────────── */

static tg_status add(struct tg_npy_file *file, const char *path, const char *name, size_t length,
                     const unsigned char *bytes, size_t size, struct tg_error *error)
{
    struct tg_npy *array;
    const char *wrong;
    if (!tg_grow(&file->array, &file->room, (size_t)file->n + 1, sizeof *file->array))
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    array = &file->array[file->n];
    memset(array, 0, sizeof *array);
    if (length > 4 && memcmp(name + length - 4, ".npy", 4) == 0)
        length -= 4;
    tg_name_clean(name, length, array->name, sizeof array->name); /* it is shown */
    wrong = parse(bytes, size, array);
    if (wrong != NULL)
        return tg_error_set(error, TG_BAD_ARGUMENT, "%s: %s%s%s", path, array->name,
                            *array->name ? " " : "", wrong);
    file->n++;
    return TG_OK;
}

/* Reads the local headers one after the other; their sizes may be in a ZIP64 extra field. */
static tg_status read_zip(struct tg_npy_file *file, const char *path, struct tg_error *error)
{
    const unsigned char *bytes = file->map.bytes;
    size_t size = file->map.size, at = 0;
    while (size - at >= 30 && little(bytes + at, 4) == 0x04034b50) {
        uint64_t stored = little(bytes + at + 18, 4);
        size_t name = little(bytes + at + 26, 2), extra = little(bytes + at + 28, 2);
        size_t data = at + 30 + name + extra;
        tg_status status;
        if (little(bytes + at + 8, 2) != 0)
            return bad(path, "is compressed; save it with np.savez", error);
        if (little(bytes + at + 6, 2) & 8)
            return bad(path, "was written as a stream, without sizes; save it with np.savez",
                       error);
        if (data > size)
            return bad(path, "is cut off", error);
        if (stored == UINT32_MAX && extra >= 20)
            stored = (uint64_t)little(bytes + at + 30 + name + 16, 4) << 32 |
                     little(bytes + at + 30 + name + 12, 4);
        if (stored > size - data)
            return bad(path, "is cut off", error);
        status = add(file, path, (const char *)bytes + at + 30, name, bytes + data, (size_t)stored,
                     error);
        if (status != TG_OK)
            return status;
        at = data + (size_t)stored;
    }
    return file->n > 0 ? TG_OK : bad(path, "has no arrays", error);
}

tg_status tg_npy_open(const char *path, struct tg_npy_file **out, struct tg_error *error)
{
    TG_REFUSE_NULL_AS(error, out, "file");
    *out = NULL;
    TG_REFUSE_NULL(error, path);
    struct tg_npy_file *file = calloc(1, sizeof *file);
    tg_status status;
    int cause;
    if (file == NULL || (file->path = strdup(path)) == NULL) {
        free(file);
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    }
    cause = tg_map_open(path, TG_LINKS_FOLLOW, &file->map);
    if (cause != 0)
        status = tg_file_error(error, "read", path, cause);
    else if (file->map.size >= 4 && little(file->map.bytes, 4) == 0x04034b50)
        status = read_zip(file, path, error);
    else
        status = add(file, path, "", 0, file->map.bytes, file->map.size, error);
    if (tg_map_check(&file->map) != 0) /* which explains whatever went wrong */
        status = tg_npy_check_file(file, error);
    if (status != TG_OK)
        tg_npy_close(file);
    else
        *out = file;
    return status;
}

void tg_npy_close(struct tg_npy_file *file)
{
    if (file == NULL)
        return;
    tg_map_close(&file->map);
    free(file->path);
    free(file->array);
    free(file);
}

tg_status tg_npy_check_file(const struct tg_npy_file *file, struct tg_error *error)
{
    TG_REFUSE_NULL(error, file);
    return tg_map_report(&file->map, file->path, error);
}

const struct tg_npy *tg_npy_get(const struct tg_npy_file *file, uint32_t number)
{
    if (file == NULL)
        return NULL;
    return number < file->n ? &file->array[number] : NULL;
}

/* Of an array in Fortran's order, each element may lie in another page, and the kernel maps its neighbours
 * as well. */
static void count_read(const struct tg_npy *array, int64_t index)
{
    enum { ELEMENTS = 1 << 17, FAR_ELEMENTS = 1 << 10, FAR = 32 << 10, LARGE = 64 << 20 };
    uint64_t size = tg_bytes_of(array->dtype, array->elements);
    uint64_t most = tg_bytes_of(array->dtype, ELEMENTS);
    if (index % ELEMENTS == 0)
        tg_bytes_were_read(array->bytes, (size_t)(size < most ? size : most));
    if (array->fortran && size > LARGE && index % FAR_ELEMENTS == 0)
        tg_bytes_were_read(array->bytes, (size_t)FAR_ELEMENTS * FAR);
}

double tg_npy_value(const struct tg_npy *array, int64_t index)
{
    if (array == NULL)
        return NAN;
    int64_t at = index;
    if (index < 0 || index >= array->elements)
        return NAN;
    if (index % (1 << 10) == 0)
        count_read(array, index);
    if (array->fortran) {
        int64_t step[TG_MAX_DIMS] = {0}, n = 1;
        for (int d = 0; d < array->ndim && d < TG_MAX_DIMS; d++) {
            step[d] = n;
            n *= array->shape[d];
        }
        at = 0;
        for (int d = array->ndim - 1; d >= 0; d--) {
            at += index % array->shape[d] * step[d];
            index /= array->shape[d];
        }
    }
    return tg_load(array->dtype, array->bytes, at);
}
