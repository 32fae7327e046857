/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a search: what is put in (race.c), the histories made of it (prepare.c), and the walk over the
 * tasks (walk.c), which collects groups (groups.c). */
#ifndef TG_RACE_SEARCH_H
#define TG_RACE_SEARCH_H

#include "race/history.h"
#include "race/race.h"
#include "race/table.h"

struct tg_race_touch {
    uint32_t task, region, argument;
    bool reads, writes;
};

struct tg_race_groups {
    struct tg_race_found *group;
    uint32_t count;
    size_t room;
    uint32_t *slot; /* a hash table of numbers + 1 */
    size_t n_slots;
};

/* All pairs over two histories. */
struct tg_race_found {
    uint32_t a, b; /* the histories; a <= b */
    uint64_t pairs;
    uint32_t first, second;               /* the group's example */
    uint32_t region_first, region_second; /* that collide */
};

struct tg_race_search {
    uint32_t n_tasks;
    struct tg_race_edge *edge, *seen;
    uint64_t n_edges, n_seen;
    size_t edge_room, seen_room;
    struct tg_race_gates gates;
    size_t gate_room, gate_edge_room;
    struct tg_race_touch *touch; /* from prepare.c on sorted by task, then by region */
    uint64_t n_touches;
    size_t touch_room;
    uint64_t *first_touch; /* of each task; n_tasks + 1 */
    struct tg_race_table table;
    uint64_t left_out;
    struct tg_race_order order;
    struct tg_race_histories histories;
    struct tg_race_groups groups;
    const struct tg_race_config *config;
    struct tg_race_result *result;
    bool is_cut; /* not all regions were compared */
};

/* Sorts the touches, and makes the histories. False if memory ran out. Adds its steps to the order's work. */
bool tg_race_prepare(struct tg_race_search *search, uint64_t most);
void tg_race_histories_free(struct tg_race_histories *histories);

/* Compares each task with those before it. *cancelled: the watch asked for that. False if memory ran out. */
bool tg_race_walk(struct tg_race_search *search, bool *cancelled);

/* The group of two histories; NULL if memory ran out. A new one has no pairs. */
struct tg_race_found *tg_race_group_of(struct tg_race_groups *groups, uint32_t a, uint32_t b);
/* Makes the pair the group's example if its later task is the earliest yet, and its earlier one the last. */
void tg_race_group_see(struct tg_race_found *group, uint32_t task, uint32_t region, uint32_t other,
                       uint32_t other_region);
/* Tells all groups, by their examples. False if `config->group` asked to cancel. */
bool tg_race_groups_tell(struct tg_race_search *search);

#endif
