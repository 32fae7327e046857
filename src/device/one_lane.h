/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the target_impl.h of a target whose core is one thread: a worker has one lane, so a walk
 * (device/walk.h) is a loop, which the compiler inlines, and a kernel has ended when its call returns.
 */
#ifndef TG_DEVICE_ONE_LANE_H
#define TG_DEVICE_ONE_LANE_H

#include "device/engine.h"
#include <stdbool.h>
#include <stdint.h>
#include <taskglass/target.h>
#include <taskglass/wire/task.h>

enum { TG_TARGET_LANES = 1, TG_BUNCH = 16 };
#define tg_target_walk tg_walk
#define TG_TARGET_BUNCH(name) uint32_t name[TG_BUNCH]
TG_FN static inline uint32_t tg_target_lanes(void)
{
    return 1;
}
TG_FN static inline uint32_t tg_target_lane(uint32_t lanes)
{
    (void)lanes;
    return 0;
}
TG_FN static inline uint32_t tg_target_ballot(uint32_t lanes, bool yes)
{
    (void)lanes;
    return yes;
}
TG_FN static inline uint32_t tg_target_from_lane(uint32_t lanes, uint32_t value, uint32_t lane)
{
    (void)lanes;
    (void)lane;
    return value;
}
TG_FN static inline void tg_target_meet(uint32_t lanes)
{
    (void)lanes;
}
TG_FN static inline uint32_t tg_target_count(uint32_t bits)
{
    uint32_t n =
        0; /* __builtin_popcount would call libgcc where the CPU has no instruction for it */
    for (; bits != 0; bits &= bits - 1)
        n++;
    return n;
}
/* The engine is near enough. */
#define TG_TARGET_NEAR(object, member) ((object)->member)
#define TG_TARGET_SET_NEAR(object, member, value) ((void)((object)->member = (value)))
TG_FN static inline struct tg_dep tg_target_dep(uint32_t lanes, const struct tg_engine *e,
                                                uint32_t entry, uint32_t *window)
{
    (void)lanes;
    (void)window;
    return e->deps[entry];
}
TG_FN static inline const struct tg_task_desc *tg_target_look(uint32_t lanes,
                                                              const struct tg_task_desc *desc)
{
    (void)lanes;
    return desc;
}
TG_FN static inline void tg_target_keep(uint32_t lanes, uint32_t lane, uint32_t task)
{
    (void)lanes;
    (void)lane;
    (void)task;
}
/* A task that has run has ended. */
TG_FN static inline void tg_target_end_kernel(void) {}
TG_FN static inline struct tg_stream *tg_target_stream(const struct tg_worker *lane)
{
    return lane->stream;
}
TG_FN static inline bool tg_target_tell(const struct tg_stream *s, uint64_t current)
{
    (void)s;
    (void)current;
    return false;
}
TG_FN static inline void tg_target_told(void) {}

#endif
