/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs tasks by their place in the dataflow. A row of A and a row of B become partners if they have
 * the same key. The keys of the first level take everything that says what a task is; each further
 * level leaves something out. A level is used only when the ones above find nothing more, and each
 * new pair sends the search back to the first level, because the neighbours of the new partners may
 * now be sure.
 *
 * Keys name other tasks by their partners, so a forward key can be made when all producers of a row
 * are matched, a backward key when all consumers are. A wrong content does not spread: what a task
 * reads is known by its producer and its view, and contents count only where these are not known.
 *
 * Of several rows with one key, those in the same place of the order go together, then the first
 * with the first.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/match_flow.h"
#include "analysis/match_mix.h"
#include "base/grow.h"

enum {
    KERNEL = 1 << 0,
    OWN = 1 << 1,     /* scalars and views */
    VIEWS = 1 << 20,  /* views without the scalars */
    OBJECTS = 1 << 2, /* objects, whatever part of them */
    SCALARS = 1 << 3,
    SOURCE = 1 << 4,  /* contents that come from an unknown place */
    CONTENT = 1 << 5, /* contents of all inputs */
    RESULTS = 1 << 6, /* contents of all outputs */
    BEFORE = 1 << 7,  /* partners of the producers */
    AFTER = 1 << 8,   /* partners of the consumers */
    DEEP = 1 << 9,    /* everything that depends on it */
    /* With BEFORE and AFTER: neighbours that have no partner yet do not count. */
    LOOSE = 1 << 10,
    /* What the rows must have, besides the same key: */
    KNOWN = 1 << 11,   /* scalars, objects or matched neighbours */
    HOME = 1 << 12,    /* the same place in the order of both sides */
    ALONE = 1 << 13,   /* no other row of its side has that key */
    NEAR = 1 << 14,    /* no neighbours that say the opposite */
    RENAMED = 1 << 15, /* kernels that the other side does not have */
    AGREE = 1 << 16,   /* it does not look as if one of the two was fused with its consumer */
    CALL = 1 << 21,    /* calls of communication */
    /* Not one row, but several fused into one: enum tg_fusion_sign. */
    FUSE_EQUAL = 1 << 17,
    FUSE_READERS = 1 << 18,
    FUSE_INPUTS = 1 << 19,
    FUSIONS = FUSE_EQUAL | FUSE_READERS | FUSE_INPUTS
};

/* When a row gets to a level. */
enum turn { FORWARD, BACKWARD, ANY, TURNS };

static const struct level {
    enum turn turn;
    unsigned takes;
} levels[] = {
    {FORWARD, KERNEL | OWN | SOURCE | BEFORE | RESULTS | DEEP},
    {BACKWARD, KERNEL | OWN | AFTER | RESULTS},
    {FORWARD, KERNEL | OWN | SOURCE | BEFORE | RESULTS | HOME},
    {FORWARD, KERNEL | OWN | SOURCE | BEFORE | DEEP | HOME},
    {FORWARD, KERNEL | OWN | SOURCE | BEFORE | DEEP},
    {BACKWARD, KERNEL | OWN | AFTER},
    {ANY, KERNEL | OWN | CONTENT | ALONE | AGREE},
    {FORWARD, KERNEL | OWN | SOURCE | BEFORE | AGREE},
    {ANY, KERNEL | OWN | BEFORE | AFTER | LOOSE | KNOWN | ALONE | AGREE},
    {ANY, KERNEL | OWN | KNOWN | ALONE | NEAR | AGREE},
    /* Where the scalars are against the views, the place in the order decides: a run whose scalars are
     * all one step off is not one whose results all went to the next row. */
    {BACKWARD, KERNEL | VIEWS | AFTER | HOME | NEAR | AGREE},
    {ANY, KERNEL | SCALARS | ALONE | NEAR | AGREE},
    {ANY, FUSE_EQUAL | ALONE},
    /* other views, other scalars, other objects */
    {FORWARD, KERNEL | OBJECTS | BEFORE | NEAR | AGREE},
    {BACKWARD, KERNEL | OBJECTS | AFTER | NEAR | AGREE},
    {FORWARD, KERNEL | BEFORE | NEAR | AGREE},
    {BACKWARD, KERNEL | AFTER | NEAR | AGREE},
    /* The same call of the other ranks, with data of other tasks. */
    {ANY, KERNEL | SCALARS | ALONE | CALL},
    /* another name */
    {FORWARD, OWN | SOURCE | BEFORE | DEEP | RENAMED},
    {ANY, OWN | BEFORE | AFTER | LOOSE | KNOWN | ALONE | RENAMED},
    {BACKWARD, FUSE_READERS},
    {ANY, FUSE_INPUTS | ALONE},
    /* not fused after all */
    {FORWARD, KERNEL | OWN | SOURCE | BEFORE},
    {FORWARD, KERNEL | OBJECTS | BEFORE},
    {BACKWARD, KERNEL | OBJECTS | AFTER},
    {ANY, KERNEL | OWN | CONTENT},
    {ANY, KERNEL | OWN | KNOWN | ALONE},
    /* These follow when the order has decided what else it can: a task that has moved, and another
     * kernel in the same place. */
    {ANY, KERNEL | OWN | ALONE},
    {FORWARD, OWN | SOURCE | BEFORE},
    {ANY, OWN | BEFORE | AFTER | LOOSE | KNOWN | ALONE},
};
enum { LEVELS = sizeof levels / sizeof *levels, LAST_LEVELS = 3 };

