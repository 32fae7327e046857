/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host concludes from the orchestrator's log, against the rings themselves: random orchestrations
 * run on small rings while their tasks complete in one of many schedules. In every schedule the same must be
 * concluded, and it must be true. In the laziest schedule, where a task completes only if the orchestrator
 * waits for it, it must be all that has completed; unless the heaps skip bytes at their ends, which can make
 * that schedule wait for more than others. And whoever used memory has completed before the heap
 * gives it out again.
 */
#include "host/log_facts.h"
#include "orchestrate/rings.h"
#include "test.h"
#include <stdlib.h>

enum { DEPTH = 6, MAX_SLOTS = 16, MAX_TASKS = 600, MAX_PIECES = 2000, STEPS = 1500 };
enum { BLOCKS = TG_ARGS_BLOCKS(MAX_SLOTS, 64) };

struct scope {
    uint64_t serial, first_task, first_byte;
    uint32_t ring;
};

struct task {
    uint64_t id;
    uint64_t scopes[DEPTH]; /* that it is in */
    uint32_t depth;
    uint64_t done[TG_RINGS]; /* tasks of each ring that had completed when it was submitted */
    uint64_t known[TG_RINGS];
};

static struct world {
    struct tg_engine e;
    struct tg_task_desc desc[TG_RINGS * MAX_SLOTS];
    struct tg_slot_note note[TG_RINGS * MAX_SLOTS];
    struct tg_task_place place[TG_RINGS * MAX_SLOTS];
    struct tg_args_block block[TG_RINGS * BLOCKS];
    struct tg_orchestration o;
    struct tg_ring ring[TG_RINGS];
    bool scopes_own_slots;
    struct scope scope[DEPTH];
    uint32_t depth;
    uint64_t serial;
    struct task task[MAX_TASKS];
    uint32_t n_tasks;
    uint64_t piece_scope[MAX_PIECES]; /* of each of the facts' pieces */
    uint32_t haste;                   /* 0: the laziest schedule */
    uint64_t largest;                 /* piece of memory */
    uint64_t reused;                  /* pairs of a piece and one that had its bytes before */
    struct tg_log_facts facts;
} w;

static uint64_t plan = 1, luck = 1; /* what the orchestration does; when tasks complete */

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state % below;
}

/* ── the device ────────────────────────────────────────────────────────────────────────── */

static void log_entry(enum tg_fact_kind kind, uint64_t value, uint64_t next)
{
    uint64_t entry[2] = {(uint64_t)kind << 60 | value, next};
    REQUIRE(tg_log_facts_take(&w.facts, entry, next ? 2 : 1, w.n_tasks));
}

static void begin_scope(void)
{
    struct scope *scope = &w.scope[w.depth];
    scope->serial = ++w.serial;
    scope->ring = w.depth < w.o.n_rings ? w.depth : w.o.n_rings - 1;
    scope->first_task = scope->first_byte = TG_NO_PIN;
    w.depth++;
}

static void end_scope(void)
{
    struct scope *ended = &w.scope[--w.depth];
    struct tg_ring *ring = &w.ring[ended->ring];
    ring->pin = ring->heap_pin = TG_NO_PIN;
    for (uint32_t i = 0; i < w.depth; i++) {
        if (w.scope[i].ring != ring->index)
            continue;
        if (w.scopes_own_slots && w.scope[i].first_task < ring->pin)
            ring->pin = w.scope[i].first_task;
        if (w.scope[i].first_byte < ring->heap_pin)
            ring->heap_pin = w.scope[i].first_byte;
    }
    if (ended->first_byte == TG_NO_PIN)
        return;
    tg_ring_heap_scope_ended(w.ring, ring->index);
    if (ring->heap_pin == TG_NO_PIN)
        log_entry(TG_FACT_ENDED, ring->index, 0);
}

static void advance_all(void)
{
    for (uint32_t r = 0; r < w.o.n_rings; r++)
        tg_ring_advance(&w.e, &w.ring[r], w.note);
}

static void complete(const struct tg_ring *ring, uint64_t index)
{
    w.desc[tg_slot_of(ring, index)].succ = TG_DEP_CLOSED;
}

/* Lets some tasks complete although nobody waits for them. What is free is freed at once in the laziest
 * schedule, so that the orchestrator waits for nothing else. */
