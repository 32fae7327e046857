/* SPDX-License-Identifier: Apache-2.0 */
/* From touches to histories: regions that the same tasks touch in the same way become one. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "race/search.h"

#define NONE TG_RACE_NONE

void tg_race_histories_free(struct tg_race_histories *histories)
{
    free(histories->history);
    free(histories->entry);
    free(histories->of_node);
    free(histories->first_of_node);
    free(histories->near);
    free(histories->chain);
    *histories = (struct tg_race_histories){0};
}

/* --- touches by task -------------------------------------------------------------------------- */

static int by_region(const void *a, const void *b)
{
    const struct tg_race_touch *x = a, *y = b;
    if (x->region != y->region)
        return x->region < y->region ? -1 : 1;
    return (x->argument > y->argument) - (x->argument < y->argument);
}

static bool sort_touches(struct tg_race_search *search)
{
    struct tg_race_touch *sorted = calloc((size_t)search->n_touches + 1, sizeof *sorted);
    uint64_t *first = calloc((size_t)search->n_tasks + 2, sizeof *first);
    search->first_touch = first;
    if (!sorted || !first) {
        free(sorted);
        return false;
    }
    for (uint64_t i = 0; i < search->n_touches; i++)
        first[search->touch[i].task + 1]++;
    for (uint32_t i = 0; i < search->n_tasks; i++)
        first[i + 1] += first[i];
    for (uint64_t i = 0; i < search->n_touches; i++)
        sorted[first[search->touch[i].task]++] = search->touch[i];
    memmove(first + 1, first, (size_t)search->n_tasks * sizeof *first);
    first[0] = 0;
    for (uint32_t i = 0; i < search->n_tasks; i++)
        if (first[i + 1] - first[i] > 1)
            qsort(sorted + first[i], (size_t)(first[i + 1] - first[i]), sizeof *sorted, by_region);
    free(search->touch);
    search->touch = sorted;
    return true;
}

/* --- the tasks of each region ----------------------------------------------------------------- */

/* A task that touches a region, however many arguments it does that with. */
struct user {
    uint32_t node;
    uint32_t writes;
};

struct users {
    struct user *user;
    uint64_t *first;   /* of each region; regions + 1 */
    uint32_t *history; /* of each region; NONE: nothing can collide there */
};

/* Calls for each task and region once, the tasks in the order of nodes. `users` NULL: only counts. */
static void put_users(const struct tg_race_search *search, struct users *users, bool counts)
{
    for (uint32_t node = 0; node < search->order.n_nodes; node++) {
        uint32_t task = search->order.task[node];
        uint64_t end = task == NONE ? 0 : search->first_touch[task + 1];
        for (uint64_t i = task == NONE ? 0 : search->first_touch[task]; i < end;) {
            uint32_t region = search->touch[i].region, writes = 0;
            for (; i < end && search->touch[i].region == region; i++)
                writes |= search->touch[i].writes;
            if (counts)
                users->first[region + 1]++;
            else
                users->user[users->first[region]++] = (struct user){node, writes};
        }
    }
}

static bool list_users(const struct tg_race_search *search, struct users *users)
{
    const size_t regions = search->table.count;
    users->first = calloc(regions + 2, sizeof *users->first);
    users->history = calloc(regions + 1, sizeof *users->history);
    users->user = calloc((size_t)search->n_touches + 1, sizeof *users->user);
    if (!users->first || !users->history || !users->user)
        return false;
    put_users(search, users, true);
    for (size_t i = 0; i < regions; i++)
        users->first[i + 1] += users->first[i];
    put_users(search, users, false);
    memmove(users->first + 1, users->first, regions * sizeof *users->first);
    users->first[0] = 0;
    return true;
}

/* --- regions with the same tasks -------------------------------------------------------------- */

