/* SPDX-License-Identifier: Apache-2.0 */
/* Which task comes before which: edges by the task they end at, and orders that follow from them. */
#ifndef TG_ANALYSIS_DEPS_GRAPH_H
#define TG_ANALYSIS_DEPS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One task waited for, or got data from, another. */
struct tg_link {
    uint32_t before, after;
};

/* The tasks before task i are before[first[i] .. first[i + 1]). */
struct tg_links {
    uint32_t n_tasks;
    uint64_t *first;
    uint32_t *before;
};

/* Links that name a task beyond n_tasks, or a task before itself, are left out. False where memory
 * ran out. */
bool tg_links_make(uint32_t n_tasks, const struct tg_link *link, uint64_t count,
                   struct tg_links *links);
/* The same edges by the task they begin at. */
bool tg_links_turn(const struct tg_links *links, struct tg_links *turned);
void tg_links_free(struct tg_links *links);

/* rank: an order in which nothing comes before what it waits for; among those that may come, the one
 * with the smaller number. What lies in a circle comes last, by number. depth: how many tasks come
 * before it on the longest path; may be NULL. False where memory ran out. */
bool tg_links_rank(const struct tg_links *links, uint32_t *rank, uint32_t *depth);

#endif
