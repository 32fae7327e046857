/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the tensor map against a model that keeps, for every byte, which task wrote it last and
 * which tasks have read it since. A task must wait for every task that the model names: either the
 * map names it too, or the map names a task that waits for it. Completed tasks may be left out,
 * because waiting for them is not needed.
 */
#include "orchestrate/tensormap.h"
#include "test.h"
#include <stdlib.h>

enum { BYTES = 256, TASKS = 256, SLOTS = 16, RINGS = 2, ENTRIES = 2048, WORDS = TASKS / 64 };
#define BASE (UINT64_C(1) << 20)

/* What one task did, as the test remembers it. */
struct task {
    uint64_t ref;
    bool done;
    uint64_t waits[WORDS];  /* tasks that the map named, and all tasks that those wait for */
    uint64_t direct[WORDS]; /* tasks that the map named */
    uint8_t reads[BYTES], writes[BYTES];
};

struct world {
    struct tg_map_user user; /* first */
    struct tg_tensormap map;
    struct tg_orchestration o;
    struct tg_map_region regions[ENTRIES];
    struct tg_map_reader readers[ENTRIES];
    uint32_t buckets[ENTRIES];
    struct tg_task_desc desc[RINGS * SLOTS];
    uint64_t head[TG_RINGS], done[TG_RINGS]; /* the rings' cursors */
    struct task task[TASKS];
    uint32_t n, at; /* number of tasks; the one being submitted */
    uint32_t waited;
    bool all; /* completed tasks must be named too, now or when the map forgets them */
    uint64_t forgotten[WORDS];
    /* the model */
    uint32_t writer[BYTES]; /* task + 1 */
    uint64_t readers_of[BYTES][WORDS];
};

static struct world w;
static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* ── sets of tasks ─────────────────────────────────────────────────────────────────────── */

static void put(uint64_t *set, uint32_t i)
{
    set[i / 64] |= (uint64_t)1 << (i % 64);
}

static bool has(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> (i % 64) & 1;
}

static void put_all(uint64_t *set, const uint64_t *other)
{
    for (int i = 0; i < WORDS; i++)
        set[i] |= other[i];
}

/* ── tasks that complete ───────────────────────────────────────────────────────────────── */

static uint32_t task_of(uint64_t ref)
{
    for (uint32_t i = w.n + 1; i-- > 0;) /* including the one being submitted */
        if (w.task[i].ref == ref)
            return i;
    return TASKS;
}

static bool can_complete(uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (has(w.task[i].direct, k) && !w.task[k].done)
            return false;
    return !w.task[i].done;
}

/* As in the rings, a cursor advances past a task when the task and all before it have completed. */
static void move_cursors(void)
{
    for (uint32_t i = 0; i < w.n; i++) {
        uint32_t ring = tg_task_ref_ring(w.task[i].ref);
        if (tg_task_ref_index(w.task[i].ref) == w.done[ring] && w.task[i].done)
            w.done[ring]++;
    }
}

static void complete(uint32_t i)
{
    w.task[i].done = true;
    w.desc[tg_task_ref_slot(w.task[i].ref)].succ = TG_DEP_CLOSED;
    if (draw(2))
        move_cursors(); /* as when the orchestrator looks now and then */
}

/* Completes one of the tasks that can complete, if there is one. */
static bool complete_some(void)
{
    uint32_t first = w.n ? (uint32_t)draw(w.n) : 0;
    for (uint32_t k = 0; k < w.n; k++)
        if (can_complete((first + k) % w.n)) {
            complete((first + k) % w.n);
            return true;
        }
    return false;
}

/* ── what the map asks ─────────────────────────────────────────────────────────────────── */

static bool overlaps(const uint8_t *a, const uint8_t *b)
{
    for (int i = 0; i < BYTES; i++)
        if (a[i] && b[i])
            return true;
    return false;
}

/* Checks that `ref` is an earlier task, and that there is a reason of that kind to wait for it. */
static void found(struct tg_map_user *user, uint64_t ref, enum tg_edge_kind kind)
{
    uint32_t before = task_of(ref);
    struct task *now = &w.task[w.at], *then = &w.task[before < TASKS ? before : 0];
    REQUIRE(user == &w.user);
    REQUIRE(before < w.at);
    switch (kind) {
    case TG_EDGE_RAW:
        CHECK(overlaps(then->writes, now->reads));
        break;
    case TG_EDGE_WAR:
        CHECK(overlaps(then->reads, now->writes));
        break;
    default:
        CHECK_EQ_I(kind, TG_EDGE_WAW);
        CHECK(overlaps(then->writes, now->writes));
    }
    put(now->direct, before);
    put(now->waits, before);
    put_all(now->waits, then->waits);
}

