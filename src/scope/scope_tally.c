/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "scope/scope_tally.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/names.h"

enum { FIRST_SLOTS = 64 };

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* --- words and numbers ------------------------------------------------------------------------- */

const char *tg_scope_resource_name(unsigned resource)
{
    static const char *const names[] = {"task_window", "heap", "dep_pool", "tensormap"};
    return resource < TG_SCOPE_RESOURCES ? names[resource] : NULL;
}

uint64_t tg_scope_used(const struct tg_scope_sample *sample, unsigned resource)
{
    if (sample == NULL)
        return 0;
    switch (resource) {
    case TG_SCOPE_TASK_WINDOW:
        return sample->task_window_end - sample->task_window_start;
    case TG_SCOPE_HEAP:
        return sample->heap_end - sample->heap_start;
    case TG_SCOPE_DEP_POOL:
        return sample->dep_pool_end - sample->dep_pool_start;
    default:
        return sample->tensormap;
    }
}

uint64_t tg_scope_capacity(const struct tg_scope_limits *limits, unsigned resource, uint32_t ring)
{
    if (resource == TG_SCOPE_TENSORMAP)
        return limits->tensormap;
    if (ring >= TG_SCOPE_RINGS)
        return 0;
    return resource == TG_SCOPE_TASK_WINDOW ? limits->task_window[ring]
           : resource == TG_SCOPE_HEAP      ? limits->heap[ring]
                                            : limits->dep_pool[ring];
}

double tg_scope_share(uint64_t used, uint64_t capacity)
{
    if (capacity == 0)
        return used > 0 ? 1 : 0;
    return (double)used / (double)capacity;
}

static double share_of(const struct tg_scope_limits *limits, const struct tg_scope_row *row,
                       unsigned resource)
{
    return tg_scope_share(row->peak[resource], tg_scope_capacity(limits, resource, row->ring));
}

unsigned tg_scope_nearest(const struct tg_scope_limits *limits, const struct tg_scope_row *row)
{
    unsigned nearest = 0;
    for (unsigned resource = 1; resource < TG_SCOPE_RESOURCES; resource++)
        if (share_of(limits, row, resource) > share_of(limits, row, nearest))
            nearest = resource;
    return nearest;
}

/* --- sites ------------------------------------------------------------------------------------- */

void tg_scope_tally_init(struct tg_scope_tally *tally, const struct tg_scope_limits *limits)
{
    memset(tally, 0, sizeof *tally);
    tally->limits = *limits;
}

void tg_scope_tally_free(struct tg_scope_tally *tally)
{
    for (uint32_t i = 0; i < tally->n_sites; i++)
        free(tally->site[i].name);
    free(tally->site);
    free(tally->slot);
    free(tally->row);
    memset(tally, 0, sizeof *tally);
}

/* Hashes eight bytes at a time, because every sample looks up a name. */
static uint64_t hash64_of(const char *name, size_t length)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = length * odd;
    for (; length > 0; length -= length < 8 ? length : 8, name += 8) {
        uint64_t word = 0;
        memcpy(&word, name, length < 8 ? length : 8);
        hash = (hash ^ word) * odd;
        hash ^= hash >> 32;
    }
    return hash;
}

static uint32_t hash_of(const char *name, size_t length)
{
    return (uint32_t)hash64_of(name, length);
}

/* The slot of the name, or the empty slot where it belongs. */
static uint32_t *find_slot(const struct tg_scope_tally *tally, const char *name, size_t length,
                           uint32_t hash)
{
    uint32_t at = hash & (tally->n_slots - 1);
    for (; tally->slot[at]; at = (at + 1) & (tally->n_slots - 1)) {
        const struct tg_scope_site *site = &tally->site[tally->slot[at] - 1];
        if (site->hash == hash && site->length == length && memcmp(site->name, name, length) == 0)
            break;
    }
    return &tally->slot[at];
}

