/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two regions share a byte, and how many. */
#include <stdlib.h>

#include "race/region.h"

/* Places that are tried for one pair of lattices before the answer stays open. */
enum { MOST_TRIES = 1 << 16 };
/* Runs of a region that are listed to count common bytes. */
enum { MOST_RUNS = 1 << 16 };

__extension__ typedef __int128 wide;

struct pair {
    const struct tg_race_lattice *a, *b;
    /* The common divisor of all strides from dimension i of a and j of b on is gcd(step_a[i], step_b[j]). */
    uint64_t step_a[TG_MAX_DIMS + 1], step_b[TG_MAX_DIMS + 1];
    int64_t reach_a[TG_MAX_DIMS + 1],
        reach_b[TG_MAX_DIMS + 1]; /* with the dimensions before fixed */
    int64_t tries;
};

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void prepare(const struct tg_race_lattice *lattice, uint64_t *step, int64_t *reach)
{
    uint32_t i = lattice->n;
    step[i] = 0;
    reach[i] = (int64_t)lattice->run;
    while (i-- > 0) {
        step[i] = common_divisor(lattice->stride[i], step[i + 1]);
        reach[i] = reach[i + 1] + (int64_t)((lattice->count[i] - 1) * lattice->stride[i]);
    }
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The smallest x >= 0 for which low <= factor * x mod modulus <= high, where low <= high < modulus; -1 if there is none.
 * Each round makes the modulus the old factor, which is at most half of it, as Euclid's algorithm does. */
static wide first_in_range(wide factor, wide modulus, wide low, wide high)
{
    factor %= modulus;
    if (low == 0)
        return 0;
    if (factor == 0)
        return -1;
    if (2 * factor > modulus)
        return first_in_range(modulus - factor, modulus, modulus - high, modulus - low);
    wide x = (low + factor - 1) / factor;
    if (x * factor <= high)
        return x;
    wide turns = first_in_range(factor - modulus % factor, factor, low % factor, high % factor);
    return turns < 0 ? -1 : (low + modulus * turns + factor - 1) / factor;
}

/*
 * One dimension of each is left: are there i < count_a and j < count_b with
 *     -run_b < delta + j * stride_b - i * stride_a < run_a ?
 * With x = delta + run_b - 1 and w = run_a + run_b - 2 that is 0 <= x + j * stride_b - i * stride_a <= w. For a j
 * where the runs reach each other at all, some i will do if (x + j * stride_b) mod stride_a <= w.
 */
static bool lines_meet(const struct pair *pair, uint32_t ia, uint32_t ib, int64_t delta)
{
    const int64_t stride_a = (int64_t)pair->a->stride[ia], stride_b = (int64_t)pair->b->stride[ib];
    const int64_t x = delta + (int64_t)pair->b->run - 1;
    const int64_t w = (int64_t)(pair->a->run + pair->b->run) - 2;
    const int64_t last_a = (int64_t)(pair->a->count[ia] - 1) * stride_a;
    int64_t from = larger(0, floor_div(-x + stride_b - 1, stride_b));
    int64_t to = smaller((int64_t)pair->b->count[ib] - 1, floor_div(last_a + w - x, stride_b));
    if (from > to)
        return false;
    int64_t rest = (x + from * stride_b) % stride_a; /* not negative, because of `from` */
    if (rest <= w)
        return true;
    wide steps =
        first_in_range(stride_b, stride_a, (wide)stride_a - rest, (wide)stride_a - rest + w);
    return steps >= 0 && steps <= to - from;
}

/*
 * a's dimensions from `ia` and b's from `ib` are not fixed yet, and b's part begins `delta` bytes
 * after a's. Fixes the widest dimension next, and tries only the places where the two still reach
 * each other. With i repeats of a's and j of b's, delta changes by stride * (j - i).
 */
static bool meet(struct pair *pair, uint32_t ia, uint32_t ib, int64_t delta)
{
    const uint32_t left_a = pair->a->n - ia, left_b = pair->b->n - ib;
    if (delta >= pair->reach_a[ia] || -delta >= pair->reach_b[ib])
        return false;
    if (left_a + left_b == 0)
        return true;
    if (--pair->tries < 0)
        return false;
    /* All differences that can still come are congruent: no run may lie there at all. */
    uint64_t step = common_divisor(pair->step_a[ia], pair->step_b[ib]);
    int64_t rest = (delta + (int64_t)pair->b->run - 1) % (int64_t)step;
    if (rest < 0)
        rest += (int64_t)step;
    if (rest > (int64_t)(pair->a->run + pair->b->run) - 2)
        return false;
    if (left_a == 1 && left_b == 1)
        return lines_meet(pair, ia, ib, delta);
    int64_t stride_a = left_a ? (int64_t)pair->a->stride[ia] : 0;
    int64_t stride_b = left_b ? (int64_t)pair->b->stride[ib] : 0,
            stride = larger(stride_a, stride_b);
    int64_t from = stride_b == stride ? -((int64_t)pair->b->count[ib] - 1) : 0;
    int64_t to = stride_a == stride ? (int64_t)pair->a->count[ia] - 1 : 0;
    ia += stride_a == stride;
    ib += stride_b == stride;
    /* d = i - j must leave delta - d * stride in (-reach b, reach a). */
    from = larger(from, floor_div(delta - pair->reach_a[ia], stride) + 1);
    to = smaller(to, floor_div(delta + pair->reach_b[ib] - 1, stride));
    for (int64_t d = from; d <= to && pair->tries >= 0; d++)
        if (meet(pair, ia, ib, delta - d * stride))
            return true;
    return false;
}

static enum tg_race_answer lattices_share(const struct tg_race_lattice *a,
                                          const struct tg_race_lattice *b, uint64_t *work)
{
    struct pair pair = {.a = a, .b = b, .tries = MOST_TRIES};
    if (a->lo >= b->lo + b->reach || b->lo >= a->lo + a->reach)
        return TG_RACE_NO;
    if (a->n == 0 && b->n == 0)
        return TG_RACE_YES;
    prepare(a, pair.step_a, pair.reach_a);
    prepare(b, pair.step_b, pair.reach_b);
    bool met = meet(&pair, 0, 0, (int64_t)(b->lo - a->lo));
    *work += (uint64_t)(MOST_TRIES - pair.tries);
    if (met)
        return TG_RACE_YES;
    return pair.tries < 0 ? TG_RACE_OPEN : TG_RACE_NO;
}

enum tg_race_answer tg_race_regions_share(const struct tg_race_region *a,
                                          const struct tg_race_region *b, uint64_t *work)
{
    enum tg_race_answer answer = TG_RACE_NO;
    ++*work;
    if (a->n == 0 || b->n == 0 || a->lo >= b->hi || b->lo >= a->hi)
        return TG_RACE_NO;
    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t j = 0; j < b->n; j++) {
            enum tg_race_answer is = lattices_share(&a->lattice[i], &b->lattice[j], work);
            if (is == TG_RACE_YES)
                return TG_RACE_YES;
            if (is == TG_RACE_OPEN)
                answer = TG_RACE_OPEN;
        }
    return answer;
}

