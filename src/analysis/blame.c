/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/blame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"

const char *tg_guilt_name(unsigned guilt)
{
#define WORD(constant, word, meaning) word,
    static const char *const words[] = {TG_GUILT_MAP(WORD)};
#undef WORD
    return guilt < TG_GUILTS ? words[guilt] : "?";
}

const char *tg_guilt_text(unsigned guilt)
{
#define MEANING(constant, word, meaning) meaning,
    static const char *const meanings[] = {TG_GUILT_MAP(MEANING)};
#undef MEANING
    return guilt < TG_GUILTS ? meanings[guilt] : "?";
}

bool tg_blame_accuse(struct tg_blame *blame, const struct tg_suspect *suspect)
{
    if (!tg_grow(&blame->suspect, &blame->room, (size_t)blame->n_suspects + 1,
                 sizeof *blame->suspect))
        return false;
    blame->suspect[blame->n_suspects++] = *suspect;
    return true;
}

/* --- suspects --------------------------------------------------------------------------------- */

static bool waits_for_a_wrong_one(const struct tg_blame *blame, uint32_t task)
{
    const struct tg_links *before = &blame->before;
    for (uint64_t k = before->first[task]; k < before->first[task + 1]; k++)
        if (blame->task[before->before[k]].output == TG_STATE_DIFFERS)
            return true;
    return false;
}

static enum tg_guilt guilt_of(const struct tg_blame *blame, uint32_t task)
{
    if (blame->task[task].input == TG_STATE_DIFFERS)
        return TG_GUILT_INHERITED;
    if (blame->task[task].input == TG_STATE_AGREES)
        return TG_GUILT_INTRODUCED;
    return waits_for_a_wrong_one(blame, task) ? TG_GUILT_INHERITED : TG_GUILT_UNCLEAR;
}

static bool accuse_tasks(struct tg_blame *blame)
{
    for (uint32_t i = 0; i < blame->diff->match.n_tasks; i++) {
        if (blame->task[i].output != TG_STATE_DIFFERS)
            continue;
        struct tg_suspect suspect = {.guilt = guilt_of(blame, i),
                                     .task = i,
                                     .pair = blame->task[i].pair,
                                     .depth = blame->depth[i],
                                     .error = (double)blame->task[i].error};
        blame->inherited += suspect.guilt == TG_GUILT_INHERITED;
        if (suspect.guilt != TG_GUILT_INHERITED && !tg_blame_accuse(blame, &suspect))
            return false;
    }
    return true;
}

/* The earliest suspect comes first, then the one with the largest error; an unknown error sorts
 * last. */
static int by_rank(const void *a, const void *b)
{
    const struct tg_suspect *left = a, *right = b;
    double x = isnan(left->error) ? -1 : left->error, y = isnan(right->error) ? -1 : right->error;
    if (left->guilt != right->guilt)
        return left->guilt < right->guilt ? -1 : 1;
    if (left->depth != right->depth)
        return left->depth < right->depth ? -1 : 1;
    if (x != y)
        return x > y ? -1 : 1;
    return (left->task > right->task) - (left->task < right->task);
}

/* --- paths ------------------------------------------------------------------------------------ */

/* The wrong task at which a path through wrong or unknown tasks ends, and the number of its
 * steps. */
struct goal {
    uint32_t end; /* TG_NO_ROW: the path reaches no wrong task */
    uint32_t steps;
};

static bool is_better(const struct tg_blame *blame, const struct goal *goal,
                      const struct goal *best)
{
    if (goal->end == TG_NO_ROW)
        return false;
    if (best->end == TG_NO_ROW || goal->end != best->end)
        return best->end == TG_NO_ROW || blame->rank[goal->end] > blame->rank[best->end];
    return goal->steps + 1 < best->steps;
}

