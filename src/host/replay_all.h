/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaying all tasks of a recording.
 *
 *     replay_all.c     starts the lanes, tells the caller the verdicts (host/batches.h)
 *     replay_lane.c    a lane: a thread with a device of its own that judges one task after another
 *     replay_belief.c  when a verdict has to be repeated on a fresh device
 *     replay_stage.c   one task on an open device
 *     guarded.c        the same with guards
 */
#ifndef TG_HOST_REPLAY_ALL_H
#define TG_HOST_REPLAY_ALL_H

#include "host/batches.h"
#include "host/replay_belief.h"
#include "host/replay_stage.h"

/* The result of one task in a batch. */
struct tg_replay_told {
    struct tg_replay_verdict is;
    char why[sizeof((struct tg_guard_finding *)NULL)->text];
    struct tg_guard_finding *finding; /* of `is`; whoever tells the verdict frees them */
};

/* What lanes and the caller's thread share. */
struct tg_replay_job {
    const struct tg_recording *recording;
    const struct tg_plan *plan;
    const struct tg_trusted *trusted;
    bool guarded;
    bool was_filtered; /* the run was recorded with --dump-filter */
    uint32_t repeat;
    uint64_t memory_limit; /* of one task */
    pthread_mutex_t large; /* held while a task with much memory is replayed */
    struct tg_replay_beliefs belief;
    struct tg_batches batches; /* a result is a struct tg_replay_told */
};

struct tg_replay_lane {
    struct tg_replay_job *job;
    struct tg_replay_stage stage;
    struct tg_guarded *guarded; /* on the stage's device; NULL: none yet */
    bool has_pages;             /* of the guards, on this platform */
    struct tg_replay_result result;
    struct tg_guard_report report;
};

/* The function of a lane's thread. */
void *tg_replay_lane_run(void *lane);

#endif
