/* SPDX-License-Identifier: Apache-2.0 */
/* Where the parts of the ranks lie in the whole tensor. Blocks lie beside each other in the order of their numbers,
 * and there must be a rank for every block: what no rank has was not compared. */
#include <stdlib.h>

#include "analysis/ranks_shard.h"

static const char no_memory[] = "out of memory";

static bool is_split(const struct tg_shard *shard, int d)
{
    return shard->how == TG_SHARD_SPLIT && shard->divide[d] > 0;
}

static uint32_t block_number(const struct tg_shard *shard, int d, uint32_t rank)
{
    return is_split(shard, d) ? rank / shard->divide[d] % shard->modulo[d] : 0;
}

static uint32_t count_blocks(const struct tg_shard *shard, int d, uint32_t n_ranks)
{
    uint32_t most = 0;
    for (uint32_t r = 0; r < n_ranks; r++)
        if (block_number(shard, d, r) > most)
            most = block_number(shard, d, r);
    return most + 1;
}

/* ── is every block on a rank? ─────────────────────────────────────────────────────────── */

/* The blocks of a grid are counted with the last dimension running fastest. */
static const char *check_cover(const struct tg_shard *shard, uint32_t n_ranks)
{
    static const char why[] = "the parts of the ranks do not cover the tensor";
    uint32_t blocks[TG_MAX_DIMS];
    uint64_t all = 1, seen = 0;
    for (int d = 0; d < shard->ndim; d++) {
        blocks[d] = count_blocks(shard, d, n_ranks);
        all *= blocks[d];
        if (all > n_ranks)
            return why;
    }
    bool *is_seen = calloc(all, sizeof *is_seen);
    for (uint32_t r = 0; is_seen && r < n_ranks; r++) {
        uint64_t block = 0;
        for (int d = 0; d < shard->ndim; d++)
            block = block * blocks[d] + block_number(shard, d, r);
        seen += !is_seen[block];
        is_seen[block] = true;
    }
    const char *found = !is_seen ? no_memory : seen < all ? why : NULL;
    free(is_seen);
    return found;
}

/* ── one dimension ─────────────────────────────────────────────────────────────────────── */

/* The size of each block, -1 if no rank that is there has it. False if two ranks contradict each other. */
static bool find_sizes(const struct tg_shard *shard, int d, const struct tg_block *whole,
                       const struct tg_block *part, uint32_t n_ranks, int64_t *size)
{
    for (uint32_t r = 0; r < n_ranks; r++)
        size[block_number(shard, d, r)] = -1;
    for (uint32_t r = 0; r < n_ranks; r++) {
        int64_t *own = &size[block_number(shard, d, r)];
        if (!part[r].is_there || part[r].ndim != whole->ndim)
            continue;
        if (*own >= 0 && *own != part[r].shape[d])
            return false;
        *own = part[r].shape[d];
    }
    return true;
}

/* Gives blocks without a size that of the others, if all are equally large and fill the dimension: of uneven
 * parts nobody knows how large the missing one is. */
static bool fill_sizes(int64_t *size, uint32_t blocks, int64_t extent)
{
    int64_t known = -1, all;
    bool is_even = true, is_whole = true;
    for (uint32_t i = 0; i < blocks; i++) {
        is_whole = is_whole && size[i] >= 0;
        is_even = is_even && (size[i] < 0 || known < 0 || size[i] == known);
        known = size[i] >= 0 ? size[i] : known;
    }
    if (is_whole)
        return true;
    if (!is_even || known < 0 || __builtin_mul_overflow(known, (int64_t)blocks, &all) ||
        all != extent)
        return false;
    for (uint32_t i = 0; i < blocks; i++)
        size[i] = known;
    return true;
}

static const char *find_starts(const struct tg_shard *shard, int d, const struct tg_block *whole,
                               const struct tg_block *part, uint32_t n_ranks, int64_t *start)
{
    static const char unfit[] = "the parts of the ranks do not fit beside each other";
    uint32_t blocks = count_blocks(shard, d, n_ranks);
    int64_t end = 0;
    if (!find_sizes(shard, d, whole, part, n_ranks, start))
        return unfit;
    if (!fill_sizes(start, blocks, whole->shape[d]))
        return "where the parts lie is not known without those that are missing";
    for (uint32_t i = 0; i < blocks; i++) {
        int64_t size = start[i];
        start[i] = end;
        if (__builtin_add_overflow(end, size, &end))
            return unfit;
    }
    start[blocks] = end;
    return end == whole->shape[d]
               ? NULL
               : "the parts together are not as large as the tensor of the one device";
}

/* ── all of them ───────────────────────────────────────────────────────────────────────── */

const char *tg_shard_places_find(const struct tg_shard *shard, const struct tg_block *whole,
                                 const struct tg_block *part, uint32_t n_ranks,
                                 struct tg_shard_places *places)
{
    *places = (struct tg_shard_places){.shard = shard};
    if (shard->how != TG_SHARD_SPLIT)
        return NULL;
    if (shard->ndim != whole->ndim)
        return "the shard does not name as many dimensions as the tensor has";
    const char *why = check_cover(shard, n_ranks);
    for (int d = 0; !why && d < whole->ndim; d++) {
        if (!is_split(shard, d))
            continue;
        places->start[d] = calloc((size_t)n_ranks + 1, sizeof *places->start[d]);
        why = places->start[d] ? find_starts(shard, d, whole, part, n_ranks, places->start[d])
                               : no_memory;
    }
    return why;
}

const char *tg_shard_places_get(const struct tg_shard_places *places, const struct tg_block *whole,
                                const struct tg_block *part, uint32_t rank, int64_t *offset)
{
    if (part->dtype != whole->dtype)
        return "its part has another type than the tensor of the one device";
    if (part->ndim != whole->ndim)
        return "its part has another number of dimensions than the tensor of the one device";
    for (int d = 0; d < whole->ndim; d++) {
        const int64_t *start = places->start[d];
        uint32_t own = block_number(places->shard, d, rank);
        offset[d] = start ? start[own] : 0;
        if (part->shape[d] != (start ? start[own + 1] - start[own] : whole->shape[d]))
            return part->elements == whole->elements
                       ? "its part has another shape than the tensor of the one device"
                       : "its part is not as large as the tensor of the one device";
    }
    return NULL;
}

void tg_shard_places_free(struct tg_shard_places *places)
{
    for (int d = 0; d < TG_MAX_DIMS; d++)
        free(places->start[d]);
    *places = (struct tg_shard_places){0};
}