/* A level for any row looks at all rows that are left. It is repeated, since its keys change with the
 * pairs of other levels, until it has looked at this many rows, and at each row several times. */
enum { MOST_LOOKS = 2 << 20, LOOKS_PER_ROW = 4 };

/* --- waiting rows ------------------------------------------------------------------------------- */

/* Rows that found no partner yet, by key: chains in the order in which they came. */
struct wait {
    uint32_t row, next; /* an index + 1 into `wait`; 0: the last */
};

struct chain {
    uint64_t key; /* 0: an empty slot */
    uint32_t first, last;
};

struct waiting {
    struct chain *chain;
    uint64_t n_chains, used; /* n_chains is a power of two */
    struct wait *wait;
    size_t n_waits, room;
};

static struct chain *chain_of(const struct waiting *waiting, uint64_t key)
{
    uint64_t at = (key ^ key >> 32) & (waiting->n_chains - 1);
    while (waiting->chain[at].key != 0 && waiting->chain[at].key != key)
        at = (at + 1) & (waiting->n_chains - 1);
    return &waiting->chain[at];
}

static bool grow_chains(struct waiting *waiting)
{
    struct waiting larger = {.n_chains = waiting->n_chains ? 2 * waiting->n_chains : 1024};
    larger.chain = calloc((size_t)larger.n_chains, sizeof *larger.chain);
    if (!larger.chain)
        return false;
    for (uint64_t i = 0; i < waiting->n_chains; i++)
        if (waiting->chain[i].key != 0)
            *chain_of(&larger, waiting->chain[i].key) = waiting->chain[i];
    free(waiting->chain);
    waiting->chain = larger.chain;
    waiting->n_chains = larger.n_chains;
    return true;
}

static bool wait_here(struct waiting *waiting, uint64_t key, uint32_t row)
{
    if (2 * waiting->used >= waiting->n_chains && !grow_chains(waiting))
        return false;
    if (waiting->n_waits >= UINT32_MAX - 1 ||
        !tg_grow(&waiting->wait, &waiting->room, waiting->n_waits + 1, sizeof *waiting->wait))
        return false;
    struct chain *chain = chain_of(waiting, key);
    waiting->wait[waiting->n_waits++] = (struct wait){row, 0};
    uint32_t mine = (uint32_t)waiting->n_waits;
    waiting->used += chain->key == 0;
    if (chain->key == 0 || chain->first == 0)
        *chain = (struct chain){key, mine, mine};
    else
        waiting->wait[chain->last - 1].next = mine;
    chain->last = mine;
    return true;
}

/* --- the work ----------------------------------------------------------------------------------- */

/* A row with its side: row << 1 | is_b. */
struct turn_list {
    uint64_t *item;
    size_t count, room;
};

struct tg_flow_work {
    struct turn_list list[TURNS]; /* of ANY: nothing; it takes all rows */
    size_t next[LEVELS];          /* how far each level is in its list */
    uint64_t looks[LEVELS];
    uint32_t seen[LEVELS];  /* pairs there were when an ANY level ended its last round */
    struct waiting waiting; /* for all levels: the level is part of the key */
    uint32_t *left[2];      /* rows that are not matched; some may be matched meanwhile */
    uint32_t n_left[2];
    uint32_t *home[2]; /* the row in the same place of the order of the other side; TG_NO_ROW */
};

