/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the regions of views with their bytes, one by one: a region has all bytes that its view
 * touches and no others, and two regions overlap if and only if they have a byte in common. */
#include "orchestrate/region.h"
#include "test.h"

/* ── bytes ─────────────────────────────────────────────────────────────────────────────── */

enum { BYTES = 4096, WILD_BYTES = 960, BASE = 4096 };

struct bytes {
    uint8_t set[BYTES];
};

/* The bytes of a view, by the definition of a tensor: element after element. */
static void touch_view(const struct tg_tensor *t, struct bytes *bytes)
{
    int64_t n = tg_tensor_numel(t), bits = (int64_t)tg_bits_of(t->dtype);
    memset(bytes, 0, sizeof *bytes);
    for (int64_t i = 0; i < n; i++) {
        int64_t first = tg_tensor_offset(t, i) * bits / 8;
        for (int64_t at = first; at < first + (bits < 8 ? 1 : bits / 8); at++)
            bytes->set[t->addr - BASE + (uint64_t)at] = 1;
    }
}

static void touch_run(const struct tg_region *r, uint32_t dim, uint64_t at, struct bytes *bytes)
{
    if (dim < r->n_outer) {
        for (uint64_t i = 0; i < r->count[dim]; i++)
            touch_run(r, dim + 1, at + i * r->stride[dim], bytes);
        return;
    }
    for (uint64_t i = 0; i < r->run; i++)
        if (CHECK(at + i >= r->lo && at + i < r->hi && at + i - BASE < BYTES))
            bytes->set[at + i - BASE] = 1;
}

static void touch_region(const struct tg_region *r, struct bytes *bytes)
{
    memset(bytes, 0, sizeof *bytes);
    if (r->hi > r->lo)
        touch_run(r, 0, r->lo, bytes);
}

static bool have_common(const struct bytes *a, const struct bytes *b)
{
    for (uint32_t i = 0; i < BYTES; i++)
        if (a->set[i] && b->set[i])
            return true;
    return false;
}

/* ── random views ──────────────────────────────────────────────────────────────────────── */

static uint64_t state = 1;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static unsigned draw_dtype(void)
{
    unsigned dtype;
    do
        dtype = (unsigned)draw(64);
    while (tg_bits_of(dtype) == 0);
    return dtype;
}

/* Random strides: forwards, backwards, overlapping, or zero. The view may be invalid. */
static struct tg_tensor draw_wild(int most_dims)
{
    struct tg_tensor t = tg_tensor_none();
    t.addr = BASE + draw(64);
    t.storage_bytes = WILD_BYTES;
    t.dtype = (uint8_t)draw_dtype();
    t.ndim = (uint8_t)draw((uint64_t)most_dims + 1);
    t.start = (int64_t)draw(64);
    for (int i = 0; i < t.ndim; i++) {
        t.shape[i] = 1 + (int64_t)draw(4);
        t.strides[i] = (int64_t)draw(24) - 8;
        if (draw(4) == 0)
            t.strides[i] *= 4;
    }
    return t;
}

/* Views as programs make them: slices with steps, single indices, reversals, transposes,
 * broadcasts. */
static struct tg_tensor draw_tame(int most_dims)
{
    int64_t shape[TG_MAX_DIMS];
    int ndim = 1 + (int)draw((uint64_t)most_dims);
    unsigned dtype = draw_dtype();
    struct tg_tensor t;
    for (int i = 0; i < ndim; i++)
        shape[i] = 1 + (int64_t)draw(ndim > 3 ? 3 : 5);
    t = tg_tensor_make(BASE, dtype, ndim, shape);
    for (int steps = (int)draw(5); steps > 0 && t.ndim > 0; steps--) {
        int dim = (int)draw(t.ndim), other = (int)draw(t.ndim);
        int64_t from = (int64_t)draw((uint64_t)t.shape[dim] + 1);
        int64_t to = from + (int64_t)draw((uint64_t)(t.shape[dim] - from) + 1);
        switch (draw(5)) {
        case 0:
            if (t.shape[dim] > 0)
                t = tg_tensor_index(t, dim, (int64_t)draw((uint64_t)t.shape[dim]));
            break;
        case 1:
            t = tg_tensor_flip(t, dim);
            break;
        case 2:
            t = tg_tensor_transpose(t, dim, other);
            break;
        case 3:
            if (t.shape[dim] == 1)
                t = tg_tensor_broadcast(t, dim, 1 + (int64_t)draw(3));
            break;
        default:
            t = tg_tensor_slice(t, dim, from, to, 1 + (int64_t)draw(3));
        }
    }
    t.addr += draw(2) * tg_bytes_of(dtype, 1 + (int64_t)draw(8)); /* often the same storage */
    return t;
}

