/* SPDX-License-Identifier: Apache-2.0 */
/* A deps.json of any bytes: all edges must lead to tasks, and there must be an order whatever the
 * edges are. */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

#include "analysis/deps.h"
#include "analysis/deps_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_task(const struct tg_deps *deps, const struct tg_deps_task *task)
{
    HOLDS(task->id != TG_TASK_NONE && task->scope);
    HOLDS(task->first_edge + task->n_edges <= deps->n_edges);
    for (uint64_t k = 0; k < task->n_edges; k++)
        HOLDS(deps->before[task->first_edge + k] < deps->n_tasks);
    for (int part = 0; part < TG_PARTS; part++)
        HOLDS(!task->kernel[part] || strlen(task->kernel[part]) <= TG_NAME_MAX);
}

/* Checks that the order is a permutation, and that only cycles violate an edge. */
static void check_order(const struct tg_deps *deps)
{
    struct tg_link *link = malloc((size_t)(deps->n_edges + 1) * sizeof *link);
    uint32_t *rank = malloc(((size_t)deps->n_tasks + 1) * sizeof *rank);
    uint32_t *depth = malloc(((size_t)deps->n_tasks + 1) * sizeof *depth);
    unsigned char *is_taken = calloc((size_t)deps->n_tasks + 1, 1);
    struct tg_links links;
    uint64_t count = 0;
    for (uint32_t i = 0; i < deps->n_tasks; i++)
        for (uint64_t k = 0; k < deps->task[i].n_edges; k++)
            link[count++] = (struct tg_link){deps->before[deps->task[i].first_edge + k], i};
    HOLDS(count == deps->n_edges && tg_links_make(deps->n_tasks, link, count, &links));
    HOLDS(tg_links_rank(&links, rank, depth));
    for (uint32_t i = 0; i < deps->n_tasks; i++) {
        HOLDS(rank[i] < deps->n_tasks && !is_taken[rank[i]] && depth[i] < deps->n_tasks);
        is_taken[rank[i]] = 1;
    }
    tg_links_free(&links);
    free(link);
    free(rank);
    free(depth);
    free(is_taken);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tg_error error = {0};
    struct tg_deps *deps;
    if (tg_deps_parse((const char *)data, size, "deps.json", &deps, &error) != TG_OK) {
        HOLDS(!deps && error.text[0]);
        return 0;
    }
    for (uint32_t i = 0; i < deps->n_tasks; i++)
        check_task(deps, &deps->task[i]);
    check_order(deps);
    tg_deps_free(deps);
    return 0;
}
