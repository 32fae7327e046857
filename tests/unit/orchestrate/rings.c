/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the rings against a model: tasks of nested scopes are submitted and complete in any order,
 * and memory is allocated and freed. Nothing is handed out twice at the same time, what no task
 * or scope needs any more becomes free again, and no more is touched than was in use at one time.
 */
#include "orchestrate/rings.h"
#include "test.h"
#include <stdlib.h>

enum { DEPTH = 6, MAX_SLOTS = 64, MAX_PIECES = 4096, STRIDE = 2816 };
enum { BLOCKS = TG_ARGS_BLOCKS(MAX_SLOTS, STRIDE) };

/* Memory that a scope has, or had. */
struct piece {
    uint64_t from, to; /* addresses */
    uint64_t scope;    /* serial */
};

struct open_scope {
    uint64_t serial, first_task, first_byte;
    uint32_t ring;
};

struct world {
    struct tg_engine e;
    struct tg_task_desc desc[TG_RINGS * MAX_SLOTS];
    struct tg_slot_note note[TG_RINGS * MAX_SLOTS];
    struct tg_task_place place[TG_RINGS * MAX_SLOTS];
    struct tg_args_block block[TG_RINGS * BLOCKS];
    struct tg_orchestration o;
    struct tg_ring_cursors *cursors; /* those of o */
    struct tg_ring ring[TG_RINGS];
    uint32_t n_rings;
    bool scopes_own_slots;
    struct open_scope scope[DEPTH];
    uint32_t depth;
    uint64_t serial;
    /* running tasks, with the scopes that they are in, outermost first */
    struct {
        uint32_t slot;
        uint64_t scopes[DEPTH];
        uint32_t n_scopes;
    } task[TG_RINGS * MAX_SLOTS];
    uint32_t n_tasks;
    /* arguments of each ring's last tasks: that of task i is entry i mod MAX_SLOTS */
    struct {
        uint64_t index, from, to;
    } args[TG_RINGS][MAX_SLOTS];
    struct piece piece[MAX_PIECES];
    uint32_t n_pieces;
};

static struct world w;
static uint64_t state = 1;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* ── what the orchestrator does with the rings ─────────────────────────────────────────── */

static void scope_begin(void)
{
    struct open_scope *scope = &w.scope[w.depth];
    scope->serial = ++w.serial;
    scope->ring = w.depth < w.n_rings ? w.depth : w.n_rings - 1;
    scope->first_task = scope->first_byte = TG_NO_PIN;
    w.depth++;
}

static void begin(uint32_t n_rings, uint32_t slots, uint32_t deps, uint64_t heap)
{
    memset(&w, 0, sizeof w);
    w.e.desc = w.desc;
    w.n_rings = n_rings;
    w.cursors = w.o.cursors;
    w.o.places = (uint64_t)(uintptr_t)w.place;
    w.o.args_blocks = (uint64_t)(uintptr_t)w.block;
    w.scopes_own_slots = n_rings > 1;
    for (uint32_t r = 0; r < TG_RINGS; r++) {
        w.o.ring[r] = (struct tg_ring_layout){.heap = (r + 1) * (UINT64_C(1) << 32),
                                              .heap_size = heap,
                                              .first_slot = r * slots,
                                              .n_slots = slots,
                                              .first_dep = r * deps,
                                              .n_deps = deps};
        w.o.first_block[r] = r * TG_ARGS_BLOCKS(slots, STRIDE);
        memset(&w.ring[r], 0xa5, sizeof w.ring[r]);
        tg_ring_init(&w.ring[r], &w.o, r);
    }
    scope_begin();
}

static void pin_again(struct tg_ring *ring)
{
    ring->pin = ring->heap_pin = TG_NO_PIN;
    for (uint32_t i = 0; i < w.depth; i++) {
        const struct open_scope *scope = &w.scope[i];
        if (scope->ring != ring->index)
            continue;
        if (w.scopes_own_slots && scope->first_task < ring->pin)
            ring->pin = scope->first_task;
        if (scope->first_byte < ring->heap_pin)
            ring->heap_pin = scope->first_byte;
    }
}