static bool rehash(struct tg_scope_tally *tally, uint32_t n_slots)
{
    uint32_t *slot = calloc(n_slots, sizeof *slot);
    if (!slot)
        return false;
    free(tally->slot);
    tally->slot = slot;
    tally->n_slots = n_slots;
    for (uint32_t i = 0; i < tally->n_sites; i++) {
        const struct tg_scope_site *site = &tally->site[i];
        *find_slot(tally, site->name, site->length, site->hash) = i + 1;
    }
    return true;
}

/* At most half full, so that a search is short and ends. */
static bool make_room(struct tg_scope_tally *tally)
{
    if (tally->n_sites >= tally->n_slots / 2 &&
        !rehash(tally, tally->n_slots ? 2 * tally->n_slots : FIRST_SLOTS))
        return false;
    return tg_grow(&tally->site, &tally->site_room, (size_t)tally->n_sites + 1,
                   sizeof *tally->site);
}

/* `name` has been cleaned. */
static bool add_site(struct tg_scope_tally *tally, const char *name, uint32_t *number)
{
    size_t length = strlen(name);
    uint32_t hash = hash_of(name, length), *slot = find_slot(tally, name, length, hash);
    if (*slot == 0) {
        struct tg_scope_site *site = &tally->site[tally->n_sites];
        *site =
            (struct tg_scope_site){.name = strdup(name), .length = (uint32_t)length, .hash = hash};
        if (!site->name)
            return false;
        for (int ring = 0; ring < TG_SCOPE_RINGS; ring++)
            site->row[ring] = TG_SCOPE_NO_ROW;
        *slot = ++tally->n_sites;
    }
    *number = *slot - 1;
    return true;
}

/* Of a name that is too long: its end, which has the file and the line, and a number that tells it from
 * other names with the same end. Returns the length. */
static size_t shorten(const char *name, size_t length, char text[TG_NAME_MAX + 1])
{
    enum { KEPT = 200 };
    return (size_t)snprintf(text, TG_NAME_MAX + 1, "...%.*s (path %016" PRIx64 ")", KEPT,
                            name + length - KEPT, hash64_of(name, length));
}

bool tg_scope_tally_site(struct tg_scope_tally *tally, const char *name, size_t length,
                         uint32_t *site)
{
    char clean[TG_NAME_MAX + 1], shorter[TG_NAME_MAX + 1];
    if (!make_room(tally))
        return false;
    if (length > TG_NAME_MAX) {
        length = shorten(name, length, shorter);
        name = shorter;
    }
    /* Nearly always the name is known already and clean as it is. */
    uint32_t known = *find_slot(tally, name, length, hash_of(name, length));
    if (known) {
        *site = known - 1;
        return true;
    }
    tg_name_clean(name, length, clean, sizeof clean);
    if (!*clean)
        return add_site(tally, TG_SCOPE_NO_SITE, site);
    return add_site(tally, tally->n_sites < TG_SCOPE_MOST_SITES ? clean : "(others)", site);
}

/* --- rows -------------------------------------------------------------------------------------- */

/* NULL if memory ran out. */
static struct tg_scope_row *row_of(struct tg_scope_tally *tally, uint32_t site, uint32_t ring)
{
    uint32_t *number = &tally->site[site].row[ring];
    if (*number == TG_SCOPE_NO_ROW) {
        if (!tg_grow(&tally->row, &tally->row_room, (size_t)tally->n_rows + 1, sizeof *tally->row))
            return NULL;
        tally->row[tally->n_rows] =
            (struct tg_scope_row){.site = site, .ring = ring, .depth_min = UINT32_MAX};
        *number = tally->n_rows++;
    }
    return &tally->row[*number];
}

static void raise_row(struct tg_scope_row *row, const uint64_t peak[TG_SCOPE_RESOURCES])
{
    for (int i = 0; i < TG_SCOPE_RESOURCES; i++)
        row->peak[i] = larger(row->peak[i], peak[i]);
}

static void raise_use(struct tg_scope_use *use, const uint64_t of[TG_SCOPE_RING_RESOURCES])
{
    for (int i = 0; i < TG_SCOPE_RING_RESOURCES; i++)
        use->of[i] = larger(use->of[i], of[i]);
}

