/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the tasks, each after those it waits for: what touched its regions before, and is not before
 * it in the order of tasks, races with it. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "race/search.h"

/* One step in LISTED is spent on pairs that are looked at one by one. */
enum { LISTED = 10 };
/* Tasks between two calls of the watch. */
enum { WATCHED = 4096 };

/* What one history has for the task. */
struct found {
    struct tg_race_rest rest;
    uint32_t entry;         /* of the task */
    uint32_t region, other; /* the task's region, and that of the history */
    bool is_own;            /* it is the history of the task's region */
    bool is_open;           /* it is not known whether the regions share bytes */
};

struct walk {
    struct tg_race_search *search;
    struct found *found;
    size_t n_found, room;
    uint32_t *mark;   /* of each task: the node that it was last paired with, + 1 */
    uint64_t to_list; /* pairs that may still be looked at one by one */
    bool tells_pairs;
    /* of the task that is walked to */
    uint32_t task, node;
    const struct found *at;
    struct tg_race_found *group;
    bool no_memory;
};

/* --- what is not before the task -------------------------------------------------------------- */

/* The next place for a result; keeps the memory that it has already. NULL if memory ran out. */
static struct found *next_found(struct walk *walk)
{
    size_t old = walk->room;
    if (!tg_grow(&walk->found, &walk->room, walk->n_found + 1, sizeof *walk->found))
        return NULL;
    if (walk->room > old)
        memset(walk->found + old, 0, (walk->room - old) * sizeof *walk->found);
    return &walk->found[walk->n_found];
}

static bool ask(struct walk *walk, uint32_t entry, uint32_t history, struct found **found)
{
    struct tg_race_histories *all = &walk->search->histories;
    *found = next_found(walk);
    if (!*found) {
        walk->no_memory = true;
        return false;
    }
    (*found)->entry = entry;
    return tg_race_history_rest(all, history, walk->node, all->entry[entry].writes,
                                &(*found)->rest);
}

static bool ask_own(struct walk *walk, uint32_t entry)
{
    const struct tg_race_histories *all = &walk->search->histories;
    const uint32_t history = all->entry[entry].history;
    struct found *found;
    if (!ask(walk, entry, history, &found))
        return false;
    found->region = found->other = all->history[history].region;
    found->is_own = true;
    found->is_open = false;
    walk->n_found++;
    return true;
}

static bool ask_near(struct walk *walk, uint32_t entry)
{
    const struct tg_race_histories *all = &walk->search->histories;
    const struct tg_race_history *own = &all->history[all->entry[entry].history];
    for (uint64_t i = own->first_near; i < own->first_near + own->n_near; i++) {
        const struct tg_race_near *near = &all->near[i];
        const struct tg_race_history *other = &all->history[near->history];
        struct found *found;
        walk->search->order.work++;
        if (other->done == 0 || (!all->entry[entry].writes && other->n_writers == 0))
            continue;
        if (!ask(walk, entry, near->history, &found))
            return false;
        found->region = near->region;
        found->other = near->other;
        found->is_own = false;
        found->is_open = near->is_open;
        walk->n_found += found->rest.count > 0;
    }
    return true;
}

/* False if memory or work ran out. */
static bool ask_all(struct walk *walk)
{
    const struct tg_race_histories *all = &walk->search->histories;
    const uint32_t first = all->first_of_node[walk->node], end = all->first_of_node[walk->node + 1];
    walk->n_found = 0;
    for (uint32_t i = first; i < end; i++)
        if (!ask_own(walk, all->of_node[i]) || !ask_near(walk, all->of_node[i]))
            return false;
    return true;
}

/* --- counting --------------------------------------------------------------------------------- */

static void see(void *context, const struct tg_race_entry *entry)
{
    struct walk *walk = context;
    tg_race_group_see(walk->group, walk->task, walk->at->region,
                      walk->search->order.task[entry->node], walk->at->other);
}

static void tell_pair(struct walk *walk, uint32_t other)
{
    const struct tg_race_config *config = walk->search->config;
    uint32_t first = other < walk->task ? other : walk->task;
    uint32_t second = other < walk->task ? walk->task : other;
    if (walk->tells_pairs && config->pair(config->context, first, second) != 0)
        walk->tells_pairs = false;
}

static void take_pair(void *context, const struct tg_race_entry *entry)
{
    struct walk *walk = context;
    struct tg_race_result *result = walk->search->result;
    uint32_t other = walk->search->order.task[entry->node];
    if (walk->mark[other] == walk->node + 1)
        return; /* the two collide with several arguments */
    walk->mark[other] = walk->node + 1;
    const bool *chosen = walk->search->config->chosen;
    if (chosen && !chosen[other] && !chosen[walk->task])
        return;
    if (walk->at->is_open) {
        result->unclear++;
        return;
    }
    walk->group->pairs++;
    result->pairs++;
    see(walk, entry);
    tell_pair(walk, other);
}