static void pass_time(void)
{
    for (uint64_t k = draw(&luck, w.haste + 1); k > 0; k--) {
        const struct tg_ring *ring = &w.ring[draw(&luck, w.o.n_rings)];
        uint64_t flying = ring->at->head - ring->at->done;
        if (flying > 0)
            complete(ring, ring->at->done + draw(&luck, flying));
    }
    if (w.haste > 0 && draw(&luck, 3) > 0)
        return;
    advance_all();
    for (uint32_t r = 0; r < w.o.n_rings; r++)
        tg_ring_heap_reclaim(w.ring, r);
}

/* Waits as the orchestrator does; here the awaited tasks complete at once. */
static void await(uint32_t r, uint64_t done)
{
    struct tg_ring *ring = &w.ring[r];
    while (ring->at->done < done) {
        complete(ring, ring->at->done);
        tg_ring_advance(&w.e, ring, w.note);
    }
}

static void allocate(uint64_t bytes)
{
    struct scope *scope = &w.scope[w.depth - 1];
    struct tg_ring *ring = &w.ring[scope->ring];
    uint64_t address;
    if (!tg_ring_heap_could_take(ring, bytes) || w.facts.n_pieces == MAX_PIECES)
        return;
    while ((address = tg_ring_heap_take(ring, bytes)) == 0) {
        advance_all();
        tg_ring_heap_reclaim(w.ring, ring->index);
        address = tg_ring_heap_take(ring, bytes);
        if (address != 0)
            break;
        for (uint32_t r = 0; r < w.o.n_rings; r++)
            await(r, ring->ended[ring->ended_first].mark[r]);
    }
    if (scope->first_byte == TG_NO_PIN) {
        scope->first_byte = ring->at->heap_head - tg_heap_round(bytes);
        if (scope->first_byte < ring->heap_pin)
            ring->heap_pin = scope->first_byte;
    }
    w.piece_scope[w.facts.n_pieces] = scope->serial;
    log_entry(TG_FACT_GIVEN, address, (uint64_t)TG_FACT_BYTES << 60 | bytes);
}

static void submit(void)
{
    struct scope *scope = &w.scope[w.depth - 1];
    struct tg_ring *ring = &w.ring[scope->ring];
    struct task *task = &w.task[w.n_tasks];
    uint32_t slot;
    if (w.n_tasks == MAX_TASKS ||
        (ring->pin != TG_NO_PIN && ring->at->head - ring->pin >= ring->has.n_slots))
        return;
    while (ring->at->head - ring->at->tail >= ring->has.n_slots) {
        tg_ring_advance(&w.e, ring, w.note);
        if (ring->at->head - ring->at->tail >= ring->has.n_slots)
            await(ring->index, ring->at->done + 1);
    }
    slot = tg_ring_take_slot(ring, w.note);
    w.desc[slot].succ = TG_DEP_NONE;
    w.note[slot].held = w.note[slot].dep_end = 0;
    advance_all();
    task->id = (uint64_t)ring->index << 32 | ring->at->head;
    task->depth = w.depth;
    for (uint32_t i = 0; i < w.depth; i++)
        task->scopes[i] = w.scope[i].serial;
    for (uint32_t r = 0; r < TG_RINGS; r++)
        task->done[r] = w.ring[r].at->done;
    if (scope->first_task == TG_NO_PIN) {
        scope->first_task = ring->at->head;
        if (w.scopes_own_slots && scope->first_task < ring->pin)
            ring->pin = scope->first_task;
    }
    tg_ring_enter(ring);
    w.n_tasks++;
    tg_log_facts_submitted(&w.facts, task->id);
}

static void prepare(uint32_t n_rings, uint32_t slots, uint64_t heap, uint32_t haste)
{
    tg_log_facts_free(&w.facts);
    memset(&w, 0, sizeof w);
    w.e.desc = w.desc;
    w.haste = haste;
    w.o.n_rings = n_rings;
    w.o.places = (uint64_t)(uintptr_t)w.place;
    w.o.args_blocks = (uint64_t)(uintptr_t)w.block;
    w.scopes_own_slots = n_rings > 1;
    for (uint32_t r = 0; r < TG_RINGS; r++) {
        w.o.ring[r] = (struct tg_ring_layout){.heap = (r + 1) * (UINT64_C(1) << 32),
                                              .heap_size = heap,
                                              .first_slot = r * slots,
                                              .n_slots = slots};
        w.o.first_block[r] = r * TG_ARGS_BLOCKS(slots, 64);
        tg_ring_init(&w.ring[r], &w.o, r);
    }
    tg_log_facts_init(&w.facts, &w.o);
    begin_scope();
}

