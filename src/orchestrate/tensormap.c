/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/tensormap.h"
#include "device/target.h"

/* At first, and how many times as many each time that there are more entries than buckets. */
enum { FIRST_BUCKETS = 1024, MORE_BUCKETS = 4 };

TG_FN static void use_buckets(struct tg_tensormap *map, uint64_t n)
{
    map->mask = (uint32_t)(n < map->most_buckets ? n : map->most_buckets) - 1;
    for (uint32_t i = 0; i <= map->mask; i++)
        map->bucket[i] = 0;
}

TG_FN void tg_map_init(struct tg_tensormap *map, const struct tg_orchestration *o)
{
    map->region = TG_DEVICE_PTR(struct tg_map_region, o->map_regions);
    map->reader = TG_DEVICE_PTR(struct tg_map_reader, o->map_readers);
    map->bucket = TG_DEVICE_PTR(uint32_t, o->map_buckets);
    map->size = o->map_size;
    map->most_buckets = o->n_buckets;
    map->live = map->most = map->hand = 0;
    map->free_region = map->free_reader = 0;
    map->fresh_region = map->fresh_reader = 0;
    map->levels = 0;
    for (uint32_t i = 0; i < TG_MAP_LEVELS; i++)
        map->level_first[i] = map->level_last[i] = map->level_count[i] = 0;
    use_buckets(map, FIRST_BUCKETS);
}

/* ── entries ───────────────────────────────────────────────────────────────────────────── */

TG_FN static inline uint32_t level_of(const struct tg_region *region)
{
    uint64_t reach = region->hi - region->lo - 1;
    return reach == 0 ? 0 : 64 - tg_target_leading_zeros(reach);
}

TG_FN static inline uint32_t *bucket_at(struct tg_tensormap *map, uint32_t level, uint64_t place)
{
    /* Neighbouring places get neighbouring buckets, because most graphs go through memory in
     * order. */
    uint64_t key = place + ((place >> 16) + level) * 0x9e3779b97f4a7c15u;
    return &map->bucket[key & map->mask];
}

TG_FN static inline uint32_t *bucket_of(struct tg_tensormap *map, const struct tg_map_region *r)
{
    return bucket_at(map, r->level, r->lo >> r->level);
}

TG_FN static inline void bucket_add(struct tg_tensormap *map, uint32_t entry)
{
    struct tg_map_region *r = &map->region[entry];
    uint32_t *bucket = bucket_of(map, r);
    r->next = *bucket;
    *bucket = entry + 1;
}

/* Puts all regions into more buckets. */
TG_FN static void add_buckets(struct tg_tensormap *map)
{
    use_buckets(map, ((uint64_t)map->mask + 1) * MORE_BUCKETS);
    for (uint32_t i = 0; i < map->fresh_region; i++)
        if (map->region[i].hi != 0)
            bucket_add(map, i);
}

TG_FN static inline void level_add(struct tg_tensormap *map, uint32_t entry)
{
    struct tg_map_region *r = &map->region[entry];
    r->level_prev = 0;
    r->level_next = map->level_first[r->level];
    if (r->level_next)
        map->region[r->level_next - 1].level_prev = entry + 1;
    else
        map->level_last[r->level] = entry + 1;
    map->level_first[r->level] = entry + 1;
    map->level_count[r->level]++;
    map->levels |= (uint64_t)1 << r->level;
}

TG_FN static inline void level_remove(struct tg_tensormap *map, const struct tg_map_region *r)
{
    if (r->level_next)
        map->region[r->level_next - 1].level_prev = r->level_prev;
    else
        map->level_last[r->level] = r->level_prev;
    if (r->level_prev)
        map->region[r->level_prev - 1].level_next = r->level_next;
    else
        map->level_first[r->level] = r->level_next;
    if (--map->level_count[r->level] == 0)
        map->levels &= ~((uint64_t)1 << r->level);
}

TG_FN static inline void drop_reader(struct tg_tensormap *map, struct tg_map_region *r)
{
    uint32_t entry = r->first_reader - 1;
    r->first_reader = map->reader[entry].next;
    map->reader[entry].next = map->free_reader;
    map->free_reader = entry + 1;
    map->live--;
}

TG_FN static inline void drop_readers(struct tg_tensormap *map, struct tg_map_region *r)
{
    while (r->first_reader)
        drop_reader(map, r);
}

/* Removes the region from its bucket and its level, and frees it with its readers. */
TG_FN static inline void drop_region(struct tg_tensormap *map, uint32_t entry)
{
    struct tg_map_region *r = &map->region[entry];
    uint32_t *link = bucket_of(map, r);
    while (*link != entry + 1)
        link = &map->region[*link - 1].next;
    *link = r->next;
    level_remove(map, r);
    drop_readers(map, r);
    r->next = map->free_region;
    r->hi = 0; /* so that a sweep knows that the entry is free */
    map->free_region = entry + 1;
    map->live--;
}

