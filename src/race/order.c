/* SPDX-License-Identifier: Apache-2.0 */
#include "race/order.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* --- nodes and edges -------------------------------------------------------------------------- */

/* Edges grouped by the node they end at, by numbers that need not lead upwards yet: tasks by position, gates
 * behind them, and hubs at the end. */
struct links {
    uint32_t n_nodes;
    uint64_t *first;
    uint32_t *before;
};

static int by_after(const void *a, const void *b)
{
    const struct tg_race_edge *x = a, *y = b;
    if (x->after != y->after)
        return x->after < y->after ? -1 : 1;
    return (x->before > y->before) - (x->before < y->before);
}

static bool is_sorted(const struct tg_race_edge *edge, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++)
        if (edge[i].after < edge[i - 1].after)
            return false;
    return true;
}

static uint32_t count_hubs(const struct tg_race_edge *seen, uint64_t n_seen)
{
    uint32_t hubs = 0;
    for (uint64_t i = 0; i < n_seen; i++)
        hubs += i == 0 || seen[i].after != seen[i - 1].after;
    return hubs;
}

/* Calls `take` for each edge: the given ones, those into hubs and gates, those between hubs and gates by time,
 * one from the last of them before a task to the task, and those from gates to tasks that were held back. */
struct walk {
    uint32_t n_tasks;
    const struct tg_race_edge *edge, *seen;
    uint64_t n_edges, n_seen;
    const struct tg_race_gates *gates;
};
typedef void (*edge_fn)(void *context, uint32_t before, uint32_t after);

static void walk_given(const struct walk *walk, edge_fn take, void *context)
{
    for (uint64_t i = 0; i < walk->n_edges; i++)
        take(context, walk->edge[i].before, walk->edge[i].after);
    for (uint64_t i = 0; i < walk->gates->n_edges; i++) {
        const struct tg_race_gate_edge *edge = &walk->gates->edge[i];
        uint32_t gate = walk->n_tasks + edge->gate;
        take(context, edge->opens ? gate : edge->task, edge->opens ? edge->task : gate);
    }
}

static void walk_edges(const struct walk *walk, edge_fn take, void *context)
{
    uint32_t last = NONE, gate = 0, hub = walk->n_tasks + walk->gates->count;
    uint64_t at = 0;
    walk_given(walk, take, context);
    if (walk->n_seen == 0 && walk->gates->count == 0)
        return;
    for (uint32_t task = 0; task <= walk->n_tasks; task++) {
        for (;
             gate < walk->gates->count && (walk->gates->at[gate] <= task || task == walk->n_tasks);
             gate++) {
            if (last != NONE)
                take(context, last, walk->n_tasks + gate);
            last = walk->n_tasks + gate;
        }
        if (at < walk->n_seen && walk->seen[at].after == task) {
            if (last != NONE)
                take(context, last, hub);
            last = hub++;
            for (; at < walk->n_seen && walk->seen[at].after == task; at++)
                take(context, walk->seen[at].before, last);
        }
        if (last != NONE && task < walk->n_tasks)
            take(context, last, task);
    }
}

static void count_edge(void *context, uint32_t before, uint32_t after)
{
    struct links *links = context;
    (void)before;
    links->first[after + 1]++;
}

static void put_edge(void *context, uint32_t before, uint32_t after)
{
    struct links *links = context;
    links->before[links->first[after]++] = before;
}

static bool make_links(const struct walk *walk, uint32_t n_nodes, struct links *links)
{
    *links = (struct links){.n_nodes = n_nodes};
    links->first = calloc((size_t)n_nodes + 2, sizeof *links->first);
    if (!links->first)
        return false;
    walk_edges(walk, count_edge, links);
    for (uint32_t i = 0; i < n_nodes; i++)
        links->first[i + 1] += links->first[i];
    links->before = calloc((size_t)links->first[n_nodes] + 1, sizeof *links->before);
    if (!links->before)
        return false;
    walk_edges(walk, put_edge, links); /* moves each first[i] to where i + 1 begins */
    memmove(links->first + 1, links->first, (size_t)n_nodes * sizeof *links->first);
    links->first[0] = 0;
    return true;
}

