/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the advice that taskglass/scope_stats.h explains. */
#ifndef TG_SCOPE_SCOPE_ADVICE_H
#define TG_SCOPE_SCOPE_ADVICE_H

#include "scope/scope_reader.h"

struct tg_scope_advice {
    uint32_t n_rings;
    bool partial; /* part of the run is unknown */
    /* The tensor map, which belongs to no ring, is at [TG_SCOPE_TENSORMAP][0]. */
    struct tg_scope_need need[TG_SCOPE_RESOURCES][TG_SCOPE_RINGS];
};

void tg_scope_advise(const struct tg_scope_stats *stats, struct tg_scope_advice *advice);

struct tg_scope_option {
    char text[128];
};
/* The option to type: "--ring-task-window 391", "--ring-heap 4K,1M,4K,4K"; "" if the setting is
 * right. */
const char *tg_scope_option(const struct tg_scope_advice *advice, unsigned resource,
                            struct tg_scope_option *option);
/* The present setting in the same words: "16384", "4K,1M,4K,4K". */
const char *tg_scope_present(const struct tg_scope_advice *advice, unsigned resource,
                             struct tg_scope_option *option);
/* The worst verdict of the rings: the present setting is too small, too large, or right. */
enum tg_scope_verdict tg_scope_overall(const struct tg_scope_advice *advice, unsigned resource);

#endif