/* --- how many bytes --------------------------------------------------------------------------- */

struct run {
    uint64_t lo, hi;
};

struct runs {
    struct run *run;
    size_t count;
};

/* 0 if there are more than MOST_RUNS. */
static size_t count_runs(const struct tg_race_region *region)
{
    size_t all = 0;
    for (uint32_t i = 0; i < region->n; i++) {
        size_t runs = 1;
        for (uint32_t k = 0; k < region->lattice[i].n; k++) {
            if (region->lattice[i].count[k] > MOST_RUNS / runs)
                return 0;
            runs *= region->lattice[i].count[k];
        }
        all += runs;
        if (all > MOST_RUNS)
            return 0;
    }
    return all;
}

static void list_runs(const struct tg_race_lattice *lattice, struct runs *runs)
{
    uint64_t at[TG_MAX_DIMS] = {0}, lo = lattice->lo;
    for (;;) {
        runs->run[runs->count++] = (struct run){lo, lo + lattice->run};
        uint32_t i = 0;
        for (; i < lattice->n; i++) {
            if (++at[i] < lattice->count[i]) {
                lo += lattice->stride[i];
                break;
            }
            lo -= (lattice->count[i] - 1) * lattice->stride[i];
            at[i] = 0;
        }
        if (i == lattice->n)
            return;
    }
}

static int by_lo(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

/* Sorted, and runs that touch are one. */
static bool runs_of(const struct tg_race_region *region, struct runs *runs)
{
    size_t room = count_runs(region), kept = 0;
    *runs = (struct runs){.run = room ? calloc(room, sizeof *runs->run) : NULL};
    if (!runs->run)
        return false;
    for (uint32_t i = 0; i < region->n; i++)
        list_runs(&region->lattice[i], runs);
    qsort(runs->run, runs->count, sizeof *runs->run, by_lo);
    for (size_t i = 0; i < runs->count; i++) {
        struct run run = runs->run[i];
        if (kept > 0 && run.lo <= runs->run[kept - 1].hi) {
            if (run.hi > runs->run[kept - 1].hi)
                runs->run[kept - 1].hi = run.hi;
        } else {
            runs->run[kept++] = run;
        }
    }
    runs->count = kept;
    return true;
}

static uint64_t count_common(const struct runs *a, const struct runs *b)
{
    uint64_t bytes = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        uint64_t lo = a->run[i].lo > b->run[j].lo ? a->run[i].lo : b->run[j].lo;
        uint64_t hi = a->run[i].hi < b->run[j].hi ? a->run[i].hi : b->run[j].hi;
        bytes += hi > lo ? hi - lo : 0;
        if (a->run[i].hi < b->run[j].hi)
            i++;
        else
            j++;
    }
    return bytes;
}

uint64_t tg_race_regions_common(const struct tg_race_region *a, const struct tg_race_region *b,
                                uint64_t *budget)
{
    struct runs runs_a = {0}, runs_b = {0};
    uint64_t bytes = UINT64_MAX, runs;
    if (a->n == 0 || b->n == 0)
        return 0;
    if (tg_race_region_is_run(a) && tg_race_region_is_run(b))
        return count_common(&(struct runs){&(struct run){a->lo, a->hi}, 1},
                            &(struct runs){&(struct run){b->lo, b->hi}, 1});
    runs = count_runs(a) + count_runs(b);
    if (runs > *budget)
        return UINT64_MAX;
    *budget -= runs;
    if (runs_of(a, &runs_a) && runs_of(b, &runs_b))
        bytes = count_common(&runs_a, &runs_b);
    free(runs_a.run);
    free(runs_b.run);
    return bytes;
}
