/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which schedules are tried, in which order. After lifo, three kinds take turns, so that none of them keeps
 * the others waiting: orders that are made for this graph, random ones, and adversarial ones. Those that are
 * made: each race turned round, all of them, orders by the lengths of paths, and then single tasks starved;
 * and in between all constraints together that changed bytes, but no output, alone.
 */
#include <stdlib.h>

#include "base/error.h"
#include "analysis/deps.h"
#include "shake/session.h"
#include "shake/starve.h"

/* Races over the same bytes are many pairs, of which a few show as much as all. */
enum { MOST_RACES = 24 };

void tg_session_pairs(const struct tg_shake_session *s, const struct tg_order *constraint,
                      uint32_t n, struct tg_schedule_pair *pairs)
{
    const struct tg_deps_task *task = s->baseline.deps->task;
    for (uint32_t i = 0; i < n; i++)
        pairs[i] =
            (struct tg_schedule_pair){task[constraint[i].first].id, task[constraint[i].second].id};
}

/* What fifo, which starts tasks in the order of submission, does not do. */
static struct tg_order invert(const struct tg_order *pair)
{
    return pair->first < pair->second ? (struct tg_order){pair->second, pair->first} : *pair;
}

static bool choose_race(struct tg_shake_session *s, struct tg_order *constraint)
{
    if (s->next_suspect >= s->n_suspects || s->next_suspect >= MOST_RACES)
        return false;
    *constraint = invert(&s->suspect[s->next_suspect++]);
    return true;
}

/* Single tasks, those first that only short paths lead through. */
static bool choose_starved(struct tg_shake_session *s, uint32_t *tasks, uint8_t *scratch,
                           struct tg_order *constraint)
{
    uint32_t n = s->graph.n;
    if (!tg_starve_sides(&s->graph, tasks))
        return false;
    while (s->next_starved < n) {
        if (tg_starve_task(&s->graph, tasks[s->next_starved++], scratch, constraint))
            return true;
    }
    return false;
}

/* Constraints that changed bytes in between, each alone, may break the case together. */
static uint32_t choose_combination(struct tg_shake_session *s, struct tg_order *constraint)
{
    if (s->n_telling < 2 || s->n_telling == s->n_combined)
        return 0;
    for (uint32_t i = 0; i < s->n_telling; i++)
        constraint[i] = s->telling[i];
    s->n_combined = s->n_telling;
    return s->n_telling;
}

void tg_session_changed_inside(struct tg_shake_session *s)
{
    if (s->has_last && s->n_telling < TG_SHAKE_TELLING && s->n_telling < s->graph.n)
        s->telling[s->n_telling++] = s->last;
}

/* All races at once, after each alone. */
static uint32_t choose_all_races(struct tg_shake_session *s, struct tg_order *constraint)
{
    uint32_t n = s->n_suspects < s->graph.n ? s->n_suspects : s->graph.n;
    if (s->inverted_all || n < 2)
        return 0;
    s->inverted_all = true;
    for (uint32_t i = 0; i < n; i++)
        constraint[i] = invert(&s->suspect[i]);
    return n;
}

static uint32_t choose_by_paths(struct tg_shake_session *s, uint32_t *order, uint32_t *stack,
                                struct tg_order *constraint)
{
    while (s->next_kind < TG_STARVE_KINDS) {
        uint32_t n = 0;
        if (tg_starve_graph(&s->graph, (enum tg_starve_kind)s->next_kind++, order))
            n = tg_order_constrain(order, s->graph.n, stack, constraint);
        if (n > 0)
            return n;
    }
    return 0;
}

/* What an order is made in. */
struct workshop {
    uint8_t *reached;
    uint32_t *order, *stack;
    struct tg_order *constraint;
};

static bool open_workshop(struct workshop *w, size_t n)
{
    *w = (struct workshop){malloc(n), malloc(n * sizeof *w->order), malloc(n * sizeof *w->stack),
                           malloc(n * sizeof *w->constraint)};
    return w->reached && w->order && w->stack && w->constraint;
}

static void close_workshop(struct workshop *w)
{
    free(w->reached);
    free(w->order);
    free(w->stack);
    free(w->constraint);
}

/* The number of constraints; 0: no order that is made is left. */
static uint32_t make_order(struct tg_shake_session *s, struct workshop *w)
{
    if (s->graph.n == 0)
        return 0;
    uint32_t n = choose_combination(s, w->constraint);
    if (n == 0)
        n = choose_race(s, w->constraint);
    if (n == 0)
        n = choose_all_races(s, w->constraint);
    if (n == 0)
        n = choose_by_paths(s, w->order, w->stack, w->constraint);
    if (n == 0)
        n = choose_starved(s, w->order, w->reached, w->constraint);
    s->has_last = n == 1;
    s->last = w->constraint[0];
    return n <= TG_MAX_SCHEDULE_PAIRS ? n : 0;
}

/* *n: as make_order returns. */
static tg_status make_pairs(struct tg_shake_session *s, struct tg_schedule_pair *pairs, uint32_t *n,
                            struct tg_error *error)
{
    struct workshop w;
    tg_status status = TG_OK;
    *n = 0;
    if (!open_workshop(&w, (size_t)s->graph.n + 1))
        status = tg_error_set(error, TG_NO_MEMORY, "out of host memory for a schedule");
    else
        *n = make_order(s, &w);
    if (*n > 0)
        tg_session_pairs(s, w.constraint, *n, pairs);
    close_workshop(&w);
    return status;
}

tg_status tg_session_choose(struct tg_shake_session *s, uint32_t number,
                            struct tg_schedule_pair *pairs, struct tg_schedule *schedule,
                            struct tg_error *error)
{
    uint64_t seed = s->config.seed + (number - 2) / 3;
    uint32_t turn = number % 3, n = 0;
    s->has_last = false;
    *schedule = (struct tg_schedule){.policy = TG_SCHEDULE_LIFO};
    if (number == 2)
        return TG_OK;
    tg_status status = turn == 0 ? make_pairs(s, pairs, &n, error) : TG_OK;
    if (n > 0)
        *schedule = (struct tg_schedule){TG_SCHEDULE_ORDER, n, 0, pairs, 0};
    else if (turn == 2)
        *schedule = (struct tg_schedule){.policy = TG_SCHEDULE_ADVERSARIAL, .seed = seed};
    else /* where no order is left to make, seeds that the other turns do not use */
        *schedule = (struct tg_schedule){.policy = TG_SCHEDULE_RANDOM,
                                         .seed = turn == 0 ? seed + s->config.runs : seed};
    return status;
}
