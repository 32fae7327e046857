/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/record.h"

#include <stddef.h>
#include <string.h>
#include <taskglass/recording.h>
#include <taskglass/tensor.h>

#include "common/hash.h"

enum { KNOWN_FLAGS = ((TG_RECORD_MARKED << 1) - 1) | TG_RECORD_READ | TG_RECORD_NO_VALUE };

static uint32_t fold(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}

uint32_t tg_record_check(const void *record, size_t size)
{
    struct tg_hash hash;
    tg_hash_init(&hash);
    tg_hash_update(&hash, record, size);
    return fold(tg_hash_final(&hash, size));
}

uint32_t tg_journal_head_check(const struct tg_journal_head *head)
{
    struct tg_journal_head copy = *head;
    copy.check = 0;
    return tg_record_check(&copy, sizeof copy);
}

void tg_record_seal(void *record, size_t size)
{
    char *at = (char *)record + offsetof(struct tg_record, check);
    uint32_t check = 0;
    memcpy(at, &check, sizeof check);
    check = tg_record_check(record, size);
    memcpy(at, &check, sizeof check);
}

bool tg_record_intact(const void *record, size_t size)
{
    struct tg_record copy;
    uint32_t check;
    memcpy(&copy, record, size);
    check = copy.check;
    copy.check = 0;
    return check == tg_record_check(&copy, size);
}

int64_t tg_record_numel(const struct tg_record *record)
{
    int64_t n = 1;
    if (record->ndim > TG_MAX_DIMS)
        return -1;
    for (unsigned i = 0; i < record->ndim; i++) {
        int64_t size = record->shape[i];
        /* Divides only if the product may be above 2^58: a division costs more than all the rest. */
        if (((uint64_t)size | (uint64_t)n) >> 29 != 0 &&
            (size < 0 || (size > 0 && n > TG_MAX_ELEMENTS / size)))
            return -1;
        n *= size;
    }
    return n;
}

/* Checks the enums. A scalar may come without a role: it is an input. */
static bool confine_words(struct tg_record *record)
{
    bool sound = true;
    record->flags &= KNOWN_FLAGS;
    if (record->stage > TG_STAGE_ORCHESTRATION) {
        record->stage = TG_BEFORE_DISPATCH;
        sound = false;
    }
    if (record->kind > TG_KIND_SCALAR) {
        record->kind = TG_KIND_TENSOR;
        sound = false;
    }
    if (record->role < TG_IN || record->role > TG_INOUT) {
        sound = sound && record->role == 0 && record->kind == TG_KIND_SCALAR;
        record->role = TG_IN;
    }
    if (record->stage != TG_STAGE_ORCHESTRATION || record->kind != TG_KIND_SCALAR)
        record->flags &= (uint16_t)~TG_RECORD_READ;
    if (tg_bits_of(record->dtype) == 0) {
        record->dtype = TG_DTYPE_NONE;
        sound = false;
    }
    return sound;
}

static bool confine_shape(struct tg_record *record)
{
    if (record->kind == TG_KIND_TENSOR && tg_record_numel(record) >= 0)
        return true;
    bool sound = record->kind == TG_KIND_SCALAR && record->ndim == 0;
    record->ndim = 0;
    return sound;
}

/* A scalar without a type keeps all of its bits, because nobody knows which of them count. */
static void confine_scalar(struct tg_record *record)
{
    unsigned bits = tg_bits_of(record->dtype);
    if (record->flags & TG_RECORD_NO_VALUE)
        record->value = 0;
    else if (bits > 0 && bits < 64)
        record->value &= ((uint64_t)1 << bits) - 1;
    record->bytes = tg_bytes_of(record->dtype, 1);
    record->stored = 0;
    if (!(record->flags & TG_RECORD_READ))
        record->start = 0;
}

static void confine_payload(struct tg_record *record, bool sound, uint64_t payload_size)
{
    record->flags &= (uint16_t)~TG_RECORD_NO_VALUE;
    uint64_t bytes = sound ? tg_bytes_of(record->dtype, tg_record_numel(record)) : 0;
    if (record->bytes != bytes || record->stored > bytes) {
        record->bytes = bytes;
        record->stored = 0;
        sound = false;
    }
    if (record->position > payload_size) {
        sound = sound && record->stored == 0;
        record->stored = 0;
    } else if (record->stored > payload_size - record->position) {
        record->stored = payload_size - record->position;
        sound = false;
    }
    bool wanted = record->stored > 0 || (record->flags & TG_RECORD_PAYLOAD);
    if (record->flags & TG_RECORD_OVERWRITTEN)
        record->stored = 0;
    else if (!sound || (wanted && record->stored < bytes))
        record->flags |= TG_RECORD_TRUNCATED;
}

void tg_record_confine(struct tg_record *record, uint64_t payload_size)
{
    bool sound = confine_words(record);
    sound = confine_shape(record) && sound;
    if (record->kind == TG_KIND_SCALAR)
        confine_scalar(record);
    else
        confine_payload(record, sound, payload_size);
    for (unsigned i = record->ndim; i < TG_MAX_DIMS; i++)
        record->shape[i] = record->strides[i] = 0;
    if (record->stored == 0)
        record->position = 0;
}

