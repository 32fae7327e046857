/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory the streams of a recording get where all of it has to be locked: the driver of a GPU
 * takes milliseconds to lock what most runs never use. Elsewhere the system provides a page when it is
 * touched, and streams of the full size cost nothing.
 */
#ifndef TG_HOST_RECORD_NEED_H
#define TG_HOST_RECORD_NEED_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/wire/stream.h>

struct tg_graph;

/* What a run will record, as far as the host knows before. All zero: the device builds the graph. */
struct tg_record_need {
    uint64_t records; /* that have arguments; 0: not known */
    uint64_t bytes;   /* of payload */
};

/* Estimates from a few tasks of the graph. Only time depends on how good the estimate is. */
struct tg_record_need tg_record_need_of(struct tg_graph *graph, const struct tg_record_setup *setup,
                                        const uint8_t *kernel_filters);

/* What one stream gets. */
struct tg_stream_room {
    uint64_t arena;
    uint32_t buffers;
};

/*
 * Lowers the room of each stream, which has the most that it may get, to what the run needs. If that is
 * not known, to `before`: what the device's last run of that kind had, doubled if its lanes had to wait;
 * zeros: there was none.
 */
void tg_record_fit(struct tg_stream_room *room, const struct tg_record_need *need,
                   uint32_t n_streams, struct tg_stream_room before);

#endif
