/* SPDX-License-Identifier: Apache-2.0 */
/* Whether one task waits for another in deps.json, directly or through others. */
#ifndef TG_ANALYSIS_DEPS_ORDER_H
#define TG_ANALYSIS_DEPS_ORDER_H

#include "analysis/deps.h"

struct tg_order {
    const struct tg_deps *deps;
    uint32_t *mark; /* of each task: the last search that came by; NULL: there was none */
    uint32_t search;
    uint64_t searched; /* edges that all searches have looked at */
};

/* True if `after` waits for `before`; both are tasks of deps.json. Searches stop after 2^26 edges in
 * all, so that they take bounded time. From then on, and without memory, every task waits: nobody is
 * accused without proof. */
bool tg_order_waits(struct tg_order *order, uint32_t before, uint32_t after);
void tg_order_free(struct tg_order *order);

#endif