static void scope_end(void)
{
    struct open_scope *scope = &w.scope[--w.depth];
    pin_again(&w.ring[scope->ring]);
    if (scope->first_byte != TG_NO_PIN)
        tg_ring_heap_scope_ended(w.ring, scope->ring);
}

static void advance_all(void)
{
    for (uint32_t r = 0; r < w.n_rings; r++)
        tg_ring_advance(&w.e, &w.ring[r], w.note);
}

/* The arguments of no task that still needs them overlap with those of the new one. */
static void take_args(struct tg_ring *ring, uint64_t bytes)
{
    static const struct tg_args none;
    uint64_t index = ring->at->head, blocks = TG_ARGS_BLOCKS(ring->has.n_slots, STRIDE);
    uint64_t from = tg_ring_take_args(ring, bytes + draw(STRIDE - bytes + 1)), to = from + bytes;
    uint64_t oldest = ring->keeps_args && index + 1 >= ring->has.n_slots
                          ? index + 1 - ring->has.n_slots
                      : ring->keeps_args ? 0
                                         : ring->at->tail;
    tg_ring_keep_args(ring, &none, bytes);
    REQUIRE(from >= ring->index * blocks * TG_ARGS_BLOCK);
    REQUIRE(to <= (ring->index + 1) * blocks * TG_ARGS_BLOCK);
    REQUIRE(bytes == 0 || from / TG_ARGS_BLOCK == (to - 1) / TG_ARGS_BLOCK);
    for (uint64_t i = oldest; i < index; i++) {
        REQUIRE(w.args[ring->index][i % MAX_SLOTS].index == i);
        REQUIRE(w.args[ring->index][i % MAX_SLOTS].to <= from ||
                w.args[ring->index][i % MAX_SLOTS].from >= to);
        REQUIRE(tg_place_of(ring, i)->args == w.args[ring->index][i % MAX_SLOTS].from);
    }
    w.args[ring->index][index % MAX_SLOTS].index = index;
    w.args[ring->index][index % MAX_SLOTS].from = from;
    w.args[ring->index][index % MAX_SLOTS].to = to;
}

static bool submit_with(uint32_t deps, uint64_t bytes)
{
    struct open_scope *scope = &w.scope[w.depth - 1];
    struct tg_ring *ring = &w.ring[scope->ring];
    struct tg_ring_cursors *at = ring->at;
    uint32_t slot;
    tg_ring_advance(&w.e, ring, w.note);
    if (at->head - at->tail >= ring->has.n_slots ||
        at->dep_head + deps - at->dep_tail > ring->has.n_deps)
        return false;
    slot = tg_ring_take_slot(ring, w.note);
    REQUIRE(slot >= ring->has.first_slot && slot < ring->has.first_slot + ring->has.n_slots);
    for (uint32_t i = 0; i < w.n_tasks; i++)
        REQUIRE(w.task[i].slot != slot); /* no live task has this slot any more */
    take_args(ring, bytes);
    at->dep_head += deps;
    w.desc[slot].succ = TG_DEP_NONE;
    w.note[slot].dep_end = (uint32_t)at->dep_head;
    w.note[slot].held = 0;
    w.task[w.n_tasks].slot = slot;
    w.task[w.n_tasks].n_scopes = w.depth;
    for (uint32_t i = 0; i < w.depth; i++)
        w.task[w.n_tasks].scopes[i] = w.scope[i].serial;
    w.n_tasks++;
    if (scope->first_task == TG_NO_PIN) {
        scope->first_task = at->head;
        if (w.scopes_own_slots && scope->first_task < ring->pin)
            ring->pin = scope->first_task;
    }
    tg_ring_enter(ring);
    CHECK_EQ_U(tg_slot_of(ring, at->head - 1), slot);
    return true;
}

