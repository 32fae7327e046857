/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks what the tensor map finds for regions of every form against a model that compares all regions
 * byte by byte: the same tasks for the same reasons, no more and no fewer. And how much the map looks at
 * to find them: for thousands of tiles in flight no more than for a few.
 */
#include "orchestrate/shelves.h"
#include "orchestrate/tensormap.h"
#include "test.h"
#include <stdlib.h>

enum { BYTES = 4096, WORDS = BYTES / 64, TASKS = 192, TENSORS = 3, ENTRIES = 1 << 15 };
#define BASE ((UINT64_C(1) << 20) + 24)

/* A region of the model. */
struct known {
    struct tg_region region;
    uint64_t bytes[WORDS];
    uint32_t writer; /* task + 1 */
    uint8_t reader[TASKS];
    bool gone;
};

static struct {
    struct tg_map_user user; /* first */
    struct tg_tensormap map;
    struct tg_orchestration o;
    struct tg_map_region regions[ENTRIES];
    struct tg_map_reader readers[ENTRIES];
    uint32_t buckets[ENTRIES];
    struct tg_task_desc desc[1];
    uint64_t done[TG_RINGS];
    struct known known[TASKS * TENSORS];
    uint32_t n_known, at;
    uint8_t found[TASKS], expected[TASKS]; /* bit k: by an edge of kind k */
    uint32_t times[TASKS];
} w;
static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static void found(struct tg_map_user *user, uint64_t ref, enum tg_edge_kind kind)
{
    uint64_t task = tg_task_ref_index(ref);
    REQUIRE(user == &w.user);
    if (task >= TASKS)
        return; /* the tests of how much the map looks at have more tasks */
    w.found[task] |= (uint8_t)(1u << kind);
    w.times[task]++;
}

static bool wait(struct tg_map_user *user)
{
    (void)user;
    return false;
}

static void begin(void)
{
    memset(&w, 0, sizeof w);
    w.user.found = found;
    w.user.wait = wait;
    w.user.desc = w.desc; /* no task ever completes */
    for (uint32_t r = 0; r < TG_RINGS; r++)
        w.user.done[r] = &w.done[r];
    w.o.map_regions = (uint64_t)(uintptr_t)w.regions;
    w.o.map_readers = (uint64_t)(uintptr_t)w.readers;
    w.o.map_buckets = (uint64_t)(uintptr_t)w.buckets;
    w.o.map_size = w.o.n_buckets = ENTRIES;
    tg_map_init(&w.map, &w.o);
}

static uint64_t ref_of(uint64_t task)
{
    return tg_task_ref(0, 0, task);
}

/* ── views of every form ───────────────────────────────────────────────────────────────── */

static struct tg_tensor memory(void)
{
    int64_t all = BYTES;
    return tg_tensor_make(BASE, TG_UINT8, 1, &all);
}

/* [from, to) of a dimension, by chance. */
static struct tg_tensor cut(struct tg_tensor t, int dim, bool aligned)
{
    int64_t n = t.shape[dim], size = 1 + (int64_t)draw((uint64_t)n), from;
    if (aligned) {
        size = n >= 4 ? n / 4 : 1;
        from = (int64_t)draw((uint64_t)(n / size)) * size;
    } else {
        from = (int64_t)draw((uint64_t)(n - size + 1));
    }
    return tg_tensor_slice(t, dim, from, from + size, 1);
}

/* Part of the memory as a matrix with one of a few row lengths. */
static struct tg_tensor matrix(void)
{
    static const int64_t pitch[] = {32, 64, 64, 64, 96, 128, 100, 61};
    int64_t row = pitch[draw(8)], rows = BYTES / row - 1, shape[2] = {rows, row};
    int64_t start = draw(2) ? 0 : (int64_t)draw((uint64_t)row);
    struct tg_tensor t = tg_tensor_slice(memory(), 0, start, start + rows * row, 1);
    return tg_tensor_reshape(t, 2, shape);
}

static struct tg_tensor block(void)
{
    static const int64_t pitch[] = {16, 32, 20};
    int64_t row = pitch[draw(3)], shape[3] = {BYTES / row / 12, 12, row};
    struct tg_tensor t = tg_tensor_slice(memory(), 0, 0, shape[0] * 12 * row, 1);
    return tg_tensor_reshape(t, 3, shape);
}