static void free_links(struct links *links)
{
    free(links->first);
    free(links->before);
}

/* --- numbers that lead upwards ---------------------------------------------------------------- */

/* Sets `number` of each node. If every edge leads to a later task, tasks keep their order, and a hub comes
 * right before its task. */
static bool number_straight(const struct walk *walk, uint32_t *number)
{
    uint32_t next = 0, gate = 0, hub = walk->n_tasks + walk->gates->count;
    uint64_t at = 0;
    if (walk->gates->n_open > 0)
        return false;
    for (uint64_t i = 0; i < walk->n_edges; i++)
        if (walk->edge[i].before >= walk->edge[i].after)
            return false;
    for (uint32_t task = 0; task < walk->n_tasks; task++) {
        for (; gate < walk->gates->count && walk->gates->at[gate] <= task; gate++)
            number[walk->n_tasks + gate] = next++;
        if (at < walk->n_seen && walk->seen[at].after == task) {
            number[hub++] = next++;
            while (at < walk->n_seen && walk->seen[at].after == task)
                at++;
        }
        number[task] = next++;
    }
    for (; gate < walk->gates->count; gate++)
        number[walk->n_tasks + gate] = next++;
    return true;
}

struct sorting {
    uint32_t *waits; /* of each node: nodes before it that have no number yet */
    uint64_t *first; /* the edges again, grouped by the node they begin at */
    uint32_t *behind;
    uint32_t *ready;
};

static void turn(const struct links *links, struct sorting *sorting)
{
    for (uint32_t i = 0; i < links->n_nodes; i++) {
        sorting->waits[i] = (uint32_t)(links->first[i + 1] - links->first[i]);
        for (uint64_t k = links->first[i]; k < links->first[i + 1]; k++)
            sorting->first[links->before[k] + 1]++;
    }
    for (uint32_t i = 0; i < links->n_nodes; i++)
        sorting->first[i + 1] += sorting->first[i];
    for (uint32_t i = 0; i < links->n_nodes; i++)
        for (uint64_t k = links->first[i]; k < links->first[i + 1]; k++)
            sorting->behind[sorting->first[links->before[k]]++] = i;
    memmove(sorting->first + 1, sorting->first, (size_t)links->n_nodes * sizeof *sorting->first);
    sorting->first[0] = 0;
}

static enum tg_race_made number_sorted(const struct links *links, struct sorting *sorting,
                                       uint32_t *number)
{
    uint32_t end = 0;
    turn(links, sorting);
    for (uint32_t i = 0; i < links->n_nodes; i++)
        if (sorting->waits[i] == 0)
            sorting->ready[end++] = i;
    for (uint32_t next = 0; next < end; next++) {
        uint32_t node = sorting->ready[next];
        number[node] = next;
        for (uint64_t k = sorting->first[node]; k < sorting->first[node + 1]; k++)
            if (--sorting->waits[sorting->behind[k]] == 0)
                sorting->ready[end++] = sorting->behind[k];
    }
    return end == links->n_nodes ? TG_RACE_MADE : TG_RACE_CYCLE;
}

static enum tg_race_made number_any(const struct links *links, uint32_t *number)
{
    const size_t nodes = links->n_nodes;
    struct sorting sorting = {.waits = calloc(nodes + 1, sizeof *sorting.waits),
                              .first = calloc(nodes + 2, sizeof *sorting.first),
                              .behind =
                                  calloc((size_t)links->first[nodes] + 1, sizeof *sorting.behind),
                              .ready = calloc(nodes + 1, sizeof *sorting.ready)};
    enum tg_race_made made = TG_RACE_NO_MEMORY;
    if (sorting.waits && sorting.first && sorting.behind && sorting.ready)
        made = number_sorted(links, &sorting, number);
    free(sorting.waits);
    free(sorting.first);
    free(sorting.behind);
    free(sorting.ready);
    return made;
}

