/* SPDX-License-Identifier: Apache-2.0 */
/* All regions of a graph, each once, and which of them share bytes. */
#ifndef TG_RACE_TABLE_H
#define TG_RACE_TABLE_H

#include "race/region.h"

struct tg_race_stored {
    uint64_t space, lo, hi;
    uint64_t words; /* where its lattices are kept; UINT64_MAX: it is one run from lo to hi */
    uint32_t n;     /* lattices */
    bool has_reader, has_writer;
};

struct tg_race_table {
    struct tg_race_stored *region;
    uint32_t count;
    size_t room;
    uint64_t *word; /* lattices: lo, run, reach, n, and n times count and stride */
    size_t n_words, word_room;
    uint32_t *slot; /* a hash table of numbers + 1 */
    size_t n_slots;
};

/* Two regions of one space that share a byte, or may (`is_open`). */
struct tg_race_share {
    uint32_t a, b;
    bool is_open;
};

struct tg_race_shares {
    struct tg_race_share *share;
    uint64_t count;
    size_t room;
    bool is_cut; /* the work ran out: there may be more */
};

void tg_race_table_free(struct tg_race_table *table);
/* Sets *number of the region, which is new or has come before. False if memory ran out. */
bool tg_race_table_add(struct tg_race_table *table, uint64_t space,
                       const struct tg_race_region *region, uint32_t *number);
void tg_race_table_get(const struct tg_race_table *table, uint32_t number,
                       struct tg_race_region *region);
/* Finds all pairs of different regions that share bytes and of which one has a writer. False if memory ran
 * out. Adds its steps to *work, and stops at `most`. */
bool tg_race_table_shares(const struct tg_race_table *table, uint64_t most, uint64_t *work,
                          struct tg_race_shares *shares);

#endif
