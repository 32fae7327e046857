/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors that a shard selects in one recording: each as its record has it, or tiles put together. */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <taskglass/array.h>
#include <taskglass/comm.h>
#include <taskglass/numeric.h>

#include "analysis/ranks_shard.h"
#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/words.h"
#include "recording/record.h"

/* Tiles are put together in memory. Which of them belong together takes time that grows with the square of
 * their number. */
enum { MOST_JOINED = 1 << 30, MOST_TILES = 16384 };

/* ── selecting ─────────────────────────────────────────────────────────────────────────── */

static bool has_kernel(const struct tg_entry *entry, const char *pattern)
{
    for (int part = 0; part < TG_PARTS; part++)
        if (entry->kernel[part] && tg_word_fits(tg_word_of(pattern), entry->kernel[part]))
            return true;
    return false;
}

/* A call that reduces in place: it is given a summand, and leaves the sum. */
static bool takes_summand(const struct tg_entry *entry, const struct tg_shard *shard, int side)
{
    return side == 1 && shard->how == TG_SHARD_PARTIAL && entry->record.role == TG_INOUT &&
           has_kernel(entry, tg_comm_kind_name(TG_COMM_ALL_REDUCE));
}

/* Of a tensor that the task writes, what it left; of one that it only reads, what it was given. */
static bool is_selected(const struct tg_entry *entry, const struct tg_shard *shard, int side)
{
    const struct tg_record *record = &entry->record;
    bool is_given = record->role == TG_IN || takes_summand(entry, shard, side);
    unsigned stage = is_given ? TG_BEFORE_DISPATCH : TG_AFTER_COMPLETION;
    if (record->kind != TG_KIND_TENSOR || record->stage != stage ||
        record->arg_index != shard->argument[side])
        return false;
    return shard->task[side] != TG_TASK_NONE ? record->task_id == shard->task[side]
                                             : has_kernel(entry, shard->kernel[side]);
}

static int by_task(const void *a, const void *b, void *context)
{
    struct tg_entry x, y;
    uint64_t i, j;
    memcpy(&i, a, sizeof i);
    memcpy(&j, b, sizeof j);
    tg_recording_get(context, i, &x);
    tg_recording_get(context, j, &y);
    if (x.record.task_id != y.record.task_id)
        return x.record.task_id < y.record.task_id ? -1 : 1;
    return i < j ? -1 : i > j;
}

/* Tiles of the same storage are one tensor. Where a tile is written again, the memory has been given to
 * another tensor, or the tensor was written once more: a new one begins. */
static bool group_tiles(struct tg_selected *selected)
{
    struct tg_entry tile, other;
    selected->tensor = calloc(selected->count + 1, sizeof *selected->tensor);
    for (size_t i = 0; selected->tensor && i < selected->count; i++) {
        uint32_t own = UINT32_MAX;
        tg_recording_get(selected->recording, selected->record[i], &tile);
        for (size_t k = i; k-- > 0;) {
            tg_recording_get(selected->recording, selected->record[k], &other);
            if (other.record.data_ptr != tile.record.data_ptr)
                continue;
            own = own == UINT32_MAX ? selected->tensor[k] : own;
            if (selected->tensor[k] != own)
                continue;
            if (other.record.start == tile.record.start) {
                own = UINT32_MAX;
                break;
            }
        }
        selected->tensor[i] = own == UINT32_MAX ? selected->n_tensors++ : own;
    }
    return selected->tensor != NULL;
}

tg_status tg_selected_open(const struct tg_recording *recording, const struct tg_shard *shard,
                           int side, struct tg_selected *selected, struct tg_error *error)
{
    struct tg_entry entry;
    *selected = (struct tg_selected){.recording = recording, .is_joined = shard->is_joined[side]};
    for (uint64_t i = 0; tg_recording_get(recording, i, &entry); i++) {
        if (!is_selected(&entry, shard, side))
            continue;
        if (!tg_grow(&selected->record, &selected->room, selected->count + 1,
                     sizeof *selected->record))
            return tg_file_no_memory(error);
        selected->record[selected->count++] = i;
    }
    if (selected->count > 1)
        qsort_r(selected->record, selected->count, sizeof *selected->record, by_task,
                (void *)(uintptr_t)recording);
    if (selected->is_joined && selected->count > MOST_TILES)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "--shard '%s' selects %zu tiles; at most %d are put together",
                            shard->text, selected->count, MOST_TILES);
    if (selected->is_joined && !group_tiles(selected))
        return tg_file_no_memory(error);
    return TG_OK;
}

