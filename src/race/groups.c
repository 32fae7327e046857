/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs over the same regions, as one group. */
#include <stdlib.h>

#include "base/grow.h"
#include "race/search.h"

/* Runs that are listed for all groups together, to count common bytes. */
#define MOST_RUNS (UINT64_C(1) << 24)

static uint64_t hash_of(uint32_t a, uint32_t b)
{
    uint64_t hash = ((uint64_t)a << 32 | b) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static bool grow_slots(struct tg_race_groups *groups)
{
    if ((size_t)groups->count * 2 < groups->n_slots)
        return true;
    size_t wanted = groups->n_slots ? groups->n_slots * 2 : 256;
    uint32_t *slot = calloc(wanted, sizeof *slot);
    if (!slot)
        return false;
    for (uint32_t i = 0; i < groups->count; i++) {
        size_t at = hash_of(groups->group[i].a, groups->group[i].b) & (wanted - 1);
        while (slot[at])
            at = (at + 1) & (wanted - 1);
        slot[at] = i + 1;
    }
    free(groups->slot);
    groups->slot = slot;
    groups->n_slots = wanted;
    return true;
}

struct tg_race_found *tg_race_group_of(struct tg_race_groups *groups, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (!grow_slots(groups))
        return NULL;
    size_t at = hash_of(low, high) & (groups->n_slots - 1);
    for (; groups->slot[at]; at = (at + 1) & (groups->n_slots - 1)) {
        struct tg_race_found *group = &groups->group[groups->slot[at] - 1];
        if (group->a == low && group->b == high)
            return group;
    }
    if (groups->count == UINT32_MAX - 1 ||
        !tg_grow(&groups->group, &groups->room, (size_t)groups->count + 1, sizeof *groups->group))
        return NULL;
    groups->group[groups->count] =
        (struct tg_race_found){.a = low, .b = high, .first = TG_RACE_NONE, .second = TG_RACE_NONE};
    groups->slot[at] = ++groups->count;
    return &groups->group[groups->count - 1];
}

void tg_race_group_see(struct tg_race_found *group, uint32_t task, uint32_t region, uint32_t other,
                       uint32_t other_region)
{
    bool is_second = task > other;
    uint32_t first = is_second ? other : task, second = is_second ? task : other;
    if (second > group->second || (second == group->second && first <= group->first))
        return;
    group->first = first;
    group->second = second;
    group->region_first = is_second ? other_region : region;
    group->region_second = is_second ? region : other_region;
}

/* --- telling ---------------------------------------------------------------------------------- */

static int by_pair(const void *a, const void *b)
{
    const struct tg_race_found *x = a, *y = b;
    if (x->second != y->second)
        return x->second < y->second ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->a > y->a) - (x->a < y->a);
}

/* The first argument of the task that writes the region, or the first that reads it. */
static struct tg_race_end end_of(const struct tg_race_search *search, uint32_t task,
                                 uint32_t region)
{
    uint64_t low = search->first_touch[task], end = search->first_touch[task + 1], high = end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (search->touch[middle].region < region)
            low = middle + 1;
        else
            high = middle;
    }
    const struct tg_race_touch *found = &search->touch[low];
    for (uint64_t i = low; i < end && search->touch[i].region == region; i++)
        if (search->touch[i].writes) {
            found = &search->touch[i];
            break;
        }
    return (struct tg_race_end){task, found->argument, found->reads, found->writes};
}

/* Drops groups all of whose pairs were found in another one first. */
static void drop_empty(struct tg_race_groups *groups)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < groups->count; i++)
        if (groups->group[i].pairs > 0)
            groups->group[kept++] = groups->group[i];
    groups->count = kept;
}

bool tg_race_groups_tell(struct tg_race_search *search)
{
    struct tg_race_groups *groups = &search->groups;
    uint64_t budget = MOST_RUNS;
    struct tg_race_region *region = calloc(2, sizeof *region);
    bool goes_on = true;
    drop_empty(groups);
    if (groups->count > 0)
        qsort(groups->group, groups->count, sizeof *groups->group, by_pair);
    for (uint32_t i = 0; goes_on && search->config->group && i < groups->count; i++) {
        const struct tg_race_found *found = &groups->group[i];
        struct tg_race_group group = {.first = end_of(search, found->first, found->region_first),
                                      .second = end_of(search, found->second, found->region_second),
                                      .pairs = found->pairs,
                                      .bytes = UINT64_MAX};
        if (region) {
            tg_race_table_get(&search->table, found->region_first, &region[0]);
            tg_race_table_get(&search->table, found->region_second, &region[1]);
            group.bytes = tg_race_regions_common(&region[0], &region[1], &budget);
        }
        goes_on = search->config->group(search->config->context, &group) == 0;
    }
    free(region);
    return goes_on;
}