static uint64_t users_hash(const struct users *users, uint32_t region)
{
    uint64_t hash = 1;
    for (uint64_t i = users->first[region]; i < users->first[region + 1]; i++) {
        hash = (hash ^ users->user[i].node ^ (uint64_t)users->user[i].writes << 40) *
               UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return hash;
}

static bool same_users(const struct users *users, uint32_t a, uint32_t b)
{
    uint64_t count = users->first[a + 1] - users->first[a];
    return count == users->first[b + 1] - users->first[b] &&
           memcmp(&users->user[users->first[a]], &users->user[users->first[b]],
                  (size_t)count * sizeof *users->user) == 0;
}

static bool add_history(struct tg_race_histories *all, size_t *room, const struct users *users,
                        uint32_t region)
{
    uint32_t count = (uint32_t)(users->first[region + 1] - users->first[region]);
    const struct tg_race_row none = {NONE, NONE, 0};
    if (!tg_grow(&all->history, room, (size_t)all->n_histories + 1, sizeof *all->history))
        return false;
    all->history[all->n_histories++] = (struct tg_race_history){.first = all->n_entries,
                                                                .count = count,
                                                                .base = NONE,
                                                                .writers = none,
                                                                .readers = none,
                                                                .region = region};
    all->n_entries += count;
    return true;
}

/* A region matters if another shares bytes with it (`near`), or if it has a writer and a second task. */
static bool make_histories(const struct tg_race_search *search, struct users *users,
                           const bool *is_near, struct tg_race_histories *all)
{
    size_t n_slots = 1024, room = 0;
    while (n_slots < (size_t)search->table.count * 2)
        n_slots *= 2;
    uint32_t *slot = calloc(n_slots, sizeof *slot);
    bool good = slot != NULL;
    for (uint32_t region = 0; good && region < search->table.count; region++) {
        uint64_t count = users->first[region + 1] - users->first[region];
        users->history[region] = NONE;
        if (!is_near[region] && (count < 2 || !search->table.region[region].has_writer))
            continue;
        size_t at = users_hash(users, region) & (n_slots - 1);
        while (slot[at] && !same_users(users, all->history[slot[at] - 1].region, region))
            at = (at + 1) & (n_slots - 1);
        if (!slot[at]) {
            good = add_history(all, &room, users, region);
            slot[at] = all->n_histories;
        }
        users->history[region] = slot[at] - 1;
    }
    free(slot);
    return good;
}

static bool make_entries(const struct tg_race_search *search, const struct users *users,
                         struct tg_race_histories *all)
{
    const uint32_t nodes = search->order.n_nodes;
    all->entry = calloc((size_t)all->n_entries + 1, sizeof *all->entry);
    all->of_node = calloc((size_t)all->n_entries + 1, sizeof *all->of_node);
    all->first_of_node = calloc((size_t)nodes + 2, sizeof *all->first_of_node);
    if (!all->entry || !all->of_node || !all->first_of_node)
        return false;
    for (uint32_t i = 0; i < all->n_histories; i++) {
        const struct user *user = &users->user[users->first[all->history[i].region]];
        for (uint32_t k = 0; k < all->history[i].count; k++) {
            struct tg_race_entry *entry = &all->entry[all->history[i].first + k];
            *entry = (struct tg_race_entry){
                .node = user[k].node, .history = i, .writes = user[k].writes != 0};
            all->first_of_node[entry->node + 1]++;
        }
    }
    for (uint32_t i = 0; i < nodes; i++)
        all->first_of_node[i + 1] += all->first_of_node[i];
    for (uint32_t i = 0; i < all->n_entries; i++) /* by history, because the entries are */
        all->of_node[all->first_of_node[all->entry[i].node]++] = i;
    memmove(all->first_of_node + 1, all->first_of_node, (size_t)nodes * sizeof(uint32_t));
    all->first_of_node[0] = 0;
    return true;
}

/* --- histories that share bytes --------------------------------------------------------------- */

struct side {
    uint32_t from;
    struct tg_race_near near;
};

static int by_histories(const void *a, const void *b)
{
    const struct side *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->near.history != y->near.history)
        return x->near.history < y->near.history ? -1 : 1;
    if (x->near.is_open != y->near.is_open)
        return x->near.is_open ? 1 : -1;
    if (x->near.region != y->near.region)
        return x->near.region < y->near.region ? -1 : 1;
    return (x->near.other > y->near.other) - (x->near.other < y->near.other);
}

static void keep_nears(struct tg_race_histories *all, const struct side *side, uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct tg_race_history *history = &all->history[side[i].from];
        if (i > 0 && side[i].from == side[i - 1].from &&
            side[i].near.history == side[i - 1].near.history)
            continue;
        if (history->n_near++ == 0)
            history->first_near = kept;
        all->near[kept++] = side[i].near;
    }
}

static bool make_nears(const struct users *users, const struct tg_race_shares *shares,
                       struct tg_race_histories *all)
{
    struct side *side = calloc((size_t)shares->count * 2 + 1, sizeof *side);
    uint64_t count = 0;
    all->near = calloc((size_t)shares->count * 2 + 1, sizeof *all->near);
    if (!side || !all->near) {
        free(side);
        return false;
    }
    for (uint64_t i = 0; i < shares->count; i++) {
        const struct tg_race_share *share = &shares->share[i];
        uint32_t a = users->history[share->a], b = users->history[share->b];
        if (a == b)
            continue; /* the tasks of one history are compared anyway */
        side[count++] = (struct side){a, {b, share->a, share->b, share->is_open}};
        side[count++] = (struct side){b, {a, share->b, share->a, share->is_open}};
    }
    qsort(side, (size_t)count, sizeof *side, by_histories);
    keep_nears(all, side, count);
    free(side);
    return true;
}

/* --- all of it -------------------------------------------------------------------------------- */

static bool make_all(struct tg_race_search *search, struct users *users,
                     const struct tg_race_shares *shares)
{
    struct tg_race_histories *all = &search->histories;
    bool *is_near = calloc((size_t)search->table.count + 1, sizeof *is_near);
    if (!is_near)
        return false;
    for (uint64_t i = 0; i < shares->count; i++)
        is_near[shares->share[i].a] = is_near[shares->share[i].b] = true;
    bool good = list_users(search, users) && make_histories(search, users, is_near, all) &&
                make_entries(search, users, all) && make_nears(users, shares, all);
    free(is_near);
    return good;
}

bool tg_race_prepare(struct tg_race_search *search, uint64_t most)
{
    struct tg_race_shares shares = {0};
    struct users users = {0};
    search->histories.order = &search->order;
    search->histories.most = most;
    /* Half of the work is left for the walk, so that a part of the pairs is found in any case. */
    bool good = sort_touches(search) &&
                tg_race_table_shares(&search->table, most / 2, &search->order.work, &shares);
    search->is_cut = shares.is_cut;
    good = good && make_all(search, &users, &shares);
    free(shares.share);
    free(users.user);
    free(users.first);
    free(users.history);
    return good;
}
