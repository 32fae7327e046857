/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/cuda/process/call_paths.h"
#include <stdlib.h>
#include <string.h>

/* How many rounds of a recursion to allow for. The device program has one recursion (do two regions
 * overlap?), which fixes one of at most 14 dimensions per round. The depth of a workload's
 * recursion is unknown: allow for as many rounds as scopes can nest, but for at most ROUNDS_BYTES,
 * because every thread of the GPU gets this stack, and for at least LEAST_ROUNDS. */
enum { OUR_ROUNDS = 16, ROUNDS = 65, ROUNDS_BYTES = 32768, LEAST_ROUNDS = 2 };

bool tg_calls_init(struct tg_calls *calls, uint32_t n_functions, const struct tg_call *call,
                   uint32_t n_calls)
{
    *calls = (struct tg_calls){.n_functions = n_functions};
    calls->first = calloc((size_t)n_functions + 2, sizeof *calls->first);
    calls->to = calloc((size_t)n_calls + 1, sizeof *calls->to);
    if (calls->first == NULL || calls->to == NULL) {
        tg_calls_destroy(calls);
        return false;
    }
    /* A counting sort: counts go two places further, so that first[f + 1] is the next free place of
     * f while `to` fills, and first[f] is its start in the end. */
    for (uint32_t i = 0; i < n_calls; i++)
        calls->first[call[i].from + 2]++;
    for (uint32_t f = 0; f < n_functions; f++)
        calls->first[f + 1] += calls->first[f];
    for (uint32_t i = 0; i < n_calls; i++)
        calls->to[calls->first[call[i].from + 1]++] = call[i].to;
    return true;
}

void tg_calls_destroy(struct tg_calls *calls)
{
    free(calls->first);
    free(calls->to);
    *calls = (struct tg_calls){0};
}

bool tg_calls_spread(const struct tg_calls *calls, uint8_t *marks, uint8_t mark)
{
    uint32_t *todo = calloc((size_t)calls->n_functions + 1, sizeof *todo), n = 0;
    if (todo == NULL)
        return false;
    for (uint32_t f = 0; f < calls->n_functions; f++)
        if (marks[f] & mark)
            todo[n++] = f;
    while (n > 0) {
        uint32_t f = todo[--n];
        for (uint32_t i = calls->first[f]; i < calls->first[f + 1]; i++)
            if (!(marks[calls->to[i]] & mark)) {
                marks[calls->to[i]] |= mark;
                todo[n++] = calls->to[i];
            }
    }
    free(todo);
    return true;
}

/* ── the longest path ──────────────────────────────────────────────────────────────────── */

/* Tarjan's algorithm: a cycle is closed after everything that it calls. */
struct walk {
    const struct tg_calls *calls;
    const uint32_t *bytes;
    const uint8_t *marks;
    uint32_t *order; /* in which functions are visited; 0: not yet */
    uint32_t *low;   /* the earliest function in that order that it leads back to */
    uint32_t *next;  /* the next call to follow */
    uint32_t *way;   /* the path from the root to here */
    uint32_t *open;  /* visited but not closed */
    uint64_t *depth; /* bytes of the longest path down, once closed; OPEN before */
    uint32_t n_order, n_way, n_open;
};

#define OPEN UINT64_MAX

static void enter(struct walk *w, uint32_t f)
{
    w->order[f] = w->low[f] = ++w->n_order;
    w->next[f] = w->calls->first[f];
    w->depth[f] = OPEN;
    w->way[w->n_way++] = f;
    w->open[w->n_open++] = f;
}

static uint64_t rounds(uint64_t bytes, bool ours)
{
    uint64_t n = bytes > 0 ? ROUNDS_BYTES / bytes : ROUNDS;
    if (ours)
        return OUR_ROUNDS;
    return n > ROUNDS ? ROUNDS : n < LEAST_ROUNDS ? LEAST_ROUNDS : n;
}

/* `f` and the functions opened after it form a cycle, or `f` stands alone. All other functions that
 * they call are closed already. */
static void close_circle(struct walk *w, uint32_t f)
{
    uint32_t first = w->n_open - 1;
    uint64_t bytes = 0, below = 0;
    bool circle = false, ours = true;
    while (w->open[first] != f)
        first--;
    for (uint32_t i = first; i < w->n_open; i++) {
        uint32_t member = w->open[i];
        bytes += w->bytes[member];
        ours = ours && w->marks[member] & TG_CALLED_OURS;
        for (uint32_t k = w->calls->first[member]; k < w->calls->first[member + 1]; k++) {
            uint32_t to = w->calls->to[k];
            if (w->marks[to] & TG_CALLED_GONE)
                continue;
            circle = circle || w->depth[to] == OPEN;
            if (w->depth[to] != OPEN && w->depth[to] > below)
                below = w->depth[to];
        }
    }
    bytes *= circle ? rounds(bytes, ours) : 1;
    for (uint32_t i = first; i < w->n_open; i++)
        w->depth[w->open[i]] = bytes + below;
    w->n_open = first;
}

static void step(struct walk *w)
{
    uint32_t f = w->way[w->n_way - 1];
    if (w->next[f] < w->calls->first[f + 1]) {
        uint32_t to = w->calls->to[w->next[f]++];
        if (w->marks[to] & TG_CALLED_GONE)
            return;
        if (w->order[to] == 0)
            enter(w, to);
        else if (w->depth[to] == OPEN && w->order[to] < w->low[f])
            w->low[f] = w->order[to];
        return;
    }
    w->n_way--;
    if (w->low[f] == w->order[f])
        close_circle(w, f);
    else if (w->low[f] < w->low[w->way[w->n_way - 1]])
        w->low[w->way[w->n_way - 1]] = w->low[f];
}

bool tg_calls_deepest(const struct tg_calls *calls, const uint32_t *bytes, const uint8_t *marks,
                      uint32_t root, uint64_t *deepest)
{
    struct walk w = {.calls = calls, .bytes = bytes, .marks = marks};
    size_t n = (size_t)calls->n_functions + 1;
    uint32_t *numbers = calloc(5 * n, sizeof *numbers);
    bool fits;
    w.depth = calloc(n, sizeof *w.depth);
    fits = numbers != NULL && w.depth != NULL;
    if (fits) {
        w.order = numbers;
        w.low = numbers + n;
        w.next = numbers + 2 * n;
        w.way = numbers + 3 * n;
        w.open = numbers + 4 * n;
        enter(&w, root);
        while (w.n_way > 0)
            step(&w);
        *deepest = w.depth[root];
    }
    free(w.depth);
    free(numbers);
    return fits;
}
