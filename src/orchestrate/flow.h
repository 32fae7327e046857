/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow control: what the orchestrator does when something is full. It waits for tasks to complete
 * (all that it has submitted and does not hold back can), unless what it needs belongs to scopes
 * that are still open: that wait could never end. Then the run fails at once, and the
 * orchestration is run on without making tasks, to count how large the ring would have to be.
 */
#ifndef TG_ORCHESTRATE_FLOW_H
#define TG_ORCHESTRATE_FLOW_H

#include "orchestrate/orchestrator.h"

/* Waits until the task with this index in the ring has completed. False where the run is over, or
 * where it never will, because a scope holds back what it waits for. */
TG_FN bool tg_flow_await(struct tg_orchestrator *self, uint32_t ring, uint64_t index,
                         enum tg_resource resource);

/* Each gives false where it has failed, or the run is over. */
TG_FN bool tg_flow_want_slot(struct tg_orchestrator *self, struct tg_ring *ring, const char *site);
TG_FN bool tg_flow_want_heap(struct tg_orchestrator *self, struct tg_ring *ring, uint64_t bytes,
                             uint64_t *address, const char *site);
/* A free dependency; or *met is true: instead, `before` has completed. */
TG_FN bool tg_flow_want_dep(struct tg_orchestrator *self, struct tg_ring *ring, uint32_t before,
                            bool *met);
/* For the tensor map: true after something has completed. */
TG_FN bool tg_flow_wait_for_any(struct tg_orchestrator *self, enum tg_resource resource);

/* The resource is full and can never drain. Gives false. */
TG_FN bool tg_flow_fail(struct tg_orchestrator *self, tg_status status, enum tg_resource resource,
                        uint32_t ring, uint64_t wanted, const char *site);

/* After that: what the orchestration goes on asking for. */
TG_FN void tg_count_submit(struct tg_orchestrator *self, const struct tg_args *args);
TG_FN void tg_count_edge(struct tg_orchestrator *self);
TG_FN void tg_count_alloc(struct tg_orchestrator *self, uint64_t bytes);
TG_FN void tg_count_scope(struct tg_orchestrator *self);
/* A scope has ended: does all stay nevertheless, because one around it holds tasks back? */
TG_FN bool tg_count_keeps(struct tg_orchestrator *self);
/* It ends here: at the orchestration's end, or because its course depends on a result. */
TG_FN void tg_count_end(struct tg_orchestrator *self, bool complete);

#endif
