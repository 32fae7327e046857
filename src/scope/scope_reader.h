/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading scope stats: ours, and those of another implementation, which have no peaks. The samples'
 * file is read once from front to end; nothing is kept per sample, and no number in it decides how
 * much is allocated.
 *
 * What a killed host leaves is read: a first line with the numbers of the start, a last line that is
 * cut short. So are samples without their counterpart. Anything else that is not as it should be is
 * an error, with its line.
 *
 * The functions are exported for the command line, and no part of the public interface.
 */
#ifndef TG_SCOPE_SCOPE_READER_H
#define TG_SCOPE_SCOPE_READER_H

#include "scope/scope_tally.h"

/* What the summary says about the end of the run. */
struct tg_scope_guilty {
    bool known;
    struct tg_scope_fatal fatal; /* its strings are the ones below; NULL where they are empty */
    char site[256], advice[256], error[256];
};

struct tg_scope_stats {
    /* from the first line */
    bool fatal;
    uint64_t dropped, total;
    /* from the samples: peaks, sites, rings */
    struct tg_scope_tally tally;
    uint64_t ends_with_peak;
    bool torn; /* the last line is cut short */
    /* from the summary beside it, where there is one */
    struct tg_scope_guilty guilty;
    char summary_problem[200]; /* why it could not be read; "" where it could, or there is none */
};

/* A sample as the tally left it, its site by number, counted from 0. False ends the reading. */
typedef bool (*tg_scope_sample_fn)(void *context, uint64_t index, uint32_t site,
                                   const struct tg_scope_sample *sample);

/*
 * `path`: a run's directory, its scope_stats, or the samples' file. *file, where it is not NULL, is
 * the samples' file, to be freed by the caller. `each` may be NULL. The stats are the caller's to
 * free, whatever comes of it. NOT_FOUND: nothing there; BAD_ARGUMENT: broken, says where.
 */
TG_API tg_status tg_scope_stats_read(const char *path, tg_scope_sample_fn each, void *context,
                                     struct tg_scope_stats *stats, char **file,
                                     struct tg_error *error);
TG_API void tg_scope_stats_free(struct tg_scope_stats *stats);

/* The file says of itself that it is all, and it is. */
TG_API bool tg_scope_stats_complete(const struct tg_scope_stats *stats);

#endif
