/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of a guarded task: from bytes and faults to arguments, elements and sentences. */
#ifndef TG_HOST_GUARD_FINDING_H
#define TG_HOST_GUARD_FINDING_H

#include "host/guard_trial.h"

/* What a kernel did with bytes outside; picks the kind. */
enum tg_guard_deed { TG_GUARD_DID_USE, TG_GUARD_DID_READ, TG_GUARD_DID_WRITE };

/* Adds what a trial changed although the kernel must not. */
void tg_guard_find_writes(const struct tg_guard_memory *memory, const struct tg_guard_trial *trial,
                          struct tg_guard_report *report);
/* Adds a trial that did not end. Returns the block at which it faulted; UINT32_MAX: at none. */
uint32_t tg_guard_find_failure(const struct tg_guard_memory *memory,
                               const struct tg_guard_trial *trial,
                               const struct tg_guard_failure *failure,
                               struct tg_guard_report *report);
/* Adds a read of byte `at` of a block, counted from its first one: before it, behind it or in a gap. `kernel
 * outputs` says which elements change with it. */
void tg_guard_find_read(const struct tg_guard_memory *memory, uint32_t block, int64_t at,
                        struct tg_guard_report *report);
/* Adds outputs that still have the pattern in all `n` trials, which differ in the pattern of outputs alone. */
void tg_guard_find_unwritten(const struct tg_guard_memory *memory,
                             const struct tg_guard_trial *const *trial, uint32_t n,
                             struct tg_guard_report *report);
/* Adds outputs that differ between the first trial and others of them, and are not unwritten. */
void tg_guard_find_old(const struct tg_guard_memory *memory,
                       const struct tg_guard_trial *const *trial, uint32_t n,
                       struct tg_guard_report *report);
/* Writes the sentences of all findings. */
void tg_guard_write_texts(const struct tg_recorded_task *task, struct tg_guard_report *report);

#endif
