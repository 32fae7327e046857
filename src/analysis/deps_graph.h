/* SPDX-License-Identifier: Apache-2.0 */
/* The order of tasks: edges grouped by the task they end at, and ranks that follow from them. */
#ifndef TG_ANALYSIS_DEPS_GRAPH_H
#define TG_ANALYSIS_DEPS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A task waited for another task, or got data from it. */
struct tg_link {
    uint32_t before, after;
};

/* The tasks before task i are before[first[i] .. first[i + 1]). */
struct tg_links {
    uint32_t n_tasks;
    uint64_t *first;
    uint32_t *before;
};

/* Leaves out links that name a task beyond n_tasks, and links from a task to itself. Returns false
 * if memory ran out. */
bool tg_links_make(uint32_t n_tasks, const struct tg_link *link, uint64_t count,
                   struct tg_links *links);
/* The same edges, grouped by the task they begin at. */
bool tg_links_turn(const struct tg_links *links, struct tg_links *turned);
void tg_links_free(struct tg_links *links);

/* Sets `rank` to an order in which each task comes after the tasks it waits for; among tasks that
 * are ready, the smaller number comes first. Tasks in a cycle come last, by number. Sets `depth`,
 * unless it is NULL, to the number of tasks before each task on its longest path. Returns false if
 * memory ran out. */
bool tg_links_rank(const struct tg_links *links, uint32_t *rank, uint32_t *depth);

#endif
