/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which allocation an address belonged to when a task was submitted. The heaps of a device give the same
 * bytes out again and again; two tasks that used them through different allocations did not share them.
 *
 * Ask in the order of the tasks. Each answer takes a time that grows with the logarithm of the number of
 * allocations.
 */
#ifndef TG_ANALYSIS_DEPS_SPACE_H
#define TG_ANALYSIS_DEPS_SPACE_H

#include "analysis/deps.h"

struct tg_deps_spaces {
    const struct tg_deps *deps;
    uint64_t *bound; /* the bounds of all allocations, sorted */
    size_t n_bounds; /* each once */
    size_t leaves;   /* a power of two: leaf i is the bytes from bound[i] to bound[i + 1] */
    uint64_t
        *newest; /* a tree: the newest allocation (1 + its place) that has a node's whole range */
    size_t n_given; /* the allocations that are in the tree */
};

/* `deps` must outlive it. Returns false if memory ran out. */
bool tg_deps_spaces_open(const struct tg_deps *deps, struct tg_deps_spaces *spaces);
/* 1 + the place of the allocation that the address belonged to when the task was submitted; 0: no heap
 * gave it out. `task` is never less than in the call before. */
uint64_t tg_deps_space_of(struct tg_deps_spaces *spaces, uint64_t address, uint32_t task);
void tg_deps_spaces_close(struct tg_deps_spaces *spaces);

#endif
