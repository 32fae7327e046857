/* SPDX-License-Identifier: Apache-2.0 */
#include "comm/clock.h"

#include <stddef.h>
#include <string.h>

/* Clocks of machines go apart by less than this; a line that is steeper is an accident. */
#define LARGEST_DRIFT 1e-3
/* A line needs some length to say more about the drift than about the errors of its points. */
#define SHORTEST_LINE_NS 1e9

void tg_clock_add(struct tg_clock *clock, int64_t t0, int64_t t1, int64_t t2, int64_t t3)
{
    struct tg_clock_point point, *last;
    const int64_t most = INT64_MAX / 4; /* so that sums and differences fit */
    if (t0 < 0 || t1 < 0 || t0 > most || t1 > most || t2 > most || t3 > most || t3 < t0 ||
        t2 < t1 || t3 - t0 < t2 - t1)
        return;
    point.at_ns = t0 + (t3 - t0) / 2;
    point.offset_ns = ((t1 - t0) + (t2 - t3)) / 2;
    point.error_ns = ((t3 - t0) - (t2 - t1) + 1) / 2;
    clock->samples++;
    last = clock->count ? &clock->point[clock->count - 1] : NULL;
    if (last && point.at_ns - last->at_ns < TG_CLOCK_INTERVAL_NS) {
        if (point.error_ns < last->error_ns)
            *last = point;
        return;
    }
    if (clock->count == TG_CLOCK_POINTS) { /* every second one is left out; the first one stays */
        for (size_t i = 1; i < TG_CLOCK_POINTS / 2; i++)
            clock->point[i] = clock->point[2 * i];
        clock->count = TG_CLOCK_POINTS / 2;
    }
    clock->point[clock->count++] = point;
}

static const struct tg_clock_point *best_point(const struct tg_clock *clock)
{
    const struct tg_clock_point *best = &clock->point[0];
    for (uint32_t i = 1; i < clock->count; i++)
        if (clock->point[i].error_ns <= best->error_ns)
            best = &clock->point[i];
    return best;
}

/* The slope of the line of least squares; points that are less certain weigh less. */
static double slope(const struct tg_clock *clock, const struct tg_clock_point *middle)
{
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (uint32_t i = 0; i < clock->count; i++) {
        const struct tg_clock_point *p = &clock->point[i];
        const double dx = (double)(p->at_ns - middle->at_ns);
        const double dy = (double)(p->offset_ns - middle->offset_ns);
        const double error = (double)p->error_ns + 100, weight = 1 / (error * error);
        w += weight;
        x += weight * dx;
        y += weight * dy;
        xx += weight * dx * dx;
        xy += weight * dx * dy;
    }
    const double below = w * xx - x * x;
    return below > 0 ? (w * xy - x * y) / below : 0;
}

struct tg_comm_clock tg_clock_read(const struct tg_clock *clock)
{
    struct tg_comm_clock read;
    memset(&read, 0, sizeof read);
    if (clock->count == 0)
        return read;
    const struct tg_clock_point *best = best_point(clock);
    const double length = (double)(clock->point[clock->count - 1].at_ns - clock->point[0].at_ns);
    read.offset_ns = best->offset_ns;
    read.at_ns = best->at_ns;
    read.error_ns = best->error_ns;
    read.samples = clock->samples;
    if (clock->count >= 3 && length >= SHORTEST_LINE_NS)
        read.drift = slope(clock, best);
    if (!(read.drift > -LARGEST_DRIFT && read.drift < LARGEST_DRIFT))
        read.drift = 0;
    return read;
}
