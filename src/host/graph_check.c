/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a cycle: removes tasks that wait for nothing until none is left to remove. The tasks that
 * remain are on a cycle or behind one. */
#include "base/error.h"
#include "host/graph.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct search {
    const struct tg_graph *graph;
    uint32_t *waits; /* per task: edges it still waits for */
    uint32_t *first; /* its successors: to[first[t]] … to[first[t + 1] - 1] */
    uint32_t *to;
    uint32_t *ready;
    uint32_t *before; /* per remaining task: a remaining task that it waits for */
};

static bool search_init(struct search *s, const struct tg_graph *g)
{
    s->graph = g;
    s->waits = calloc(g->tasks.count + 1, sizeof *s->waits);
    s->first = calloc(g->tasks.count + 2, sizeof *s->first);
    s->to = calloc(g->n_edges + 1, sizeof *s->to);
    s->ready = calloc(g->tasks.count + 1, sizeof *s->ready);
    s->before = calloc(g->tasks.count + 1, sizeof *s->before);
    return s->waits && s->first && s->to && s->ready && s->before;
}

static void search_destroy(struct search *s)
{
    free(s->waits);
    free(s->first);
    free(s->to);
    free(s->ready);
    free(s->before);
}

/* Groups successors by task with a counting sort; first[t + 1] is the end of t's list while it
 * fills. */
static void group_edges(struct search *s)
{
    const struct tg_graph *g = s->graph;
    uint32_t *end = s->first + 1;
    for (uint64_t t = 0; t + 1 < g->tasks.count; t++)
        end[t + 1] = end[t] + g->tasks.at[t].n_succ;
    for (uint64_t i = 0; i < g->n_edges; i++) {
        s->to[end[g->edge[i].before]++] = g->edge[i].after;
        s->waits[g->edge[i].after]++;
    }
}

/* True if every task can run. Tasks that keep waits > 0 are on a cycle or behind one. */
static bool take_away(struct search *s)
{
    uint64_t n = s->graph->tasks.count, taken = 0, n_ready = 0;
    for (uint64_t t = 0; t < n; t++)
        if (s->waits[t] == 0)
            s->ready[n_ready++] = (uint32_t)t;
    for (; taken < n_ready; taken++) {
        uint32_t t = s->ready[taken];
        for (uint32_t i = s->first[t]; i < s->first[t + 1]; i++)
            if (--s->waits[s->to[i]] == 0)
                s->ready[n_ready++] = s->to[i];
    }
    return taken == n;
}

/* Every remaining task waits for another remaining one, so following `before` ends on a cycle. */
static void find_predecessors(struct search *s)
{
    const struct tg_graph *g = s->graph;
    for (uint64_t i = g->n_edges; i-- > 0;) /* backwards: the edge added first wins */
        if (s->waits[g->edge[i].before] > 0)
            s->before[g->edge[i].after] = g->edge[i].before;
}

static const char *task_kernel(const struct tg_graph *g, uint32_t task)
{
    const struct tg_task_kind *kind = &g->tasks.kind[g->tasks.at[task].kind];
    for (uint32_t part = 0; part < TG_PARTS; part++)
        if (kind->kernel[part] != TG_NO_KERNEL)
            return tg_graph_kernel_name(g, kind->kernel[part]);
    return "";
}

static uint32_t task_on_cycle(struct search *s)
{
    uint32_t task = 0;
    while (s->waits[task] == 0)
        task++;
    memset(s->ready, 0, s->graph->tasks.count * sizeof *s->ready); /* now marks visited tasks */
    while (!s->ready[task]) {
        s->ready[task] = 1;
        task = s->before[task];
    }
    return task;
}

static tg_status name_cycle(struct search *s, struct tg_error *error)
{
    enum { NAMED = 8 };
    uint32_t start, cycle[NAMED], task;
    char text[1024] = ""; /* longer than an error's text, which tg_error_set cuts */
    uint64_t length = 0;
    find_predecessors(s);
    start = task = task_on_cycle(s);
    do {
        if (length < NAMED)
            cycle[length] = task;
        task = s->before[task];
        length++;
    } while (task != start);
    /* The cycle was collected backwards; print it in the direction of the edges. */
    snprintf(text, sizeof text, "%u (%s)", start, task_kernel(s->graph, start));
    for (uint64_t i = length < NAMED ? length : NAMED; i-- > 0;) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, " → %s%u (%s)",
                 length > NAMED && i == NAMED - 1 ? "… → " : "", cycle[i],
                 task_kernel(s->graph, cycle[i]));
    }
    return tg_error_set(error, TG_CYCLE, "the graph has a cycle of %llu tasks: %s",
                        (unsigned long long)length, text);
}

tg_status tg_graph_find_cycle(const struct tg_graph *g, struct tg_error *error)
{
    struct search s;
    tg_status status = TG_OK;
    if (!search_init(&s, g)) {
        status = tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    } else {
        group_edges(&s);
        if (!take_away(&s))
            status = name_cycle(&s, error);
    }
    search_destroy(&s);
    return status;
}
