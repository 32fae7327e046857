/* SPDX-License-Identifier: Apache-2.0 */
#include "host/guard_memory.h"
#include "base/grow.h"
#include <taskglass/tensor.h>

/* Zones in pages. On the side that has no guard in END and BEGIN, one page is enough: the other placement has
 * its guard there. */
enum { LOOSE_ZONE = 4, SMALL_ZONE = 1 };

static uint64_t round_up(uint64_t n, uint64_t step)
{
    return (n + step - 1) / step * step;
}

/* ── which tensors share bytes ─────────────────────────────────────────────────────────── */

/* Tensors without elements are alone, unless they lie at the same address: each tensor has one block. */
static bool overlap(const struct tg_guard_block *a, const struct tg_guard_block *b)
{
    if (a->size == 0 || b->size == 0)
        return a->size == b->size && a->address == b->address;
    return a->address < b->address + b->size && b->address < a->address + a->size;
}

static void find_blocks(struct tg_guard_memory *m)
{
    m->n_blocks = 0;
    for (uint32_t i = 0; i < m->task->n_tensors; i++) {
        const struct tg_tensor *t = &m->task->tensor[i].tensor;
        struct tg_guard_block block = {.address = t->addr, .size = t->storage_bytes};
        for (uint32_t b = 0; b < m->n_blocks;) {
            const struct tg_guard_block *other = &m->block[b];
            uint64_t end = block.address + block.size, other_end = other->address + other->size;
            if (!overlap(&block, other)) {
                b++;
                continue;
            }
            block.address = block.address < other->address ? block.address : other->address;
            block.size = (end > other_end ? end : other_end) - block.address;
            m->block[b] = m->block[--m->n_blocks];
            b = 0;
        }
        m->block[m->n_blocks++] = block;
    }
}

static bool holds(const struct tg_guard_block *block, const struct tg_tensor *t)
{
    return (t->storage_bytes == 0) == (block->size == 0) && t->addr >= block->address &&
           t->addr + t->storage_bytes <= block->address + block->size;
}

static void assign_blocks(struct tg_guard_memory *m)
{
    for (uint32_t i = 0; i < m->task->n_tensors; i++) {
        const struct tg_recorded_tensor *t = &m->task->tensor[i];
        uint32_t b = 0;
        while (b + 1 < m->n_blocks && !holds(&m->block[b], &t->tensor))
            b++;
        struct tg_guard_block *block = &m->block[b];
        uint64_t element = tg_bits_of(t->tensor.dtype) / 8;
        m->block_of[i] = b;
        m->offset_of[i] = t->tensor.addr - block->address;
        /* The task's own blocks are larger, and have one image for all tensors of this one. */
        block->image = m->task->block[t->block].image + t->offset - m->offset_of[i];
        block->element = block->element > element ? block->element : element;
        block->element = block->element > 0 ? block->element : 1;
        /* A kernel knows how far the address of each tensor is aligned. */
        uint64_t align = t->tensor.addr % TG_BLOCK_ALIGN == 0 ? TG_BLOCK_ALIGN
                                                              : t->tensor.addr & -t->tensor.addr;
        block->align = block->align > align ? block->align : align;
    }
}

/* ── which bits belong to whom ─────────────────────────────────────────────────────────── */

static void mark(const struct tg_tensor *t, uint8_t *mask)
{
    unsigned bits = tg_bits_of(t->dtype), size = bits / 8;
    int64_t n = tg_tensor_numel(t);
    if (bits >= 8 && tg_tensor_contiguous(t)) {
        memset(mask + t->start * (int64_t)size, 0xff, (size_t)n * size);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t at = tg_tensor_offset(t, i);
        if (bits >= 8)
            memset(mask + at * (int64_t)size, 0xff, size);
        else
            mask[at / 2] |= (uint8_t)(15u << (at % 2 * 4));
    }
}

static void sum_up(struct tg_guard_block *block)
{
    uint8_t all_known = 0xff, all_output = 0xff, any_written = 0, any_output = 0, any_gap = 0;
    for (uint64_t i = 0; i < block->size; i++) {
        uint8_t known = block->known[i], written = block->written[i];
        all_known &= known;
        all_output &= (uint8_t)(written & ~known);
        any_written |= written;
        any_output |= (uint8_t)(written & ~known);
        any_gap |= (uint8_t) ~(known | written);
    }
    block->is_known = all_known == 0xff;
    block->is_output = all_output == 0xff && block->size > 0;
    block->is_input = any_written == 0;
    block->has_outputs = any_output != 0;
    block->has_gaps = any_gap != 0;
}

