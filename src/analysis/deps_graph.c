/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/deps_graph.h"

#include <stdlib.h>
#include <string.h>

static bool is_sound(const struct tg_link *link, uint32_t n_tasks)
{
    return link->before < n_tasks && link->after < n_tasks && link->before != link->after;
}

/* A counting sort, since there may be millions of edges, in any order. */
bool tg_links_make(uint32_t n_tasks, const struct tg_link *link, uint64_t count,
                   struct tg_links *links)
{
    *links = (struct tg_links){.n_tasks = n_tasks,
                               .first = calloc((size_t)n_tasks + 2, sizeof *links->first),
                               .before = calloc((size_t)count + 1, sizeof *links->before)};
    if (!links->first || !links->before) {
        tg_links_free(links);
        return false;
    }
    /* Where the next edge of each task goes; after the loop, where its edges end. */
    uint64_t *next = links->first + 1;
    for (uint64_t i = 0; i < count; i++)
        if (is_sound(&link[i], n_tasks))
            next[link[i].after + 1]++;
    for (uint32_t i = 1; i <= n_tasks; i++)
        next[i] += next[i - 1];
    for (uint64_t i = 0; i < count; i++)
        if (is_sound(&link[i], n_tasks))
            links->before[next[link[i].after]++] = link[i].before;
    return true;
}

bool tg_links_turn(const struct tg_links *links, struct tg_links *turned)
{
    uint64_t count = links->first[links->n_tasks], at = 0;
    struct tg_link *link = calloc((size_t)count + 1, sizeof *link);
    if (!link)
        return false;
    for (uint32_t i = 0; i < links->n_tasks; i++)
        for (uint64_t k = links->first[i]; k < links->first[i + 1]; k++)
            link[at++] = (struct tg_link){.before = i, .after = links->before[k]};
    bool good = tg_links_make(links->n_tasks, link, count, turned);
    free(link);
    return good;
}

void tg_links_free(struct tg_links *links)
{
    free(links->first);
    free(links->before);
    *links = (struct tg_links){0};
}

/* --- an order --------------------------------------------------------------------------------- */

/* A heap of task numbers, the smallest on top. */
struct heap {
    uint32_t *item;
    uint32_t count;
};

static void heap_push(struct heap *heap, uint32_t item)
{
    uint32_t at = heap->count++;
    for (; at > 0 && heap->item[(at - 1) / 2] > item; at = (at - 1) / 2)
        heap->item[at] = heap->item[(at - 1) / 2];
    heap->item[at] = item;
}

static uint32_t heap_pop(struct heap *heap)
{
    uint32_t top = heap->item[0], last = heap->item[--heap->count], at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < heap->count && heap->item[child + 1] < heap->item[child])
            child++;
        if (child >= heap->count || heap->item[child] >= last)
            break;
        heap->item[at] = heap->item[child];
        at = child;
    }
    heap->item[at] = last;
    return top;
}

struct ranking {
    struct tg_links after;
    uint64_t *waits; /* predecessors that have no rank yet */
    struct heap heap;
    uint32_t *depth;
    uint32_t next;
};

static void rank_one(struct ranking *ranking, uint32_t task, uint32_t *rank)
{
    const struct tg_links *after = &ranking->after;
    rank[task] = ranking->next++;
    for (uint64_t k = after->first[task]; k < after->first[task + 1]; k++) {
        uint32_t other = after->before[k];
        if (ranking->depth && ranking->depth[other] <= ranking->depth[task])
            ranking->depth[other] = ranking->depth[task] + 1;
        if (--ranking->waits[other] == 0)
            heap_push(&ranking->heap, other);
    }
}

static void rank_all(struct ranking *ranking, const struct tg_links *links, uint32_t *rank)
{
    for (uint32_t i = 0; i < links->n_tasks; i++) {
        rank[i] = UINT32_MAX;
        if (ranking->depth)
            ranking->depth[i] = 0;
        ranking->waits[i] = links->first[i + 1] - links->first[i];
        if (ranking->waits[i] == 0)
            heap_push(&ranking->heap, i);
    }
    while (ranking->heap.count > 0)
        rank_one(ranking, heap_pop(&ranking->heap), rank);
    for (uint32_t i = 0; i < links->n_tasks; i++)
        if (rank[i] == UINT32_MAX)
            rank[i] = ranking->next++;
}

bool tg_links_rank(const struct tg_links *links, uint32_t *rank, uint32_t *depth)
{
    struct ranking ranking = {.depth = depth};
    size_t n = links->n_tasks;
    ranking.waits = malloc((n + 1) * sizeof *ranking.waits);
    ranking.heap.item = malloc((n + 1) * sizeof *ranking.heap.item);
    bool good = ranking.waits && ranking.heap.item && tg_links_turn(links, &ranking.after);
    if (good)
        rank_all(&ranking, links, rank);
    free(ranking.waits);
    free(ranking.heap.item);
    tg_links_free(&ranking.after);
    return good;
}