static void orchestrate(void)
{
    for (int step = 0; step < STEPS; step++) {
        uint64_t what = draw(&plan, 8), bytes = 1 + draw(&plan, w.largest);
        pass_time();
        if (what == 0 && w.depth < DEPTH)
            begin_scope();
        else if (what == 1 && w.depth > 1)
            end_scope();
        else if (what < 4 && w.depth > 1) /* the outermost scope would keep its memory for good */
            allocate(bytes);
        else
            submit();
    }
}

/* ── what must hold ────────────────────────────────────────────────────────────────────── */

static void read_facts(void)
{
    struct tg_log_walk walk = {.facts = &w.facts};
    for (uint32_t i = 0; i < w.n_tasks; i++) {
        struct tg_log_news news;
        uint64_t before[TG_RINGS];
        memcpy(before, walk.done, sizeof before);
        tg_log_walk_next(&walk, i, w.task[i].id, &news);
        memcpy(w.task[i].known, walk.done, sizeof walk.done);
        CHECK(news.rings == (memcmp(before, walk.done, sizeof before) != 0));
    }
}

static bool was_in(const struct task *task, uint64_t scope)
{
    for (uint32_t i = 0; i < task->depth; i++)
        if (task->scopes[i] == scope)
            return true;
    return false;
}

/* The tasks that could use the older piece have completed before the first that can use the newer one. */
static void check_reuse(const struct tg_logged_piece *newer, uint64_t old_scope)
{
    const uint64_t *known = w.task[newer->given].known;
    w.reused++;
    for (uint64_t i = 0; i < w.n_tasks; i++)
        if (was_in(&w.task[i], old_scope))
            REQUIRE(i < newer->given && (uint32_t)w.task[i].id < known[w.task[i].id >> 32]);
}

static void check(void)
{
    read_facts();
    for (uint32_t i = 0; i < w.n_tasks; i++)
        for (uint32_t r = 0; r < TG_RINGS; r++) {
            REQUIRE(w.task[i].known[r] <= w.task[i].done[r]);
            if (w.haste == 0 && w.largest <= TG_HEAP_UNIT)
                REQUIRE(w.task[i].known[r] == w.task[i].done[r]);
        }
    for (size_t i = 0; i < w.facts.n_pieces && w.facts.piece[i].given < w.n_tasks; i++)
        for (size_t k = 0; k < i; k++)
            if (w.facts.piece[k].address < w.facts.piece[i].address + w.facts.piece[i].bytes &&
                w.facts.piece[i].address < w.facts.piece[k].address + w.facts.piece[k].bytes)
                check_reuse(&w.facts.piece[i], w.piece_scope[k]);
}

static void run(uint64_t seed, uint32_t n_rings, uint32_t slots, uint64_t heap, uint64_t largest)
{
    static uint64_t lazy[MAX_TASKS][TG_RINGS];
    uint64_t reused = 0;
    uint32_t tasks = 0;
    for (uint32_t haste = 0; haste < 5; haste++) {
        plan = seed;
        luck = seed * 31 + haste + 1;
        prepare(n_rings, slots, heap, haste);
        w.largest = largest;
        orchestrate();
        check();
        if (haste == 0)
            tasks = w.n_tasks;
        REQUIRE(w.n_tasks == tasks);
        for (uint32_t i = 0; i < tasks; i++) {
            if (haste > 0)
                REQUIRE(memcmp(lazy[i], w.task[i].known, sizeof lazy[i]) == 0);
            memcpy(lazy[i], w.task[i].known, sizeof lazy[i]);
        }
        reused += w.reused;
    }
    CHECK(tasks > 50 && reused > 0);
}

static void run_all(uint32_t n_rings, uint64_t prime)
{
    for (uint64_t seed = 1; seed <= 15; seed++) {
        uint32_t slots = 4 + (uint32_t)seed % 12;
        run(seed * prime, n_rings, slots, 512 + seed % 5 * 192, 300);
        run(seed * prime, n_rings, slots, 512 + seed % 5 * 192, TG_HEAP_UNIT);
    }
}

TEST(one_ring_knows_what_every_schedule_has_in_common)
{
    run_all(1, 7919);
}

TEST(four_rings_know_what_every_schedule_has_in_common)
{
    run_all(4, 104729);
}

/* ── a log that lies ───────────────────────────────────────────────────────────────────── */