static const struct tg_side *side_of(const struct tg_matching *m, bool is_b)
{
    return is_b ? &m->b : &m->a;
}

static bool enter(struct tg_matching *m, enum turn turn, uint32_t row, bool is_b)
{
    struct turn_list *list = &m->work->list[turn];
    if (!tg_grow(&list->item, &list->room, list->count + 1, sizeof *list->item))
        return false;
    list->item[list->count++] = (uint64_t)row << 1 | is_b;
    return true;
}

/* Tells the neighbours of a row that it is matched. */
static bool tell_neighbours(struct tg_matching *m, bool is_b, uint32_t row)
{
    struct tg_side *side = is_b ? &m->b : &m->a;
    for (uint64_t k = side->after.first[row]; k < side->after.first[row + 1]; k++) {
        uint32_t other = side->after.edge[k].row;
        if (--side->waits_before[other] == 0 && side->canon[other] == TG_NO_ROW &&
            !enter(m, FORWARD, other, is_b))
            return false;
    }
    for (uint64_t k = side->before.first[row]; k < side->before.first[row + 1]; k++) {
        uint32_t other = side->before.edge[k].row;
        if (--side->waits_after[other] == 0 && side->canon[other] == TG_NO_ROW &&
            !enter(m, BACKWARD, other, is_b))
            return false;
    }
    return true;
}

bool tg_matching_pair(struct tg_matching *matching, uint32_t a, uint32_t b)
{
    matching->partner[a] = b;
    matching->a.canon[a] = a;
    matching->b.canon[b] = a;
    matching->matched++;
    return tell_neighbours(matching, false, a) && tell_neighbours(matching, true, b);
}

bool tg_matching_join(struct tg_matching *matching, bool is_b, uint32_t row, uint32_t canon)
{
    struct tg_side *side = is_b ? &matching->b : &matching->a;
    side->canon[row] = canon;
    side->row[row].is_group = true;
    return tell_neighbours(matching, is_b, row);
}

/* --- keys --------------------------------------------------------------------------------------- */

/* The partners of a row's neighbours. *known counts those that have one. */
static uint64_t key_of_edges(const struct tg_side *side, const struct tg_side_edges *edges,
                             uint32_t row, uint32_t *known)
{
    uint64_t sum = 0;
    for (uint64_t k = edges->first[row]; k < edges->first[row + 1]; k++) {
        const struct tg_side_edge *edge = &edges->edge[k];
        uint32_t canon = side->canon[edge->row];
        bool is_group = side->row[edge->row].is_group;
        if (canon == TG_NO_ROW)
            continue;
        sum += tg_mix(tg_mix(7, canon),
                      (uint64_t)edge->here << 16 | (is_group ? UINT16_MAX : edge->there));
        ++*known;
    }
    return sum;
}

static enum tg_fusion_sign sign_of(unsigned takes)
{
    return takes & FUSE_EQUAL     ? TG_FUSION_EQUAL
           : takes & FUSE_READERS ? TG_FUSION_BY_READERS
                                  : TG_FUSION_BY_INPUTS;
}

static bool is_fit(const struct tg_side *side, uint32_t row, unsigned takes)
{
    const struct tg_side_row *info = &side->row[row];
    uint32_t n_before = tg_side_n_before(side, row), n_after = tg_side_n_after(side, row);
    if ((takes & CONTENT && info->content == 0) || (!(takes & KERNEL) && !info->has_records) ||
        (takes & RENAMED && !info->is_exclusive) || (takes & SCALARS && info->scalars == 0) ||
        (takes & CALL && !info->is_call))
        return false;
    if (takes & LOOSE)
        return true;
    if (takes & BEFORE && !info->has_records && n_before == 0 && n_after == 0)
        return false;
    bool has_objects = takes & (OWN | VIEWS | OBJECTS);
    if (takes & BEFORE && !(takes & OWN) && n_before == 0 && !(has_objects && info->reads_objects))
        return false;
    return !(takes & AFTER) || n_after > 0 || (has_objects && info->writes_objects);
}