static bool submit(uint32_t deps)
{
    return submit_with(deps, draw(4) == 0 ? STRIDE : draw(STRIDE));
}

static void complete(uint32_t i)
{
    w.desc[w.task[i].slot].succ = TG_DEP_CLOSED;
    w.task[i] = w.task[--w.n_tasks];
}

static void complete_all(void)
{
    while (w.n_tasks > 0)
        complete(0);
    advance_all();
}

/* ── memory ────────────────────────────────────────────────────────────────────────────── */

static bool is_open(uint64_t serial)
{
    for (uint32_t i = 0; i < w.depth; i++)
        if (w.scope[i].serial == serial)
            return true;
    return false;
}

/* True if a task or the orchestration can still use the scope's memory. */
static bool is_used(uint64_t serial)
{
    for (uint32_t i = 0; i < w.n_tasks; i++)
        for (uint32_t k = 0; k < w.task[i].n_scopes; k++)
            if (w.task[i].scopes[k] == serial)
                return true;
    return is_open(serial);
}

static void drop_unused_pieces(void)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w.n_pieces; i++)
        if (is_used(w.piece[i].scope))
            w.piece[kept++] = w.piece[i];
    w.n_pieces = kept;
}

static void check_piece(const struct tg_ring *ring, uint64_t from, uint64_t bytes)
{
    REQUIRE(from % TG_HEAP_UNIT == 0);
    REQUIRE(from >= ring->has.heap && from + bytes <= ring->has.heap + ring->has.heap_size);
    drop_unused_pieces();
    for (uint32_t i = 0; i < w.n_pieces && bytes > 0; i++)
        REQUIRE(from >= w.piece[i].to || from + bytes <= w.piece[i].from);
}

static void enter_piece(const struct tg_ring *ring, uint64_t from, uint64_t bytes)
{
    struct open_scope *scope = &w.scope[w.depth - 1];
    check_piece(ring, from, bytes);
    REQUIRE(w.n_pieces < MAX_PIECES);
    if (bytes == 0)
        return; /* an empty allocation belongs to no scope */
    w.piece[w.n_pieces++] = (struct piece){from, from + bytes, scope->serial};
    if (scope->first_byte == TG_NO_PIN) {
        scope->first_byte = ring->at->heap_head - tg_heap_round(bytes);
        if (scope->first_byte < w.ring[ring->index].heap_pin)
            w.ring[ring->index].heap_pin = scope->first_byte;
    }
}

/* Like tg_flow_want_heap, but does not wait: false if there is no room now. */
static bool allocate(uint64_t bytes)
{
    struct tg_ring *ring = &w.ring[w.scope[w.depth - 1].ring];
    uint64_t address = tg_ring_heap_take(ring, bytes);
    if (address == 0) {
        advance_all();
        tg_ring_heap_reclaim(w.ring, ring->index);
        address = tg_ring_heap_take(ring, bytes);
    }
    if (address == 0)
        return false;
    enter_piece(ring, address, bytes);
    return true;
}

static void check_cursors(void)
{
    for (uint32_t r = 0; r < w.n_rings; r++) {
        const struct tg_ring *ring = &w.ring[r];
        const struct tg_ring_cursors *at = ring->at;
        REQUIRE(at->tail <= at->done && at->done <= at->head);
        REQUIRE(at->head - at->tail <= ring->has.n_slots);
        REQUIRE(at->dep_tail <= at->dep_head && at->dep_head - at->dep_tail <= ring->has.n_deps);
        REQUIRE(at->heap_tail <= at->heap_head);
        REQUIRE(at->heap_head - at->heap_tail <= ring->has.heap_size);
        REQUIRE(ring->n_ended <= TG_ENDED_SCOPES);
    }
}

/* ── slots and dependencies ────────────────────────────────────────────────────────────── */