static struct tg_tensor draw_view(int most_dims)
{
    return draw(2) ? draw_tame(most_dims) : draw_wild(most_dims);
}

static void say(const char *what, const struct tg_tensor *t)
{
    fprintf(stderr, "  %s: dtype %u, at +%llu, start %lld", what, t->dtype,
            (unsigned long long)(t->addr - BASE), (long long)t->start);
    for (int i = 0; i < t->ndim; i++)
        fprintf(stderr, ", %lld by %lld", (long long)t->shape[i], (long long)t->strides[i]);
    fprintf(stderr, "\n");
}

/* True for views of half bytes with uneven spacing: their region has all bytes from the first to
 * the last. */
static bool is_uneven(const struct tg_tensor *t)
{
    for (int i = 0; i < t->ndim; i++)
        if (tg_bits_of(t->dtype) < 8 && t->shape[i] > 1 && t->strides[i] % 2 != 0)
            return true;
    return false;
}

/* ── one region ────────────────────────────────────────────────────────────────────────── */

static void check_bytes(const struct tg_tensor *t)
{
    struct tg_region region;
    struct bytes view, found;
    bool good = true;
    REQUIRE(tg_region_of(t, &region));
    touch_view(t, &view);
    touch_region(&region, &found);
    for (uint32_t i = 0; i < BYTES && good; i++) {
        good = CHECK(!view.set[i] || found.set[i]); /* never a byte too few */
        if (good && !is_uneven(t))
            good = CHECK(!found.set[i] || view.set[i]);
    }
    if (tg_tensor_numel(t) == 0)
        good &= CHECK_EQ_U(region.hi - region.lo, 0);
    for (uint32_t i = 1; i < region.n_outer; i++)
        good &= CHECK(region.stride[i - 1] >= region.stride[i]);
    if (!good) {
        say("view", t);
        longjmp(test_end_, 1);
    }
}

TEST(a_region_has_the_bytes_that_its_view_touches)
{
    state = 1;
    for (int i = 0; i < 20000; i++) {
        struct tg_tensor t = draw_view(5);
        if (tg_tensor_valid(&t))
            check_bytes(&t);
    }
}

TEST(every_type_has_its_bytes)
{
    state = 2;
    for (unsigned dtype = 0; dtype < 256; dtype++)
        for (int i = 0; tg_bits_of(dtype) != 0 && i < 100; i++) {
            struct tg_tensor t = draw_wild(3);
            t.dtype = (uint8_t)dtype;
            if (tg_tensor_valid(&t))
                check_bytes(&t);
        }
}

TEST(what_is_not_a_view_has_no_region)
{
    uint32_t refused = 0;
    state = 3;
    for (int i = 0; i < 20000; i++) {
        struct tg_tensor t = draw_wild(4);
        struct tg_region region;
        if (draw(8) == 0)
            t.dtype = (uint8_t)draw(256);
        if (draw(8) == 0)
            t.ndim = (uint8_t)draw(256);
        if (draw(8) == 0)
            t.shape[draw(8)] = (int64_t)((draw(16) - 8) << draw(60));
        if (draw(8) == 0)
            t.strides[draw(8)] = (int64_t)((draw(16) - 8) << draw(60));
        if (draw(8) == 0)
            t.start = (int64_t)((draw(16) - 8) << draw(60));
        refused += !tg_tensor_valid(&t);
        REQUIRE(tg_region_of(&t, &region) == tg_tensor_valid(&t));
    }
    CHECK(refused > 2000);
}

TEST(a_view_of_eight_dimensions_with_gaps_everywhere_is_all_between_its_ends)
{
    struct tg_tensor t = tg_tensor_none();
    struct tg_region region;
    t.addr = BASE;
    t.storage_bytes = (uint64_t)1 << 20;
    t.dtype = TG_INT8;
    t.ndim = TG_MAX_DIMS;
    for (int i = 0; i < TG_MAX_DIMS; i++) {
        t.shape[i] = 2;
        t.strides[i] = (int64_t)1 << (2 * i + 1);
    }
    REQUIRE(tg_region_of(&t, &region));
    CHECK_EQ_U(region.lo, BASE);
    CHECK_EQ_U(region.n_outer, 0);
    CHECK_EQ_U(region.run, region.hi - region.lo);
    t.shape[7] = 1; /* seven dimensions fit */
    REQUIRE(tg_region_of(&t, &region));
    CHECK_EQ_U(region.n_outer, 7);
    CHECK_EQ_U(region.run, 1);
}

