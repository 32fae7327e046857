/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up samples of scopes, one after the other: peaks per site and ring, and for each ring. The
 * writer and the reader share it, so that a summary and the samples give the same result.
 *
 * A scope's peak is the largest of: what was in use when it began and when it ended, the peaks of
 * the scopes inside it, and the peak that the device measured, if it did.
 *
 * Begin and end are paired by depth. Samples can be missing: a scope whose end or beginning was not
 * sampled counts with the samples it has.
 */
#ifndef TG_SCOPE_SCOPE_TALLY_H
#define TG_SCOPE_SCOPE_TALLY_H

#include <stddef.h>

#include "scope/scope_writer.h"

enum {
    TG_SCOPE_MOST_SITES = 1 << 16, /* further ones share one site, "(others)" */
    TG_SCOPE_MOST_OPEN = 128,      /* the device nests 64 deep */
    TG_SCOPE_RING_RESOURCES = TG_SCOPE_TENSORMAP
};

#define TG_SCOPE_NO_ROW UINT32_MAX
#define TG_SCOPE_NO_SITE "(unknown):0" /* the name that another implementation uses */

/* What was in use of one ring. */
struct tg_scope_use {
    uint64_t of[TG_SCOPE_RING_RESOURCES];
};

struct tg_scope_site {
    char *name; /* UTF-8 without control characters */
    uint32_t length, hash;
    uint32_t row[TG_SCOPE_RINGS]; /* TG_SCOPE_NO_ROW if there is none; valid until the end */
};

/* A scope that has begun and not ended. */
struct tg_scope_open {
    uint32_t site, ring, depth;
    struct tg_scope_use ring_peak[TG_SCOPE_RINGS]; /* of its ring, and of the scopes inside */
    uint64_t tensormap, fanin;
};

struct tg_scope_tally {
    struct tg_scope_limits limits;
    struct tg_scope_site *site;
    uint32_t n_sites;
    size_t site_room;
    uint32_t *slot; /* open addressing: 1 + site */
    uint32_t n_slots;
    struct tg_scope_row *row;
    uint32_t n_rows;
    size_t row_room;
    struct tg_scope_use ring_peak[TG_SCOPE_RINGS];
    /* Between two samples of a ring, at most the part from the tail of the first to the head of the
     * second can have been in use. The tally uses this bound if the device measured nothing. */
    struct tg_scope_use ring_bound[TG_SCOPE_RINGS];
    uint64_t tensormap_peak;
    uint64_t heap_step[TG_SCOPE_RINGS]; /* most bytes allocated between two samples of the ring */
    struct tg_scope_sample first[TG_SCOPE_RINGS], last[TG_SCOPE_RINGS];
    bool ring_seen[TG_SCOPE_RINGS];
    uint64_t waits[TG_SCOPE_RINGS][TG_SCOPE_RESOURCES]; /* the tensor map's are in [0] */
    uint64_t ends_with_waits; /* samples that say how often the orchestration waited */
    uint64_t asked_dep_pool[TG_SCOPE_RINGS], asked_tensormap;
    uint64_t samples;
    uint64_t without_begin, without_end; /* scopes without that sample */
    uint32_t left_open;                  /* scopes that were open at the end */
    uint32_t n_open;
    struct tg_scope_open open[TG_SCOPE_MOST_OPEN];
};

void tg_scope_tally_init(struct tg_scope_tally *tally, const struct tg_scope_limits *limits);
void tg_scope_tally_free(struct tg_scope_tally *tally);

/* Gives the number of a site, counted from 0; the same name has the same number, and other names have
 * others. Cleans the name; a long one becomes its end with a number. Returns false if memory ran
 * out. */
bool tg_scope_tally_site(struct tg_scope_tally *tally, const char *name, size_t length,
                         uint32_t *site);
/*
 * Adds a sample of that site. The sample's peak is what the device measured, 0 for nothing. On
 * return it is the peak that the tally found: at an end that of the whole scope, at a beginning
 * what is in use. The caller makes sure that ring < TG_SCOPE_RINGS and start <= end for each
 * resource.
 */
bool tg_scope_tally_add(struct tg_scope_tally *tally, uint32_t site,
                        struct tg_scope_sample *sample);
/* The scope that ended the run was in use, whether or not a sample shows it. */
bool tg_scope_tally_fatal(struct tg_scope_tally *tally, const struct tg_scope_fatal *fatal);
/* Ends the tally after the last sample: counts scopes that are still open, and sorts the rows,
 * nearest to full first, then by name and ring. */
void tg_scope_tally_end(struct tg_scope_tally *tally);

uint64_t tg_scope_capacity(const struct tg_scope_limits *limits, unsigned resource, uint32_t ring);
/* The resource with the largest share. */
unsigned tg_scope_nearest(const struct tg_scope_limits *limits, const struct tg_scope_row *row);

/* Writes dir/scope_stats.json under a temporary name and renames it when it is whole; the tally
 * must have ended. IO_ERROR names path and cause. */
tg_status tg_scope_summary_write(const struct tg_scope_tally *tally, const char *dir,
                                 uint64_t dropped, uint64_t total,
                                 const struct tg_scope_fatal *fatal, struct tg_error *error);

#endif
