/* SPDX-License-Identifier: Apache-2.0 */
/* host_build_graph: calls the orchestration function here, and keeps the graph it built. */
#ifndef TG_HBG_ORCHESTRATE_H
#define TG_HBG_ORCHESTRATE_H

#include <taskglass/graph.h>
#include <taskglass/workload.h>

struct tg_hbg;

/* The first error of the orchestration, with its source line, or the graph. */
tg_status tg_hbg_orchestrate(struct tg_device *device, struct tg_module *module,
                             const struct tg_workload *workload, const struct tg_args *args,
                             struct tg_hbg **hbg, struct tg_error *error);
struct tg_graph *tg_hbg_graph(struct tg_hbg *hbg);
/* Also frees the memory that tg_alloc gave. */
void tg_hbg_destroy(struct tg_hbg *hbg);

#endif