/* The map says that the task has completed, so the tasks that it waited for have too. */
static void forgot(struct tg_map_user *user, uint64_t ref)
{
    uint32_t task = task_of(ref);
    REQUIRE(user == &w.user && user->keep_done);
    REQUIRE(task < w.at && w.task[task].done);
    put(w.forgotten, task);
    put_all(w.forgotten, w.task[task].waits);
}

static bool wait(struct tg_map_user *user)
{
    REQUIRE(user == &w.user);
    w.waited++;
    return complete_some();
}

/* ── the map's invariants ──────────────────────────────────────────────────────────────── */

static uint32_t count_readers(const struct tg_map_region *r)
{
    uint32_t n = 0;
    for (uint32_t at = r->first_reader; at; at = w.map.reader[at - 1].next, n++)
        REQUIRE(n <= w.map.size);
    return n;
}

/* What the map and the grids know about a shelf. */
static void check_shelf(uint32_t number)
{
    bool used = w.map.shelf[number].count > 0;
    uint64_t bit = (uint64_t)1 << number % TG_MAP_LEVELS;
    if (number < TG_MAP_LEVELS) {
        CHECK_EQ_U((w.map.levels & bit) != 0, used);
        return;
    }
    for (uint32_t g = 0; g < w.map.n_grids; g++) {
        const struct tg_map_grid *grid = &w.map.grid[g];
        bool owns = (grid->owns & bit) != 0;
        REQUIRE(!owns || (w.map.boxed & bit) != 0);
        REQUIRE((grid->used & bit) == (owns && used ? bit : 0));
        REQUIRE(!owns || w.map.shelf[number].grid == g);
        REQUIRE((w.map.grids >> g & 1) == (grid->used != 0));
    }
}

static void check_books(void)
{
    static bool in_bucket[ENTRIES + 1];
    uint32_t live = 0;
    memset(in_bucket, 0, sizeof in_bucket);
    for (uint32_t b = 0; b <= w.map.mask; b++)
        for (uint32_t at = w.map.bucket[b]; at; at = w.map.region[at - 1].next) {
            REQUIRE(!in_bucket[at]);
            in_bucket[at] = true;
        }
    for (uint32_t number = 0; number < TG_MAP_SHELVES; number++) {
        const struct tg_map_shelf *shelf = &w.map.shelf[number];
        uint32_t n = 0, last = 0;
        for (uint32_t at = shelf->first; at; at = w.map.region[at - 1].shelf_next) {
            const struct tg_map_region *r = &w.map.region[at - 1];
            REQUIRE(++n <= w.map.size);
            REQUIRE(r->shelf == number && r->shelf_prev == last && r->lo < r->hi);
            REQUIRE(number >= TG_MAP_LEVELS || r->hi - r->lo <= (uint64_t)1 << number);
            REQUIRE(in_bucket[at]);
            in_bucket[at] = false;
            live += 1 + count_readers(r);
            last = at;
        }
        CHECK_EQ_U(shelf->count, n);
        CHECK_EQ_U(shelf->last, last);
        check_shelf(number);
    }
    for (uint32_t at = 1; at <= ENTRIES; at++)
        REQUIRE(!in_bucket[at]);
    CHECK_EQ_U(w.map.live, live);
    REQUIRE(live <= w.map.size);
    REQUIRE(w.map.fresh_region <= w.map.size && w.map.fresh_reader <= w.map.size);
}

/* ── a run ─────────────────────────────────────────────────────────────────────────────── */

static void begin(uint32_t entries, bool keep_done)
{
    memset(&w, 0, sizeof w);
    w.user.found = found;
    w.user.wait = wait;
    w.user.forgot = forgot;
    w.user.desc = w.desc;
    w.user.keep_done = keep_done;
    for (uint32_t r = 0; r < TG_RINGS; r++)
        w.user.done[r] = &w.done[r];
    w.o.map_regions = (uint64_t)(uintptr_t)w.regions;
    w.o.map_readers = (uint64_t)(uintptr_t)w.readers;
    w.o.map_buckets = (uint64_t)(uintptr_t)w.buckets;
    w.o.map_size = entries;
    for (w.o.n_buckets = 1; w.o.n_buckets < entries; w.o.n_buckets *= 2)
        ;
    REQUIRE(entries <= ENTRIES && w.o.n_buckets <= ENTRIES);
    memset(w.buckets, 0xa5, sizeof w.buckets);
    tg_map_init(&w.map, &w.o);
}

