/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks that touched a region so far, arranged so that those which are not before another task are found
 * without asking about each:
 *
 *     writers   w1 ─ w2 ─ w3          a chain: each is before the next, so a search in steps that double
 *               w4 ─ w5               finds the last one before a task, and the rest of the chain is not
 *     readers   r1 ─ r2
 *     base      b1 ─ b2 ─ b3          a writer that all tasks so far are before becomes the base: the
 *                                     chains are put away with it, and a task behind it is behind them all
 *
 * In a graph without races every writer becomes a base, and few questions are asked for each task. In a graph
 * where nothing is ordered there is a chain for each task; then the tasks before another are few, and they
 * are listed instead.
 *
 * Regions that the same tasks touch in the same way have one history.
 */
#ifndef TG_RACE_HISTORY_H
#define TG_RACE_HISTORY_H

#include <stddef.h>

#include "race/order.h"

#define TG_RACE_NONE UINT32_MAX

/* A task in a history. */
struct tg_race_entry {
    uint32_t node, history;
    uint32_t prev, jump, depth; /* in its chain; depth counts from 1 */
    uint32_t chain; /* the chain it is in; of a base: the last base at or before it with chains */
    uint32_t old_writers, old_readers; /* of a base: the chains that were put away with it */
    bool writes, is_base;
};

struct tg_race_chain {
    uint32_t tail, next;
    uint32_t base; /* of its history when it began: a chain that was put away has another one */
};

/* Chains in a row, the first to be tried first. */
struct tg_race_row {
    uint32_t head, last, count;
};

struct tg_race_history {
    uint32_t first, count; /* entries, sorted by node */
    uint32_t done;         /* entries that are in chains or are bases */
    uint32_t n_writers;    /* of those */
    uint32_t base;
    struct tg_race_row writers, readers;
    uint32_t region;     /* the first of its regions */
    uint64_t first_near; /* histories of other regions that share bytes with it */
    uint32_t n_near;
};

struct tg_race_near {
    uint32_t history, region, other; /* two regions that share bytes: its own, and the other's */
    bool is_open;                    /* it is not known whether they do */
};

struct tg_race_histories {
    struct tg_race_order *order;
    struct tg_race_history *history;
    uint32_t n_histories;
    struct tg_race_entry *entry;
    uint32_t n_entries;
    uint32_t *of_node;       /* entries by node, then by history */
    uint32_t *first_of_node; /* n_nodes + 1 */
    struct tg_race_near *near;
    struct tg_race_chain *chain;
    uint32_t n_chains;
    size_t chain_room;
    uint64_t most; /* of order->work */
};

/* The end of a chain that is not before a task: from `tail` back to, but without, `stop`. */
struct tg_race_part {
    uint32_t tail, stop;
};

/* The entries of one history that are not before a task. */
struct tg_race_rest {
    uint32_t history;
    uint64_t count;
    bool is_listed; /* all entries that are not listed by tg_race_order_list; otherwise `part` */
    bool readers;   /* readers were looked at too */
    struct tg_race_part *part;
    uint32_t n_parts;
    size_t room;
    uint32_t free_chain; /* a chain of writers that is before the task; NONE */
    bool is_all_before;  /* nothing is left, with readers */
};

/* Finds the writers, and with `readers` also the readers, of a history that are not before the node. False
 * if memory or work ran out. */
bool tg_race_history_rest(struct tg_race_histories *all, uint32_t history, uint32_t node,
                          bool readers, struct tg_race_rest *rest);
/* Calls `take` for each of them; no particular order. False if memory ran out. */
typedef void (*tg_race_entry_fn)(void *context, const struct tg_race_entry *entry);
bool tg_race_rest_each(struct tg_race_histories *all, const struct tg_race_rest *rest,
                       uint32_t node, tg_race_entry_fn take, void *context);
/* Puts the next entry into its history; `rest` is what was found for it there. False if memory ran out. */
bool tg_race_history_add(struct tg_race_histories *all, uint32_t entry,
                         const struct tg_race_rest *rest);

#endif
