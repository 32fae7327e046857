/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what a path leads to, and reads it. */
#define _GNU_SOURCE 1
#include "analysis/timeline_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/timing.h>

#include "analysis/deps.h"
#include "analysis/deps_read.h"
#include "analysis/timeline_calls.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json_pull.h"

/* --- edges ------------------------------------------------------------------------------------- */

static bool add_tasks(const struct tg_deps *deps, struct tg_timeline *timeline)
{
    bool good = true;
    for (uint32_t i = 0; good && i < deps->n_tasks; i++) {
        const struct tg_deps_task *from = &deps->task[i];
        struct tg_timeline_task task = tg_timeline_task_of(from->id);
        task.submit = from->submitted;
        task.is_listed = true;
        task.scope = tg_timeline_name(timeline, from->scope, strlen(from->scope));
        good = task.scope && tg_timeline_add_task(timeline, &task);
        for (uint64_t k = 0; good && k < from->n_edges; k++)
            good = tg_timeline_add_edge(timeline, deps->task[deps->before[from->first_edge + k]].id,
                                        from->id);
    }
    return good;
}

tg_status tg_timeline_add_deps(const struct tg_deps *deps, struct tg_timeline *timeline,
                               struct tg_error *error)
{
    struct tg_timeline_facts *facts = &timeline->facts;
    if (!add_tasks(deps, timeline))
        return tg_file_no_memory(error);
    timeline->unknown_edges += deps->unknown;
    facts->lost += deps->lost;
    facts->lost_list = deps->lost;
    facts->has_edges = facts->has_list = true;
    if (!*facts->runtime)
        facts->runtime = tg_timeline_name(timeline, deps->runtime, strlen(deps->runtime));
    return facts->runtime ? TG_OK : tg_file_no_memory(error);
}

/* --- what a file is ---------------------------------------------------------------------------- */

enum kind { RECORDING, SWIMLANE, TRACE };

/* JSON says what it is by the names of its members. */
static enum kind kind_of_json(const struct tg_map *map)
{
    struct tg_pull pull;
    tg_pull_start(&pull, (const char *)map->bytes, map->size);
    if (tg_pull_next(&pull) == TG_PULL_BEGIN_ARRAY)
        return TRACE; /* an array of events, as other programs write it: its reader says so */
    while (pull.token != TG_PULL_ERROR && tg_pull_next(&pull) == TG_PULL_KEY) {
        if (tg_pull_is(&pull, "traceEvents"))
            return TRACE;
        if (tg_pull_is(&pull, "aicore_tasks") || tg_pull_is(&pull, "chip_swimlane_level"))
            return SWIMLANE;
        if (tg_pull_next(&pull) == TG_PULL_ERROR || !tg_pull_skip(&pull))
            break;
    }
    return RECORDING;
}

static enum kind kind_of_text(const struct tg_map *map)
{
    size_t at = 0;
    while (at < map->size && strchr(" \t\r\n", map->bytes[at]) && map->bytes[at] != '\0')
        at++;
    if (at < map->size && (map->bytes[at] == '{' || map->bytes[at] == '['))
        return kind_of_json(map);
    /* Every trace of Perfetto is a sequence of packets, which are field 1. */
    return map->size > 0 && map->bytes[0] == '\n' ? TRACE : RECORDING;
}

static tg_status kind_of_file(const char *path, enum kind *kind, struct tg_error *error)
{
    struct tg_map map;
    int cause = tg_map_open(path, TG_LINKS_FOLLOW, &map);
    *kind = RECORDING;
    if (cause != 0)
        return tg_cause_is_fault(cause) ? tg_file_error(error, "read", path, cause) : TG_OK;
    *kind = kind_of_text(&map);
    tg_status status = tg_map_report(&map, path, error);
    tg_map_close(&map);
    return status;
}

/* --- reading ----------------------------------------------------------------------------------- */

static tg_status load_recording(const char *path, struct tg_timeline *timeline,
                                struct tg_recording **recording, struct tg_error *error)
{
    tg_status status = tg_recording_open(path, recording, error);
    if (status != TG_OK)
        return status;
    status = tg_timeline_of_recording(*recording, timeline, error);
    if (status != TG_OK) {
        tg_recording_close(*recording);
        *recording = NULL;
    }
    return status;
}

/* A rank's trace lies beside its comm.jsonl. */
static tg_status load_trace(const char *path, struct tg_timeline *timeline, struct tg_error *error)
{
    tg_status status = tg_timeline_read_file(path, timeline, error);
    if (status != TG_OK)
        return status;
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    status = folder ? tg_timeline_take_calls(timeline, folder, error) : tg_file_no_memory(error);
    free(folder);
    if (status != TG_OK)
        tg_timeline_free(timeline);
    return status;
}

static tg_status load_file(const char *path, struct tg_timeline *timeline,
                           struct tg_recording **recording, struct tg_error *error)
{
    enum kind kind;
    tg_status status = kind_of_file(path, &kind, error);
    if (status != TG_OK)
        return status;
    if (kind == SWIMLANE)
        return tg_timeline_of_swimlane(path, timeline, error);
    if (kind == TRACE)
        return load_trace(path, timeline, error);
    return load_recording(path, timeline, recording, error);
}

static tg_status load_folder(const char *path, struct tg_timeline *timeline,
                             struct tg_recording **recording, struct tg_error *error)
{
    enum tg_path_kind kind = TG_PATH_NOTHING;
    char *file = tg_path_join(path, TG_SWIMLANE_FILE);
    if (!file)
        return tg_file_no_memory(error);
    int cause = tg_path_look(file, &kind);
    tg_status status = cause != 0             ? tg_file_error(error, "read", file, cause)
                       : kind == TG_PATH_FILE ? tg_timeline_of_swimlane(file, timeline, error)
                                              : load_recording(path, timeline, recording, error);
    free(file);
    return status;
}

tg_status tg_timeline_load(const char *path, struct tg_timeline *timeline,
                           struct tg_recording **recording, struct tg_error *error)
{
    enum tg_path_kind kind;
    *recording = NULL;
    int cause = tg_path_look(path, &kind);
    if (cause != 0)
        return tg_file_error(error, "read", path, cause);
    if (kind == TG_PATH_FILE)
        return load_file(path, timeline, recording, error);
    return load_folder(path, timeline, recording, error);
}
