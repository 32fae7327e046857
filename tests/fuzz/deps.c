/* SPDX-License-Identifier: Apache-2.0 */
/* A deps.json of any bytes: all edges must lead to tasks, and there must be an order whatever the
 * edges are. */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

#include "analysis/deps.h"
#include "analysis/deps_graph.h"
#include "analysis/deps_space.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_task(const struct tg_deps *deps, const struct tg_deps_task *task)
{
    HOLDS(task->id != TG_TASK_NONE && task->scope && task->line);
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

/* Checks that only earlier tasks were seen, and that an address belongs to an allocation that has it. */
static void check_facts(const struct tg_deps *deps)
{
    struct tg_deps_spaces spaces;
    uint64_t first = 0;
    for (uint32_t i = 0; i < deps->n_seen; i++) {
        HOLDS(deps->seen[i].at < deps->n_tasks &&
              (i == 0 || deps->seen[i - 1].at < deps->seen[i].at));
        HOLDS(first <= deps->seen[i].n_tasks && deps->seen[i].n_tasks <= deps->n_seen_tasks);
        for (; first < deps->seen[i].n_tasks; first++)
            HOLDS(deps->seen_task[first] < deps->seen[i].at);
    }
    HOLDS(tg_deps_spaces_open(deps, &spaces));
    for (size_t i = 0; i < deps->n_allocations; i++) {
        const struct tg_deps_allocation *given = &deps->allocation[i];
        uint32_t task = given->given > UINT32_MAX ? UINT32_MAX : (uint32_t)given->given;
        uint64_t space = tg_deps_space_of(&spaces, given->address, task);
        HOLDS(space <= deps->n_allocations && (given->given > task || space > i));
    }
    tg_deps_spaces_close(&spaces);
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
    check_facts(deps);
    tg_deps_free(deps);
    return 0;
}
