/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One trace of all ranks of a run. The trace of each rank is its own file, or is made of its recording in a
 * file without a name; src/trace/merge.h puts them together.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/ranks.h>
#include <taskglass/ranks_answers.h>
#include <taskglass/ranks_trace.h>
#include <taskglass/recording.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/new_file.h"
#include "export/export_trace.h"
#include "trace/merge.h"
#include "trace/temporary.h"

/* A rank on the way. */
struct rank {
    struct tg_ranks_rank info;
    struct tg_calls *calls; /* NULL: none */
    char *path;             /* of its trace; NULL: none */
    char *name;             /* of what it was made of, for messages */
    int fd;                 /* of a file without a name, or -1 */
};

struct work {
    const struct tg_ranks_trace_config *config;
    struct tg_ranks_trace_result *result;
    struct tg_error *error;
    struct tg_ranks *ranks;
    struct tg_ranks_info info;
    struct rank *rank;
    struct tg_merge_rank *merge;
    enum tg_trace_format format;
    char *folder;        /* with room for temporary files */
    uint32_t at;         /* the rank at hand */
    bool has_only_calls; /* result->why is about calls */
};

static bool is_stdout(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *tg_ranks_trace_name(const char *file)
{
    bool is_chrome = file && (is_stdout(file) || tg_trace_format_of(file) == TG_TRACE_CHROME);
    return is_chrome ? "trace.json" : "trace.pftrace";
}

/* The first reason is kept: of many ranks it is nearly always the same. That a rank is missing counts more than that
 * its calls are. */
static void say_missing(struct work *work, const char *why)
{
    if (!*work->result->why || work->has_only_calls)
        (void)snprintf(work->result->why, sizeof work->result->why, "rank %u: %.260s", work->at,
                       why);
    work->has_only_calls = false;
}

static void say_no_calls(struct work *work, const char *why)
{
    if (*work->result->why)
        return;
    (void)snprintf(work->result->why, sizeof work->result->why,
                   "rank %u is without its calls: %.230s", work->at, why);
    work->has_only_calls = true;
}

static int tell(struct work *work)
{
    tg_export_progress_fn progress = work->config->progress;
    return progress ? progress(work->config->progress_context, work->at, work->info.ranks) : 0;
}

static int tell_rank(void *context, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    return tell(context);
}

static bool goes_on(void *context)
{
    return tell(context) == 0;
}

/* --- what each rank left --------------------------------------------------------------------- */

/* A reason that is about this rank's files, and not about the machine. */
static bool is_about_files(tg_status status)
{
    return status == TG_NOT_FOUND || status == TG_BAD_ARGUMENT || status == TG_UNSUPPORTED;
}

static tg_status find_trace(struct work *work, struct rank *rank)
{
    const char *name = tg_ranks_trace_name(work->config->path);
    enum tg_path_kind kind;
    char *path = tg_path_join(rank->info.dir, name);
    if (!path)
        return tg_file_no_memory(work->error);
    int cause = tg_path_look(path, &kind);
    if (cause == 0 && kind == TG_PATH_FILE)
        rank->path = path;
    else
        free(path);
    return cause == 0 ? TG_OK : tg_file_error(work->error, "read", rank->info.dir, cause);
}

static tg_status export_rank(struct work *work, struct rank *rank,
                             const struct tg_recording *recording)
{
    char path[64];
    int fd = tg_temporary_open(work->folder), copy = fd < 0 ? -1 : dup(fd);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "wb");
    if (!file) {
        tg_status status = tg_temporary_error(work->error, work->folder, errno);
        if (copy >= 0)
            (void)close(copy);
        if (fd >= 0)
            (void)close(fd);
        return status;
    }
    tg_status status = tg_export_trace_to(recording, file, work->folder, work->format, tell_rank,
                                          work, work->error);
    if (fclose(file) != 0 && status == TG_OK)
        status = tg_temporary_error(work->error, work->folder, errno);
    if (status != TG_OK) {
        (void)close(fd);
        return status;
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    rank->fd = fd;
    rank->path = strdup(path);
    rank->name = strdup(rank->info.dir);
    return rank->path && rank->name ? TG_OK : tg_file_no_memory(work->error);
}

static tg_status take_recording(struct work *work, struct rank *rank)
{
    struct tg_recording *recording;
    tg_status status = tg_recording_open(rank->info.dir, &recording, work->error);
    if (status == TG_OK) {
        status = export_rank(work, rank, recording);
        tg_recording_close(recording);
    }
    if (!is_about_files(status))
        return status;
    say_missing(work, work->error->text);
    return TG_OK;
}

static tg_status take_calls(struct work *work, struct rank *rank)
{
    tg_status status = tg_calls_open(rank->info.dir, &rank->calls, work->error);
    if (status != TG_OK)
        rank->calls = NULL;
    if (status == TG_BAD_ARGUMENT) /* a workload without calls has no file at all */
        say_no_calls(work, work->error->text);
    return is_about_files(status) ? TG_OK : status;
}

static tg_status take_rank(struct work *work, uint32_t number)
{
    struct rank *rank = &work->rank[number];
    tg_status status = TG_OK;
    work->at = number;
    if (!tg_ranks_get(work->ranks, number, &rank->info))
        return TG_OK;
    struct tg_error why;
    if (!rank->info.is_there) {
        say_missing(work, "its folder is not here");
    } else if (tg_ranks_check_folder(work->ranks, number, &why) == TG_BAD_ARGUMENT) {
        say_missing(work, why.text); /* it would be drawn as the process of another rank */
    } else {
        if (!work->config->recorded)
            status = find_trace(work, rank);
        if (status == TG_OK && !rank->path)
            status = take_recording(work, rank);
        if (status == TG_OK)
            status = take_calls(work, rank);
    }
    const struct tg_ranks_clock *clock = &rank->info.clock;
    if (clock->is_known && clock->error_ns > 0 &&
        (uint64_t)clock->error_ns > work->result->clock_error_ns)
        work->result->clock_error_ns = (uint64_t)clock->error_ns;
    work->merge[number] = (struct tg_merge_rank){.rank = number,
                                                 .host = rank->info.host,
                                                 .path = rank->path,
                                                 .name = rank->name,
                                                 .clock = *clock,
                                                 .calls = rank->calls};
    return status;
}

static tg_status take_ranks(struct work *work)
{
    size_t n = work->info.ranks;
    work->rank = calloc(n + 1, sizeof *work->rank);
    work->merge = calloc(n + 1, sizeof *work->merge);
    if (!work->rank || !work->merge)
        return tg_file_no_memory(work->error);
    for (size_t i = 0; i < n; i++)
        work->rank[i].fd = -1;
    bool is_any = false;
    for (uint32_t i = 0; i < n; i++) {
        tg_status status = take_rank(work, i);
        if (status != TG_OK)
            return status;
        is_any |= work->rank[i].path != NULL;
    }
    if (is_any)
        return TG_OK;
    return tg_error_set(work->error, TG_NOT_FOUND, "'%s' has no times of any rank: %s",
                        work->config->dir, work->result->why);
}

/* --- the file -------------------------------------------------------------------------------- */

static tg_status merge(struct work *work, FILE *file)
{
    struct tg_merge_result made;
    struct tg_merge_config config = {.rank = work->merge,
                                     .n_ranks = work->info.ranks,
                                     .transport = work->info.transport,
                                     .workload = work->info.workload,
                                     .path = work->config->path,
                                     .file = file,
                                     .format = work->format,
                                     .goes_on = goes_on,
                                     .context = work};
    tg_status status = tg_trace_merge(&config, &made, work->error);
    struct tg_ranks_trace_result *result = work->result;
    result->shown = made.traces;
    result->unsure = made.unsure;
    result->calls = made.calls;
    result->arrows = made.arrows;
    result->backward = made.backward;
    result->left_out = made.left_out;
    result->bytes = made.bytes;
    return status;
}

static tg_status write_file(struct work *work)
{
    struct tg_new_file *file;
    const char *path = work->config->path;
    if (is_stdout(path))
        return merge(work, stdout);
    tg_status status = tg_new_file_open(path, work->config->overwrite, &file, work->error);
    if (status != TG_OK)
        return status;
    status = merge(work, tg_new_file_stream(file));
    tg_status closed =
        tg_new_file_close(file, status == TG_OK, status == TG_OK ? work->error : NULL);
    return status == TG_OK ? closed : status;
}

/* Beside the file, where there is room for it; in /tmp if it goes to standard output. */
static tg_status name_folder(struct work *work)
{
    const char *path = work->config->path, *slash = strrchr(path, '/');
    if (is_stdout(path))
        work->folder = strdup(P_tmpdir);
    else if (!slash)
        work->folder = strdup(".");
    else
        work->folder = strndup(path, slash == path ? 1 : (size_t)(slash - path));
    return work->folder ? TG_OK : tg_file_no_memory(work->error);
}

static void release(struct work *work)
{
    for (uint32_t i = 0; work->rank && i < work->info.ranks; i++) {
        struct rank *rank = &work->rank[i];
        tg_calls_close(rank->calls);
        free(rank->path);
        free(rank->name);
        if (rank->fd >= 0)
            (void)close(rank->fd);
    }
    free(work->rank);
    free(work->merge);
    free(work->folder);
    tg_ranks_close(work->ranks);
}

tg_status tg_ranks_trace_write(const struct tg_ranks_trace_config *config,
                               struct tg_ranks_trace_result *result, struct tg_error *error)
{
    TG_REFUSE_NULL(error, config);
    TG_REFUSE_NULL(error, config->dir);
    TG_REFUSE_NULL(error, config->path);
    struct tg_ranks_trace_result unread;
    struct tg_error unsaid;
    struct work work = {
        .config = config, .result = result ? result : &unread, .error = error ? error : &unsaid};
    *work.result = (struct tg_ranks_trace_result){0};
    if (strcmp(tg_ranks_trace_name(config->path), "trace.json") == 0)
        work.format = TG_TRACE_CHROME;
    tg_status status = tg_ranks_open(config->dir, &work.ranks, work.error);
    if (status != TG_OK)
        return status;
    tg_ranks_get_info(work.ranks, &work.info);
    work.result->ranks = work.info.ranks;
    status = name_folder(&work);
    if (status == TG_OK)
        status = take_ranks(&work);
    if (status == TG_OK)
        status = write_file(&work);
    release(&work);
    return status;
}
