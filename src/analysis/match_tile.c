/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that do the work of others in tiles of another size. Say A fills a tensor with four tasks and B
 * with one task of the same kernel. No task of A is the one of B then, and a pair of them would look
 * like a task that was given the wrong part of the tensor.
 */
#include <stdlib.h>

#include "analysis/deps_memory.h"
#include "analysis/match_flow.h"
#include "analysis/match_mix.h"
#include "base/grow.h"
#include "recording/reader.h"

/* An output. */
struct tg_tile {
    uint64_t key; /* its kernel, storage and argument */
    uint64_t record;
    uint32_t row;
};

/* Each pair of tasks that may be retiled is looked at with all tiles of the tensor, so that many tiles
 * would take too long. */
enum { MOST_TILES = 1024, MOST_RUNS = 1 << 16 };

static const struct tg_side *side_of(const struct tg_matching *m, int side)
{
    return side == 1 ? &m->b : &m->a;
}

static uint64_t key_of(const struct tg_side *side, uint32_t row, uint64_t ref)
{
    const struct tg_record *record =
        tg_recording_at(side->tasks->recording, side->tasks->ref[ref].index);
    uint64_t key = tg_mix(tg_mix(23, side->row[row].kernel), record->data_ptr);
    return tg_mix(key, side->tasks->ref[ref].place);
}

static bool is_output(const struct tg_side *side, uint64_t ref)
{
    return tg_record_ref_stage(&side->tasks->ref[ref]) == TG_AFTER_COMPLETION &&
           side->slot[ref].is_covered;
}

static int by_key(const void *a, const void *b)
{
    const struct tg_tile *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return (left->record > right->record) - (left->record < right->record);
}

static bool list_tiles(const struct tg_side *side, struct tg_tiles *tiles)
{
    if (tiles->tile)
        return true;
    tiles->tile = malloc((size_t)(side->tasks->n_refs + 1) * sizeof *tiles->tile);
    for (uint32_t row = side->first; tiles->tile && row < side->n_rows; row++) {
        const struct tg_task_row *task = &side->tasks->row[row];
        for (uint64_t i = task->first; i < task->first + task->count; i++)
            if (is_output(side, i))
                tiles->tile[tiles->count++] =
                    (struct tg_tile){key_of(side, row, i), side->tasks->ref[i].index, row};
    }
    if (tiles->tile && tiles->count > 1)
        qsort(tiles->tile, tiles->count, sizeof *tiles->tile, by_key);
    return tiles->tile != NULL;
}

/* --- what the tasks of one side write all together ------------------------------------------------ */

struct run {
    uint64_t lo, hi;
};

struct area {
    struct run *run;
    size_t count, room;
    uint64_t origin;
    uint32_t tasks;
    bool no_memory;
};

static bool add_run(void *context, uint64_t lo, uint64_t hi)
{
    struct area *area = context;
    area->no_memory = !tg_grow(&area->run, &area->room, area->count + 1, sizeof *area->run);
    if (area->no_memory || area->count == MOST_RUNS)
        return false;
    area->run[area->count++] = (struct run){lo - area->origin, hi - area->origin};
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct run *left = a, *right = b;
    return (left->lo > right->lo) - (left->lo < right->lo);
}

/* Joins runs that touch. */
static void join_runs(struct area *area)
{
    size_t kept = 0;
    if (area->count > 1)
        qsort(area->run, area->count, sizeof *area->run, by_start);
    for (size_t i = 0; i < area->count; i++) {
        struct run *last = kept > 0 ? &area->run[kept - 1] : NULL;
        if (!last || area->run[i].lo > last->hi)
            area->run[kept++] = area->run[i];
        else if (area->run[i].hi > last->hi)
            last->hi = area->run[i].hi;
    }
    area->count = kept;
}

static size_t first_tile(const struct tg_tiles *tiles, uint64_t key)
{
    size_t lo = 0, hi = tiles->count;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (tiles->tile[middle].key < key)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* What the tasks without a partner write where the output `ref` of `row` is; no tasks if that is too
 * much to say. */
static void measure(const struct tg_side *side, const struct tg_tiles *tiles, uint32_t row,
                    uint64_t ref, struct area *area)
{
    const struct tg_recording *recording = side->tasks->recording;
    uint64_t key = key_of(side, row, ref);
    size_t first = first_tile(tiles, key), at = first;
    *area =
        (struct area){.origin = tg_recording_at(recording, side->tasks->ref[ref].index)->data_ptr};
    for (; at < tiles->count && tiles->tile[at].key == key; at++) {
        const struct tg_tile *tile = &tiles->tile[at];
        if (side->canon[tile->row] != TG_NO_ROW)
            continue;
        area->tasks++;
        if (at - first >= MOST_TILES ||
            !tg_view_runs(tg_recording_at(recording, tile->record), add_run, area)) {
            area->tasks = 0;
            return;
        }
    }
    join_runs(area);
}

static bool is_same_area(const struct area *a, const struct area *b)
{
    if (a->tasks == 0 || b->tasks == 0 || a->tasks == b->tasks || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->run[i].lo != b->run[i].lo || a->run[i].hi != b->run[i].hi)
            return false;
    return a->count > 0;
}

/* --- two tasks ------------------------------------------------------------------------------------ */

static bool compare_areas(struct tg_matching *m, const uint32_t row[2], const uint64_t ref[2],
                          bool *is_same)
{
    struct area area[2] = {{0}};
    bool good = true;
    for (int side = 0; side < 2 && good; side++) {
        good = list_tiles(side_of(m, side), &m->tiles[side]);
        if (good)
            measure(side_of(m, side), &m->tiles[side], row[side], ref[side], &area[side]);
        good = good && !area[side].no_memory;
    }
    *is_same = good && is_same_area(&area[0], &area[1]);
    free(area[0].run);
    free(area[1].run);
    return good;
}

static uint64_t bytes_of(const struct tg_side *side, uint64_t ref)
{
    return tg_recording_at(side->tasks->recording, side->tasks->ref[ref].index)->bytes;
}

bool tg_match_tiles(struct tg_matching *matching, uint32_t a, uint32_t b, bool *is_retiled)
{
    const struct tg_side *of_a = &matching->a, *of_b = &matching->b;
    const struct tg_task_row *task_a = &of_a->tasks->row[a], *task_b = &of_b->tasks->row[b];
    const uint32_t row[2] = {a, b};
    *is_retiled = false;
    if (!matching->has_flow || task_a->kernel != task_b->kernel)
        return true;
    for (uint64_t i = 0; i < task_a->count && i < task_b->count && !*is_retiled; i++) {
        const uint64_t ref[2] = {task_a->first + i, task_b->first + i};
        if (of_a->tasks->ref[ref[0]].place != of_b->tasks->ref[ref[1]].place)
            return true;
        if (is_output(of_a, ref[0]) && is_output(of_b, ref[1]) &&
            bytes_of(of_a, ref[0]) != bytes_of(of_b, ref[1]) &&
            !compare_areas(matching, row, ref, is_retiled))
            return false;
    }
    return true;
}

void tg_tiles_free(struct tg_tiles *tiles)
{
    free(tiles->tile);
    *tiles = (struct tg_tiles){0};
}
