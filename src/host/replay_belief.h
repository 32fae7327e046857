/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a bad verdict on a task counts. A device serves many tasks, and one that damages it must not cost
 * another its good name, so a bad verdict is repeated on a fresh device. Opening one costs more than most
 * tasks, so where a kernel got the same verdict on a fresh device often enough, and never another one than on
 * the device before, the next tasks with this verdict are believed.
 */
#ifndef TG_HOST_REPLAY_BELIEF_H
#define TG_HOST_REPLAY_BELIEF_H

#include <pthread.h>
#include <stdbool.h>
#include <taskglass/replay.h>

enum {
    TG_BELIEVED_AFTER = 16, /* verdicts that fresh devices confirmed */
    TG_MOST_HANGS = 8,    /* tasks of a kernel that did not return, until the others are not run */
    TG_MOST_BELIEFS = 256 /* others are repeated always */
};

struct tg_replay_belief {
    char kernel[200];
    uint32_t is, argument, finding; /* of the verdict; finding: the kind of the first one */
    uint32_t confirmed;
    bool is_doubted; /* a fresh device said something else */
};

/* All lanes use it at the same time. */
struct tg_replay_beliefs {
    pthread_mutex_t lock;
    uint32_t count;
    struct tg_replay_belief list[TG_MOST_BELIEFS];
};

/* True if the verdict accuses the task. */
bool tg_replay_accuses(const struct tg_replay_verdict *verdict);
/* True if the verdict, from a device that has served other tasks, need not be repeated. */
bool tg_replay_believes(struct tg_replay_beliefs *beliefs, const struct tg_replay_verdict *verdict);
/* Notes the verdict of a fresh device, after `before` on another one; NULL: there was none. */
void tg_replay_confirm(struct tg_replay_beliefs *beliefs, const struct tg_replay_verdict *before,
                       const struct tg_replay_verdict *fresh);
/* True if so many tasks of this kernel did not return that no other should be tried. */
bool tg_replay_hangs(struct tg_replay_beliefs *beliefs, const char *kernel);

#endif
