/* SPDX-License-Identifier: Apache-2.0 */
#include "host/content.h"
#include "common/gather.h"
#include "common/hash.h"
#include <stdlib.h>
#include <taskglass/tensor.h>

/* Read, hash and write this many bytes at a time, so that no copy of a whole tensor is needed beside
 * its storage. */
enum { PIECE = 1 << 20 };

struct source {
    struct tg_device *device;
    const struct tg_tensor *tensor;
    bool straight; /* the elements are one run of whole bytes */
    char *storage; /* a copy of the whole storage, for a view that must be gathered */
    char *piece;
};

/* A 4-bit view may begin or end in the middle of a byte, whose other half is not part of it. */
static bool is_straight(const struct tg_tensor *t)
{
    return tg_tensor_contiguous(t) && tg_bits_of(t->dtype) >= 8;
}

static bool open_source(struct source *s)
{
    const struct tg_tensor *t = s->tensor;
    if (!tg_tensor_valid(t) || (s->piece = malloc(PIECE)) == NULL)
        return false;
    s->straight = is_straight(t);
    if (s->straight || tg_tensor_numel(t) == 0)
        return true;
    s->storage = malloc(t->storage_bytes);
    return s->storage != NULL &&
           tg_device_copy_out(s->device, s->storage, t->addr, t->storage_bytes, NULL) == TG_OK;
}

static void close_source(struct source *s)
{
    free(s->storage);
    free(s->piece);
}

/* Gets `count` elements from `first` on into the piece. */
static bool get_piece(struct source *s, int64_t first, int64_t count)
{
    const struct tg_tensor *t = s->tensor;
    if (!s->straight) {
        tg_gather(s->piece, s->storage, t, first, count);
        return true;
    }
    return tg_device_copy_out(s->device, s->piece,
                              t->addr + tg_bytes_of(t->dtype, t->start + first),
                              tg_bytes_of(t->dtype, count), NULL) == TG_OK;
}

/* False if a piece could not be read or written. */
static bool take_pieces(struct source *s, struct tg_dump_writer *writer, uint64_t position,
                        struct tg_hash *hash)
{
    unsigned dtype = s->tensor->dtype;
    int64_t total = tg_tensor_numel(s->tensor);
    int64_t most = (int64_t)PIECE * 8 / tg_bits_of(dtype);
    for (int64_t first = 0; first < total; first += most) {
        int64_t count = total - first < most ? total - first : most;
        uint64_t size = tg_bytes_of(dtype, count);
        if (!get_piece(s, first, count))
            return false;
        tg_hash_update(hash, s->piece, size);
        if (writer != NULL &&
            !tg_dump_payload(writer, position + tg_bytes_of(dtype, first), s->piece, size))
            return false;
    }
    return true;
}

void tg_content_take(struct tg_device *device, const struct tg_tensor *tensor,
                     struct tg_dump_writer *writer, struct tg_record *record)
{
    struct source source = {.device = device, .tensor = tensor};
    uint64_t position = writer ? tg_dump_reserve(writer, record->bytes) : 0;
    struct tg_hash hash;
    bool good;
    tg_hash_init(&hash);
    good = open_source(&source) && take_pieces(&source, writer, position, &hash);
    close_source(&source);
    if (!good) {
        record->flags = (uint16_t)(record->flags | TG_RECORD_PAYLOAD | TG_RECORD_TRUNCATED);
        return;
    }
    record->hash = tg_hash_final(&hash, record->bytes);
    record->flags = (uint16_t)(record->flags | TG_RECORD_HASHED);
    if (writer != NULL) {
        record->flags = (uint16_t)(record->flags | TG_RECORD_PAYLOAD);
        record->stored = record->bytes;
        record->position = record->stored > 0 ? position : 0;
    }
}
