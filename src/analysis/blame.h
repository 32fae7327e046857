/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the tasks that began a difference. A task whose inputs agree and whose outputs differ has
 * introduced the difference; a task whose inputs differ already has inherited it.
 *
 *   blame.c          the public functions: suspects, their order, their paths
 *   blame_tasks.c    what the pairs say about each task
 *   blame_graph.c    which task comes before which
 *   blame_source.c   inputs that differ although no recorded task made them differ
 */
#ifndef TG_ANALYSIS_BLAME_H
#define TG_ANALYSIS_BLAME_H

#include "analysis/deps_flow.h"
#include "analysis/deps_graph.h"
#include "analysis/diff.h"

enum tg_state {
    TG_STATE_UNKNOWN, /* not recorded, or the records do not decide it */
    TG_STATE_AGREES,
    TG_STATE_DIFFERS
};

/* A pair within the tolerance agrees. A pair with different hashes and no values differs. */
enum tg_state tg_blame_pair_state(const struct tg_diff *diff, uint64_t pair);

/* What the pairs say about one matched task. */
struct tg_blame_task {
    uint8_t output, input; /* enum tg_state of all outputs, of all inputs */
    uint64_t pair;         /* the output with the largest error; TG_NONE */
    float error;           /* of that output */
};

struct tg_blame {
    struct tg_diff *diff;
    struct tg_blame_task *task; /* one for each matched task */
    const char *graph;
    struct tg_links before, after; /* tasks by their number in the match */
    uint32_t *rank, *depth;
    uint32_t *next; /* next task on the path to a wrong result; TG_NO_ROW at its end */
    struct tg_flow flow_a, flow_b;
    uint64_t *pair_of_a; /* the pair of each record of A; TG_NONE */
    struct tg_suspect *suspect;
    uint64_t n_suspects;
    size_t room;
    uint64_t inherited, wrong;
    uint64_t *path; /* of the suspect whose path was asked for last */
};

/* Each returns false if memory ran out. */
bool tg_blame_read_tasks(struct tg_blame *blame);
bool tg_blame_read_graph(struct tg_blame *blame);
bool tg_blame_find_sources(struct tg_blame *blame);
bool tg_blame_accuse(struct tg_blame *blame, const struct tg_suspect *suspect);

#endif
