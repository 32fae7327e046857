/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking for what should not be there, and for where it came from.
 *
 *   find.c             the public functions
 *   find_probe.c       what is looked for, in one tensor
 *   find_trace.c       which task made it, and which were given it
 *   find_unwritten.c   outputs that nobody wrote
 *   stomp.c            tensors that changed while nobody wrote them
 */
#ifndef TG_ANALYSIS_FIND_H
#define TG_ANALYSIS_FIND_H

#include <taskglass/array.h>

#include "analysis/deps_flow.h"

/* What a record has of it. */
struct tg_probe {
    uint64_t count; /* elements */
    uint64_t first; /* TG_NONE: none */
    bool is_known;  /* all of it was looked at, or enough to find some */
};

/* A task that ran between the two records of a stomp. */
struct tg_find_neighbour {
    uint32_t row, begin; /* its first event */
};

struct tg_find {
    enum tg_find_kind find_kind;
    const struct tg_recording *recording;
    struct tg_tasks tasks;
    struct tg_flow flow;
    struct tg_probe *probe; /* one for each record, where find_kinds are in single tensors */
    struct tg_find_finding *finding;
    uint64_t n_findings;
    size_t room;
    uint64_t origins, looked_at, not_stored;
    tg_analysis_progress_fn progress;
    void *context;
    uint64_t done, total, resident;
    /* of the finding that was asked for last */
    struct tg_find_neighbour *neighbour;
    uint32_t n_neighbours;
    uint64_t neighbours_of;
};

bool tg_find_add(struct tg_find *find, const struct tg_find_finding *finding);
/* Counts bytes that were read: shows progress, and lets go of pages. */
void tg_find_account(struct tg_find *find, uint64_t bytes);

/* For NAN, INF, OVERFLOW and CONSTANT. */
void tg_probe_array(enum tg_find_kind find_kind, const struct tg_array *array,
                    struct tg_probe *probe);

/* Each false where memory ran out. */
bool tg_find_probe_all(struct tg_find *find);
bool tg_find_trace(struct tg_find *find);
bool tg_find_unwritten(struct tg_find *find);
bool tg_find_stomps(struct tg_find *find);

/* The recorded hash, or that of what is stored whole. False: neither. */
bool tg_find_hash(struct tg_find *find, const struct tg_entry *entry, uint64_t *hash);

/* The tasks with records between two events, neither of which is theirs, by their first event. The
 * caller frees it; NULL with *count 0: none, or no memory. */
struct tg_find_neighbour *tg_stomp_between(const struct tg_find *find, uint32_t first,
                                           uint32_t last, uint32_t *count);
/* Whether an output of the task meets the bytes of a record. */
bool tg_stomp_writes(const struct tg_find *find, uint32_t row, uint64_t record);

#endif
