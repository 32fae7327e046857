/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a comparison of two recordings.
 *
 *   diff.c         the public functions (analysis.h), and the result of each pair
 *   diff_pair.c    comparing one pair
 *   diff_rules.c   the tolerance of an argument
 *   diff_reads.c   values that the orchestrations read back
 *   noise.c        what good runs differ by
 *   place.c        where results go
 *   diff_edges.c   edges that only one side has
 */
#ifndef TG_ANALYSIS_DIFF_H
#define TG_ANALYSIS_DIFF_H

#include <taskglass/analysis.h>

#include "analysis/source.h"
#include "analysis/match.h"
#include "analysis/noise.h"
#include "analysis/place.h"

/* Whether two records agree, bit for bit; see tg_diff_agreement. */
enum tg_agreement {
    TG_AGREEMENT_UNKNOWN, /* not compared, not whole, or not finished */
    TG_AGREES,
    TG_DISAGREES
};

/* The result of one pair. */
struct tg_pair_state {
    uint8_t reason; /* enum tg_reason */
    uint8_t verdict;
    uint8_t agreement; /* enum tg_agreement */
    bool is_scalar;
    float error;  /* |a - b| / |b| as vectors; NaN if unknown, infinite if undefined */
    uint64_t ulp; /* the largest distance; 0 if unknown */
};

/* A result to reuse for other pairs: the output of one task is the input of the next. */
struct tg_known_result {
    uint64_t hash_a, hash_b;
    unsigned dtype; /* TG_DTYPE_NONE: an empty slot */
    struct tg_diff_result result;
};
enum { TG_KNOWN_RESULTS = 1024 };

struct tg_diff {
    struct tg_tasks a, b;
    struct tg_sources source_a,
        source_b; /* blame follows their data, if matching did not need to */
    struct tg_names names;
    struct tg_match match;
    struct tg_pair_state *state; /* one for each pair */
    struct tg_tolerance_rule *rule;
    size_t n_rules;
    bool equal_nan;
    tg_analysis_progress_fn progress;
    void *context;
    uint64_t payload_bytes; /* of both sides, for the pairs that hashes do not decide */
    uint64_t done;          /* bytes of payload_bytes that are compared */
    struct tg_noise noise;
    uint64_t reads[TG_VERDICTS]; /* values that the orchestrations read, by verdict */
    struct tg_diff_edge *edge;   /* edges that only one side has */
    uint64_t n_edges;
    size_t edge_room;
    bool has_edges;                /* they were compared */
    struct tg_places places[2];    /* where the tasks of A and of B write */
    struct tg_known_result *known; /* TG_KNOWN_RESULTS slots by hash; NULL until the first one */
};

/* The tolerance that the rules give an argument; without a rule that of its noise `floor`, and without
 * one (NaN) that of its type. */
struct tg_tolerance tg_diff_tolerance(const struct tg_diff *diff, const struct tg_entry *entry,
                                      double floor);

/* The same from rules alone: `tolerance` where none of them fits. */
struct tg_tolerance tg_rules_tolerance(const struct tg_tolerance_rule *rules, size_t n,
                                       const struct tg_entry *entry, struct tg_tolerance tolerance);

/* Compares two entries; either may be NULL. `floor`: the noise of the argument, NaN if unknown. */
void tg_diff_compare_entries(struct tg_diff *diff, const struct tg_entry *a,
                             const struct tg_entry *b, double floor, struct tg_diff_result *result);
/* Whether a pair that was compared agrees. Blame asks nothing else, so what counts as agreement is
 * decided here: the same bits, or a difference that good runs have too. */
enum tg_agreement tg_diff_agreement(const struct tg_diff *diff, uint64_t pair);
/* True if the pair is beyond the tolerance, or differs by an amount that nothing stored can show. */
bool tg_diff_is_beyond(const struct tg_diff *diff, uint64_t pair);

/* True if a task that is missing on this side did not run there: the side has its complete list of
 * tasks, or all its records. */
bool tg_diff_has_all_tasks(const struct tg_tasks *side);

/* The bytes of both sides that a comparison of the two would read. */
uint64_t tg_diff_bytes(const struct tg_entry *a, const struct tg_entry *b);

/* Fills diff->reads. */
void tg_diff_compare_reads(struct tg_diff *diff);

#endif
