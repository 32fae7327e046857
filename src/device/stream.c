/* SPDX-License-Identifier: Apache-2.0 */
#include "device/stream.h"
#include "common/stream_word.h"
#include "device/host_wait.h"
#include "device/target.h"

/* ── words that the host writes (W2) ───────────────────────────────────────────────────── */

/* The host may be in the middle of writing the word, or may have gone wrong. A value that cannot be is
 * ignored, and what was known before stays true: counters and cursors only grow. */
TG_FN static void take_free_tail(struct tg_stream *s)
{
    uint64_t tail;
    if (tg_word_open(tg_load_acquire_host(&s->head->free_tail), &tail) && tail >= s->free_tail &&
        tail - s->free_head <= s->n_buffers)
        s->free_tail = tail;
}

TG_FN static void take_freed(struct tg_stream *s)
{
    uint64_t freed;
    if (!tg_word_open(tg_load_acquire_host(&s->head->freed), &freed))
        return;
    freed *= TG_CURSOR_UNIT;
    if (freed >= s->freed && freed <= s->written)
        s->freed = freed;
}

TG_FN void tg_stream_open(struct tg_stream *s, const struct tg_record_setup *setup, uint32_t index,
                          const struct tg_worker *lane)
{
    struct tg_stream_head *head =
        TG_DEVICE_PTR(struct tg_stream_head, setup->streams + index * setup->stream_size);
    char *base = (char *)head;
    s->head = head;
    s->setup = setup;
    s->policy = setup->policy;
    s->index = index;
    s->core = lane ? lane->index : 0;
    s->free_queue = (const uint32_t *)(base + head->free_queue);
    s->ready_queue = (uint32_t *)(base + head->ready_queue);
    s->records = (struct tg_record *)(base + head->buffers);
    s->arena = base + head->arena;
    s->arena_size = head->arena_size;
    s->piece_limit = head->piece_limit;
    s->n_buffers = head->n_buffers;
    s->per_buffer = head->per_buffer;
    s->buffer = TG_NO_BUFFER;
    s->count = s->gave_up = 0;
    s->now = 0;
    s->wants_same = setup->n_filters == 0;
    s->want = TG_WANT_PAYLOAD;
    switch (setup->level) {
    case TG_LEVEL_META:
        s->want = TG_WANT_META;
        break;
    case TG_LEVEL_HASH:
        s->want = TG_WANT_HASH;
        break;
    case TG_LEVEL_FULL:
        break;
    default:
        s->wants_same = false;
    }
    s->untold = s->is_long = false;
    s->ready_tail = s->free_head = 0;
    s->written = s->offset = s->freed = s->free_tail = 0;
    take_free_tail(s);
    s->attempted = s->recorded = s->lost_full = s->lost_gave_up = 0;
    s->truncated = s->record_ns = s->wait_ns = 0;
    for (uint32_t f = 0; f < TG_MAX_FILTERS; f++)
        s->matched[f] = 0;
}

TG_FN struct tg_stream *tg_stream_of(struct tg_engine *e, struct tg_worker *lane)
{
    struct tg_stream *s = tg_target_stream(lane);
    if (s->head == 0)
        tg_stream_open(s, e->record, lane->index, lane);
    return s;
}

TG_FN char *tg_stream_at(const struct tg_stream *s, uint64_t position)
{
    uint64_t behind = s->written - position; /* at most what is behind the last piece */
    return s->arena + (s->offset >= behind ? s->offset : s->offset + s->arena_size) - behind;
}

/* ── waiting for the host, under policy block ──────────────────────────────────────────── */

TG_FN static bool has_free_buffer(struct tg_stream *s)
{
    if (s->free_tail == s->free_head)
        take_free_tail(s);
    return s->free_tail != s->free_head;
}

TG_FN static bool has_room(struct tg_stream *s, uint64_t need)
{
    if (s->written - s->freed + need > s->arena_size)
        take_freed(s);
    return s->written - s->freed + need <= s->arena_size;
}

/* True if there are `need` bytes of arena, or a buffer if need is 0. */
TG_FN static bool is_there(struct tg_stream *s, uint64_t need)
{
    return need == 0 ? has_free_buffer(s) : has_room(s, need);
}

/* Waits, up to the limit, while the host drains. After the first timeout a lane only checks: a host
 * that has stopped must not cost the limit again for every record. */
TG_FN static bool wait_for(struct tg_engine *e, struct tg_stream *s, uint64_t need)
{
    uint32_t resource = need == 0 ? 1 : 2;
    struct tg_host_wait wait;
    bool there = is_there(s, need);
    if (there)
        s->gave_up &= ~resource;
    if (there || s->policy != TG_POLICY_BLOCK || (s->gave_up & resource))
        return there;
    if (s->untold)
        tg_stream_tell(s); /* the host drains only what it was told of */
    tg_host_wait_begin(&wait, s->setup->pulse, s->setup->pulse_ns, s->setup->wait_limit_ns);
    /* Only naps: the host has to empty a full arena, and may need this CPU to do it. */
    while (!there && tg_host_wait_goes_on(e, &wait)) {
        tg_wait_nap();
        there = is_there(s, need);
        tg_host_wait_count(&wait);
    }
    tg_stream_add(s, wait_ns, wait.now - wait.began);
    s->now = wait.now;
    if (!there)
        s->gave_up |= resource;
    return there;
}

