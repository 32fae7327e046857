/* SPDX-License-Identifier: Apache-2.0 */
#include "race/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define ONE_RUN UINT64_MAX

enum { WORDS = 4 + 2 * TG_MAX_DIMS };

void tg_race_table_free(struct tg_race_table *table)
{
    free(table->region);
    free(table->word);
    free(table->slot);
    *table = (struct tg_race_table){0};
}

/* --- each region once ------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static size_t lattice_words(const struct tg_race_lattice *lattice, uint64_t *word)
{
    size_t n = 0;
    word[n++] = lattice->lo;
    word[n++] = lattice->run;
    word[n++] = lattice->reach;
    word[n++] = lattice->n;
    for (uint32_t i = 0; i < lattice->n; i++) {
        word[n++] = lattice->count[i];
        word[n++] = lattice->stride[i];
    }
    return n;
}

static uint64_t hash_of(uint64_t space, const struct tg_race_region *region)
{
    uint64_t hash = mix(mix(mix(1, space), region->lo), region->hi), word[WORDS];
    if (tg_race_region_is_run(region))
        return hash;
    for (uint32_t i = 0; i < region->n; i++) {
        size_t n = lattice_words(&region->lattice[i], word);
        for (size_t k = 0; k < n; k++)
            hash = mix(hash, word[k]);
    }
    return hash;
}

static bool is_same(const struct tg_race_table *table, const struct tg_race_stored *stored,
                    uint64_t space, const struct tg_race_region *region)
{
    bool is_run = tg_race_region_is_run(region);
    uint64_t word[WORDS];
    if (stored->space != space || stored->lo != region->lo || stored->hi != region->hi ||
        stored->n != region->n || (stored->words == ONE_RUN) != is_run)
        return false;
    const uint64_t *kept = is_run ? NULL : table->word + stored->words;
    for (uint32_t i = 0; kept && i < region->n; i++) {
        size_t n = lattice_words(&region->lattice[i], word);
        if (kept[3] != region->lattice[i].n || memcmp(kept, word, n * sizeof *word) != 0)
            return false;
        kept += n;
    }
    return true;
}

static uint64_t hash_of_stored(const struct tg_race_table *table, uint32_t number)
{
    struct tg_race_region region;
    tg_race_table_get(table, number, &region);
    return hash_of(table->region[number].space, &region);
}

static bool grow_slots(struct tg_race_table *table)
{
    if ((size_t)table->count * 2 < table->n_slots)
        return true;
    size_t wanted = table->n_slots ? table->n_slots * 2 : 1024;
    uint32_t *slot = calloc(wanted, sizeof *slot);
    if (!slot)
        return false;
    for (uint32_t i = 0; i < table->count; i++) {
        size_t at = hash_of_stored(table, i) & (wanted - 1);
        while (slot[at])
            at = (at + 1) & (wanted - 1);
        slot[at] = i + 1;
    }
    free(table->slot);
    table->slot = slot;
    table->n_slots = wanted;
    return true;
}

static bool keep_words(struct tg_race_table *table, const struct tg_race_region *region)
{
    if (tg_race_region_is_run(region))
        return true;
    if (!tg_grow(&table->word, &table->word_room, table->n_words + (size_t)region->n * WORDS,
                 sizeof *table->word))
        return false;
    for (uint32_t i = 0; i < region->n; i++)
        table->n_words += lattice_words(&region->lattice[i], table->word + table->n_words);
    return true;
}

bool tg_race_table_add(struct tg_race_table *table, uint64_t space,
                       const struct tg_race_region *region, uint32_t *number)
{
    if (!grow_slots(table))
        return false;
    size_t at = hash_of(space, region) & (table->n_slots - 1);
    for (; table->slot[at]; at = (at + 1) & (table->n_slots - 1))
        if (is_same(table, &table->region[table->slot[at] - 1], space, region)) {
            *number = table->slot[at] - 1;
            return true;
        }
    struct tg_race_stored stored = {.space = space,
                                    .lo = region->lo,
                                    .hi = region->hi,
                                    .words =
                                        tg_race_region_is_run(region) ? ONE_RUN : table->n_words,
                                    .n = region->n};
    if (table->count >= UINT32_MAX / 2 || !keep_words(table, region) ||
        !tg_grow(&table->region, &table->room, (size_t)table->count + 1, sizeof stored))
        return false;
    *number = table->count;
    table->region[table->count++] = stored;
    table->slot[at] = table->count;
    return true;
}

void tg_race_table_get(const struct tg_race_table *table, uint32_t number,
                       struct tg_race_region *region)
{
    const struct tg_race_stored *stored = &table->region[number];
    region->lo = stored->lo;
    region->hi = stored->hi;
    region->n = stored->n;
    if (stored->words == ONE_RUN) {
        region->lattice[0].lo = stored->lo;
        region->lattice[0].run = region->lattice[0].reach = stored->hi - stored->lo;
        region->lattice[0].n = 0;
        return;
    }
    const uint64_t *word = table->word + stored->words;
    for (uint32_t i = 0; i < stored->n; i++) {
        struct tg_race_lattice *lattice = &region->lattice[i];
        lattice->lo = *word++;
        lattice->run = *word++;
        lattice->reach = *word++;
        lattice->n = (uint32_t)*word++;
        for (uint32_t k = 0; k < lattice->n; k++) {
            lattice->count[k] = *word++;
            lattice->stride[k] = *word++;
        }
    }
}

/* --- which share bytes ------------------------------------------------------------------------ */

