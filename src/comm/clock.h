/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How this rank's clock goes beside rank 0's, from questions and answers:
 *
 *     own:      t0 ──PING──►            ◄──PONG── t3
 *     rank 0:             t1 ────── t2
 *
 * Rank 0 answered somewhere between t0 and t3, so the difference of the clocks is known to within half of
 * what the way took. Of each interval the answer with the shortest way is kept; a line through these
 * gives the drift.
 */
#ifndef TG_COMM_CLOCK_H
#define TG_COMM_CLOCK_H

#include <stdint.h>

#include "comm/comm.h"

enum { TG_CLOCK_POINTS = 64 };
#define TG_CLOCK_INTERVAL_NS INT64_C(500000000)

struct tg_clock_point {
    int64_t at_ns; /* own time */
    int64_t offset_ns, error_ns;
};

struct tg_clock {
    struct tg_clock_point point[TG_CLOCK_POINTS]; /* the best of each interval, oldest first */
    uint32_t count;
    uint64_t samples;
};

/* An answer; times that cannot be are left out. */
void tg_clock_add(struct tg_clock *clock, int64_t t0, int64_t t1, int64_t t2, int64_t t3);
/* What the points say. */
struct tg_comm_clock tg_clock_read(const struct tg_clock *clock);

#endif