/* 0 if the row does not have what the level goes by. */
static bool key_of(const struct tg_side *side, uint32_t row, unsigned level, uint64_t *key)
{
    const struct tg_side_row *info = &side->row[row];
    unsigned takes = levels[level].takes;
    uint32_t known = 0;
    *key = 0;
    if (takes & FUSIONS)
        return tg_fusion_key(side, row, sign_of(takes), key);
    if (!is_fit(side, row, takes))
        return true;
    uint64_t sum = tg_mix(level + 1, takes & KERNEL ? info->kernel : 0);
    sum = tg_mix(sum, takes & OWN ? info->own : 0);
    sum = tg_mix(sum, takes & VIEWS ? info->views : 0);
    sum = tg_mix(sum, takes & OBJECTS ? info->objects : 0);
    sum = tg_mix(sum, takes & SCALARS ? info->scalars : 0);
    sum = tg_mix(sum, takes & SOURCE ? info->source : 0);
    sum = tg_mix(sum, takes & CONTENT ? info->content : 0);
    sum = tg_mix(sum, takes & RESULTS ? info->results : 0);
    sum = tg_mix(sum, takes & DEEP ? info->deep : 0);
    if (takes & BEFORE)
        sum = tg_mix(sum, key_of_edges(side, &side->before, row, &known));
    if (takes & AFTER)
        sum = tg_mix(sum, key_of_edges(side, &side->after, row, &known));
    if (!(takes & KNOWN) || known > 0 || info->reads_objects || info->writes_objects ||
        info->scalars != 0)
        *key = sum;
    return true;
}

/* --- pairs that contradict each other ------------------------------------------------------------ */

static bool has_edge_to(const struct tg_side *side, const struct tg_side_edges *edges, uint32_t row,
                        uint32_t canon)
{
    for (uint64_t k = edges->first[row]; k < edges->first[row + 1]; k++)
        if (side->canon[edges->edge[k].row] == canon)
            return true;
    return false;
}

/* Counts the neighbours of a row that are matched, and those whose partners are neighbours of the
 * other row. */
static void count_edges(const struct tg_side *side, const struct tg_side_edges *edges, uint32_t row,
                        const struct tg_side *other_side, const struct tg_side_edges *other_edges,
                        uint32_t other, uint32_t *matched, uint32_t *shared)
{
    enum { ENOUGH = 64 };
    uint64_t end = edges->first[row + 1];
    for (uint64_t k = edges->first[row]; k < end && k < edges->first[row] + ENOUGH; k++) {
        uint32_t canon = side->canon[edges->edge[k].row];
        if (canon == TG_NO_ROW)
            continue;
        ++*matched;
        *shared += has_edge_to(other_side, other_edges, other, canon);
    }
}

bool tg_matching_contradicts(const struct tg_matching *m, uint32_t a, uint32_t b, bool is_strict)
{
    uint32_t of_a = 0, of_b = 0, shared = 0;
    count_edges(&m->a, &m->a.before, a, &m->b, &m->b.before, b, &of_a, &shared);
    count_edges(&m->a, &m->a.after, a, &m->b, &m->b.after, b, &of_a, &shared);
    count_edges(&m->b, &m->b.before, b, &m->a, &m->a.before, a, &of_b, &shared);
    count_edges(&m->b, &m->b.after, b, &m->a, &m->a.after, a, &of_b, &shared);
    return shared == 0 && (is_strict ? of_a > 0 || of_b > 0 : of_a > 0 && of_b > 0);
}

/* True if the task `from` is read, maybe by way of tasks that are not matched, by the task `to`, which
 * is not matched either. */
static bool leads_to(const struct tg_side *side, uint32_t from, uint32_t to, int steps)
{
    enum { ENOUGH = 16 };
    uint64_t first = side->before.first[to], end = side->before.first[to + 1];
    if (side->canon[to] != TG_NO_ROW)
        return false;
    for (uint64_t k = first; k < end && k < first + ENOUGH; k++) {
        uint32_t row = side->before.edge[k].row;
        if (row == from || (steps > 0 && leads_to(side, from, row, steps - 1)))
            return true;
    }
    return false;
}

/* True if a consumer of `row` is matched with a task that does not read `other` itself, but what tasks
 * that are not matched made of it. */
