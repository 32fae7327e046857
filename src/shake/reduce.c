/* SPDX-License-Identifier: Apache-2.0 */
#include "shake/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct reducer {
    const struct tg_reduce_input *input;
    struct tg_reduce_result *result;
    bool stopped; /* `fails` asked for that */
    uint32_t *place;
    uint8_t *reached; /* from the task that was asked about last */
    uint32_t *candidate;
    struct tg_order *all;   /* the set that is reduced */
    struct tg_order *part;  /* its essential part, as far as it is found */
    struct tg_order *trial; /* the set that is tested */
    struct tg_order *best;  /* the smallest set that has failed */
    uint32_t n_best;        /* 0: none has */
};

static bool is_over(const struct reducer *r)
{
    return r->stopped || r->result->spent;
}

static void adopt(struct reducer *r, const struct tg_order *set, uint32_t n)
{
    memmove(r->best, set, n * sizeof *set);
    r->n_best = n;
}

/* One run; false also if there is no run left. */
static bool fails_once(struct reducer *r, const struct tg_order *set, uint32_t n)
{
    if (r->result->runs >= r->input->budget)
        r->result->spent = true;
    if (is_over(r))
        return false;
    r->result->runs++;
    enum tg_reduce_answer answer = r->input->fails(r->input->context, set, n);
    if (answer == TG_REDUCE_STOP)
        r->stopped = true;
    return answer == TG_REDUCE_FAILS;
}

/* True if the set fails as often as has to be. The smallest such set is kept, so that a reduction that runs
 * out of runs still has it. The empty set is the baseline, which passes. */
static bool fails(struct reducer *r, const struct tg_order *set, uint32_t n)
{
    if (n == 0 || n > r->input->most)
        return false;
    for (uint32_t i = 0; i < r->input->confirm; i++) {
        if (!fails_once(r, set, n)) {
            r->result->flaky |= i > 0 && !is_over(r);
            return false;
        }
    }
    if (r->n_best == 0 || n < r->n_best)
        adopt(r, set, n);
    return true;
}

/*
 * QuickXplain: which of set[0 … n) are needed so that they fail together with trial[0 … base). Writes them to
 * `out`. It takes about 2k log2(n / k) runs for k of n, and assumes that more constraints never repair what
 * fewer break; the caller checks what it returns.
 */
static uint32_t explain(struct reducer *r, uint32_t base, bool is_new, const struct tg_order *set,
                        uint32_t n, struct tg_order *out)
{
    if (is_over(r) || (is_new && fails(r, r->trial, base)))
        return 0;
    if (n == 1) {
        out[0] = set[0];
        return 1;
    }
    uint32_t half = n / 2;
    memcpy(r->trial + base, set, half * sizeof *set);
    uint32_t late = explain(r, base + half, true, set + half, n - half, out);
    memcpy(r->trial + base, out, late * sizeof *set);
    return late + explain(r, base + late, late > 0, set, half, out + late);
}

/* `set` without set[at … at + length), in r->trial. */
static uint32_t leave_out(struct reducer *r, const struct tg_order *set, uint32_t n, uint32_t at,
                          uint32_t length)
{
    if (length > n - at)
        length = n - at;
    memmove(r->trial, set, at * sizeof *set);
    memmove(r->trial + at, set + at + length, (n - at - length) * sizeof *set);
    return n - length;
}

/* Leaves out pieces of the best set, which get smaller, until no single constraint can be left out. It
 * assumes nothing. */
static void leave_out_pieces(struct reducer *r, uint32_t length)
{
    for (; length > 0 && !is_over(r); length /= 2) {
        for (uint32_t at = 0; at < r->n_best && r->n_best > 1 && !is_over(r);) {
            uint32_t n = leave_out(r, r->best, r->n_best, at, length);
            if (!fails(r, r->trial, n)) /* otherwise the rest has moved to `at` */
                at += length;
        }
    }
}

/* Reduces r->all[0 … n), which has failed. */
static void minimize(struct reducer *r, uint32_t n)
{
    uint32_t k = n > 1 ? explain(r, 0, false, r->all, n, r->part) : 0;
    bool explained = k > 0 && k < n && !is_over(r) && fails(r, r->part, k);
    leave_out_pieces(r, explained ? 1 : (r->n_best + 1) / 2);
}

/* Turns the pair round so that it is what the failing order did and fifo would not do. False if both do
 * the same. */
static bool invert(const struct reducer *r, const struct tg_order *pair, struct tg_order *inverted)
{
    uint32_t low = pair->first < pair->second ? pair->first : pair->second;
    uint32_t high = pair->first < pair->second ? pair->second : pair->first;
    *inverted = (struct tg_order){high, low};
    return low != high && high < r->input->graph.n && r->place[high] < r->place[low];
}

static uint32_t collect_suspects(struct reducer *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->input->n_suspects && n < r->input->most; i++)
        n += invert(r, &r->input->suspect[i], &r->all[n]);
    return n;
}

/* A quarter of the runs at most, because the suspects may all be innocent. */
static void try_suspects(struct reducer *r)
{
    uint32_t n = collect_suspects(r);
    uint32_t limit = r->input->budget / 4;
    for (uint32_t i = 0; i < n && r->result->runs < limit && r->n_best == 0 && !is_over(r); i++)
        (void)fails(r, &r->all[i], 1);
    if (r->n_best == 0 && n > 1 && fails(r, r->all, n))
        minimize(r, n);
}

static void try_failing_order(struct reducer *r)
{
    uint32_t n = tg_order_constrain(r->input->failing, r->input->graph.n, r->candidate, r->all);
    r->result->too_many = n > r->input->most;
    if (fails(r, r->all, n))
        minimize(r, n);
}

