/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "export/export_job.h"
#include "export/export_zip.h"
#include "query/npy_write.h"

struct tg_npz {
    FILE *file;
    struct tg_export_job *job; /* may be NULL */
    uint64_t offset;           /* written so far */
    struct tg_zip_entry *entry;
    size_t count, room;
    struct tg_crc crc;
};

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory for the archive's list of names");
}

tg_status tg_export_npz_begin(FILE *file, struct tg_export_job *job, struct tg_npz **npz,
                              struct tg_error *error)
{
    *npz = calloc(1, sizeof **npz);
    if (!*npz)
        return no_memory(error);
    (*npz)->file = file;
    (*npz)->job = job;
    tg_crc_init(&(*npz)->crc);
    return TG_OK;
}

static struct tg_zip_entry *add_entry(struct tg_npz *npz)
{
    if (!tg_grow(&npz->entry, &npz->room, npz->count + 1, sizeof *npz->entry))
        return NULL;
    return &npz->entry[npz->count++];
}

static bool goes_on(const struct tg_npz *npz)
{
    return !npz->job || tg_export_tell(npz->job);
}

static bool write_piece(void *context, const void *bytes, size_t size)
{
    struct tg_npz *npz = context;
    npz->offset += size;
    return goes_on(npz) && fwrite(bytes, 1, size, npz->file) == size;
}

struct checksum {
    const struct tg_npz *npz;
    uint32_t value;
};

static bool check_piece(void *context, const void *bytes, size_t size)
{
    struct checksum *sum = context;
    sum->value = tg_crc_update(&sum->npz->crc, sum->value, bytes, size);
    return goes_on(sum->npz);
}

/* The checksum stands before the bytes, so the bytes are read twice; the second time they are in
 * the cache, or at least in memory. */
tg_status tg_export_npz_add(struct tg_npz *npz, const char *name, const struct tg_array *array,
                            struct tg_error *error)
{
    unsigned char part[TG_ZIP_PART];
    struct checksum sum = {.npz = npz};
    struct tg_zip_entry *entry = add_entry(npz);
    if (!entry)
        return no_memory(error);
    if (!tg_npy_pieces(array, check_piece, &sum))
        return tg_export_failed(npz->job, error);
    *entry = (struct tg_zip_entry){.crc = sum.value, .offset = npz->offset};
    entry->size = tg_npy_size(array);
    snprintf(entry->name, sizeof entry->name, "%.*s.npy", TG_ZIP_NAME - 5, name);
    if (write_piece(npz, part, tg_zip_local_head(entry, part)) &&
        tg_npy_pieces(array, write_piece, npz))
        return TG_OK;
    return tg_export_failed(npz->job, error);
}

tg_status tg_export_npz_end(struct tg_npz *npz, struct tg_error *error)
{
    unsigned char part[TG_ZIP_PART], end[TG_ZIP_END];
    uint64_t start = npz->offset;
    bool good = true;
    for (size_t i = 0; good && i < npz->count; i++)
        good = write_piece(npz, part, tg_zip_central_head(&npz->entry[i], part));
    good = good && write_piece(npz, end, tg_zip_end(npz->count, start, npz->offset - start, end));
    if (good && fflush(npz->file) == 0)
        return TG_OK;
    return tg_export_failed(npz->job, error);
}

void tg_export_npz_free(struct tg_npz *npz)
{
    if (npz)
        free(npz->entry);
    free(npz);
}
