/* SPDX-License-Identifier: Apache-2.0 */
/* The policies of schedules: which of two ready tasks comes first. */
#ifndef TG_DEVICE_BAG_ORDER_H
#define TG_DEVICE_BAG_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/target.h>
#include <taskglass/wire/schedule.h>

/* A bijection, so that two tasks never share a priority (the finalizer of splitmix64). */
TG_FN static inline uint64_t tg_order_mix(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* A number for each seed and use of it. */
TG_FN static inline uint64_t tg_order_of_seed(uint64_t seed, uint64_t use)
{
    return tg_order_mix(tg_order_mix(seed) + use);
}

/* adversarial: uses of the seed */
enum {
    TG_ORDER_PRIORITY = 1,
    TG_ORDER_RATES = 2,
    TG_ORDER_STYLE = 3,
    TG_ORDER_DELAY = 4,
    TG_ORDER_CHOICE = 5
};

/*
 * The priority of a task in an adversarial schedule; the smallest comes first.
 *
 *     band                  0: one of the few that overtake all; 2: one of the few that wait for all
 *                           others; 1: the rest
 *     stretch of the run    so many submits; the oldest or the newest stretch first, as the seed says
 *     within the stretch    first or last submitted first, or at random: the seed says for each stretch.
 *                           Where it changes is a change point, as in probabilistic concurrency testing
 *
 * One of 2 to 256 tasks is in band 0, likewise band 2, and a stretch has 4 to 512 submits.
 */
TG_FN static inline uint64_t tg_order_adversarial(uint64_t seed, uint64_t id, uint64_t order)
{
    const uint64_t low = 0x7FFFFFFF;
    uint64_t rates = tg_order_of_seed(seed, TG_ORDER_RATES);
    uint64_t luck = tg_order_mix(id ^ tg_order_of_seed(seed, TG_ORDER_PRIORITY));
    uint64_t starved = (UINT64_C(2) << (rates & 7)) - 1;
    uint64_t boosted = (UINT64_C(2) << (rates >> 3 & 7)) - 1;
    uint64_t stretch = order >> (2 + (rates >> 6 & 7));
    uint64_t style = tg_order_mix(tg_order_of_seed(seed, TG_ORDER_STYLE) ^ stretch) % 3;
    uint64_t band = (luck & starved) == 0 ? 2 : (luck >> 8 & boosted) == 0 ? 0 : 1;
    uint64_t within = style == 0 ? order : style == 1 ? ~order : luck >> 16;
    if (rates >> 9 & 1)
        stretch = ~stretch;
    return band << 62 | (stretch & low) << 31 | (within & low);
}

/* The priority of a task; the smallest comes first. `order` is the number of its submit. A serial random
 * schedule has none: it chooses by the number of the choice (tg_order_choice). */
TG_FN static inline uint64_t tg_order_key(uint32_t policy, uint64_t seed, bool serial, uint64_t id,
                                          uint64_t order)
{
    switch (policy) {
    case TG_SCHEDULE_LIFO:
        return ~order;
    case TG_SCHEDULE_RANDOM:
        return serial ? 0 : tg_order_mix(id ^ tg_order_of_seed(seed, TG_ORDER_PRIORITY));
    case TG_SCHEDULE_ADVERSARIAL:
        return tg_order_adversarial(seed, id, order);
    default:
        return order;
    }
}

/* Serial random schedules: which of the n ready tasks is next, in the order in which they stand. */
TG_FN static inline uint32_t tg_order_choice(uint64_t seed, uint64_t choice, uint32_t n)
{
    return (uint32_t)(tg_order_mix(choice ^ tg_order_of_seed(seed, TG_ORDER_CHOICE)) % n);
}

/* Several cores: nanoseconds by which the start of the task is delayed. One of 16 tasks is, by up to
 * 65 µs, so a task costs 2 µs more on average. */
TG_FN static inline uint64_t tg_order_delay(uint32_t policy, uint64_t seed, uint64_t id)
{
    uint64_t luck = tg_order_mix(id ^ tg_order_of_seed(seed, TG_ORDER_DELAY));
    if (policy != TG_SCHEDULE_RANDOM && policy != TG_SCHEDULE_ADVERSARIAL)
        return 0;
    return (luck & 15) == 0 ? luck >> 48 : 0;
}

#endif