/* The same edges by the new numbers. */
static void renumber(struct tg_race_order *order, const struct links *links, const uint32_t *number)
{
    for (uint32_t i = 0; i < order->n_nodes; i++)
        order->first[number[i] + 1] = links->first[i + 1] - links->first[i];
    for (uint32_t i = 0; i < order->n_nodes; i++)
        order->first[i + 1] += order->first[i];
    for (uint32_t i = 0; i < order->n_nodes; i++) {
        uint64_t to = order->first[number[i]];
        for (uint64_t k = links->first[i]; k < links->first[i + 1]; k++)
            order->before[to++] = number[links->before[k]];
        order->task[number[i]] = i < order->n_tasks ? i : NONE;
        if (i < order->n_tasks)
            order->node[i] = number[i];
    }
}

/* Groups the edges by the node they begin at. */
static void turn_edges(struct tg_race_order *order)
{
    const uint32_t nodes = order->n_nodes;
    for (uint64_t k = 0; k < order->first[nodes]; k++)
        order->next[order->before[k] + 1]++;
    for (uint32_t i = 0; i < nodes; i++)
        order->next[i + 1] += order->next[i];
    for (uint32_t i = 0; i < nodes; i++)
        for (uint64_t k = order->first[i]; k < order->first[i + 1]; k++)
            order->behind[order->next[order->before[k]]++] = i;
    memmove(order->next + 1, order->next, (size_t)nodes * sizeof *order->next);
    order->next[0] = 0;
}

/* --- labels ----------------------------------------------------------------------------------- */

static void set_depths(struct tg_race_order *order)
{
    for (uint32_t i = 0; i < order->n_nodes; i++) {
        uint32_t depth = 0;
        for (uint64_t k = order->first[i]; k < order->first[i + 1]; k++) {
            uint32_t below = order->label[order->before[k]].depth + 1;
            depth = below > depth ? below : depth;
        }
        order->label[i].depth = depth;
    }
}

/* Goes from the last node backwards. `at` is the edge that each node on the stack is at. */
static void number_intervals(struct tg_race_order *order, uint64_t *at)
{
    uint32_t pre = 0, post = 0, *stack = order->stack;
    struct tg_race_label *label = order->label;
    for (uint32_t root = order->n_nodes; root-- > 0;) {
        uint32_t top = 0;
        if (order->mark[root])
            continue;
        order->mark[root] = 1;
        label[root].pre = pre++;
        label[root].low = UINT32_MAX;
        stack[top++] = root;
        while (top > 0) {
            uint32_t node = stack[top - 1];
            if (at[node] < order->first[node + 1]) {
                uint32_t next = order->before[at[node]++];
                if (order->mark[next]) { /* done: there are no cycles */
                    if (label[next].low < label[node].low)
                        label[node].low = label[next].low;
                    continue;
                }
                order->mark[next] = 1;
                label[next].pre = pre++;
                label[next].low = UINT32_MAX;
                stack[top++] = next;
                continue;
            }
            top--;
            label[node].post = post++;
            if (label[node].low > label[node].post)
                label[node].low = label[node].post;
            if (top > 0 && label[node].low < label[stack[top - 1]].low)
                label[stack[top - 1]].low = label[node].low;
        }
    }
    memset(order->mark, 0, (size_t)order->n_nodes * sizeof *order->mark);
}

