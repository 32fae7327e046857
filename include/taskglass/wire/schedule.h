/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A schedule as the device sees it (taskglass/schedule.h says what the policies mean). A launch points to
 * it; without one the device schedules as it likes.
 *
 *   setup (112 bytes)          pairs, by `after`         orders                    starts
 *   ┌──────────────────┐       ┌──────────────────┐      ┌───────────────────┐     ┌──────────────┐
 *   │ policy, seed, …  │ ────► │ before, after,   │ ◄─── │ numbers of pairs, │     │ task ids, as │
 *   │ choices, broken  │       │ state            │      │ by `before`       │     │ they started │
 *   └──────────────────┘       └──────────────────┘      └───────────────────┘     └──────────────┘
 *
 * Who writes:  the host everything before the launch; the device `serial`, `choices`, `broken`, the
 *              states of pairs, `held` and the starts. The host reads these after the run and trusts
 *              nothing.
 */
#ifndef TASKGLASS_WIRE_SCHEDULE_H
#define TASKGLASS_WIRE_SCHEDULE_H

#include <stdint.h>
#include <taskglass/wire/assert.h>
#include <taskglass/wire/record.h>

/* In which order ready tasks start: the word that stands for it, and its meaning. */
/* clang-format off */
#define TG_SCHEDULE_MAP(X)                                                    \
    X(TG_SCHEDULE_NONE,        0, "",            "as it is fastest")          \
    X(TG_SCHEDULE_FIFO,        1, "fifo",        "first submitted first")     \
    X(TG_SCHEDULE_LIFO,        2, "lifo",        "last submitted first")      \
    X(TG_SCHEDULE_RANDOM,      3, "random",      "any of them")               \
    X(TG_SCHEDULE_ADVERSARIAL, 4, "adversarial", "some wait for all others")  \
    X(TG_SCHEDULE_ORDER,       5, "order",       "fifo with pairs of tasks")
/* clang-format on */
enum tg_schedule_policy { TG_SCHEDULE_MAP(TG_WORD_ENUM_) TG_SCHEDULE_POLICIES };

/* What became of a pair. */
enum tg_pair_state { TG_PAIR_OPEN = 0, TG_PAIR_MET = 1, TG_PAIR_BROKEN = 2 };

/* One pair of `order`. */
struct tg_order_pair {
    uint64_t before, after; /* task ids */
    uint32_t state;         /* enum tg_pair_state */
    /* in the first pair of an `after`, while the device holds that task back */
    uint32_t held;  /* the task's index + 1; 0: it is not held back */
    uint32_t place; /* in the list of what is held back */
    uint32_t reserved;
};
TG_WIRE_SIZE(struct tg_order_pair, 32);

/* The schedule of a run. */
struct tg_schedule_setup {
    uint64_t magic;
    uint32_t policy; /* enum tg_schedule_policy */
    uint32_t n_pairs;
    uint64_t seed;
    uint64_t pairs;     /* struct tg_order_pair[n_pairs], by `after`, then by `before`; each once */
    uint64_t by_before; /* uint32_t[n_pairs]: numbers of pairs, by `before` */
    uint64_t held;      /* uint32_t[n_pairs]: the device's list of what is held back */
    uint64_t starts; /* uint64_t[n_starts]: ids of the first tasks in the order of their starts */
    uint64_t n_starts;
    uint64_t choices; /* tasks started so far */
    uint64_t broken;  /* pairs that were not kept */
    uint32_t serial;  /* 1: one task at a time */
    uint32_t reserved0;
    uint64_t reserved[3];
};
TG_WIRE_SIZE(struct tg_schedule_setup, 112);
TG_WIRE_AT(struct tg_schedule_setup, choices, 64);

#define TG_SCHEDULE_MAGIC UINT64_C(0x31686373736C6774) /* "tglssch1" */

#endif
