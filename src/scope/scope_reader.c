/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "scope/scope_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/files.h"
#include "scope/scope_parse.h"

void tg_scope_stats_free(struct tg_scope_stats *stats)
{
    tg_scope_tally_free(&stats->tally);
}

bool tg_scope_stats_complete(const struct tg_scope_stats *stats)
{
    uint64_t samples = stats->tally.samples;
    /* Implementations differ in whether the total includes the dropped samples. */
    return !stats->torn && (samples == stats->total || (stats->total >= stats->dropped &&
                                                        samples == stats->total - stats->dropped));
}

/* The summary adds to what the samples say. If it is missing or broken, the samples alone count. */
static void read_summary(const char *samples, struct tg_scope_stats *stats)
{
    const char *slash = strrchr(samples, '/');
    enum { MOST = 64 << 20 };
    struct tg_map map;
    char *path;
    if (asprintf(&path, "%.*s%s", slash ? (int)(slash + 1 - samples) : 0, samples,
                 TG_SCOPE_SUMMARY) < 0)
        return;
    int cause = tg_map_load(path, MOST, &map);
    free(path);
    const char *problem = cause ? tg_cause_text(cause) : NULL;
    if (!cause)
        problem = tg_scope_guilty_parse(map.bytes, map.size, &stats->guilty);
    if (problem && cause != ENOENT)
        (void)snprintf(stats->summary_problem, sizeof stats->summary_problem, "%s", problem);
    tg_map_close(&map);
}

/* --- finding the file ------------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

/* Returns NULL if memory ran out. */
static char *samples_in(const char *path)
{
    char *inside = tg_path_join(path, TG_SCOPE_FOLDER "/" TG_SCOPE_SAMPLES);
    if (!is_directory(path)) {
        free(inside);
        return strdup(path);
    }
    if (!inside || exists(inside))
        return inside;
    free(inside);
    return tg_path_join(path, TG_SCOPE_SAMPLES);
}

static tg_status open_samples(const char *path, const char *file, struct tg_map *map,
                              struct tg_error *error)
{
    if (!exists(path))
        return tg_error_set(error, TG_NOT_FOUND, "there is no '%s'", path);
    int cause = tg_map_text(file, map);
    if (cause == ENOENT)
        return tg_error_set(error, TG_NOT_FOUND,
                            "'%s' has no scope stats; a run has them with --enable-scope-stats",
                            path);
    return cause ? tg_file_error(error, "read", file, cause) : TG_OK;
}

tg_status tg_scope_stats_read(const char *path, tg_scope_sample_fn each, void *context,
                              struct tg_scope_stats *stats, char **file, struct tg_error *error)
{
    char *samples = samples_in(path);
    struct tg_map map = {0};
    memset(stats, 0, sizeof *stats);
    if (file)
        *file = NULL;
    if (!samples)
        return tg_file_no_memory(error);
    tg_status status = open_samples(path, samples, &map, error);
    if (status == TG_OK)
        status = tg_scope_parse_samples(samples, &map, each, context, stats, error);
    if (tg_map_check(&map) != 0)
        status = tg_map_report(&map, samples, error);
    tg_map_close(&map);
    if (status == TG_OK) {
        read_summary(samples, stats);
        if (stats->guilty.known && !tg_scope_tally_fatal(&stats->tally, &stats->guilty.fatal))
            status = tg_file_no_memory(error);
    }
    tg_scope_tally_end(&stats->tally);
    if (file && status == TG_OK)
        *file = samples;
    else
        free(samples);
    return status;
}