TEST(slots_come_back_in_order_over_many_wraps)
{
    state = 1;
    for (uint32_t slots = 4; slots <= 9; slots++) {
        begin(1, slots, 16, 1024);
        for (uint32_t i = 0; i < 4000; i++) {
            if (!submit(0))
                complete((uint32_t)draw(w.n_tasks));
            else if (draw(3) == 0)
                complete((uint32_t)draw(w.n_tasks));
            check_cursors();
        }
        complete_all();
        CHECK_EQ_U(w.cursors[0].tail, w.cursors[0].head);
        CHECK(w.cursors[0].head > 1000);
    }
}

/* For recordings, and for tg_output where scopes own no slots. */
TEST(kept_slots_and_arguments_stay_for_as_many_tasks_as_the_ring_has_slots)
{
    for (uint32_t slots = 4; slots <= 9; slots++) {
        state = slots;
        begin(1, slots, 16, 1024);
        w.ring[0].keeps_args = true;
        w.ring[0].keeps_slots = slots % 2;
        for (uint64_t i = 0; i < 4000; i++) {
            if (!submit(0) || draw(3) == 0)
                complete((uint32_t)draw(w.n_tasks));
            REQUIRE(!w.ring[0].keeps_slots || w.cursors[0].head <= slots ||
                    w.ring[0].freed <= w.cursors[0].head - slots);
            check_cursors();
        }
    }
}

TEST(no_more_slots_and_arguments_are_touched_than_tasks_in_flight_need)
{
    for (uint32_t flight = 1; flight <= MAX_SLOTS; flight *= 2) {
        begin(1, MAX_SLOTS, 16, 1024);
        for (uint32_t i = 0; i < 1000; i++) {
            for (uint32_t k = 0; k < flight; k++)
                REQUIRE(submit_with(0, 320));
            complete_all();
        }
        CHECK_EQ_U(w.ring[0].fresh_slot, flight);
        CHECK(w.ring[0].args.fresh <= flight * 320 / (TG_ARGS_BLOCK - STRIDE) + 1);
    }
}

TEST(a_slot_is_free_only_when_all_before_it_are)
{
    begin(1, 8, 16, 1024);
    for (int i = 0; i < 8; i++)
        REQUIRE(submit(0));
    CHECK(!submit(0));
    for (uint32_t i = 8; i-- > 1;)
        w.desc[i].succ = TG_DEP_CLOSED;
    advance_all();
    CHECK_EQ_U(w.cursors[0].done, 0);
    w.desc[0].succ = TG_DEP_CLOSED;
    advance_all();
    CHECK_EQ_U(w.cursors[0].done, 8);
    CHECK_EQ_U(w.cursors[0].tail, 8);
}

TEST(dependencies_come_back_with_the_tasks_that_they_made_wait)
{
    state = 2;
    for (uint32_t deps = 4; deps <= 32; deps *= 2) {
        begin(1, 16, deps, 1024);
        for (uint32_t i = 0; i < 4000; i++) {
            if (!submit((uint32_t)draw(deps < 8 ? deps + 1 : 8)) || draw(3) == 0)
                while (w.n_tasks > 0 && draw(2))
                    complete((uint32_t)draw(w.n_tasks));
            check_cursors();
        }
        complete_all();
        CHECK_EQ_U(w.cursors[0].dep_tail, w.cursors[0].dep_head);
        CHECK(w.cursors[0].dep_head > 1000);
    }
}

/* Notes store the low 32 bits of a 64-bit cursor. */
TEST(the_count_of_dependencies_passes_32_bits)
{
    state = 3;
    for (uint64_t start = UINT32_MAX - 40; start < (uint64_t)UINT32_MAX + 3; start++) {
        begin(1, 8, 16, 1024);
        w.cursors[0].dep_head = w.cursors[0].dep_tail = start;
        for (uint32_t i = 0; i < 100; i++) {
            while (!submit((uint32_t)draw(5)))
                complete((uint32_t)draw(w.n_tasks));
            check_cursors();
        }
        complete_all();
        REQUIRE(w.cursors[0].dep_tail == w.cursors[0].dep_head);
    }
}

