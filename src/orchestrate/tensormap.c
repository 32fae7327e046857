/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/tensormap.h"
#include "device/target.h"
#include "orchestrate/shelves.h"

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
    map->search = 0;
    map->looked = 0;
    tg_shelves_init(map);
    use_buckets(map, FIRST_BUCKETS);
}

/* ── entries ───────────────────────────────────────────────────────────────────────────── */

TG_FN static inline uint32_t *bucket_at(struct tg_tensormap *map, uint32_t cell)
{
    return &map->bucket[cell & map->mask];
}

TG_FN static inline void bucket_add(struct tg_tensormap *map, uint32_t entry)
{
    struct tg_map_region *r = &map->region[entry];
    uint32_t *bucket = bucket_at(map, r->cell);
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

/* A shelf that has its first region or has lost its last. */
TG_FN static void shelf_turns(struct tg_tensormap *map, uint32_t number, bool used)
{
    struct tg_map_grid *grid = &map->grid[map->shelf[number].grid];
    uint64_t bit = (uint64_t)1 << number % TG_MAP_LEVELS;
    if (number < TG_MAP_LEVELS) {
        map->levels ^= bit;
        return;
    }
    grid->used ^= bit;
    if (grid->used == (used ? bit : 0))
        map->grids ^= 1u << map->shelf[number].grid;
}

TG_FN static inline void shelf_add(struct tg_tensormap *map, uint32_t entry)
{
    struct tg_map_region *r = &map->region[entry];
    struct tg_map_shelf *shelf = &map->shelf[r->shelf];
    r->shelf_prev = 0;
    r->shelf_next = shelf->first;
    if (r->shelf_next)
        map->region[r->shelf_next - 1].shelf_prev = entry + 1;
    else
        shelf->last = entry + 1;
    shelf->first = entry + 1;
    if (shelf->count++ == 0)
        shelf_turns(map, r->shelf, true);
}

TG_FN static inline void shelf_remove(struct tg_tensormap *map, const struct tg_map_region *r)
{
    struct tg_map_shelf *shelf = &map->shelf[r->shelf];
    if (r->shelf_next)
        map->region[r->shelf_next - 1].shelf_prev = r->shelf_prev;
    else
        shelf->last = r->shelf_prev;
    if (r->shelf_prev)
        map->region[r->shelf_prev - 1].shelf_next = r->shelf_next;
    else
        shelf->first = r->shelf_next;
    if (--shelf->count == 0)
        shelf_turns(map, r->shelf, false);
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

/* Removes the region from its bucket and its shelf, and frees it with its readers. */
TG_FN static inline void drop_region(struct tg_tensormap *map, uint32_t entry)
{
    struct tg_map_region *r = &map->region[entry];
    uint32_t *link = bucket_at(map, r->cell);
    while (*link != entry + 1)
        link = &map->region[*link - 1].next;
    *link = r->next;
    shelf_remove(map, r);
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

/* Drops the oldest regions of a shelf if they are dead. A region that stays alive would hide those
 * behind it, so it moves to the front as if it were new, once the map is a quarter full. */
TG_FN static void retire_oldest(struct tg_tensormap *map, struct tg_map_user *user,
                                const struct tg_map_shelf *shelf)
{
    for (int i = 0; i < 2 && shelf->count > 1; i++) {
        uint32_t oldest = shelf->last - 1;
        if (is_dead(map, user, &map->region[oldest])) {
            drop_region(map, oldest);
        } else if (map->live > map->size / 4) {
            shelf_remove(map, &map->region[oldest]);
            shelf_add(map, oldest);
        } else {
            return;
        }
    }
}

/* As is_dead, for a user that keeps completed tasks: it is told which ones the map forgets, because later
 * tasks will have no edges to them. */
TG_FN static bool forget(struct tg_tensormap *map, struct tg_map_user *user,
                         struct tg_map_region *r)
{
    if (r->writer && !tg_map_is_done(user, r->writer))
        return false;
    while (r->first_reader && tg_map_is_done(user, map->reader[r->first_reader - 1].task)) {
        user->forgot(user, map->reader[r->first_reader - 1].task);
        drop_reader(map, r);
    }
    if (r->first_reader != 0)
        return false;
    if (r->writer)
        user->forgot(user, r->writer);
    return true;
}

/* Drops every dead region except `sparing`, even if the user keeps completed tasks. */
TG_FN static void sweep(struct tg_tensormap *map, struct tg_map_user *user, uint32_t sparing)
{
    for (uint32_t i = 0; i < map->fresh_region; i++) {
        struct tg_map_region *r = &map->region[i];
        if (r->hi == 0 || i + 1 == sparing)
            continue;
        if (user->keep_done ? forget(map, user, r) : is_dead(map, user, r))
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

/* The shelf and, of boxes, the grid have to know how far their regions reach. */
TG_FN static inline void widen(struct tg_tensormap *map, const struct tg_region *region,
                               const struct tg_map_place *place)
{
    struct tg_map_shelf *shelf = &map->shelf[place->shelf];
    struct tg_map_grid *grid = &map->grid[shelf->grid];
    if (place->shelf < TG_MAP_LEVELS) {
        if (shelf->count == 0 || place->beyond > shelf->beyond)
            shelf->beyond = place->beyond;
        return;
    }
    if (grid->used == 0 || region->lo < grid->lo)
        grid->lo = region->lo;
    if (grid->used == 0 || region->hi > grid->hi)
        grid->hi = region->hi;
}

TG_FN static inline uint32_t add_region(struct tg_tensormap *map, const struct tg_region *region,
                                        const struct tg_map_place *place)
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
    r->shelf = (uint8_t)place->shelf;
    r->n_outer = (uint8_t)region->n_outer;
    r->reserved = 0;
    r->cell = place->cell;
    r->mark = 0;
    for (uint32_t i = 0; i < region->n_outer; i++) {
        r->outer[i].count = region->count[i];
        r->outer[i].stride = region->stride[i];
    }
    widen(map, region, place);
    bucket_add(map, entry);
    shelf_add(map, entry);
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
        if (r->outer[i].count != region->count[i] || r->outer[i].stride != region->stride[i])
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
        other.count[i] = r->outer[i].count;
        other.stride[i] = r->outer[i].stride;
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
    uint32_t same;   /* the entry + 1 of exactly this region */
    uint32_t number; /* of the search */
    uint64_t looked;
    struct tg_map_box box; /* the region's, in the grid where it was looked for last */
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
TG_FN static inline void come_upon(struct look *look, uint32_t entry, bool same)
{
    struct tg_map_region *r = &look->map->region[entry];
    if (look->role == 0 || (!look->user->keep_done && is_dead(look->map, look->user, r))) {
        drop_region(look->map, entry);
        return;
    }
    if (look->role & TG_OUT)
        wait_for_readers(look, r);
    if (look->role == TG_IN || look->role == TG_INOUT || !r->first_reader)
        wait_for_writer(look, r);
    if (same)
        look->same = entry + 1;
    else if ((look->role & TG_OUT) && is_covered(r, look->region))
        drop_region(look->map, entry);
}

/* A search can come to an entry twice, if two cells have one number or parts of a strided region lie in
 * one cell. Only the first time counts. */
TG_FN static inline void compare(struct look *look, uint32_t entry)
{
    struct tg_map_region *r = &look->map->region[entry];
    bool same = is_same(r, look->region);
    if (r->mark == look->number || (!same && !meets(r, look->region)))
        return;
    r->mark = look->number;
    come_upon(look, entry, same);
}

TG_FN static void look_at_all(struct look *look, uint32_t shelf)
{
    uint32_t next;
    for (uint32_t at = look->map->shelf[shelf].first; at; at = next) {
        next = look->map->region[at - 1].shelf_next;
        look->looked++;
        compare(look, at - 1);
    }
}

/* ── contiguous regions ────────────────────────────────────────────────────────────────── */

/* The cells of regions on a level that can meet [lo, hi). */
struct places {
    uint64_t first, last;
};

TG_FN static inline struct places places_of(const struct tg_tensormap *map, uint32_t level,
                                            uint64_t lo, uint64_t hi)
{
    struct places places;
    uint64_t back = map->shelf[level].beyond;
    places.first = (lo > back ? lo - back : 0) >> level;
    places.last = (hi - 1) >> level;
    return places;
}

TG_FN static inline void look_in_cell(struct look *look, uint32_t shelf, uint32_t cell)
{
    uint32_t at = *bucket_at(look->map, cell), next;
    look->looked++;
    for (; at; at = next) {
        const struct tg_map_region *r = &look->map->region[at - 1];
        look->looked++;
        next = r->next;
        if (r->cell == cell && r->shelf == shelf)
            compare(look, at - 1);
    }
}

TG_FN static inline void look_in_places(struct look *look, uint32_t level, struct places places)
{
    for (uint64_t place = places.first; place <= places.last; place++)
        look_in_cell(look, level, tg_map_cell(level, place));
}

/* The cells to look into if each run of a strided region is looked for by itself; or more than `most`. */
TG_FN static uint64_t cells_of_runs(const struct tg_region *region, uint32_t level, uint64_t most)
{
    uint64_t cells = (region->run >> level) + 3;
    for (uint32_t i = 0; i < region->n_outer; i++) {
        if (cells > most || region->count[i] > most)
            return UINT64_MAX;
        cells *= region->count[i];
    }
    return cells;
}

TG_FN static void look_by_runs(struct look *look, uint32_t level)
{
    const struct tg_region *region = look->region;
    uint64_t at[TG_MAX_OUTER], lo = region->lo;
    uint32_t dim;
    for (uint32_t i = 0; i < TG_MAX_OUTER; i++)
        at[i] = 0;
    do {
        look_in_places(look, level, places_of(look->map, level, lo, lo + region->run));
        for (dim = region->n_outer; dim-- > 0;) {
            lo += region->stride[dim];
            if (++at[dim] < region->count[dim])
                break;
            lo -= region->stride[dim] * region->count[dim];
            at[dim] = 0;
        }
    } while (dim < region->n_outer);
}

TG_FN static inline void look_on_level(struct look *look, uint32_t level)
{
    const struct tg_region *region = look->region;
    struct places places = places_of(look->map, level, region->lo, region->hi);
    uint64_t most = look->map->shelf[level].count;
    if (places.last - places.first < most)
        most = places.last - places.first + 1;
    if (region->n_outer > 0 && cells_of_runs(region, level, most) < most)
        look_by_runs(look, level);
    else if (places.last - places.first >= look->map->shelf[level].count)
        look_at_all(look, level);
    else
        look_in_places(look, level, places);
}

/* ── boxes ─────────────────────────────────────────────────────────────────────────────── */

/* One search of a shelf for a box. */
struct box_look {
    struct look *look;
    uint32_t shelf;
    const struct tg_map_axis *axis;
    const struct tg_grid *grid;
    const struct tg_box *box;
};

/* True if a region of the shelf that begins there may meet the box. It asks only for what is in the first
 * cache line of an entry. */
TG_FN static inline bool is_near(const struct box_look *at, uint64_t lo)
{
    uint64_t begins[TG_GRID_AXES];
    bool near = true;
    tg_grid_at(at->grid, lo, begins);
    for (uint32_t i = 0; i <= at->grid->n; i++)
        near &= tg_grid_meet(at->grid->radix[i], begins[i], at->axis[i].longest, at->box->at[i],
                             at->box->length[i]);
    return near;
}

TG_FN static inline void look_in_box_cell(const struct box_look *in, uint32_t cell)
{
    struct look *look = in->look;
    uint32_t at = *bucket_at(look->map, cell), next;
    look->looked++;
    for (; at; at = next) {
        const struct tg_map_region *r = &look->map->region[at - 1];
        look->looked++;
        next = r->next;
        if (r->cell == cell && r->shelf == in->shelf &&
            (r->lo == look->region->lo || is_near(in, r->lo)))
            compare(look, at - 1);
    }
}

/* A row of cells is those that differ on the last axis only. */
TG_FN static inline void look_in_row(const struct box_look *in, const struct tg_cells *cells,
                                     const uint64_t *at)
{
    uint32_t row = tg_map_row(in->shelf, at, cells->n);
    uint64_t cell = cells->first[cells->n];
    for (uint64_t i = 0; i < cells->count[cells->n]; i++) {
        look_in_box_cell(in, row + (uint32_t)cell);
        cell = cell == cells->last[cells->n] ? 0 : cell + 1;
    }
}

TG_FN static inline void look_in_cells(const struct box_look *in, const struct tg_cells *cells)
{
    uint64_t at[TG_GRID_AXES], done[TG_GRID_AXES];
    uint32_t axis;
    if (cells->total == 1) {
        look_in_box_cell(in, tg_map_row(in->shelf, cells->first, cells->n) +
                                 (uint32_t)cells->first[cells->n]);
        return;
    }
    for (uint32_t i = 0; i < cells->n; i++) {
        at[i] = cells->first[i];
        done[i] = 0;
    }
    do {
        look_in_row(in, cells, at);
        for (axis = cells->n; axis-- > 0;) {
            at[axis] = at[axis] == cells->last[axis] ? 0 : at[axis] + 1;
            if (++done[axis] < cells->count[axis])
                break;
            at[axis] = cells->first[axis];
            done[axis] = 0;
        }
    } while (axis < cells->n);
}

TG_FN static void look_in_box(struct look *look, const struct tg_map_grid *grid,
                              const struct tg_box *box)
{
    struct tg_cells cells;
    struct box_look in;
    in.look = look;
    in.grid = &grid->grid;
    in.box = box;
    for (uint64_t used = grid->used; used; used &= used - 1) {
        in.shelf = TG_MAP_LEVELS + tg_target_lowest_bit(used);
        in.axis = look->map->shelf[in.shelf].axis;
        if (tg_shelves_cells(look->map, in.shelf, box, &cells))
            look_in_cells(&in, &cells);
        else
            look_at_all(look, in.shelf);
    }
}

TG_FN static void look_by_parts(struct look *look, const struct tg_map_grid *grid, uint32_t n,
                                const struct tg_grid_split *part)
{
    for (uint32_t i = 0; i < n; i++) {
        struct tg_region region;
        struct tg_box box;
        tg_grid_take_part(look->region, part, i, &region);
        tg_grid_box(&grid->grid, &region, &box);
        look_in_box(look, grid, &box);
    }
}

TG_FN static void look_in_grid(struct look *look, uint32_t number)
{
    const struct tg_map_grid *grid = &look->map->grid[number];
    struct tg_grid_split part;
    uint32_t parts = 1;
    if (look->region->lo >= grid->hi || grid->lo >= look->region->hi)
        return;
    tg_grid_box(&grid->grid, look->region, &look->box.box);
    look->box.grid = number + 1;
    if (look->region->n_outer > 0 && look->region->stride[0] != grid->grid.stride[0])
        parts = tg_grid_parts(&grid->grid, look->region, &look->box.box, &part);
    if (parts > 1)
        look_by_parts(look, grid, parts, &part);
    else
        look_in_box(look, grid, &look->box.box);
}

TG_FN static void look_through(struct look *look)
{
    for (uint64_t levels = look->map->levels; levels; levels &= levels - 1)
        look_on_level(look, tg_target_lowest_bit(levels));
    for (uint32_t grids = look->map->grids; grids; grids &= grids - 1)
        look_in_grid(look, tg_target_lowest_bit(grids));
}

/* ── for the orchestrator ──────────────────────────────────────────────────────────────── */

/* Numbers are never 0. When they begin again, no entry may have the mark of an old search. */
TG_FN static inline uint32_t next_search(struct tg_tensormap *map)
{
    if (++map->search == 0) {
        map->search = 1;
        for (uint32_t i = 0; i < map->fresh_region; i++)
            map->region[i].mark = 0;
    }
    return map->search;
}

TG_FN static inline void look_for(struct look *look, struct tg_tensormap *map,
                                  struct tg_map_user *user, const struct tg_region *region,
                                  uint32_t role, uint64_t task)
{
    look->map = map;
    look->user = user;
    look->region = region;
    look->role = role;
    look->task = task;
    look->same = 0;
    look->number = next_search(map);
    look->looked = 0;
    look->box.grid = 0;
    look_through(look);
    map->looked += look->looked;
}

/* Enters a region that the search did not find. Returns its entry + 1, or 0 if there is none for it. */
TG_FN static inline uint32_t enter_region(struct look *look)
{
    struct tg_tensormap *map = look->map;
    struct tg_map_place place;
    if (look->region->n_outer == 0)
        tg_shelves_place_span(look->region, &place);
    else
        tg_shelves_place(map, look->region, &look->box, &place);
    if (!look->user->keep_done)
        retire_oldest(map, look->user, &map->shelf[place.shelf]);
    return make_room(map, look->user, 0) ? add_region(map, look->region, &place) : 0;
}

TG_FN bool tg_map_access(struct tg_tensormap *map, struct tg_map_user *user,
                         const struct tg_region *region, enum tg_role role, uint64_t task)
{
    struct look look;
    uint32_t entry;
    look_for(&look, map, user, region, role, task);
    entry = look.same ? look.same : enter_region(&look);
    if (entry == 0)
        return false;
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
    struct look look;
    look_for(&look, map, user, region, TG_IN, 0);
}

TG_FN void tg_map_forget(struct tg_tensormap *map, struct tg_map_user *user, uint64_t lo,
                         uint64_t hi)
{
    struct tg_region all;
    struct look look;
    all.lo = lo;
    all.hi = hi;
    all.run = hi - lo;
    all.n_outer = 0;
    if (hi > lo)
        look_for(&look, map, user, &all, 0, 0);
}
