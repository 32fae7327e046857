/* SPDX-License-Identifier: Apache-2.0 */
/* References to tasks of device-built graphs: the slot of a task, and which of the slot's tasks it
 * is. */
#ifndef TG_DEVICE_TASK_REF_H
#define TG_DEVICE_TASK_REF_H

#include "common/atomic.h"
#include <stdbool.h>
#include <taskglass/target.h>
#include <taskglass/wire/orchestration.h>

/* ring: 2 bits, slot: 22, index + 1: 40. Never 0. */
enum { TG_TASK_REF_SLOT_BITS = 22, TG_TASK_REF_INDEX_BITS = 40 };

TG_FN static inline uint64_t tg_task_ref(uint32_t ring, uint32_t slot, uint64_t index)
{
    return (uint64_t)ring << 62 | (uint64_t)slot << TG_TASK_REF_INDEX_BITS | (index + 1);
}

TG_FN static inline uint32_t tg_task_ref_ring(uint64_t ref)
{
    return (uint32_t)(ref >> 62);
}

TG_FN static inline uint32_t tg_task_ref_slot(uint64_t ref)
{
    return (uint32_t)(ref >> TG_TASK_REF_INDEX_BITS) & ((1u << TG_TASK_REF_SLOT_BITS) - 1);
}

TG_FN static inline uint64_t tg_task_ref_index(uint64_t ref)
{
    return (ref & (((uint64_t)1 << TG_TASK_REF_INDEX_BITS) - 1)) - 1;
}

TG_FN static inline uint64_t tg_task_ref_id(uint64_t ref)
{
    return (uint64_t)tg_task_ref_ring(ref) << 32 | (uint32_t)tg_task_ref_index(ref);
}

/* True if the task of the slot has completed. `done_words`: as in struct tg_engine. */
TG_FN static inline bool tg_task_is_closed(const struct tg_task_desc *desc,
                                           const uint32_t *done_words, uint32_t slot)
{
    if (done_words)
        return tg_load_acquire_host(&done_words[slot]) == desc[slot].n_succ; /* K3 */
    return tg_load_acquire(&desc[slot].succ) == TG_DEP_CLOSED;               /* E1 */
}

#endif