/* A view with any strides, also negative ones, zero, and such that overlap themselves. */
static struct tg_tensor wild(void)
{
    struct tg_tensor t = memory();
    do {
        t.ndim = (uint8_t)(1 + draw(3));
        t.start = (int64_t)draw(BYTES);
        for (int i = 0; i < t.ndim; i++) {
            t.shape[i] = 1 + (int64_t)draw(5);
            t.strides[i] = (int64_t)draw(200) - 60;
        }
    } while (!tg_tensor_valid(&t));
    return t;
}

static struct tg_tensor draw_view(void)
{
    bool aligned = draw(3) > 0;
    struct tg_tensor t;
    switch (draw(10)) {
    case 0:
        return cut(memory(), 0, draw(2));
    case 1:
        t = memory();
        return tg_tensor_slice(t, 0, (int64_t)draw(200), BYTES - (int64_t)draw(2000),
                               1 + (int64_t)draw(70));
    case 2:
        t = matrix(); /* a column, or every other row of some */
        if (draw(2))
            return tg_tensor_index(cut(t, 0, aligned), 1, (int64_t)draw((uint64_t)t.shape[1]));
        return tg_tensor_slice(cut(t, 1, aligned), 0, (int64_t)draw(4), t.shape[0], 2);
    case 3:
    case 4:
        t = block();
        return cut(cut(cut(t, 0, aligned), 1, aligned), 2, aligned);
    case 5:
        return wild();
    default:
        t = cut(cut(matrix(), 0, aligned), 1, aligned);
        if (draw(4) == 0)
            t = tg_tensor_transpose(t, 0, 1);
        return draw(4) ? t : tg_tensor_flip(t, (int)draw(2));
    }
}

/* ── the model ─────────────────────────────────────────────────────────────────────────── */

static void touch(const struct tg_tensor *t, uint64_t *bytes)
{
    int64_t n = tg_tensor_numel(t);
    memset(bytes, 0, WORDS * sizeof *bytes);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, at = t->start;
        for (int dim = t->ndim - 1; dim >= 0; dim--) {
            at += rest % t->shape[dim] * t->strides[dim];
            rest /= t->shape[dim];
        }
        REQUIRE(at >= 0 && at < BYTES);
        bytes[at / 64] |= UINT64_C(1) << (at % 64);
    }
}

static bool have_common(const uint64_t *a, const uint64_t *b)
{
    uint64_t common = 0;
    for (int i = 0; i < WORDS; i++)
        common |= a[i] & b[i];
    return common != 0;
}

static bool are_same(const struct tg_region *a, const struct tg_region *b)
{
    bool same = a->lo == b->lo && a->hi == b->hi && a->run == b->run && a->n_outer == b->n_outer;
    for (uint32_t i = 0; same && i < a->n_outer; i++)
        same = a->count[i] == b->count[i] && a->stride[i] == b->stride[i];
    return same;
}

static void expect(uint32_t task, enum tg_edge_kind kind)
{
    if (task != w.at)
        w.expected[task] |= (uint8_t)(1u << kind);
}

/* One region that the new one meets. Returns true if it is the same. */
static bool model_meets(struct known *k, const struct tg_region *region, enum tg_role role)
{
    bool read = false;
    for (uint32_t i = 0; i < TASKS; i++) {
        if (k->reader[i] && (role & TG_OUT))
            expect(i, TG_EDGE_WAR);
        read |= k->reader[i];
    }
    if (k->writer && (role != TG_OUT || !read))
        expect(k->writer - 1, role == TG_OUT ? TG_EDGE_WAW : TG_EDGE_RAW);
    if (are_same(&k->region, region))
        return true;
    k->gone = (role & TG_OUT) && region->n_outer == 0 && region->lo <= k->region.lo &&
              k->region.hi <= region->hi;
    return false;
}

