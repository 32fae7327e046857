/* SPDX-License-Identifier: Apache-2.0 */
/* Lays out the memory of a recorded task as it was on the old device. */
#include "base/error.h"
#include "host/recorded_task.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/numeric.h>

/* The range of memory that a tensor touches, from an address that keeps its alignment. */
static struct tg_recorded_block range_of(const struct tg_recorded_tensor *t)
{
    uint64_t before = t->tensor.addr % TG_BLOCK_ALIGN;
    if (t->tensor.storage_bytes == 0)
        return (struct tg_recorded_block){t->tensor.addr, 0, NULL};
    return (struct tg_recorded_block){t->tensor.addr - before, t->tensor.storage_bytes + before,
                                      NULL};
}

/* Makes one block of each set of overlapping tensors. */
static void find_blocks(struct tg_recorded_task *task)
{
    for (uint32_t i = 0; i < task->n_tensors; i++) {
        struct tg_recorded_block block = range_of(&task->tensor[i]);
        for (uint32_t b = 0; b < task->n_blocks;) {
            struct tg_recorded_block *other = &task->block[b];
            uint64_t end = block.address + block.size, other_end = other->address + other->size;
            if (block.size == 0 || other->size == 0 || block.address >= other_end ||
                other->address >= end) {
                b++;
                continue;
            }
            block.address = block.address < other->address ? block.address : other->address;
            block.size = (end > other_end ? end : other_end) - block.address;
            *other = task->block[--task->n_blocks];
            b = 0;
        }
        task->block[task->n_blocks++] = block;
    }
}

static void assign_blocks(struct tg_recorded_task *task)
{
    for (uint32_t i = 0; i < task->n_tensors; i++) {
        struct tg_recorded_tensor *t = &task->tensor[i];
        struct tg_recorded_block range = range_of(t);
        for (uint32_t b = 0; b < task->n_blocks; b++) {
            const struct tg_recorded_block *block = &task->block[b];
            if (range.address >= block->address && (range.size == 0) == (block->size == 0) &&
                range.address + range.size <= block->address + block->size) {
                t->block = b;
                t->offset = t->tensor.addr - block->address;
                break;
            }
        }
    }
}

/* Whoever recorded no addresses does not know which tensors share memory. */
static tg_status check_addresses(const struct tg_recorded_task *task, struct tg_error *error)
{
    for (uint32_t i = 0; i < task->n_tensors; i++)
        if (!task->tensor[i].has_address && task->tensor[i].bytes > 0)
            return tg_error_set(error, TG_NOT_FOUND, "argument %u: its address was not recorded",
                                i);
    return TG_OK;
}

static tg_status check_size(const struct tg_recorded_task *task, uint64_t limit,
                            struct tg_error *error)
{
    uint64_t left = limit;
    for (uint32_t b = 0; b < task->n_blocks; b++) {
        if (task->block[b].size > left)
            return tg_error_set(error, TG_BAD_ARGUMENT,
                                "the memory that its arguments span, %" PRIu64
                                " bytes at 0x%" PRIx64 " and more, is larger than the %" PRIu64
                                " bytes that a task of this recording may take; taskglass replay "
                                "--device-memory allows more",
                                task->block[b].size, task->block[b].address, limit);
        left -= task->block[b].size;
    }
    return TG_OK;
}

/* True if the view's bytes are one run of whole bytes. */
static bool is_straight(const struct tg_tensor *view)
{
    return tg_bits_of(view->dtype) >= 8 && tg_tensor_contiguous(view);
}

/* Writes logical bytes to the places of the view's elements. */
static void scatter(const struct tg_recorded_tensor *t, char *block)
{
    const struct tg_tensor *view = &t->tensor;
    int64_t n = tg_tensor_numel(view);
    if (is_straight(view)) {
        memcpy(block + t->offset + tg_bytes_of(view->dtype, view->start), t->before, t->bytes);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        tg_store_bits(view->dtype, block + t->offset, tg_tensor_offset(view, i),
                      tg_load_bits(view->dtype, t->before, i));
}

/* False if another tensor has other contents at the same place, or the view itself has. */
static bool is_there(const struct tg_recorded_tensor *t, const char *block)
{
    const struct tg_tensor *view = &t->tensor;
    int64_t n = tg_tensor_numel(view);
    if (is_straight(view))
        return memcmp(block + t->offset + tg_bytes_of(view->dtype, view->start), t->before,
                      t->bytes) == 0;
    for (int64_t i = 0; i < n; i++)
        if (tg_load_bits(view->dtype, block + t->offset, tg_tensor_offset(view, i)) !=
            tg_load_bits(view->dtype, t->before, i))
            return false;
    return true;
}

static tg_status fill_blocks(struct tg_recorded_task *task, struct tg_error *error)
{
    for (uint32_t b = 0; b < task->n_blocks; b++) {
        task->block[b].image = calloc(1, task->block[b].size + 1);
        if (task->block[b].image == NULL)
            return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the task's arguments");
    }
    for (uint32_t i = 0; i < task->n_tensors; i++)
        if (task->tensor[i].before != NULL && task->tensor[i].bytes > 0)
            scatter(&task->tensor[i], task->block[task->tensor[i].block].image);
    for (uint32_t i = 0; i < task->n_tensors; i++)
        if (task->tensor[i].before != NULL && task->tensor[i].bytes > 0 &&
            !is_there(&task->tensor[i], task->block[task->tensor[i].block].image))
            return tg_error_set(error, TG_BAD_ARGUMENT,
                                "argument %u: elements that share memory were recorded with "
                                "different contents, so what the task saw is not known",
                                i);
    return TG_OK;
}

tg_status tg_recorded_task_lay_out(struct tg_recorded_task *task, uint64_t limit,
                                   struct tg_error *error)
{
    tg_status status = check_addresses(task, error);
    if (status != TG_OK)
        return status;
    find_blocks(task);
    assign_blocks(task);
    status = check_size(task, limit, error);
    if (status == TG_OK)
        status = fill_blocks(task, error);
    if (status != TG_OK)
        tg_recorded_task_free(task);
    return status;
}

void tg_recorded_task_free(struct tg_recorded_task *task)
{
    for (uint32_t b = 0; b < task->n_blocks; b++) {
        free(task->block[b].image);
        task->block[b].image = NULL;
    }
}