/* Tests the best set with another constraint `i`, and keeps that set if it fails. */
static bool replace(struct reducer *r, uint32_t i, struct tg_order constraint)
{
    memcpy(r->trial, r->best, r->n_best * sizeof *r->trial);
    r->trial[i] = constraint;
    uint32_t n = r->n_best;
    if (!fails(r, r->trial, n))
        return false;
    adopt(r, r->trial, n);
    return true;
}

/* Marks in r->reached, or leaves to the failing order, what cannot run before `second`. */
static void look_behind(struct reducer *r, uint32_t second)
{
    if (r->input->graph.start)
        tg_order_reach(&r->input->graph, second, r->reached);
}

/* Whether `second` can wait for `first`, and fifo would not do that anyway. */
static bool is_possible(const struct reducer *r, uint32_t first, uint32_t second)
{
    if (first <= second)
        return false;
    return r->input->graph.start ? !r->reached[first] : r->place[first] < r->place[second];
}

/* A later first task lets more tasks overtake the second one, because fifo starts those with lower numbers
 * before it. So the lowest number that still fails is the task that must not overtake. */
static bool loosen_first(struct reducer *r, uint32_t i)
{
    struct tg_order c = r->best[i];
    uint32_t n = 0;
    look_behind(r, c.second);
    for (uint32_t t = c.second + 1; t < c.first; t++)
        if (is_possible(r, t, c.second))
            r->candidate[n++] = t;
    uint32_t low = 0, high = n; /* `high` fails: n is the task that it has */
    while (low < high && !is_over(r)) {
        uint32_t middle = low + (high - low) / 2;
        if (replace(r, i, (struct tg_order){r->candidate[middle], c.second}))
            high = middle;
        else
            low = middle + 1;
    }
    return high < n;
}

/* Holding a task back holds back those that wait for it, so one of them may be the one that collides. */
static bool loosen_second(struct reducer *r, uint32_t i)
{
    struct tg_order c = r->best[i];
    uint32_t n = 0;
    if (!r->input->graph.start)
        return false;
    look_behind(r, c.second);
    for (uint32_t t = c.second + 1; t < c.first; t++)
        if (r->reached[t])
            r->candidate[n++] = t;
    uint32_t low = 0, high = n; /* those below `low` come before one that fails */
    while (low < high && !is_over(r)) {
        uint32_t middle = low + (high - low) / 2;
        if (replace(r, i, (struct tg_order){c.first, r->candidate[middle]}))
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0;
}

static void loosen(struct reducer *r)
{
    bool changed = true;
    for (int round = 0; round < 3 && changed && !is_over(r); round++) {
        changed = false;
        for (uint32_t i = 0; i < r->n_best; i++) {
            changed |= loosen_first(r, i);
            changed |= loosen_second(r, i);
        }
    }
}

/* Tests the best set with one constraint in the place of two: the first task of `i` before the second of
 * `j`. */
static bool merge(struct reducer *r, uint32_t i, uint32_t j)
{
    struct tg_order c = {r->best[i].first, r->best[j].second};
    uint32_t n = 0;
    look_behind(r, c.second);
    if (i == j || !is_possible(r, c.first, c.second))
        return false;
    for (uint32_t k = 0; k < r->n_best; k++)
        if (k != i && k != j)
            r->trial[n++] = r->best[k];
    r->trial[n++] = c;
    return fails(r, r->trial, n);
}

static bool merge_two(struct reducer *r)
{
    for (uint32_t i = 0; i < r->n_best && r->n_best > 1; i++)
        for (uint32_t j = 0; j < r->n_best && !is_over(r); j++)
            if (merge(r, i, j))
                return true;
    return false;
}

/* The constraints that make an order hold a task back for one that is itself held back, where the failure
 * needs only the ends of that chain. */
static void merge_all(struct reducer *r)
{
    while (merge_two(r))
        continue;
}

static void reduce(struct reducer *r)
{
    try_suspects(r);
    if (r->n_best == 0)
        try_failing_order(r);
    if (r->n_best > 1) {
        merge_all(r);
        leave_out_pieces(r, 1);
    }
    loosen(r);
    if (r->n_best > 1) {
        leave_out_pieces(r, 1);
        merge_all(r);
    }
}

static bool allocate(struct reducer *r)
{
    size_t n = r->input->graph.n;
    size_t sets = (n > r->input->n_suspects ? n : r->input->n_suspects) + 1;
    r->place = calloc(n + 1, sizeof *r->place);
    r->reached = calloc(n + 1, 1);
    r->candidate = calloc(n + 1, sizeof *r->candidate);
    r->all = calloc(sets, sizeof *r->all);
    r->part = calloc(sets, sizeof *r->part);
    r->trial = calloc(sets, sizeof *r->trial);
    r->best = calloc(sets, sizeof *r->best);
    return r->place && r->reached && r->candidate && r->all && r->part && r->trial && r->best;
}

static void release(struct reducer *r)
{
    free(r->place);
    free(r->reached);
    free(r->candidate);
    free(r->all);
    free(r->part);
    free(r->trial);
    free(r->best);
}

tg_status tg_reduce(const struct tg_reduce_input *input, struct tg_reduce_result *result,
                    struct tg_error *error)
{
    struct reducer r = {.input = input, .result = result};
    tg_status status = TG_OK;
    memset(result, 0, sizeof *result);
    if (!allocate(&r)) {
        status = tg_error_set(error, TG_NO_MEMORY, "out of memory for reducing a schedule");
    } else {
        tg_order_places(input->failing, input->graph.n, r.place);
        reduce(&r);
        result->constraint = r.best;
        result->n = r.n_best;
        r.best = NULL;
        if (r.stopped)
            status = tg_error_set(error, TG_CANCELLED, "reducing a schedule was cancelled");
    }
    release(&r);
    return status;
}
