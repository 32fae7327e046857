/* SPDX-License-Identifier: Apache-2.0 */
/* The device's end of a stream (wire/stream.h): a place for the next record, room in the arena. */
#ifndef TG_DEVICE_STREAM_H
#define TG_DEVICE_STREAM_H

#include "device/engine.h"

/* What a lane needs to use its stream: found once for every record. */
struct tg_stream {
    struct tg_stream_head *head;
    const struct tg_record_setup *setup;
    struct tg_worker *lane;
};

TG_FN struct tg_stream tg_stream_of(struct tg_engine *e, struct tg_worker *lane);

/* Where the next record goes; 0 where there is none and the policy does not wait, or no longer. */
TG_FN struct tg_record *tg_stream_slot(struct tg_engine *e, struct tg_stream *s);

/* Room for `bytes` (at most piece_limit) in one piece, at the cursor *position. False as above. */
TG_FN bool tg_stream_reserve(struct tg_engine *e, struct tg_stream *s, uint64_t bytes,
                             uint64_t *position);
TG_FN char *tg_stream_at(const struct tg_stream *s, uint64_t position);

/* The record in the slot, and the arena up to `written`, are the host's to read. */
TG_FN void tg_stream_publish(struct tg_stream *s);

#endif
