/* SPDX-License-Identifier: Apache-2.0 */
#include "device/recorder.h"
#include "common/hash.h"
#include "common/select.h"
#include "common/stored_args.h"
#include "device/core.h"
#include "device/stream.h"
#include "device/target.h"

/* ── records ───────────────────────────────────────────────────────────────────────────── */

/* Records with more bytes than this take longer to make than it takes to read the clock, and their payload
 * is worth telling the host at once. */
enum { SHORT_BYTES = 4096 };

TG_FN static void describe(struct tg_record *r, struct tg_stream *s, const struct tg_subject *a)
{
    if (s->now == 0)
        s->now = tg_target_now();
    tg_record_describe(r, a);
    r->sequence = s->recorded;
    r->stream = (uint16_t)s->index;
    r->core = s->core;
    r->time = s->now;
}

TG_FN static enum tg_want wanted(struct tg_stream *s, const struct tg_subject *a)
{
    if (s->wants_same)
        return s->want;
    return tg_wanted(s->setup, TG_DEVICE_PTR(const uint8_t, s->setup->kernel_filters), a,
                     s->matched);
}

TG_FN static void count_loss(struct tg_stream *s)
{
    if (s->policy == TG_POLICY_BLOCK)
        s->lost_gave_up++;
    else
        s->lost_full++;
    s->untold = true;
}

/* The host learns at once that a record is being made, so that it can count those that a device which dies
 * has not finished, and sees which lane waits for it. */
TG_FN static struct tg_record *begin_record(struct tg_engine *e, struct tg_stream *s)
{
    struct tg_record *r;
    if (s->is_long)
        tg_stream_tell(s);
    tg_stream_add(s, attempted, 1);
    r = tg_stream_slot(e, s);
    if (r == 0)
        count_loss(s);
    return r;
}

TG_FN static void end_record(struct tg_stream *s)
{
    s->recorded++;
    tg_stream_put(s);
}

TG_FN static void record_scalar(struct tg_engine *e, struct tg_stream *s,
                                const struct tg_subject *a, const struct tg_scalar *scalar)
{
    struct tg_record *r = begin_record(e, s);
    if (r == 0)
        return;
    describe(r, s, a);
    tg_record_describe_scalar(r, scalar);
    end_record(s);
}

/* ── payloads ──────────────────────────────────────────────────────────────────────────── */

/* A tensor being recorded, and how far its bytes have been hashed. */
struct content {
    const struct tg_tensor *tensor;
    const char *from;
    uint64_t bytes;
    bool contiguous;
    bool straight; /* one contiguous run of whole bytes */
    struct tg_hash hash;
};

TG_FN static struct content content_of(const struct tg_tensor *t)
{
    struct content c;
    int64_t n = tg_tensor_numel(t);
    uint32_t bits = tg_bits_of(t->dtype);
    c.tensor = t;
    c.from = TG_DEVICE_PTR(const char, t->addr) + t->start * (int64_t)bits / 8;
    c.bytes = tg_bytes_of(t->dtype, n);
    c.contiguous = tg_tensor_contiguous(t);
    /* A 4-bit view may begin or end in the middle of a byte, whose other half is not part of it. */
    c.straight = c.contiguous && (bits >= 8 || (t->start % 2 == 0 && n % 2 == 0));
    tg_hash_init(&c.hash);
    return c;
}

/* Packs and hashes the logical bytes [offset, offset + size); both are multiples of 64 except at
 * the end. If `to` is 0, only hashes them. */
TG_FN static void take(struct tg_stream *s, struct content *c, char *to, uint64_t offset,
                       uint64_t size)
{
    if (size > SHORT_BYTES)
        s->now = 0;
    if (!c->straight)
        tg_target_gather(&c->hash, to, c->tensor, offset, size);
    else if (to)
        tg_target_hash_copy(&c->hash, to, c->from + offset, size);
    else
        tg_target_hash(&c->hash, c->from + offset, size);
}

TG_FN static void finish(struct tg_record *r, const struct content *c, uint16_t more_flags)
{
    r->hash = tg_hash_final(&c->hash, c->bytes);
    r->flags = (uint16_t)(r->flags | TG_RECORD_HASHED | more_flags);
}

TG_FN static void describe_tensor(struct tg_record *r, struct tg_stream *s,
                                  const struct tg_subject *a, const struct content *c)
{
    describe(r, s, a);
    tg_record_describe_view(r, c->tensor, c->bytes, c->contiguous);
}

/* `r` is the first slot, and describes the tensor. Tells the host of each piece as soon as it is ready, so
 * that the host writes one while the next is copied. If there is no room for a piece, the payload ends
 * there. */