/* ── records ───────────────────────────────────────────────────────────────────────────── */

TG_FN static uint64_t current(const struct tg_stream *s)
{
    return tg_word_seal(tg_current_value(s->buffer, s->count));
}

TG_FN static void show_current(struct tg_stream *s)
{
    tg_target_told(); /* or an older value could come after this one */
    tg_store_release_host(&s->head->current, current(s)); /* W1 */
}

TG_FN static void set_current(struct tg_stream *s, uint32_t buffer, uint32_t count)
{
    s->buffer = buffer;
    s->count = count;
    show_current(s);
}

TG_FN static bool take_buffer(struct tg_engine *e, struct tg_stream *s)
{
    uint32_t buffer;
    if (!wait_for(e, s, 0))
        return false;
    buffer = s->free_queue[s->free_head % s->n_buffers];
    if (buffer >= s->n_buffers)
        return false; /* not a value that the host's writer would put there */
    tg_store_relaxed_host(&s->head->free_head, ++s->free_head);
    set_current(s, buffer, 0);
    return true;
}

TG_FN static struct tg_record *slot(struct tg_stream *s)
{
    return s->records + (uint64_t)s->buffer * s->per_buffer + s->count;
}

TG_FN struct tg_record *tg_stream_slot(struct tg_engine *e, struct tg_stream *s)
{
    if (s->buffer == TG_NO_BUFFER && !take_buffer(e, s))
        return 0;
    return TG_TARGET_STAGES_RECORDS ? &s->staged : slot(s);
}

TG_FN static void push_ready(struct tg_stream *s)
{
    s->ready_queue[s->ready_tail % s->n_buffers] = s->buffer;
    tg_store_release_host(&s->head->ready_tail, tg_word_seal(++s->ready_tail)); /* W1 */
    set_current(s, TG_NO_BUFFER, 0);
}

TG_FN void tg_stream_put(struct tg_stream *s)
{
    if (TG_TARGET_STAGES_RECORDS)
        tg_target_copy_record(slot(s), &s->staged);
    s->untold = true;
    if (++s->count < s->per_buffer)
        return;
    show_current(s); /* so that the host knows the buffer's old `current` from its next one */
    push_ready(s);
}

TG_FN static void tell_counters(struct tg_stream *s)
{
    tg_store_relaxed_host(&s->head->recorded, s->recorded);
    tg_store_relaxed_host(&s->head->lost_full, s->lost_full);
    tg_store_relaxed_host(&s->head->lost_gave_up, s->lost_gave_up);
    tg_store_relaxed_host(&s->head->truncated, s->truncated);
    tg_store_relaxed_host(&s->head->record_ns, s->record_ns);
    for (uint32_t f = 0; f < s->setup->n_filters; f++)
        tg_store_relaxed_host(&s->head->matched[f], s->matched[f]);
}

TG_FN void tg_stream_tell(struct tg_stream *s)
{
    s->untold = s->is_long = false;
    if (tg_target_tell(s, current(s))) /* W1 */
        return;
    tell_counters(s);
    show_current(s);
}

TG_FN void tg_stream_publish(struct tg_stream *s)
{
    tg_stream_put(s);
    if (s->buffer != TG_NO_BUFFER)
        show_current(s);
}

/* ── payload ───────────────────────────────────────────────────────────────────────────── */

TG_FN bool tg_stream_reserve(struct tg_engine *e, struct tg_stream *s, uint64_t bytes,
                             uint64_t *position)
{
    uint64_t to_end = s->arena_size - s->offset;
    uint64_t skip = bytes <= to_end ? 0 : to_end; /* a piece does not cross the arena's end */
    uint64_t padded = (bytes + TG_CURSOR_UNIT - 1) / TG_CURSOR_UNIT *
                      TG_CURSOR_UNIT; /* pieces begin on a cache line */
    if (s->policy != TG_POLICY_OVERWRITE && !wait_for(e, s, skip + padded))
        return false;
    *position = s->written + skip;
    s->written += skip + padded;
    s->offset = bytes <= to_end ? s->offset + padded : padded;
    if (s->offset >= s->arena_size)
        s->offset -= s->arena_size;
    /* Under policy overwrite the host reads `written` after it has read a payload (W3). `written`
     * must have grown before the device overwrites those bytes, hence the full fence. */
    if (s->policy == TG_POLICY_OVERWRITE)
        tg_store_fence_host(&s->head->written, tg_word_seal(s->written / TG_CURSOR_UNIT));
    else
        tg_store_relaxed_host(&s->head->written, tg_word_seal(s->written / TG_CURSOR_UNIT));
    return true;
}