static void model_access(const struct tg_tensor *t, const struct tg_region *region,
                         enum tg_role role)
{
    struct known *same = NULL;
    uint64_t bytes[WORDS];
    touch(t, bytes);
    for (uint32_t i = 0; i < w.n_known; i++)
        if (!w.known[i].gone && have_common(w.known[i].bytes, bytes) &&
            model_meets(&w.known[i], region, role))
            same = &w.known[i];
    if (!same) {
        same = &w.known[w.n_known++];
        same->region = *region;
        memcpy(same->bytes, bytes, sizeof bytes);
    }
    if (role == TG_IN) {
        same->reader[w.at] = 1;
    } else {
        memset(same->reader, 0, sizeof same->reader);
        same->writer = w.at + 1;
    }
}

/* ── what is found ─────────────────────────────────────────────────────────────────────── */

static void submit(uint32_t task)
{
    w.at = task;
    memset(w.found, 0, sizeof w.found);
    memset(w.expected, 0, sizeof w.expected);
    for (uint64_t n = 1 + draw(TENSORS); n > 0; n--) {
        struct tg_tensor t = draw_view();
        enum tg_role role = (enum tg_role)(1 + draw(3));
        struct tg_region region;
        REQUIRE(tg_region_of(&t, &region));
        if (region.lo == region.hi)
            continue;
        REQUIRE(tg_map_access(&w.map, &w.user, &region, role, ref_of(task)));
        model_access(&t, &region, role);
    }
    for (uint32_t i = 0; i < TASKS; i++)
        REQUIRE(w.found[i] == w.expected[i]);
}

TEST(exactly_the_regions_that_have_a_byte_in_common_are_found)
{
    for (uint32_t round = 1; round <= 12; round++) {
        state = round;
        begin();
        for (uint32_t task = 0; task < TASKS; task++)
            submit(task);
        CHECK(w.map.n_grids == TG_MAP_GRIDS); /* also those were found that found no grid */
    }
}

/* Memory is allocated again: what lay in it is forgotten, and nothing else. */
TEST(strided_regions_of_freed_memory_are_forgotten)
{
    state = 77;
    for (uint32_t round = 0; round < 6; round++) {
        begin();
        for (uint32_t task = 0; task < TASKS; task++) {
            uint64_t lo = draw(BYTES), hi = lo + draw(BYTES - lo) / 8, bytes[WORDS];
            struct tg_tensor t = tg_tensor_slice(memory(), 0, (int64_t)lo, (int64_t)hi, 1);
            submit(task);
            touch(&t, bytes);
            tg_map_forget(&w.map, &w.user, BASE + lo, BASE + hi);
            for (uint32_t i = 0; i < w.n_known; i++)
                w.known[i].gone |= have_common(w.known[i].bytes, bytes);
        }
    }
}

/* Marks of old searches must not hide an entry when the numbers of searches begin again. */
TEST(searches_may_be_more_than_their_numbers)
{
    int64_t shape[2] = {16, 64};
    struct tg_tensor m = tg_tensor_make(BASE, TG_UINT8, 2, shape);
    begin();
    for (uint32_t task = 0; task < 8; task++) {
        struct tg_tensor t = tg_tensor_tile(m, 0, 16, 8, 8);
        struct tg_region region;
        REQUIRE(tg_region_of(&t, &region));
        if (task == 1)
            w.map.search = UINT32_MAX - 3;
        if (task == 4) {
            w.map.search = UINT32_MAX;
            w.map.region[0].mark = 1;
        }
        w.at = task;
        memset(w.found, 0, sizeof w.found);
        REQUIRE(tg_map_access(&w.map, &w.user, &region, TG_OUT, ref_of(task)));
        REQUIRE(task == 0 || w.found[task - 1] == 1u << TG_EDGE_WAW);
    }
}

/* ── how much is looked at ─────────────────────────────────────────────────────────────── */

/* Looks for each of n views twice, and returns how many cells and entries it took at most on average. */
static double work(struct tg_tensor (*view)(uint32_t i, uint32_t n), uint32_t n)
{
    struct tg_region region;
    uint64_t before = 0;
    begin();
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < n; i++) {
            struct tg_tensor t = view(i, n);
            REQUIRE(tg_region_of(&t, &region));
            before = w.map.looked;
            REQUIRE(tg_map_access(&w.map, &w.user, &region, TG_OUT, ref_of(TASKS + i)));
            REQUIRE(w.map.looked - before < 200);
        }
    CHECK_EQ_U(w.map.live, n);
    return (double)w.map.looked / (2.0 * n);
}

