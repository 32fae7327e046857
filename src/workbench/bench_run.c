/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/ranks.h>
#include <taskglass/timing.h>

#include "base/error.h"
#include "base/files.h"
#include "base/lock.h"
#include "recording/record.h"
#include "workbench/bench.h"
#include "workbench/edges.h"
#include "workbench/given.h"
#include "workbench/tasks.h"

/* --- the files ------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 29;
}

static uint64_t mix_file(uint64_t sum, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return mix(sum, 0);
    sum = mix(sum, (uint64_t)info.st_ino);
    sum = mix(sum, (uint64_t)info.st_size);
    sum = mix(sum, (uint64_t)info.st_mtim.tv_sec);
    return mix(sum, (uint64_t)info.st_mtim.tv_nsec);
}

struct tg_bench_state tg_bench_state_of(const struct tg_bench_entry *entry)
{
    static const char *const files[] = {
        "run.json",
        "deps.json",
        TG_RANKS_FILE,
        TG_CALLS_FILE,
        TG_DUMP_FOLDER "/" TG_DUMP_JOURNAL,
        TG_DUMP_FOLDER "/" TG_DUMP_MANIFEST,
        TG_DUMP_FOLDER "/" TG_DUMP_PAYLOAD,
        "args_dump/args_dump.json",
        "scope_stats/scope_stats.jsonl",
        TG_SWIMLANE_FILE,
    };
    enum tg_lock lock = TG_LOCK_UNKNOWN;
    uint64_t sum = mix_file(1, entry->path);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *path = tg_path_join(entry->folder, files[i]);
        sum = path ? mix_file(sum, path) : sum;
        free(path);
    }
    (void)tg_lock_look(entry->folder, &lock); /* a run that is killed changes nothing else */
    return (struct tg_bench_state){.files = mix(sum, lock)};
}

/* --- the run -------------------------------------------------------------------------------- */

/* A run may have no recording. What else it has can be shown all the same. */
static tg_status open_recording(struct tg_bench_run *run, struct tg_error *error)
{
    struct tg_error why = {0};
    if (run->ranks) {
        (void)snprintf(run->why, sizeof run->why,
                       "this is a run of several ranks; each rank has its own recording");
        return TG_OK;
    }
    tg_status status = tg_recording_open(run->path, &run->recording, &why);
    if (status == TG_OK) {
        tg_recording_get_info(run->recording, &run->info);
        return TG_OK;
    }
    if (status == TG_IO_ERROR || status == TG_NO_MEMORY) {
        *error = why;
        return status;
    }
    (void)snprintf(run->why, sizeof run->why, "%s", why.text);
    return TG_OK;
}

/* A ranks.json that cannot be read makes it a run without anything. */
static tg_status open_ranks(struct tg_bench_run *run, struct tg_error *error)
{
    struct tg_error why = {0};
    if (!tg_bench_is_of_ranks(run->folder))
        return TG_OK;
    tg_status status = tg_ranks_open(run->folder, &run->ranks, &why);
    if (status == TG_IO_ERROR || status == TG_NO_MEMORY) {
        *error = why;
        return status;
    }
    return TG_OK;
}

tg_status tg_bench_run_open(struct tg_workbench *bench, const struct tg_bench_entry *entry,
                            struct tg_bench_run **run, struct tg_error *error)
{
    struct tg_error unread;
    enum tg_path_kind kind = TG_PATH_NOTHING;
    error = error ? error : &unread;
    *run = NULL;
    int cause = tg_path_look(entry->path, &kind);
    if (cause != 0)
        return tg_file_error(error, "read", entry->path, cause);
    if (kind == TG_PATH_NOTHING)
        return tg_error_set(error, TG_NOT_FOUND, "the run '%s' was removed", entry->key);
    struct tg_bench_run *made = calloc(1, sizeof *made);
    if (!made)
        return tg_file_no_memory(error);
    (void)pthread_mutex_init(&made->lock, NULL);
    made->bench = bench;
    memcpy(made->key, entry->key, sizeof made->key);
    made->path = strdup(entry->path);
    made->folder = strdup(entry->folder);
    if (entry->whole)
        memcpy(made->whole, entry->whole->key, sizeof made->whole);
    made->rank = entry->rank;
    tg_status status =
        made->path && made->folder ? open_ranks(made, error) : tg_file_no_memory(error);
    if (status == TG_OK)
        status = open_recording(made, error);
    if (status == TG_OK)
        *run = made;
    else
        tg_bench_run_close(made);
    return status;
}

void tg_bench_run_close(struct tg_bench_run *run)
{
    if (!run)
        return;
    tg_bench_tasks_free(run->tasks);
    tg_bench_edges_free(run->edges);
    tg_bench_given_free(run->given);
    tg_recording_close(run->recording);
    tg_ranks_close(run->ranks);
    (void)pthread_mutex_destroy(&run->lock);
    free(run->path);
    free(run->folder);
    free(run);
}

tg_status tg_bench_need_recording(const struct tg_bench_run *run, struct tg_error *error)
{
    return run->recording ? TG_OK : tg_error_set(error, TG_UNSUPPORTED, "%s", run->why);
}