/* Takes a slot of a ring, which must be free: older tasks in it have completed. */
static void take_slot(void)
{
    uint32_t ring = (uint32_t)draw(RINGS), slot;
    while (w.head[ring] - w.done[ring] >= SLOTS) {
        move_cursors();
        if (w.head[ring] - w.done[ring] >= SLOTS)
            REQUIRE(complete_some());
    }
    slot = ring * SLOTS + (uint32_t)(w.head[ring] % SLOTS);
    w.desc[slot].succ = TG_DEP_NONE;
    w.at = w.n;
    w.task[w.at].ref = tg_task_ref(ring, slot, w.head[ring]++);
}

/* A region of the model's memory: straight, or columns of a matrix. */
static struct tg_region draw_region(uint64_t least, uint64_t most)
{
    int64_t all = BYTES;
    struct tg_tensor t = tg_tensor_make(BASE, TG_UINT8, 1, &all);
    struct tg_region region;
    if (draw(3) == 0) {
        int64_t shape[2] = {8, (int64_t)(most - least) / 8}, rows = 1 + (int64_t)draw(8);
        int64_t columns = 1 + (int64_t)draw((uint64_t)shape[1]);
        t = tg_tensor_reshape(tg_tensor_slice(t, 0, (int64_t)least, (int64_t)most, 1), 2, shape);
        t = tg_tensor_tile(t, (int64_t)draw((uint64_t)(9 - rows)), rows,
                           (int64_t)draw((uint64_t)(shape[1] - columns + 1)), columns);
    } else {
        uint64_t grain = (uint64_t)1 << draw(5), from, length;
        from = least + draw((most - least) / grain) * grain;
        length = grain << draw(3);
        if (from + length > most)
            length = most - from;
        t = tg_tensor_slice(t, 0, (int64_t)from, (int64_t)(from + length), 1);
    }
    REQUIRE(tg_region_of(&t, &region));
    return region;
}

/* Marks each byte of the region. The bytes come in runs; the number of a run, written with one digit
 * per outer dimension, says where the run begins. */
static void mark(uint8_t *set, const struct tg_region *r)
{
    uint64_t runs = 1;
    for (uint32_t dim = 0; dim < r->n_outer && dim < TG_MAX_OUTER; dim++)
        runs *= r->count[dim];
    for (uint64_t number = 0; number < runs; number++) {
        uint64_t at = r->lo - BASE, rest = number;
        for (uint32_t dim = 0; dim < r->n_outer && dim < TG_MAX_OUTER; dim++) {
            at += rest % r->count[dim] * r->stride[dim];
            rest /= r->count[dim];
        }
        memset(set + at, 1, r->run);
    }
}

/* The tasks that must come before this one, by the bytes that it names; the set may contain
 * completed tasks. */
static void demand(const struct task *t, uint64_t *before)
{
    memset(before, 0, WORDS * sizeof *before);
    for (int i = 0; i < BYTES; i++) {
        if ((t->reads[i] || t->writes[i]) && w.writer[i])
            put(before, w.writer[i] - 1);
        if (t->writes[i])
            put_all(before, w.readers_of[i]);
    }
}

static void remember(uint32_t i)
{
    const struct task *t = &w.task[i];
    for (int at = 0; at < BYTES; at++) {
        if (t->writes[at]) {
            w.writer[at] = i + 1;
            memset(w.readers_of[at], 0, sizeof w.readers_of[at]);
        } else if (t->reads[at]) {
            put(w.readers_of[at], i);
        }
    }
}

