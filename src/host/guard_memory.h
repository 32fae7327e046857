/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a task that runs between guards: which tensors share bytes, which bits belong to whom, and
 * where all of it lies in an arena of device memory.
 *
 * A block is a set of tensors that overlap; it keeps its layout. Each block has a region of whole pages:
 *
 *   LOOSE   [guard][zone: 4 pages][ block ][zone: 4 pages][guard]    the kernel reaches its end, whatever it does
 *   END     [guard][zone: 1 page ][ block ][guard]                   its last byte lies against the guard
 *   TIGHT   the same, with no more alignment than elements need      END, where alignment leaves a slack
 *   BEGIN   [guard][ block ][zone: 1 page ][guard]                   its first byte lies behind the guard
 *
 * Guards are pages that kernels cannot access; a platform that cannot protect pages runs LOOSE alone, and its
 * zones stand side by side.
 */
#ifndef TG_HOST_GUARD_MEMORY_H
#define TG_HOST_GUARD_MEMORY_H

#include "host/recorded_task.h"

enum { TG_GUARD_PAGE = 4096, TG_GUARD_BYTES = 16 * TG_GUARD_PAGE };

struct tg_guard_block {
    uint64_t address; /* on the old device */
    uint64_t size;
    const char *image; /* recorded contents of the `known` bits; the task's */
    uint8_t *known; /* a byte for each byte: bits that an input has, so their contents are given */
    uint8_t *written; /* bits that an output has, so the kernel may write them */
    bool is_known;    /* all bits are known */
    bool is_output;   /* all bits are written, and none is known */
    bool is_input;    /* no bit is written */
    bool has_gaps;    /* some bits are of no tensor */
    bool has_outputs; /* some bits are written, and not known */
    uint64_t align;   /* its address keeps its remainder by this */
    uint64_t element; /* what elements need */
};

struct tg_guard_memory {
    const struct tg_recorded_task *task;
    uint32_t n_blocks;
    struct tg_guard_block block[TG_MAX_TENSORS];
    uint32_t block_of[TG_MAX_TENSORS]; /* by tensor */
    uint64_t offset_of[TG_MAX_TENSORS];
    bool has_gaps, has_outputs; /* some block has */
    uint8_t *masks;             /* of all blocks */
    size_t room;
};

/* Finds the blocks of a task, which must outlive what is found. False: no memory. `memory` may have held
 * another task before, and begins with zeros. */
bool tg_guard_memory_of(const struct tg_recorded_task *task, struct tg_guard_memory *memory);
void tg_guard_memory_free(struct tg_guard_memory *memory);

enum tg_guard_side { TG_GUARD_LOOSE, TG_GUARD_END, TG_GUARD_TIGHT, TG_GUARD_BEGIN };

/* Where a block lies; offsets in the arena. */
struct tg_guard_place {
    uint64_t region, region_size; /* whole pages: the block with its zones */
    uint64_t data;                /* first byte of the block */
    uint64_t buffer;              /* of the region, in a buffer with all regions of a trial */
};

/* How a trial places blocks. */
struct tg_guard_plan {
    enum tg_guard_side side;
    uint32_t loose; /* a bit for each block that is placed LOOSE although the others are not */
    bool has_pages;
    uint64_t spread; /* whole pages between blocks, besides their guards */
};
/* The side of a block. */
static inline enum tg_guard_side tg_guard_side_of(const struct tg_guard_plan *plan, uint32_t block)
{
    return plan->loose >> block & 1 ? TG_GUARD_LOOSE : plan->side;
}

/* Places all blocks from `begin` on, a multiple of the page. Returns where they end with their guards, which
 * have TG_GUARD_BYTES, or 0 without `has_pages`; *buffer gets the bytes of all regions. */
uint64_t tg_guard_place_blocks(const struct tg_guard_memory *memory,
                               const struct tg_guard_plan *plan, uint64_t begin,
                               struct tg_guard_place *place, uint64_t *buffer);
/* True if TIGHT puts a block closer to the guard behind it than END does. */
bool tg_guard_is_tighter(const struct tg_guard_memory *memory);

/*
 * Patterns. Each byte of a pattern but the last depends on its offset in the arena, so that a value that was copied from
 * elsewhere is not taken for one that was there. As floats, pattern 0 is large, pattern 1 large and negative,
 * pattern 2 NaN, and pattern 3 of the order of 1: it does not survive an addition, as the others may. Pattern 4
 * is zero everywhere, as fresh memory is.
 */
enum { TG_GUARD_PATTERNS = 5, TG_GUARD_PERIOD = 1 << 16 };
struct tg_guard_patterns {
    uint8_t byte[TG_GUARD_PATTERNS][TG_GUARD_PERIOD];
};
void tg_guard_patterns_make(struct tg_guard_patterns *patterns);

/* With which pattern a trial fills what. In `other_block`, the bytes [from, to) of its region have
 * `other_pattern` where they belong to zones (in_zone) or gaps; -1: none. */
struct tg_guard_fill {
    uint8_t output, gap, zone;
    bool in_zone;
    int other_block;
    uint8_t other_pattern;
    uint64_t from, to;
};

/* Writes the contents of a block's region before the kernel runs. */
void tg_guard_fill_block(const struct tg_guard_memory *memory, uint32_t block,
                         const struct tg_guard_place *place, const struct tg_guard_fill *fill,
                         const struct tg_guard_patterns *patterns, uint8_t *region);
/* True if nothing has changed but what the kernel may write. */
bool tg_guard_is_clean(const struct tg_guard_block *block, const struct tg_guard_place *place,
                       const uint8_t *before, const uint8_t *after);
/* True if both trials wrote the same; `a` and `b` point to the block's first byte in either. */
bool tg_guard_is_same(const struct tg_guard_block *block, const uint8_t *a, const uint8_t *b);

#endif