static bool is_ahead(const struct tg_matching *m, bool is_b, uint32_t row, uint32_t other)
{
    const struct tg_side *side = side_of(m, is_b), *other_side = side_of(m, !is_b);
    enum { ENOUGH = 16, STEPS = 3 };
    uint64_t from = side->after.first[row], end = side->after.first[row + 1];
    for (uint64_t k = from; k < end && k < from + ENOUGH; k++) {
        uint32_t canon = side->canon[side->after.edge[k].row];
        uint32_t reader = canon == TG_NO_ROW ? TG_NO_ROW : is_b ? canon : m->partner[canon];
        if (reader == TG_NO_ROW)
            continue;
        uint64_t first = other_side->before.first[reader];
        uint64_t last = other_side->before.first[reader + 1];
        for (uint64_t i = first; i < last && i < first + ENOUGH; i++)
            if (leads_to(other_side, other, other_side->before.edge[i].row, STEPS))
                return true;
    }
    return false;
}

/* True if the results differ, and the one is read where the other is not yet: a task of one side may
 * do the work of two. */
static bool looks_fused(const struct tg_matching *m, uint32_t a, uint32_t b)
{
    uint64_t results_a = m->a.row[a].results, results_b = m->b.row[b].results;
    return results_a != 0 && results_b != 0 && results_a != results_b &&
           (is_ahead(m, false, a, b) || is_ahead(m, true, b, a));
}

static bool may_pair(const struct tg_matching *m, unsigned takes, uint32_t a, uint32_t b)
{
    if (takes & NEAR && tg_matching_contradicts(m, a, b, !(takes & (OWN | SCALARS))))
        return false;
    return !(takes & AGREE) || !looks_fused(m, a, b);
}

/* --- levels ------------------------------------------------------------------------------------ */

static bool has_turn(const struct tg_side *side, enum turn turn, uint32_t row)
{
    if (side->canon[row] != TG_NO_ROW)
        return false;
    return turn == ANY || (turn == FORWARD ? side->waits_before : side->waits_after)[row] == 0;
}

/* Tries one row of each side. *is_paired says whether they are partners now. */
static bool try_pair(struct tg_matching *m, unsigned level, uint32_t a, uint32_t b, bool *is_paired)
{
    unsigned takes = levels[level].takes;
    *is_paired = false;
    if (takes & FUSIONS)
        return tg_fusion_try(m, a, b, sign_of(takes), is_paired);
    if (!may_pair(m, takes, a, b))
        return true;
    bool is_retiled = false;
    if (!(takes & (OWN | VIEWS)) && !tg_match_tiles(m, a, b, &is_retiled))
        return false;
    *is_paired = !is_retiled;
    return is_retiled || tg_matching_pair(m, a, b);
}

/* Looks for a partner among the rows of the other side that wait with the same key. */
static bool find_waiting(struct tg_matching *m, unsigned level, uint32_t row, bool is_b,
                         uint64_t key, bool *is_paired)
{
    enum { MOST_TRIES = 16 };
    struct waiting *waiting = &m->work->waiting;
    const struct tg_side *other = side_of(m, !is_b);
    struct chain *chain = waiting->n_chains ? chain_of(waiting, tg_mix(key, !is_b)) : NULL;
    uint32_t tries = 0;
    if (!chain || chain->key == 0)
        return true;
    while (chain->first != 0 && other->canon[waiting->wait[chain->first - 1].row] != TG_NO_ROW)
        chain->first = waiting->wait[chain->first - 1].next;
    for (uint32_t at = chain->first; at != 0 && tries < MOST_TRIES;
         at = waiting->wait[at - 1].next) {
        uint32_t found = waiting->wait[at - 1].row;
        if (other->canon[found] != TG_NO_ROW)
            continue;
        tries++;
        if (!try_pair(m, level, is_b ? found : row, is_b ? row : found, is_paired))
            return false;
        if (*is_paired)
            return true;
    }
    return true;
}

static bool take_row(struct tg_matching *m, unsigned level, uint32_t row, bool is_b,
                     bool *is_paired)
{
    const struct tg_side *side = side_of(m, is_b), *other = side_of(m, !is_b);
    *is_paired = false;
    if (!has_turn(side, levels[level].turn, row))
        return true;
    uint64_t key, home_key = 0;
    uint32_t home = m->work->home[is_b][row];
    if (!key_of(side, row, level, &key))
        return false;
    if (key == 0)
        return true;
    if (home != TG_NO_ROW && has_turn(other, levels[level].turn, home) &&
        !key_of(other, home, level, &home_key))
        return false;
    if (home_key == key) {
        if (!try_pair(m, level, is_b ? home : row, is_b ? row : home, is_paired))
            return false;
        if (*is_paired)
            return true;
    }
    if (levels[level].takes & HOME)
        return true;
    if (!find_waiting(m, level, row, is_b, key, is_paired))
        return false;
    return *is_paired || wait_here(&m->work->waiting, tg_mix(key, is_b), row);
}