bool tg_guard_memory_of(const struct tg_recorded_task *task, struct tg_guard_memory *m)
{
    uint64_t bytes = 0;
    m->task = task;
    find_blocks(m);
    assign_blocks(m);
    for (uint32_t b = 0; b < m->n_blocks; b++)
        bytes += 2 * m->block[b].size;
    if (!tg_grow(&m->masks, &m->room, bytes + 1, 1))
        return false;
    memset(m->masks, 0, bytes + 1);
    bytes = 0;
    for (uint32_t b = 0; b < m->n_blocks; b++) {
        m->block[b].known = m->masks + bytes;
        m->block[b].written = m->masks + bytes + m->block[b].size;
        bytes += 2 * m->block[b].size;
    }
    for (uint32_t i = 0; i < task->n_tensors; i++) {
        const struct tg_recorded_tensor *t = &task->tensor[i];
        struct tg_guard_block *block = &m->block[m->block_of[i]];
        if (t->role != TG_OUT)
            mark(&t->tensor, block->known + m->offset_of[i]);
        if (t->role != TG_IN)
            mark(&t->tensor, block->written + m->offset_of[i]);
    }
    m->has_gaps = m->has_outputs = false;
    for (uint32_t b = 0; b < m->n_blocks; b++) {
        sum_up(&m->block[b]);
        m->has_gaps |= m->block[b].has_gaps;
        m->has_outputs |= m->block[b].has_outputs;
    }
    return true;
}

void tg_guard_memory_free(struct tg_guard_memory *m)
{
    free(m->masks);
    memset(m, 0, sizeof *m);
}

/* ── places ────────────────────────────────────────────────────────────────────────────── */

/* The last place for the block that ends at or before `end` and keeps the remainder of its address. */
static uint64_t last_place(const struct tg_guard_block *block, uint64_t end, uint64_t align)
{
    uint64_t at = end - block->size;
    return at - (at - block->address % align) % align;
}

static uint64_t end_align(const struct tg_guard_block *block, enum tg_guard_side side)
{
    return side == TG_GUARD_TIGHT ? block->element : block->align;
}

static struct tg_guard_place place_block(const struct tg_guard_block *block,
                                         enum tg_guard_side side, uint64_t region)
{
    const uint64_t page = TG_GUARD_PAGE;
    struct tg_guard_place at = {.region = region, .data = region};
    uint64_t room = block->size + TG_BLOCK_ALIGN;
    if (side == TG_GUARD_LOOSE) {
        at.region_size = round_up(room, page) + UINT64_C(2) * LOOSE_ZONE * page;
        at.data = region + LOOSE_ZONE * page + block->address % TG_BLOCK_ALIGN;
    } else if (side == TG_GUARD_BEGIN) {
        /* Of tensors that share memory, the aligned one need not be the first. */
        at.data = region + block->address % block->align;
        at.region_size = round_up(at.data - region + block->size, page) + SMALL_ZONE * page;
    } else {
        at.region_size = round_up(room, page) + SMALL_ZONE * page;
        at.data = last_place(block, region + at.region_size, end_align(block, side));
    }
    return at;
}

uint64_t tg_guard_place_blocks(const struct tg_guard_memory *m, const struct tg_guard_plan *plan,
                               uint64_t begin, struct tg_guard_place *place, uint64_t *buffer)
{
    uint64_t guard = plan->has_pages ? TG_GUARD_BYTES : 0;
    *buffer = 0;
    for (uint32_t b = 0; b < m->n_blocks; b++) {
        place[b] =
            place_block(&m->block[b], tg_guard_side_of(plan, b), begin + guard + plan->spread);
        place[b].buffer = *buffer;
        *buffer += place[b].region_size;
        begin = place[b].region + place[b].region_size + guard;
    }
    return begin;
}

bool tg_guard_is_tighter(const struct tg_guard_memory *m)
{
    for (uint32_t b = 0; b < m->n_blocks; b++) {
        const struct tg_guard_block *block = &m->block[b];
        const uint64_t end = round_up(block->size + TG_BLOCK_ALIGN, TG_GUARD_PAGE);
        if (last_place(block, end, block->align) < last_place(block, end, block->element))
            return true;
    }
    return false;
}

/* ── contents ──────────────────────────────────────────────────────────────────────────── */

