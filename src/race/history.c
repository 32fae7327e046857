/* SPDX-License-Identifier: Apache-2.0 */
#include "race/history.h"

#include "base/grow.h"

#define NONE TG_RACE_NONE

/* With more chains than FEW, the tasks before a task are listed if they are not more than MOST_LISTED. */
enum { FEW = 32, MOST_LISTED = 4096 };
/* Chains that a reader tries before it begins a new one. */
enum { TRIES = 8 };

/* --- chains ----------------------------------------------------------------------------------- */

static uint32_t depth_of(const struct tg_race_histories *all, uint32_t entry)
{
    return entry == NONE ? 0 : all->entry[entry].depth;
}

static uint32_t jump_of(const struct tg_race_histories *all, uint32_t entry)
{
    return entry == NONE ? NONE : all->entry[entry].jump;
}

/* Appends an entry to the chain that ends at `prev`. Jumps double as long as they can (Myers: an applicative
 * random-access stack), so that a search takes logarithmic time. */
static void append(struct tg_race_histories *all, uint32_t entry, uint32_t prev)
{
    uint32_t jump = jump_of(all, prev), over = jump_of(all, jump);
    all->entry[entry].prev = prev;
    all->entry[entry].depth = depth_of(all, prev) + 1;
    bool is_even = prev != NONE && depth_of(all, prev) - depth_of(all, jump) ==
                                       depth_of(all, jump) - depth_of(all, over);
    all->entry[entry].jump = is_even && jump != NONE ? over : prev;
}

static bool is_before(struct tg_race_histories *all, uint32_t entry, uint32_t node)
{
    return tg_race_order_is_before(all->order, all->entry[entry].node, node);
}

/* The last entry of the chain that is before the node; NONE. */
static uint32_t last_before(struct tg_race_histories *all, uint32_t tail, uint32_t node)
{
    while (tail != NONE && !is_before(all, tail, node)) {
        uint32_t jump = all->entry[tail].jump;
        tail = jump != NONE && !is_before(all, jump, node) ? jump : all->entry[tail].prev;
    }
    return tail;
}

/* --- what is not before a task ---------------------------------------------------------------- */

static bool add_part(struct tg_race_histories *all, struct tg_race_rest *rest, uint32_t tail,
                     uint32_t stop)
{
    if (!tg_grow(&rest->part, &rest->room, (size_t)rest->n_parts + 1, sizeof *rest->part))
        return false;
    rest->part[rest->n_parts++] = (struct tg_race_part){tail, stop};
    rest->count += depth_of(all, tail) - depth_of(all, stop);
    return true;
}

/* *is_before: a chain that is before the node altogether; NONE if there is none. */
static bool add_chains(struct tg_race_histories *all, uint32_t chain, uint32_t node,
                       struct tg_race_rest *rest, uint32_t *free_chain)
{
    for (; chain != NONE; chain = all->chain[chain].next) {
        uint32_t tail = all->chain[chain].tail, stop = last_before(all, tail, node);
        if (stop == tail)
            *free_chain = chain;
        else if (!add_part(all, rest, tail, stop))
            return false;
        if (all->order->work > all->most)
            return false;
    }
    return true;
}

/* The bases that are not before the node, and the chains that were put away with them. */
static bool add_bases(struct tg_race_histories *all, uint32_t base, uint32_t node,
                      struct tg_race_rest *rest)
{
    uint32_t stop = last_before(all, base, node), unused;
    if (stop == base)
        return true;
    if (!add_part(all, rest, base, stop))
        return false;
    uint32_t at = all->entry[base].chain;
    while (at != NONE && depth_of(all, at) > depth_of(all, stop)) {
        const struct tg_race_entry *entry = &all->entry[at];
        if (!add_chains(all, entry->old_writers, node, rest, &unused) ||
            (rest->readers && !add_chains(all, entry->old_readers, node, rest, &unused)))
            return false;
        at = entry->prev == NONE ? NONE : all->entry[entry->prev].chain;
    }
    return true;
}

/* The entry of a node in a history; NONE. */
static uint32_t entry_in(const struct tg_race_histories *all, uint32_t node, uint32_t history)
{
    uint32_t low = all->first_of_node[node], high = all->first_of_node[node + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (all->entry[all->of_node[middle]].history < history)
            low = middle + 1;
        else
            high = middle;
    }
    return low < all->first_of_node[node + 1] && all->entry[all->of_node[low]].history == history
               ? all->of_node[low]
               : NONE;
}

/* Counts what the listed nodes leave. */
static void count_rest(struct tg_race_histories *all, const uint32_t *list, uint32_t count,
                       struct tg_race_rest *rest)
{
    const struct tg_race_history *history = &all->history[rest->history];
    uint64_t writers = 0, readers = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = entry_in(all, list[i], rest->history);
        if (at == NONE)
            continue;
        const struct tg_race_entry *entry = &all->entry[at];
        writers += entry->writes;
        readers += !entry->writes;
        const struct tg_race_chain *chain =
            entry->writes && !entry->is_base ? &all->chain[entry->chain] : NULL;
        if (chain && chain->tail == at && chain->base == history->base)
            rest->free_chain = entry->chain;
    }
    all->order->work += count;
    rest->is_listed = true;
    rest->count = history->n_writers - writers;
    if (rest->readers)
        rest->count += history->done - history->n_writers - readers;
}

