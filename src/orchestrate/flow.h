/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow control: what the orchestrator does when a resource is full. It waits for tasks to complete,
 * and all tasks that it has submitted and does not hold back can complete. But if the resource
 * belongs to scopes that are still open, that wait could never end. Then the run fails at once, and
 * the orchestration continues as a dry run that makes no tasks and counts how large the ring would
 * have to be.
 */
#ifndef TG_ORCHESTRATE_FLOW_H
#define TG_ORCHESTRATE_FLOW_H

#include "orchestrate/orchestrator.h"

/* Waits until the task with this index in the ring has completed. Returns false if the run is over,
 * or if the task will never complete because a scope holds back a task that it waits for. */
TG_FN bool tg_flow_await(struct tg_orchestrator *self, uint32_t ring, uint64_t index,
                         enum tg_resource resource);

/* Each returns false if it has failed or the run is over. */
TG_FN bool tg_flow_want_slot(struct tg_orchestrator *self, struct tg_ring *ring, const char *site);
TG_FN bool tg_flow_want_heap(struct tg_orchestrator *self, struct tg_ring *ring, uint64_t bytes,
                             uint64_t *address, const char *site);
/* Gets a free dependency; or sets *met, because `before` has completed and no dependency is
 * needed. */
TG_FN bool tg_flow_want_dep(struct tg_orchestrator *self, struct tg_ring *ring, uint32_t before,
                            bool *met);
/* For the tensor map: returns true after a task has completed. */
TG_FN bool tg_flow_wait_for_any(struct tg_orchestrator *self, enum tg_resource resource);

/* Called if the resource is full and can never drain. Returns false. */
TG_FN bool tg_flow_fail(struct tg_orchestrator *self, tg_status status, enum tg_resource resource,
                        uint32_t ring, uint64_t wanted, const char *site);

/* The dry run: counts what the orchestration goes on asking for. */
TG_FN void tg_count_submit(struct tg_orchestrator *self, const struct tg_args *args);
TG_FN void tg_count_edge(struct tg_orchestrator *self);
TG_FN void tg_count_alloc(struct tg_orchestrator *self, uint64_t bytes);
TG_FN void tg_count_scope(struct tg_orchestrator *self);
/* Called when a scope has ended. Returns true if everything stays in use, because a scope around it
 * holds tasks back. */
TG_FN bool tg_count_keeps(struct tg_orchestrator *self);
/* Ends the dry run: at the orchestration's end, or because its course depends on a result. */
TG_FN void tg_count_end(struct tg_orchestrator *self, bool complete);

#endif
