/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rings and the tensor map should be set to, from what a run used. Smallest safe is what
 * was in use at a time: no scope can then hold more than there is, so a run like this one cannot fail
 * for want of room, though it may wait for it more often. The heap gets the largest step on top, since
 * what is asked for has to lie in one piece and the end of the ring may have to be skipped for it.
 *
 * Samples without measured peaks tell less: then it is what can have been in use in between.
 *
 * A run that failed, or of which samples are missing, may have wanted more than is known: nothing is
 * advised then to be made smaller.
 *
 * The functions are exported for the command line, and no part of the public interface.
 */
#ifndef TG_SCOPE_SCOPE_ADVICE_H
#define TG_SCOPE_SCOPE_ADVICE_H

#include "scope/scope_reader.h"

enum tg_scope_verdict {
    TG_SCOPE_ABSENT,    /* this run has no such thing */
    TG_SCOPE_SO_FAR,    /* enough for what is known of the run */
    TG_SCOPE_LARGER,    /* than needed */
    TG_SCOPE_FITS,      /* exactly */
    TG_SCOPE_TIGHT,     /* enough for this run, without the margin */
    TG_SCOPE_FULL,      /* was full; the orchestration may have waited */
    TG_SCOPE_TOO_SMALL, /* the run failed for want of it */
};

struct tg_scope_need {
    uint64_t peak, capacity, smallest;
    enum tg_scope_verdict verdict;
};

struct tg_scope_advice {
    uint32_t n_rings;
    bool partial; /* not all of a run is known */
    /* The tensor map, which belongs to no ring, is at [TG_SCOPE_TENSORMAP][0]. */
    struct tg_scope_need need[TG_SCOPE_RESOURCES][TG_SCOPE_RINGS];
};

TG_API void tg_scope_advise(const struct tg_scope_stats *stats, struct tg_scope_advice *advice);

/* "larger", "fits", "tight", "full", "too_small", "so_far", "absent". */
TG_API const char *tg_scope_verdict_name(unsigned verdict);

struct tg_scope_option {
    char text[128];
};
/* What to type: "--ring-task-window 391", "--ring-heap 4K,1M,4K,4K"; "" where there is nothing to
 * set. */
TG_API const char *tg_scope_option(const struct tg_scope_advice *advice, unsigned resource,
                                   struct tg_scope_option *option);
/* What is set now, in the same words: "16384", "4K,1M,4K,4K". */
TG_API const char *tg_scope_present(const struct tg_scope_advice *advice, unsigned resource,
                                    struct tg_scope_option *option);
/* The worst of the rings: is the setting as it is too small, too large, right? */
TG_API enum tg_scope_verdict tg_scope_overall(const struct tg_scope_advice *advice,
                                              unsigned resource);

#endif