TG_FN static void record_payload(struct tg_engine *e, struct tg_stream *s,
                                 const struct tg_subject *a, struct content *c, struct tg_record *r)
{
    uint64_t offset = 0, position;
    uint16_t flags = TG_RECORD_PAYLOAD;
    for (;;) {
        uint64_t left = c->bytes - offset;
        uint64_t size = left < s->piece_limit ? left : s->piece_limit;
        bool room = size == 0 || tg_stream_reserve(e, s, size, &position);
        if (!room && offset == 0) {
            count_loss(s);
            return; /* the slot stays for the next record */
        }
        r->time = s->now ? s->now : (s->now = tg_target_now());
        r->value = offset;
        if (room && size > 0) {
            r->position = position;
            r->stored = size;
            take(s, c, tg_stream_at(s, position), offset, size);
        }
        if (!room || size == left)
            break;
        r->flags = (uint16_t)(r->flags | flags | TG_RECORD_MORE);
        tg_stream_put(s);
        tg_stream_tell(s);
        offset += size;
        r = tg_stream_slot(e, s);
        if (r == 0) { /* the host ends the record where the pieces stop */
            s->truncated++;
            s->recorded++;
            s->untold = true;
            return;
        }
        describe_tensor(r, s, a, c);
    }
    if (r->stored < c->bytes - offset) {
        take(s, c, 0, offset, c->bytes - offset);
        flags = (uint16_t)(flags | TG_RECORD_TRUNCATED);
        s->truncated++;
    }
    finish(r, c, flags);
    end_record(s);
    s->is_long = c->bytes > SHORT_BYTES;
}

TG_FN static void record_tensor(struct tg_engine *e, struct tg_stream *s,
                                const struct tg_subject *a, const struct tg_tensor *t,
                                enum tg_want want)
{
    struct tg_record *r = begin_record(e, s);
    struct content c;
    if (r == 0)
        return;
    c = content_of(t);
    describe_tensor(r, s, a, &c);
    if (want == TG_WANT_PAYLOAD) {
        record_payload(e, s, a, &c, r);
        return;
    }
    if (want == TG_WANT_HASH) {
        take(s, &c, 0, 0, c.bytes);
        finish(r, &c, 0);
    }
    end_record(s);
}

/* ── stages ────────────────────────────────────────────────────────────────────────────── */

TG_FN static void record_tensors(struct tg_engine *e, struct tg_stream *s, struct tg_subject *a,
                                 const uint64_t *stored)
{
    for (uint32_t i = 0; i < a->desc->n_tensors; i++, stored += tg_stored_words(*stored)) {
        enum tg_want want;
        a->index = i;
        a->role = a->desc->roles >> (2 * i) & 3;
        if (!tg_role_has_stage(a->role, a->stage))
            continue;
        want = wanted(s, a);
        if (want == TG_WANT_NOTHING)
            continue;
        tg_stored_get(stored, &s->tensor);
        record_tensor(e, s, a, &s->tensor, want);
    }
}

TG_FN static void record_scalars(struct tg_engine *e, struct tg_stream *s, struct tg_subject *a,
                                 const struct tg_scalar *scalar)
{
    a->role = 0;
    for (uint32_t i = 0; i < a->desc->n_scalars; i++) {
        a->index = a->desc->n_tensors + i;
        if (wanted(s, a) != TG_WANT_NOTHING)
            record_scalar(e, s, a, &scalar[i]);
    }
}

TG_FN void tg_record_stage(struct tg_engine *e, struct tg_worker *lane, uint32_t task,
                           enum tg_stage stage)
{
    uint64_t began = tg_target_now();
    struct tg_stream *s = tg_stream_of(e, lane);
    struct tg_subject a;
    const char *args;
    s->now = began;
    a.desc = &TG_TARGET_NEAR(e, desc)[task];
    a.stage = stage;
    a.index = a.role = 0;
    args = e->payload + a.desc->args;
    record_tensors(e, s, &a, tg_stored_tensors(args, a.desc->n_scalars));
    if (stage == TG_BEFORE_DISPATCH)
        record_scalars(e, s, &a, tg_stored_scalars(args));
    s->record_ns += tg_target_now() - began;
    if (s->untold)
        tg_stream_tell(s);
    if (stage == TG_AFTER_COMPLETION)
        tg_target_told(); /* what a task left is safe before another task goes on with it */
}

TG_FN void tg_record_read(struct tg_engine *e, struct tg_stream *s, const struct tg_task_desc *desc,
                          uint32_t argument, const struct tg_tensor *element, uint64_t bits)
{
    uint64_t began = tg_target_now();
    struct tg_subject a;
    struct tg_record *r;
    a.desc = desc;
    a.stage = TG_STAGE_ORCHESTRATION;
    a.index = argument;
    a.role = 0; /* a scalar */
    if (wanted(s, &a) == TG_WANT_NOTHING)
        return;
    s->now = began;
    r = begin_record(e, s);
    if (r) {
        describe(r, s, &a);
        r->core = 0; /* no lane */
        r->flags = TG_RECORD_READ;
        r->dtype = element->dtype;
        r->data_ptr = element->addr;
        r->start = element->start;
        r->value = bits;
        end_record(s);
    }
    s->record_ns += tg_target_now() - began;
    tg_stream_tell(s);
}
