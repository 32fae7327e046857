/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where threads wait for each other: the 32 lanes of a warp, the threads of a crew or a block, mbarriers,
 * and copies that arrive later than they are begun.
 */
#include "fibers.h"

enum { WARPS = EMU_THREADS / 32 };

/* What a lane brings to a meeting of its warp. There are two sets, because a lane may be at the next meeting
 * before another has looked at the result of this one. */
struct meeting {
    uint64_t value[32];
    uint64_t site[32];
    enum emu_kind kind[32];
    uint32_t ballot;
};
struct warp {
    uint32_t arrived;
    uint64_t number; /* of meetings so far */
    struct fiber *lane[32];
    struct meeting meeting[2];
};
static struct warp warps[EMU_BLOCKS][WARPS];

struct group {
    uint32_t arrived;
    uint64_t number;
};
static struct group crews[EMU_BLOCKS], blocks[EMU_BLOCKS];

void emu_meetings_reset(void)
{
    memset(warps, 0, sizeof warps);
    memset(crews, 0, sizeof crews);
    memset(blocks, 0, sizeof blocks);
}

/* ── a warp ────────────────────────────────────────────────────────────────────────────── */

/* patch.py puts tg_lanes_walk, which a leader and its lanes call from different places, into this section. */
extern char __start_emu_walk[], __stop_emu_walk[];

/* A number for the place of the source and its callers up to tg_lanes_walk. Lanes that meet at different
 * places diverge, which a GPU does not notice. */
static uint64_t site_of(void **frame)
{
    const char *low = emu_current->stack, *high = low + EMU_STACK - 64;
    uint64_t hash = 1469598103934665603ull;
    for (uint32_t i = 0; i < 12 && (char *)frame > low && (char *)frame < high; i++) {
        const char *caller = (const char *)frame[1];
        hash = (hash ^ (uint64_t)caller) * 1099511628211ull;
        if (caller >= __start_emu_walk && caller < __stop_emu_walk)
            break;
        frame = (void **)frame[0];
    }
    return hash;
}

/* The last lane has come. */
static void conclude(struct warp *warp, struct meeting *meeting)
{
    uint32_t last = emu_current->thread % 32;
    meeting->ballot = 0;
    for (uint32_t i = 0; i < 32; i++) {
        if (meeting->site[i] != meeting->site[last] || meeting->kind[i] != meeting->kind[last]) {
            emu_print_frames(warp->lane[i]);
            emu_fail("lanes %u and %u of a warp meet at different places", last, i);
        }
        meeting->ballot |= (uint32_t)(meeting->value[i] != 0) << i;
    }
    warp->arrived = 0;
    warp->number++;
    for (uint32_t i = 0; i < 32; i++)
        if (i != last)
            emu_wake_one(warp->lane[i]);
    if (emu_random(2))
        emu_yield();
}

static const struct meeting *meet(enum emu_kind kind, uint64_t value, void *frame)
{
    struct warp *warp = &warps[emu_current->block][emu_current->thread / 32];
    uint32_t lane = emu_current->thread % 32;
    uint64_t number = warp->number;
    struct meeting *meeting = &warp->meeting[number % 2];
    emu_tick(1);
    if (emu_random(3) == 0)
        emu_yield();
    if (warp->number != number || warp->arrived >> lane & 1)
        emu_fail("lane %u is at two meetings of its warp", lane);
    meeting->value[lane] = value;
    meeting->site[lane] = site_of((void **)frame);
    meeting->kind[lane] = kind;
    warp->lane[lane] = emu_current;
    warp->arrived |= 1u << lane;
    if (warp->arrived == UINT32_MAX)
        conclude(warp, meeting);
    else
        emu_wait(warp, "waits for its warp");
    return meeting;
}

void emu_sync(void)
{
    meet(EMU_SYNC, 0, __builtin_frame_address(0));
}