TEST(an_open_scope_keeps_its_slots)
{
    begin(TG_RINGS, 8, 16, 1024);
    scope_begin(); /* ring 1 */
    for (int i = 0; i < 8; i++)
        REQUIRE(submit(0));
    complete_all();
    CHECK_EQ_U(w.cursors[1].done, 8);
    CHECK_EQ_U(w.cursors[1].tail, 0);
    CHECK(!submit(0));
    scope_end();
    scope_begin();
    CHECK(submit(0));
    CHECK_EQ_U(w.cursors[1].tail, 8);
}

TEST(scopes_that_do_not_own_slots_do_not_keep_them)
{
    begin(1, 8, 16, 1024);
    for (int i = 0; i < 8; i++)
        REQUIRE(submit(0));
    complete_all();
    CHECK(submit(0));
    CHECK_EQ_U(w.cursors[0].tail, 8);
}

/* Depths 3 and more share a ring: the outermost scope keeps the memory of the scopes inside it. */
TEST(of_the_scopes_that_share_a_ring_the_oldest_keeps_most)
{
    begin(TG_RINGS, 8, 16, 1024);
    for (int i = 0; i < 3; i++)
        scope_begin();
    REQUIRE(submit(0) && submit(0));
    scope_begin();
    REQUIRE(submit(0) && submit(0) && submit(0));
    complete_all();
    CHECK_EQ_U(w.cursors[3].tail, 0);
    scope_end();
    advance_all();
    CHECK_EQ_U(w.cursors[3].tail, 0);
    CHECK_EQ_U(w.ring[3].pin, 0);
    scope_begin();
    REQUIRE(submit(0) && submit(0) && submit(0));
    complete_all();
    CHECK(!submit(0));
    scope_end();
    scope_end();
    advance_all();
    CHECK_EQ_U(w.ring[3].pin, TG_NO_PIN);
    CHECK_EQ_U(w.cursors[3].tail, 8);
}

/* ── heap ──────────────────────────────────────────────────────────────────────────────── */

TEST(pieces_follow_one_another_and_do_not_cross_the_end)
{
    begin(1, 8, 16, 1024);
    for (uint64_t i = 0; i < 4; i++)
        CHECK_EQ_U(tg_ring_heap_take(&w.ring[0], 200), w.ring[0].has.heap + 256 * i);
    CHECK_EQ_U(tg_ring_heap_take(&w.ring[0], 1), 0);
}

TEST(an_empty_heap_gives_all_of_itself_wherever_it_was)
{
    for (uint64_t first = 1; first <= 1024; first += 63) {
        begin(1, 8, 16, 1024);
        scope_begin();
        REQUIRE(allocate(first));
        scope_end();
        scope_begin();
        CHECK(allocate(1024));
        CHECK(!allocate(1));
        scope_end();
        scope_begin();
        CHECK(!allocate(1025));
        CHECK(allocate(1024));
    }
}

TEST(memory_of_an_ended_scope_waits_for_its_tasks)
{
    begin(TG_RINGS, 8, 16, 1024);
    scope_begin();
    REQUIRE(allocate(600) && submit(0));
    scope_end();
    scope_begin();
    CHECK(!allocate(600));
    complete_all();
    CHECK(allocate(600));
}

TEST(memory_waits_for_tasks_of_the_scopes_inside)
{
    begin(TG_RINGS, 8, 16, 1024);
    scope_begin();
    REQUIRE(allocate(600));
    scope_begin();
    REQUIRE(submit(0)); /* on ring 2, with ring 1's memory */
    scope_end();
    scope_end();
    scope_begin();
    CHECK(!allocate(600));
    complete_all();
    CHECK(allocate(600));
}