/* ── two regions ───────────────────────────────────────────────────────────────────────── */

/* True if the exact answer needs so few comparisons that the code always makes them. */
static bool is_small(const struct tg_region *a, const struct tg_region *b)
{
    uint64_t places = 1 + a->n_outer + b->n_outer;
    for (uint32_t i = 0; i < a->n_outer; i++)
        places *= a->count[i];
    for (uint32_t i = 0; i < b->n_outer; i++)
        places *= b->count[i];
    return places <= 500;
}

static bool check_pair(const struct tg_tensor *a, const struct tg_tensor *b, bool *exact)
{
    struct tg_region ra, rb;
    struct bytes ba, bb;
    bool truth, good = true, turned = true; /* one with the other, and the other way round */
    REQUIRE(tg_region_of(a, &ra) && tg_region_of(b, &rb));
    touch_region(&ra, &ba);
    touch_region(&rb, &bb);
    truth = have_common(&ba, &bb);
    if (truth) {
        good = CHECK(tg_regions_meet(&ra, &rb));
        turned = CHECK(tg_regions_meet(&rb, &ra));
    } else if (is_small(&ra, &rb)) {
        good = CHECK(!tg_regions_meet(&ra, &rb));
        turned = CHECK(!tg_regions_meet(&rb, &ra));
    }
    *exact = tg_regions_meet(&ra, &rb) == truth;
    if (!good || !turned) {
        say("one", a);
        say("the other", b);
        longjmp(test_end_, 1);
    }
    return truth;
}

static struct tg_tensor draw_valid(int most_dims)
{
    struct tg_tensor t;
    do
        t = draw_view(most_dims);
    while (!tg_tensor_valid(&t));
    return t;
}

static void random_pairs(int pairs, int dims)
{
    int met = 0, apart = 0, wrong = 0;
    for (int i = 0; i < pairs; i++) {
        struct tg_tensor a = draw_valid(dims), b = draw_valid(dims);
        bool exact;
        if (draw(2))
            b.addr = a.addr;
        if (check_pair(&a, &b, &exact))
            met++;
        else
            apart++;
        wrong += !exact;
    }
    CHECK(met > pairs / 10 && apart > pairs / 10);
    CHECK(wrong <= pairs / 1000); /* inexact only where the exact answer would take long */
}

TEST(two_views_meet_where_they_have_a_byte_in_common)
{
    state = 4;
    random_pairs(20000, 3);
}

TEST(two_views_of_many_dimensions_meet_where_they_have_a_byte_in_common)
{
    state = 5;
    random_pairs(10000, 5);
}

/* Tries all steps and offsets of one dimension, so that every corner of the arithmetic is
 * covered. */
TEST(all_pairs_of_one_dimension_are_exact)
{
    for (int64_t step_a = 1; step_a <= 5; step_a++)
        for (int64_t step_b = 1; step_b <= 5; step_b++)
            for (int64_t count = 1; count <= 4; count++)
                for (int64_t delta = 0; delta <= 20; delta++) {
                    struct tg_tensor a = tg_tensor_make(BASE, TG_UINT8, 1, &(int64_t){64});
                    struct tg_tensor b = tg_tensor_slice(a, 0, delta, 64, step_b);
                    bool exact;
                    a = tg_tensor_slice(a, 0, 0, 1 + (count - 1) * step_a, step_a);
                    b = tg_tensor_slice(b, 0, 0, 3, 1);
                    check_pair(&a, &b, &exact);
                    REQUIRE(exact);
                }
}

/* ── what programs do ──────────────────────────────────────────────────────────────────── */

static bool meet(struct tg_tensor a, struct tg_tensor b)
{
    struct tg_region ra, rb;
    REQUIRE(tg_region_of(&a, &ra) && tg_region_of(&b, &rb));
    REQUIRE(tg_regions_meet(&ra, &rb) == tg_regions_meet(&rb, &ra));
    return tg_regions_meet(&ra, &rb);
}