static uint64_t fanin_of(const struct tg_scope_sample *sample)
{
    return sample->fanin_end - sample->fanin_start;
}

static void raise_open(struct tg_scope_open *scope, const struct tg_scope_sample *sample)
{
    raise_use(&scope->ring_peak[sample->ring], sample->peak);
    for (int ring = 0; ring < TG_SCOPE_RINGS; ring++)
        raise_use(&scope->ring_peak[ring], sample->ring_peak[ring]);
    scope->tensormap = larger(scope->tensormap, sample->peak[TG_SCOPE_TENSORMAP]);
    scope->fanin = larger(scope->fanin, fanin_of(sample));
}

static void widen_depth(struct tg_scope_row *row, uint32_t depth)
{
    row->depth_min = depth < row->depth_min ? depth : row->depth_min;
    row->depth_max = depth > row->depth_max ? depth : row->depth_max;
}

static void count_scope(struct tg_scope_row *row, uint32_t depth)
{
    row->count++;
    widen_depth(row, depth);
}

/* --- scopes ------------------------------------------------------------------------------------ */

static struct tg_scope_open *innermost(struct tg_scope_tally *tally)
{
    return tally->n_open > 0 ? &tally->open[tally->n_open - 1] : NULL;
}

static void peak_of(const struct tg_scope_open *scope, uint64_t peak[TG_SCOPE_RESOURCES])
{
    memcpy(peak, scope->ring_peak[scope->ring].of, sizeof scope->ring_peak[0].of);
    peak[TG_SCOPE_TENSORMAP] = scope->tensormap;
}

/* Closes the innermost scope; its peaks count for the scope around it too. */
static void close_innermost(struct tg_scope_tally *tally)
{
    const struct tg_scope_open *scope = &tally->open[--tally->n_open];
    struct tg_scope_row *row = &tally->row[tally->site[scope->site].row[scope->ring]];
    struct tg_scope_open *around = innermost(tally);
    uint64_t peak[TG_SCOPE_RESOURCES];
    peak_of(scope, peak);
    raise_row(row, peak);
    row->fanin = larger(row->fanin, scope->fanin);
    count_scope(row, scope->depth);
    for (int ring = 0; around && ring < TG_SCOPE_RINGS; ring++)
        raise_use(&around->ring_peak[ring], scope->ring_peak[ring].of);
    if (around)
        around->tensormap = larger(around->tensormap, scope->tensormap);
}

/* Closes the scopes at this depth or deeper, whose end was never sampled. */
static void close_from(struct tg_scope_tally *tally, uint32_t depth)
{
    while (tally->n_open > 0 && innermost(tally)->depth >= depth) {
        tally->without_end++;
        close_innermost(tally);
    }
}

/* Counts a scope that has only this one sample. */
static void count_alone(struct tg_scope_tally *tally, struct tg_scope_row *row,
                        const struct tg_scope_sample *sample)
{
    struct tg_scope_open *around = innermost(tally);
    raise_row(row, sample->peak);
    row->fanin = larger(row->fanin, fanin_of(sample));
    count_scope(row, sample->depth);
    if (around)
        raise_open(around, sample);
}

static void begin_scope(struct tg_scope_tally *tally, struct tg_scope_row *row,
                        const struct tg_scope_sample *sample)
{
    close_from(tally, sample->depth);
    if (tally->n_open == TG_SCOPE_MOST_OPEN) { /* deeper than any device nests */
        count_alone(tally, row, sample);
        tally->without_end++;
        return;
    }
    struct tg_scope_open *scope = &tally->open[tally->n_open++];
    *scope = (struct tg_scope_open){.site = row->site, .ring = row->ring, .depth = sample->depth};
    raise_open(scope, sample);
}