bool tg_race_history_rest(struct tg_race_histories *all, uint32_t number, uint32_t node,
                          bool readers, struct tg_race_rest *rest)
{
    const struct tg_race_history *history = &all->history[number];
    const uint32_t chains = history->writers.count + (readers ? history->readers.count : 0);
    const uint32_t *list;
    uint32_t count, unused;
    rest->history = number;
    rest->count = rest->n_parts = 0;
    rest->readers = readers;
    rest->is_listed = false;
    rest->free_chain = NONE;
    if (chains > FEW &&
        tg_race_order_list(all->order, node, chains < MOST_LISTED ? chains : MOST_LISTED, &list,
                           &count))
        count_rest(all, list, count, rest);
    else if (!add_chains(all, history->writers.head, node, rest, &rest->free_chain) ||
             (readers && !add_chains(all, history->readers.head, node, rest, &unused)) ||
             (history->base != NONE && !add_bases(all, history->base, node, rest)))
        return false;
    rest->is_all_before = readers && rest->count == 0;
    return all->order->work <= all->most;
}

static bool each_unlisted(struct tg_race_histories *all, const struct tg_race_rest *rest,
                          uint32_t node, tg_race_entry_fn take, void *context)
{
    const struct tg_race_history *history = &all->history[rest->history];
    const uint32_t *list;
    uint32_t count;
    if (!tg_race_order_list(all->order, node, MOST_LISTED, &list, &count))
        return false; /* it could be listed a moment ago */
    for (uint32_t i = history->first; i < history->first + history->done; i++) {
        const struct tg_race_entry *entry = &all->entry[i];
        if (all->order->mark[entry->node] != all->order->search && (entry->writes || rest->readers))
            take(context, entry);
    }
    all->order->work += history->done;
    return true;
}

bool tg_race_rest_each(struct tg_race_histories *all, const struct tg_race_rest *rest,
                       uint32_t node, tg_race_entry_fn take, void *context)
{
    if (rest->is_listed)
        return each_unlisted(all, rest, node, take, context);
    for (uint32_t i = 0; i < rest->n_parts; i++)
        for (uint32_t at = rest->part[i].tail; at != rest->part[i].stop; at = all->entry[at].prev)
            take(context, &all->entry[at]);
    all->order->work += rest->count;
    return true;
}

/* --- adding ----------------------------------------------------------------------------------- */

static void put_last(struct tg_race_histories *all, struct tg_race_row *row, uint32_t chain)
{
    all->chain[chain].next = NONE;
    if (row->count++ == 0)
        row->head = chain;
    else
        all->chain[row->last].next = chain;
    row->last = chain;
}

static uint32_t take_first(struct tg_race_histories *all, struct tg_race_row *row)
{
    uint32_t chain = row->head;
    row->head = all->chain[chain].next;
    row->count--;
    return chain;
}

static void extend(struct tg_race_histories *all, uint32_t chain, uint32_t entry)
{
    append(all, entry, all->chain[chain].tail);
    all->chain[chain].tail = entry;
    all->entry[entry].chain = chain;
}

static bool begin_chain(struct tg_race_histories *all, struct tg_race_row *row, uint32_t entry)
{
    const uint32_t base = all->history[all->entry[entry].history].base;
    if (!tg_grow(&all->chain, &all->chain_room, (size_t)all->n_chains + 1, sizeof *all->chain))
        return false;
    all->chain[all->n_chains] = (struct tg_race_chain){NONE, NONE, base};
    extend(all, all->n_chains, entry);
    put_last(all, row, all->n_chains++);
    return true;
}

/* Tries the chains that were tried longest ago: their ends are the oldest. */
static bool add_reader(struct tg_race_histories *all, struct tg_race_history *history,
                       uint32_t entry)
{
    struct tg_race_row *row = &history->readers;
    for (uint32_t tries = row->count < TRIES ? row->count : TRIES; tries > 0; tries--) {
        uint32_t chain = take_first(all, row);
        bool fits = is_before(all, all->chain[chain].tail, all->entry[entry].node);
        if (fits)
            extend(all, chain, entry);
        put_last(all, row, chain);
        if (fits)
            return true;
    }
    return begin_chain(all, row, entry);
}

static void make_base(struct tg_race_histories *all, struct tg_race_history *history,
                      uint32_t number)
{
    struct tg_race_entry *entry = &all->entry[number];
    append(all, number, history->base);
    entry->is_base = true;
    entry->old_writers = history->writers.head;
    entry->old_readers = history->readers.head;
    if (history->writers.count + history->readers.count > 0)
        entry->chain = number;
    else
        entry->chain = history->base == NONE ? NONE : all->entry[history->base].chain;
    history->base = number;
    history->writers = history->readers = (struct tg_race_row){NONE, NONE, 0};
}

bool tg_race_history_add(struct tg_race_histories *all, uint32_t entry,
                         const struct tg_race_rest *rest)
{
    struct tg_race_history *history = &all->history[all->entry[entry].history];
    bool good = true;
    if (!all->entry[entry].writes)
        good = add_reader(all, history, entry);
    else if (rest->is_all_before)
        make_base(all, history, entry);
    else if (rest->free_chain != NONE)
        extend(all, rest->free_chain, entry);
    else
        good = begin_chain(all, &history->writers, entry);
    history->done++;
    history->n_writers += all->entry[entry].writes;
    return good;
}