static bool take(enum tg_fact_kind kind, uint64_t value)
{
    uint64_t entry = (uint64_t)kind << 60 | value;
    return tg_log_facts_take(&w.facts, &entry, 1, w.n_tasks);
}

static bool give(uint64_t address, uint64_t bytes)
{
    uint64_t entry[2] = {(uint64_t)TG_FACT_GIVEN << 60 | address,
                         (uint64_t)TG_FACT_BYTES << 60 | bytes};
    return tg_log_facts_take(&w.facts, entry, 2, w.n_tasks);
}

TEST(entries_that_no_orchestrator_writes_are_refused)
{
    const uint64_t heap = UINT64_C(1) << 32;
    prepare(1, 4, 1024, 0);
    submit();
    CHECK(!take(TG_FACT_SEEN, 1));                 /* not submitted yet */
    CHECK(!take(TG_FACT_SEEN, UINT64_C(4) << 32)); /* no such ring */
    CHECK(!take(TG_FACT_ENDED, 0));                /* of a scope that had no memory */
    CHECK(!take(TG_FACT_ENDED, 1));
    CHECK(!take(TG_FACT_DONE, 2));
    CHECK(!take(TG_FACT_DONE, UINT64_C(4) << 56));
    CHECK(!take(TG_FACT_BYTES, 64)); /* of nothing */
    CHECK(!take(TG_FACT_GIVEN, heap));
    CHECK(!take(TG_FACT_LET_GO, 1)); /* not submitted yet */
    CHECK(!take((enum tg_fact_kind)14, 0));
    CHECK(!take((enum tg_fact_kind)7, 0));
    CHECK(!give(heap, 0));
    CHECK(!give(heap - 64, 64));
    CHECK(!give(heap, 2048));
    CHECK(!give(heap + 64, UINT64_MAX >> 4));
    CHECK(take(TG_FACT_SEEN, 0));
    CHECK_EQ_U(w.facts.n_seen, 1);
}

TEST(what_was_known_when_a_held_task_was_let_go_is_told)
{
    struct tg_log_walk walk = {.facts = &w.facts};
    struct tg_log_news news;
    prepare(1, 4, 1024, 0);
    submit();
    submit();
    CHECK(take(TG_FACT_SEEN, 0));
    CHECK(take(TG_FACT_LET_GO, 1));
    CHECK(take(TG_FACT_DONE, 1)); /* known only later */
    tg_log_walk_next(&walk, 0, w.task[0].id, &news);
    tg_log_walk_next(&walk, 1, w.task[1].id, &news);
    CHECK_EQ_U(news.n_seen, 0);
    REQUIRE(w.facts.n_releases == 1 && w.facts.release[0].id == 1);
    tg_log_walk_release(&walk, &w.facts.release[0], &news);
    CHECK(news.n_seen == 1 && news.seen[0].before == 0 && !news.rings);
    CHECK_EQ_U(walk.done[0], 0);
}

TEST(nothing_is_concluded_from_a_heap_that_gave_out_other_bytes_than_it_would)
{
    struct tg_log_walk walk = {0};
    struct tg_log_news news;
    const uint64_t heap = UINT64_C(1) << 32;
    prepare(1, 4, 1024, 0);
    submit();
    CHECK(give(heap, 1024));
    CHECK(take(TG_FACT_ENDED, 0));
    CHECK(!give(heap + 64, 64)); /* it would begin again at its start */
    CHECK(!give(heap, 64));
    submit();
    walk.facts = &w.facts;
    tg_log_walk_next(&walk, 0, w.task[0].id, &news);
    tg_log_walk_next(&walk, 1, w.task[1].id, &news);
    CHECK(!news.rings);
}

TEST(nothing_is_concluded_from_the_heap_of_a_log_with_losses)
{
    const uint64_t heap = UINT64_C(1) << 32;
    for (int lost = 0; lost < 2; lost++) {
        struct tg_log_walk walk = {.lost = lost};
        struct tg_log_news news;
        prepare(1, 4, 1024, 0);
        submit();
        CHECK(give(heap, 1024));
        CHECK(take(TG_FACT_ENDED, 0));
        CHECK(give(heap, 64));
        submit();
        walk.facts = &w.facts;
        tg_log_walk_next(&walk, 0, w.task[0].id, &news);
        tg_log_walk_next(&walk, 1, w.task[1].id, &news);
        CHECK(news.rings == !lost);
        CHECK_EQ_U(walk.done[0], lost ? 0 : 1);
    }
    tg_log_facts_free(&w.facts);
}

TEST_MAIN()