static void end_scope(struct tg_scope_tally *tally, struct tg_scope_row *row,
                      struct tg_scope_sample *sample)
{
    while (tally->n_open > 0 && innermost(tally)->depth > sample->depth)
        close_from(tally, innermost(tally)->depth);
    struct tg_scope_open *scope = innermost(tally);
    if (!scope || scope->depth != sample->depth || scope->site != row->site ||
        scope->ring != row->ring) {
        close_from(tally, sample->depth);
        count_alone(tally, row, sample);
        tally->without_begin++;
        return;
    }
    raise_open(scope, sample);
    peak_of(scope, sample->peak);
    for (int ring = 0; ring < TG_SCOPE_RINGS; ring++)
        memcpy(sample->ring_peak[ring], scope->ring_peak[ring].of, sizeof sample->ring_peak[ring]);
    close_innermost(tally);
}

/* A row for each further ring that the scope used through scopes inside it, if the sample says which
 * they are. Returns false if memory ran out. */
static bool add_touched(struct tg_scope_tally *tally, uint32_t site,
                        const struct tg_scope_sample *sample)
{
    for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++) {
        if (!(sample->rings >> ring & 1) || ring == sample->ring)
            continue;
        struct tg_scope_row *row = row_of(tally, site, ring);
        if (!row)
            return false;
        row->touched++;
        widen_depth(row, sample->depth);
        for (int i = 0; i < TG_SCOPE_RING_RESOURCES; i++)
            row->peak[i] = larger(row->peak[i], sample->ring_peak[ring][i]);
        row->peak[TG_SCOPE_TENSORMAP] =
            larger(row->peak[TG_SCOPE_TENSORMAP], sample->peak[TG_SCOPE_TENSORMAP]);
    }
    return true;
}

/* --- waiting ----------------------------------------------------------------------------------- */

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void add_waits(struct tg_scope_tally *tally, struct tg_scope_row *row,
                      const struct tg_scope_sample *sample)
{
    uint32_t ring = sample->ring;
    tally->ends_with_waits++;
    for (unsigned i = 0; i < TG_SCOPE_RESOURCES; i++) {
        uint64_t *total = &tally->waits[i == TG_SCOPE_TENSORMAP ? 0 : ring][i];
        *total = sum(*total, sample->waits[i]);
        row->waits[i] = sum(row->waits[i], sample->waits[i]);
    }
    row->wait_ns = sum(row->wait_ns, sample->wait_ns);
    for (int r = 0; r < TG_SCOPE_RINGS; r++)
        tally->asked_dep_pool[r] = larger(tally->asked_dep_pool[r], sample->asked_dep_pool[r]);
    tally->asked_tensormap = larger(tally->asked_tensormap, sample->asked_tensormap);
}

static uint64_t difference(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* The cursors only grow, so the difference to the ring's previous sample is what happened since. */
static void watch_ring(struct tg_scope_tally *tally, const struct tg_scope_sample *sample)
{
    uint32_t ring = sample->ring;
    const struct tg_scope_sample *last = tally->ring_seen[ring] ? &tally->last[ring] : sample;
    const uint64_t bound[TG_SCOPE_RING_RESOURCES] = {
        [TG_SCOPE_TASK_WINDOW] = difference(last->task_window_start, sample->task_window_end),
        [TG_SCOPE_HEAP] = difference(last->heap_start, sample->heap_end),
        [TG_SCOPE_DEP_POOL] = difference(last->dep_pool_start, sample->dep_pool_end)};
    raise_use(&tally->ring_bound[ring], bound);
    tally->heap_step[ring] =
        larger(tally->heap_step[ring], difference(last->heap_end, sample->heap_end));
    if (!tally->ring_seen[ring])
        tally->first[ring] = *sample;
    tally->last[ring] = *sample;
    tally->ring_seen[ring] = true;
}

/* The peaks of rings that the sample does not name are nothing. */
static void clean_rings(struct tg_scope_sample *sample)
{
    sample->rings &= sample->end ? (1u << TG_SCOPE_RINGS) - 1 : 0;
    for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++)
        if (!(sample->rings >> ring & 1) || ring == sample->ring)
            memset(sample->ring_peak[ring], 0, sizeof sample->ring_peak[ring]);
}