uint32_t emu_ballot(bool value)
{
    return meet(EMU_BALLOT, value, __builtin_frame_address(0))->ballot;
}

uint64_t emu_shuffle(enum emu_kind kind, uint64_t value, int n)
{
    const struct meeting *meeting = meet(kind, value, __builtin_frame_address(0));
    int lane = (int)(emu_current->thread % 32), from = n & 31;
    if (kind == EMU_SHFL_UP)
        from = lane >= n ? lane - n : lane;
    else if (kind == EMU_SHFL_DOWN)
        from = lane + n < 32 ? lane + n : lane;
    return meeting->value[from];
}

/* ── a crew, and a block ───────────────────────────────────────────────────────────────── */

static void meet_group(struct group *group, uint32_t n)
{
    uint64_t number = group->number;
    if (++group->arrived < n) {
        while (group->number == number)
            emu_wait(group, "waits for its block");
        return;
    }
    group->arrived = 0;
    group->number++;
    emu_wake(group);
    emu_yield();
}

void emu_crew_meet(void)
{
    meet_group(&crews[emu_current->block], EMU_CREW);
}

void emu_block_meet(void)
{
    meet_group(&blocks[emu_current->block], emu_threads_of(emu_current->block));
}

/* ── mbarriers ─────────────────────────────────────────────────────────────────────────── */

/* What is in the 8 bytes. */
struct barrier {
    uint16_t expected, pending;
    uint32_t phase;
};

void emu_barrier_init(uint64_t *word, uint32_t arrivals)
{
    struct barrier *barrier = (struct barrier *)word;
    barrier->expected = barrier->pending = (uint16_t)arrivals;
    barrier->phase = 0;
}

void emu_barrier_arrive(uint64_t *word)
{
    struct barrier *barrier = (struct barrier *)word;
    if (emu_random(2))
        emu_yield();
    if (--barrier->pending > 0)
        return;
    barrier->pending = barrier->expected;
    barrier->phase++;
    emu_wake(word);
}

static bool has_passed(const uint64_t *word, uint32_t parity)
{
    return (((const struct barrier *)word)->phase & 1) != (parity & 1);
}

bool emu_barrier_passed(const uint64_t *word, uint32_t parity)
{
    emu_tick(4);
    emu_yield();
    return has_passed(word, parity);
}

/* As try_wait: waits, but may return too early. */
bool emu_barrier_try(const uint64_t *word, uint32_t parity)
{
    if (emu_random(2))
        emu_yield();
    if (has_passed(word, parity))
        return true;
    emu_tick(8);
    if (emu_random(16) == 0)
        emu_yield();
    else
        emu_wait(word, "waits for an mbarrier");
    return has_passed(word, parity);
}

/* ── copies, and other stores ──────────────────────────────────────────────────────────── */

void emu_begin_copy(void *to, const void *from, uint32_t size)
{
    struct fiber *f = emu_current;
    emu_access(to);
    if (((uintptr_t)to | (uintptr_t)from | size) % 16 != 0)
        emu_fail("a copy that is not aligned");
    if (emu_random(4) == 0) {
        memcpy(to, from, size);
        return;
    }
    memset(to, 0xA5, size); /* what is there meanwhile is no good */
    if (f->n_copies == EMU_COPIES)
        emu_fail("more than %d copies that nobody waits for", EMU_COPIES);
    f->copy[f->n_copies++] = emu_copy{to, from, size};
}

void emu_await_copies(void)
{
    struct fiber *f = emu_current;
    if (f->n_copies > 0 && emu_random(2))
        emu_yield();
    for (uint32_t i = 0; i < f->n_copies; i++)
        memcpy(f->copy[i].to, f->copy[i].from, f->copy[i].size);
    f->n_copies = 0;
}

void emu_store16(void *to, uint64_t first, uint64_t second)
{
    volatile uint64_t *word = (volatile uint64_t *)to;
    emu_access(to);
    word[0] = first;
    word[1] = second;
}
