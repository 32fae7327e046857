/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks that a recording has records of, and when they ran. A task runs from its first record before dispatch to
 * its last record after completion, so its time has the time that recording took. A mix is recorded once, by one of
 * its lanes: all of its parts get the same times. Kernels that only write have no record before dispatch, and those
 * that only read none after completion; then one of the two times is not known.
 *
 *     struct tg_seen_tasks seen;
 *     tg_timeline_start(&timeline);
 *     tg_seen_tasks_read(recording, &timeline, false, &seen, &error)
 *     for (i = 0; i < seen.count; i++)
 *         n = tg_seen_task_parts(&seen, &seen.task[i], parts);
 *     tg_seen_tasks_free(&seen);
 */
#ifndef TG_ANALYSIS_TIMELINE_TASKS_H
#define TG_ANALYSIS_TIMELINE_TASKS_H

#include <taskglass/recording.h>

#include "trace/timeline.h"

/* A task of which records were seen. */
struct tg_seen_task {
    uint64_t id, begin, end;         /* times: TG_TIME_UNKNOWN if there is none */
    uint32_t core, kernel[TG_PARTS]; /* kernels: of the timeline, or TG_TIMELINE_NONE */
    bool is_partial;
};

enum { TG_SEEN_LANES = 1024, TG_SEEN_RECENT = 1024 };

struct tg_seen_tasks {
    const struct tg_recording *recording;
    struct tg_timeline *timeline; /* gets their kernels and cores, and nothing else */
    struct tg_seen_task *task;    /* in the order in which records name them first */
    size_t count, room;
    bool has_times;
    /* If the caller wants it: the number of its task by record; TG_TIMELINE_NONE for a record of none. */
    uint32_t *of_record;
    /* Private. */
    uint32_t *slot; /* number + 1 by id; open addressing, at most half full */
    size_t n_slots;
    uint32_t *kernel; /* index in the timeline + 1, by number */
    size_t n_kernels, kernel_room;
    uint32_t core[TG_SEEN_LANES]; /* index in the timeline + 1, by number */
    uint32_t
        recent[TG_SEEN_RECENT]; /* number + 1 of tasks seen of late, by the low bits of their ids */
};

/* Reads all records once, and lets the pages of a journal go on the way. The caller frees *seen, also after a failure,
 * which is NO_MEMORY; or BAD_ARGUMENT if `of_record` is wanted of more than 2^32 - 2 records. */
tg_status tg_seen_tasks_read(const struct tg_recording *recording, struct tg_timeline *timeline,
                             bool wants_records, struct tg_seen_tasks *seen,
                             struct tg_error *error);
void tg_seen_tasks_free(struct tg_seen_tasks *seen);

/* The parts of a task, each on its core: 0 if no time is known of it, TG_PARTS at most; -1 if memory ran out. */
int tg_seen_task_parts(struct tg_seen_tasks *seen, const struct tg_seen_task *task,
                       struct tg_timeline_part part[TG_PARTS]);

/* The core of that number; TG_TIMELINE_NONE if memory ran out. */
uint32_t tg_timeline_add_lane(struct tg_timeline *timeline, uint32_t lane);

/* Adds what run.json says: the names of the run, and cores that ran nothing, which were idle too. False if memory ran
 * out. */
bool tg_timeline_take_facts(const struct tg_recording *recording, struct tg_timeline *timeline);

#endif
