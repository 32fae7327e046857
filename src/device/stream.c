/* SPDX-License-Identifier: Apache-2.0 */
#include "device/stream.h"

TG_FN struct tg_stream tg_stream_of(struct tg_engine *e, struct tg_worker *lane)
{
    struct tg_stream s;
    s.setup = e->record;
    s.head =
        TG_DEVICE_PTR(struct tg_stream_head, s.setup->streams + lane->index * s.setup->stream_size);
    s.lane = lane;
    return s;
}

TG_FN static char *part(const struct tg_stream *s, uint64_t offset)
{
    return (char *)s->head + offset;
}

TG_FN char *tg_stream_at(const struct tg_stream *s, uint64_t position)
{
    return part(s, s->head->arena) + position % s->head->arena_size;
}

/* ── waiting for the host, policy block alone ──────────────────────────────────────────── */

TG_FN static bool has_free_buffer(const struct tg_stream *s)
{
    return tg_load_acquire(&s->head->free_tail) != s->head->free_head; /* W2 */
}

/* A host that says it has freed more than was written is not believed. */
TG_FN static uint64_t arena_in_use(const struct tg_stream *s)
{
    uint64_t freed = tg_load_acquire(&s->head->freed); /* W2 */
    return freed <= s->head->written ? s->head->written - freed : 0;
}

/* `need` bytes of arena, or a buffer where need is 0. */
TG_FN static bool is_there(const struct tg_stream *s, uint64_t need)
{
    return need == 0 ? has_free_buffer(s) : arena_in_use(s) + need <= s->head->arena_size;
}

/* Waits, up to the limit, while the host drains. Once it has given up a lane only looks: a host
 * that stopped must not cost the limit again for every record. */
TG_FN static bool wait_for(struct tg_engine *e, struct tg_stream *s, uint64_t need)
{
    uint32_t resource = need == 0 ? 1 : 2;
    uint64_t began, now;
    bool there = is_there(s, need);
    if (there)
        s->lane->record_gave_up &= ~resource;
    if (there || s->setup->policy != TG_POLICY_BLOCK || (s->lane->record_gave_up & resource))
        return there;
    began = now = tg_target_now();
    /* No spinning: the host has a full arena before it, and may need this very CPU to empty it. */
    while (!there && now - began < s->setup->wait_limit_ns && tg_engine_running(e)) {
        tg_target_nap();
        there = is_there(s, need);
        now = tg_target_now();
    }
    s->head->wait_ns += now - began;
    if (!there)
        s->lane->record_gave_up |= resource;
    return there;
}

/* ── records ───────────────────────────────────────────────────────────────────────────── */

TG_FN static uint32_t current_buffer(const struct tg_stream *s)
{
    return (uint32_t)(s->head->current >> 32);
}

TG_FN static uint32_t current_count(const struct tg_stream *s)
{
    return (uint32_t)s->head->current;
}

TG_FN static void set_current(struct tg_stream *s, uint32_t buffer, uint32_t count)
{
    tg_store_release(&s->head->current, (uint64_t)buffer << 32 | count); /* W1 */
}

TG_FN static bool take_buffer(struct tg_engine *e, struct tg_stream *s)
{
    const uint32_t *queue = (const uint32_t *)part(s, s->head->free_queue);
    uint32_t buffer;
    if (!wait_for(e, s, 0))
        return false;
    buffer = queue[s->head->free_head % s->head->n_buffers];
    if (buffer >= s->head->n_buffers)
        return false; /* nothing the host's writer would put there */
    s->head->free_head++;
    set_current(s, buffer, 0);
    return true;
}

TG_FN struct tg_record *tg_stream_slot(struct tg_engine *e, struct tg_stream *s)
{
    struct tg_record *records;
    if (current_buffer(s) == TG_NO_BUFFER && !take_buffer(e, s))
        return 0;
    records = (struct tg_record *)part(s, s->head->buffers);
    return records + (uint64_t)current_buffer(s) * s->head->per_buffer + current_count(s);
}

TG_FN static void push_ready(struct tg_stream *s)
{
    uint32_t *queue = (uint32_t *)part(s, s->head->ready_queue);
    queue[s->head->ready_tail % s->head->n_buffers] = current_buffer(s);
    tg_store_release(&s->head->ready_tail, s->head->ready_tail + 1); /* W1 */
    set_current(s, TG_NO_BUFFER, 0);
}

TG_FN void tg_stream_publish(struct tg_stream *s)
{
    set_current(s, current_buffer(s), current_count(s) + 1);
    if (current_count(s) == s->head->per_buffer)
        push_ready(s);
}

/* ── payload ───────────────────────────────────────────────────────────────────────────── */

TG_FN bool tg_stream_reserve(struct tg_engine *e, struct tg_stream *s, uint64_t bytes,
                             uint64_t *position)
{
    uint64_t to_end = s->head->arena_size - s->head->written % s->head->arena_size;
    uint64_t skip = bytes <= to_end ? 0 : to_end; /* a piece does not cross the arena's end */
    uint64_t padded = (bytes + 63) / 64 * 64;     /* pieces begin on a cache line */
    if (s->setup->policy != TG_POLICY_OVERWRITE && !wait_for(e, s, skip + padded))
        return false;
    *position = s->head->written + skip;
    /* Under policy overwrite the host looks at it after reading a payload (W3): it must have
     * grown before the bytes it gives up are written again, hence the full fence. */
    tg_exchange_seq(&s->head->written, s->head->written + skip + padded);
    return true;
}