static bool take_group(struct walk *walk, const struct found *found)
{
    const struct tg_race_histories *all = &walk->search->histories;
    walk->at = found;
    walk->group = tg_race_group_of(&walk->search->groups, all->entry[found->entry].history,
                                   found->rest.history);
    return walk->group != NULL;
}

static bool each(struct walk *walk, const struct found *found, tg_race_entry_fn take)
{
    return tg_race_rest_each(&walk->search->histories, &found->rest, walk->node, take, walk);
}

/* Looks at the pairs one by one: first those that collide for certain. */
static bool list_pairs(struct walk *walk)
{
    for (int is_open = 0; is_open < 2; is_open++)
        for (size_t i = 0; i < walk->n_found; i++) {
            const struct found *found = &walk->found[i];
            if (found->rest.count == 0 || found->is_open != (is_open == 1))
                continue;
            walk->at = found;
            if ((!is_open && !take_group(walk, found)) || !each(walk, found, take_pair))
                return false;
        }
    return true;
}

/* Counts without looking at each: exact if no other history has pairs too. */
static bool count_pairs(struct walk *walk, const struct found *found)
{
    if (!take_group(walk, found))
        return false;
    bool is_new = walk->group->pairs == 0;
    walk->group->pairs += found->rest.count;
    walk->search->result->pairs += found->rest.count;
    return !is_new || each(walk, found, see);
}

static bool judge(struct walk *walk)
{
    const struct found *most = NULL;
    uint64_t total = 0, unclear = 0;
    uint32_t parts = 0;
    for (size_t i = 0; i < walk->n_found; i++) {
        const struct found *found = &walk->found[i];
        parts += found->rest.count > 0;
        total += found->rest.count;
        if (found->is_open)
            unclear = found->rest.count > unclear ? found->rest.count : unclear;
        else if (found->rest.count > 0 && (!most || found->rest.count > most->rest.count))
            most = found;
    }
    if (parts == 0)
        return true;
    bool is_single = parts == 1 && most && walk->search->order.is_straight;
    const bool *chosen = walk->search->config->chosen;
    bool is_all = !chosen || chosen[walk->task]; /* the other task need not be asked */
    if (is_single && is_all && !walk->tells_pairs)
        return count_pairs(walk, most);
    if (total <= walk->to_list) {
        walk->to_list -= total;
        return list_pairs(walk);
    }
    if (is_single && is_all)
        return count_pairs(walk, most);
    walk->search->result->is_exact = false; /* a pair may be in several histories */
    if (!is_all)
        return true;
    if (most)
        return count_pairs(walk, most);
    walk->search->result->unclear += unclear;
    return true;
}

/* --- the walk --------------------------------------------------------------------------------- */

static bool add_to_histories(struct walk *walk)
{
    for (size_t i = 0; i < walk->n_found; i++)
        if (walk->found[i].is_own &&
            !tg_race_history_add(&walk->search->histories, walk->found[i].entry,
                                 &walk->found[i].rest))
            return false;
    return true;
}

static bool is_cancelled(struct walk *walk, uint32_t done)
{
    const struct tg_race_config *config = walk->search->config;
    return config->watch && done % WATCHED == 0 &&
           config->watch(config->context, done, walk->search->n_tasks) != 0;
}

static bool walk_all(struct walk *walk, bool *cancelled)
{
    struct tg_race_search *search = walk->search;
    for (uint32_t node = 0; node < search->order.n_nodes; node++) {
        walk->node = node;
        walk->task = search->order.task[node];
        if (walk->task == TG_RACE_NONE)
            continue;
        *cancelled = is_cancelled(walk, search->result->judged);
        if (*cancelled || search->order.work > search->histories.most)
            return true;
        if (!ask_all(walk))
            return !walk->no_memory && search->order.work > search->histories.most;
        if (!judge(walk) || !add_to_histories(walk))
            return false;
        search->result->judged++;
    }
    return true;
}

bool tg_race_walk(struct tg_race_search *search, bool *cancelled)
{
    struct walk walk = {.search = search,
                        .mark = calloc((size_t)search->n_tasks + 1, sizeof *walk.mark),
                        .to_list = search->histories.most / LISTED,
                        .tells_pairs = search->config->pair != NULL};
    *cancelled = false;
    bool good = walk.mark && walk_all(&walk, cancelled);
    for (size_t i = 0; i < walk.room; i++)
        free(walk.found[i].rest.part);
    free(walk.found);
    free(walk.mark);
    return good;
}