TEST(an_open_scope_keeps_the_memory_of_the_scopes_that_ended_inside)
{
    begin(1, 8, 16, 1024); /* one ring for all */
    REQUIRE(allocate(64));
    scope_begin();
    REQUIRE(allocate(512));
    scope_end();
    scope_begin();
    CHECK(!tg_ring_heap_could_take(&w.ring[0], 512)); /* it never could */
    CHECK(!allocate(512));
    CHECK(tg_ring_heap_could_take(&w.ring[0], 448));
    CHECK(allocate(448));
}

/* More scopes have ended than the queue has room for, so the last ones are merged into one
 * entry. */
TEST(any_number_of_scopes_can_end_before_the_first_of_their_tasks_completes)
{
    for (uint32_t scopes = TG_ENDED_SCOPES - 1; scopes <= 3 * TG_ENDED_SCOPES; scopes += 43) {
        begin(TG_RINGS, MAX_SLOTS, 16, 64 * 1024);
        scope_begin();
        REQUIRE(submit(0)); /* ends last */
        for (uint32_t i = 0; i < scopes; i++) {
            scope_begin();
            REQUIRE(allocate(64));
            if (w.n_tasks < MAX_SLOTS)
                submit(0);
            scope_end();
        }
        scope_end();
        CHECK(w.ring[2].n_ended <= TG_ENDED_SCOPES);
        CHECK_EQ_U(w.cursors[2].heap_head, 64 * scopes);
        while (w.n_tasks > 1)
            complete(w.n_tasks - 1);
        advance_all();
        tg_ring_heap_reclaim(w.ring, 2);
        CHECK_EQ_U(w.cursors[2].heap_tail, 64 * scopes);
        CHECK_EQ_U(w.ring[2].n_ended, 0);
    }
}

/* could_take is a promise: as long as it returns true, flow control waits for the room. */
static void keeps_its_promise(uint64_t bytes)
{
    struct tg_ring *ring = &w.ring[w.scope[w.depth - 1].ring];
    bool could = tg_ring_heap_could_take(ring, bytes);
    complete_all();
    REQUIRE(allocate(bytes) == could);
}

TEST(memory_that_could_be_had_is_there_once_all_tasks_have_completed)
{
    state = 4;
    for (int round = 0; round < 600; round++) {
        begin(round % 2 ? TG_RINGS : 1, 64, 16, 256 * (1 + draw(8)));
        for (int i = 0; i < 400; i++) {
            uint64_t bytes = draw(w.ring[0].has.heap_size / (1 + draw(8)) + 1);
            check_cursors();
            switch (draw(6)) {
            case 0:
                if (w.depth < DEPTH)
                    scope_begin();
                break;
            case 1:
                if (w.depth > 1)
                    scope_end();
                break;
            case 2:
                submit(0);
                break;
            case 3:
                if (w.n_tasks > 0)
                    complete((uint32_t)draw(w.n_tasks));
                break;
            default:
                if (!allocate(bytes) && draw(4) == 0)
                    keeps_its_promise(bytes);
            }
        }
    }
}

TEST(all_of_the_heap_is_there_again_in_the_end)
{
    state = 5;
    for (int round = 0; round < 200; round++) {
        begin(TG_RINGS, 64, 16, 2048);
        for (int i = 0; i < 200; i++) {
            scope_begin();
            while (draw(3))
                allocate(draw(700));
            submit(0);
            if (w.depth == DEPTH || draw(2))
                scope_end();
            while (w.depth > 1 && draw(3) == 0)
                scope_end();
            if (w.n_tasks > 0)
                complete((uint32_t)draw(w.n_tasks));
        }
        while (w.depth > 1)
            scope_end();
        complete_all();
        for (uint32_t r = 1; r < TG_RINGS; r++) {
            tg_ring_heap_reclaim(w.ring, r);
            REQUIRE(w.cursors[r].heap_tail == w.cursors[r].heap_head);
            REQUIRE(tg_ring_heap_take(&w.ring[r], 2048) != 0);
        }
    }
}

TEST_MAIN()