/* Goes on in the level's list until the first pair; *is_paired is false at the end of the list. */
static bool go_on(struct tg_matching *m, unsigned level, bool *is_paired)
{
    struct tg_flow_work *work = m->work;
    const struct turn_list *list = &work->list[levels[level].turn];
    *is_paired = false;
    while (!*is_paired && work->next[level] < list->count) {
        uint64_t item = list->item[work->next[level]++];
        if (!take_row(m, level, (uint32_t)(item >> 1), item & 1, is_paired))
            return false;
    }
    return true;
}

/* --- levels for any row ------------------------------------------------------------------------- */

struct keyed {
    uint64_t key;
    uint32_t row;
    bool is_b;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    if (left->is_b != right->is_b)
        return left->is_b ? 1 : -1;
    return (left->row > right->row) - (left->row < right->row);
}

/* How far each row is from the tasks that are matched: the longest way through tasks that are not.
 * Tasks far from them cannot be known to be fused yet. */
static void measure_depth(struct tg_side *side)
{
    for (uint32_t i = 0; i < side->n_rows; i++) {
        uint32_t row = side->order[i];
        uint8_t depth = 0;
        for (uint64_t k = side->before.first[row]; k < side->before.first[row + 1]; k++) {
            uint32_t other = side->before.edge[k].row;
            if (side->canon[other] == TG_NO_ROW && side->row[other].depth >= depth)
                depth = side->row[other].depth < UINT8_MAX ? (uint8_t)(side->row[other].depth + 1)
                                                           : UINT8_MAX;
        }
        side->row[row].depth = depth;
    }
}

/* The keys of the rows that are left; forgets rows that were matched meanwhile. */
static bool take_keys(struct tg_matching *m, unsigned level, bool is_b, struct keyed *keyed,
                      size_t *count)
{
    struct tg_flow_work *work = m->work;
    struct tg_side *side = is_b ? &m->b : &m->a;
    bool is_fusion = levels[level].takes & FUSIONS;
    uint32_t kept = 0;
    if (is_fusion)
        measure_depth(side);
    work->looks[level] += work->n_left[is_b] + (is_fusion ? side->n_rows / 8 : 0);
    for (uint32_t i = 0; i < work->n_left[is_b]; i++) {
        uint32_t row = work->left[is_b][i];
        uint64_t key = 0;
        if (side->canon[row] != TG_NO_ROW)
            continue;
        work->left[is_b][kept++] = row;
        if (is_fusion && side->row[row].depth >= TG_MOST_PARTS)
            continue;
        if (!key_of(side, row, level, &key))
            return false;
        if (key != 0)
            keyed[(*count)++] = (struct keyed){key, row, is_b};
    }
    work->n_left[is_b] = kept;
    return true;
}

/* Pairs the rows [from, middle) of A with [middle, to) of B, which have the same key: the n-th with
 * the n-th. */
static bool pair_group(struct tg_matching *m, unsigned level, const struct keyed *keyed,
                       size_t from, size_t middle, size_t to, bool *is_paired)
{
    bool is_now;
    if (from == middle || middle == to)
        return true;
    if ((levels[level].takes & ALONE) && (middle - from != 1 || to - middle != 1))
        return true;
    for (size_t i = from, k = middle; i < middle && k < to; i++, k++) {
        /* A fusion may have taken one of them meanwhile. */
        if (m->a.canon[keyed[i].row] != TG_NO_ROW || m->b.canon[keyed[k].row] != TG_NO_ROW)
            continue;
        if (!try_pair(m, level, keyed[i].row, keyed[k].row, &is_now))
            return false;
        *is_paired = *is_paired || is_now;
    }
    return true;
}

