/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

#include "fibers.h"

/* TG_BLOCK_MEMORY_BYTES, and room for struct tg_orders. */
enum { MOST_FIBERS = EMU_BLOCKS * EMU_THREADS, SHARED_BYTES = 65536 + 17408 };
static const uint64_t HANGS_AFTER = 6000000; /* steps without progress */

static struct fiber fibers[MOST_FIBERS], *ready[MOST_FIBERS];
static uint32_t n_fibers, n_ready;
struct fiber *emu_current;
void (*emu_describe)(void);
static void *outside; /* the stack of emu_run's caller */
static bool (*is_over)(void);

static char *shared[EMU_BLOCKS];
static uint32_t threads_of[EMU_BLOCKS];
static uint64_t seed_now, state, steps, progress_at, ticks, next_starve;
static uint32_t access_every = 20, atomic_every = 2, clock_rate = 1, to_access, to_atomic;
static bool starves = true;

uint32_t emu_random(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n > 0 ? (uint32_t)(state >> 16) % n : 0;
}

/* ── switching ─────────────────────────────────────────────────────────────────────────── */

/* Keeps the registers that a call preserves on the stack. x86-64. */
extern "C" void emu_switch(void **from, void *to);
asm(R"(
.globl emu_switch
emu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");
enum { SAVED_FRAME = 5 }; /* %rbp, among the saved registers */

static void make_ready(struct fiber *f)
{
    if (f->at >= 0)
        return;
    f->at = (int32_t)n_ready;
    ready[n_ready++] = f;
}

static void make_wait(struct fiber *f)
{
    if (f->at < 0)
        return;
    ready[f->at] = ready[--n_ready];
    ready[f->at]->at = f->at;
    f->at = -1;
}

static void go_on_with(struct fiber *next)
{
    struct fiber *last = emu_current;
    if (next == last)
        return;
    emu_current = next;
    emu_switch(&last->sp, next->sp);
}

static void leave(void)
{
    struct fiber *last = emu_current;
    emu_current = 0;
    emu_switch(&last->sp, outside);
}

/* ── who runs next ─────────────────────────────────────────────────────────────────────── */

static bool is_victim(const struct fiber *f, const struct fiber *like, uint32_t kind)
{
    bool same_block = f->block == like->block;
    switch (kind) {
    case 0: /* one thread */
        return f == like;
    case 1: /* a warp */
        return same_block && f->thread / 32 == like->thread / 32;
    case 2: /* a block */
        return same_block;
    case 3: /* a crew */
        return same_block && f->thread < EMU_CREW;
    case 4: /* the leader's lanes without the leader */
        return same_block && f->thread > EMU_CREW;
    default: /* all blocks but one */
        return !same_block;
    }
}

static void starve(void)
{
    next_starve = steps + 200 + emu_random(20000);
    if (!starves || n_ready == 0)
        return;
    uint64_t length = 1ull << (4 + emu_random(13));
    const struct fiber *like = &fibers[emu_random(n_fibers)];
    uint32_t kind = emu_random(6);
    if (kind == 5)
        length /= 4;
    for (uint32_t i = 0; i < n_fibers; i++)
        if (is_victim(&fibers[i], like, kind))
            fibers[i].not_before = steps + length;
}

/* A fiber that is not held back, if there is one; otherwise the first whose time comes. */
static struct fiber *draw(void)
{
    for (uint32_t i = 0; i < 12; i++) {
        struct fiber *f = ready[emu_random(n_ready)];
        if (f->not_before <= steps || emu_random(4096) == 0)
            return f;
    }
    uint32_t first = emu_random(n_ready);
    struct fiber *best = ready[first];
    for (uint32_t i = 0; i < n_ready; i++) {
        struct fiber *f = ready[(first + i) % n_ready];
        if (f->not_before <= steps)
            return f;
        if (f->not_before < best->not_before)
            best = f;
    }
    return best;
}

static void give_way(void)
{
    steps++;
    if (steps >= next_starve)
        starve();
    if (steps - progress_at > HANGS_AFTER)
        emu_fail("hangs: no kernel started for %llu steps", (unsigned long long)HANGS_AFTER);
    if ((steps % 64 == 0 || n_ready == 0) && is_over()) {
        leave();
        return;
    }
    if (n_ready == 0)
        emu_fail("every thread waits for another");
    go_on_with(draw());
}

void emu_yield(void)
{
    if (emu_current)
        give_way();
}

void emu_pause(uint64_t n)
{
    emu_current->not_before = steps + n;
    give_way();
}

void emu_sleep(unsigned ns)
{
    ticks += ns / 4 + 1;
    emu_pause(1 + emu_random(ns / 2 + 2));
}

void emu_wait(const void *what, const char *words)
{
    emu_current->waits = what;
    emu_current->state = words;
    make_wait(emu_current);
    give_way();
}

void emu_wake_one(struct fiber *f)
{
    f->waits = 0;
    f->state = 0;
    make_ready(f);
}

void emu_wake(const void *what)
{
    for (uint32_t i = 0; i < n_fibers; i++)
        if (fibers[i].waits == what)
            emu_wake_one(&fibers[i]);
}

/* ── accesses and time ─────────────────────────────────────────────────────────────────── */

void emu_access(const void *p)
{
    const char *byte = (const char *)p;
    ticks++;
    if (!emu_current)
        return;
    if (byte >= emu_current->stack && byte < emu_current->stack + EMU_STACK)
        return; /* nobody else's */
    if (--to_access > 0)
        return;
    to_access = 1 + emu_random(2 * access_every);
    if (emu_random(8) == 0)
        emu_await_copies(); /* those on their way arrive before somebody waits for them */
    give_way();
}

void emu_atomic(void)
{
    ticks++;
    if (!emu_current || --to_atomic > 0)
        return;
    to_atomic = 1 + emu_random(2 * atomic_every - 1);
    give_way();
}

void emu_tick(uint32_t n)
{
    ticks += n;
}

uint64_t emu_time(void)
{
    return 1000 + ticks;
}

unsigned emu_clock(void)
{
    emu_yield();
    return (unsigned)(ticks * clock_rate);
}

void emu_set_pace(uint32_t accesses, uint32_t atomics, uint32_t rate, bool starve_them)
{
    access_every = accesses;
    atomic_every = atomics;
    clock_rate = rate;
    starves = starve_them;
}

uint64_t emu_steps(void)
{
    return steps;
}

void emu_progress(void)
{
    progress_at = steps;
}

struct emu_dim emu_thread(void)
{
    return emu_dim{emu_current ? emu_current->thread : 0};
}

unsigned emu_block(void)
{
    return emu_current ? emu_current->block : EMU_BLOCKS - 1;
}

char *emu_shared(void)
{
    return shared[emu_block()];
}

uint32_t emu_threads_of(uint32_t block)
{
    return threads_of[block];
}

/* ── failures ──────────────────────────────────────────────────────────────────────────── */

/* The return addresses; run.py makes names of them. */
void emu_print_frames(const struct fiber *f)
{
    bool runs = f == emu_current;
    void **frame = (void **)(runs ? __builtin_frame_address(0) : ((void **)f->sp)[SAVED_FRAME]);
    fprintf(stderr, "  block %u thread %u %s:", f->block, f->thread, f->state ? f->state : "");
    for (uint32_t i = 0; i < 12; i++) {
        if ((char *)frame <= f->stack || (char *)frame >= f->stack + EMU_STACK - 64)
            break;
        fprintf(stderr, " %p", frame[1]);
        frame = (void **)frame[0];
    }
    fprintf(stderr, "\n");
}

void emu_fail(const char *what, ...)
{
    va_list arguments;
    fprintf(stderr, "FAILED: seed %llu, step %llu: ", (unsigned long long)seed_now,
            (unsigned long long)steps);
    va_start(arguments, what);
    vfprintf(stderr, what, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    if (emu_describe)
        emu_describe();
    if (emu_current)
        emu_print_frames(emu_current);
    for (uint32_t i = 0; i < n_fibers; i++)
        if (!fibers[i].done && &fibers[i] != emu_current && fibers[i].thread % 32 < 2)
            emu_print_frames(&fibers[i]);
    fflush(stderr);
    _exit(1);
}

static void on_signal(int number)
{
    emu_fail("signal %d", number);
}

/* On a stack of its own, because the fiber's may be the reason. */
static void catch_signals(void)
{
    static char memory[1 << 16];
    stack_t stack = {};
    struct sigaction action = {};
    stack.ss_sp = memory;
    stack.ss_size = sizeof memory;
    sigaltstack(&stack, 0);
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGSEGV, &action, 0);
    sigaction(SIGBUS, &action, 0);
}

/* ── the beginning ─────────────────────────────────────────────────────────────────────── */

static void begin(void)
{
    emu_current->run();
    emu_current->done = true;
    emu_wait(0, "has ended");
    abort(); /* nothing wakes it */
}

void emu_spawn(uint32_t block, uint32_t thread, void (*run)(void))
{
    if (n_fibers == MOST_FIBERS)
        emu_fail("too many threads");
    struct fiber *f = &fibers[n_fibers++];
    char *stack = f->stack ? f->stack : (char *)aligned_alloc(64, EMU_STACK);
    memset((void *)f, 0, sizeof *f);
    f->stack = stack;
    f->block = block;
    f->thread = thread;
    f->run = run;
    f->at = -1;
    void **sp = (void **)(stack + EMU_STACK - 64);
    *--sp = 0; /* nobody called begin */
    *--sp = (void *)begin;
    for (uint32_t i = 0; i <= SAVED_FRAME; i++)
        *--sp = 0;
    f->sp = sp;
    threads_of[block]++;
    make_ready(f);
}

void emu_reset(uint64_t seed)
{
    catch_signals();
    seed_now = seed;
    state = seed * 0x9E3779B97F4A7C15ull + 0x1234567;
    for (uint32_t i = 0; i < 8; i++)
        emu_random(1);
    for (uint32_t b = 0; b < EMU_BLOCKS; b++) {
        if (!shared[b])
            shared[b] = (char *)aligned_alloc(128, SHARED_BYTES);
        memset(shared[b], 0xCD, SHARED_BYTES);
        threads_of[b] = 0;
    }
    emu_meetings_reset();
    n_fibers = n_ready = 0;
    steps = progress_at = ticks = 0;
    next_starve = 100;
    to_access = to_atomic = 1;
    emu_current = 0;
}

void emu_run(bool (*until)(void))
{
    if (until())
        return;
    if (n_ready == 0)
        emu_fail("every thread waits for another");
    is_over = until;
    emu_current = draw();
    emu_switch(&outside, emu_current->sp);
}
