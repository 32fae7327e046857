/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device's end of a stream (wire/stream.h): it finds a slot for the next record and room in the
 * arena.
 *
 * The stream's head is shared with the host and may lie in the host's memory, where a load takes a
 * thousand times as long as a store. So the device keeps a copy here of what it has written there,
 * and reads what the host writes (the free queue, `freed`) only when it runs out.
 *
 * A record is put into its slot first and told to the host later (W1), with all that were put before: a
 * release waits for everything on its way to the host's memory, so the recorder makes one for each stage.
 */
#ifndef TG_DEVICE_STREAM_H
#define TG_DEVICE_STREAM_H

#include "common/select.h"
#include "device/engine.h"
#include <stddef.h>

struct tg_stream {
    struct tg_stream_head *head; /* 0: not opened in this run */
    const struct tg_record_setup *setup;
    uint32_t policy; /* enum tg_record_policy */
    uint32_t index;  /* its number in the setup */
    uint32_t core;   /* the lane's, or whoever else writes it */
    /* the layout, copied from the head */
    const uint32_t *free_queue;
    uint32_t *ready_queue;
    struct tg_record *records;
    char *arena;
    uint64_t arena_size;
    uint64_t piece_limit;
    uint32_t n_buffers;
    uint32_t per_buffer;
    /* written by the device */
    uint32_t buffer; /* the buffer being filled, or TG_NO_BUFFER */
    uint32_t count;  /* records in it */
    uint64_t ready_tail;
    uint64_t free_head;
    uint64_t written;
    uint64_t offset; /* where in the arena the next piece begins: written % arena_size */
    /* written by the host, as last believed */
    uint64_t free_tail;
    uint64_t freed;
    uint64_t now;     /* the clock, if no time to speak of has passed since; 0: read it again */
    uint32_t gave_up; /* resources it waited for in vain: no more waiting until they are there */
    /* what every argument of a task is to have, if that does not depend on the argument */
    bool wants_same;
    enum tg_want want;
    bool untold;  /* there are records or losses that the host was not told of */
    bool is_long; /* and one of them has a long payload */
    /* counters, with copies in the head, in the same order */
    uint64_t attempted, recorded, lost_full, lost_gave_up, truncated, record_ns, wait_ns;
    uint64_t matched[TG_MAX_FILTERS];
    struct tg_tensor tensor; /* the one being recorded */
    struct tg_record staged; /* TG_TARGET_STAGES_RECORDS: the record being made */
};

/* The counters from `recorded` on: the recorder tells them with its records. */
enum { TG_STREAM_COUNTERS = 6 + TG_MAX_FILTERS };
TG_WIRE_ASSERT(offsetof(struct tg_stream, matched) + sizeof(uint64_t[TG_MAX_FILTERS]) ==
               offsetof(struct tg_stream, recorded) + sizeof(uint64_t[TG_STREAM_COUNTERS]));
TG_WIRE_ASSERT(offsetof(struct tg_stream_head, matched) -
                   offsetof(struct tg_stream_head, recorded) ==
               offsetof(struct tg_stream, matched) - offsetof(struct tg_stream, recorded));

/* Opens stream number `index` of the setup at its beginning. */
TG_FN void tg_stream_open(struct tg_stream *s, const struct tg_record_setup *setup, uint32_t index,
                          const struct tg_worker *lane);
/* The lane's own stream, opened if it is not open yet. */
TG_FN struct tg_stream *tg_stream_of(struct tg_engine *e, struct tg_worker *lane);

/* Adds to a counter, and tells the host at once. */
#define tg_stream_add(s, counter, n) \
    tg_store_relaxed_host(&(s)->head->counter, (s)->counter = (s)->counter + (n))

/* The slot for the next record; 0 if there is none and the policy does not wait, or has stopped
 * waiting. */
TG_FN struct tg_record *tg_stream_slot(struct tg_engine *e, struct tg_stream *s);

/* Reserves `bytes` (at most piece_limit) in one piece, at the cursor *position. Returns false if
 * there is no room, as above. */
TG_FN bool tg_stream_reserve(struct tg_engine *e, struct tg_stream *s, uint64_t bytes,
                             uint64_t *position);
TG_FN char *tg_stream_at(const struct tg_stream *s, uint64_t position);

/* The record in the slot is complete. The host is told no later than when its buffer is full, or before
 * the stream waits for the host. */
TG_FN void tg_stream_put(struct tg_stream *s);
/* Lets the host read the records that were put, and the arena up to `written`, and tells the counters. It
 * may happen behind the caller's back, but in order, and before a kernel that is called later. */
TG_FN void tg_stream_tell(struct tg_stream *s);
/* Puts the record and lets the host read it. */
TG_FN void tg_stream_publish(struct tg_stream *s);

#endif
