/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mixes: up to three kernels that start together on the lanes of one block.
 *
 *   lock the block's mix ─► post the parts to the lanes ─► each lane arrives, and waits for the
 *   others ─► all run their kernel ─► the last to finish completes the task and unlocks
 *
 * Without dedicated schedulers any core of the block can lead; with them the block's scheduler
 * does, and completes the task itself once every part's mail slot is empty.
 *
 * Named edges:
 *   G1  arrived   acq_rel RMW by each part: all parts are there before any kernel starts
 *       start     RMW by the last to arrive, once the inputs are recorded; the others wait for it.
 *                 The end of a run competes for it: a mix runs whole or not at all
 *   G2  finished  acq_rel RMW by each part: the last one has every part's writes
 *   G3  met, meetings: the barrier between kernels of a mix
 */
#ifndef TG_DEVICE_MIX_H
#define TG_DEVICE_MIX_H

#include "device/engine.h"

/* Returns a ready mix, with the block's mix locked, or TG_NO_TASK if there is none or the block is
 * busy. The lock is free only while no lane of the block has mail, so the lane that holds it has
 * none either. Only searchers call this: a sleeper that was woken for the next mix may belong to
 * the block that is now busy with this one, so tg_worker_search_leave must look for another (S1:
 * check). */
TG_FN uint32_t tg_mix_try_lead(struct tg_engine *e, struct tg_worker *lane);
/* The check before sleeping for tg_mix_try_lead (S1). */
TG_FN bool tg_mix_could_lead(struct tg_engine *e, const struct tg_worker *lane);

/* Sets up the block's mix for this task; the caller holds the lock. */
TG_FN void tg_mix_assemble(struct tg_engine *e, struct tg_mix *mix, uint32_t task);

/* Leads the mix that tg_mix_try_lead returned. Like tg_mix_serve, returns a successor to go on with
 * if this lane finished last. */
TG_FN uint32_t tg_mix_lead(struct tg_engine *e, struct tg_worker *lane, uint32_t task);
/* Runs the part in the lane's mail slot. */
TG_FN uint32_t tg_mix_serve(struct tg_engine *e, struct tg_worker *lane);
/* Waits for the other parts, then runs the lane's kernel. TG_PART_STOPPED: the run was stopped
 * before any kernel of the mix began, so the task must not count as done. */
enum tg_part_end { TG_PART_STOPPED, TG_PART_DONE, TG_PART_DONE_LAST };
TG_FN enum tg_part_end tg_mix_run_part(struct tg_engine *e, struct tg_worker *lane, uint32_t task);

/* Offers a plain task that this lane could have continued with. */
TG_FN void tg_mix_hand_on(struct tg_engine *e, struct tg_worker *lane, uint32_t task);

/* Implements tg_mix_barrier, which kernels call. */
TG_FN void tg_mix_meet(const struct tg_ctx *ctx);

/* Called when a run ends: a mix that has not started never will, and its parts stop waiting for
 * each other. A mix that has started runs to its end. */
TG_FN void tg_mix_call_off_all(struct tg_engine *e);

#endif
