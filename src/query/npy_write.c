/* SPDX-License-Identifier: Apache-2.0 */
#include "query/npy_write.h"

#include <inttypes.h>
#include <string.h>
#include <taskglass/tensor.h>

#include "base/files.h"
#include "query/npy_type.h"

enum { PREFIX = 10, PIECE = 4096 };

const char *tg_npy_shape_of(const struct tg_array *array, struct tg_npy_shape *shape)
{
    char *text = shape->text;
    const size_t room = sizeof shape->text;
    size_t at = (size_t)snprintf(text, room, "(");
    for (int i = 0; i < array->ndim; i++)
        at += (size_t)snprintf(text + at, room - at, "%s%" PRId64, i > 0 ? ", " : "",
                               array->shape[i]);
    snprintf(text + at, room - at, array->ndim == 1 ? ",)" : ")");
    return text;
}

void tg_npy_head_make(const struct tg_array *array, struct tg_npy_head *head)
{
    struct tg_npy_shape shape;
    struct tg_npy_descr descr;
    int length = snprintf(head->bytes + PREFIX, sizeof head->bytes - PREFIX,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                          tg_npy_descr_of(array->dtype, &descr), tg_npy_shape_of(array, &shape));
    head->size = (PREFIX + (size_t)length + 1 + 63) / 64 * 64;
    memset(head->bytes + PREFIX + length, ' ', head->size - PREFIX - (size_t)length - 1);
    head->bytes[head->size - 1] = '\n';
    memcpy(head->bytes, "\x93NUMPY\1\0", 8);
    head->bytes[8] = (char)((head->size - PREFIX) & 0xff);
    head->bytes[9] = (char)((head->size - PREFIX) >> 8);
}

bool tg_npy_unpacks(unsigned dtype)
{
    return tg_bits_of(dtype) < 8;
}

uint64_t tg_npy_size(const struct tg_array *array)
{
    struct tg_npy_head head;
    tg_npy_head_make(array, &head);
    return head.size + (tg_npy_unpacks(array->dtype) ? (uint64_t)array->elements : array->size);
}

/* Gives the two elements of each byte, the low nibble first. */
static bool unpack(const struct tg_array *array, tg_npy_piece_fn take, void *context)
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

static bool give(const struct tg_array *array, tg_npy_piece_fn take, void *context)
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

bool tg_npy_pieces(const struct tg_array *array, tg_npy_piece_fn take, void *context)
{
    struct tg_npy_head head;
    tg_npy_head_make(array, &head);
    if (!take(context, head.bytes, head.size))
        return false;
    return tg_npy_unpacks(array->dtype) ? unpack(array, take, context) : give(array, take, context);
}
