/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The races of a recorded run (race/race.h has the search).
 *
 *   races.c         the public function, and what the result means
 *   races_input.c   the order and the accesses of the run, for the search
 *   races_words.c   both tasks of a race in words, the region as the case names it, and the edge to add
 */
#ifndef TG_ANALYSIS_RACES_H
#define TG_ANALYSIS_RACES_H

#include <taskglass/race.h>

#include "analysis/deps_peer_args.h"
#include "analysis/source.h"
#include "race/race.h"

struct tg_races {
    const struct tg_recording *recording;
    const struct tg_races_config *config;
    tg_race_fn tell;
    void *context;
    struct tg_races_summary *summary;
    struct tg_tasks tasks; /* tasks.deps is there */
    struct tg_sources sources;
    struct tg_names names;
    struct tg_peer_args peer; /* peer.is_peer: the accesses are those of deps.json */
    struct tg_race_search *search;
    bool *chosen;        /* tasks of deps.json that the query selects; NULL: all */
    uint64_t no_address; /* tensors without one */
    uint64_t unsure;     /* tensors in memory that an older deps.json does not tell apart */
    uint64_t crossing;   /* tensors of the other implementation that lie in each other's memory */
    bool was_cancelled;  /* by config->watch or by tell */
};

/* Put into the search what deps.json and the recording say. NO_MEMORY; BAD_ARGUMENT: deps.json makes no
 * sense; IO_ERROR. */
tg_status tg_races_put_order(struct tg_races *races, struct tg_error *error);
tg_status tg_races_put_accesses(struct tg_races *races, struct tg_error *error);

/* The view that a record is of. */
void tg_races_view(const struct tg_record *record, struct tg_tensor *tensor);

/* Calls races->tell with a group. A return other than 0 cancels. */
int tg_races_tell(void *races, const struct tg_race_group *group);

#endif