void tg_selected_close(struct tg_selected *selected)
{
    free(selected->record);
    free(selected->tensor);
    *selected = (struct tg_selected){0};
}

size_t tg_selected_count(const struct tg_selected *selected)
{
    return selected->is_joined ? selected->n_tensors : selected->count;
}

/* ── tiles ─────────────────────────────────────────────────────────────────────────────── */

/* The tensor of the case that the tiles lie in: what the orchestration was given has its shape. */
static bool find_given(const struct tg_recording *recording, const struct tg_record *tile,
                       struct tg_record *whole)
{
    struct tg_entry entry;
    for (uint64_t i = 0; tg_recording_get(recording, i, &entry); i++) {
        *whole = entry.record;
        if (whole->stage == TG_STAGE_ORCHESTRATION && whole->kind == TG_KIND_TENSOR &&
            whole->data_ptr == tile->data_ptr && whole->start == 0 && whole->dtype == tile->dtype &&
            whole->flags & TG_RECORD_CONTIGUOUS)
            return true;
    }
    return false;
}

/* How many elements from the begin of the storage the tile reaches; 0 if that is impossible. */
static int64_t reach_of(const struct tg_record *tile)
{
    int64_t reach = tile->start, step;
    for (int d = 0; d < tile->ndim; d++)
        if (tile->shape[d] < 1 || tile->strides[d] < 1 ||
            __builtin_mul_overflow(tile->shape[d] - 1, tile->strides[d], &step) ||
            __builtin_add_overflow(reach, step, &reach))
            return 0;
    return reach < 0 || reach == INT64_MAX ? 0 : reach + 1;
}

/* A tensor that the orchestration made: the strides of its tiles are those of the whole, and the tile that
 * reaches furthest says how long it is. */
static bool find_made(const struct tg_selected *selected, uint32_t tensor,
                      const struct tg_record *tile, struct tg_record *whole)
{
    struct tg_entry entry;
    int64_t most = 0;
    *whole = *tile;
    if (tile->ndim < 1 || tile->strides[tile->ndim - 1] != 1)
        return false;
    for (size_t i = 0; i < selected->count; i++) {
        if (selected->tensor[i] != tensor)
            continue;
        tg_recording_get(selected->recording, selected->record[i], &entry);
        int64_t reach = reach_of(&entry.record);
        if (reach == 0 || entry.record.ndim != tile->ndim ||
            memcmp(entry.record.strides, tile->strides, tile->ndim * sizeof tile->strides[0]) != 0)
            return false;
        most = reach > most ? reach : most;
    }
    for (int d = tile->ndim - 1; d > 0; d--) {
        if (tile->strides[d - 1] % tile->strides[d] != 0)
            return false;
        whole->shape[d] = tile->strides[d - 1] / tile->strides[d];
    }
    whole->shape[0] = most / tile->strides[0] + (most % tile->strides[0] != 0);
    return true;
}

/* Goes through the elements of a tile. */
struct tile_walk {
    const struct tg_record *tile;
    int64_t at[TG_MAX_DIMS];
};

/* The place of the element in the storage; -1 if that is impossible. Goes on to the next. */
static int64_t next_place(struct tile_walk *walk)
{
    const struct tg_record *tile = walk->tile;
    int64_t place = tile->start;
    for (int d = 0; d < tile->ndim; d++) {
        int64_t step;
        if (__builtin_mul_overflow(walk->at[d], tile->strides[d], &step) ||
            __builtin_add_overflow(place, step, &place))
            return -1;
    }
    for (int d = tile->ndim - 1; d >= 0 && ++walk->at[d] == tile->shape[d]; d--)
        walk->at[d] = 0;
    return place;
}

/* Copies a tile's elements to their places in the whole. False if one lies outside. */
static bool place_tile(const struct tg_array *tile, const struct tg_record *record,
                       const struct tg_block *block, unsigned char *is_written)
{
    struct tile_walk walk = {.tile = record};
    for (int64_t i = 0; i < tile->elements; i++) {
        int64_t place = next_place(&walk);
        if (place < 0 || place >= block->elements)
            return false;
        tg_store_bits(block->dtype, block->own, place, tg_load_bits(tile->dtype, tile->bytes, i));
        is_written[place] = 1;
    }
    return true;
}

static const char not_finished[] = "its task had not finished";

