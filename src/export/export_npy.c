/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   "\x93NUMPY" 1 0 │ u16 length │ {'descr': '<f4', …} filled up with spaces, "\n" │ elements
 *   └──────────────────── a multiple of 64 bytes ────────────────────────────────┘
 */
#include "export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/tensor.h>

#include "base/error.h"
#include "base/files.h"
#include "export/export_job.h"
#include "query/npy_type.h"

enum { HEAD_ROOM = 384, PREFIX = 10, PIECE = 4096 };

struct head {
    char bytes[HEAD_ROOM];
    size_t size;
};

const char *tg_export_type(unsigned dtype)
{
    return tg_dtype_name((int)tg_npy_held_as(dtype));
}

/* Python's tuple: "()", "(3,)", "(3, 4)". */
static void put_shape(char *text, size_t room, const struct tg_array *array)
{
    size_t at = (size_t)snprintf(text, room, "(");
    for (int i = 0; i < array->ndim; i++)
        at += (size_t)snprintf(text + at, room - at, "%s%" PRId64, i > 0 ? ", " : "",
                               array->shape[i]);
    snprintf(text + at, room - at, array->ndim == 1 ? ",)" : ")");
}

static void make_head(const struct tg_array *array, struct head *head)
{
    char shape[TG_MAX_DIMS * 22 + 4];
    struct tg_npy_descr descr;
    put_shape(shape, sizeof shape, array);
    int length = snprintf(head->bytes + PREFIX, sizeof head->bytes - PREFIX,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                          tg_npy_descr_of(array->dtype, &descr), shape);
    head->size = (PREFIX + (size_t)length + 1 + 63) / 64 * 64;
    memset(head->bytes + PREFIX + length, ' ', head->size - PREFIX - (size_t)length - 1);
    head->bytes[head->size - 1] = '\n';
    memcpy(head->bytes, "\x93NUMPY\1\0", 8);
    head->bytes[8] = (char)((head->size - PREFIX) & 0xff);
    head->bytes[9] = (char)((head->size - PREFIX) >> 8);
}

static bool is_packed(const struct tg_array *array)
{
    return tg_bits_of(array->dtype) < 8;
}

uint64_t tg_export_npy_size(const struct tg_array *array)
{
    struct head head;
    make_head(array, &head);
    return head.size + (is_packed(array) ? (uint64_t)array->elements : array->size);
}

/* Writes the two elements of each byte, the low nibble first. */
static bool unpack(const struct tg_array *array, tg_export_piece_fn take, void *context)
{
    const unsigned char *bytes = array->bytes;
    unsigned char piece[PIECE];
    for (int64_t done = 0; done < array->elements; done += PIECE) {
        int64_t left = array->elements - done, n = left < PIECE ? left : PIECE;
        for (int64_t i = 0; i < n; i++)
            piece[i] = bytes[(done + i) / 2] >> (i % 2 * 4) & 0xf;
        if (!take(context, piece, (size_t)n))
            return false;
        tg_bytes_were_read(bytes + done / 2, (size_t)n / 2);
    }
    return true;
}

static bool give(const struct tg_array *array, tg_export_piece_fn take, void *context)
{
    const unsigned char *bytes = array->bytes;
    for (uint64_t at = 0; at < array->size; at += TG_READ_PIECE) {
        uint64_t left = array->size - at;
        size_t piece = left < TG_READ_PIECE ? (size_t)left : TG_READ_PIECE;
        if (!take(context, bytes + at, piece))
            return false;
        tg_bytes_were_read(bytes + at, piece);
    }
    return true;
}

bool tg_export_npy_pieces(const struct tg_array *array, tg_export_piece_fn take, void *context)
{
    struct head head;
    make_head(array, &head);
    if (!take(context, head.bytes, head.size))
        return false;
    return is_packed(array) ? unpack(array, take, context) : give(array, take, context);
}

/* Where the bytes go, and whom to ask. */
struct target {
    FILE *file;
    struct tg_export_job *job;
};

static bool write_piece(void *context, const void *bytes, size_t size)
{
    const struct target *target = context;
    return (!target->job || tg_export_tell(target->job)) &&
           fwrite(bytes, 1, size, target->file) == size;
}

tg_status tg_export_npy(FILE *file, const struct tg_array *array, struct tg_export_job *job,
                        struct tg_error *error)
{
    struct target target = {file, job};
    if (tg_export_npy_pieces(array, write_piece, &target))
        return TG_OK;
    return tg_export_failed(job, error);
}