/* `one`: 1 to add; all ones (-1 modulo 2^64) to subtract. */
static void count(struct tg_record_summary *summary, const struct tg_record *record, uint64_t one)
{
    summary->recorded += one;
    if (record->stage == TG_BEFORE_DISPATCH)
        summary->before_dispatch += one;
    else if (record->stage == TG_AFTER_COMPLETION)
        summary->after_completion += one;
    else
        summary->orchestration += one;
    if (record->kind == TG_KIND_SCALAR)
        summary->scalars += one;
    else if (record->role == TG_IN)
        summary->inputs += one;
    else if (record->role == TG_OUT)
        summary->outputs += one;
    else
        summary->inouts += one;
    if (record->flags & TG_RECORD_TRUNCATED)
        summary->truncated += one;
    if (record->flags & TG_RECORD_OVERWRITTEN)
        summary->overwritten += one;
}

void tg_record_count(struct tg_record_summary *summary, const struct tg_record *record)
{
    count(summary, record, 1);
}

void tg_record_uncount(struct tg_record_summary *summary, const struct tg_record *record)
{
    count(summary, record, UINT64_MAX);
}

enum {
    FLAGS_OF_MANIFEST = TG_RECORD_CONTIGUOUS | TG_RECORD_HASHED | TG_RECORD_TRUNCATED |
                        TG_RECORD_OVERWRITTEN | TG_RECORD_PARTIAL | TG_RECORD_MARKED |
                        TG_RECORD_READ | TG_RECORD_NO_VALUE
};

void tg_record_reduce(const struct tg_record *record, uint64_t payload_size,
                      struct tg_record *reduced)
{
    struct tg_record copy = *record;
    tg_record_confine(&copy, payload_size);
    bool is_scalar = copy.kind == TG_KIND_SCALAR;
    *reduced = (struct tg_record){.type = TG_RECORD_ARGUMENT,
                                  .flags = copy.flags & FLAGS_OF_MANIFEST,
                                  .task_id = copy.task_id,
                                  .stage = copy.stage,
                                  .role = copy.role,
                                  .kind = copy.kind,
                                  .dtype = copy.dtype,
                                  .ndim = copy.ndim,
                                  .arg_index = copy.arg_index,
                                  .data_ptr = copy.data_ptr,
                                  .start = copy.start,
                                  .hash = copy.flags & TG_RECORD_HASHED ? copy.hash : 0,
                                  .stored = copy.stored,
                                  .position = copy.position,
                                  .value = is_scalar ? copy.value : 0};
    if (is_scalar)
        reduced->flags |= TG_RECORD_CONTIGUOUS;
    /* A manifest lists the kernels without the gaps of absent parts. */
    unsigned n = 0;
    for (int part = 0; part < TG_PARTS; part++)
        if (copy.kernel[part] != TG_NO_KERNEL)
            reduced->kernel[n++] = copy.kernel[part];
    while (n < TG_PARTS)
        reduced->kernel[n++] = TG_NO_KERNEL;
    memcpy(reduced->shape, copy.shape, sizeof copy.shape);
    memcpy(reduced->strides, copy.strides, sizeof copy.strides);
}

bool tg_record_same_place(const struct tg_record *a, const struct tg_record *b)
{
    return a->task_id == b->task_id && a->stage == b->stage && a->arg_index == b->arg_index &&
           !((a->flags ^ b->flags) & TG_RECORD_PARTIAL);
}

const char *tg_record_difference(const struct tg_record *a, const struct tg_record *b)
{
    if (memcmp(a, b, sizeof *a) == 0)
        return NULL;
    if (a->task_id != b->task_id)
        return "task";
    if (a->stage != b->stage)
        return "stage";
    if (a->arg_index != b->arg_index)
        return "argument";
    if (memcmp(a->kernel, b->kernel, sizeof a->kernel) != 0)
        return "kernel";
    if (a->role != b->role)
        return "role";
    if (a->kind != b->kind)
        return "kind";
    if (a->dtype != b->dtype)
        return "dtype";
    if (a->ndim != b->ndim || memcmp(a->shape, b->shape, sizeof a->shape) != 0)
        return "shape";
    if (a->value != b->value)
        return "value";
    if (memcmp(a->strides, b->strides, sizeof a->strides) != 0 || a->start != b->start)
        return "strides or start";
    if (a->stored != b->stored || a->position != b->position)
        return "payload";
    if (a->hash != b->hash)
        return "hash";
    return a->data_ptr != b->data_ptr ? "address" : "flags";
}

uint64_t tg_record_lost(const struct tg_record_summary *summary)
{
    uint64_t lost = 0;
    for (int i = 0; i < TG_LOSS_CAUSES; i++)
        lost += summary->lost[i];
    return lost;
}