/* Readers are in order of submission, so those in front usually complete first. */
TG_FN static inline void drop_done_readers(struct tg_tensormap *map, struct tg_map_user *user,
                                           struct tg_map_region *r)
{
    while (r->first_reader && tg_map_is_done(user, map->reader[r->first_reader - 1].task))
        drop_reader(map, r);
}

/* True if only completed tasks used the region. */
TG_FN static inline bool is_dead(struct tg_tensormap *map, struct tg_map_user *user,
                                 struct tg_map_region *r)
{
    if (r->writer && !tg_map_is_done(user, r->writer))
        return false;
    drop_done_readers(map, user, r);
    return r->first_reader == 0;
}

/* Drops the oldest regions of a size if they are dead. A region that stays alive would hide those
 * behind it, so it moves to the front as if it were new, once the map is a quarter full. */
TG_FN static void retire_oldest(struct tg_tensormap *map, struct tg_map_user *user, uint32_t level)
{
    for (int i = 0; i < 2 && map->level_count[level] > 1; i++) {
        uint32_t oldest = map->level_last[level] - 1;
        if (is_dead(map, user, &map->region[oldest])) {
            drop_region(map, oldest);
        } else if (map->live > map->size / 4) {
            level_remove(map, &map->region[oldest]);
            level_add(map, oldest);
        } else {
            return;
        }
    }
}

/* Drops every dead region except `sparing`, even if the user keeps completed tasks. */
TG_FN static void sweep(struct tg_tensormap *map, struct tg_map_user *user, uint32_t sparing)
{
    for (uint32_t i = 0; i < map->fresh_region; i++) {
        struct tg_map_region *r = &map->region[i];
        if (r->hi != 0 && i + 1 != sparing && is_dead(map, user, r))
            drop_region(map, i);
    }
}

/* Returns true if there is room for one more entry. */
TG_FN static bool make_room(struct tg_tensormap *map, struct tg_map_user *user, uint32_t sparing)
{
    if (map->live < map->size)
        return true;
    do {
        sweep(map, user, sparing);
        if (map->live < map->size)
            return true;
    } while (user->wait(user));
    sweep(map, user, sparing); /* the last task may have completed between the sweep and the wait */
    return map->live < map->size;
}

TG_FN static inline void count_entry(struct tg_tensormap *map)
{
    if (++map->live > map->most)
        map->most = map->live;
}

TG_FN static inline uint32_t take_region(struct tg_tensormap *map)
{
    uint32_t entry = map->free_region;
    count_entry(map);
    if (entry == 0)
        return map->fresh_region++;
    map->free_region = map->region[entry - 1].next;
    return entry - 1;
}

TG_FN static inline uint32_t add_region(struct tg_tensormap *map, const struct tg_region *region)
{
    uint32_t entry;
    struct tg_map_region *r;
    if (map->live > map->mask && map->mask + 1 < map->most_buckets)
        add_buckets(map);
    entry = take_region(map);
    r = &map->region[entry];
    r->lo = region->lo;
    r->hi = region->hi;
    r->run = region->run;
    r->writer = 0;
    r->first_reader = r->last_reader = 0;
    r->level = (uint8_t)level_of(region);
    r->n_outer = (uint8_t)region->n_outer;
    r->reserved = 0;
    for (uint32_t i = 0; i < region->n_outer; i++) {
        r->outer_count[i] = region->count[i];
        r->outer_stride[i] = region->stride[i];
    }
    bucket_add(map, entry);
    level_add(map, entry);
    return entry + 1;
}

TG_FN static inline void add_reader(struct tg_tensormap *map, uint32_t entry, uint64_t task)
{
    struct tg_map_region *r = &map->region[entry - 1];
    uint32_t taken = map->free_reader;
    struct tg_map_reader *reader;
    count_entry(map);
    if (taken == 0)
        taken = ++map->fresh_reader;
    else
        map->free_reader = map->reader[taken - 1].next;
    reader = &map->reader[taken - 1];
    reader->task = task;
    reader->next = 0;
    reader->reserved = 0;
    if (r->first_reader)
        map->reader[r->last_reader - 1].next = taken;
    else
        r->first_reader = taken;
    r->last_reader = taken;
}

/* ── search for a region ───────────────────────────────────────────────────────────────── */

TG_FN static inline bool is_same(const struct tg_map_region *r, const struct tg_region *region)
{
    if (r->lo != region->lo || r->hi != region->hi || r->run != region->run ||
        r->n_outer != region->n_outer)
        return false;
    for (uint32_t i = 0; i < region->n_outer; i++)
        if (r->outer_count[i] != region->count[i] || r->outer_stride[i] != region->stride[i])
            return false;
    return true;
}

TG_FN static inline bool meets(const struct tg_map_region *r, const struct tg_region *region)
{
    struct tg_region other;
    if (r->lo >= region->hi || region->lo >= r->hi)
        return false;
    if (r->n_outer == 0 && region->n_outer == 0)
        return true;
    other.lo = r->lo;
    other.hi = r->hi;
    other.run = r->run;
    other.n_outer = r->n_outer;
    for (uint32_t i = 0; i < other.n_outer; i++) {
        other.count[i] = r->outer_count[i];
        other.stride[i] = r->outer_stride[i];
    }
    return tg_regions_meet(&other, region);
}