/* A step of xorshift64*: the same bytes on every machine. */
static uint32_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)(*state * UINT64_C(2685821657736338717) >> 40);
}

void tg_guard_patterns_make(struct tg_guard_patterns *patterns)
{
    uint64_t state = UINT64_C(0x7461736b676c6173);
    for (uint32_t i = 0; i < TG_GUARD_PERIOD; i++) {
        /* Up to 0x7b a byte in front makes every float finite, and its lowest bits vary. */
        patterns->byte[0][i] = (uint8_t)(0x70 + next_random(&state) % 12);
        patterns->byte[1][i] = (uint8_t)(0xf0 + next_random(&state) % 12);
        /* 0xff and 0xf1 or more behind it: a NaN of every type that has one. */
        patterns->byte[2][i] = i % 2 ? 0xff : (uint8_t)(0xf1 + next_random(&state) % 15);
        patterns->byte[3][i] = (uint8_t)(0x38 + next_random(&state) % 8);
        patterns->byte[4][i] = 0;
    }
}

static void fill_bytes(const uint8_t *pattern, uint64_t at, uint64_t size, uint8_t *to)
{
    while (size > 0) {
        uint64_t first = at % TG_GUARD_PERIOD, n = TG_GUARD_PERIOD - first;
        n = n < size ? n : size;
        memcpy(to, pattern + first, n);
        at += n;
        to += n;
        size -= n;
    }
}

static void fill_mixed(const struct tg_guard_block *block, const struct tg_guard_place *place,
                       const struct tg_guard_fill *fill, bool is_other,
                       const struct tg_guard_patterns *patterns, uint8_t *data)
{
    for (uint64_t i = 0; i < block->size; i++) {
        uint64_t at = place->data + i, from_region = at - place->region;
        uint8_t known = block->known[i], output = (uint8_t)(block->written[i] & ~known);
        uint8_t gap = (uint8_t) ~(known | output);
        bool other = is_other && from_region >= fill->from && from_region < fill->to;
        const uint8_t *gaps = patterns->byte[other ? fill->other_pattern : fill->gap];
        at %= TG_GUARD_PERIOD;
        data[i] = (uint8_t)(((uint8_t)block->image[i] & known) |
                            (patterns->byte[fill->output][at] & output) | (gaps[at] & gap));
    }
}

void tg_guard_fill_block(const struct tg_guard_memory *m, uint32_t number,
                         const struct tg_guard_place *place, const struct tg_guard_fill *fill,
                         const struct tg_guard_patterns *patterns, uint8_t *region)
{
    const struct tg_guard_block *block = &m->block[number];
    uint64_t front = place->data - place->region;
    uint64_t back = front + block->size;
    bool is_other = fill->other_block == (int)number;
    fill_bytes(patterns->byte[fill->zone], place->region, front, region);
    fill_bytes(patterns->byte[fill->zone], place->region + back, place->region_size - back,
               region + back);
    if (is_other && fill->in_zone)
        fill_bytes(patterns->byte[fill->other_pattern], place->region + fill->from,
                   fill->to - fill->from, region + fill->from);
    if (block->is_known)
        memcpy(region + front, block->image, block->size);
    else if (block->is_output)
        fill_bytes(patterns->byte[fill->output], place->data, block->size, region + front);
    else
        fill_mixed(block, place, fill, is_other && !fill->in_zone, patterns, region + front);
}

bool tg_guard_is_clean(const struct tg_guard_block *block, const struct tg_guard_place *place,
                       const uint8_t *before, const uint8_t *after)
{
    uint64_t front = place->data - place->region, back = front + block->size;
    if (block->is_input)
        return memcmp(before, after, place->region_size) == 0;
    if (memcmp(before, after, front) != 0 ||
        memcmp(before + back, after + back, place->region_size - back) != 0)
        return false;
    if (block->is_output)
        return true;
    for (uint64_t i = 0; i < block->size; i++)
        if ((before[front + i] ^ after[front + i]) & ~block->written[i])
            return false;
    return true;
}

bool tg_guard_is_same(const struct tg_guard_block *block, const uint8_t *a, const uint8_t *b)
{
    if (block->is_input)
        return true;
    if (block->is_output)
        return memcmp(a, b, block->size) == 0;
    for (uint64_t i = 0; i < block->size; i++)
        if ((a[i] ^ b[i]) & block->written[i])
            return false;
    return true;
}
