/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a comparison of two recordings.
 *
 *   diff.c         the public functions (analysis.h), what is kept of each pair
 *   diff_pair.c    one pair: what settles it
 *   diff_rules.c   which tolerance an argument has
 */
#ifndef TG_ANALYSIS_DIFF_H
#define TG_ANALYSIS_DIFF_H

#include <taskglass/analysis.h>

#include "analysis/match.h"

/* What is kept of a pair. */
struct tg_pair_state {
    uint8_t reason; /* enum tg_reason */
    uint8_t verdict;
    float error; /* |a - b| / |b| as vectors; NaN where it is not known, infinite where undefined */
};

/* A result that another pair may have as well: what one task left is what the next one is given. */
struct tg_known_result {
    uint64_t hash_a, hash_b;
    unsigned dtype; /* TG_DTYPE_NONE: nothing is kept here */
    struct tg_diff_result result;
};
enum { TG_KNOWN_RESULTS = 1024 };

struct tg_diff {
    struct tg_tasks a, b;
    struct tg_names names;
    struct tg_match match;
    struct tg_pair_state *state; /* one for each pair */
    struct tg_tolerance_rule *rule;
    size_t n_rules;
    bool equal_nan;
    tg_analysis_progress_fn progress;
    void *context;
    uint64_t payload_bytes;        /* of both, that hashes do not settle */
    uint64_t done;                 /* of them */
    uint64_t resident;             /* bytes read since pages were let go of */
    struct tg_known_result *known; /* TG_KNOWN_RESULTS of them, by hash; NULL: none yet */
};

/* What the rules say about an argument, or else its type. */
struct tg_tolerance tg_diff_tolerance(const struct tg_diff *diff, const struct tg_entry *entry);

/* Compares; any of the two may be NULL. */
void tg_diff_compare_entries(struct tg_diff *diff, const struct tg_entry *a,
                             const struct tg_entry *b, struct tg_diff_result *result);
/* Bytes of both that a comparison of the two would read. */
uint64_t tg_diff_bytes(const struct tg_entry *a, const struct tg_entry *b);

#endif
