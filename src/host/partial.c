/* SPDX-License-Identifier: Apache-2.0 */
#include "host/partial.h"
#include "common/gather.h"
#include "common/hash.h"
#include "common/select.h"
#include <stdlib.h>

/* Pack, hash and write this many bytes at a time, so that no packed copy of a whole tensor is
 * needed beside its storage. */
enum { PIECE = 1 << 20 };

/* Copies the view's storage to the host. NULL if host memory runs out or the copy fails. */
static char *fetch_storage(struct tg_device *device, const struct tg_tensor *t)
{
    char *storage = malloc(t->storage_bytes ? t->storage_bytes : 1);
    if (storage != NULL &&
        tg_device_copy_out(device, storage, t->addr, t->storage_bytes, NULL) != TG_OK) {
        free(storage);
        return NULL;
    }
    return storage;
}

/* Hashes the view's elements and, if `payload` is set, also writes them to the payload file. False
 * if a write failed. */
static bool take_content(const struct tg_tensor *t, const char *storage, char *piece,
                         struct tg_dump_writer *writer, bool payload, struct tg_record *r)
{
    bool nibbles = tg_bits_of(t->dtype) < 8;
    int64_t total = tg_tensor_numel(t);
    int64_t per_piece = nibbles ? 2 * PIECE : PIECE / (tg_bits_of(t->dtype) / 8);
    struct tg_hash hash;
    uint64_t position = payload ? tg_dump_reserve(writer, r->bytes) : 0;
    tg_hash_init(&hash);
    for (int64_t first = 0; first < total; first += per_piece) {
        int64_t count = total - first < per_piece ? total - first : per_piece;
        uint64_t size = tg_bytes_of(t->dtype, count);
        tg_gather(piece, storage, t, first, count);
        tg_hash_update(&hash, piece, size);
        if (payload &&
            !tg_dump_payload(writer, position + tg_bytes_of(t->dtype, first), piece, size))
            return false;
    }
    r->hash = tg_hash_final(&hash, r->bytes);
    r->flags = (uint16_t)(r->flags | TG_RECORD_HASHED);
    if (payload) {
        r->flags = (uint16_t)(r->flags | TG_RECORD_PAYLOAD);
        r->stored = r->bytes;
        r->position = r->stored > 0 ? position : 0;
    }
    return true;
}

static void record_output(struct tg_device *device, struct tg_dump_writer *writer,
                          const struct tg_subject *a, const struct tg_tensor *t, enum tg_want want)
{
    struct tg_record r;
    char *storage = NULL, *piece = NULL;
    tg_record_describe(&r, a);
    tg_record_describe_tensor(&r, t);
    r.flags = (uint16_t)(r.flags | TG_RECORD_PARTIAL);
    r.stream = UINT16_MAX; /* no stream: the host makes this record */
    if (want >= TG_WANT_HASH) {
        storage = fetch_storage(device, t);
        piece = malloc(PIECE);
        if (storage == NULL || piece == NULL ||
            !take_content(t, storage, piece, writer, want == TG_WANT_PAYLOAD, &r))
            r.flags = (uint16_t)(r.flags | TG_RECORD_PAYLOAD | TG_RECORD_TRUNCATED);
    }
    tg_dump_append(writer, &r);
    free(storage);
    free(piece);
}

uint64_t tg_partial_record(struct tg_record_area *area, struct tg_dump_writer *writer,
                           const struct tg_task_desc *desc, const struct tg_tensor *tensors)
{
    struct tg_subject a = {.desc = desc, .stage = TG_AFTER_COMPLETION};
    uint64_t matched[TG_MAX_FILTERS] = {0}, records = 0;
    for (uint32_t i = 0; i < desc->n_tensors; i++) {
        enum tg_want want;
        a.index = i;
        a.role = desc->roles >> (2 * i) & 3;
        if (!tg_role_has_stage(a.role, TG_AFTER_COMPLETION))
            continue;
        want = tg_wanted(&area->setup, area->kernel_filters, &a, matched);
        if (want == TG_WANT_NOTHING)
            continue;
        record_output(area->device, writer, &a, &tensors[i], want);
        records++;
    }
    return records;
}
