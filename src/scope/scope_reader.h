/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads scope stats: ours, and those of another implementation, which have no peaks. The samples'
 * file is read once from front to end; nothing is kept per sample, and no number in it decides how
 * much is allocated.
 *
 * The reader accepts what a killed host leaves: a first line with the numbers of the start, and a
 * last line that is cut short. It also accepts samples without their counterpart. Any other defect
 * is an error that names the line.
 */
#ifndef TG_SCOPE_SCOPE_READER_H
#define TG_SCOPE_SCOPE_READER_H

#include "scope/scope_tally.h"

/* What the summary says about the end of the run. */
struct tg_scope_guilty {
    bool known;
    struct tg_scope_fatal fatal; /* its strings are the ones below; NULL if they are empty */
    char site[256], advice[256], error[256];
};

struct tg_scope_stats {
    /* from the first line */
    bool fatal;
    uint64_t dropped, total;
    /* from the samples: peaks, sites, rings */
    struct tg_scope_tally tally;
    uint64_t ends_with_peak;
    bool torn;      /* true: the last line is cut short */
    bool has_fanin; /* another implementation's file, with a fanin pool */
    /* from the summary beside the samples, if there is one */
    struct tg_scope_guilty guilty;
    char summary_problem[200]; /* why it could not be read; "" if it was read or does not exist */
    /* Path of the stats if tg_scope_stats_open read them, owned; else NULL. */
    char *file;
    char run[256]; /* the name of the run's directory; "" if it is not known */
};

/*
 * `path`: a run's directory, its scope_stats, or the samples' file. If `file` is not NULL, *file
 * receives the path of the samples' file, which the caller frees. `each` may be NULL. The caller
 * frees the stats, also after an error. NOT_FOUND: there are no scope stats; BAD_ARGUMENT: a file
 * is broken, the error says where.
 */
tg_status tg_scope_stats_read(const char *path, tg_scope_sample_fn each, void *context,
                              struct tg_scope_stats *stats, char **file, struct tg_error *error);
void tg_scope_stats_free(struct tg_scope_stats *stats);

/* True if the file says that it is complete, and it is. */
bool tg_scope_stats_complete(const struct tg_scope_stats *stats);

#endif