static bool pair_all(struct tg_matching *m, unsigned level, bool *is_paired)
{
    size_t most = (size_t)m->work->n_left[0] + m->work->n_left[1] + 1;
    struct keyed *keyed = malloc(most * sizeof *keyed);
    size_t count = 0;
    bool good = keyed && take_keys(m, level, false, keyed, &count) &&
                take_keys(m, level, true, keyed, &count);
    if (good)
        qsort(keyed, count, sizeof *keyed, by_key);
    for (size_t from = 0, to; good && from < count; from = to) {
        size_t middle = from;
        while (middle < count && keyed[middle].key == keyed[from].key && !keyed[middle].is_b)
            middle++;
        for (to = middle; to < count && keyed[to].key == keyed[from].key; to++)
            ;
        good = pair_group(m, level, keyed, from, middle, to, is_paired);
    }
    free(keyed);
    return good;
}

/* Does nothing if there are no new pairs since the last time. */
static bool do_round(struct tg_matching *m, unsigned level, bool *is_paired)
{
    struct tg_flow_work *work = m->work;
    *is_paired = false;
    uint64_t most = MOST_LOOKS + LOOKS_PER_ROW * ((uint64_t)m->a.n_rows + m->b.n_rows);
    if (work->looks[level] >= most || (work->looks[level] > 0 && work->seen[level] == m->matched))
        return true;
    bool good = pair_all(m, level, is_paired);
    work->seen[level] = m->matched;
    return good;
}

/* --- the order of things ------------------------------------------------------------------------ */

static bool run_levels(struct tg_matching *m, unsigned count)
{
    for (unsigned level = 0; level < count;) {
        bool is_paired, good = levels[level].turn == ANY ? do_round(m, level, &is_paired)
                                                         : go_on(m, level, &is_paired);
        if (!good)
            return false;
        level = is_paired ? 0 : level + 1;
    }
    return true;
}

/* Enough ids in common mean that ids are the same order on both sides. */
static bool find_homes(struct tg_matching *m)
{
    struct tg_flow_work *work = m->work;
    const struct tg_side *a = &m->a, *b = &m->b;
    uint32_t common = 0, fewer = a->n_rows < b->n_rows ? a->n_rows : b->n_rows;
    work->home[0] = malloc(((size_t)a->n_rows + 1) * sizeof *work->home[0]);
    work->home[1] = malloc(((size_t)b->n_rows + 1) * sizeof *work->home[1]);
    if (!work->home[0] || !work->home[1])
        return false;
    for (uint32_t i = 0; i < b->n_rows; i++)
        work->home[1][i] = TG_NO_ROW;
    for (uint32_t i = 0; i < a->n_rows; i++) {
        work->home[0][i] = tg_tasks_find(b->tasks, a->tasks->row[i].id);
        common += work->home[0][i] != TG_NO_ROW;
    }
    for (uint32_t i = 0; i < a->n_rows; i++) {
        if (common < fewer / 2)
            work->home[0][i] = i >= a->first && i - a->first < b->n_rows - b->first
                                   ? i - a->first + b->first
                                   : TG_NO_ROW;
        if (work->home[0][i] != TG_NO_ROW)
            work->home[1][work->home[0][i]] = i;
    }
    return true;
}

static bool enter_all(struct tg_matching *m, bool is_b)
{
    const struct tg_side *side = side_of(m, is_b);
    uint32_t *left = m->work->left[is_b] = malloc(((size_t)side->n_rows + 1) * sizeof *left);
    bool good = left != NULL;
    for (uint32_t i = side->first; good && i < side->n_rows; i++) {
        left[m->work->n_left[is_b]++] = i;
        if (side->waits_before[i] == 0)
            good = enter(m, FORWARD, i, is_b);
        if (good && side->waits_after[i] == 0)
            good = enter(m, BACKWARD, i, is_b);
    }
    return good;
}

bool tg_match_by_flow(struct tg_matching *matching)
{
    struct tg_flow_work work = {0};
    matching->work = &work;
    bool good = find_homes(matching) && enter_all(matching, false) && enter_all(matching, true) &&
                run_levels(matching, LEVELS - LAST_LEVELS);
    matching->by_flow = matching->matched;
    /* A pair of what is left over may make its neighbours sure. */
    good = good && tg_match_left_over(matching) && run_levels(matching, LEVELS);
    for (int turn = 0; turn < TURNS; turn++)
        free(work.list[turn].item);
    free(work.waiting.chain);
    free(work.waiting.wait);
    for (int side = 0; side < 2; side++) {
        free(work.left[side]);
        free(work.home[side]);
    }
    matching->work = NULL;
    return good;
}
