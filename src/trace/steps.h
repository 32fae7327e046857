/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter that goes up and down, from changes that come in any order: how many tasks are ready, how many
 * run. Memory is bounded: up to TG_STEPS changes are kept as they are, so that the counter is exact at every
 * time. If there are more, the time of the run is divided into TG_STEPS steps, and the counter is exact at
 * the end of each.
 */
#ifndef TG_TRACE_STEPS_H
#define TG_TRACE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TG_STEPS = 1 << 18 };

struct tg_steps {
    struct tg_step {
        uint64_t time;
        int64_t change;
    } * step; /* the changes; or one for each step of time */
    size_t count, room;
    bool is_divided;
    uint64_t begin, width; /* of a step of time */
};

/* All changes lie between `begin` and `end`; there will be `changes`, or fewer. False if memory ran out. */
bool tg_steps_start(struct tg_steps *steps, uint64_t begin, uint64_t end, uint64_t changes);
void tg_steps_add(struct tg_steps *steps, uint64_t time, int64_t change);
/* Sorts and adds up: then `change` of each of `count` steps is the value from its time on. Times that
 * follow one another have different values. */
void tg_steps_finish(struct tg_steps *steps);
void tg_steps_free(struct tg_steps *steps);

#endif
