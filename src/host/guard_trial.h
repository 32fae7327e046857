/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials: runs of one task between guards. All trials of a session share one arena of device memory, one
 * graph, and the buffers here, so that a small task costs little more than its kernel.
 */
#ifndef TG_HOST_GUARD_TRIAL_H
#define TG_HOST_GUARD_TRIAL_H

#include "host/guard_memory.h"
#include "host/guarded.h"
#include <taskglass/args.h>

/* How a trial ended. */
enum tg_guard_end { TG_GUARD_ENDED, TG_GUARD_FAULTED, TG_GUARD_HUNG, TG_GUARD_DIED };

struct tg_guard_trial {
    struct tg_guard_plan plan;
    struct tg_guard_fill fill;
    /* Of the last run: */
    struct tg_guard_place place[TG_MAX_TENSORS];
    uint8_t *before, *after; /* regions of all blocks */
    size_t room_before, room_after;
    uint64_t bytes;
};

/* What a trial left that did not end by itself. */
struct tg_guard_failure {
    enum tg_guard_end end;
    int signal;
    bool has_place;  /* `at` is in device memory of the arena */
    uint64_t at;     /* offset in the arena */
    uint32_t block;  /* from which the kernel came to that place; UINT32_MAX: not known */
    bool is_odd;     /* no address was reported: misaligned, or one that no memory can have */
    uint32_t access; /* enum tg_access */
    char site[400];  /* "at model.c:42 in add", or "" */
    char text[sizeof((struct tg_error *)0)->text]; /* what the run said */
};

enum { TG_GUARD_TRIALS = TG_GUARD_PATTERNS + 1 };

/* The largest task that can be guarded, with its zones. */
#define TG_GUARD_MOST_BYTES (UINT64_C(128) << 20)

struct tg_guarded {
    struct tg_guard_bench *bench;
    bool has_pages;
    struct tg_graph *graph;
    uint64_t allocated;        /* device memory; 0: none */
    uint64_t arena;            /* the first page in it */
    uint64_t arena_size;       /* whole pages */
    struct tg_protection *now; /* what is in force in the arena */
    struct tg_protection *next;
    size_t n_now, room_now, room_next;
    struct tg_guard_memory memory;
    struct tg_guard_trial trial[TG_GUARD_TRIALS];
    struct tg_guard_patterns patterns;
    uint32_t runs; /* of the current task's kernel */
};

/* Runs trials of the task in memory, one after the other. OK: all that came before a failure have ended, and
 * *failure says how the first one that did not end ended (ENDED: there is none); *ended says how many have.
 * The device is open again afterwards. NO_MEMORY: the device has not enough for all at once. */
tg_status tg_guard_trials_run(struct tg_guarded *g, struct tg_guard_trial *const *trial, uint32_t n,
                              uint32_t *ended, struct tg_guard_failure *failure,
                              struct tg_error *error);

/* Gives back what the session has on the device. */
void tg_guard_trials_leave(struct tg_guarded *g);

/* The first byte of a block in the trial's memory, before and after the kernel. */
static inline const uint8_t *tg_guard_before(const struct tg_guard_trial *trial, uint32_t block)
{
    const struct tg_guard_place *place = &trial->place[block];
    return trial->before + place->buffer + (place->data - place->region);
}
static inline const uint8_t *tg_guard_after(const struct tg_guard_trial *trial, uint32_t block)
{
    const struct tg_guard_place *place = &trial->place[block];
    return trial->after + place->buffer + (place->data - place->region);
}

#endif