TG_FN static inline bool is_covered(const struct tg_map_region *r, const struct tg_region *by)
{
    return by->n_outer == 0 && by->lo <= r->lo && r->hi <= by->hi;
}

/* One search of the map for a region. */
struct look {
    struct tg_tensormap *map;
    struct tg_map_user *user;
    const struct tg_region *region;
    uint32_t role; /* enum tg_role; 0: drop every region that it meets */
    uint64_t task;
    uint32_t same; /* the entry + 1 of exactly this region */
};

TG_FN static inline void wait_for_readers(const struct look *look, struct tg_map_region *r)
{
    for (uint32_t at = r->first_reader; at; at = look->map->reader[at - 1].next)
        if (look->map->reader[at - 1].task != look->task)
            look->user->found(look->user, look->map->reader[at - 1].task, TG_EDGE_WAR);
}

TG_FN static inline void wait_for_writer(const struct look *look, const struct tg_map_region *r)
{
    enum tg_edge_kind kind = look->role == TG_OUT ? TG_EDGE_WAW : TG_EDGE_RAW;
    if (r->writer && r->writer != look->task)
        look->user->found(look->user, r->writer, kind);
}

/* Handles one entry that the region meets, and may drop it. */
TG_FN static inline void come_upon(struct look *look, uint32_t entry)
{
    struct tg_map_region *r = &look->map->region[entry];
    bool same;
    if (look->role == 0 || (!look->user->keep_done && is_dead(look->map, look->user, r))) {
        drop_region(look->map, entry);
        return;
    }
    same = is_same(r, look->region);
    if (look->role & TG_OUT)
        wait_for_readers(look, r);
    if (look->role == TG_IN || look->role == TG_INOUT || !r->first_reader)
        wait_for_writer(look, r);
    if (same)
        look->same = entry + 1;
    else if ((look->role & TG_OUT) && is_covered(r, look->region))
        drop_region(look->map, entry);
}

TG_FN static inline void look_in_bucket(struct look *look, uint32_t level, uint64_t place)
{
    uint32_t at = *bucket_at(look->map, level, place), next;
    for (; at; at = next) {
        const struct tg_map_region *r = &look->map->region[at - 1];
        next = r->next;
        if (r->level == level && r->lo >> level == place && meets(r, look->region))
            come_upon(look, at - 1);
    }
}

TG_FN static void look_at_all(struct look *look, uint32_t level)
{
    uint32_t next;
    for (uint32_t at = look->map->level_first[level]; at; at = next) {
        const struct tg_map_region *r = &look->map->region[at - 1];
        next = r->level_next;
        if (meets(r, look->region))
            come_upon(look, at - 1);
    }
}

TG_FN static void look_through(struct look *look)
{
    const struct tg_region *region = look->region;
    for (uint64_t levels = look->map->levels; levels; levels &= levels - 1) {
        uint32_t level = tg_target_lowest_bit(levels);
        uint64_t first = region->lo >> level, last = (region->hi - 1) >> level;
        if (first > 0)
            first--;
        if (last - first >= look->map->level_count[level]) {
            look_at_all(look, level);
            continue;
        }
        for (uint64_t place = first; place <= last; place++)
            look_in_bucket(look, level, place);
    }
}

/* ── for the orchestrator ──────────────────────────────────────────────────────────────── */

TG_FN static struct look look_for(struct tg_tensormap *map, struct tg_map_user *user,
                                  const struct tg_region *region, uint32_t role, uint64_t task)
{
    struct look look;
    look.map = map;
    look.user = user;
    look.region = region;
    look.role = role;
    look.task = task;
    look.same = 0;
    look_through(&look);
    return look;
}

TG_FN bool tg_map_access(struct tg_tensormap *map, struct tg_map_user *user,
                         const struct tg_region *region, enum tg_role role, uint64_t task)
{
    uint32_t entry = look_for(map, user, region, role, task).same;
    if (entry == 0) {
        if (!user->keep_done)
            retire_oldest(map, user, level_of(region));
        if (!make_room(map, user, 0))
            return false;
        entry = add_region(map, region);
    }
    if (role != TG_IN) {
        drop_readers(map, &map->region[entry - 1]);
        map->region[entry - 1].writer = task;
        return true;
    }
    if (!user->keep_done)
        drop_done_readers(map, user, &map->region[entry - 1]);
    if (!make_room(map, user, entry))
        return false;
    add_reader(map, entry, task);
    return true;
}

TG_FN void tg_map_find_writers(struct tg_tensormap *map, struct tg_map_user *user,
                               const struct tg_region *region)
{
    look_for(map, user, region, TG_IN, 0);
}

TG_FN void tg_map_forget(struct tg_tensormap *map, struct tg_map_user *user, uint64_t lo,
                         uint64_t hi)
{
    struct tg_region all;
    all.lo = lo;
    all.hi = hi;
    all.run = hi - lo;
    all.n_outer = 0;
    if (hi > lo)
        look_for(map, user, &all, 0, 0);
}