struct key {
    uint64_t space, lo;
    uint32_t number;
};

static int by_place(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->space != y->space)
        return x->space < y->space ? -1 : 1;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static struct key *sort_regions(const struct tg_race_table *table)
{
    struct key *key = calloc((size_t)table->count + 1, sizeof *key);
    bool is_sorted = true;
    if (!key)
        return NULL;
    for (uint32_t i = 0; i < table->count; i++) {
        key[i] = (struct key){table->region[i].space, table->region[i].lo, i};
        is_sorted = is_sorted && (i == 0 || by_place(&key[i - 1], &key[i]) < 0);
    }
    if (!is_sorted)
        qsort(key, table->count, sizeof *key, by_place);
    return key;
}

/* The regions that begin at or before the place that the sweep is at, and have not ended there. Those with a
 * writer and those without are apart, because two regions that are only read need not be compared. */
struct open_regions {
    uint32_t *number;
    size_t count, room;
};

struct sweep {
    const struct tg_race_table *table;
    struct tg_race_shares *shares;
    uint64_t most, *work;
    struct open_regions open[2]; /* by has_writer */
    struct tg_race_region a, b;
};

static bool add_share(struct sweep *sweep, uint32_t a, uint32_t b, bool is_open)
{
    struct tg_race_shares *shares = sweep->shares;
    if (!tg_grow(&shares->share, &shares->room, (size_t)shares->count + 1, sizeof *shares->share))
        return false;
    shares->share[shares->count++] = (struct tg_race_share){a < b ? a : b, a < b ? b : a, is_open};
    return true;
}

/* Compares the region with open ones, and drops those that have ended. */
static bool compare(struct sweep *sweep, uint32_t number, struct open_regions *opened,
                    bool compares)
{
    const struct tg_race_stored *region = sweep->table->region;
    size_t kept = 0;
    for (size_t i = 0; compares && i < opened->count; i++) {
        uint32_t other = opened->number[i];
        if (region[other].hi <= region[number].lo || region[other].space != region[number].space)
            continue;
        opened->number[kept++] = other;
        ++*sweep->work;
        if (sweep->shares->is_cut)
            continue;
        enum tg_race_answer is = TG_RACE_YES;
        if (region[other].words != ONE_RUN || region[number].words != ONE_RUN) {
            tg_race_table_get(sweep->table, number, &sweep->a);
            tg_race_table_get(sweep->table, other, &sweep->b);
            is = tg_race_regions_share(&sweep->a, &sweep->b, sweep->work);
        }
        if (is != TG_RACE_NO && !add_share(sweep, number, other, is == TG_RACE_OPEN))
            return false;
        sweep->shares->is_cut = *sweep->work > sweep->most;
    }
    opened->count = compares ? kept : opened->count;
    return true;
}

static bool sweep_one(struct sweep *sweep, uint32_t number)
{
    bool writes = sweep->table->region[number].has_writer;
    struct open_regions *own = &sweep->open[writes];
    if (!compare(sweep, number, &sweep->open[1], true) ||
        !compare(sweep, number, &sweep->open[0], writes) ||
        !tg_grow(&own->number, &own->room, own->count + 1, sizeof *own->number))
        return false;
    own->number[own->count++] = number;
    return true;
}

bool tg_race_table_shares(const struct tg_race_table *table, uint64_t most, uint64_t *work,
                          struct tg_race_shares *shares)
{
    struct key *key = sort_regions(table);
    struct sweep *sweep = calloc(1, sizeof *sweep);
    bool good = key && sweep;
    *shares = (struct tg_race_shares){0};
    if (good) {
        sweep->table = table;
        sweep->shares = shares;
        sweep->most = most;
        sweep->work = work;
        for (uint32_t i = 0; good && i < table->count && !shares->is_cut; i++)
            good = sweep_one(sweep, key[i].number);
        free(sweep->open[0].number);
        free(sweep->open[1].number);
    }
    free(sweep);
    free(key);
    return good;
}