static void choose_next(struct tg_blame *blame, struct goal *goal, uint32_t task)
{
    const struct tg_links *after = &blame->after;
    struct goal best = {TG_NO_ROW, 0};
    blame->next[task] = TG_NO_ROW;
    for (uint64_t k = after->first[task]; k < after->first[task + 1]; k++) {
        uint32_t other = after->before[k];
        if (blame->rank[other] <= blame->rank[task] ||
            blame->task[other].output == TG_STATE_AGREES || !is_better(blame, &goal[other], &best))
            continue;
        best = (struct goal){goal[other].end, goal[other].steps + 1};
        blame->next[task] = other;
    }
    if (best.end == TG_NO_ROW && blame->task[task].output == TG_STATE_DIFFERS)
        best.end = task;
    goal[task] = best;
}

/* Goes from the last task to the first, so that every successor has its goal already. */
static bool find_ways(struct tg_blame *blame)
{
    uint32_t count = blame->diff->match.n_tasks;
    struct goal *goal = calloc((size_t)count + 1, sizeof *goal);
    uint32_t *order = calloc((size_t)count + 1, sizeof *order);
    blame->next = malloc(((size_t)count + 1) * sizeof *blame->next);
    blame->path = malloc(((size_t)count + 1) * sizeof *blame->path);
    bool good = goal && order && blame->next && blame->path;
    for (uint32_t i = 0; good && i < count; i++)
        order[blame->rank[i]] = i;
    for (uint32_t i = count; good && i > 0; i--)
        choose_next(blame, goal, order[i - 1]);
    free(goal);
    free(order);
    return good;
}

/* --- the public functions --------------------------------------------------------------------- */

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY,
                        "no memory to find the tasks that began the difference");
}

static tg_status make_blame(struct tg_blame *blame, struct tg_error *error)
{
    struct tg_diff *diff = blame->diff;
    tg_status status = tg_flow_make(&diff->a, &blame->flow_a, error);
    if (status == TG_OK)
        status = tg_flow_make(&diff->b, &blame->flow_b, error);
    if (status != TG_OK)
        return status;
    if (!tg_blame_read_graph(blame) || !tg_blame_read_tasks(blame) ||
        !tg_blame_find_sources(blame) || !accuse_tasks(blame) || !find_ways(blame))
        return no_memory(error);
    if (blame->n_suspects > 0)
        qsort(blame->suspect, (size_t)blame->n_suspects, sizeof *blame->suspect, by_rank);
    return TG_OK;
}

tg_status tg_blame_open(struct tg_diff *diff, struct tg_blame **blame, struct tg_error *error)
{
    struct tg_blame *b = calloc(1, sizeof *b);
    *blame = NULL;
    if (!b)
        return no_memory(error);
    b->diff = diff;
    tg_status status = make_blame(b, error);
    if (status == TG_OK)
        *blame = b;
    else
        tg_blame_close(b);
    return status;
}

void tg_blame_close(struct tg_blame *blame)
{
    if (!blame)
        return;
    tg_links_free(&blame->before);
    tg_links_free(&blame->after);
    tg_flow_free(&blame->flow_a);
    tg_flow_free(&blame->flow_b);
    free(blame->task);
    free(blame->rank);
    free(blame->depth);
    free(blame->next);
    free(blame->pair_of_a);
    free(blame->suspect);
    free(blame->path);
    free(blame);
}

void tg_blame_get_info(const struct tg_blame *blame, struct tg_blame_info *info)
{
    *info = (struct tg_blame_info){.graph = blame->graph,
                                   .suspects = blame->n_suspects,
                                   .inherited = blame->inherited,
                                   .wrong = blame->wrong};
}

bool tg_blame_get_suspect(const struct tg_blame *blame, uint64_t number, struct tg_suspect *suspect)
{
    if (number >= blame->n_suspects)
        return false;
    *suspect = blame->suspect[number];
    size_t length = 0;
    for (uint32_t task = (uint32_t)suspect->task; task != TG_NO_ROW; task = blame->next[task])
        blame->path[length++] = task;
    suspect->path = blame->path;
    suspect->n_path = length;
    return true;
}
