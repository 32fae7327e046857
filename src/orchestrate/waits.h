/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the orchestrator waited for room: which resource of which ring, in which scope, at which
 * source line, how often and how long. The host reads the table (struct tg_wait) when the run is
 * over, for the warning RING_BUFFER_BACKPRESSURE. Only a call that has waited comes here.
 */
#ifndef TG_ORCHESTRATE_WAITS_H
#define TG_ORCHESTRATE_WAITS_H

#include "orchestrate/orchestrator.h"

TG_FN void tg_waits_clear(struct tg_orchestrator *self);
/* The call at self->line has waited for that resource of ring self->want_ring. */
TG_FN void tg_waited(struct tg_orchestrator *self, enum tg_resource resource, uint64_t nanoseconds);

#endif
