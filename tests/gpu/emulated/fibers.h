/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every thread of the GPU is a fiber: a stack of its own, and one of them runs at a time. A fiber gives
 * way at its accesses to memory, where it waits, and where it sleeps; who runs next is drawn from the
 * seed. Now and then the scheduler holds back a lane, a warp, a block, or all but one block.
 */
#ifndef TG_EMULATED_FIBERS_H
#define TG_EMULATED_FIBERS_H

#include "cuda.h"

enum { EMU_STACK = 96 << 10, EMU_COPIES = 64 };

struct emu_copy {
    void *to;
    const void *from;
    uint32_t size;
};

struct fiber {
    void *sp;
    char *stack;
    uint32_t block, thread;
    int32_t at;          /* in the list of those that can run; -1: it waits */
    const void *waits;   /* the barrier or warp that it waits for */
    const char *state;   /* what it waits for, in words */
    uint64_t not_before; /* the step that it is held back to */
    void (*run)(void);
    bool done;
    uint32_t n_copies; /* begun, and not there yet */
    struct emu_copy copy[EMU_COPIES];
};

/* No fiber is left; all that follows is decided by the seed. */
void emu_reset(uint64_t seed);
void emu_spawn(uint32_t block, uint32_t thread, void (*run)(void));

/* Called from outside of the fibers: they run until `until` says so, which is asked now and then. */
void emu_run(bool (*until)(void));

/* How often, on average, a fiber gives way at an access and at an atomic operation, how fast clock()
 * runs, and whether fibers are held back. */
void emu_set_pace(uint32_t access_every, uint32_t atomic_every, uint32_t clock_rate, bool starves);

uint64_t emu_steps(void);
uint32_t emu_random(uint32_t n); /* below n */
void emu_yield(void);
void emu_pause(uint64_t steps);
void emu_progress(void); /* a run that has none for long hangs */

/* For a failure: what the scene knows. */
extern void (*emu_describe)(void);

/* ── for meetings.cpp and accesses.cpp ─────────────────────────────────────────────────── */

extern struct fiber *emu_current; /* 0 outside of the fibers */

void emu_wait(const void *what, const char *state); /* until emu_wake */
void emu_wake(const void *what);
void emu_wake_one(struct fiber *fiber);
uint32_t emu_threads_of(uint32_t block);
void emu_tick(uint32_t n);
void emu_atomic(void); /* an atomic operation: other fibers may run */
void emu_print_frames(const struct fiber *fiber);
void emu_meetings_reset(void);

#endif
