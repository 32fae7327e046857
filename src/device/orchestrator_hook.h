/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The orchestrator as the engine sees it: one more worker, which makes tasks while others run them.
 * src/orchestrate defines these functions; the engine is linked with them and knows nothing else
 * about them. They are plain functions, not pointers in a table: on a GPU the size of a thread's
 * stack is computed from the call graph, which ends at a pointer.
 */
#ifndef TG_DEVICE_ORCHESTRATOR_HOOK_H
#define TG_DEVICE_ORCHESTRATOR_HOOK_H

#include "device/engine.h"

struct tg_orchestrator;

/* Its size in bytes; the engine reserves them and aligns them to a cache line. */
TG_FN uint64_t tg_orchestrator_size(void);
/* Called before a run, by the thread that prepares the engine. */
TG_FN void tg_orchestrator_prepare(struct tg_orchestrator *self, struct tg_engine *e,
                                   struct tg_orchestration *o, tg_orchestrate_fn orchestrate,
                                   const char *root_site);
/* Runs the orchestrator's part of a run, on its own thread. */
TG_FN void tg_orchestrator_run(struct tg_orchestrator *self);

#endif
