/* SPDX-License-Identifier: Apache-2.0 */
/* The ranges form a treap by address: a search tree that random priorities keep shallow. */
#include "analysis/deps_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

struct tg_memory_node {
    uint64_t lo, hi;
    uint32_t writer;
    uint32_t priority;
    uint32_t left, right; /* 0: none; a free node links to the next free one with `left` */
};

void tg_memory_init(struct tg_memory *memory)
{
    *memory = (struct tg_memory){.count = 1, .random = 2463534242u};
}

void tg_memory_free(struct tg_memory *memory)
{
    free(memory->node);
    *memory = (struct tg_memory){0};
}

static uint32_t next_random(struct tg_memory *memory)
{
    memory->random ^= memory->random << 13;
    memory->random ^= memory->random >> 17;
    memory->random ^= memory->random << 5;
    return memory->random;
}

/* A write needs at most three nodes: two for cuts and one for itself. */
static bool make_room(struct tg_memory *memory)
{
    return memory->count < UINT32_MAX / 2 &&
           tg_grow(&memory->node, &memory->room, (size_t)memory->count + 4, sizeof *memory->node);
}

static uint32_t new_node(struct tg_memory *memory, uint64_t lo, uint64_t hi, uint32_t writer)
{
    uint32_t at = memory->free;
    if (at)
        memory->free = memory->node[at].left;
    else
        at = memory->count++;
    memory->node[at] = (struct tg_memory_node){
        .lo = lo, .hi = hi, .writer = writer, .priority = next_random(memory)};
    return at;
}

/* Splits into the nodes that begin before `at`, and the rest. */
static void split(struct tg_memory *memory, uint32_t root, uint64_t at, uint32_t *below,
                  uint32_t *above)
{
    struct tg_memory_node *node = memory->node;
    /* `below` and `above` point to where the next node of each side is attached. */
    while (root) {
        if (node[root].lo < at) {
            *below = root;
            below = &node[root].right;
            root = node[root].right;
        } else {
            *above = root;
            above = &node[root].left;
            root = node[root].left;
        }
    }
    *below = *above = 0;
}

static uint32_t join(struct tg_memory *memory, uint32_t below, uint32_t above)
{
    struct tg_memory_node *node = memory->node;
    uint32_t root = 0, *place = &root;
    while (below && above) {
        if (node[below].priority >= node[above].priority) {
            *place = below;
            place = &node[below].right;
            below = node[below].right;
        } else {
            *place = above;
            place = &node[above].left;
            above = node[above].left;
        }
    }
    *place = below ? below : above;
    return root;
}

/* Frees the nodes one by one, and rotates each until it has no left child. */
static void release(struct tg_memory *memory, uint32_t root)
{
    struct tg_memory_node *node = memory->node;
    while (root) {
        uint32_t left = node[root].left;
        if (left) { /* rotate to the right */
            node[root].left = node[left].right;
            node[left].right = root;
            root = left;
            continue;
        }
        uint32_t right = node[root].right;
        node[root].left = memory->free;
        memory->free = root;
        root = right;
    }
}

/* The last node that begins before `at`; 0 for none. */
static uint32_t last_before(const struct tg_memory *memory, uint64_t at)
{
    uint32_t found = 0;
    for (uint32_t root = memory->root; root;) {
        bool is_before = memory->node[root].lo < at;
        found = is_before ? root : found;
        root = is_before ? memory->node[root].right : memory->node[root].left;
    }
    return found;
}

/* Splits the range that contains `at`, so that no range crosses it. */
static void cut(struct tg_memory *memory, uint64_t at)
{
    uint32_t before = last_before(memory, at), below, above;
    if (!before || memory->node[before].hi <= at)
        return;
    uint32_t rest = new_node(memory, at, memory->node[before].hi, memory->node[before].writer);
    memory->node[before].hi = at;
    split(memory, memory->root, at, &below, &above);
    memory->root = join(memory, join(memory, below, rest), above);
}

bool tg_memory_write(struct tg_memory *memory, uint64_t lo, uint64_t hi, uint32_t writer)
{
    uint32_t below, middle, above;
    if (lo >= hi)
        return true;
    if (!make_room(memory))
        return false;
    cut(memory, lo);
    cut(memory, hi);
    split(memory, memory->root, lo, &below, &above);
    split(memory, above, hi, &middle, &above);
    release(memory, middle);
    uint32_t node = new_node(memory, lo, hi, writer);
    memory->root = join(memory, join(memory, below, node), above);
    return true;
}

/* The first node that ends after `at`; 0 for none. */
static uint32_t first_behind(const struct tg_memory *memory, uint64_t at)
{
    uint32_t found = 0;
    for (uint32_t root = memory->root; root;) {
        bool is_behind = memory->node[root].hi > at;
        found = is_behind ? root : found;
        root = is_behind ? memory->node[root].left : memory->node[root].right;
    }
    return found;
}

bool tg_memory_read(const struct tg_memory *memory, uint64_t lo, uint64_t hi, tg_memory_fn take,
                    void *context)
{
    while (lo < hi) {
        uint32_t next = first_behind(memory, lo);
        const struct tg_memory_node *node = next ? &memory->node[next] : NULL;
        uint64_t from = node && node->lo < hi ? node->lo : hi;
        if (from > lo) {
            if (!take(context, lo, from, TG_NO_WRITER))
                return false;
            lo = from;
            continue;
        }
        uint64_t end = node->hi < hi ? node->hi : hi;
        if (!take(context, lo, end, node->writer))
            return false;
        lo = end;
    }
    return true;
}