static void set_landmarks(struct tg_race_order *order)
{
    const uint32_t marks = 64 * TG_RACE_LANDMARKS;
    struct tg_race_label *label = order->label;
    for (uint32_t i = 0; i < marks && i < order->n_nodes; i++) {
        struct tg_race_label *is = &label[(uint64_t)order->n_nodes * i / marks];
        is->from[i / 64] |= UINT64_C(1) << i % 64;
        is->to[i / 64] |= UINT64_C(1) << i % 64;
    }
    for (uint32_t i = 0; i < order->n_nodes; i++)
        for (uint64_t k = order->first[i]; k < order->first[i + 1]; k++)
            for (int word = 0; word < TG_RACE_LANDMARKS; word++)
                label[i].from[word] |= label[order->before[k]].from[word];
    for (uint32_t i = order->n_nodes; i-- > 0;)
        for (uint64_t k = order->first[i]; k < order->first[i + 1]; k++)
            for (int word = 0; word < TG_RACE_LANDMARKS; word++)
                label[order->before[k]].to[word] |= label[i].to[word];
}

static bool set_labels(struct tg_race_order *order)
{
    uint64_t *at = calloc((size_t)order->n_nodes + 1, sizeof *at);
    if (!at)
        return false;
    memcpy(at, order->first, (size_t)order->n_nodes * sizeof *at);
    set_depths(order);
    number_intervals(order, at);
    set_landmarks(order);
    free(at);
    return true;
}

/* --- making ----------------------------------------------------------------------------------- */

static bool make_room(struct tg_race_order *order, uint64_t n_edges)
{
    const size_t nodes = order->n_nodes;
    order->node = calloc((size_t)order->n_tasks + 1, sizeof *order->node);
    order->task = calloc(nodes + 1, sizeof *order->task);
    order->first = calloc(nodes + 2, sizeof *order->first);
    order->before = calloc((size_t)n_edges + 1, sizeof *order->before);
    order->next = calloc(nodes + 2, sizeof *order->next);
    order->behind = calloc((size_t)n_edges + 1, sizeof *order->behind);
    order->label = calloc(nodes + 1, sizeof *order->label);
    order->mark = calloc(nodes + 1, sizeof *order->mark);
    order->stack = calloc(nodes + 1, sizeof *order->stack);
    order->queue = calloc(nodes + 1, sizeof *order->queue);
    return order->node && order->task && order->first && order->before && order->next &&
           order->behind && order->label && order->mark && order->stack && order->queue;
}

static enum tg_race_made make(const struct walk *walk, const struct links *links, uint32_t *number,
                              struct tg_race_order *order)
{
    enum tg_race_made made = TG_RACE_MADE;
    order->is_straight = number_straight(walk, number);
    if (!order->is_straight)
        made = number_any(links, number);
    if (made != TG_RACE_MADE)
        return made;
    if (!make_room(order, links->first[links->n_nodes]))
        return TG_RACE_NO_MEMORY;
    renumber(order, links, number);
    turn_edges(order);
    return set_labels(order) ? TG_RACE_MADE : TG_RACE_NO_MEMORY;
}

enum tg_race_made tg_race_order_make(uint32_t n_tasks, const struct tg_race_edge *edge,
                                     uint64_t n_edges, struct tg_race_edge *seen, uint64_t n_seen,
                                     const struct tg_race_gates *gates, struct tg_race_order *order)
{
    const struct walk walk = {n_tasks, edge, seen, n_edges, n_seen, gates};
    struct links links;
    *order = (struct tg_race_order){.n_tasks = n_tasks};
    if (!is_sorted(seen, n_seen))
        qsort(seen, (size_t)n_seen, sizeof *seen, by_after);
    order->n_nodes = n_tasks + gates->count + count_hubs(seen, n_seen);
    uint32_t *number = calloc((size_t)order->n_nodes + 1, sizeof *number);
    enum tg_race_made made = TG_RACE_NO_MEMORY;
    if (make_links(&walk, order->n_nodes, &links) && number)
        made = make(&walk, &links, number, order);
    free_links(&links);
    free(number);
    return made;
}

void tg_race_order_free(struct tg_race_order *order)
{
    free(order->node);
    free(order->task);
    free(order->first);
    free(order->before);
    free(order->next);
    free(order->behind);
    free(order->label);
    free(order->mark);
    free(order->stack);
    free(order->queue);
    *order = (struct tg_race_order){0};
}

/* --- asking ----------------------------------------------------------------------------------- */