/* Submits one task with this many tensors, all within [least, most). False if entries ran out. */
static bool submit_in(uint32_t tensors, uint64_t least, uint64_t most)
{
    struct tg_region region[TG_MAX_TENSORS];
    enum tg_role role[TG_MAX_TENSORS];
    struct task *t;
    uint64_t before[WORDS];
    bool good = true;
    take_slot();
    t = &w.task[w.at];
    for (uint32_t i = 0; i < tensors; i++) {
        region[i] = draw_region(least, most);
        role[i] = (enum tg_role)(1 + draw(3));
        if (role[i] & TG_IN)
            mark(t->reads, &region[i]);
        if (role[i] & TG_OUT)
            mark(t->writes, &region[i]);
    }
    demand(t, before);
    for (uint32_t i = 0; i < tensors && good; i++)
        good = tg_map_access(&w.map, &w.user, &region[i], role[i], t->ref);
    for (uint32_t i = 0; i < w.n && good; i++)
        if (has(before, i) && (!w.task[i].done || w.all))
            REQUIRE(has(t->waits, i) || has(w.forgotten, i));
    remember(w.at);
    w.n++;
    return good;
}

static bool submit(uint32_t tensors)
{
    return submit_in(tensors, 0, BYTES);
}

/* After each submit up to `haste` tasks complete. */
static void run(uint32_t entries, bool keep_done, uint32_t most_tensors, uint32_t haste)
{
    begin(entries, keep_done);
    w.all = keep_done;
    for (uint32_t i = 0; i + 1 < TASKS; i++) {
        REQUIRE(submit(1 + (uint32_t)draw(most_tensors)));
        for (uint64_t k = draw(haste + 1); k > 0; k--)
            complete_some();
        if (i % 16 == 0)
            check_books();
    }
    check_books();
}

/* ── the tests ─────────────────────────────────────────────────────────────────────────── */

TEST(a_task_waits_for_all_that_it_must)
{
    state = 1;
    for (int round = 0; round < 40; round++)
        run(ENTRIES, false, 4, (uint32_t)round % 4);
}

TEST(a_small_map_waits_and_forgets_rather_than_to_lose_anything)
{
    state = 2;
    for (uint32_t entries = 8; entries <= 40; entries++) {
        run(entries, false, 4, entries % 3); /* 4 tensors: 8 entries at most */
        if (entries < 12)
            CHECK(w.waited > 0);
    }
}

TEST(a_small_map_that_keeps_completed_tasks_says_which_of_them_it_forgets)
{
    uint32_t forgotten = 0;
    state = 4;
    for (uint32_t entries = 8; entries <= 40; entries++) {
        run(entries, true, 4, entries % 3);
        for (uint32_t i = 0; i < TASKS; i++)
            forgotten += has(w.forgotten, i);
    }
    CHECK(forgotten > 0);
}

TEST(the_smallest_map_serves_tasks_of_two_tensors)
{
    state = 3;
    for (int round = 0; round < 20; round++)
        run(4, false, 2, 0);
    CHECK(w.waited > 0);
}

TEST(completed_tasks_count_too_where_edges_are_written_down)
{
    state = 4;
    for (int round = 0; round < 20; round++)
        run(ENTRIES, true, 2, 3);
    CHECK_EQ_U(w.waited, 0); /* the map never had to wait for free entries */
}

TEST(a_small_map_works_where_edges_are_written_down)
{
    state = 5;
    for (uint32_t entries = 8; entries <= 24; entries++)
        run(entries, true, 4, 1);
}

TEST(a_task_that_needs_more_entries_than_there_are_is_refused_once_all_others_have_completed)
{
    state = 6;
    begin(8, false);
    for (int i = 0; i < 20; i++)
        REQUIRE(submit(2));
    take_slot();
    for (uint64_t i = 0; i < 5; i++) {
        struct tg_region region = {.lo = BASE + 8 * i, .hi = BASE + 8 * i + 4, .run = 4};
        mark(w.task[w.at].reads, &region);
    }
    for (uint64_t i = 0; i < 5; i++) {
        struct tg_region region = {.lo = BASE + 8 * i, .hi = BASE + 8 * i + 4, .run = 4};
        REQUIRE(tg_map_access(&w.map, &w.user, &region, TG_IN, w.task[w.at].ref) == (i < 4));
        check_books();
    }
    for (uint32_t i = 0; i < w.n; i++)
        CHECK(w.task[i].done);
}

