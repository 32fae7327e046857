/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the GPU's process starts a run on a kernel that is still on the GPU, hears how the run ended, and
 * sends the kernel away. The kernel's end of it is the watch, a thread that takes no tasks.
 *
 * A run has a call: twice its number. The lowest bit of a word says something more. Between runs:
 *
 *   process                              the kernel, after run R
 *   ───────                              ───────────────────────
 *   launch = …                           the watch looks at `bell`, again and again
 *   bell = call of R+1     ──B1──►       sees it: makes the engine ready with all other blocks
 *                          ◄──B2──       heard = call of R+1: the run has begun
 *                          ◄──B3──       ended = call of R+1, and whether it was stopped
 *
 *   bell |= TG_BELL_LEAVE  ──B1──►       sees it: leaves, after the run if there is one
 *                                        or has waited for as long as a kernel may stay: leaves
 *                          ◄──B4──       heard |= TG_BELL_GONE: it hears no more
 *
 * The process may ring while the kernel makes up its mind to leave. Only the watch decides: what it has not
 * heard before it writes B4 it never hears. So whoever rings waits for `heard` to become the new call, or
 * the call before with TG_BELL_GONE; then nobody has taken the run, and it is launched with a new kernel.
 * Nothing has to be exchanged over the bus, and no run is taken twice or not at all.
 *
 * Each word has one writer at a time. `ended` is written by the last worker to leave a run. While no kernel
 * is on the GPU, `heard` belongs to the process, which makes it ready for the next kernel.
 *
 * Named edges:
 *   B1  bell    the process, which has filled in `launch`, `stop` and all that the run reads, pairs with the
 *               watch
 *   B2  heard   the watch pairs with the process: the run has begun
 *   B3  ended   the last worker to leave, which has seen what the others did, pairs with the process: what
 *               the run wrote is there
 *   B4  heard   the watch pairs with the process: the kernel takes no more runs
 */
#ifndef TG_CUDA_BELL_H
#define TG_CUDA_BELL_H

#include "common/atomic.h"
#include "platform/cuda/launch.h"
#include <stdbool.h>
#include <taskglass/target.h>

enum { TG_BELL_LEAVE = 1, TG_BELL_GONE = 1, TG_BELL_WAS_STOPPED = 1 };

TG_FN static inline uint32_t tg_bell_call(uint32_t run)
{
    return run << 1;
}

/* ── the process ───────────────────────────────────────────────────────────────────────── */

/* While no kernel is on the GPU, before one is launched for that run: as if the kernel had just ended the
 * run before. */
TG_FN static inline void tg_bell_hang(struct tg_cuda_words *w, uint32_t run)
{
    tg_store_relaxed_host(&w->heard, tg_bell_call(run) - 2);
}

/* A run that is about to begin is not stopped. Once for each run: if it is rung for and then launched, it may
 * have been stopped in between. */
TG_FN static inline void tg_bell_allow(struct tg_cuda_words *w)
{
    tg_store_relaxed_host(&w->stop, (uint32_t)0);
}

/* Also before a launch, whose kernel then looks at the same words. */
TG_FN static inline void tg_bell_ring(struct tg_cuda_words *w, uint32_t run, uint64_t launch)
{
    tg_store_relaxed_host(&w->launch, launch);
    tg_store_release_host(&w->bell, tg_bell_call(run)); /* B1 */
}

TG_FN static inline void tg_bell_dismiss(struct tg_cuda_words *w)
{
    tg_store_release_host(&w->bell, w->bell | TG_BELL_LEAVE); /* B1 */
}

/* True if the kernel takes no more runs. A kernel that is about to leave may not have said so yet. */
TG_FN static inline bool tg_bell_is_gone(const struct tg_cuda_words *w)
{
    return (tg_load_acquire_host(&w->heard) & TG_BELL_GONE) != 0; /* B4 */
}

enum tg_bell_news {
    TG_BELL_RINGS, /* nobody has taken the run yet */
    TG_BELL_RUNS,
    TG_BELL_OVER,
    TG_BELL_STOPPED,
    TG_BELL_MISSED /* the kernel has left and not taken the run */
};

/* What has become of the run that was rung for last. */
TG_FN static inline enum tg_bell_news tg_bell_ask(const struct tg_cuda_words *w, uint32_t run)
{
    uint32_t call = tg_bell_call(run);
    uint32_t ended = tg_load_acquire_host(&w->ended); /* B3 */
    uint32_t heard = tg_load_acquire_host(&w->heard); /* B2, B4 */
    if ((ended & ~(uint32_t)TG_BELL_WAS_STOPPED) == call)
        return ended == call ? TG_BELL_OVER : TG_BELL_STOPPED;
    if ((heard & ~(uint32_t)TG_BELL_GONE) == call)
        return TG_BELL_RUNS;
    return heard & TG_BELL_GONE ? TG_BELL_MISSED : TG_BELL_RINGS;
}

/* ── the kernel ────────────────────────────────────────────────────────────────────────── */

enum tg_bell_heard { TG_BELL_SILENT, TG_BELL_RUN, TG_BELL_DISMISSED };

/* The watch, between runs: looks at the bell once. *call is that of the last run, and becomes that of the
 * next. */
TG_FN static inline enum tg_bell_heard tg_bell_listen(const struct tg_cuda_words *w, uint32_t *call)
{
    uint32_t bell = tg_load_acquire_host(&w->bell); /* B1 */
    if (bell == *call)
        return TG_BELL_SILENT;
    if (bell == (*call | TG_BELL_LEAVE))
        return TG_BELL_DISMISSED;
    *call = bell & ~(uint32_t)TG_BELL_LEAVE;
    return TG_BELL_RUN;
}

/* The watch: the run has begun. */
TG_FN static inline void tg_bell_begin(struct tg_cuda_words *w, uint32_t call)
{
    tg_store_release_host(&w->heard, call); /* B2 */
}

/* The watch: the kernel leaves, after that run. */
TG_FN static inline void tg_bell_go(struct tg_cuda_words *w, uint32_t call)
{
    tg_store_release_host(&w->heard, call | TG_BELL_GONE); /* B4 */
}

/* The last worker to leave a run. */
TG_FN static inline void tg_bell_end(struct tg_cuda_words *w, uint32_t call, bool stopped)
{
    tg_store_release_host(&w->ended, stopped ? call | TG_BELL_WAS_STOPPED : call); /* B3 */
}

#endif
