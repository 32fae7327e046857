/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of an orchestration (orchestration.h), each in the file that its comment names. */
#ifndef TG_ORCHESTRATE_CALLS_H
#define TG_ORCHESTRATE_CALLS_H

#include "orchestrate/orchestrator.h"

TG_FN static inline struct tg_orchestrator *tg_of_rt(struct tg_rt *rt)
{
    return (struct tg_orchestrator *)rt;
}

/* False if the run has ended or failed: the call must then do nothing. */
TG_FN static inline bool tg_runs(struct tg_orchestrator *self)
{
    if (self->mode == TG_MODE_RUNS && !tg_engine_running(self->e))
        self->mode = TG_MODE_ENDED; /* stopped from outside */
    return self->mode == TG_MODE_RUNS;
}

TG_FN static inline bool tg_is_in_memory(const struct tg_orchestrator *self,
                                         const struct tg_tensor *t)
{
    return t->storage_bytes == 0 ||
           (t->addr >= self->o->memory_start && t->addr <= self->o->memory_end &&
            t->storage_bytes <= self->o->memory_end - t->addr);
}

/* False if the scope that owns the tensor's memory has ended: another scope may use that memory
 * now. */
TG_FN static inline bool tg_is_alive(const struct tg_orchestrator *self, const struct tg_tensor *t)
{
    return t->owner_depth == 0 ||
           (t->owner_depth <= self->depth && self->scope[t->owner_depth - 1].serial == t->owner);
}

/* submit.c */
TG_FN uint64_t tg_call_submit(struct tg_rt *rt, const uint32_t kernel[TG_PARTS],
                              const struct tg_args *args, const char *site);
TG_FN void tg_call_depend(struct tg_rt *rt, uint64_t task, uint64_t after, const char *site);
/* The tensor map calls it for each task that the task being submitted has to wait for. */
TG_FN void tg_submit_found(struct tg_map_user *user, uint64_t ref, enum tg_edge_kind kind);
TG_FN void tg_submit_forgot(struct tg_map_user *user, uint64_t ref);
TG_FN bool tg_submit_wait_for_entries(struct tg_map_user *user);
/* Offers a task that waits for nothing any more. */
TG_FN void tg_offer(struct tg_orchestrator *self, uint32_t slot);
/* Finds the task that an id names. Returns false if there is none, and true with *ref 0 if the task
 * completed long ago. */
TG_FN bool tg_find_task(const struct tg_orchestrator *self, uint64_t id, uint64_t *ref);

/* scope_calls.c */
TG_FN struct tg_tensor tg_call_alloc(struct tg_rt *rt, unsigned dtype, int ndim,
                                     const int64_t *shape, const char *site);
TG_FN void tg_call_scope_begin(struct tg_rt *rt, enum tg_scope_kind kind, const char *site);
TG_FN void tg_call_scope_end(struct tg_rt *rt);
/* Allocates memory of the current scope for the tensor. */
TG_FN bool tg_allocate(struct tg_orchestrator *self, struct tg_tensor *t, const char *site);
/* For scope stats: the resource of the ring is full although more is wanted; the orchestration waited
 * for it. The ring of the tensor map is that of the current scope. */
TG_FN void tg_scope_found_full(struct tg_orchestrator *self, enum tg_resource resource,
                               const struct tg_ring *ring);
TG_FN void tg_scope_waited(struct tg_orchestrator *self, enum tg_resource resource,
                           const struct tg_ring *ring, uint64_t nanoseconds);
/* For scope stats: something of the ring was taken. */
TG_FN void tg_take_peak(struct tg_orchestrator *self, struct tg_ring *ring);
/* Begins a scope even if the run has failed, because the orchestration's own scope must always be
 * open. */
TG_FN void tg_begin_scope(struct tg_orchestrator *self, enum tg_scope_kind kind, const char *site);
TG_FN void tg_end_scope(struct tg_orchestrator *self);

/* result.c */
TG_FN struct tg_tensor tg_call_output(struct tg_rt *rt, uint64_t task, uint32_t argument,
                                      const char *site);
TG_FN uint64_t tg_call_read(struct tg_rt *rt, const struct tg_tensor *tensor, uint64_t producer,
                            const char *site);
TG_FN uint64_t tg_call_table(struct tg_rt *rt, const struct tg_tensor *tensor, const int64_t *index,
                             uint32_t n, const char *site);

/* comm_calls.c */
TG_FN int32_t tg_call_rank(struct tg_rt *rt);
TG_FN int32_t tg_call_ranks(struct tg_rt *rt);
TG_FN uint64_t tg_call_communicate(struct tg_rt *rt, enum tg_comm_kind kind, int32_t peer,
                                   int32_t tag, int32_t operation, const struct tg_args *args,
                                   const char *site);
/* Before a run: no call has been numbered. */
TG_FN void tg_comm_counts_clear(const struct tg_engine *e);

#endif