TEST(tiles_of_a_large_matrix_meet_only_themselves)
{
    int64_t shape[2] = {4096, 4096};
    struct tg_tensor m = tg_tensor_make((uint64_t)1 << 32, TG_FLOAT32, 2, shape);
    struct tg_tensor turned = tg_tensor_transpose(m, 0, 1);
    for (int64_t i = 0; i < 64; i += 7)
        for (int64_t j = 0; j < 64; j += 3)
            for (int64_t k = 0; k < 64; k += 7)
                for (int64_t l = 0; l < 64; l += 3) {
                    struct tg_tensor a = tg_tensor_tile(m, 64 * i, 64, 64 * j, 64);
                    struct tg_tensor b = tg_tensor_tile(m, 64 * k, 64, 64 * l, 64);
                    struct tg_tensor c = tg_tensor_tile(turned, 64 * l, 64, 64 * k, 64);
                    REQUIRE(meet(a, b) == (i == k && j == l));
                    REQUIRE(meet(a, c) == (i == k && j == l));
                }
}

TEST(tiles_of_a_batch_of_matrices_meet_only_themselves)
{
    int64_t shape[4] = {8, 4, 96, 80};
    struct tg_tensor all = tg_tensor_make((uint64_t)1 << 32, TG_BFLOAT16, 4, shape);
    for (int64_t i = 0; i < 8; i++)
        for (int64_t j = 0; j < 80; j += 16) {
            /* Columns of every matrix, rows of all heads of one batch, one head of all batches. */
            struct tg_tensor columns = tg_tensor_slice(all, 3, j, j + 16, 1);
            struct tg_tensor others = tg_tensor_slice(all, 3, (j + 16) % 80, (j + 16) % 80 + 16, 1);
            struct tg_tensor batch = tg_tensor_index(all, 0, i);
            struct tg_tensor head = tg_tensor_index(all, 1, i % 4);
            REQUIRE(!meet(columns, others));
            REQUIRE(meet(columns, batch) && meet(columns, head) && meet(batch, head));
            REQUIRE(!meet(batch, tg_tensor_index(all, 0, (i + 1) % 8)));
            REQUIRE(!meet(head, tg_tensor_index(all, 1, (i + 1) % 4)));
            REQUIRE(
                !meet(tg_tensor_slice(batch, 1, 0, 48, 1), tg_tensor_slice(batch, 1, 48, 96, 1)));
        }
}

TEST(even_and_odd_rows_and_columns_do_not_meet)
{
    int64_t shape[2] = {64, 64};
    struct tg_tensor m = tg_tensor_make((uint64_t)1 << 32, TG_FLOAT32, 2, shape);
    for (int dim = 0; dim < 2; dim++) {
        struct tg_tensor even = tg_tensor_slice(m, dim, 0, 64, 2);
        struct tg_tensor odd = tg_tensor_slice(m, dim, 1, 64, 2);
        CHECK(!meet(even, odd));
        CHECK(!meet(tg_tensor_flip(even, 0), tg_tensor_flip(odd, 1)));
        CHECK(meet(even, tg_tensor_slice(m, dim, 2, 64, 2)));
    }
}

TEST(windows_that_slide_meet_as_far_as_they_reach)
{
    int64_t line = 1000;
    struct tg_tensor all = tg_tensor_make((uint64_t)1 << 32, TG_INT32, 1, &line);
    struct tg_tensor windows = all; /* eight rows of 16, each starting 4 further */
    windows.ndim = 2;
    windows.shape[0] = 8;
    windows.strides[0] = 4;
    windows.shape[1] = 16;
    windows.strides[1] = 1;
    windows.start = 100;
    for (int64_t at = 0; at < 200; at++)
        REQUIRE(meet(windows, tg_tensor_slice(all, 0, at, at + 1, 1)) == (at >= 100 && at < 144));
}

TEST(a_diagonal_meets_the_tiles_that_it_crosses)
{
    int64_t shape[2] = {32, 32};
    struct tg_tensor m = tg_tensor_make((uint64_t)1 << 32, TG_FLOAT64, 2, shape), diagonal = m;
    diagonal.ndim = 1;
    diagonal.shape[0] = 32;
    diagonal.strides[0] = 33;
    for (int64_t i = 0; i < 32; i += 4)
        for (int64_t j = 0; j < 32; j += 4)
            REQUIRE(meet(diagonal, tg_tensor_tile(m, i, 4, j, 4)) == (i == j));
}

TEST(neighbours_in_one_byte_are_taken_to_meet)
{
    int64_t n = 64;
    struct tg_tensor t = tg_tensor_make((uint64_t)1 << 32, TG_INT4, 1, &n);
    for (int64_t i = 0; i + 1 < n; i++)
        REQUIRE(meet(tg_tensor_slice(t, 0, i, i + 1, 1), tg_tensor_slice(t, 0, i + 1, i + 2, 1)) ==
                (i % 2 == 0));
}

TEST_MAIN()