static struct tg_tensor large(int64_t row)
{
    int64_t shape[2] = {1 << 20, row};
    return tg_tensor_make(UINT64_C(1) << 32, TG_FLOAT32, 2, shape);
}

static struct tg_tensor contiguous(uint32_t i, uint32_t n)
{
    (void)n;
    return tg_tensor_slice(large(64), 0, 64 * (int64_t)i, 64 * (int64_t)i + 64, 1);
}

static struct tg_tensor side_by_side(uint32_t i, uint32_t n)
{
    return tg_tensor_tile(large(64 * (int64_t)n), 0, 64, 64 * (int64_t)i, 64);
}

static struct tg_tensor square(uint32_t i, uint32_t n)
{
    (void)n;
    return tg_tensor_tile(large(4096), 64 * (i / 64), 64, 64 * (i % 64), 64);
}

/* Neither their size nor where they begin is a power of two, nor is the length of the rows. */
static struct tg_tensor uneven(uint32_t i, uint32_t n)
{
    (void)n;
    return tg_tensor_tile(large(3001), 7 + 45 * (i / 64), 45, 5 + 46 * (i % 64), 46);
}

static struct tg_tensor mixed(uint32_t i, uint32_t n)
{
    int64_t width = 8 << (i % 4);
    return tg_tensor_tile(large(64 * (int64_t)n), 0, 16 + i % 3, 64 * (int64_t)i, width);
}

static struct tg_tensor column(uint32_t i, uint32_t n)
{
    return tg_tensor_tile(large(n), 0, 4096, i, 1);
}

static struct tg_tensor even_or_odd(uint32_t i, uint32_t n)
{
    struct tg_tensor t = tg_tensor_tile(large(64 * (int64_t)n), 0, 64, 64 * (int64_t)(i / 2), 64);
    return tg_tensor_slice(t, (int)(i / 2) % 2, i % 2, 64, 2);
}

static struct tg_tensor cube(uint32_t i, uint32_t n)
{
    int64_t shape[3] = {64, 96, 160}, at[3] = {i % 16 * 4, i / 16 % 16 * 6, i / 256 * 10};
    struct tg_tensor t = tg_tensor_make(UINT64_C(1) << 32, TG_FLOAT32, 3, shape);
    (void)n;
    t = tg_tensor_slice(t, 0, at[0], at[0] + 4, 1);
    t = tg_tensor_slice(t, 1, at[1], at[1] + 6, 1);
    return tg_tensor_slice(t, 2, at[2], at[2] + 10, 1);
}

/* Two matrices of different row lengths in one memory, one after the other. */
static struct tg_tensor two_matrices(uint32_t i, uint32_t n)
{
    struct tg_tensor t = large(i % 2 ? 4096 : 2048);
    (void)n;
    t.addr += i % 2 ? UINT64_C(1) << 36 : 0;
    return tg_tensor_tile(t, 64 * (i / 64), 64, 32 * (i % 64), 32);
}

TEST(what_a_search_looks_at_does_not_grow_with_the_tiles_in_flight)
{
    static const struct {
        const char *name;
        struct tg_tensor (*view)(uint32_t i, uint32_t n);
        double most;
    } form[] = {
        {"contiguous", contiguous, 4},
        {"side by side", side_by_side, 4},
        {"square", square, 4},
        {"uneven", uneven, 12},
        {"mixed", mixed, 60},
        {"column", column, 4},
        {"even or odd", even_or_odd, 12},
        {"cube", cube, 24},
        {"two matrices", two_matrices, 4},
    };
    for (size_t i = 0; i < sizeof form / sizeof *form; i++)
        for (uint32_t n = 16; n <= 4096; n *= 4) {
            double looked = work(form[i].view, n);
            if (!CHECK(looked <= form[i].most))
                fprintf(stderr, "%s, %u in flight: %.1f\n", form[i].name, (unsigned)n, looked);
        }
}

TEST_MAIN()
