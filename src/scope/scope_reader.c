/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "scope/scope_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static tg_status read_summary(const char *samples, struct tg_scope_stats *stats,
                              struct tg_error *error)
{
    const char *slash = strrchr(samples, '/');
    enum { MOST = 64 << 20 };
    struct tg_map map;
    char *path;
    if (asprintf(&path, "%.*s%s", slash ? (int)(slash + 1 - samples) : 0, samples,
                 TG_SCOPE_SUMMARY) < 0)
        return tg_file_no_memory(error);
    int cause = tg_map_load(path, MOST, &map);
    tg_status status = TG_OK;
    if (tg_cause_is_fault(cause))
        status = tg_file_error(error, "read", path, cause);
    free(path);
    const char *problem = cause ? tg_cause_text(cause) : NULL;
    if (!cause)
        problem = tg_scope_guilty_parse(map.bytes, map.size, &stats->guilty);
    if (problem && cause != ENOENT)
        (void)snprintf(stats->summary_problem, sizeof stats->summary_problem, "%s", problem);
    tg_map_close(&map);
    return status;
}

/* --- finding the file ------------------------------------------------------------------------- */

/* The path of the samples in a run's directory: in the folder of the scope stats, or beside it. Returns 0,
 * or a cause that is a fault. */
static int find_in_dir(const char *path, char **file)
{
    enum tg_path_kind kind;
    *file = tg_path_join(path, TG_SCOPE_FOLDER "/" TG_SCOPE_SAMPLES);
    int cause = *file ? tg_path_look(*file, &kind) : ENOMEM;
    if (cause == 0 && kind == TG_PATH_NOTHING) {
        free(*file);
        *file = tg_path_join(path, TG_SCOPE_SAMPLES);
    }
    return *file ? cause : ENOMEM;
}

static tg_status find_samples(const char *path, char **file, struct tg_error *error)
{
    enum tg_path_kind kind;
    int cause = tg_path_look(path, &kind);
    *file = NULL;
    if (cause == 0 && kind == TG_PATH_NOTHING)
        return tg_error_set(error, TG_NOT_FOUND, "there is no '%s'", path);
    if (cause == 0 && kind == TG_PATH_FOLDER)
        cause = find_in_dir(path, file);
    else if (cause == 0)
        cause = (*file = strdup(path)) ? 0 : ENOMEM;
    if (cause == 0)
        return TG_OK;
    free(*file);
    return tg_file_error(error, "read", path, cause);
}

static tg_status open_samples(const char *path, const char *file, struct tg_map *map,
                              struct tg_error *error)
{
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
    char *samples;
    struct tg_map map = {0};
    memset(stats, 0, sizeof *stats);
    if (file)
        *file = NULL;
    tg_status status = find_samples(path, &samples, error);
    if (status != TG_OK)
        return status;
    status = open_samples(path, samples, &map, error);
    if (status == TG_OK)
        status = tg_scope_parse_samples(samples, &map, each, context, stats, error);
    if (tg_map_check(&map) != 0)
        status = tg_map_report(&map, samples, error);
    tg_map_close(&map);
    if (status == TG_OK)
        status = read_summary(samples, stats, error);
    if (status == TG_OK && stats->guilty.known &&
        !tg_scope_tally_fatal(&stats->tally, &stats->guilty.fatal))
        status = tg_file_no_memory(error);
    tg_scope_tally_end(&stats->tally);
    if (file && status == TG_OK)
        *file = samples;
    else
        free(samples);
    return status;
}