TEST(a_reader_that_is_no_task_waits_for_the_writers)
{
    state = 7;
    for (int round = 0; round < 20; round++) {
        begin(ENTRIES, false);
        for (uint32_t i = 0; i < 100; i++) {
            struct tg_region region = draw_region(0, BYTES);
            uint64_t writers[WORDS] = {0};
            struct task *reader;
            REQUIRE(submit(1 + (uint32_t)draw(3)));
            complete_some();
            w.at = w.n; /* not a real task, but the map gets its number */
            reader = &w.task[w.at];
            memset(reader, 0, sizeof *reader);
            mark(reader->reads, &region);
            demand(reader, writers);
            tg_map_find_writers(&w.map, &w.user, &region);
            for (uint32_t k = 0; k < w.n; k++)
                if (has(writers, k) && !w.task[k].done)
                    REQUIRE(has(reader->waits, k));
            memset(reader, 0, sizeof *reader);
        }
        check_books();
    }
}

/* Memory was freed and allocated again: the map keeps nothing about its first use. */
TEST(memory_that_begins_a_new_life_has_no_past)
{
    enum { PIECE = 64 };
    state = 8;
    for (int round = 0; round < 20; round++) {
        begin(ENTRIES, true);
        w.all = true;
        for (uint32_t i = 0; i + 1 < TASKS; i++) {
            uint64_t piece = draw(BYTES / PIECE) * PIECE;
            if (draw(8) == 0) {
                while (complete_some())
                    ;
                tg_map_forget(&w.map, &w.user, BASE + piece, BASE + piece + PIECE);
                for (uint64_t at = piece; at < piece + PIECE; at++) {
                    w.writer[at] = 0;
                    memset(w.readers_of[at], 0, sizeof w.readers_of[at]);
                }
                for (uint32_t k = 0; k < w.n; k++) { /* then naming one is a failure */
                    memset(w.task[k].reads + piece, 0, PIECE);
                    memset(w.task[k].writes + piece, 0, PIECE);
                }
            }
            REQUIRE(submit_in(1 + (uint32_t)draw(3), piece, piece + PIECE));
            if (i % 16 == 0)
                check_books();
        }
    }
}

/* Regions of very different sizes are in different buckets, and overlaps are found all the same. */
TEST(the_smallest_and_the_largest_regions_find_each_other)
{
    struct tg_region one = {.lo = BASE + 77, .hi = BASE + 78, .run = 1};
    struct tg_region all = {.lo = BASE - (UINT64_C(1) << 19),
                            .hi = BASE + (UINT64_C(1) << 40),
                            .run = (UINT64_C(1) << 40) + (UINT64_C(1) << 19)};
    for (int largest_first = 0; largest_first < 2; largest_first++) {
        begin(ENTRIES, false);
        for (uint32_t i = 0; i < 2; i++) {
            take_slot();
            memset(w.task[w.at].writes, 1, BYTES);
            REQUIRE(tg_map_access(&w.map, &w.user, (i == 0) == largest_first ? &all : &one, TG_OUT,
                                  w.task[w.at].ref));
            w.n++;
        }
        CHECK(has(w.task[1].direct, 0));
        check_books();
    }
}

/* Every region is found again, however many buckets there are by now. */
TEST(regions_are_found_while_buckets_become_more)
{
    const uint32_t first = (begin(ENTRIES, false), w.map.mask);
    struct tg_region region = {.run = 8};
    CHECK(first + 1 < w.o.n_buckets);
    take_slot();
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < ENTRIES - 2; i++) {
            region.lo = BASE + 8 * (i * 7919 % ENTRIES);
            region.hi = region.lo + 8;
            REQUIRE(tg_map_access(&w.map, &w.user, &region, TG_OUT, w.task[0].ref));
            REQUIRE(w.map.live == (round ? ENTRIES - 2 : i + 1));
        }
    CHECK_EQ_U(w.map.mask + 1, w.o.n_buckets);
    check_books();
}

TEST(a_task_does_not_wait_for_itself)
{
    struct tg_region region = {.lo = BASE, .hi = BASE + 200, .run = 200};
    begin(ENTRIES, false);
    take_slot();
    for (int role = TG_IN; role <= TG_INOUT; role++)
        for (int other = TG_IN; other <= TG_INOUT; other++) {
            region.lo += 8; /* overlaps the last one, then the same region again */
            region.run -= 8;
            REQUIRE(tg_map_access(&w.map, &w.user, &region, (enum tg_role)role, w.task[0].ref));
            REQUIRE(tg_map_access(&w.map, &w.user, &region, (enum tg_role)other, w.task[0].ref));
        }
    CHECK_EQ_U(w.task[0].direct[0], 0);
    check_books();
}

TEST_MAIN()
