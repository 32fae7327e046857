/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "analysis/deps_space.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void collect_bounds(struct tg_deps_spaces *spaces)
{
    const struct tg_deps *deps = spaces->deps;
    size_t kept = 0;
    for (size_t i = 0; i < deps->n_allocations; i++) {
        spaces->bound[2 * i] = deps->allocation[i].address;
        spaces->bound[2 * i + 1] = deps->allocation[i].address + deps->allocation[i].bytes;
    }
    qsort(spaces->bound, 2 * deps->n_allocations, sizeof *spaces->bound, by_value);
    for (size_t i = 0; i < 2 * deps->n_allocations; i++)
        if (kept == 0 || spaces->bound[i] != spaces->bound[kept - 1])
            spaces->bound[kept++] = spaces->bound[i];
    spaces->n_bounds = kept;
}

bool tg_deps_spaces_open(const struct tg_deps *deps, struct tg_deps_spaces *spaces)
{
    *spaces = (struct tg_deps_spaces){.deps = deps, .leaves = 1};
    if (deps->n_allocations == 0)
        return true;
    spaces->bound = calloc(deps->n_allocations, 2 * sizeof *spaces->bound);
    if (spaces->bound)
        collect_bounds(spaces);
    while (spaces->leaves < spaces->n_bounds)
        spaces->leaves *= 2;
    spaces->newest = calloc(spaces->leaves, 2 * sizeof *spaces->newest);
    if (spaces->bound && spaces->newest)
        return true;
    tg_deps_spaces_close(spaces);
    return false;
}

/* The number of bounds up to the address. */
static size_t bounds_up_to(const struct tg_deps_spaces *spaces, uint64_t address)
{
    size_t low = 0, high = spaces->n_bounds;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spaces->bound[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Marks the nodes that make up the allocation's range. Later ones have larger numbers, so a node never has
 * to hand its mark down. */
static void give(struct tg_deps_spaces *spaces, size_t number)
{
    const struct tg_deps_allocation *given = &spaces->deps->allocation[number];
    size_t first = bounds_up_to(spaces, given->address) - 1 + spaces->leaves;
    size_t end = bounds_up_to(spaces, given->address + given->bytes) - 1 + spaces->leaves;
    for (; first < end; first /= 2, end /= 2) {
        if (first & 1)
            spaces->newest[first++] = number + 1;
        if (end & 1)
            spaces->newest[--end] = number + 1;
    }
}

uint64_t tg_deps_space_of(struct tg_deps_spaces *spaces, uint64_t address, uint32_t task)
{
    const struct tg_deps *deps = spaces->deps;
    uint64_t newest = 0;
    while (spaces->n_given < deps->n_allocations && deps->allocation[spaces->n_given].given <= task)
        give(spaces, spaces->n_given++);
    size_t bounds = bounds_up_to(spaces, address);
    if (bounds == 0)
        return 0;
    for (size_t node = bounds - 1 + spaces->leaves; node > 0; node /= 2)
        if (spaces->newest[node] > newest)
            newest = spaces->newest[node];
    return newest;
}

void tg_deps_spaces_close(struct tg_deps_spaces *spaces)
{
    free(spaces->bound);
    free(spaces->newest);
    *spaces = (struct tg_deps_spaces){0};
}