static const char *place_all(const struct tg_selected *selected, uint32_t tensor,
                             const struct tg_block *block, unsigned char *is_written)
{
    for (size_t i = 0; i < selected->count; i++) {
        struct tg_entry entry;
        struct tg_array tile;
        if (selected->tensor[i] != tensor)
            continue;
        tg_recording_get(selected->recording, selected->record[i], &entry);
        if (entry.record.flags & TG_RECORD_PARTIAL)
            return not_finished;
        if (!tg_array_of(selected->recording, &entry, &tile) || tile.cut)
            return "the values of a tile were not recorded";
        if (tile.dtype != block->dtype || !place_tile(&tile, &entry.record, block, is_written))
            return "a tile lies outside of its tensor";
    }
    return memchr(is_written, 0, (size_t)block->elements) ? "its tiles do not cover it" : NULL;
}

static const char *join(const struct tg_selected *selected, uint32_t tensor, struct tg_block *block)
{
    struct tg_record whole;
    if (!find_given(selected->recording, &block->entry.record, &whole) &&
        !find_made(selected, tensor, &block->entry.record, &whole))
        return "its tiles do not lie in a tensor whose shape is known";
    block->dtype = whole.dtype;
    block->ndim = whole.ndim;
    block->elements = 1;
    for (int d = 0; d < whole.ndim; d++) {
        block->shape[d] = whole.shape[d];
        if (whole.shape[d] < 0 ||
            __builtin_mul_overflow(block->elements, whole.shape[d], &block->elements))
            return "its shape is impossible";
    }
    uint64_t bytes = ((uint64_t)block->elements * tg_bits_of(block->dtype) + 7) / 8;
    if (block->elements > MOST_JOINED || bytes > MOST_JOINED)
        return "it is too large to put its tiles together (more than 1 GiB)";
    unsigned char *is_written = calloc((size_t)block->elements + 1, 1);
    block->own = calloc(bytes + 1, 1);
    block->bytes = block->own;
    const char *why =
        is_written && block->own ? place_all(selected, tensor, block, is_written) : "out of memory";
    free(is_written);
    return why;
}

/* ── one tensor ────────────────────────────────────────────────────────────────────────── */

/* The first of its records. */
static size_t first_of(const struct tg_selected *selected, size_t number)
{
    size_t first = number;
    if (selected->is_joined)
        for (first = 0; selected->tensor[first] != number;)
            first++;
    return first;
}

static const char *take_record(const struct tg_selected *selected, struct tg_block *block)
{
    struct tg_array array;
    if (block->entry.record.flags & TG_RECORD_PARTIAL)
        return not_finished;
    if (!tg_array_of(selected->recording, &block->entry, &array) || array.cut)
        return "its values were not recorded in full";
    block->dtype = array.dtype;
    block->ndim = array.ndim;
    memcpy(block->shape, array.shape, sizeof block->shape);
    block->elements = array.elements;
    block->bytes = array.bytes;
    return NULL;
}

const char *tg_selected_get(const struct tg_selected *selected, size_t number,
                            struct tg_block *block)
{
    *block = (struct tg_block){.entry.record.task_id = TG_TASK_NONE};
    if (number >= tg_selected_count(selected))
        return "it has fewer such tensors";
    tg_recording_get(selected->recording, selected->record[first_of(selected, number)],
                     &block->entry);
    const char *why = selected->is_joined ? join(selected, (uint32_t)number, block)
                                          : take_record(selected, block);
    block->is_there = !why;
    return why;
}

static bool covers(const struct tg_record *tile, int64_t element)
{
    struct tile_walk walk = {.tile = tile};
    int64_t elements = tg_record_numel(tile);
    for (int64_t i = 0; i < elements; i++)
        if (next_place(&walk) == element)
            return true;
    return false;
}

uint64_t tg_selected_task(const struct tg_selected *selected, size_t number, int64_t element)
{
    struct tg_entry entry;
    if (number >= tg_selected_count(selected))
        return TG_TASK_NONE;
    for (size_t i = selected->is_joined ? selected->count : number + 1; i-- > 0;) {
        if (selected->is_joined && selected->tensor[i] != number)
            continue;
        tg_recording_get(selected->recording, selected->record[i], &entry);
        if (!selected->is_joined || covers(&entry.record, element))
            return entry.record.task_id;
    }
    return TG_TASK_NONE;
}

void tg_block_free(struct tg_block *block)
{
    free(block->own);
    *block = (struct tg_block){0};
}
