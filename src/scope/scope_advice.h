/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the advice that taskglass/scope_stats.h explains. */
#ifndef TG_SCOPE_SCOPE_ADVICE_H
#define TG_SCOPE_SCOPE_ADVICE_H

#include "scope/scope_reader.h"

struct tg_scope_advice {
    uint32_t n_rings;
    bool partial; /* part of the run is unknown, or it waited: nothing is made smaller */
    /* The tensor map, which belongs to no ring, is at [TG_SCOPE_TENSORMAP][0]. */
    struct tg_scope_need need[TG_SCOPE_RESOURCES][TG_SCOPE_RINGS];
    uint64_t memory;      /* of the device, in bytes; 0: unknown */
    uint64_t more_memory; /* that larger rings need; 0: there is enough */
};

void tg_scope_advise(const struct tg_scope_stats *stats, struct tg_scope_advice *advice);

struct tg_scope_option {
    char text[128];
};
/* The option to type: "--ring-task-window 391", "--ring-heap 4K,1M,4K,4K"; "" if the setting is
 * right, or if no setting is large enough. */
const char *tg_scope_option(const struct tg_scope_advice *advice, unsigned resource,
                            struct tg_scope_option *option);
/* A number of bytes as options take it: "4G". */
const char *tg_scope_bytes(uint64_t bytes, struct tg_scope_option *option);
/* "--device-memory 6G" if larger rings need more memory than the device has; otherwise "". */
const char *tg_scope_memory_option(const struct tg_scope_advice *advice,
                                   struct tg_scope_option *option);
/* The present setting in the same words: "16384", "4K,1M,4K,4K". */
const char *tg_scope_present(const struct tg_scope_advice *advice, unsigned resource,
                             struct tg_scope_option *option);
/* The worst verdict of the rings: the present setting is too small, too large, or right. */
enum tg_scope_verdict tg_scope_overall(const struct tg_scope_advice *advice, unsigned resource);

#endif
