/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALE_H
#define SCALE_H

#include <taskglass/workload.h>

enum { K_SCALE };

TG_FN void scale(const struct tg_ctx *ctx);
TG_FN void scale_graph(struct tg_rt *rt, const struct tg_args *args);

#endif
