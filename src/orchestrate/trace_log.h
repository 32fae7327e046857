/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the orchestrator adds to the trace of a run (wire/trace.h): submits, waits, scopes and samples of
 * the rings. The edges come from edge_log.h. All of it hides behind branches that the orchestrator takes
 * anyway for its logs, so that a run without a trace pays nothing.
 *
 * A submit costs one look at the clock: its event begins where the orchestrator's last one ended, so it
 * includes the code of the orchestration in between.
 */
#ifndef TG_ORCHESTRATE_TRACE_LOG_H
#define TG_ORCHESTRATE_TRACE_LOG_H

#include "orchestrate/orchestrator.h"

/* Called before a run that is traced, and when its orchestration begins. */
TG_FN void tg_trace_log_open(struct tg_orchestrator *self);

/* All edges of the task being submitted are made, and nothing lets it start yet. */
TG_FN void tg_trace_log_submit(struct tg_orchestrator *self);
TG_FN void tg_trace_log_wait(struct tg_orchestrator *self, enum tg_resource resource, uint64_t task,
                             uint64_t began, uint64_t ended);
TG_FN void tg_trace_log_scope_begin(struct tg_orchestrator *self, struct tg_open_scope *scope);
/* Called before the tasks that the scope holds back may start. */
TG_FN void tg_trace_log_scope_end(struct tg_orchestrator *self, const struct tg_open_scope *scope);

#endif