enum says { NO, YES, OPEN };

static enum says ask_labels(const struct tg_race_label *before, const struct tg_race_label *after)
{
    if (before->depth >= after->depth || before->post > after->post || before->low < after->low)
        return NO;
    if (after->pre <= before->pre)
        return YES;
    uint64_t between = 0, not_before = 0, not_behind = 0;
    for (int i = 0; i < TG_RACE_LANDMARKS; i++) {
        between |= before->to[i] & after->from[i];
        not_before |= before->from[i] & ~after->from[i];
        not_behind |= after->to[i] & ~before->to[i];
    }
    if (between)
        return YES;
    return not_before || not_behind ? NO : OPEN;
}

/* Two new numbers for marks, of which it returns the second; starts over when all are used up. */
static uint32_t begin_search(struct tg_race_order *order)
{
    if (order->search > UINT32_MAX - 2) {
        memset(order->mark, 0, (size_t)order->n_nodes * sizeof *order->mark);
        order->search = 0;
    }
    return order->search += 2;
}

/* One end of a search. Nodes of one search have two marks: `search` from the later node, and `search` - 1 from
 * the earlier one. */
struct search {
    uint32_t before, after, mark;
};

/* Looks at the nodes before a node: true if one of them is behind `before`. */
static bool go_back(struct tg_race_order *order, const struct search *search, uint32_t node,
                    uint32_t *top)
{
    for (uint64_t k = order->first[node]; k < order->first[node + 1]; k++) {
        uint32_t next = order->before[k];
        order->work++;
        if (next == search->before || order->mark[next] == search->mark - 1)
            return true;
        if (next < search->before || order->mark[next] == search->mark)
            continue;
        order->mark[next] = search->mark;
        enum says says = ask_labels(&order->label[search->before], &order->label[next]);
        if (says == YES)
            return true;
        if (says == OPEN)
            order->stack[(*top)++] = next;
    }
    return false;
}

/* Looks at the nodes behind a node: true if one of them is before `after`. */
static bool go_on(struct tg_race_order *order, const struct search *search, uint32_t node,
                  uint32_t *end)
{
    for (uint64_t k = order->next[node]; k < order->next[node + 1]; k++) {
        uint32_t next = order->behind[k];
        order->work++;
        if (next == search->after || order->mark[next] == search->mark)
            return true;
        if (next > search->after || order->mark[next] == search->mark - 1)
            continue;
        order->mark[next] = search->mark - 1;
        enum says says = ask_labels(&order->label[next], &order->label[search->after]);
        if (says == YES)
            return true;
        if (says == OPEN)
            order->queue[(*end)++] = next;
    }
    return false;
}

bool tg_race_order_is_before(struct tg_race_order *order, uint32_t before, uint32_t after)
{
    uint32_t top = 0, head = 0, end = 0;
    order->work++;
    if (before >= after)
        return false;
    enum says says = ask_labels(&order->label[before], &order->label[after]);
    if (says != OPEN)
        return says == YES;
    const struct search search = {before, after, begin_search(order)};
    order->stack[top++] = after;
    order->queue[end++] = before;
    while (top > 0 && head < end)
        if (go_back(order, &search, order->stack[--top], &top) ||
            go_on(order, &search, order->queue[head++], &end))
            return true;
    return false; /* all that is before the one, or behind the other, has been seen */
}

bool tg_race_order_list(struct tg_race_order *order, uint32_t node, uint32_t most,
                        const uint32_t **list, uint32_t *count)
{
    uint32_t search = begin_search(order), next = 0, end = 0;
    *list = order->stack;
    for (;;) {
        for (uint64_t k = order->first[node]; k < order->first[node + 1]; k++) {
            uint32_t before = order->before[k];
            order->work++;
            if (order->mark[before] == search)
                continue;
            if (end == most)
                return false;
            order->mark[before] = search;
            order->stack[end++] = before;
        }
        if (next == end)
            break;
        node = order->stack[next++];
    }
    *count = end;
    return true;
}