bool tg_scope_tally_add(struct tg_scope_tally *tally, uint32_t site, struct tg_scope_sample *sample)
{
    struct tg_scope_row *row = row_of(tally, site, sample->ring);
    if (!row)
        return false;
    for (unsigned i = 0; i < TG_SCOPE_RESOURCES; i++)
        sample->peak[i] = larger(tg_scope_used(sample, i), sample->end ? sample->peak[i] : 0);
    clean_rings(sample);
    tally->samples++;
    watch_ring(tally, sample);
    raise_use(&tally->ring_peak[sample->ring], sample->peak);
    for (int ring = 0; ring < TG_SCOPE_RINGS; ring++)
        raise_use(&tally->ring_peak[ring], sample->ring_peak[ring]);
    tally->tensormap_peak = larger(tally->tensormap_peak, sample->peak[TG_SCOPE_TENSORMAP]);
    if (!sample->end) {
        begin_scope(tally, row, sample);
        return true;
    }
    if (sample->waits_known)
        add_waits(tally, row, sample);
    end_scope(tally, row, sample);
    return add_touched(tally, site, sample);
}

bool tg_scope_tally_fatal(struct tg_scope_tally *tally, const struct tg_scope_fatal *fatal)
{
    const char *name = fatal->site ? fatal->site : TG_SCOPE_NO_SITE;
    bool of_ring = fatal->resource < TG_SCOPE_RING_RESOURCES;
    uint32_t ring = fatal->ring < TG_SCOPE_RINGS ? fatal->ring : 0, site;
    if (!fatal->on || fatal->resource >= TG_SCOPE_RESOURCES)
        return true;
    if (!tg_scope_tally_site(tally, name, strlen(name), &site))
        return false;
    struct tg_scope_row *row = row_of(tally, site, ring);
    if (!row)
        return false;
    uint64_t *peak = of_ring ? &tally->ring_peak[ring].of[fatal->resource] : &tally->tensormap_peak;
    *peak = larger(*peak, fatal->used);
    row->peak[fatal->resource] = larger(row->peak[fatal->resource], fatal->used);
    return true;
}

/* --- the end ----------------------------------------------------------------------------------- */

static double nearest_share(const struct tg_scope_tally *tally, const struct tg_scope_row *row)
{
    return share_of(&tally->limits, row, tg_scope_nearest(&tally->limits, row));
}

/* Works out the share at every comparison, so that sorting needs no memory that might be missing. */
static int compare(const void *a, const void *b, void *context)
{
    const struct tg_scope_tally *tally = context;
    const struct tg_scope_row *x = a, *y = b;
    double share_x = nearest_share(tally, x), share_y = nearest_share(tally, y);
    if (share_x != share_y)
        return share_x > share_y ? -1 : 1;
    int order = strcmp(tally->site[x->site].name, tally->site[y->site].name);
    return order ? order : (int)x->ring - (int)y->ring;
}

void tg_scope_tally_end(struct tg_scope_tally *tally)
{
    tally->left_open = tally->n_open;
    while (tally->n_open > 0)
        close_innermost(tally);
    /* Between two samples of a ring its scopes take memory and give none back, so all of a step is
     * in use at once; a larger difference means several steps, with samples missing in between. */
    for (int ring = 0; ring < TG_SCOPE_RINGS; ring++)
        if (tally->heap_step[ring] > tally->ring_peak[ring].of[TG_SCOPE_HEAP])
            tally->heap_step[ring] = tally->ring_peak[ring].of[TG_SCOPE_HEAP];
    for (uint32_t i = 0; i < tally->n_rows; i++)
        if (tally->row[i].count == 0 && tally->row[i].touched == 0)
            tally->row[i].depth_min = 0; /* the site has only the fatal scope, without samples */
    if (tally->n_rows > 0)
        qsort_r(tally->row, tally->n_rows, sizeof *tally->row, compare, tally);
}
